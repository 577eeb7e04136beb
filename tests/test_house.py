"""The house rules that tools can check."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

COMMANDS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "import contracts": ["importlinter"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_tool(name):
    tool, *arguments = COMMANDS[name]
    command = [sys.executable, "-m", tool, *arguments]
    if tool == "importlinter":
        code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
        command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_heavy_packages_are_not_imported_with_the_package():
    code = (
        "import sys, mechdesign; "
        "print(*sorted({'cvxpy', 'scipy', 'matplotlib', 'pandas', 'pydantic', 'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_public_names_are_found_where_type_checkers_see_them():
    import mechdesign as md

    tree = ast.parse(Path(md.__file__).read_text(encoding="utf-8"))
    (seen,) = (node for node in tree.body if isinstance(node, ast.If))
    names = {alias.name: node.module for node in seen.body for alias in node.names}
    assert {*names, "additive_noise", "histogram"} == set(md.__all__)
    for name, home in names.items():
        assert getattr(md, name) is getattr(importlib.import_module(home), name), name
    assert set(md.__all__) <= set(dir(md))


def test_every_public_name_is_exported_and_described():
    import mechdesign as md

    assert md.__all__ == sorted(set(md.__all__), key=md.__all__.index)
    for name in md.__all__:
        assert getattr(md, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = md.nothing
