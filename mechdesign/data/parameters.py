"""The parameters of additive noise, checked and exact, and floats that are not below an Arb ball.

Noise is drawn with the double that a scale is, while everything else takes a float for the decimal it prints. The two
differ by up to half a unit in the last place, so a scale is an interval that holds both, and what is reported holds for
all of it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.checks import checked_radius
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import real_array
from mechdesign.numerics.exact import Epsilon, arb_of, float_up, rational, upper

LEAST_FLOAT = Fraction(math.ulp(0.0))
_LARGEST_FLOAT = Fraction(sys.float_info.max)


@dataclass(frozen=True)
class Interval:
    """All rationals from ``low`` to ``high``."""

    low: Fraction
    high: Fraction

    def ball(self) -> Any:
        """Return an Arb ball that holds the interval, inside `working_precision`."""
        return arb_of(self.low) if self.low == self.high else arb_of(self.low).union(arb_of(self.high))


def checked_scale(value: object, name: str = "the scale") -> Interval:
    """Return a positive scale: the decimal it says, and the double that it is where it is one."""
    said = rational(value, name)
    if said <= 0:
        raise InputError(f"{name} is {shorten(value)}; accepted: a finite number above 0")
    held = Fraction(float(value)) if isinstance(value, float | np.floating) else said
    return Interval(min(said, held), max(said, held))


def checked_p_min(value: object) -> Fraction:
    """Return the probability of the rarer of two symbols, in (0, 1/2]."""
    p_min = rational(value, "p_min")
    if not 0 < p_min <= Fraction(1, 2):
        raise InputError(f"p_min is {shorten(value)}; accepted: the smaller of two probabilities, in (0, 0.5]")
    return p_min


def checked_target(value: object) -> Epsilon:
    """Return a positive epsilon; of a float the smaller of the decimal it says and the double it is."""
    epsilon = Epsilon.of(value)
    if isinstance(value, float | np.floating):
        epsilon = Epsilon.of(min(rational(value, "epsilon"), Fraction(float(value))))
    if epsilon == Epsilon.of(0) or epsilon.power == 1:
        raise InputError(
            f"epsilon is {shorten(value)}, which no finite amount of noise reaches; accepted: a number above 0"
        )
    return epsilon


def finite_numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return numbers as finite floats."""
    numbers = real_array(values, name, "finite numbers")
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} hold a value that is not finite; accepted: finite numbers")
    return numbers


def least_probability(p_min: object, radius: object) -> Fraction:
    """Return the least probability that a symbol has in an l1 ball: ``p_min - radius / 2``, but not below 0."""
    return max(Fraction(0), checked_p_min(p_min) - checked_radius(radius) / 2)


def nats(epsilon: Epsilon) -> Any:
    """Return epsilon as an Arb ball, inside `working_precision`."""
    return arb_of(epsilon.power - 1).log1p() if epsilon.power is not None else arb_of(epsilon.exponent or 0)


def one_minus_exp(epsilon: Epsilon) -> Any:
    """Return ``1 - exp(-epsilon)`` as an Arb ball, to full relative precision, inside `working_precision`."""
    return arb_of(1 - 1 / epsilon.power) if epsilon.power is not None else -(-nats(epsilon)).expm1()


def float_above(value: Any) -> float:
    """Return the least float that is not below a positive number, which is a Fraction or an Arb ball.

    The exponent of a ball may have thousands of bits; what no float can hold becomes infinite, or the least float
    above 0.
    """
    if not isinstance(value, Fraction):
        if value < arb_of(LEAST_FLOAT):
            return float(LEAST_FLOAT)
        if not value.upper() <= arb_of(_LARGEST_FLOAT):
            return math.inf
        value = upper(value)
    if value > _LARGEST_FLOAT:
        return math.inf
    return float_up(value)


def scale_above(value: Any) -> float:
    """Return a float that is not below a scale, neither as a double nor as the decimal that it prints."""
    found = float_above(value)
    least = value if isinstance(value, Fraction) else upper(value)
    while math.isfinite(found) and Fraction(repr(found)) < least:
        found = math.nextafter(found, math.inf)
    return found
