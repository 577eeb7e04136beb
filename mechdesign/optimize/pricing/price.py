"""What pricing returns, what it is asked, and what the pricings of a ball share.

To a ball and a symmetric utility, symbols of equal probability are interchangeable: lambda is averaged over them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.start import center_multipliers, start_columns
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import FInformation


def equal_groups(masses: Iterable[Hashable]) -> list[list[int]]:
    """Return groups of symbols of equal mass, in the order of the first symbol of each.

    Examples
    --------
    >>> equal_groups([3, 1, 3])
    [[0, 2], [1]]
    """
    groups: dict[Hashable, list[int]] = {}
    for symbol, mass in enumerate(masses):
        groups.setdefault(mass, []).append(symbol)
    return list(groups.values())


def averaged(multipliers: Floats, groups: Sequence[Sequence[int]]) -> tuple[Floats, float]:
    """Return lambda averaged over symbols that are alike, and what to add to a bound that uses it.

    Averaging does not change the sum and does not raise the greatest reduced cost, which is convex in lambda and the
    same for every order of such symbols. But averages are rounded, so that their sum differs slightly from the sum of
    lambda, to which the reduced cost will be added.

    Examples
    --------
    >>> averaged(np.array([1.0, 5.0, 2.0]), [[0, 2], [1]])
    (array([1.5, 5. , 1.5]), 0.0)
    """
    result = np.array(multipliers, dtype=float)
    for group in groups:
        if len(group) > 1:
            result[list(group)] = result[list(group)].mean()
    drift = abs(math.fsum([*result.tolist(), *(-np.asarray(multipliers, dtype=float)).tolist()]))
    return result, 2 * drift


def beyond_floats(multipliers: Floats, exp_epsilon: float) -> bool:
    """Return whether sums of multipliers, times values of columns, may be more than floats hold.

    Examples
    --------
    >>> beyond_floats(np.array([1e308, 1e308]), 2.0), beyond_floats(np.array([1e8, -1e8]), 1e200)
    (True, False)
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(8 * np.abs(multipliers).sum() * exp_epsilon)


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

    def start(self, deadline: float | None = None) -> Floats:
        """Return columns with ``<P, v> = 1``, some of which sum to (1,...,1) with weights, shape (N, k).

        None are searched for after a deadline, a time of `time.monotonic`.
        """

    def centers(self) -> list[Floats]:
        """Return multipliers that may give a good bound to begin with, shape (N,) each."""

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return columns of the cone with ``<P, v> = 1`` that may have great reduced costs, shape (N, k).

        The array is empty where exact pricing is as quick. None are searched for after a deadline.
        """


@dataclass(frozen=True, eq=False)
class BallPricing(ABC):
    """Prices columns of the cone of a ball, with lambda averaged over symbols that are alike (`Pricing`).

    Attributes
    ----------
    ball : Ball
        An l1 ball or a relative ball.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.
    floor : Floor
        A cap for everyone, if there is one; a search near the fractional knapsack takes none.
    """

    ball: Ball
    exp_epsilon: float
    utility: FInformation
    floor: Floor = NO_FLOOR

    method: ClassVar[str]

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return a bound of the greatest reduced cost of any column with ``<P, v> = 1``, rounded up, and good columns.

        lambda is first averaged over symbols of equal probability (see `averaged`).

        Parameters
        ----------
        multipliers : array, shape (N,)
            lambda.
        thorough : bool
            Whether the bound is the best that the method gives, which takes longer. Without it the bound holds too.
        deadline : float, optional
            A time of `time.monotonic` after which a thorough pricing returns the bound that it has.
        """
        if beyond_floats(multipliers, self.exp_epsilon):
            return Price(np.inf, "multipliers beyond floats", 0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._price(multipliers, thorough=thorough, deadline=deadline)

    @abstractmethod
    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Price:
        """Return the price; multipliers times values of columns are numbers that floats hold."""

    def start(self, deadline: float | None = None) -> Floats:  # noqa: ARG002 - which takes little time
        """Return columns of balanced sets."""
        return start_columns(self.ball, self.exp_epsilon, self.utility, self.floor)

    def centers(self) -> list[Floats]:
        """Return zeros, and the slopes of chords."""
        return center_multipliers(self.ball, self.exp_epsilon, self.utility)

    @abstractmethod
    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return columns that may have great reduced costs, as `Pricing.guess`."""
