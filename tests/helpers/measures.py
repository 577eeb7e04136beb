"""What a look over the package counts: lines of code, imports, names that stand for two things, long functions.

``python tests/helpers/measures.py`` prints all of it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mechdesign"
LONG = 45
"""Lines of a function without its docstring, above which it is long."""


@dataclass
class _Found:
    """What one walk over a module finds; lines are numbers of lines."""

    imports: set[int] = field(default_factory=set)
    docstrings: set[int] = field(default_factory=set)
    strings: set[int] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    long: list[tuple[str, int]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)  # of the module itself
    public: set[str] = field(default_factory=set)


@cache
def _found(source: str) -> _Found:
    found, called, tree = _Found(), set(), ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.functions.add(node.name)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found.public.update(ast.literal_eval(node.value))
    for node in ast.walk(tree):  # callers come before what they call
        match node:
            case ast.Call():
                called.add(id(node.func))
            case ast.Attribute() if id(node) not in called and getattr(node.value, "id", "") != "self":
                found.asked.add(node.attr)
            case ast.Expr(value=ast.Constant(value=str())):
                found.docstrings.update(_lines(node))
            case ast.JoinedStr() | ast.Constant(value=str()):
                found.strings.update(_lines(node))
            case ast.Import() | ast.ImportFrom():
                found.imports.update(_lines(node))
            case ast.ClassDef():
                found.classes.add(node.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                documented = ast.get_docstring(node, clean=False) is not None
                lines = len(_lines(node)) - (len(_lines(node.body[0])) if documented else 0)
                if lines > LONG:
                    found.long.append((node.name, lines))
    return found


def _lines(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def sources(folder: Path = PACKAGE) -> dict[str, str]:
    """Return the source of every module below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))
    }


def code_lines(source: str) -> int:
    """Return the number of lines that hold code: docstrings, comments and empty lines do not."""
    found = _found(source)
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    held = {number for number, line in lines if line and not line.startswith("#")}
    return len((held | found.strings) - found.docstrings)


def import_lines(source: str) -> int:
    """Return the number of lines of import statements."""
    return len(_found(source).imports)


def classes_in_two_modules(modules: dict[str, str]) -> list[str]:
    """Return the names that classes of two or more modules have."""
    return _twice((name, path) for path, source in modules.items() for name in _found(source).classes)


def modules_of_one_name(modules: dict[str, str]) -> list[str]:
    """Return the names that two or more modules have, whatever their folders."""
    return _twice((Path(path).stem, path) for path in modules if not Path(path).stem.startswith("__"))


def _twice(homes: Iterable[tuple[str, str]]) -> list[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in homes:
        found[name].add(path)
    return sorted(name for name, where in found.items() if len(where) > 1)


def modules_named_as_functions(modules: dict[str, str]) -> list[str]:
    """Return the modules that have the name of a function that a module makes public by its ``__all__``."""
    found = [_found(source) for source in modules.values()]
    functions = set().union(*(each.functions for each in found)) & set().union(*(each.public for each in found))
    rooms = {Path(path).parent.name for path in modules}  # a room may be public, and share its name with a function
    return sorted(path for path in modules if Path(path).stem in functions - rooms)


def long_functions(source: str) -> list[tuple[str, int]]:
    """Return the functions that are long without their docstrings, with their lines."""
    return _found(source).long


def asking_for(attribute: str, modules: dict[str, str], *homes: str) -> list[str]:
    """Return the modules outside some folders that ask an object for an attribute; ``self`` and calls do not count."""
    return [
        path
        for path, source in modules.items()
        if path.split("/")[0] not in homes and attribute in _found(source).asked
    ]


if __name__ == "__main__":
    package = sources()
    code, imports = (sum(map(count, package.values())) for count in (code_lines, import_lines))
    longest = {path: long_functions(source) for path, source in package.items()}
    print(f"{code} lines of code in {len(package)} files; imports {imports / code:.1%}")  # noqa: T201
    print("files above 250 lines:", sum(source.count("\n") > 250 for source in package.values()))  # noqa: T201
    print("classes in two modules:", classes_in_two_modules(package))  # noqa: T201
    print("modules of one name:", modules_of_one_name(package))  # noqa: T201
    print("modules named as functions:", modules_named_as_functions(package))  # noqa: T201
    print("long functions:", {path: found for path, found in longest.items() if found})  # noqa: T201
    for attribute in ("secret_promise", "uncertain_secret", "ball"):
        print(f"modules that ask for {attribute}:", asking_for(attribute, package, "uncertainty"))  # noqa: T201
