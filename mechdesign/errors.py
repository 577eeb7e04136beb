"""The errors that mechdesign raises, each with its code and with the exit status of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from decimal import Decimal
from typing import Self, TypeGuard

from mechdesign.error_codes import GuaranteeCodes, InputCodes, InternalCodes, LimitCodes, SolverCodes

_MOST_LOOKED_AT = 500  # characters of a value, for a message that shows far fewer


class MechdesignError(InternalCodes, Exception):
    """Base of all errors raised on purpose; the message is one line that says what would be accepted.

    Parameters
    ----------
    message : str
        One line.
    code : str, optional
        What programs and the page of errors know the cause by. Without one it is the general code of the class.

    Attributes
    ----------
    code : str
        As above, such as ``"unknown-label"``.
    exit_status : int
        What the command line returns when this error ends it.

    Examples
    --------
    >>> error = InputError.unknown_label("the label 'x' is not among the categories")
    >>> error.code, error.exit_status, InputError("a message alone").code
    ('unknown-label', 2, 'input')
    """

    code = "internal-error"
    exit_status = 70

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    def reworded(self, message: str) -> Self:
        """Return an error of the same class and code with another message, such as one that names the file."""
        return type(self)(message, self.code)


class InputError(InputCodes, MechdesignError, ValueError):
    """A value, file or option that is not acceptable as given (exit status 2)."""

    code = "input"
    exit_status = 2


class GuaranteeError(GuaranteeCodes, MechdesignError):
    """A well-formed claim of privacy or of optimality that is false (exit status 1)."""

    code = "guarantee-false"
    exit_status = 1


class SolverError(SolverCodes, MechdesignError):
    """A solver failed (exit status 3)."""

    code = "solver-failed"
    exit_status = 3


class LimitError(LimitCodes, SolverError):
    """No method answers the request exactly within its limits (exit status 3)."""

    code = "too-much-work"


def shorten(value: object, length: int = 60) -> str:
    """Return ``repr(value)`` on one line, cut to a length that fits a message; decimals as files hold them.

    Of arrays, series and data frames, which may hold records, only the type and the length are shown.

    Examples
    --------
    >>> shorten("a" * 100, 10), shorten([Decimal("0.50")])
    ("'aaaaaa...", '[0.50]')
    """
    shown = ""
    try:
        for part in _parts(value):
            shown += part
            if len(shown) > _MOST_LOOKED_AT:
                break
    except (ValueError, RecursionError):  # integers of over 4,300 digits, nesting without end
        return f"a value of type {type(value).__name__} that is too large to print"
    text = " ".join(shown.split())
    return text if len(text) <= length and len(shown) <= _MOST_LOOKED_AT else text[: length - 3] + "..."


def _parts(value: object) -> Iterator[str]:
    """Yield what `shorten` shows in parts, so that only the parts of a huge value that are shown are made."""
    if type(value) is str:
        yield repr(value[: _MOST_LOOKED_AT + 1])
    elif type(value) is list:
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _parts(item)
        yield "]"
    elif type(value) is dict:
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield ", " if index else ""
            yield from _parts(key)
            yield ": "
            yield from _parts(item)
        yield "}"
    elif _holds_data(value):
        yield f"<{type(value).__name__} of length {len(value)}>"
    elif isinstance(value, Decimal):
        yield str(value)
    else:
        yield repr(value)


def _holds_data(value: object) -> TypeGuard[Sized]:
    """Return whether a value is an array, a series or a data frame of any package, with one axis at least."""
    if isinstance(value, str | bytes) or not (hasattr(value, "__array__") or hasattr(value, "__arrow_c_stream__")):
        return False
    return hasattr(value, "__len__") and getattr(value, "shape", None) != ()


def printable(text: str) -> str:
    r"""Return text with escapes in place of characters that a terminal would obey, hide or refuse.

    These are control characters, those that change the direction of text, and halves of surrogate pairs, which names of
    files may hold.

    Examples
    --------
    >>> print(printable("red: \x1b[31m"))
    red: \x1b[31m
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
