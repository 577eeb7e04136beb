"""Kind B of the extreme rays with a given fractional symbol, near the fractional knapsack."""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.half_enumeration import Masks
from mechdesign.optimize.pricing.knapsack.curve import Curve, Terms
from mechdesign.optimize.pricing.knapsack.kind import Choice, PricedCone


class KindBAt(Curve):
    """``c`` on S and x at a given fractional symbol."""

    def __init__(self, priced: PricedCone, choice: Choice, fractional: int) -> None:
        cone = priced.cone
        low = max(cone.heaviest_ab - float(cone.P[fractional]), 0.0)
        super().__init__(priced, choice, low, min(cone.heaviest_ab, 1.0), cone.c)
        self.fractional = fractional

    def like(self, choice: Choice) -> KindBAt:
        """Return the same kind for another choice."""
        return KindBAt(self.priced, choice, self.fractional)

    def terms(self, w: Floats) -> Terms:
        """Return the terms for masses, rounded up."""
        c, f, unit = self.cone.c, self.priced.f, self.priced.unit
        p, x = float(self.cone.P[self.fractional]), self._between(w)
        error = min(unit / p, c)
        multiplier = float(self.priced.multipliers[self.fractional])
        zero = f(0.0)
        # Of a symbol that has nearly all mass, 1 - p has lost digits.
        rest = p * f(x, error) + (1 - p) * zero + unit * np.abs(zero) - x * multiplier
        on = f(c, unit * c) - zero
        return Terms(np.broadcast_to(on, w.shape), np.zeros(w.shape), rest, np.ones(w.shape))

    def build(self, members: Masks, mass: Floats) -> Floats:
        """Return the columns of sets up to scale."""
        columns: Floats = np.where(members.T, self.cone.c, 0.0)
        columns[self.fractional] = self._between(mass)
        return columns

    def _between(self, w: Floats) -> Floats:
        """Return x, the value at the fractional symbol."""
        result: Floats = np.clip(self.cone.between_b(w, self.cone.P[self.fractional]), 0.0, self.cone.c)
        return result
