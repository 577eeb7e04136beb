"""Quadratic forms over rays of kind B, priced by tables over the weights of sets.

A ray of kind B is c on a set S, x at one symbol f outside S, and 0 elsewhere. The form is a sum over symbols, so that
one table, which holds the greatest sum of ``phi_i(c) - phi_i(0)``, with ``phi_i(y) = d_i (y - 1)^2 - lambda_i y``,
prices all columns of one f exactly. For a common number B < 0 there is a table
for each of some kappas, as for kinds A and D, and of each f and weight the least bound counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets, ItemGroup, leave_one_out
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.weight_tables import least_kappa
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)
_MOST_KAPPAS = 32


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

    def price(
        self,
        form: QuadraticForm,
        multipliers: Floats,
        found: Found,
        near: Callable[[], float] = float,
        deadline: float | None = None,
    ) -> None:
        """Raise the bound of what has been found to one for all columns of kind B, and add good columns.

        For a common number below 0 kappas are added while the bound is more than `near()` above what is reached. The
        bound is infinite if the deadline comes before all symbols are looked at.
        """
        _PricingB(self, form, multipliers, found).run(near, deadline)


class _PricingB:
    """One form and one lambda.

    With a cap the image ``s u + 1 - s`` of a column u has the value of u for ``s^2 d`` and ``s lambda``, less
    ``(1 - s) sum(lambda)``.
    """

    def __init__(self, kind: OneBetween, form: QuadraticForm, multipliers: Floats, found: Found) -> None:
        self.symbols, self.cone, self.found = kind.symbols, kind.cone, found
        self.share, self.common, self.multipliers = kind.cone.share, form.common, multipliers
        self.d = self.share * self.share * form.diagonal
        self.sizes = np.abs(form.diagonal) * (self.cone.c + 1) ** 2
        self.capacity = self.symbols.heaviest(self.cone.heaviest_ab)
        # Of each symbol between: the first weight that leaves something for it, and the least bounds of each weight
        # with their kappas.
        self.bounds: dict[int, tuple[int, Floats, Floats]] = {}

    def run(self, near: Callable[[], float], deadline: float | None) -> None:
        """Price with kappa after kappa, each that of the least bound where the bound is greatest."""
        kappas = [0.0]
        if not self._look(kappas[0], deadline):
            self.found.upper = np.inf
            return
        f, weight, upper, kappa = self._highest()
        while self.common < 0 and len(kappas) < _MOST_KAPPAS:
            if upper <= max(self.found.upper, self.found.reached) + near():
                break
            kappa = least_kappa(self.common, kappa, partial(self._line, f, weight))
            if kappa in kappas or not self._look(kappa, deadline):
                break
            kappas.append(kappa)
            f, weight, upper, kappa = self._highest()
        self.found.upper = max(self.found.upper, self._highest()[2])

    def _highest(self) -> tuple[int, int, float, float]:
        """Return the symbol between and the weight of the greatest bound, the bound, and its kappa."""
        tops = {f: int(np.argmax(bounds)) for f, (_, bounds, _) in self.bounds.items()}
        if not tops:
            return 0, 0, -np.inf, 0.0
        f = max(tops, key=lambda f: self.bounds[f][1][tops[f]])
        first, bounds, kappas = self.bounds[f]
        return f, first + tops[f], float(bounds[tops[f]]), float(kappas[tops[f]])

    def _groups(self, kappa: float) -> list[ItemGroup]:
        """Return all symbols with what they cost in S: ``phi(0) - phi(c)``."""
        c, lam = self.cone.c, self.share * (self.multipliers - kappa)
        gains = c * (self.d * (c - 2) - lam)
        return [ItemGroup([i], weight, -float(gains[i])) for i, weight in enumerate(self.symbols.weights)]

    def _look(self, kappa: float, deadline: float | None) -> bool:
        """Lower all bounds to those of a kappa; return whether there was time."""
        c, N, s, lam = self.cone.c, self.multipliers.size, self.share, self.multipliers - kappa
        curved = -kappa * N - (kappa * kappa / (4 * self.common) if self.common < 0 else 0.0)
        size = float((self.sizes + (np.abs(self.multipliers) + abs(kappa)) * (c + 2)).sum()) + abs(curved)
        rounding = (8 * N + 64) * _EPS * size * (1 if s == 1 else 9)
        base = float(self.d.sum()) - (1 - s) * float(lam.sum()) + curved + rounding
        merits = [0.0 if p > 0 else -np.inf for p in self.cone.P]
        for f, table in leave_one_out(self._groups(kappa), merits, CheapestSets(self.capacity)):
            if time_is_up(deadline):
                return False
            first, heights = self._heights(f, kappa, table)
            if heights.size == 0 or heights.max() == -np.inf:
                continue
            heights = np.where(heights == -np.inf, heights, as_bound(heights + base))
            _, least, kappas = self.bounds.get(f, (first, heights, np.full(heights.size, kappa)))
            self.bounds[f] = first, np.minimum(least, heights), np.where(heights < least, kappa, kappas)
            self._column(f, table.members(first + int(np.argmax(heights))))
        return True

    def _line(self, f: int, weight: int, kappa: float) -> tuple[float, float]:
        """Return z of the best column of one symbol between and one weight, and the value for kappa z."""
        sets = CheapestSets(weight)
        for i, group in enumerate(self._groups(kappa)):
            if i != f:
                group.add_to(sets)
        column = self._column(f, sets.members(weight))
        moved = column - 1
        value = float(self.d / self.share**2 @ moved**2 - self.multipliers @ column)
        z = float(moved.sum())
        return z, value + kappa * z

    def _heights(self, f: int, kappa: float, table: CheapestSets) -> tuple[int, Floats]:
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
        own = _greatest(self.d[f], self.share * (self.multipliers[f] - kappa), low, high)
        return first, np.where(missing, -np.inf, own - np.where(missing, 0.0, costs))

    def _column(self, f: int, members: list[int]) -> Floats:
        """Return the image of c on some symbols and the rest at f, and add it if it is a column."""
        P, c, s = self.cone.P, self.cone.c, self.share
        x = float(self.cone.between_b(P[members].sum(), P[f]))
        v = np.zeros(P.size)
        v[members] = c
        v[f] = min(max(x, 0.0), c)
        column: Floats = s * v / (P @ v) + 1 - s
        if -1e-9 <= x <= c * (1 + 1e-9):
            self.found.add(column)
        return column


def _greatest(d: float, multiplier: float, low: Floats, high: Floats) -> Floats:
    """Return the greatest ``d (y - 1)^2 - multiplier y - d`` for y between two ends."""

    def at(y: Floats) -> Floats:
        result: Floats = y * (d * (y - 2) - multiplier)
        return result

    result = np.maximum(at(low), at(high))
    if d < 0:
        result = np.maximum(result, at(np.clip(1 + multiplier / (2 * d), low, high)))
    return result
