"""What exact pricing returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechdesign.uncertainty.base import Floats


@dataclass(frozen=True, eq=False)
class Price:
    """The greatest reduced cost of any column with ``<P, v> = 1``, rounded up.

    Attributes
    ----------
    upper : float
        Nothing in the cone has more.
    method : str
        How it was found.
    columns : int
        How many columns or problems were looked at.
    best : array, shape (N, k)
        Columns of great reduced cost that were met on the way, with ``<P, v> = 1``; for the next linear
        program, not for the bound. There may be none.
    """

    upper: float
    method: str
    columns: int
    best: Floats = field(default_factory=lambda: np.empty((0, 0)))
