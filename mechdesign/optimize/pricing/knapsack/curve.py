"""Kinds whose reduced costs are a curve over the mass of one set: A, D, and B with a given fractional symbol."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.pricing.envelope import FINER, Envelope, Intervals
from mechdesign.optimize.pricing.half_enumeration import EnumerationEffort, Indices, Masks, Window, enumerate_sets
from mechdesign.optimize.pricing.knapsack.kind import NOTHING, Batch, Choice, Kind, KindPeak, PricedCone, Relaxation
from mechdesign.optimize.pricing.two_valued import EPS

_MOST_BLOCKS = 384
_MOST_ROUNDS = 24
_MOST_LEVELS = 12


@dataclass(frozen=True)
class CurveTerms:
    """Terms of Q times the reduced cost: ``w on + (1 - w) off + rest - factor lambda(S)``, and Q."""

    on: Floats
    off: Floats
    rest: Floats
    scale: Floats


class Curve(Kind):
    """A kind whose reduced cost depends on the mass and the multipliers of one set.

    Parameters
    ----------
    priced, choice
        As for every kind.
    low, high : float
        The least and the greatest mass of the set.
    factor : float
        That of lambda(S) in Q times the reduced cost.
    """

    def __init__(self, priced: PricedCone, choice: Choice, low: float, high: float, factor: float) -> None:
        super().__init__(priced, choice)
        self.low, self.high, self.factor = low, high, factor
        self.envelope = Envelope.of(self.cone.P, priced.multipliers, choice.allowed, choice.forced)
        # Masses and multipliers are sums; f has its own error.
        self.rounding = priced.unit * (1 + factor) * (1 + priced.size) * 4 + factor * priced.slip

    @abstractmethod
    def terms(self, w: Floats) -> CurveTerms:
        """Return the terms for masses, rounded up."""

    @abstractmethod
    def build(self, members: Masks, mass: Floats) -> Floats:
        """Return the columns of sets up to scale, shape (N, k)."""

    @abstractmethod
    def like(self, choice: Choice) -> Curve:
        """Return the same kind for another choice."""

    def prefixes(self) -> Iterator[Batch]:
        """Yield the columns of the first few symbols in the order of the relaxation."""
        yield self._batch(self.envelope.prefixes(self.sure))

    def neighbours(self, peak: KindPeak | None) -> Iterator[Batch]:
        """Yield columns of sets of about the mass of the peak."""
        if peak is not None:
            yield self._batch(self.sets_near(self.envelope, peak.mass))

    def split(self, peak: KindPeak | None) -> list[list[Kind]]:
        """Return the columns without and with the symbol that the peak holds in part."""
        if peak is None or self.envelope.order.size == 0:
            return []
        symbol = int(self.envelope.order[peak.piece])
        return [[self.like(self.choice.without(symbol)), self.like(self.choice.holding(symbol))]]

    def relaxation(self, floor: float, effort: EnumerationEffort) -> Relaxation:  # noqa: ARG002 - always quick
        """Return a bound from the blocks of masses, at levels that rise to what the blocks' ends reach."""
        level, bound, peak = floor, np.inf, None
        for _ in range(_MOST_LEVELS):
            blocks, heights, upper = self._above(level)
            bound = min(bound, upper)
            if blocks.left.size == 0:
                break
            k = int(np.argmax(heights))
            peak = KindPeak(int(blocks.piece[k]), float(blocks.left[k]))
            _, _, ends = self._heights(blocks, level)
            reached = level + float(ends.max())
            if not reached > level or bound - reached <= 1e-13 * (1 + abs(bound)):
                break
            level = reached
        return Relaxation(max(bound, floor), peak)

    def columns_above(self, level: float, effort: EnumerationEffort) -> Iterator[Batch]:
        """Yield the columns above a level, piece by piece of the envelope."""
        blocks, heights, _ = self._above(level)
        pad = self.priced.unit
        P, multipliers = self.cone.P, self.priced.multipliers
        for piece in np.unique(blocks.piece):
            here = blocks.piece == piece
            slope = self.envelope.slope(int(piece))
            left, right, height = blocks.left[here], blocks.right[here], heights[here]
            peak = float(left[np.argmax(height)] + right[np.argmax(height)]) / 2
            losses = self.choice.losses(multipliers - slope * P)
            limit = float(height.max()) / max(self.factor, EPS) + pad * (self.priced.size + abs(slope))
            window = Window(float(left.min()) - pad, float(right.max()) + pad, peak, limit, losses)
            sets = enumerate_sets(window, self.choice.groups, self.cone.P, effort)
            yield from self.batches(sets, lambda members, _: self._batch(members))

    def _batch(self, members: Masks) -> Batch:
        """Return the columns of the sets whose mass the kind allows."""
        mass = members @ self.cone.P
        fits = (mass >= self.low - self.priced.unit) & (mass <= self.high + self.priced.unit)
        members, mass = members[fits], np.clip(mass[fits], self.low, self.high)
        if mass.size == 0:
            return NOTHING
        costs, errors = self._costs(mass, members @ self.priced.multipliers)

        def build(which: Indices) -> Floats:
            columns = self.build(members[which], mass[which])
            result: Floats = columns / (self.cone.P @ columns)
            return result

        return Batch.of(costs, costs + errors, build)

    def _costs(self, w: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Return reduced costs, and their greatest errors."""
        terms = self.terms(w)
        costs: Floats = (w * terms.on + (1 - w) * terms.off + terms.rest - self.factor * cost) / terms.scale
        # The mass w is known relative to itself, but 1 - w loses digits where w is nearly 1.
        sizes = w * np.abs(terms.on) + np.abs(terms.off) + np.abs(terms.rest)
        return costs, self.rounding + self.priced.unit * sizes / terms.scale

    def _heights(self, blocks: Intervals, level: float) -> tuple[Floats, Floats, Floats]:
        """Return bounds of Q times the reduced cost's excess over a level in blocks, least Q, and best end."""
        envelope = self.envelope
        totals, ons, offs, scales, sizes = [], [], [], [], []
        for w in (blocks.left, blocks.right):
            terms = self.terms(w)
            sizes.append(np.abs(terms.on) + np.abs(terms.off) + np.abs(terms.rest) + abs(level) * terms.scale)
            cost = envelope.cost(blocks.piece, w)
            totals.append(w * terms.on + (1 - w) * terms.off + terms.rest - self.factor * cost - level * terms.scale)
            ons.append(terms.on)
            offs.append(terms.off)
            scales.append(terms.scale)
        # Chords of the convex terms, times masses, make a parabola between the ends.
        bend = -(blocks.right - blocks.left) * ((ons[1] - ons[0]) - (offs[1] - offs[0]))
        bend = np.maximum(bend, 0.0)
        apart = np.abs(totals[1] - totals[0])
        ends = np.maximum(totals[0], totals[1])
        inner = bend > apart
        bump = np.where(inner, (bend - apart) ** 2 / (4 * np.where(inner, bend, 1.0)), 0.0)
        scale, most = np.minimum(scales[0], scales[1]), np.maximum(scales[0], scales[1])
        pad = self.rounding * most + self.priced.unit * (sizes[0] + sizes[1])
        return as_bound(ends + bump + pad), scale, (ends - pad) / most

    def _above(self, level: float) -> tuple[Intervals, Floats, float]:
        """Return narrow blocks that may hold columns above a level, with their heights, and a bound of all."""
        blocks = self.envelope.between(self.low, self.high, self.priced.unit)
        if blocks.left.size == 0:
            return blocks, blocks.left, level
        for _ in range(_MOST_ROUNDS):
            heights, scale, _ = self._heights(blocks, level)
            active = heights > 0
            blocks, heights, scale = blocks.only(active), heights[active], scale[active]
            if blocks.left.size == 0:
                return blocks, heights, level
            if blocks.left.size * FINER > _MOST_BLOCKS or float((blocks.right - blocks.left).max()) < 1e-14:
                break
            blocks = blocks.finer()
        heights, scale, _ = self._heights(blocks, level)
        active = heights > 0
        blocks, heights, scale = blocks.only(active), heights[active], scale[active]
        return blocks, heights, level + float(as_bound(heights / scale).max(initial=0.0))


class KindA(Curve):
    """``c (1 - w + u)`` on S and ``1 - c w`` elsewhere, of mass ``1 - w + c w u``."""

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        t, e, slope = priced.cone.t, priced.cone.e, priced.cone.slope
        factor = (e - 1) / (1 + t * slope)  # c (1 + u) - 1
        super().__init__(priced, choice, 0.0, min(priced.cone.heaviest_ab, 1.0), factor)

    def like(self, choice: Choice) -> KindA:
        """Return the same kind for another choice."""
        return KindA(self.priced, choice)

    def terms(self, w: Floats) -> CurveTerms:
        """Return the terms for masses, rounded up."""
        c, scale = self.cone.c, self.cone.mass_of_whole_a(w)
        whole_on, whole_off = self._values(w)
        on, off = whole_on / scale, whole_off / scale
        error = self.priced.unit * (1 + c + on) / scale
        return CurveTerms(
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


class KindD(Curve):
    """``e`` on S and 1 elsewhere."""

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        super().__init__(priced, choice, 0.0, min(priced.cone.heaviest_cd, 1.0), priced.cone.e - 1)

    def like(self, choice: Choice) -> KindD:
        """Return the same kind for another choice."""
        return KindD(self.priced, choice)

    def terms(self, w: Floats) -> CurveTerms:
        """Return the terms for masses, rounded up."""
        e = self.cone.e
        scale = 1 + (e - 1) * w
        on, off = e / scale, 1 / scale
        f, unit = self.priced.f, self.priced.unit
        rest = np.full(w.shape, -self.priced.multipliers.sum())
        # w is a sum of masses, known relative to itself, and w times e / scale is at most 1.
        return CurveTerms(scale * f(on, 2 * unit * on), scale * f(off, 2 * unit * off), rest, scale)

    def build(self, members: Masks, mass: Floats) -> Floats:  # noqa: ARG002 - the values do not depend on it
        """Return the columns of sets up to scale."""
        columns: Floats = np.where(members.T, self.cone.e, 1.0)
        return columns


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

    def terms(self, w: Floats) -> CurveTerms:
        """Return the terms for masses, rounded up."""
        c, f, unit = self.cone.c, self.priced.f, self.priced.unit
        p, x = float(self.cone.P[self.fractional]), self._between(w)
        error = min(unit / p, c)
        multiplier = float(self.priced.multipliers[self.fractional])
        zero = f(0.0)
        # Of a symbol that has nearly all mass, 1 - p has lost digits.
        rest = p * f(x, error) + (1 - p) * zero + unit * np.abs(zero) - x * multiplier
        on = f(c, unit * c) - zero
        return CurveTerms(np.broadcast_to(on, w.shape), np.zeros(w.shape), rest, np.ones(w.shape))

    def build(self, members: Masks, mass: Floats) -> Floats:
        """Return the columns of sets up to scale."""
        columns: Floats = np.where(members.T, self.cone.c, 0.0)
        columns[self.fractional] = self._between(mass)
        return columns

    def _between(self, w: Floats) -> Floats:
        """Return x, the value at the fractional symbol."""
        result: Floats = np.clip(self.cone.between_b(w, self.cone.P[self.fractional]), 0.0, self.cone.c)
        return result
