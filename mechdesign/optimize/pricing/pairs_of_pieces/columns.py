"""Columns of two values on sets of symbols, by states of the symbols, and those found with great reduced costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.pairs_of_pieces.piece_table import Bools, PieceTable
from mechdesign.utility import FInformation

OUTSIDE, IN, BETWEEN = 0, 1, 2
"""The states of a symbol: its entry is 0, the greatest one, or the value between."""

_KEPT, _CLIMBING, _MOST_MOVES = 100, 40, 30
_LIGHTEST = 1e-9
_MOST_ENDS = 60  # of sets along an order of the symbols: all of them are a million numbers a column for hundreds

States = NDArray[np.int8]


@dataclass(eq=False)
class ColumnsOfStates:
    """Columns of the cone with their reduced costs."""

    table: PieceTable
    prior: Floats
    exp_epsilon: float
    utility: FInformation
    multipliers: Floats
    greatest: float = -math.inf
    kept: dict[bytes, tuple[float, Floats]] = field(default_factory=dict)

    def take(self, states: States) -> Floats:
        """Keep the columns of states, shape (k, N), and return reduced costs; minus infinity where there is none."""
        v, valid = self._columns(states)
        costs = self.utility.mu(v.T, self.prior) - v @ self.multipliers
        costs = np.where(valid & np.isfinite(costs), costs, -math.inf)
        for place in np.argsort(-costs, kind="stable")[:_KEPT]:
            if costs[place] > -math.inf:
                self.kept[v[place].tobytes()] = float(costs[place]), v[place]
        if len(self.kept) > 4 * _KEPT:
            self.kept = dict(sorted(self.kept.items(), key=lambda item: -item[1][0])[:_KEPT])
        self.greatest = max(self.greatest, float(costs.max(initial=-math.inf)))
        return costs

    def _columns(self, states: States) -> tuple[Floats, Bools]:
        """Return columns with ``<P, v> = 1``, shape (k, N), and which of them are columns of the cone."""
        inside, support = states == IN, states != OUTSIDE
        least, most, needed = self.table.lower(inside), self.table.lower(support), 1 / self.exp_epsilon
        valid = (most >= needed) & support.any(axis=1)
        share = np.where(least >= needed, 0.0, (needed - least) / np.maximum(most - least, 1e-300))
        v = np.where(inside, 1.0, np.where(support, np.clip(share, 0.0, 1.0)[:, None], 0.0))
        mass = v @ self.prior
        valid &= mass > 0
        return v / np.where(mass > 0, mass, 1.0)[:, None], valid

    def climb(self, deadline: float | None = None) -> None:
        """Improve columns by moving one symbol, from pairs of sets along two orders of the symbols."""
        N = self.multipliers.size
        ends = np.unique(np.linspace(0, N, min(N, _MOST_ENDS) + 1).astype(int))
        inner, outer = (side.ravel() for side in np.meshgrid(ends, ends))
        inner, outer = inner[inner <= outer, None], outer[inner <= outer, None]
        chains = []
        for order in (self.multipliers / np.maximum(self.prior, _LIGHTEST), self.multipliers):
            place = np.argsort(np.argsort(order, kind="stable"), kind="stable")
            support = np.where(place < outer, BETWEEN, OUTSIDE)
            chains.append(np.where(place < inner, IN, support).astype(np.int8))
        current, level = self._best_of(np.vstack(chains)), -math.inf
        for _ in range(_MOST_MOVES):
            moved = np.repeat(current[:, None], 2 * N, axis=1)
            for symbol in range(N):
                for step in (1, 2):
                    moved[:, 2 * symbol + step - 1, symbol] = (current[:, symbol] + step) % 3
            current = self._best_of(np.vstack([current, moved.reshape(-1, N)]))
            total = float(self.take(current).sum())
            if not total > level or time_is_up(deadline):
                break
            level = total

    def _best_of(self, states: States) -> States:
        """Return different states of great reduced cost, which are kept."""
        order = np.argsort(-self.take(states), kind="stable")[: 8 * _CLIMBING]
        distinct = np.unique(states[order], axis=0, return_index=True)[1]
        return states[order[np.sort(distinct)[:_CLIMBING]]]

    def best(self) -> Floats:
        """Return the columns kept, best first, shape (N, k)."""
        ordered = sorted(self.kept.values(), key=lambda item: -item[0])[:_KEPT]
        return np.array([column for _, column in ordered]).T.reshape(self.multipliers.size, len(ordered))
