"""Writes the page "Errors and their codes" from the codes of errors: python docs/write_errors.py.

A test holds the page against what this writes.
"""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path

from mechdesign import error_codes, errors

PAGE = Path(__file__).parent / "reference" / "errors.md"
_KINDS = {
    errors.InputError: "A value, a file or an option is not acceptable as given.",
    errors.GuaranteeError: "A claim is well-formed, and false.",
    errors.LimitError: "No method answers the request within its limits, or not all was reached.",
    errors.SolverError: "A solver failed. `LimitError` is a `SolverError` too.",
    errors.MechdesignError: "What no one expected. All other errors are errors of this class too.",
}
_COLUMNS = "| code | cause | cure |\n|---|---|---|\n"
_HEAD = """# Errors and their codes

Written from the program by `docs/write_errors.py`; a test holds it against the program.

Every error that mechdesign raises on purpose is a `mechdesign.MechdesignError`. Its message is one line that says what
is wrong and what would be accepted; its attribute `code` is a word that does not change when the message does. The
command line prints the code at the end of the line, and returns the exit status of the class:

```text
Error: epsilon is '-1'; accepted: a number from 0 to 700 [epsilon-out-of-range]
```

With `--json` the code and the message are printed as [one JSON object](../command-line.md#errors-as-json) too.

Programs ask for the class or for the code:

```python
import mechdesign as md

try:
    md.L1Ball([0.5, 0.4])
except md.InputError as error:
    assert error.code == "wrong-sum"
```

[A set](../how-to/a-set-of-your-own.md) or [a utility](../how-to/a-utility-of-your-own.md) of your own may raise
`InputError("message")`; its code is `input`.
"""


def causes() -> dict[str, str]:
    """Return the cause of each code, which is the docstring below it."""
    found = {}
    for node in ast.parse(inspect.getsource(error_codes)).body:
        for code, text in pairwise(node.body if isinstance(node, ast.ClassDef) else ()):
            match code, text:
                case ast.Assign([ast.Name(name)], ast.Call()), ast.Expr(ast.Constant(str(cause))):
                    found[name.replace("_", "-")] = " ".join(cause.split())
    return found


def codes(kind: type) -> dict[str, error_codes.Code]:
    """Return the codes of a class of errors alone, sorted."""
    own = [code for base in kind.__bases__ for code in vars(base).values() if isinstance(code, error_codes.Code)]
    return {code.word: code for code in sorted(own, key=lambda code: code.word)}


def page() -> str:
    """Return the page."""
    text, why = _HEAD, causes()
    for kind, said in _KINDS.items():
        text += f"\n## {kind.__name__}: exit status {kind.exit_status}\n\n{said}\n\n{_COLUMNS}"
        text += "".join(f"| `{word}` | {why[word]} | {code.cure} |\n" for word, code in codes(kind).items())
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
