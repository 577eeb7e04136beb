"""Kind A of the extreme rays near the fractional knapsack."""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.half_enumeration import Masks
from mechdesign.optimize.pricing.knapsack.curve import Curve, Terms
from mechdesign.optimize.pricing.knapsack.kind import Choice, PricedCone


class KindA(Curve):
    """``c (1 - w + u)`` on S and ``1 - c w`` elsewhere, of mass ``1 - w + c w u``."""

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        t, e, slope = priced.cone.t, priced.cone.e, priced.cone.slope
        factor = (e - 1) / (1 + t * slope)  # c (1 + u) - 1
        super().__init__(priced, choice, 0.0, min(priced.cone.heaviest_ab, 1.0), factor)

    def like(self, choice: Choice) -> KindA:
        """Return the same kind for another choice."""
        return KindA(self.priced, choice)

    def terms(self, w: Floats) -> Terms:
        """Return the terms for masses, rounded up."""
        c, scale = self.cone.c, self.cone.mass_of_whole_a(w)
        whole_on, whole_off = self._values(w)
        on, off = whole_on / scale, whole_off / scale
        error = self.priced.unit * (1 + c + on) / scale
        return Terms(
            scale * self.priced.f(on, error),
            scale * self.priced.f(off, error),
            -whole_off * self.priced.multipliers.sum(),
            scale,
        )

    def build(self, members: Masks, mass: Floats) -> Floats:
        """Return the columns of sets up to scale."""
        on, off = self._values(mass)
        columns: Floats = np.where(members.T, on, off)
        return columns

    def _values(self, mass: Floats) -> tuple[Floats, Floats]:
        on, off = self.cone.whole_a(mass)
        return on, np.maximum(off, 0.0)
