"""The errors that mechdesign raises, each with the exit status of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

_MOST_LOOKED_AT = 500  # characters of a value, for a message that shows far fewer


class MechdesignError(Exception):
    """Base of all errors raised on purpose; the message is one line that says what would be accepted.

    Attributes
    ----------
    exit_status : int
        What the command line returns when this error ends it.
    """

    exit_status = 70


class InputError(MechdesignError, ValueError):
    """A value, file or option that is not acceptable as given (exit status 2)."""

    exit_status = 2


class GuaranteeError(MechdesignError):
    """A well-formed claim of privacy or of optimality that is false (exit status 1)."""

    exit_status = 1


class SolverError(MechdesignError):
    """A solver failed (exit status 3)."""

    exit_status = 3


class LimitError(SolverError):
    """No method answers the request exactly within its limits (exit status 3)."""


def shorten(value: object, length: int = 60) -> str:
    """Return ``repr(value)`` on one line, cut to a length that fits a message; decimals as files hold them.

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
    elif isinstance(value, Decimal):
        yield str(value)
    else:
        yield repr(value)


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
