"""Users' code has types: mypy reads two files as it would read a notebook."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


# The test of the house reads both with the package, in one run of mypy; here it knows nothing of our settings.
# In strict mode, mypy also refuses an "ignore" that is not needed, so wrong.py fails where one of its lines passes.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["sample.py", "wrong.py"])
def test_types_of_the_public_names(name, tmp_path):
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = True\nplugins = pydantic.mypy\nignore_missing_imports = True\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--follow-imports", "silent"]
    done = subprocess.run([*command, str(HERE / name)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
