"""Quadratic forms over rays of kind B: c on a set S, x at one symbol f outside S, and 0 elsewhere.

The form is a sum over symbols, so that one table over the weights of sets, which holds the greatest sum of
``phi_i(c) - phi_i(0)``, with ``phi_i(y) = d_i (y - 1)^2 - lambda_i y``, prices all columns of one f exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.bounds import as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets, Kin, leave_one_out
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.counted import CountedSymbols
from mechdesign.optimize.estimation.found import Found
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class OneBetween:
    """The columns of kind B of a cone.

    Attributes
    ----------
    symbols : CountedSymbols
        The weights.
    cone : L1Cone
        The cone.
    """

    symbols: CountedSymbols
    cone: L1Cone[float]

    def price(self, form: QuadraticForm, multipliers: Floats, found: Found) -> None:
        """Raise the bound of what has been found to one for all columns of kind B, and add good columns.

        A common number of the form below 0 is left out.
        """
        d, lam, c, N = form.diagonal, multipliers, self.cone.c, multipliers.size
        # phi(c) - phi(0)
        gains = c * (d * (c - 2) - lam)
        kins = [Kin([i], weight, -float(gains[i])) for i, weight in enumerate(self.symbols.weights)]
        rounding = (8 * N + 64) * _EPS * float((np.abs(d) * (c + 1) ** 2 + np.abs(lam) * c).sum())
        merits = [0.0 if p > 0 else -np.inf for p in self.cone.P]
        capacity = self.symbols.heaviest(self.cone.heaviest_ab)
        for f, table in leave_one_out(kins, merits, CheapestSets(capacity)):
            first, heights = self._heights(f, form, multipliers, table)
            if heights.size == 0 or heights.max() == -np.inf:
                continue
            w = int(np.argmax(heights))
            found.upper = max(found.upper, float(as_bound(heights[w] + float(d.sum()) + rounding)))
            self._column(f, table.members(first + w), found)

    def _heights(self, f: int, form: QuadraticForm, multipliers: Floats, table: CheapestSets) -> tuple[int, Floats]:
        """Return the first weight that leaves a fraction for f, and bounds of the form less its value at 0."""
        P, c, most = self.cone.P, self.cone.c, self.cone.heaviest_ab
        first = max(0, int(np.ceil(self.symbols.total * (most - P[f] - self.symbols.off - 1e-12))))
        weights = np.arange(first, table.best.size)
        lightest, heaviest = self.symbols.masses(weights, most)
        error = 32 * _EPS / P[f]
        low = np.clip(self.cone.between_b(heaviest, P[f]) - error, 0.0, c)
        high = self.cone.between_b(lightest, P[f]) + error
        impossible = self.cone.between_b(heaviest, P[f]) - error > c * (1 + 1e-12)
        high = np.clip(high, 0.0, c)
        costs = table.best[first:]
        missing = np.isinf(costs) | impossible
        own = _greatest(form.diagonal[f], multipliers[f], low, high)
        return first, np.where(missing, -np.inf, own - np.where(missing, 0.0, costs))

    def _column(self, f: int, members: list[int], found: Found) -> None:
        P, c = self.cone.P, self.cone.c
        x = float(self.cone.between_b(P[members].sum(), P[f]))
        if -1e-9 <= x <= c * (1 + 1e-9):
            v = np.zeros(P.size)
            v[members] = c
            v[f] = min(max(x, 0.0), c)
            found.add(v / (P @ v))


def _greatest(d: float, multiplier: float, low: Floats, high: Floats) -> Floats:
    """Return the greatest ``d (y - 1)^2 - multiplier y - d`` for y between two ends."""

    def at(y: Floats) -> Floats:
        result: Floats = y * (d * (y - 2) - multiplier)
        return result

    result = np.maximum(at(low), at(high))
    if d < 0:
        result = np.maximum(result, at(np.clip(1 + multiplier / (2 * d), low, high)))
    return result
