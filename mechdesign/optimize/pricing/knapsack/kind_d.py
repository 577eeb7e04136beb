"""Kind D of the extreme rays near the fractional knapsack."""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.half_enumeration import Masks
from mechdesign.optimize.pricing.knapsack.curve import Curve, Terms
from mechdesign.optimize.pricing.knapsack.kind import Choice, PricedCone


class KindD(Curve):
    """``e`` on S and 1 elsewhere."""

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        super().__init__(priced, choice, 0.0, min(priced.cone.heaviest_cd, 1.0), priced.cone.e - 1)

    def like(self, choice: Choice) -> KindD:
        """Return the same kind for another choice."""
        return KindD(self.priced, choice)

    def terms(self, w: Floats) -> Terms:
        """Return the terms for masses, rounded up."""
        e = self.cone.e
        scale = 1 + (e - 1) * w
        on, off = e / scale, 1 / scale
        f, unit = self.priced.f, self.priced.unit
        rest = np.full(w.shape, -self.priced.multipliers.sum())
        # w is a sum of masses, known relative to itself, and w times e / scale is at most 1.
        return Terms(scale * f(on, 2 * unit * on), scale * f(off, 2 * unit * off), rest, scale)

    def build(self, members: Masks, mass: Floats) -> Floats:  # noqa: ARG002 - the values do not depend on it
        """Return the columns of sets up to scale."""
        columns: Floats = np.where(members.T, self.cone.e, 1.0)
        return columns
