"""The numbers that describe samples and priors, checked: sizes, probabilities of failure, radii."""

from __future__ import annotations

import operator
from fractions import Fraction

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import rational

MOST_SAMPLES = 10**15
"""Sizes beyond it are refused: floats would not hold them exactly."""


def whole_number(value: object, name: str, least: int) -> int:
    """Return a whole number that is at least a least one."""
    try:
        if isinstance(value, bool):
            raise TypeError
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} is {shorten(value)}; accepted: a whole number, at least {least}") from None
    if whole < least:
        raise InputError(f"{name} is {shorten(whole)}; accepted: a whole number, at least {least}")
    return whole


def checked_samples(value: object) -> int:
    """Return a number of samples: a whole number from 1 to 10^15."""
    samples = whole_number(value, "the number of samples", 1)
    if samples > MOST_SAMPLES:
        raise InputError(f"the number of samples is {shorten(samples)}; accepted: a whole number from 1 to 10^15")
    return samples


def checked_categories(value: object) -> int:
    """Return a number of categories: a whole number from 2 to 10^15."""
    categories = whole_number(value, "the number of categories", 2)
    if categories > MOST_SAMPLES:
        raise InputError(f"the number of categories is {shorten(categories)}; accepted: a whole number from 2 to 10^15")
    return categories


def checked_delta(value: object) -> Fraction:
    """Return a failure probability in [0, 1) as a fraction."""
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InputError(f"delta is {shorten(value)}; accepted: a probability of failure in [0, 1)")
    return delta


def checked_radius(value: object) -> Fraction:
    """Return an l1 radius in [0, 2] as a fraction."""
    radius = rational(value, "the radius")
    if not 0 <= radius <= 2:
        raise InputError(f"the radius is {shorten(value)}; accepted: 0 (known prior) to 2 (any prior)")
    return radius
