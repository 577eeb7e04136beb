"""One page of reference for each public module, from its docstrings, written before the pages are read."""

import ast
import inspect
import pkgutil
import re
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import mechdesign

FOLDER = "reference/python"
# Members that every class has from Python itself.
BUILT_IN = (
    "object",
    "BaseException",
    "Exception",
    "ValueError",
    "RuntimeError",
    "int",
    "float",
    "str",
    "tuple",
    "dict",
)


def public_modules():
    """Return the public modules by name, the package first: those with names of their own to show."""
    named = [name for _, name, _ in pkgutil.iter_modules(mechdesign.__path__) if not name.startswith("_")]
    found = {f"mechdesign.{name}": import_module(f"mechdesign.{name}") for name in named if name not in PRIVATE}
    return {"mechdesign": mechdesign} | found


# Rooms inside the house: what they hold is public where another module shows it.
PRIVATE = (
    "cli",
    "data",
    "display",
    "engine",
    "error_codes",
    "errors",
    "numerics",
    "problem",
    "problem_file",
    "sklearn",  # needs scikit-learn: a how-to guide describes its class
    "proofs",
    "version",
)


def homes(modules):
    """Return, for each module, the names that are described on its page, and those on the page of the package."""
    top = {id(getattr(mechdesign, name)): name for name in mechdesign.__all__}
    for name, module in modules.items():
        values = {key: getattr(module, key) for key in module.__all__}
        values = {key: value for key, value in values.items() if not isinstance(value, ModuleType)}
        if module is mechdesign:
            yield name, list(values), []
        else:
            elsewhere = [key for key, value in values.items() if top.get(id(value)) == key]
            yield name, [key for key in values if key not in elsewhere], elsewhere


def described(module, name, excluded):
    """Return the directive that describes one name."""
    value = getattr(import_module(module), name)
    if inspect.isclass(value):
        options = ["   :members:", f"   :inherited-members: {', '.join(excluded)}"]
        if any(base.__name__ in excluded for base in value.__bases__ if base is not object):
            options.append("   :show-inheritance:")
        return [f".. autoclass:: {module}.{name}", *options, ""]
    if callable(value):
        return [f".. autofunction:: {module}.{name}", ""]
    return [f".. py:data:: {module}.{name}", "", f"   {text_of(value, name)}", ""]


def text_of(value, name=""):
    """Return the docstring of a value, that of a constant from the source that assigns it."""
    if callable(value) or inspect.ismodule(value):
        return inspect.getdoc(value) or ""
    for path in sorted(Path(mechdesign.__file__).parent.rglob("*.py")):
        for first, second in pairwise(ast.parse(path.read_text(encoding="utf-8")).body):
            targets = getattr(first, "targets", [getattr(first, "target", None)])
            text = getattr(getattr(second, "value", None), "value", None)
            if name in [getattr(target, "id", "") for target in targets] and isinstance(text, str):
                return text
    raise LookupError(f"{name} has no docstring below the line that assigns it")


def first_line(value, name):
    """Return the first line of a docstring as text."""
    text = text_of(value, name).splitlines()[0]
    return re.sub(r"(?<!`)([*_|\\])", r"\\\1", text) if "`" not in text else text


def page(module, here, elsewhere, excluded):
    """Return the page of a module."""
    lines = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", ""]
    if here:
        lines += [".. list-table::", "   :class: names", "   :widths: auto", ""]
    for name in here:
        lines += [
            f"   * - :py:obj:`~{module}.{name}`",
            f"     - {first_line(getattr(import_module(module), name), name)}",
        ]
    lines += [""]
    if elsewhere:
        shown = ", ".join(f"`~mechdesign.{name}`" for name in elsewhere)
        lines += [f"Also here, and described as names of `mechdesign`: {shown}.", ""]
    for name in here:
        lines += [name, "-" * len(name), "", *described(module, name, excluded)]
    return "\n".join(lines)


def write_pages(app, _config):
    """Write the pages, each only where it changed, so that a second build is short."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    modules = public_modules()
    pairs = [(module, name) for name_of, module in modules.items() for name in module.__all__]
    classes = sorted({name for module, name in pairs if inspect.isclass(getattr(module, name))})
    written = set()
    for name, here, elsewhere in homes(modules):
        path = folder / f"{name}.rst"
        text = page(name, here, elsewhere, [*BUILT_IN, *classes])
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
        written.add(path)
    for path in set(folder.glob("*.rst")) - written:
        path.unlink()
    (folder / "modules.txt").write_text(list_of(modules), encoding="utf-8")


def list_of(modules):
    """Return the modules with a sentence each, for the index of the reference."""
    sentences = {name: " ".join(text_of(module).split("\n\n")[0].split()) for name, module in modules.items()}
    return "".join(f"- [{name}](python/{name}.rst): {sentence}\n" for name, sentence in sentences.items())


def setup(app):
    """Register the extension."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
