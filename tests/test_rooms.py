"""What keeps the package easy to change: short modules, questions asked at home."""

import ast
from pathlib import Path

import pytest

import mechdesign
from mechdesign import uncertainty, utility

PACKAGE = Path(mechdesign.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
HOMES = {"uncertainty", "utility"}
MOST_LINES = 450
TESTS = sorted(Path(__file__).parent.rglob("*.py"))
NOT_RUN = {"typing/sample.py", "typing/wrong.py"}  # only type checkers read them
MAKERS = {"design", "Mechanism", "from_matrix"}


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


def test_folders_of_tests_are_those_of_the_package():
    tests = Path(__file__).parent
    beyond = {
        "atlas",
        "benchmarks",
        "challenges",
        "examples",
        "figures",
        "fuzz",
        "helpers",
        "mutation",
        "oracles",
        "outside",
        "paper",
    }
    beyond |= {"docs", "engines", "properties", "typing"}
    for folder in tests.iterdir():
        if folder.is_dir() and folder.name not in beyond and list(folder.rglob("test_*.py")):
            assert (PACKAGE / folder.name).is_dir(), folder
    for folder in PACKAGE.iterdir():
        if folder.is_dir() and len(list(folder.glob("*.py"))) > 1:
            assert list((tests / folder.name).rglob("test_*.py")), folder


def name_called(node):
    return getattr(node.func, "id", getattr(node.func, "attr", None))


def functions(tree):
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def calls(trees):
    """What each function in these modules calls, by names; functions of the same name are taken together."""
    called = {}
    for tree in trees:
        for function in functions(tree):
            if not any("composite" in ast.unparse(decorator) for decorator in function.decorator_list):
                inside = {name_called(node) for node in ast.walk(function) if isinstance(node, ast.Call)}
                called.setdefault(function.name, set()).update(inside)
    return called


def makers(*called):
    """The names in `MAKERS`, and those of functions that call one of them or one another."""
    found = set(MAKERS)
    while more := {name for each in called for name, inside in each.items() if inside & found} - found:
        found |= more
    return found


def called_at_import(tree):
    """What a module calls when it is imported: names, with the lines that call them."""
    found, waiting = {}, list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            found.setdefault(name_called(node), []).append(node.lineno)
        if isinstance(node, ast.FunctionDef):
            waiting += [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


def made_at_import(source, of_helpers):
    """The lines of a module that make a mechanism when it is imported, by a function of its own or of helpers too."""
    called = called_at_import(tree := ast.parse(source))
    names = makers(of_helpers)
    if any(f"def {name}(" in source for name in called):
        names = makers(calls([tree]), of_helpers)
    return sorted(line for name in names & called.keys() for line in called[name])


@pytest.mark.parametrize(
    "source",
    [
        "X = md.design(p)",
        "@mark('m', [Mechanism(N, 2, g)])\ndef test(m): ...",
        "def f(x=md.Mechanism.from_matrix(V, g)): ...",
        "def f():\n    yield design(p)\ndef g():\n    return f()\nX = [*g()]",
        "class Test:\n    x = {'a': design(p)}",
    ],
)
def test_a_design_at_import_is_seen(source):
    assert made_at_import(source, {})


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    return design(p)",
        "X = lambda: md.Mechanism(N, 2, g)",
        "X = f(md.Mechanism)\nY = md.DesignProblem(s, 1)",
        "if __name__ == '__main__':\n    design(p)",
        "@st.composite\ndef f(draw):\n    return design(p)\n@given(f())\ndef test(m): ...",
    ],
)
def test_a_design_in_a_function_is_not_one_at_import(source):
    assert not made_at_import(source, {})


def test_no_module_of_tests_makes_a_mechanism_at_import():
    tests = Path(__file__).parent
    sources = {path.relative_to(tests).as_posix(): path.read_text(encoding="utf-8") for path in TESTS}
    of_helpers = calls(ast.parse(source) for name, source in sources.items() if name.startswith("helpers/"))
    lines = {name: made_at_import(source, of_helpers) for name, source in sources.items() if name not in NOT_RUN}
    assert not {name: found for name, found in lines.items() if found}
