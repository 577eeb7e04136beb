"""Docstrings and help texts are plain text; what a page would read as marks is shown as written."""

import re


def formulas(app, what, name, obj, options, lines):
    """Show the indented lines before the first section of a docstring as they stand: they are formulas."""
    end = next((at - 1 for at, line in enumerate(lines) if re.fullmatch(r"-{3,}", line)), len(lines))
    shown, indented = [], False
    for line in lines[:end]:
        starts = line.startswith("    ") and not indented and (not shown or not shown[-1])
        if starts:
            shown += [".. code-block:: none", ""]
        indented = starts or (indented and (not line or line.startswith("    ")))
        shown.append(line)
    lines[:end] = shown


def asterisks(app, context, lines):
    """Show asterisks of a help text."""
    lines[:] = [re.sub(r"(?<!\*)\*(?!\*)", r"\\*", line) for line in lines]


def setup(app):
    """Register the extension."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx_click")
    app.connect("autodoc-process-docstring", formulas, priority=100)  # before sections are parsed
    for part in ("description", "options", "arguments", "epilog"):
        app.connect(f"sphinx-click-process-{part}", asterisks)
    return {"parallel_read_safe": True}
