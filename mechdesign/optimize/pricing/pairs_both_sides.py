"""Exact pricing of f-informations over a lower probability for a promise on both sides, for up to 16 symbols.

As without a promise from below (`mechdesign.optimize.pricing.pairs_of_sets`), every pair of sets S in T is priced by
its masses. A column has three values, ``c + (1 - a)`` on S, ``c + (1 - a) x`` on M and c off T, or two
(`mechdesign.optimize.lower_rays.TwoSidedRays`). The bound of what errors of values change is the same for three values
as for two, because ``P(S) v_S + P(M) v_M + P(others) v = 1``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.lower_rays import TwoSidedRays
from mechdesign.optimize.pricing.pairs_of_sets import PairPricing
from mechdesign.optimize.rays import Masks, indicator
from mechdesign.uncertainty.base import NO_FLOOR, Floor

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class TwoSidedPairPricing(PairPricing):
    """Prices every pair of sets of symbols for a promise on both sides (`Pricing`).

    Attributes
    ----------
    floor : Floor
        What is asked from below; its lift is between 0 and 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from mechdesign import MutualInformation
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"])
    >>> pricing = TwoSidedPairPricing(limits, 2.0, MutualInformation(), Floor(Fraction(1, 2)))
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.117643827
    """

    floor: Floor = NO_FLOOR

    method = "every pair of sets, for both sides"

    @cached_property
    def _two_sided(self) -> TwoSidedRays:
        return TwoSidedRays(self.known, self.exp_epsilon, self.floor)

    def _alone(self) -> Masks:
        """Return every set of kind T, and that of all symbols for the constant column."""
        return np.arange(1, 1 << self.known.size)

    def _rays_among(self, below: Masks, above: Masks) -> tuple[Masks, Masks]:
        """Return the pairs S in T with ``x(S) < 0 < x(T)``."""
        signs = self._two_sided.signs
        kept = (signs[below] < 0) & (signs[above] > 0)
        return below[kept], above[kept]

    def _values(self, below: Masks, above: Masks) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the values on S, on M and off T of columns of any scale, and bounds on the errors of their shares."""
        rays, strict = self._two_sided, float(1 - self.floor.least_lift)
        share, least, error = rays.levels(below, above)
        two = below == above
        off = np.where(two, np.r_[rays.elsewhere, 0.0][below - 1], least)
        return np.where(two, 1.0, strict + least), strict * share + least, off, np.where(two, 0.0, error)

    def _costs(self, below: Masks, above: Masks, costs: Floats, sizes: Floats) -> Floats:
        """Return reduced costs of columns, rounded up; S = T has two values."""
        sets = (below, above & ~below, (len(self._mass) - 1) & ~above)
        *values, error = self._values(below, above)
        masses = [self._mass[some] for some in sets]
        scale = sum(mass * value for mass, value in zip(masses, values, strict=True))
        gain, paid, size = np.zeros(below.size), np.zeros(below.size), np.zeros(below.size)
        for some, mass, value in zip(sets, masses, values, strict=True):
            scaled = value / scale
            gain += mass * np.asarray(self.utility.f(scaled), dtype=float)
            paid += scaled * costs[some]
            size += scaled * sizes[some]
        slack = (2 * self.known.size + 64) * _EPS * size
        return np.where(error > 1e-9, math.inf, as_bound(gain - paid + slack + self._room))

    def _columns(self, below: Masks, above: Masks) -> Floats:
        on, between, off, _ = self._values(below, above)
        inside, outer = indicator(below, self.known.size), indicator(above, self.known.size)
        columns = on * inside + between * (outer - inside) + off * (1 - outer)
        result: Floats = columns / (self.known.prior @ columns)
        return result
