"""Quadratic forms over rays of kind B, priced by tables over the weights of sets.

A ray of kind B is c on a set S, x at one symbol f outside S, and 0 elsewhere. The form is a sum over symbols, so that
one table, which holds the greatest sum of ``phi_i(c) - phi_i(0)``, with ``phi_i(y) = d_i (y - 1)^2 - lambda_i y``,
prices all columns of one f exactly. For a common number B < 0 there is a table
for each of some kappas, as for kinds A and D, and of each f and weight the least bound counts. Where these bounds stay
above what columns reach, tables over the weight and the size of S price all columns of some f exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets, CheapestSetsBySize, ItemGroup, leave_one_out
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.count_tables import entries_by_size, largest
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.weight_tables import least_kappa
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)
_MOST_KAPPAS = 32
_ENTRIES = 1e9  # of tables by weight and size, counted once for each symbol


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
        if self.common < 0 and self._highest()[2] > max(self.found.upper, self.found.reached) + near():
            self._by_size(near(), deadline)
        self.found.upper = max(self.found.upper, self._highest()[2])

    def _by_size(self, near: float, deadline: float | None) -> None:
        """Lower the bounds of symbols between that are above what is reached, by tables over weight and size."""
        N = self.multipliers.size
        level = max(self.found.upper, self.found.reached) + near
        greatest = {f: float(upper.max()) for f, (_, upper, _) in self.bounds.items()}
        merits = np.array([greatest.get(f, -np.inf) for f in range(N)])
        wanted = merits > level
        times = np.log2(N) + 1 if wanted.sum() > 1 else 1
        if entries_by_size(self.symbols.weights, self.capacity) * times > _ENTRIES:
            return
        sets = CheapestSetsBySize(self.capacity, largest(self.symbols.weights, self.capacity))
        base, sizes = self._base(0.0), np.arange(len(sets.best))[:, None]
        for f, table in leave_one_out(self._groups(0.0), np.where(wanted, merits, -np.inf), sets):
            if time_is_up(deadline):
                return
            first, low, high, impossible = self._ends(f, self.capacity)
            costs = table.best[:, first:]
            missing = np.isinf(costs) | impossible
            heights = _greatest(self.d[f], self.share * self.multipliers[f], low, high) - np.where(missing, 0.0, costs)
            heights = as_bound(heights + base + self.common * self._nearest(sizes, low, high) ** 2 * (1 - 8 * _EPS))
            heights = np.where(missing, -np.inf, heights)
            kept_first, least, kappas = self.bounds[f]
            self.bounds[f] = kept_first, np.minimum(least, heights.max(axis=0)), kappas
            size, at = np.unravel_index(int(np.argmax(heights)), heights.shape)
            if heights[size, at] > -np.inf:
                self._column(f, table.members(first + int(at), int(size)))

    def _nearest(self, sizes: NDArray[np.int64], low: Floats, high: Floats) -> Floats:
        """Return how far ``z = sum_i (v_i - 1)`` is from 0 at least, for each size of S and ends of the value at f."""
        N, c, s = self.multipliers.size, self.cone.c, self.share
        error = (4 * N + 32) * _EPS * N * (c + 2)
        lowest, highest = s * (sizes * c + low - N), s * (sizes * c + high - N)
        result: Floats = np.maximum(np.maximum(lowest, -highest) - error, 0.0)
        return result

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
        base = self._base(kappa)
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

    def _base(self, kappa: float) -> float:
        """Return what all columns have, and the errors of rounding."""
        c, N, s, lam = self.cone.c, self.multipliers.size, self.share, self.multipliers - kappa
        curved = -kappa * N - (kappa * kappa / (4 * self.common) if self.common < 0 else 0.0)
        size = float((self.sizes + (np.abs(self.multipliers) + abs(kappa)) * (c + 2)).sum()) + abs(curved)
        rounding = (8 * N + 64) * _EPS * size * (1 if s == 1 else 9)
        return float(self.d.sum()) - (1 - s) * float(lam.sum()) + curved + rounding

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
        first, low, high, impossible = self._ends(f, table.best.size - 1)
        costs = table.best[first:]
        missing = np.isinf(costs) | impossible
        own = _greatest(self.d[f], self.share * (self.multipliers[f] - kappa), low, high)
        return first, np.where(missing, -np.inf, own - np.where(missing, 0.0, costs))

    def _ends(self, f: int, capacity: int) -> tuple[int, Floats, Floats, NDArray[np.bool_]]:
        """Return the first weight of S that leaves a fraction for f, its ends for each, and where none is left."""
        P, c, most = self.cone.P, self.cone.c, self.cone.heaviest_ab
        first = max(0, int(np.ceil(self.symbols.total * (most - P[f] - self.symbols.off - 1e-12))))
        lightest, heaviest = self.symbols.masses(np.arange(first, capacity + 1), most)
        error = 32 * _EPS / P[f]
        low = self.cone.between_b(heaviest, P[f]) - error
        high = self.cone.between_b(lightest, P[f]) + error
        return first, np.clip(low, 0.0, c), np.clip(high, 0.0, c), low > c * (1 + 1e-12)

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
