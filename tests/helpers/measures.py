"""What a look over the package counts: lines of code, imports, names that stand for two things, long functions.

``python tests/helpers/measures.py`` prints all of it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mechdesign"
LONG = 45
"""Lines of a function without its docstring, above which it is long."""
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def sources(folder: Path = PACKAGE) -> dict[str, str]:
    """Return the source of every module below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))
    }


def code_lines(source: str) -> int:
    """Return the number of lines that hold code: docstrings, comments and empty lines do not."""
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in _lines(node)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    held = {line for token in tokens if token.type not in _NO_CODE for line in range(token.start[0], token.end[0] + 1)}
    return len(held - texts)


def import_lines(source: str) -> int:
    """Return the number of lines of import statements."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom))
    return len({line for node in found for line in _lines(node)})


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def classes_in_two_modules(modules: dict[str, str]) -> list[str]:
    """Return the names that classes of two or more modules have."""
    homes: dict[str, set[str]] = defaultdict(set)
    for path, source in modules.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(path)
    return sorted(name for name, where in homes.items() if len(where) > 1)


def modules_of_one_name(modules: dict[str, str]) -> list[str]:
    """Return the names that two or more modules have, whatever their folders."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in modules:
        homes[Path(path).stem].append(path)
    return sorted(name for name, where in homes.items() if len(where) > 1 and not name.startswith("__"))


def modules_named_as_functions(modules: dict[str, str]) -> list[str]:
    """Return the modules that have the name of a function that a module makes public by its ``__all__``."""
    public: set[str] = set()
    for source in modules.values():
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                public.update(ast.literal_eval(node.value))
    functions = {
        node.name
        for source in modules.values()
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name in public
    }
    rooms = {Path(path).parent.name for path in modules}  # a room may be public, and share its name with a function
    return sorted(path for path in modules if Path(path).stem in functions - rooms)


def long_functions(source: str) -> Iterator[tuple[str, int]]:
    """Yield the functions that are long without their docstrings, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node, clean=False) is not None
            lines = len(_lines(node)) - (len(_lines(node.body[0])) if documented else 0)
            if lines > LONG:
                yield node.name, lines


def asking_for(attribute: str, modules: dict[str, str], *homes: str) -> list[str]:
    """Return the modules outside some folders that ask an object for an attribute; ``self`` and calls do not count."""
    return [
        path
        for path, source in modules.items()
        if path.split("/")[0] not in homes and attribute in _asked_for(ast.parse(source))
    ]


def _asked_for(tree: ast.Module) -> set[str]:
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and id(node) not in called and ast.unparse(node.value) != "self"
    }


if __name__ == "__main__":
    package = sources()
    code, imports = (sum(map(count, package.values())) for count in (code_lines, import_lines))
    longest = {path: list(long_functions(source)) for path, source in package.items()}
    print(f"{code} lines of code in {len(package)} files; imports {imports / code:.1%}")  # noqa: T201
    print("files above 250 lines:", sum(source.count("\n") > 250 for source in package.values()))  # noqa: T201
    print("classes in two modules:", classes_in_two_modules(package))  # noqa: T201
    print("modules of one name:", modules_of_one_name(package))  # noqa: T201
    print("modules named as functions:", modules_named_as_functions(package))  # noqa: T201
    print("long functions:", {path: found for path, found in longest.items() if found})  # noqa: T201
    for attribute in ("secret_promise", "uncertain_secret", "ball"):
        print(f"modules that ask for {attribute}:", asking_for(attribute, package, "uncertainty"))  # noqa: T201
