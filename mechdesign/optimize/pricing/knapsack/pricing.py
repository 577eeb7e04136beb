"""The pricing that column generation asks: one search near the fractional knapsack for each vector of multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.pricing.alike import alike, averaged
from mechdesign.optimize.pricing.knapsack.kind import PricedCone
from mechdesign.optimize.pricing.knapsack.search import Search
from mechdesign.optimize.pricing.price import Price, beyond_floats
from mechdesign.optimize.start import center_multipliers, start_columns
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import FInformation


@dataclass(frozen=True, eq=False)
class KnapsackPricing:
    """Prices columns of the cone of an l1 ball with any prior.

    Attributes
    ----------
    ball : L1Ball
        Any l1 ball.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = KnapsackPricing(L1Ball([0.5, 0.3, 0.2]), 1.5, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.359884719
    """

    ball: L1Ball
    exp_epsilon: float
    utility: FInformation

    method = "sets near the fractional knapsack, met in the middle"

    def price(self, multipliers: Floats, *, thorough: bool = True) -> Price:
        """Return a bound of the greatest reduced cost, and the best columns found.

        lambda is first averaged over symbols of equal probability (see `averaged`).

        Parameters
        ----------
        multipliers : array, shape (N,)
            lambda.
        thorough : bool
            Whether more sets are enumerated before the search returns the bound of those that are left.
        """
        if beyond_floats(multipliers, self.exp_epsilon):
            return Price(np.inf, "multipliers beyond floats", 0)
        even, drift = averaged(multipliers, self._groups)
        search = self._search(even)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            upper = search.run(thorough=thorough)
        return Price(upper + drift, self.method, search.looked_at, search.found.columns())

    def start(self) -> Floats:
        """Return columns of balanced sets."""
        return start_columns(self.ball, self.exp_epsilon, self.utility)

    def centers(self) -> list[Floats]:
        """Return zeros, and the slopes of chords."""
        return center_multipliers(self.ball, self.exp_epsilon, self.utility)

    def guess(self, multipliers: Floats) -> Floats:
        """Return the best columns among a few sets that are near the fractional knapsack."""
        search = self._search(averaged(multipliers, self._groups)[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            search.guess()
        return search.found.columns()

    def _search(self, multipliers: Floats) -> Search:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return Search(PricedCone(self._cone, self.utility, multipliers), self._groups)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Symbols of equal probability."""
        return alike(self.ball.center)

    @cached_property
    def _cone(self) -> L1Cone[float]:
        return L1Cone.of(self.ball, self.exp_epsilon)
