"""Bounds that stay bounds where floats overflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.numerics.arrays import Floats


def as_bound(upper: ArrayLike) -> Floats:
    """Return upper bounds with infinity for those that are not numbers, or that overflow made minus infinity.

    Every comparison with such a number is false, so that what it bounds would vanish. Bounds are therefore passed
    through here where they are formed, before anything is compared with them.

    Examples
    --------
    >>> as_bound([1.0, np.nan, -np.inf])
    array([ 1., inf, inf])
    """
    values = np.asarray(upper, dtype=float)
    result: Floats = np.where(values > -np.inf, values, np.inf)
    return result
