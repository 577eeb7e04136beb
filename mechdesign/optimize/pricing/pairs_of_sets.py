"""Exact pricing of f-informations over a lower probability, for up to 16 symbols: every pair of sets S in T.

The symbols are split into two halves. For every state of the second half (each symbol in S, in T but not in S, or
outside of T) all states of the first half are priced at once. Masses and multipliers of sets are sums over both halves;
only g(S) and g(T) are looked up (`mechdesign.optimize.lower_rays`).

A column with greatest entry 1 has value x on M = T less S and a mass of at least 1/e. Scaled to ``<P, v> = 1`` it
has the values a and b = x a, and ``P(S) f(a) + P(M) f(b) + P(others) f(0)`` is its utility. A relative error r of the
value u changes a convex f with f(1) = 0 by at most ``2 r`` times its greatest size on [0, 2 u], and so the utility by a
bound that is the same for all columns, because ``P(S) a <= 1`` and ``P(M) b <= 1``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.lower_rays import LowerRays, shares
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import Masks, indicator
from mechdesign.uncertainty import LowerProbability
from mechdesign.utility import FInformation

MOST_PRICED_SYMBOLS = 16
_FIRST_HALF = 8
_KEPT_OF_EACH = 4
_KEPT = 200
_CLIMBING = 40
_MOST_STEPS = 12
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class PairPricing:
    """Prices every pair of sets of symbols (`Pricing`).

    Attributes
    ----------
    known : LowerProbability
        With a supermodular f, and at most 16 symbols.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"])
    >>> pricing = PairPricing(limits, 2.0, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.223143551
    """

    known: LowerProbability
    exp_epsilon: float
    utility: FInformation

    method = "every pair of sets"

    @cached_property
    def _rays(self) -> LowerRays:
        return LowerRays(self.known, self.exp_epsilon)

    @cached_property
    def _mass(self) -> Floats:
        return _sums(self.known.prior)

    @cached_property
    def _at_zero(self) -> float:
        return float(np.asarray(self.utility.f(np.zeros(1)), dtype=float)[0])

    @cached_property
    def _room(self) -> float:
        """By how much the utility of any column may change with relative errors of its values, and by rounding."""
        f = np.abs(np.asarray(self.utility.f(np.array([0.0, 2.0, 2 * self.exp_epsilon])), dtype=float))
        size = 4 * (f[0] + f[1]) + 2 * f[2] / (2 * self.exp_epsilon - 1)
        return 8 * (2 * self.known.size + 64) * _EPS * float(size)

    def price(
        self,
        multipliers: Floats,
        *,
        thorough: bool = True,  # noqa: ARG002 - all pairs are priced
        deadline: float | None = None,  # noqa: ARG002 - which takes seconds
    ) -> Price:
        """Return the greatest reduced cost over all extreme rays, rounded outward, and columns of great one."""
        lam = np.asarray(multipliers, dtype=float)
        looked_at, greatest, found = 0, -math.inf, []
        paid, sizes = _sums(lam), _sums(np.abs(lam))
        with np.errstate(over="ignore", invalid="ignore"):
            for below, above in self._states():
                upper = self._costs(below, above, paid, sizes)
                looked_at += upper.size
                if upper.size:
                    kept = np.argpartition(-upper, min(_KEPT_OF_EACH, upper.size) - 1)[:_KEPT_OF_EACH]
                    greatest = max(greatest, float(upper[kept].max()))
                    found.append((upper[kept], below[kept], above[kept]))
        costs, below, above = (np.concatenate(parts) for parts in zip(*found, strict=True))
        best = np.argsort(-costs, kind="stable")[:_KEPT]
        return Price(greatest, self.method, looked_at, self._columns(below[best], above[best]))

    def start(self, deadline: float | None = None) -> Floats:
        """Return (1,...,1) and columns that no small step improves, shape (N, k)."""
        N = self.known.size
        return np.hstack([np.ones((N, 1)), self.guess(np.zeros(N), deadline)])

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.known.size)]

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return columns with ``<P, v> = 1`` that moving one symbol does not improve, shape (N, k).

        The climb starts at pairs of sets along orders of the symbols.
        """
        lam, P, N = np.asarray(multipliers, dtype=float), self.known.prior, self.known.size
        if N <= _FIRST_HALF:
            return np.empty((N, 0))
        orders = [np.argsort(lam / np.maximum(P, 1e-9), kind="stable"), np.argsort(lam, kind="stable")]
        chains = [np.cumsum(np.r_[0, 1 << order]) for order in orders]
        pairs = [(a, b) for chain in chains for j, b in enumerate(chain.tolist()) for a in chain[:j].tolist()]
        below, above = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
        paid, sizes = _sums(lam), _sums(np.abs(lam))
        best: tuple[Floats, Masks, Masks] = (np.empty(0), below[:0], above[:0])
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(_MOST_STEPS):
                below, above = self._rays_among(below, above)
                costs = np.r_[best[0], self._costs(below, above, paid, sizes)]
                below, above = np.r_[best[1], below], np.r_[best[2], above]
                kept = np.unique(below << N | above, return_index=True)[1]
                kept = kept[np.argsort(-costs[kept], kind="stable")][:_CLIMBING]
                if (best[0].size == kept.size and (costs[kept] <= best[0]).all()) or time_is_up(deadline):
                    break
                best = costs[kept], below[kept], above[kept]
                below, above = self._neighbours(best[1], best[2])
        return self._columns(best[1], best[2])

    def _neighbours(self, below: Masks, above: Masks) -> tuple[Masks, Masks]:
        """Return all pairs in which one symbol has another state."""
        lower, upper = [], []
        for bit in (1 << np.arange(self.known.size)).tolist():
            for into_lower, into_upper in ((0, 0), (0, bit), (bit, bit)):
                lower.append(below & ~bit | into_lower)
                upper.append(above & ~bit | into_upper)
        return np.concatenate(lower), np.concatenate(upper)

    def _rays_among(self, below: Masks, above: Masks) -> tuple[Masks, Masks]:
        """Return the pairs S in T, S not empty, with ``g(S) < 0 < g(T)``."""
        signs = self._rays.signs
        kept = (below != 0) & (signs[below] < 0) & (signs[above] > 0)
        return below[kept], above[kept]

    def _states(self) -> Iterator[tuple[Masks, Masks]]:
        """Yield the sets of columns of two values as pairs S = T, then all pairs of kind P."""
        N, alone = self.known.size, self._alone()
        yield alone, alone
        first = min(_FIRST_HALF, N)
        below, above = _ternary(first)
        lower, upper = _ternary(N - first)
        for S, T in zip(lower << first, upper << first, strict=True):
            yield self._rays_among(below | S, above | T)

    def _alone(self) -> Masks:
        """Return the sets of kinds I and E."""
        signs, single = self._rays.signs, 1 << np.arange(self.known.size)
        return np.union1d(single[signs[single] >= 0], np.flatnonzero(signs == 0))

    def _costs(self, below: Masks, above: Masks, costs: Floats, sizes: Floats) -> Floats:
        """Return reduced costs of columns, rounded up; S = T is the column 1_S."""
        values, mass = self._rays.values, self._mass
        share, error = shares(values[below], values[above])
        share, error = np.where(below == above, 1.0, share), np.where(below == above, 0.0, error)
        own, between = mass[below], mass[above & ~below]
        others = mass[(len(mass) - 1) & ~above]
        scale = own + share * between
        on, off = 1 / scale, share / scale
        f = self.utility.f
        gain = own * np.asarray(f(on), dtype=float) + between * np.asarray(f(off), dtype=float)
        middle = above & ~below
        paid = on * costs[below] + off * costs[middle]
        slack = (2 * self.known.size + 64) * _EPS * (on * sizes[below] + off * sizes[middle])
        rough = error > 1e-9  # shares that floats do not give
        upper = as_bound(gain + others * self._at_zero - paid + slack + self._room)
        return np.where(rough, math.inf, upper)

    def _columns(self, below: Masks, above: Masks) -> Floats:
        share, _ = shares(self._rays.values[below], self._rays.values[above])
        share = np.where(below == above, 1.0, share)
        inside = indicator(below, self.known.size)
        columns = inside + share * (indicator(above, self.known.size) - inside)
        result: Floats = columns / (self.known.prior @ columns)
        return result


def _ternary(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return S and T of all 3^size states of some symbols."""
    below = above = np.zeros(1, dtype=np.int64)
    for i in range(size):
        bit = 1 << i
        below, above = np.r_[below, below | bit, below], np.r_[above, above | bit, above | bit]
    return below, above


def _sums(values: Floats) -> Floats:
    """Return the sum of values over every set, by its bit mask."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums
