"""The pricing that column generation asks: one branch and bound for each vector of multipliers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.branch_and_bound.columns import FoundColumns, climb
from mechdesign.optimize.pricing.branch_and_bound.program import BoxProgram
from mechdesign.optimize.pricing.branch_and_bound.search import METHOD, Search
from mechdesign.optimize.pricing.price import Price, late
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import FInformation

MOST_BOXES = 20_000
FEW_BOXES = 500


def price_by_boxes(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: FInformation,
    multipliers: Floats,
    *,
    target: float = -math.inf,
    most_nodes: int = MOST_BOXES,
    deadline: float | None = None,
) -> Price:
    """Return an upper bound of the reduced cost of any column with ``<P, v> = 1``, rounded outward.

    Parameters
    ----------
    uncertainty, exp_epsilon, utility
        As for `BoxPricing`.
    multipliers : array, shape (N,)
        lambda.
    target : float
        A bound that is good enough: the search ends when it is proved. Without a target the search ends at the greatest
        reduced cost.
    most_nodes : int
        The most boxes. The bound holds wherever the search ends, but is greater if it ends early.
    deadline : float, optional
        A time of `time.monotonic` at which the search ends.

    Returns
    -------
    Price
        The same for the same arguments, unless a deadline came first; with the best columns found.

    Examples
    --------
    >>> from mechdesign import ConvexHull, MutualInformation
    >>> hull = ConvexHull([["0.5", "0.3", "0.2"], ["0.4", "0.2", "0.4"]])
    >>> price = price_by_boxes(hull, 1.5, MutualInformation(), np.array([0.1, 0.1, 0.1]))
    >>> round(price.upper, 8)
    0.02965534
    """
    lam = np.asarray(multipliers, dtype=float)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not np.isfinite(np.abs(lam).sum()):
            return Price(math.inf, "multipliers beyond floats", 0)
        return Search(BoxProgram(uncertainty, exp_epsilon), utility, lam).run(target, most_nodes, deadline)


class BoxPricing:
    """Exact pricing over any set for a column generation that lists no rays (`Pricing`).

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon, utility
        As for `BallPricing`.

    Examples
    --------
    >>> from mechdesign import ConvexHull, MutualInformation
    >>> oracle = BoxPricing(ConvexHull([["0.5", "0.5"], ["0.4", "0.6"]]), 1.5, MutualInformation())
    >>> oracle.start()[:, 0]
    array([1., 1.])
    >>> multipliers = np.array([0.1, 0.2])
    >>> best = oracle.guess(multipliers)[:, 0]
    >>> reached = MutualInformation().mu(best[:, None], [0.45, 0.55])[0] - multipliers @ best
    >>> bool(0 <= oracle.price(multipliers).upper - reached <= 1e-9)
    True
    """

    def __init__(self, uncertainty: UncertaintySet, exp_epsilon: float, utility: FInformation) -> None:
        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.utility = utility

    def start(self) -> Floats:
        """Return columns of the cone, shape (N, k), with ``<P, v> = 1``; the first is (1,...,1)."""
        size = self.uncertainty.size
        return np.hstack([np.ones((size, 1)), self.guess(np.zeros(size))])

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.uncertainty.size)]

    def guess(self, multipliers: Floats) -> Floats:
        """Return columns that no small step improves, best first, shape (N, k), with ``<P, v> = 1``."""
        program = BoxProgram(self.uncertainty, self.exp_epsilon)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = FoundColumns(self.uncertainty, self.exp_epsilon, self.utility, np.asarray(multipliers, dtype=float))
            climb(program, found)
        return found.best()

    @property
    def method(self) -> str:
        """Its name, for people."""
        return METHOD

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return `price_by_boxes`, of few boxes unless asked to be thorough."""
        most = MOST_BOXES if thorough else FEW_BOXES
        price = price_by_boxes(
            self.uncertainty, self.exp_epsilon, self.utility, multipliers, most_nodes=most, deadline=deadline
        )
        return replace(price, whole=thorough and not late(deadline))
