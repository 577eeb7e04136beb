"""Roots of many functions of one variable at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_MOST_STEPS = 200  # bisection alone takes at most this many
_EPS = float(np.finfo(float).eps)


def bracketed_roots(
    functions: Callable[[Floats, NDArray[np.intp]], Floats], low: Floats, high: Floats, tolerance: Floats | float
) -> Floats:
    """Return where functions that fall from positive to negative values are 0 (Chandrupatla, 1997).

    Each step interpolates by an inverse quadratic where that is safe, and halves the interval where it is not.

    Parameters
    ----------
    functions : callable
        Takes points, shape (k,), and the indices of the functions that they are for; returns their values.
    low, high : array, shape (n,)
        Where to look. A function that is not positive at the lower end has its root there, and one that is positive at
        the upper end has it there.
    tolerance : float or array, shape (n,)
        How far the results may be from the roots, beside rounding.

    Examples
    --------
    >>> bracketed_roots(lambda x, of: np.array([2.0, 9.0])[of] - x**2, np.zeros(2), np.full(2, 4.0), 1e-12).round(9)
    array([1.41421356, 3.        ])
    """
    everyone = np.arange(low.size)
    at_low, at_high = functions(low, everyone), functions(high, everyone)
    result = np.where(at_low > 0, high, low)
    of = np.flatnonzero((at_low > 0) & (at_high < 0))
    tolerance = np.broadcast_to(np.asarray(tolerance, dtype=float), low.shape)
    # a is the last point and b the end on the other side of the root; c is the point that a or b replaced.
    a, b, f, g = high[of], low[of], at_high[of], at_low[of]
    share = np.full(of.size, 0.5)
    for _ in range(_MOST_STEPS):
        if not of.size:
            break
        x = a + share * (b - a)
        h = functions(x, of)
        same = np.sign(h) == np.sign(f)
        c, at_c = np.where(same, a, b), np.where(same, f, g)
        b, g = np.where(same, b, a), np.where(same, g, f)
        a, f = x, h
        best = np.where(np.abs(f) < np.abs(g), a, b)
        result[of] = best
        least = np.minimum((2 * _EPS * np.abs(best) + 0.5 * tolerance[of]) / np.abs(b - a), 0.5)
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (f - g) / (at_c - g)
            quadratic = f / (g - f) * at_c / (g - at_c) + (c - a) / (b - a) * f / (at_c - f) * g / (at_c - g)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        share = np.clip(np.where(safe, quadratic, 0.5), least, 1 - least)
        going = (least < 0.5) & (f != 0)
        of, a, b, f, g, share = (part[going] for part in (of, a, b, f, g, share))
    return result
