"""What exact pricing returns."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.bounds import as_bound


def beyond_floats(multipliers: Floats, exp_epsilon: float) -> bool:
    """Return whether sums of multipliers, times values of columns, may be more than floats hold.

    Examples
    --------
    >>> beyond_floats(np.array([1e308, 1e308]), 2.0), beyond_floats(np.array([1e8, -1e8]), 1e200)
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(8 * np.abs(multipliers).sum() * exp_epsilon)


def late(deadline: float | None) -> bool:
    """Return whether it is a time of `time.monotonic` or later; a deadline that is None never comes.

    Examples
    --------
    >>> late(None), late(time.monotonic())
    (False, True)
    """
    return deadline is not None and time.monotonic() >= deadline


@dataclass(frozen=True, eq=False)
class Price:
    """A bound of reduced costs ``mu(v) - <lambda, v>`` of columns with ``<P, v> = 1``, rounded up.

    Attributes
    ----------
    upper : float
        ``sum(lambda) + upper`` is an upper bound of the utility of every mechanism. Pricing that uses lambda as it
        is given has no column above `upper`. Pricing that first averages lambda over symbols that are alike (see
        `averaged`) bounds the reduced costs at the averages, and a column may have more at the given lambda.
        NaN and minus infinity become infinity.
    method : str
        How the bound was computed.
    columns : int
        How many columns or problems were priced.
    best : array, shape (N, k)
        Columns of great reduced cost with ``<P, v> = 1``, for the next linear program; the bound does not rest on
        them. The array may be empty.
    whole : bool
        Whether the bound is the best that the method gives for lambda.
    """

    upper: float
    method: str
    columns: int
    best: Floats = field(default_factory=lambda: np.empty((0, 0)))
    whole: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "upper", float(as_bound(self.upper)))


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

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return a bound of the greatest reduced cost, which always holds, and columns of great reduced cost.

        With `thorough` the bound is the best that this method gives, unless a deadline comes first, a time of
        `time.monotonic`; without, it may be weaker. Without a deadline the same multipliers always give the same bound.
        """

    def start(self) -> Floats:
        """Return columns with ``<P, v> = 1``, some of which sum to (1,...,1) with weights, shape (N, k)."""

    def centers(self) -> list[Floats]:
        """Return multipliers that may give a good bound to begin with, shape (N,) each."""

    def guess(self, multipliers: Floats) -> Floats:
        """Return columns of the cone with ``<P, v> = 1`` that may have great reduced costs, shape (N, k).

        The array is empty where exact pricing is as quick.
        """
