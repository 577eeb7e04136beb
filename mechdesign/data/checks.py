"""What callers give, checked: classes of objects, sizes, probabilities of failure, radii, scales of noise."""

from __future__ import annotations

import operator
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.numerics.outward import Interval

MOST_SAMPLES = 10**15
"""Larger sizes are refused: floats would not hold them exactly."""
_MOST_ERROR = Fraction(10**100)


def check_kind(value: object, kind: type[Any], name: str, wanted: str) -> None:
    """Refuse an object that is not of a class.

    Parameters
    ----------
    value : object
        What a caller gave.
    kind : type
        The class; subclasses are accepted.
    name, wanted : str
        What the object is to the caller, and what to give instead, for the message.

    Raises
    ------
    InputError
        If it is something else.
    """
    if not isinstance(value, kind):
        raise InputError.wrong_type(f"{name} is {shorten(value)}; give {wanted}")


def whole_number(value: object, name: str, least: int) -> int:
    """Return a whole number that is at least ``least``."""
    try:
        whole = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = None
    if whole is None or whole < least:
        shown = shorten(value if whole is None else whole)
        raise InputError.not_a_whole_number(f"{name} is {shown}; accepted: a whole number, at least {least}")
    return whole


def checked_samples(value: object) -> int:
    """Return a number of samples: a whole number from 1 to 10^15."""
    return _up_to_most_samples(value, "the number of samples", 1)


def checked_categories(value: object) -> int:
    """Return a number of categories: a whole number from 2 to 10^15."""
    return _up_to_most_samples(value, "the number of categories", 2)


def checked_reports(value: object) -> int:
    """Return a number of reports: a whole number from 1 to 10^15, as many as files of counts may hold at most."""
    return _up_to_most_samples(value, "the number of reports", 1)


def checked_standard_error(value: object) -> float:
    """Return a standard error from 1e-100 to 1e100, whose square is a float too."""
    error = rational(value, "the standard error")
    if not 1 / _MOST_ERROR <= error <= _MOST_ERROR:
        raise InputError.out_of_range(
            f"the standard error is {shorten(value)}; accepted: a number above 0, from 1e-100 to 1e100"
        )
    return float(error)


def _up_to_most_samples(value: object, name: str, least: int) -> int:
    n = whole_number(value, name, least)
    if n > MOST_SAMPLES:
        raise InputError.not_a_whole_number(f"{name} is {shorten(n)}; accepted: a whole number from {least} to 10^15")
    return n


def checked_delta(value: object) -> Fraction:
    """Return a failure probability in [0, 1) as a fraction."""
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InputError.delta_out_of_range(f"delta is {shorten(value)}; accepted: a probability of failure in [0, 1)")
    return delta


def checked_radius(value: object) -> Fraction:
    """Return an l1 radius in [0, 2] as a fraction."""
    radius = rational(value, "the radius")
    if not 0 <= radius <= 2:
        raise InputError.radius_out_of_range(
            f"the radius is {shorten(value)}; accepted: 0 (known prior) to 2 (any prior)"
        )
    return radius


def checked_scale(value: object, name: str = "the scale") -> Interval:
    """Return a positive scale as an interval: of a float, its decimal and its double are the ends."""
    decimal = rational(value, name)
    if decimal <= 0:
        raise InputError.out_of_range(f"{name} is {shorten(value)}; accepted: a finite number above 0")
    held = Fraction(float(value)) if isinstance(value, float | np.floating) else decimal
    return Interval(min(decimal, held), max(decimal, held))


def checked_p_min(value: object) -> Fraction:
    """Return the probability of the rarer of two categories, in (0, 1/2]."""
    p_min = rational(value, "p_min")
    if not 0 < p_min <= Fraction(1, 2):
        raise InputError.out_of_range(
            f"p_min is {shorten(value)}; accepted: the smaller of two probabilities, in (0, 0.5]"
        )
    return p_min


def reachable_epsilon(value: object) -> Epsilon:
    """Return a positive epsilon; for a float, the smaller of the decimal that it prints and its exact value."""
    epsilon = Epsilon.of(value)
    if isinstance(value, float | np.floating):
        epsilon = Epsilon.of(min(rational(value, "epsilon"), Fraction(float(value))))
    if epsilon == Epsilon.of(0) or epsilon.power == 1:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {shorten(value)}, which no finite amount of noise reaches; accepted: a number above 0"
        )
    return epsilon


def finite_numbers(values: ArrayLike, name: str) -> Floats:
    """Return numbers as finite floats."""
    numbers = real_array(values, f"the array of {name.removeprefix('the ')}", "finite numbers")
    if not np.isfinite(numbers).all():
        raise InputError.not_a_number(f"{name} hold a value that is not finite; accepted: finite numbers")
    return numbers


def least_probability(p_min: object, radius: object) -> Fraction:
    """Return the least probability that a category has in an l1 ball: ``p_min - radius / 2``, but not below 0."""
    return max(Fraction(0), checked_p_min(p_min) - checked_radius(radius) / 2)


def checked_weight(value: object, name: str) -> Fraction:
    """Return a number as the exact fraction that it states; text that states none may be a record, and is not shown.

    Examples
    --------
    >>> checked_weight("1/3", "probability 1")
    Fraction(1, 3)
    """
    try:
        return rational(value, name)
    except InputError:
        if isinstance(value, Number) or value is np.ma.masked:
            raise
        try:
            float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise InputError.not_a_number(
                f"{name} is a {type(value).__name__}; give a number, or a decimal as text; if these are records, use "
                "L1Ball.from_samples"
            ) from None
        raise
