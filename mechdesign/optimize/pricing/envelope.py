"""The fractional knapsack: the least lambda(S) for every mass where sets may hold symbols in part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.half_enumeration import Indices, Masks

FINER = 4  # parts of an interval


@dataclass(frozen=True)
class Intervals:
    """Intervals of masses in which the envelope has one slope."""

    left: Floats
    right: Floats
    piece: Indices

    def only(self, which: Masks) -> Intervals:
        """Return some of them."""
        return Intervals(self.left[which], self.right[which], self.piece[which])

    def finer(self) -> Intervals:
        """Return the equal parts of each."""
        shares = np.arange(FINER + 1) / FINER
        ends = self.left[:, None] + (self.right - self.left)[:, None] * shares
        ends[:, -1] = self.right
        return Intervals(ends[:, :-1].ravel(), ends[:, 1:].ravel(), np.repeat(self.piece, FINER))


@dataclass(frozen=True)
class Envelope:
    """The least lambda(S) for every mass where symbols may be in S in part.

    Attributes
    ----------
    order : array of int
        The symbols with mass that may be in S, by cost for their mass, the least first.
    masses, costs : array, shape (k + 1,)
        Mass and cost of the first 0 to k of them, with the forced symbols and the symbols without mass that lower the
        cost.
    slopes : array, shape (k,)
        The slopes between these points: ``lambda_i / P_i`` of the symbols in `order`.
    """

    order: Indices
    masses: Floats
    costs: Floats
    slopes: Floats

    @classmethod
    def of(cls, P: Floats, multipliers: Floats, allowed: Masks, forced: Masks) -> Envelope:
        """Return the envelope over the allowed symbols; every set contains the forced symbols entirely."""
        choice = allowed & ~forced
        likely = np.flatnonzero(choice & (P > 0))
        slopes = multipliers[likely] / P[likely]
        rank = np.argsort(slopes, kind="stable")
        order = likely[rank]
        start = float(np.minimum(multipliers[choice & (P <= 0)], 0.0).sum()) + float(multipliers[forced].sum())
        masses = float(P[forced].sum()) + np.concatenate([[0.0], np.cumsum(P[order])])
        costs = start + np.concatenate([[0.0], np.cumsum(multipliers[order])])
        return cls(order, masses, costs, slopes[rank])

    def prefixes(self, sure: Masks) -> Masks:
        """Return the sets at which the slope changes, one a row; symbols that are sure are in every set."""
        sets = np.repeat(sure[None, :], self.order.size + 1, axis=0)
        sets[:, self.order] = np.arange(self.order.size + 1)[:, None] > np.arange(self.order.size)
        return sets

    def between(self, low: float, high: float, pad: float) -> Intervals:
        """Return the intervals of one slope between two masses."""
        left, right = np.maximum(self.masses[:-1], low), np.minimum(self.masses[1:], high)
        if self.slopes.size == 0:
            left = right = np.clip(self.masses, low, high)
            kept = np.flatnonzero(np.abs(left - self.masses) <= pad)
        else:
            kept = np.flatnonzero(left <= right + pad)
        return Intervals(np.minimum(left, right)[kept], right[kept], kept)

    def cost(self, piece: Indices, mass: Floats) -> Floats:
        """Return the least lambda of a fractional set of a mass, on a known piece."""
        if self.slopes.size == 0:
            return np.full(mass.shape, self.costs[0])
        result: Floats = self.costs[piece] + self.slopes[piece] * (mass - self.masses[piece])
        return result

    def slope(self, piece: int) -> float:
        """Return the slope of a piece, 0 if no symbol can be chosen."""
        return float(self.slopes[piece]) if self.slopes.size else 0.0

    def slope_at(self, mass: float) -> float:
        """Return the slope just below a mass."""
        k = int(np.searchsorted(self.masses, mass)) - 1
        return float(self.slopes[min(max(k, 0), self.slopes.size - 1)]) if self.slopes.size else 0.0
