"""Labels of categories: non-empty, unique strings without white space around them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries

_LONGEST = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc, which is fixed for all versions
_INTEGER = re.compile("-?[0-9]+")
_SURROGATE = re.compile("[\ud800-\udfff]")  # has no UTF-8


def canonical_label(value: object) -> str:
    """Return a label as text: a non-empty string as it is, an integer in decimal.

    Raises
    ------
    InputError
        For floats, truth values, null, empty strings, strings over 1,000 characters, control characters, and strings
        that begin or end with white space, which fields of CSV files lose: "a" and " a" would be one label there.

    Examples
    --------
    >>> canonical_label(7), canonical_label("?")
    ('7', '?')
    """
    if isinstance(value, str):
        if not value:
            raise InputError.bad_label("a label is empty; accepted: a non-empty string or an integer")
        if len(value) > _LONGEST:
            raise InputError.bad_label(
                f"the label {shorten(value)} has {len(value)} characters; accepted: at most {_LONGEST}"
            )
        if _CONTROL.search(value):
            raise InputError.bad_label(
                f"the label {shorten(value)} holds a control character; accepted: printable text"
            )
        if value != value.strip():
            raise InputError.bad_label(
                f"the label {shorten(value)} begins or ends with white space, which fields of CSV files lose; strip it"
            )
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError.bad_label(
                f"the label {shorten(value)} cannot be written as UTF-8; accepted: text"
            ) from None
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if abs(int(value)) >= 10**_LONGEST:
            raise InputError.bad_label(f"the label is an integer of too many digits; accepted: at most {_LONGEST}")
        return str(int(value))
    raise InputError.bad_label(
        f"the label {shorten(value)} is a {type(value).__name__}; accepted: a string or an integer"
    )


def canonical_labels(values: Iterable[object], size: int) -> tuple[str, ...]:
    """Return labels as text, after checking that there are ``size`` labels and that they differ.

    Raises
    ------
    InputError
        If their number differs from ``size`` or one occurs twice.
    """
    if isinstance(values, str):
        raise InputError.wrong_type(f"labels are {shorten(values)}, one string; give a list of labels")
    given = entries(values, "the argument labels", "a list of labels")
    labels = tuple(given) if _canonical(given) else tuple(canonical_label(value) for value in given)
    if len(labels) != size:
        raise InputError.wrong_size(f"there are {len(labels)} labels for {size} categories; give one label a category")
    if len(set(labels)) < size:
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise InputError.label_twice(f"the label {shorten(twice)} occurs twice; labels must differ")
    return labels


def _canonical(values: list[Any]) -> TypeGuard[list[str]]:
    """Return whether all values are labels already; checking a million one by one would take seconds."""
    if set(map(type, values)) != {str} or not all(values) or max(map(len, values)) > _LONGEST:
        return False
    if list(map(str.strip, values)) != values:
        return False
    joined = "".join(values)
    return not _CONTROL.search(joined) and (joined.isascii() or not _SURROGATE.search(joined))


def natural_order(label: str) -> tuple[bool, int, str]:
    """Return what sorts labels: those that read as integers come first, as numbers; the others follow, as text.

    Examples
    --------
    >>> sorted(["b", "10", "2", "a", "-1"], key=natural_order)
    ['-1', '2', '10', 'a', 'b']
    """
    is_integer = bool(_INTEGER.fullmatch(label))
    return not is_integer, int(label) if is_integer else 0, label


def by_falling_count(counts: Mapping[str, int]) -> list[str]:
    """Return labels by falling count, then in their order; integers in theirs alone.

    Examples
    --------
    >>> by_falling_count({"b": 5, "a": 2, "c": 5}), by_falling_count({"10": 5, "9": 2, "1": 1})
    (['b', 'c', 'a'], ['1', '9', '10'])
    """
    if all(_INTEGER.fullmatch(label) for label in counts):
        return sorted(counts, key=natural_order)
    return sorted(counts, key=lambda label: (-counts[label], natural_order(label)))


def default_labels(size: int, letter: str = "x") -> tuple[str, ...]:
    """Return ``x1`` to ``xN``.

    Examples
    --------
    >>> default_labels(2, "y")
    ('y1', 'y2')
    """
    return tuple(f"{letter}{i + 1}" for i in range(size))


def joined_labels(combinations: Iterable[Sequence[str]], separator: str) -> tuple[str, ...]:
    """Return one label for each combination of labels, its parts joined by a separator.

    Raises
    ------
    InputError
        If two combinations would have the same label, or a label is longer than 1,000 characters.

    Examples
    --------
    >>> joined_labels([("no", "low"), ("no", "high")], " & ")
    ('no & low', 'no & high')
    """
    joined = [canonical_label(separator.join(parts)) for parts in combinations]
    twice = [label for label, times in Counter(joined).items() if times > 1]
    if twice:
        raise InputError.ambiguous_labels(
            f"the joint label {shorten(twice[0])} would stand for two combinations; give another separator than "
            f"{shorten(separator)}, or other labels"
        )
    return tuple(joined)


def check_parts(parts: Iterable[str], separator: str) -> None:
    """Refuse labels that beside others, a separator between them, could be read as others: ``"a &"``, ``"& a"``.

    Raises
    ------
    InputError
        Naming the first such label.
    """
    for part in parts:
        if separator in f" {canonical_label(part)} ":
            raise InputError.ambiguous_labels(
                f"the label {shorten(part)} holds {shorten(separator)}, which stands between labels, or would hold it "
                "beside another one; give another label"
            )
