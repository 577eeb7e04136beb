"""Upper bounds that remain valid where floats overflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.numerics.arrays import Floats


def as_bound(upper: ArrayLike) -> Floats:
    """Return upper bounds with infinity in place of NaN, and of minus infinity, which is a result of overflow.

    A bound that is NaN or minus infinity is not above any level, so that a search would drop the case it bounds. Bounds
    are therefore passed through this function where they are computed, before they are compared.

    Examples
    --------
    >>> as_bound([1.0, np.nan, -np.inf])
    array([ 1., inf, inf])
    """
    values = np.asarray(upper, dtype=float)
    result: Floats = np.where(values > -np.inf, values, np.inf)
    return result
