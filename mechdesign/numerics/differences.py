"""Differences ``x_i g_i - y_i`` of rational numbers as floats, each correct to a few units in its last place.

A difference of two rounded floats may consist of their rounding errors alone. Where the terms cancel, the difference is
therefore computed from the rational numbers, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BITS = 64
_CANCELLED = 0.125  # a difference below this share of its terms is computed from the rational numbers


class Differences:
    """The numbers ``x_i g_i - y_i`` for fixed x and y.

    Parameters
    ----------
    factors, subtrahends : sequences of N Fractions
        x and y.

    Examples
    --------
    >>> thirds = Differences([Fraction(1, 3)], [Fraction(0.1)])
    >>> thirds.scaled(np.array([0.3]), lambda symbol: Fraction(3, 10))  # 1/10 minus the float next to it
    (array([-0.8]), -57)
    """

    def __init__(self, factors: Sequence[Fraction], subtrahends: Sequence[Fraction]) -> None:
        self._factors, self._subtrahends = tuple(factors), tuple(subtrahends)
        self._factor = _wide(self._factors)
        self._subtrahend = _wide(self._subtrahends)

    def scaled(self, gains: Floats, exact: Callable[[int], Fraction]) -> tuple[Floats, int]:
        """Return floats d and an exponent k with ``x_i g_i - y_i = 2^k d_i``, the largest d_i of size 1/2 to 1.

        Every d_i has a relative error of at most 13 units of 2^-52, apart from an error of 2^-1074 in g_i, and one of
        2^-1074 in d_i, where these numbers underflow.

        Parameters
        ----------
        gains : array, shape (N,)
            g as floats, each the nearest one.
        exact : callable
            Returns g_i as a fraction for a category i.
        """
        (x, x_power), (y, y_power) = self._factor, self._subtrahend
        mantissas, powers = np.frexp(gains)
        product, power = x * mantissas, x_power + powers
        top = np.where(y == 0, power, np.where(product == 0, y_power, np.maximum(power, y_power)))
        first, second = np.ldexp(product, power - top), np.ldexp(y, y_power - top)
        left = first - second
        lost = np.abs(left) < _CANCELLED * (np.abs(first) + np.abs(second))
        for i in np.flatnonzero(lost).tolist():
            gain, x_i, y_i = exact(i), self._factors[i], self._subtrahends[i]
            common = gain.denominator * x_i.denominator
            difference = gain.numerator * x_i.numerator * y_i.denominator - y_i.numerator * common
            left[i], top[i] = _mantissa(difference, common * y_i.denominator)
        mantissas, powers = np.frexp(left)
        powers = powers + top
        filled = mantissas != 0
        if not filled.any():
            return np.zeros_like(left), 0
        largest = int(powers[filled].max())
        return np.ldexp(mantissas, powers - largest), largest


def _wide(numbers: Sequence[Fraction]) -> tuple[Floats, NDArray[np.int64]]:
    """Return rational numbers as floats of about 1 times powers of two; neither overflows."""
    pairs = [_mantissa(x.numerator, x.denominator) for x in numbers]
    return np.array([mantissa for mantissa, _ in pairs]), np.array([power for _, power in pairs], dtype=np.int64)


def _mantissa(numerator: int, denominator: int) -> tuple[float, int]:
    """Return m and k with ``numerator / denominator = 2^k m`` to a unit in the last place and m of size 1/2 to 2."""
    if numerator == 0:
        return 0.0, 0
    shift = denominator.bit_length() - abs(numerator).bit_length() + _BITS
    top, below = (numerator << shift, denominator) if shift >= 0 else (numerator, denominator << -shift)
    return float(top // below) / 2.0**_BITS, _BITS - shift
