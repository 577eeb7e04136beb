"""Errors as tests expect them: by their code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mechdesign.error_codes import Code
from mechdesign.errors import GuaranteeError, InputError, LimitError, MechdesignError, SolverError

KINDS = {
    code.word: kind
    for kind in (MechdesignError, InputError, GuaranteeError, SolverError, LimitError)
    for base in kind.__bases__
    for code in vars(base).values()
    if isinstance(code, Code)
}
"""The class of errors that has a code."""


@contextmanager
def raises(code: str, *shown: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[MechdesignError]]:
    """Expect an error with a code, whose message is one line that shows some values.

    Parameters
    ----------
    code : str
        The code, from which the class follows.
    *shown : str
        What the message must contain: values, names and places, rather than words that may change.
    match : str, optional
        A pattern, where a test is about the sentence itself.
    """
    with pytest.raises(KINDS[code], match=match) as caught:
        yield caught
    message = str(caught.value)
    assert caught.value.code == code, f"{caught.value.code}: {message}"
    assert "\n" not in message
    for text in shown:
        assert text in message


def without_steps(printed: bytes) -> list[str]:
    """Return the lines of standard error, without the steps that a program prints when a busy machine makes it wait."""
    return [line for line in printed.decode().splitlines() if not re.match(r" +\d+\.\d s  ", line)]
