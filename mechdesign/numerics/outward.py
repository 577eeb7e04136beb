"""Intervals of rationals, and floats that are not below an Arb ball.

Noise is drawn with the exact value of the double, while all other code reads a float as the decimal that it prints. The
two differ by up to half a unit in the last place. So a scale is an interval that contains both, and what is reported
holds for the whole interval.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.numerics.exact import arb_of, float_up, upper

LEAST_FLOAT = Fraction(math.ulp(0.0))
_LARGEST_FLOAT = Fraction(sys.float_info.max)
_LEAST_BALL, _LARGEST_BALL = arb_of(LEAST_FLOAT), arb_of(_LARGEST_FLOAT)  # powers of two and 53 bits: exact


@dataclass(frozen=True)
class Interval:
    """All rationals from ``low`` to ``high``."""

    low: Fraction
    high: Fraction

    def ball(self) -> Any:
        """Return an Arb ball that contains the interval; call it inside `working_precision`."""
        return arb_of(self.low) if self.low == self.high else arb_of(self.low).union(arb_of(self.high))


def float_above(value: Any) -> float:
    """Return the least float that is not below a positive number, which is a Fraction or an Arb ball.

    The exponent of a ball may have thousands of bits: a number above all floats becomes infinity, and one below all
    positive floats the least of them.
    """
    if not isinstance(value, Fraction):
        if value < _LEAST_BALL:
            return float(LEAST_FLOAT)
        if not value.upper() <= _LARGEST_BALL:
            return math.inf
        value = upper(value)
    if value > _LARGEST_FLOAT:
        return math.inf
    return float_up(value)


def printed_above(value: Any) -> float:
    """Return a float that is at least a scale, both as a double and as the decimal that it prints."""
    found = float_above(value)
    least = value if isinstance(value, Fraction) else upper(value)
    while math.isfinite(found) and Fraction(repr(found)) < least:
        found = math.nextafter(found, math.inf)
    return found
