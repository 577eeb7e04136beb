"""What exact pricing returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

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


class Pricing(Protocol):
    """A method of exact pricing for one problem.

    Attributes
    ----------
    method : str
        Its name, for people.
    """

    @property
    def method(self) -> str:
        """Its name, for people."""

    def price(self, multipliers: Floats, *, thorough: bool = True) -> Price:
        """Return a bound of the greatest reduced cost, which always holds, and columns of great reduced cost.

        The bound is the best this method has where it is asked to be thorough, and may be weaker elsewhere.
        The same multipliers always give the same bound.
        """

    def start(self) -> Floats:
        """Return columns with ``<P, v> = 1``, some of which sum to (1,...,1) with weights, shape (N, k)."""

    def centers(self) -> list[Floats]:
        """Return multipliers that may give a good bound to begin with, shape (N,) each."""

    def guess(self, multipliers: Floats) -> Floats:
        """Return columns of the cone with ``<P, v> = 1`` that may have great reduced costs, shape (N, k).

        None where exact pricing is as quick.
        """
