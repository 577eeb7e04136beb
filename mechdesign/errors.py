"""The errors that mechdesign raises, each with the exit status of the command line."""

from __future__ import annotations


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
    """Return ``repr(value)`` on one line, cut to a length that fits a message.

    Examples
    --------
    >>> shorten("a" * 100, 10)
    "'aaaaaa..."
    """
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # integers of over 4,300 digits, nesting without end
        return f"a value of type {type(value).__name__} that is too large to print"
    return text if len(text) <= length else text[: length - 3] + "..."
