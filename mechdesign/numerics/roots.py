"""Roots of many functions of one variable at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_MOST_STEPS = 200  # bisection alone takes at most this many
_HALVING = 4  # every so many steps the middle of an interval is taken
_LEAST = 2.0**-1000


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


def bracketed_roots(
    functions: Callable[[Floats], Floats], low: Floats, high: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """Return intervals of at most a tolerance in which functions stop being positive, from their values alone.

    The secant through both ends gives the next point, where the value at an end that stays is halved (Illinois method;
    Dowell and Jarratt, 1971). Sometimes it is the middle.

    Parameters
    ----------
    functions : callable
        Takes points and returns values, shape (...).
    low, high : array, shape (...)
        Where to look. A function that is not positive at the lower end has its root there, and one that is positive at
        the upper end has it there.
    tolerance : float
        The greatest width of the results.

    Examples
    --------
    >>> ends = bracketed_roots(lambda x: np.array([2.0, 9.0]) - x**2, np.zeros(2), np.full(2, 4.0), 1e-12)
    >>> ends[0].round(9), (ends[1] - ends[0] <= 1e-12).all()
    (array([1.41421356, 3.        ]), np.True_)
    """
    at_low, at_high = functions(low), functions(high)
    low, high = np.where(at_high > 0, high, low), np.where(at_low > 0, high, low)
    moved = np.zeros(low.shape)
    for step in range(1, _MOST_STEPS):
        width = high - low
        if not (width > tolerance).any():
            break
        part = 0.5 if step % _HALVING == 0 else at_low / np.maximum(at_low - at_high, _LEAST)
        x = np.clip(low + part * width, np.minimum(low + tolerance / 2, high), np.maximum(high - tolerance / 2, low))
        value = functions(x)
        above = value > 0
        at_low = np.where(above, value, np.where(moved < 0, at_low / 2, at_low))
        at_high = np.where(above, np.where(moved > 0, at_high / 2, at_high), value)
        low, high, moved = np.where(above, x, low), np.where(above, high, x), np.where(above, 1.0, -1.0)
    return low, high
