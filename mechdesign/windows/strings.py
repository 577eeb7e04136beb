"""Strings as they are hashed: one normal form, which the file of a mechanism names and every consumer applies."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from mechdesign.data.checks import MOST_SAMPLES
from mechdesign.errors import InputError, shorten
from mechdesign.windows.layout import Integers

Form = Literal["nfc", "nfc-casefold"]
FORMS: tuple[Form, ...] = ("nfc", "nfc-casefold")
"""Unicode's normal form C, without white space at both ends; and the same with case folded."""
_LONGEST = 1_000_000


def normal(string: object, form: Form = "nfc") -> str:
    """Return a string in the normal form: NFC, without white space at both ends, perhaps with case folded.

    Raises
    ------
    InputError
        For what is not text, is empty, has over a million characters, or has no UTF-8.

    Examples
    --------
    >>> normal(" Cafe\u0301"), normal("Straße", "nfc-casefold")
    ('Café', 'strasse')
    """
    if isinstance(string, int | np.integer) and not isinstance(string, bool):
        string = str(int(string))
    if not isinstance(string, str):
        raise InputError.wrong_record_type(f"a string is of type {type(string).__name__}; give text or whole numbers")
    if len(string) > _LONGEST:
        raise InputError.bad_label(f"a string has {len(string)} characters; accepted: at most {_LONGEST}")
    found = unicodedata.normalize("NFC", string).strip()
    if form == "nfc-casefold":
        found = unicodedata.normalize("NFC", found.casefold())
    if not found:
        raise InputError.missing_value(
            "a string is empty, or white space alone; give text, or a word that stands for no answer"
        )
    try:
        found.encode()
    except UnicodeEncodeError:
        raise InputError.bad_label(f"the string {shorten(string)} has no UTF-8; give text") from None
    return found


def as_given(string: object) -> str:
    """Return a string as it is, after checking that it has a normal form: what counts by string are read with."""
    normal(string)
    return str(string)


def counted(sample: Mapping[Any, Any] | Iterable[Any], form: Form) -> dict[str, int]:
    """Return how often each string occurs, from counts by string or from the strings of a sample.

    Counts of strings that are the same in the normal form are added.

    Raises
    ------
    InputError
        For an empty sample, one string in place of many, a count that is not a whole number from 0, or over 10^15
        records.
    """
    if isinstance(sample, str | bytes):
        raise InputError.wrong_type(
            f"the sample is {shorten(sample)}, one string; give a list of strings, or counts by string"
        )
    found: dict[str, int] = {}
    pairs = sample.items() if isinstance(sample, Mapping) else ((string, 1) for string in sample)
    for string, count in pairs:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise InputError.not_counts(
                f"the count of {shorten(string)} is {shorten(count)}; accepted: whole numbers from 0"
            )
        name = normal(string, form)
        found[name] = found.get(name, 0) + int(count)
    found = {string: count for string, count in found.items() if count}
    if not found:
        raise InputError.nothing_given("the sample is empty; give at least one string")
    if (total := sum(found.values())) > MOST_SAMPLES:
        raise InputError.too_many_given(f"the sample has {total} records; accepted: at most {MOST_SAMPLES}")
    return found


def most_frequent(counts: Mapping[str, int], number: int) -> list[str]:
    """Return so many strings, the most frequent first, strings of the same count in their order."""
    return sorted(counts, key=lambda string: (-counts[string], string))[:number]


def as_array(counts: Iterable[int]) -> Integers:
    """Return counts as an array."""
    return np.fromiter(counts, dtype=np.int64)
