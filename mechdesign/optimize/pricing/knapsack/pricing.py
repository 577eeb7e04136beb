"""The pricing that column generation asks: one search near the fractional knapsack for each vector of multipliers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.pricing.alike import alike, averaged
from mechdesign.optimize.pricing.ball_pricing import BallPricing
from mechdesign.optimize.pricing.knapsack.kind import PricedCone
from mechdesign.optimize.pricing.knapsack.search import Search
from mechdesign.optimize.pricing.price import Price, late


class KnapsackPricing(BallPricing):
    """Prices columns of the cone of an l1 ball with any prior.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = KnapsackPricing(L1Ball([0.5, 0.3, 0.2]), 1.5, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.359884719
    """

    method = "sets near the fractional knapsack, met in the middle"

    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Price:
        even, drift = averaged(multipliers, self._groups)
        search = self._search(even)
        # A thorough search enumerates more sets before it returns the bound of those that are left.
        upper = search.run(thorough=thorough, deadline=deadline)
        whole = thorough and not late(deadline)
        return Price(upper + drift, self.method, search.looked_at, search.found.columns(), whole)

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
