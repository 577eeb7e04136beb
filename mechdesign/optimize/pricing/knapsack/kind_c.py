"""Kind C of the extreme rays near the fractional knapsack: it depends on two sets, S within T.

Its reduced costs are bounded over rectangles of the masses of both sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.pricing.envelope import Envelope, Intervals
from mechdesign.optimize.pricing.half_enumeration import (
    EnumerationEffort,
    Indices,
    Losses,
    Masks,
    Window,
    enumerate_sets,
)
from mechdesign.optimize.pricing.knapsack.kind import (
    INCOMPLETE,
    NOTHING,
    Batch,
    Choice,
    Kind,
    KindPeak,
    PricedCone,
    Relaxation,
)

_MOST_LEVELS = 8
_MOST_PREFIXES = 64


@dataclass(frozen=True)
class Cells:
    """Rectangles of masses of S (inner) and T (outer) in which both envelopes have one slope."""

    inner: Intervals
    outer: Intervals

    @classmethod
    def products(cls, inner: Intervals, outer: Intervals) -> Cells:
        """Return a cell for every pair of intervals."""
        j, k = (index.ravel() for index in np.indices((inner.left.size, outer.left.size)))
        return cls(_at(inner, j), _at(outer, k))

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.inner.left.size

    def only(self, which: Masks) -> Cells:
        """Return some of them."""
        return Cells(self.inner.only(which), self.outer.only(which))

    def halved(self) -> Cells:
        """Return the four quarters of each."""
        inner, outer = [], []
        for upper_a in (False, True):
            for upper_b in (False, True):
                inner.append(_half_of(self.inner, upper=upper_a))
                outer.append(_half_of(self.outer, upper=upper_b))
        return Cells(_joined(inner), _joined(outer))


def _at(blocks: Intervals, which: Indices) -> Intervals:
    return Intervals(blocks.left[which], blocks.right[which], blocks.piece[which])


def _half_of(blocks: Intervals, *, upper: bool) -> Intervals:
    middle = (blocks.left + blocks.right) / 2
    return Intervals(middle, blocks.right, blocks.piece) if upper else Intervals(blocks.left, middle, blocks.piece)


def _joined(parts: Sequence[Intervals]) -> Intervals:
    return Intervals(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.piece for part in parts]),
    )


class KindC(Kind):
    """``g = alpha e (b - t)`` on S, 1 on the rest of T, 0 elsewhere, with ``P(S) = a <= t`` and ``P(T) = b``.

    The mass of these columns is ``b + (g - 1) a``. Along a and along b alike all terms are convex functions times
    masses.

    Parameters
    ----------
    priced, choice
        As for every kind; the choice is that of T.
    rare, raised : array of bool, shape (N,)
        Symbols that may be in S, and symbols that must be.
    """

    def __init__(self, priced: PricedCone, choice: Choice, rare: Masks, raised: Masks) -> None:
        super().__init__(priced, choice)
        P, slope = self.cone.P, self.cone.slope
        self.rare, self.raised = rare, raised
        self.lightest = self.cone.lightest_support_c
        self.inner = Envelope.of(P, priced.multipliers, rare, raised)
        self.outer = Envelope.of(P, priced.multipliers, choice.allowed, choice.forced)
        self.rounding = 8 * priced.unit * (1 + slope) * (1 + priced.size) + (1 + slope) * priced.slip

    def prefixes(self) -> Iterator[Batch]:
        """Yield the columns of the first few symbols in the orders of both relaxations."""
        outer, inner = self.outer.prefixes(self.sure), self.inner.prefixes(self._sure_inner)
        unit = self.priced.unit
        outer = outer[self.outer.masses >= self.lightest - unit]
        inner = inner[self.inner.masses <= self.cone.heaviest_cd + unit]
        outer, inner = (sets[:: max(1, len(sets) // _MOST_PREFIXES)] for sets in (outer, inner))
        rows, columns = np.divmod(np.arange(len(outer) * len(inner)), max(len(inner), 1))
        if rows.size:
            yield self._batch(outer[rows] | inner[columns], inner[columns])

    def neighbours(self, peak: KindPeak | None) -> Iterator[Batch]:
        """Yield columns near the peak: S of the first few symbols, each symbol in or out of T."""
        if peak is None:
            return
        prefixes = self.inner.prefixes(self._sure_inner)
        below = int(np.searchsorted(self.inner.masses, peak.inner_mass + self.priced.unit)) - 1
        for inner in prefixes[max(below, 0) : below + 2]:
            outer = self.sets_near(self.outer, peak.mass) | inner
            yield self._batch(outer, np.repeat(inner[None, :], len(outer), axis=0))

    def split(self, peak: KindPeak | None) -> list[list[Kind]]:
        """Return divisions by the symbol that T holds in part, and by the one that S holds in part."""
        if peak is None:
            return []
        ways: list[list[Kind]] = []
        priced, choice, rare, raised = self.priced, self.choice, self.rare, self.raised
        if self.outer.order.size:
            symbol = int(self.outer.order[peak.piece])
            rarer = rare & (np.arange(rare.size) != symbol)
            ways.append(
                [
                    KindC(priced, choice.without(symbol), rarer, raised),
                    KindC(priced, choice.holding(symbol), rare, raised),
                ]
            )
        if self.inner.order.size:
            symbol = int(self.inner.order[peak.inner_piece])
            rarer = rare & (np.arange(rare.size) != symbol)
            ways.append(
                [
                    KindC(priced, choice.apart(symbol), rarer, raised),
                    KindC(priced, choice.holding(symbol), rare, raised | (rare & ~rarer)),
                ]
            )
        return ways

    def relaxation(self, floor: float, effort: EnumerationEffort) -> Relaxation:
        """Return a bound from the cells, at levels that rise to what the cells' corners reach."""
        level, bound, peak = floor, np.inf, None
        for _ in range(_MOST_LEVELS):
            cells, heights, upper, reached = self._above(level, effort)
            bound = min(bound, upper)
            if heights.size:
                k = int(np.argmax(heights))
                peak = KindPeak(
                    int(cells.outer.piece[k]),
                    float(cells.outer.left[k]),
                    int(cells.inner.piece[k]),
                    float(cells.inner.left[k]),
                )
            if heights.size == 0 or not reached > level + 1e-13 or bound - reached <= 1e-12 * (1 + abs(bound)):
                break
            level = reached
        return Relaxation(max(bound, floor), peak)

    def columns_above(self, level: float, effort: EnumerationEffort) -> Iterator[Batch]:
        """Yield the columns above a level, pair by pair of the envelopes' pieces, those of greatest bound first."""
        cells, heights, _, _ = self._above(level, effort)
        if heights.size == 0:
            return
        pairs, which = np.unique(np.array([cells.inner.piece, cells.outer.piece]), axis=1, return_inverse=True)
        which = which.ravel()
        greatest = np.full(pairs.shape[1], -np.inf)
        np.maximum.at(greatest, which, heights)
        most = max(effort.cells >> 9, 2)
        if pairs.shape[1] > most:
            yield INCOMPLETE
        for k in np.argsort(-greatest, kind="stable")[:most].tolist():
            window = self._window(cells, heights, which == k)
            sets = enumerate_sets(window, self.choice.groups, self.cone.P, effort)
            yield from self.batches(sets, self._batch)

    def _window(self, cells: Cells, heights: Floats, here: Masks) -> Window:
        """Return the sets T and S that may be above the level in some cells, which have one pair of slopes."""
        P, multipliers, pad = self.cone.P, self.priced.multipliers, self.priced.unit
        peak = int(np.argmax(np.where(here, heights, -np.inf)))
        inner_slope = self.inner.slope(int(cells.inner.piece[peak]))
        outer_slope = self.outer.slope(int(cells.outer.piece[peak]))
        low, high = float(cells.outer.left[here].min()), float(cells.outer.right[here].max())
        # The loss of S counts g - 1 times, and g - 1 is least where T is lightest.
        times = float(self._g(np.array([low]))[0]) - 1
        losses = self._losses(multipliers - outer_slope * P, times * (multipliers - inner_slope * P))
        sizes = self.priced.size + abs(outer_slope) + abs(inner_slope)
        limit = float(heights[peak]) + pad * sizes * self.cone.slope
        middle = float(cells.outer.left[peak] + cells.outer.right[peak]) / 2
        return Window(low - pad, high + pad, middle, limit, losses)

    def _losses(self, beyond: Floats, top: Floats) -> Losses:
        """Return the loss of each symbol in a place that differs from the one that the slopes of T and S give it."""
        of_t, of_s = self.choice.losses(beyond), Choice(self.rare, self.raised, []).losses(top)
        return Losses(of_t.out + of_s.out, of_t.inside + of_s.out, of_t.inside + of_s.inside)

    @property
    def _sure_inner(self) -> Masks:
        """The symbols in every S that can be best."""
        result: Masks = self.sure & self.rare | self.raised
        return result

    def _g(self, b: Floats) -> Floats:
        result: Floats = np.maximum(self.cone.top_c(b), 1.0)
        return result

    def _values(self, a: Floats, b: Floats) -> tuple[Floats, ...]:
        """Return the mass of columns, and it times f of their three values, rounded up."""
        g = self._g(b)
        mass = b + (g - 1) * a
        unit = self.priced.unit * (1 + self.cone.slope / mass)
        on = mass * self.priced.f(g / mass, unit * (1 + g / mass))
        inside = mass * self.priced.f(1 / mass, unit / mass)
        return mass, on, inside, mass * float(self.priced.f(0.0)[0])

    def _batch(self, members: Masks, tops: Masks) -> Batch:
        """Return the columns of sets T and S."""
        P, multipliers, unit = self.cone.P, self.priced.multipliers, self.priced.unit
        a, b = tops @ P, members @ P
        fits = (a <= self.cone.heaviest_cd + unit) & (b >= self.lightest - unit)
        members, tops, a, b = members[fits], tops[fits], a[fits], b[fits]
        if a.size == 0:
            return NOTHING
        mass, on, inside, out = self._values(a, b)
        g = self._g(b)
        total = a * on + (b - a) * inside + (1 - b) * out
        costs = (total - members @ multipliers - (g - 1) * (tops @ multipliers)) / mass
        uppers = costs + (self.rounding + unit * (np.abs(on) + np.abs(inside) + np.abs(out))) / mass

        def build(which: Indices) -> Floats:
            columns = np.where(tops[which].T, g[which], members[which].T.astype(float))
            result: Floats = columns / (P @ columns)
            return result

        return Batch.of(costs, uppers, build)

    def _heights(self, cells: Cells, level: float) -> tuple[Floats, Floats, Floats]:
        """Return bounds of the mass times the reduced cost's excess over a level, the least mass, the best corner."""
        totals, onto, into, outs, masses = [], [], [], [], []
        for a in (cells.inner.left, cells.inner.right):
            for b in (cells.outer.left, cells.outer.right):
                mass, on, inside, out = self._values(a, b)
                cost = self.outer.cost(cells.outer.piece, b) + (self._g(b) - 1) * self.inner.cost(cells.inner.piece, a)
                totals.append(a * on + (b - a) * inside + (1 - b) * out - cost - level * mass)
                onto.append(on)
                into.append(inside)
                outs.append(out)
                masses.append(mass)
        wide, tall = cells.inner.right - cells.inner.left, cells.outer.right - cells.outer.left
        # Corners 0 and 1 differ in b, as do 2 and 3; 0 and 2 in a, as do 1 and 3.
        bend_a = np.maximum.reduce(
            [np.maximum(-((onto[j] - onto[i]) - (into[j] - into[i])), 0.0) for i, j in ((0, 2), (1, 3))]
        )
        bend_b = np.maximum.reduce(
            [np.maximum(-((into[j] - into[i]) - (outs[j] - outs[i])), 0.0) for i, j in ((0, 1), (2, 3))]
        )
        corners = np.maximum.reduce(totals)
        most = np.maximum.reduce(masses)
        values = np.maximum.reduce([np.abs(x) for x in (*onto, *into, *outs)])
        pad = self.rounding + self.priced.unit * (abs(level) * most + values)
        upper = corners + (wide * bend_a + tall * bend_b) / 4 + pad
        return as_bound(upper), np.minimum.reduce(masses), (corners - pad) / most

    def _above(self, level: float, effort: EnumerationEffort) -> tuple[Cells, Floats, float, float]:
        """Return small cells that may hold columns above a level, their heights, a bound, and what is reached."""
        inner = self.inner.between(0.0, self.cone.heaviest_cd, self.priced.unit)
        outer = self.outer.between(self.lightest, 1.0, self.priced.unit)
        cells = Cells.products(inner, outer)
        reached = -np.inf
        if cells.size == 0:
            return cells, cells.inner.left, level, reached
        while True:  # until cells, which are halved, are narrow
            heights, scale, ends = self._heights(cells, level)
            active = heights > 0
            if not active.any():
                return cells.only(active), heights[active], level, reached
            reached = max(reached, level + float(ends.max()))
            cells, heights, scale = cells.only(active), heights[active], scale[active]
            narrow = (cells.inner.right - cells.inner.left).max() + (cells.outer.right - cells.outer.left).max() < 1e-9
            if heights.size * 4 > effort.cells or narrow:
                return cells, heights, level + float(as_bound(heights / scale).max()), reached
            cells = cells.halved()
