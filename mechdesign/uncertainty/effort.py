"""What the exact proof of one output costs over a set, estimated before the proof begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError

_MOST_LIMITS = 320  # categories of all sets whose limits are derived again, category by category, when a file is read
_MOST_LISTED = 16, 250_000  # categories of which events are counted by their sums; else samples of all sets together
_MOST_LIMITS_OF_A_SECRET = 2_500  # the same for a secret and the data given it
_DIGITS_OF_A_STEP = 50  # digits of a factor that take as much time as one more step


@dataclass(frozen=True)
class Effort:
    """The cost of one `exact_support`.

    Attributes
    ----------
    digits : int
        About how many digits the denominator of the result has.
    steps : int
        Multiplications of short integers, about 50 ns each. The time to reduce a fraction grows with the square of its
        digits.
    """

    digits: int
    steps: int


def effort_of(priors: Iterable[Iterable[Fraction]], size: int, radius: Fraction = Fraction(0)) -> Effort:
    """Return the effort of the means of a column under some priors, and of sorting the column if mass is moved.

    Parameters
    ----------
    priors : iterable of iterables of Fraction
        The rationals that a column is multiplied by, one iterable for each mean.
    size : int
        Number N of categories.
    radius : Fraction
        If it is above 0, the column is sorted to find the categories from which mass is moved.

    Examples
    --------
    >>> effort_of([[Fraction(1, 2), Fraction(1, 2)]], 2)
    Effort(digits=0, steps=2)
    """
    own = [math.lcm(*(q.denominator for q in prior)) for prior in priors]
    digits = _digits(math.lcm(*own) * radius.denominator)
    sorting = 4 if radius > 0 else 0
    each = sum(1 + sorting + _digits(common) // _DIGITS_OF_A_STEP for common in own)
    return Effort(digits, size * each + digits**2 // 1500)


def check_limits(sets: int, symbols: int) -> None:
    """Refuse more sets with limits from samples than a file can be checked for in seconds; l1 balls are quick.

    Raises
    ------
    InputError
        For too many.

    Examples
    --------
    >>> check_limits(20, 16)
    """
    if sets > 1 and sets * symbols > _MOST_LIMITS:
        raise InputError.too_many_given(
            f"{sets} sets have limits from samples for {symbols} categories each; accepted: {_MOST_LIMITS} categories "
            "in all; l1 balls do not count"
        )


def check_limits_of_secret(values: int, symbols: int, sets: int) -> None:
    """Refuse more limits of a secret and of the data given it, from samples, than a minute is enough for.

    Parameters
    ----------
    values, categories : int
        Number of values of the secret, and of categories given each.
    sets : int
        How many of the sets are derived again, category by category; l1 balls are not.

    Raises
    ------
    InputError
        For too many.

    Examples
    --------
    >>> check_limits_of_secret(20, 100, 21)
    """
    derived = values + (sets - 1) * symbols
    if sets > 1 and derived > _MOST_LIMITS_OF_A_SECRET:
        raise InputError.too_many_given(
            f"limits from samples for a secret of {values} values and {symbols} categories are {derived} in all; "
            f"accepted: at most {_MOST_LIMITS_OF_A_SECRET}; use limits that are l1 balls, which do not count"
        )


def check_samples(tables: Iterable[Mapping[str, Any]], symbols: int) -> None:
    """Refuse sets of events whose limits for every number of samples are more than can be derived in seconds.

    Raises
    ------
    InputError
        For too many samples in all.

    Examples
    --------
    >>> check_samples([{"event-set": {"delta": "0.1", "samples": 250_000}}], 17)
    """
    few, most = _MOST_LISTED
    of_events = [of for each in tables for of in each.values() if isinstance(of, dict) and "alphas" in of]
    samples = [of["samples"] for of in of_events if isinstance(of.get("samples"), int)]
    if symbols > few and len(samples) > 1 and sum(samples) > most:
        raise InputError.too_many_given(
            f"{len(samples)} sets of events of {symbols} categories have {sum(samples)} samples in all; accepted: "
            f"{most}, or at most {few} categories; use l1 balls"
        )


def limits_in(tables: Iterable[Mapping[str, Any]]) -> int:
    """Return how many of the tables of sets hold limits that reading derives again, category by category.

    Examples
    --------
    >>> limits_in([{"box": {"delta": "0.1"}}, {"radius": "0.1", "delta": "0.1"}])
    1
    """
    return sum(any(isinstance(of, dict) and "delta" in of for of in each.values()) for each in tables)


def _digits(number: int) -> int:
    return int(number.bit_length() * math.log10(2))
