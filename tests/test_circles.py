"""No module of the package imports itself by way of others; imports inside functions count."""

import ast
import sys
from collections.abc import Mapping

import grimp
import pytest
from upward_imports import ROOT, upward_imports


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other: the strongly connected components of two and more."""
    reached = {module: _reached(module, imports) for module in imports}
    groups = {frozenset(other for other in reached[module] if module in reached[other]) for module in imports}
    return sorted(sorted(group) for group in groups if group)


def _reached(start: str, imports: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    open_ends = [start]
    while open_ends:
        for module in imports.get(open_ends.pop(), set()) - found:
            found.add(module)
            open_ends.append(module)
    return found


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, [["a", "b"]]),
        ({"a": {"a"}}, [["a"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": {"d"}}, [["a", "b", "c"], ["d", "e"]]),
    ],
)
def test_circles_are_found(imports, expected):
    assert circles(imports) == expected


def test_imports_inside_functions_are_seen(tmp_path, monkeypatch):
    package = tmp_path / "circular"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text("def f():\n    from circular.two import g\n")
    (package / "two.py").write_text("from circular.one import f\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert circles(imports_of("circular")) == [["circular.one", "circular.two"]]
    sys.modules.pop("circular", None)


def imports_of(package: str) -> dict[str, set[str]]:
    """Return what each module of a package imports when it runs; imports for annotations alone are left out."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_no_modules_import_each_other():
    imports = imports_of("mechdesign")
    for module, higher in upward_imports():
        imports[module].remove(higher)
    assert circles(imports) == []


def test_imports_that_go_up_are_inside_functions():
    for module, higher in upward_imports():
        tree = ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {node for function in functions for node in ast.walk(function)}
        found = {node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == higher}
        assert found
        assert found <= inside
