"""The house rules that tools can check."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

COMMANDS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    # With code of users: in strict mode, an "ignore" that is not needed is an error, so a line of wrong.py has to fail.
    "mypy": ["mypy", "mechdesign", "tests/typing/sample.py", "tests/typing/wrong.py"],
    "import contracts": ["importlinter"],
}


SOLVERS = {"cvxpy", "highspy", "clarabel", "mechdesign.optimize", "matplotlib"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "mypy" else ()) for name in COMMANDS]
)
def test_tool(name):
    tool, *arguments = COMMANDS[name]
    command = [sys.executable, "-m", tool, *arguments]
    if tool == "importlinter":
        code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
        command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def imported_by(statements, candidates):
    """Return which of some modules a new interpreter has imported after statements."""
    code = f"import sys, mechdesign as md; {statements}; print(*sorted({candidates!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_commands_of_a_deployment_import_no_solver():
    assert imported_by("from mechdesign.cli import estimate, key, privatize, verify", SOLVERS) == []
    assert "mechdesign.optimize" in imported_by("import mechdesign.cli.design", SOLVERS)


def test_heavy_packages_are_not_imported_with_the_package():
    heavy = {"cvxpy", "scipy", "matplotlib", "pandas", "pydantic", "rich", "click"}
    assert imported_by("pass", heavy) == []
    assert imported_by("import scipy", heavy) == ["scipy"]


def test_commands_are_not_imported_to_be_listed():
    heavy = {"numpy", "flint", "pyarrow", "rich", "pydantic", "mechdesign.optimize", "mechdesign.cli.design"}
    run = "from mechdesign.cli.entry_point import run; "
    assert [line for line in imported_by(run + "run(['--version']); run(['--help'])", heavy) if line in heavy] == []
    assert "mechdesign.cli.key" in imported_by(run + "run(['key', '--help'])", {"mechdesign.cli.key"})


PUBLIC = (
    "mechdesign",
    "mechdesign.adapters",
    "mechdesign.additive_noise",
    "mechdesign.comparison",
    "mechdesign.baselines",
    "mechdesign.deploy",
    "mechdesign.histogram",
    "mechdesign.mechanism",
    "mechdesign.optimize",
    "mechdesign.planning",
    "mechdesign.plot",
    "mechdesign.pml",
    "mechdesign.records",
    "mechdesign.report",
    "mechdesign.schemas",
    "mechdesign.sweeps",
    "mechdesign.uncertainty",
    "mechdesign.utility",
    "mechdesign.windows",
)


def test_public_names_are_found_where_type_checkers_see_them():
    import mechdesign as md

    tree = ast.parse(Path(md.__file__).read_text(encoding="utf-8"))
    seen, _ = (node for node in tree.body if isinstance(node, ast.If))
    names = {alias.name: node.module for node in seen.body for alias in node.names}
    assert set(names) == set(md.__all__)
    for name, home in names.items():
        found = importlib.import_module(f"mechdesign.{name}") if home == "mechdesign" else None
        assert getattr(md, name) is (found or getattr(importlib.import_module(home), name)), name


@pytest.mark.parametrize("module", PUBLIC)
def test_completion_shows_public_names_and_nothing_else(module):
    found = importlib.import_module(module)
    assert len(found.__all__) == len(set(found.__all__))  # ruff sees to the order
    assert [name for name in dir(found) if not name.startswith("__")] == sorted(found.__all__)
    for name in found.__all__:
        assert getattr(found, name).__doc__, name


def test_the_top_has_one_name_for_each_thing_and_no_old_one():
    import mechdesign as md

    # Two each for windows and for records, other kinds of mechanisms; one for tables, and two for labels.
    assert len(md.__all__) <= 71
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = md.nothing
    for moved in ("plan", "prove", "certify", "kappa", "privacy_regions", "Optimality"):
        assert not hasattr(md, moved)


def test_a_first_look_at_one_name_imports_its_home_alone():
    assert imported_by("md.L1Ball; md.leakage", {"mechdesign.deploy", "pydantic"}) == []


def test_no_picture_shares_its_name_with_a_module():
    """`import mechdesign.plot.name as name` gave the function, and the module could not be reached."""
    import mechdesign.plot

    modules = {module.name for module in pkgutil.iter_modules(mechdesign.plot.__path__)}
    assert modules >= {"group_panels", "drawing"}
    assert not modules & set(mechdesign.plot.__all__)
