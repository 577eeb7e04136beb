"""What keeps the package easy to change: short modules, imports without circles, questions asked at home."""

import ast
from pathlib import Path

import grimp
import pytest

import mechdesign
from mechdesign import uncertainty, utility

PACKAGE = Path(mechdesign.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HOMES = {"uncertainty", "utility"}
MOST_LINES = 450


def kinds(base):
    """The names of a class and of all classes derived from it in the package."""
    return {base.__name__}.union(*(kinds(cls) for cls in base.__subclasses__() if cls.__module__.startswith("mechd")))


SETS_AND_UTILITIES = kinds(uncertainty.UncertaintySet) | kinds(utility.Utility)


def questions(source):
    """The lines that ask of which class of sets or utilities something is: isinstance, issubclass, type, match."""
    found = []
    for node in ast.walk(ast.parse(source)):
        classes = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in {"isinstance", "issubclass"}:
            classes = node.args[1:]
        elif isinstance(node, ast.Compare) and any(
            isinstance(side, ast.Call) and getattr(side.func, "id", None) == "type"
            for side in (node.left, *node.comparators)
        ):
            classes = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            classes = [node.cls]
        inner = [part for each in classes for part in ast.walk(each)]
        if SETS_AND_UTILITIES & {getattr(part, "id", getattr(part, "attr", None)) for part in inner}:
            found.append(getattr(node, "lineno", 0) or node.cls.lineno)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(x, L1Ball)",
        "isinstance(x, int | md.ConvexHull)",
        "isinstance(x, (str, MutualInformation))",
        "issubclass(x, Utility)",
        "type(x) is ProductSet",
        "match x:\n    case ExpectedGain():\n        pass",
    ],
)
def test_a_question_is_seen(source):
    assert questions(source)


def test_what_is_no_question_is_not_seen():
    assert not questions("isinstance(x, Epsilon)\nL1Ball(x)\ntype(x) is int\nx: L1Ball = y.l1_ball")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_is_short_and_asks_no_set_or_utility_for_its_class(path):
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= MOST_LINES
    if path.relative_to(PACKAGE).parts[0] not in HOMES:
        assert not questions(source)


def test_there_is_no_circle_of_imports():
    graph = grimp.build_graph("mechdesign", exclude_type_checking_imports=True, cache_dir=None)
    imported = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    # Modules that import nothing that is left are taken away; a circle remains.
    while free := {name for name, others in imported.items() if not others & imported.keys()}:
        imported = {name: others for name, others in imported.items() if name not in free}
    assert not imported


def test_folders_of_tests_are_those_of_the_package():
    tests = Path(__file__).parent
    beyond = {"benchmarks", "examples", "figures", "fuzz", "helpers", "mutation", "oracles", "outside", "paper"}
    beyond |= {"docs", "properties", "typing"}
    for folder in tests.iterdir():
        if folder.is_dir() and folder.name not in beyond and list(folder.rglob("test_*.py")):
            assert (PACKAGE / folder.name).is_dir(), folder
    for folder in PACKAGE.iterdir():
        if folder.is_dir() and len(list(folder.glob("*.py"))) > 1:
            assert list((tests / folder.name).rglob("test_*.py")), folder
