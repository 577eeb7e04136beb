"""Roots of many functions of one variable at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_MOST_STEPS = 200  # bisection alone takes at most this many


def newton_roots(
    functions: Callable[[Floats, NDArray[np.intp] | slice], tuple[Floats, Floats]],
    low: Floats,
    high: Floats,
    start: Floats,
    tolerance: float,
) -> Floats:
    """Return where functions that fall from positive to negative values are 0, by Newton's method from a start.

    A step that leaves the interval in which the root is known to be is replaced by half of the interval.

    Parameters
    ----------
    functions : callable
        Takes points, shape (k,), and the indices of the functions that they are for, or a slice of all; returns values
        and slopes.
    low, high, start : array, shape (n,)
        Where to look, and where to start. A function that is not positive at the lower end has its root there, and one
        that is positive at the upper end has it there.
    tolerance : float
        How far the results may be from the roots, where Newton's method converges quadratically.

    Examples
    --------
    >>> ends = np.zeros(2), np.full(2, 4.0)
    >>> newton_roots(lambda x, of: (np.array([2.0, 9.0])[of] - x**2, -2 * x), *ends, np.ones(2), 1e-12).round(9)
    array([1.41421356, 3.        ])
    """
    low, high, result = low.copy(), high.copy(), np.clip(start, low, high)
    of = np.arange(result.size)
    for _ in range(_MOST_STEPS):
        if not of.size:
            break
        x = result[of]
        value, slope = functions(x, of if of.size < result.size else slice(None))
        low[of], high[of] = np.where(value > 0, x, low[of]), np.where(value > 0, high[of], x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -value / slope
        safe = (x + step >= low[of]) & (x + step <= high[of])
        result[of] = np.where(safe, x + step, (low[of] + high[of]) / 2)
        near = np.where(safe, np.abs(step) <= np.sqrt(tolerance), high[of] - low[of] <= tolerance)
        of = of[~near & (value != 0)]
    return result
