"""Exact pricing of f-informations over l1 balls whose prior is no vector of counts of a reasonable total.

The reduced cost of an extreme ray depends on its sets through their masses and their multipliers, and falls in
the latter. Where sets may hold a symbol in part, the least lambda(S) for a mass is the fractional knapsack: convex,
piecewise linear, symbols taken in the order of ``lambda_i / P_i``. Its bound is near to the truth, and what a set
loses against it is a sum over symbols: ``|lambda_i - slope P_i|`` for each that is not where the slope wants it. So
the sets whose columns are above a level have a mass in a known window and a small total loss. They are enumerated
by meeting in the middle (Horowitz and Sahni, Journal of the ACM 1974): the choices of small loss of either half of
the symbols, sorted by mass. The level is lowered until a column reaches it, or until too many sets are left above
the next one; then the level is the bound.

Reduced costs are multiplied by the mass ``Q`` of columns that are scaled so that lambda(S) has a constant factor.
Then their other terms are convex functions of the mass of S, times masses, and chords bound them to second order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.alike import alike, averaged
from mechdesign.optimize.pricing.envelope import FINER, Envelope, Intervals
from mechdesign.optimize.pricing.levels import EPS, greatest_near
from mechdesign.optimize.pricing.meeting import Effort, Indices, Losses, Masks, Window, enumerate_sets
from mechdesign.optimize.pricing.price import Price, as_bound, beyond_floats
from mechdesign.optimize.start import center_multipliers, start_columns
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import FInformation

_MOST_COLUMNS = 100
_LEVELS = 6  # on the way down from the bound of the relaxation, each four times as far as the one before
_STEP = 4.0
_MOST_BLOCKS = 384
_MOST_ROUNDS = 24
_SHARES = np.concatenate([[0.0], np.geomspace(1e-12, 0.5, 96)])


_GUESSED = Effort(1 << 10, 1 << 12, 1 << 10, 6)
_QUICK = Effort(1 << 13, 1 << 15, 1 << 13, 20)
_THOROUGH = Effort(1 << 18, 1 << 20, 1 << 16, 200)
_CLOSE = 2e-11  # to the bound: as good as exact
_WORTHWHILE = 0.05  # of the gap: what a split must take off the bound


@dataclass(frozen=True, eq=False)
class KnapsackPricing:
    """Prices columns of the cone of an l1 ball, whatever its prior.

    Attributes
    ----------
    ball : L1Ball
        Any.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = KnapsackPricing(L1Ball([0.5, 0.3, 0.2]), 1.5, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.359884719
    """

    ball: L1Ball
    exp_epsilon: float
    utility: FInformation

    method = "sets near the fractional knapsack, met in the middle"

    def price(self, multipliers: Floats, *, thorough: bool = True) -> Price:
        """Return a bound of the greatest reduced cost, and columns met on the way.

        lambda is first averaged over symbols of equal probability (see `averaged`).

        Parameters
        ----------
        multipliers : array, shape (N,)
            lambda.
        thorough : bool
            Whether more sets may be looked at before the bound of what is left is returned.
        """
        if beyond_floats(multipliers, self.exp_epsilon):
            return Price(np.inf, "multipliers beyond floats", 0)
        even, drift = averaged(multipliers, self._groups)
        search = self._search(even)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            upper = search.run(_THOROUGH if thorough else _QUICK)
        return Price(upper + drift, self.method, search.looked_at, search.met.columns())

    def start(self) -> Floats:
        """Return columns of balanced sets."""
        return start_columns(self.ball, self.exp_epsilon, self.utility)

    def centers(self) -> list[Floats]:
        """Return zeros, and the slopes of chords."""
        return center_multipliers(self.ball, self.exp_epsilon, self.utility)

    def guess(self, multipliers: Floats) -> Floats:
        """Return the best columns among a few sets that are near the fractional knapsack."""
        search = self._search(averaged(multipliers, self._groups)[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            search.guess()
        return search.met.columns()

    def _search(self, multipliers: Floats) -> _Search:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _Search(self._shape, self.utility, self._groups, multipliers)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Symbols of equal probability."""
        return alike(self.ball.center)

    @cached_property
    def _shape(self) -> _Shape:
        return _Shape(self.ball.prior, float(self.ball.half_radius), self.exp_epsilon, self.ball.within_simplex)


@dataclass(frozen=True)
class _Shape:
    """The numbers that describe a column cone."""

    prior: Floats
    t: float
    e: float
    within_simplex: bool

    @property
    def top(self) -> float:
        """``c``, the greatest value of columns of kinds A and B."""
        return self.e / (1 + self.t * self.e)

    @property
    def unit(self) -> float:
        """What a sum over all symbols may err by, relative to its terms."""
        return 4 * (self.prior.size + 16) * EPS

    @property
    def exact_ball(self) -> bool:
        """Whether there are kinds C and D."""
        return self.within_simplex and self.t > 0

    @property
    def only_d(self) -> bool:
        """Whether there is no other kind than D."""
        return self.exact_ball and self.t >= 1


# What has been met


class _Met:
    """The columns of greatest reduced cost so far, and the greatest reduced cost of any, rounded up."""

    def __init__(self, size: int) -> None:
        self.upper = self.greatest = -np.inf
        self._columns: Floats = np.empty((size, 0))
        self._costs: Floats = np.empty(0)

    def add(self, costs: Floats, uppers: Floats, build: Callable[[Indices], Floats]) -> None:
        """Take note of columns, which are only built if they are among the best."""
        if costs.size == 0:
            return
        self.upper = max(self.upper, float(as_bound(uppers).max()))
        costs = np.where(np.isfinite(costs), costs, -np.inf)
        self.greatest = max(self.greatest, float(costs.max()))
        least = self._costs[-1] if self._costs.size >= _MOST_COLUMNS else -np.inf
        chosen = np.flatnonzero(costs > least)
        if chosen.size == 0:
            return
        chosen = chosen[np.argsort(-costs[chosen], kind="stable")[:_MOST_COLUMNS]]
        columns = np.hstack([self._columns, build(chosen)])
        merged = np.concatenate([self._costs, costs[chosen]])
        best = np.argsort(-merged, kind="stable")
        _, first = np.unique(columns[:, best].round(12), axis=1, return_index=True)
        best = best[np.sort(first)[:_MOST_COLUMNS]]
        self._columns, self._costs = columns[:, best], merged[best]

    def columns(self) -> Floats:
        """Return the best columns, shape (N, k)."""
        return self._columns


class _Search:
    """The search for one vector of multipliers."""

    def __init__(self, shape: _Shape, utility: FInformation, groups: list[list[int]], multipliers: Floats) -> None:
        self.shape, self.utility, self.groups = shape, utility, groups
        self.multipliers = multipliers
        self.size = float(np.abs(multipliers).sum())
        self.slip = _slip(shape, multipliers)
        self.met = _Met(multipliers.size)
        # The constant column is in every cone, and f(1) is 0.
        self.met.greatest = -float(multipliers.sum())
        self.close = _CLOSE * (1 + self.size)
        self.looked_at = 0
        kinds: list[_Kind] = []
        P, t, c, unit = shape.prior, shape.t, shape.top, shape.unit
        nobody, everybody = np.zeros(P.size, dtype=bool), np.ones(P.size, dtype=bool)
        if not shape.only_d:
            light = c * P <= 1 + unit
            if t > 0:
                # With a known prior these columns are sums of columns of kind B, or such columns.
                kinds.append(_KindA(self, light, nobody, groups))
            if c >= 1 - unit:
                kinds.append(_KindB(self, light, nobody, groups))
                kinds.extend(_BetweenAt(self, light, nobody, groups, int(f)) for f in np.flatnonzero(~light))
        if shape.exact_ball:
            rare = min(t, 1.0) + unit >= P
            kinds.append(_KindD(self, rare, nobody, groups))
            if not shape.only_d and rare.any() and t + 1 / shape.e <= 1 + unit:
                kinds.append(_KindC(self, everybody, nobody, groups, rare, nobody))
        self.kinds = kinds

    def f(self, levels: Floats | float, error: Floats | float = 0.0) -> Floats:
        """Return the greatest f near levels."""
        return greatest_near(self.utility, np.atleast_1d(np.asarray(levels, dtype=float)), error)

    def guess(self) -> None:
        """Meet columns of great reduced cost, without a bound."""
        for kind in self.kinds:
            kind.try_prefixes()
        for kind in self.kinds:
            kind.greatest(self.met.greatest, _GUESSED)
            kind.try_neighbours()
        bounds = self._split(_GUESSED)
        for kind, bound in zip(self.kinds, bounds, strict=True):
            if bound > self.met.greatest:
                kind.look_into(self.met.greatest, _GUESSED)

    def run(self, effort: Effort) -> float:
        """Return a bound of the greatest reduced cost."""
        self.guess()
        top = proved = max(self._split(effort))
        floor = self.met.greatest
        if not np.isfinite(top):
            return np.inf
        if top - floor <= self.close:
            return max(proved, self.met.upper)
        for step in range(_LEVELS, -1, -1):
            level = max(top - (top - floor) / _STEP**step, self.met.greatest)
            # All kinds are looked into, for their columns, even where one is not seen through.
            complete = [kind.look_into(level, effort) for kind in self.kinds]
            if not all(complete):
                break
            proved = level
            if self.met.greatest >= level - self.close:
                break
        return max(proved, self.met.upper)

    def _split(self, effort: Effort) -> list[float]:
        """Divide the kinds of the greatest bounds while that lowers these; return the bounds."""
        bounds = [kind.greatest(self.met.greatest, effort) for kind in self.kinds]
        whole: list[tuple[_Kind, float]] = []
        waiting = list(zip(self.kinds, bounds, strict=True))
        for _ in range(effort.splits):
            if not waiting:
                break
            k = max(range(len(waiting)), key=lambda k: waiting[k][1])
            kind, bound = waiting.pop(k)
            gap = bound - self.met.greatest
            if gap <= self.close:
                waiting.append((kind, bound))
                break
            for parts in kind.split():
                for part in parts:
                    part.try_prefixes()
                divided = [(part, part.greatest(self.met.greatest, effort)) for part in parts]
                for part in parts:
                    part.try_neighbours()
                # Either the bound falls or the parts' columns are better.
                if max(upper for _, upper in divided) - self.met.greatest < (1 - _WORTHWHILE) * gap:
                    waiting.extend((part, min(upper, bound)) for part, upper in divided)
                    break
            else:
                whole.append((kind, bound))
        everything = whole + waiting
        self.kinds = [kind for kind, _ in everything]
        return [bound for _, bound in everything]


def _slip(shape: _Shape, multipliers: Floats) -> float:
    """Return how much the fractional knapsack may rise or fall within the error of a mass."""
    P, sizes = shape.prior, np.abs(multipliers)
    lost = (P > 0) & (shape.unit > P)
    steepest = float((sizes / np.where(shape.unit <= P, P, np.inf)).max())
    return float(sizes[lost].sum()) + 2 * shape.unit * steepest


class _Kind:
    """Columns of one kind, or those of them that have some symbols in S and leave others out.

    Attributes
    ----------
    allowed, forced : array of bool, shape (N,)
        Who may be in S (for kind C: in T), and who must be.
    groups : list of lists of int
        Symbols that are still interchangeable.
    """

    def __init__(self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]]) -> None:
        self.search, self.shape = search, search.shape
        self.allowed, self.forced, self.groups = allowed, forced, groups

    def try_prefixes(self) -> None:
        """Meet the columns of the first few symbols in the order of the relaxation, for a floor."""
        raise NotImplementedError

    def try_neighbours(self) -> None:
        """Meet columns near the peak of the relaxation: each symbol in or out, the others in their order."""
        raise NotImplementedError

    def greatest(self, floor: float, effort: Effort) -> float:
        """Return a bound of the kind's reduced costs, or a floor where that is greater."""
        raise NotImplementedError

    def look_into(self, level: float, effort: Effort) -> bool:
        """Meet the columns above a level; return whether that was all of them."""
        raise NotImplementedError

    def split(self) -> list[list[_Kind]]:
        """Return ways to divide the columns, by a symbol that the relaxation's peak holds in part."""
        raise NotImplementedError

    def neighbours(self, envelope: Envelope, mass: float) -> Masks:
        """Return sets of about a mass, one a row: each symbol in or out, the others in their order."""
        sure, order = self.sure, envelope.order
        own, ranks = self.shape.prior[order], np.arange(order.size)
        sets = [sure[None, :]]
        for held in (True, False):
            wanted = mass - own * held
            # How many of the others fit: before a symbol's own rank as without it, and beyond as if it took no room.
            count = np.where(
                envelope.masses[:-1] > wanted,
                np.searchsorted(envelope.masses, wanted, side="right"),
                np.searchsorted(envelope.masses, wanted + own, side="right") - 1,
            )
            for first in (np.maximum(count - 1, 0), count):
                until = np.where(first <= ranks, first, first + 1)
                chosen = ranks < until[:, None]
                chosen[ranks, ranks] = held
                part = np.repeat(sure[None, :], order.size, axis=0)
                part[:, order] = chosen
                sets.append(part)
        result: Masks = np.concatenate(sets)
        return result

    @property
    def sure(self) -> Masks:
        """Who is in every set worth looking at."""
        result: Masks = self.forced | (self.allowed & (self.shape.prior <= 0) & (self.search.multipliers < 0))
        return result

    def without(self, symbol: int) -> Masks:
        """Return who is allowed, but for a symbol."""
        allowed = self.allowed.copy()
        allowed[symbol] = False
        return allowed

    def with_forced(self, symbol: int) -> Masks:
        """Return who is forced, and a symbol."""
        forced = self.forced.copy()
        forced[symbol] = True
        return forced

    def apart(self, symbol: int) -> list[list[int]]:
        """Return the groups with a symbol on its own."""
        rest = [[i for i in group if i != symbol] for group in self.groups]
        return [group for group in rest if group] + [[symbol]]


# Kinds whose reduced costs are a curve over the mass of one set


@dataclass(frozen=True)
class _Terms:
    """Terms of Q times the reduced cost: ``w on + (1 - w) off + rest - factor lambda(S)``, and Q."""

    on: Floats
    off: Floats
    rest: Floats
    scale: Floats


def _binary(against: Floats, allowed: Masks, forced: Masks) -> Losses:
    """Return what symbols lose that are not where a slope wants them."""
    inside = np.where(allowed, np.maximum(against, 0.0), np.inf)
    return Losses(
        np.where(forced, np.inf, np.where(allowed, np.maximum(-against, 0.0), 0.0)), np.where(forced, 0.0, inside)
    )


class _Curve(_Kind):
    """A kind whose reduced cost depends on the mass and the multipliers of one set."""

    def __init__(self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]]) -> None:
        self.low, self.high, self.factor = 0.0, 1.0, 1.0
        self._peak: tuple[int, float] | None = None
        super().__init__(search, allowed, forced, groups)
        self.envelope = Envelope.of(self.shape.prior, search.multipliers, allowed, forced)

    def terms(self, w: Floats) -> _Terms:
        """Return the terms for masses, rounded up."""
        raise NotImplementedError

    def build(self, members: Masks, mass: Floats) -> Floats:
        """Return the columns of sets, shape (N, k)."""
        raise NotImplementedError

    def evaluate(self, members: Masks) -> None:
        """Meet the columns of sets."""
        mass = members @ self.shape.prior
        fits = (mass >= self.low - self.shape.unit) & (mass <= self.high + self.shape.unit)
        members, mass = members[fits], np.clip(mass[fits], self.low, self.high)
        if mass.size == 0:
            return
        self.search.looked_at += mass.size
        costs, errors = self.value(mass, members @ self.search.multipliers)
        self.search.met.add(costs, costs + errors, lambda which: self.build(members[which], mass[which]))

    @property
    def rounding(self) -> float:
        """What a reduced cost may err by, apart from f: masses and multipliers are sums."""
        return self.shape.unit * (1 + self.factor) * (1 + self.search.size) * 4 + self.factor * self.search.slip

    def value(self, w: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Return reduced costs, and what they may err by."""
        terms = self.terms(w)
        costs: Floats = (w * terms.on + (1 - w) * terms.off + terms.rest - self.factor * cost) / terms.scale
        sizes = w * np.abs(terms.on) + (1 - w) * np.abs(terms.off) + np.abs(terms.rest)
        return costs, self.rounding + self.shape.unit * sizes / terms.scale

    def try_prefixes(self) -> None:
        self.evaluate(self.envelope.prefixes(self.sure))

    def try_neighbours(self) -> None:
        if self._peak is not None:
            self.evaluate(self.neighbours(self.envelope, self._peak[1]))

    def like(self, allowed: Masks, forced: Masks, groups: list[list[int]]) -> _Curve:
        """Return the same kind for other sets."""
        return type(self)(self.search, allowed, forced, groups)

    def split(self) -> list[list[_Kind]]:
        if self._peak is None or self.envelope.order.size == 0:
            return []
        symbol = int(self.envelope.order[self._peak[0]])
        groups = self.apart(symbol)
        return [
            [
                self.like(self.without(symbol), self.forced, groups),
                self.like(self.allowed, self.with_forced(symbol), groups),
            ]
        ]

    def heights(self, blocks: Intervals, level: float) -> tuple[Floats, Floats, Floats]:
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
        pad = self.rounding * most + self.shape.unit * (sizes[0] + sizes[1])
        return as_bound(ends + bump + pad), scale, (ends - pad) / most

    def above(self, level: float) -> tuple[Intervals, Floats, float]:
        """Return narrow blocks that may hold columns above a level, with their heights, and a bound of all."""
        blocks = self.envelope.between(self.low, self.high, self.shape.unit)
        if blocks.left.size == 0:
            return blocks, blocks.left, level
        for _ in range(_MOST_ROUNDS):
            heights, scale, _ = self.heights(blocks, level)
            active = heights > 0
            blocks, heights, scale = blocks.only(active), heights[active], scale[active]
            if blocks.left.size == 0:
                return blocks, heights, level
            if blocks.left.size * FINER > _MOST_BLOCKS or float((blocks.right - blocks.left).max()) < 1e-14:
                break
            blocks = blocks.finer()
        heights, scale, _ = self.heights(blocks, level)
        active = heights > 0
        blocks, heights, scale = blocks.only(active), heights[active], scale[active]
        return blocks, heights, level + float(as_bound(heights / scale).max(initial=0.0))

    def greatest(self, floor: float, effort: Effort) -> float:  # noqa: ARG002 - always quick
        level, bound = floor, np.inf
        for _ in range(12):
            blocks, heights, upper = self.above(level)
            bound = min(bound, upper)
            if blocks.left.size == 0:
                break
            k = int(np.argmax(heights))
            self._peak = int(blocks.piece[k]), float(blocks.left[k])
            _, _, ends = self.heights(blocks, level)
            reached = level + float(ends.max())
            if not reached > level or bound - reached <= 1e-13 * (1 + abs(bound)):
                break
            level = reached
        return max(bound, floor)

    def look_into(self, level: float, effort: Effort) -> bool:
        blocks, heights, _ = self.above(level)
        complete = True
        pad = self.shape.unit
        P, multipliers = self.shape.prior, self.search.multipliers
        for piece in np.unique(blocks.piece):
            here = blocks.piece == piece
            slope = self.envelope.slope(int(piece))
            left, right, height = blocks.left[here], blocks.right[here], heights[here]
            peak = float(left[np.argmax(height)] + right[np.argmax(height)]) / 2
            against = multipliers - slope * P
            losses = _binary(against, self.allowed, self.forced)
            limit = float(height.max()) / max(self.factor, EPS) + pad * (self.search.size + abs(slope))
            window = Window(float(left.min()) - pad, float(right.max()) + pad, peak, limit, losses)
            seen = enumerate_sets(window, self.groups, P, effort, lambda members, _: self.evaluate(members))
            complete = complete and seen
        return complete


class _KindA(_Curve):
    """``c (1 - w + t)`` on S and ``1 - c w`` elsewhere, of mass ``1 - w + c w t``."""

    def __init__(self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]]) -> None:
        super().__init__(search, allowed, forced, groups)
        c = self.shape.top
        self.high = min(1 / c, 1.0)
        self.factor = (self.shape.e - 1) / (1 + self.shape.t * self.shape.e)  # c (1 + t) - 1

    def terms(self, w: Floats) -> _Terms:
        c, t = self.shape.top, self.shape.t
        scale = 1 - w + c * w * t
        on, off = c * (1 - w + t) / scale, np.maximum(1 - c * w, 0.0) / scale
        error = self.shape.unit * (1 + c + on) / scale
        return _Terms(
            scale * self.search.f(on, error),
            scale * self.search.f(off, error),
            -np.maximum(1 - c * w, 0.0) * self.search.multipliers.sum(),
            scale,
        )

    def build(self, members: Masks, mass: Floats) -> Floats:
        c, t = self.shape.top, self.shape.t
        on, off = c * (1 - mass + t), np.maximum(1 - c * mass, 0.0)
        columns = np.where(members.T, on, off)
        result: Floats = columns / (self.shape.prior @ columns)
        return result


class _KindD(_Curve):
    """``e`` on S and 1 elsewhere."""

    def __init__(self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]]) -> None:
        super().__init__(search, allowed, forced, groups)
        self.high = min(self.shape.t, 1.0)
        self.factor = self.shape.e - 1

    def terms(self, w: Floats) -> _Terms:
        e = self.shape.e
        scale = 1 + (e - 1) * w
        on, off = e / scale, 1 / scale
        unit = self.shape.unit
        rest = np.full(w.shape, -self.search.multipliers.sum())
        # w is a sum of masses, known relative to itself, and w times e / scale is at most 1.
        return _Terms(scale * self.search.f(on, 2 * unit * on), scale * self.search.f(off, 2 * unit * off), rest, scale)

    def build(self, members: Masks, mass: Floats) -> Floats:  # noqa: ARG002 - the values do not depend on it
        columns = np.where(members.T, self.shape.e, 1.0)
        result: Floats = columns / (self.shape.prior @ columns)
        return result


class _BetweenAt(_Curve):
    """Kind B with a given fractional symbol."""

    def __init__(
        self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]], fractional: int
    ) -> None:
        super().__init__(search, allowed, forced, groups)
        self.fractional = fractional
        self.high = min(1 / self.shape.top, 1.0)
        self.low = max(1 / self.shape.top - float(self.shape.prior[fractional]), 0.0)
        self.factor = self.shape.top

    def like(self, allowed: Masks, forced: Masks, groups: list[list[int]]) -> _BetweenAt:
        return _BetweenAt(self.search, allowed, forced, groups, self.fractional)

    def between(self, w: Floats) -> Floats:
        result: Floats = np.clip((1 - self.shape.top * w) / self.shape.prior[self.fractional], 0.0, self.shape.top)
        return result

    def terms(self, w: Floats) -> _Terms:
        p, x = float(self.shape.prior[self.fractional]), self.between(w)
        error = min(self.shape.unit / p, self.shape.top)
        multiplier = float(self.search.multipliers[self.fractional])
        zero = self.search.f(0.0)
        rest = p * self.search.f(x, error) + (1 - p) * zero - x * multiplier
        on = self.search.f(self.shape.top, self.shape.unit * self.shape.top) - zero
        return _Terms(np.broadcast_to(on, w.shape), np.zeros(w.shape), rest, np.ones(w.shape))

    def build(self, members: Masks, mass: Floats) -> Floats:
        columns = np.where(members.T, self.shape.top, 0.0)
        columns[self.fractional] = self.between(mass)
        result: Floats = columns / (self.shape.prior @ columns)
        return result


# Kind B


class _KindB(_Kind):
    """``c`` on S and x at a fractional symbol f that is not heavier than 1/c, whichever it is.

    With x near 0 the mass of S is just below 1/c, and with x near c that of S and f together just above. So the sets
    T of mass about 1/c hold the supports of all columns above a level, up to their fractional symbols.
    """

    def __init__(self, search: _Search, allowed: Masks, forced: Masks, groups: list[list[int]]) -> None:
        super().__init__(search, allowed, forced, groups)
        self.envelope = Envelope.of(self.shape.prior, search.multipliers, allowed, forced)
        c, unit = self.shape.top, self.shape.unit
        self.mass = 1 / c
        masses = self.envelope.masses
        self.empty = bool(masses[-1] < self.mass - unit or masses[0] > self.mass + unit)
        self.slope = self.envelope.slope_at(self.mass)
        self.against = search.multipliers - self.slope * self.shape.prior
        self.zero = float(search.f(0.0)[0])
        self.top = float(search.f(c, unit * c)[0])
        chosen = np.where(forced, self.against, np.minimum(np.where(allowed, self.against, 0.0), 0.0)).sum()
        self.rounding = 4 * unit * (1 + abs(self.top) + abs(self.zero) + c * (search.size + abs(self.slope)))
        bound = self.zero + (self.top - self.zero) / c - self.slope - c * float(chosen) + self.rounding
        self.bound = float(as_bound(bound))

    def greatest(self, floor: float, effort: Effort) -> float:  # noqa: ARG002 - always quick
        return floor if self.empty else max(floor, self.bound)

    def try_prefixes(self) -> None:
        if not self.empty:
            self.evaluate(self.neighbours(self.envelope, self.mass))

    def try_neighbours(self) -> None:
        """Meet nothing more: these columns are what was tried first."""

    def split(self) -> list[list[_Kind]]:
        if self.empty or self.envelope.order.size == 0:
            return []
        k = int(np.searchsorted(self.envelope.masses, self.mass)) - 1
        symbol = int(self.envelope.order[min(max(k, 0), self.envelope.order.size - 1)])
        out, groups = self.without(symbol), self.apart(symbol)
        return [
            [
                _KindB(self.search, out, self.forced, groups),
                _KindB(self.search, self.allowed, self.with_forced(symbol), groups),
                _BetweenAt(self.search, out, self.forced, groups, symbol),
            ]
        ]

    def evaluate(self, members: Masks) -> None:
        """Meet the best column of each set T: with a symbol outside raised, or one inside lowered."""
        P, multipliers, c, unit = self.shape.prior, self.search.multipliers, self.shape.top, self.shape.unit
        likely = np.flatnonzero(P > 0)
        own, inside = P[likely], members[:, likely]
        mass = (members @ P)[:, None] - inside * own
        cost = (members @ multipliers)[:, None] - inside * multipliers[likely]
        between = (1 - c * mass) / own
        error = 2 * unit / own
        allowed = (between >= -error) & (between <= c + error)
        rows, columns = np.nonzero(allowed)
        if rows.size == 0:
            return
        mass, cost = mass[rows, columns], cost[rows, columns]
        between, own, error = np.clip(between[rows, columns], 0.0, c), own[columns], error[columns]
        error = np.minimum(error, c)  # x and what is computed of it are between 0 and c
        multiplier = multipliers[likely][columns]
        common = mass * self.top + (1 - mass - own) * self.zero - c * cost - between * multiplier
        costs = common + own * np.asarray(self.search.utility.f(between), dtype=float)
        uppers = common + own * self.search.f(between, error) + np.abs(multiplier) * error + self.rounding
        self.search.looked_at += rows.size
        # One column of each set: others differ little from it.
        ranked = np.lexsort((-costs, rows))
        first = ranked[np.concatenate([[True], np.diff(rows[ranked]) > 0])]
        uppers = as_bound(uppers)
        self.search.met.upper = max(self.search.met.upper, float(uppers.max()))

        def build(which: Indices) -> Floats:
            chosen = first[which]
            built = np.where(members[rows[chosen]].T, c, 0.0)
            built[likely[columns[chosen]], np.arange(chosen.size)] = between[chosen]
            result: Floats = built / (P @ built)
            return result

        self.search.met.add(costs[first], uppers[first], build)

    def look_into(self, level: float, effort: Effort) -> bool:
        budget = self.bound - level
        if self.empty or budget <= 0:
            return True
        P, c, unit = self.shape.prior, self.shape.top, self.shape.unit
        likely = np.flatnonzero(self.allowed & ~self.forced & (P > 0))
        own, against = P[likely][:, None], self.against[likely][:, None]
        # phi_f(x) = P_f f(x) - x (lambda_f - slope P_f) is convex; shares of c from either end, 0 to 1/2.
        shares = np.concatenate([_SHARES, 1 - _SHARES[-2::-1]])
        rests = np.concatenate([1 - _SHARES, _SHARES[-2::-1]])
        phi = own * self.search.f(c * shares) - c * shares * (against + own * (self.top - self.zero) / c)
        if not np.isfinite(phi).all():
            return False
        # Without the chord from f(0) to f(c), which is in the bound, what is wanted is decided by `against`.
        loss_out, loss_in = c * np.maximum(-against, 0.0), c * np.maximum(against, 0.0)
        split = np.argmin(phi, axis=1)[:, None]
        at = np.arange(shares.size)
        slack = 2 * self.rounding
        near = (phi[:, :1] - phi <= budget - loss_out + slack) & (at <= split)
        last = np.where(near.any(axis=1), shares.size - 1 - np.argmax(near[:, ::-1], axis=1), -1)
        below = np.where(last >= 0, shares[np.minimum(last + 1, shares.size - 1)], 0.0)
        near = (phi[:, -1:] - phi <= budget - loss_in + slack) & (at >= split)
        first = np.where(near.any(axis=1), np.argmax(near, axis=1), shares.size)
        above = np.where(first < shares.size, rests[np.maximum(first - 1, 0)], 0.0)
        low = self.mass - float((below * P[likely]).max(initial=0.0))
        high = self.mass + float((above * P[likely]).max(initial=0.0))
        losses = _binary(self.against, self.allowed, self.forced)
        window = Window(low - 4 * unit, high + 4 * unit, self.mass, (budget + slack) / c, losses)
        return enumerate_sets(window, self.groups, P, effort, lambda members, _: self.evaluate(members))


# Kind C


@dataclass(frozen=True)
class _Cells:
    """Rectangles of masses of S and T in which both envelopes have one slope."""

    inner: Intervals
    outer: Intervals

    def only(self, which: Masks) -> _Cells:
        return _Cells(self.inner.only(which), self.outer.only(which))

    def halved(self) -> _Cells:
        """Return the four quarters of each."""
        inner, outer = [], []
        for upper_a in (False, True):
            for upper_b in (False, True):
                inner.append(_half_of(self.inner, upper=upper_a))
                outer.append(_half_of(self.outer, upper=upper_b))
        return _Cells(_joined(inner), _joined(outer))


def _half_of(blocks: Intervals, *, upper: bool) -> Intervals:
    middle = (blocks.left + blocks.right) / 2
    return Intervals(middle, blocks.right, blocks.piece) if upper else Intervals(blocks.left, middle, blocks.piece)


def _joined(parts: Sequence[Intervals]) -> Intervals:
    return Intervals(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.piece for part in parts]),
    )


class _KindC(_Kind):
    """``g = e (b - t)`` on S, 1 on the rest of T, 0 elsewhere, with ``P(S) = a <= t`` and ``P(T) = b``.

    The mass of these columns is ``b + (g - 1) a``. Along a and along b alike all terms are convex functions times
    masses.
    """

    def __init__(
        self,
        search: _Search,
        allowed: Masks,
        forced: Masks,
        groups: list[list[int]],
        rare: Masks,
        raised: Masks,
    ) -> None:
        super().__init__(search, allowed, forced, groups)
        P, t, e = self.shape.prior, self.shape.t, self.shape.e
        self.rare, self.raised = rare, raised
        self.lightest = t + 1 / e
        self.inner = Envelope.of(P, search.multipliers, rare, raised)
        self.outer = Envelope.of(P, search.multipliers, allowed, forced)
        self.rounding = 8 * self.shape.unit * (1 + e) * (1 + search.size) + (1 + e) * search.slip
        self._peak: tuple[int, int, float, float] | None = None

    def _g(self, b: Floats) -> Floats:
        result: Floats = np.maximum(self.shape.e * (b - self.shape.t), 1.0)
        return result

    def _values(self, a: Floats, b: Floats) -> tuple[Floats, ...]:
        """Return the mass of columns, and it times f of their three values, rounded up."""
        g = self._g(b)
        mass = b + (g - 1) * a
        unit = self.shape.unit * (1 + self.shape.e / mass)
        on = mass * self.search.f(g / mass, unit * (1 + g / mass))
        inside = mass * self.search.f(1 / mass, unit / mass)
        return mass, on, inside, mass * float(self.search.f(0.0)[0])

    def evaluate(self, members: Masks, tops: Masks) -> None:
        """Meet the columns of sets T and S."""
        P, multipliers, unit = self.shape.prior, self.search.multipliers, self.shape.unit
        a, b = tops @ P, members @ P
        fits = (a <= self.shape.t + unit) & (b >= self.lightest - unit)
        members, tops, a, b = members[fits], tops[fits], a[fits], b[fits]
        if a.size == 0:
            return
        self.search.looked_at += a.size
        mass, on, inside, out = self._values(a, b)
        g = self._g(b)
        total = a * on + (b - a) * inside + (1 - b) * out
        costs = (total - members @ multipliers - (g - 1) * (tops @ multipliers)) / mass
        uppers = costs + (self.rounding + unit * (np.abs(on) + np.abs(inside) + np.abs(out))) / mass

        def build(which: Indices) -> Floats:
            columns = np.where(tops[which].T, g[which], members[which].T.astype(float))
            result: Floats = columns / (P @ columns)
            return result

        self.search.met.add(costs, uppers, build)

    def try_prefixes(self) -> None:
        outer, inner = self.outer.prefixes(self.sure), self.inner.prefixes(self.sure & self.rare | self.raised)
        unit = self.shape.unit
        outer = outer[self.outer.masses >= self.lightest - unit]
        inner = inner[self.inner.masses <= self.shape.t + unit]
        outer, inner = outer[:: max(1, len(outer) // 64)], inner[:: max(1, len(inner) // 64)]
        rows, columns = np.divmod(np.arange(len(outer) * len(inner)), max(len(inner), 1))
        if rows.size:
            self.evaluate(outer[rows] | inner[columns], inner[columns])

    def try_neighbours(self) -> None:
        if self._peak is None:
            return
        _, _, a, b = self._peak
        prefixes = self.inner.prefixes(self.sure & self.rare | self.raised)
        below = int(np.searchsorted(self.inner.masses, a + self.shape.unit)) - 1
        for inner in prefixes[max(below, 0) : below + 2]:
            outer = self.neighbours(self.outer, b) | inner
            self.evaluate(outer, np.repeat(inner[None, :], len(outer), axis=0))

    def split(self) -> list[list[_Kind]]:
        if self._peak is None:
            return []
        ways: list[list[_Kind]] = []
        inner, outer, _, _ = self._peak
        search, allowed, forced, rare, raised = self.search, self.allowed, self.forced, self.rare, self.raised
        if self.outer.order.size:
            symbol = int(self.outer.order[outer])
            groups = self.apart(symbol)
            rarer = rare & (np.arange(rare.size) != symbol)
            ways.append(
                [
                    _KindC(search, self.without(symbol), forced, groups, rarer, raised),
                    _KindC(search, allowed, self.with_forced(symbol), groups, rare, raised),
                ]
            )
        if self.inner.order.size:
            symbol = int(self.inner.order[inner])
            groups = self.apart(symbol)
            rarer = rare & (np.arange(rare.size) != symbol)
            ways.append(
                [
                    _KindC(search, allowed, forced, groups, rarer, raised),
                    _KindC(search, allowed, self.with_forced(symbol), groups, rare, raised | (rare & ~rarer)),
                ]
            )
        return ways

    def _all_cells(self) -> _Cells:
        inner = self.inner.between(0.0, self.shape.t, self.shape.unit)
        outer = self.outer.between(self.lightest, 1.0, self.shape.unit)
        j, k = (index.ravel() for index in np.indices((inner.left.size, outer.left.size)))
        return _Cells(
            Intervals(inner.left[j], inner.right[j], inner.piece[j]),
            Intervals(outer.left[k], outer.right[k], outer.piece[k]),
        )

    def heights(self, cells: _Cells, level: float) -> tuple[Floats, Floats, Floats]:
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
        pad = self.rounding + self.shape.unit * (abs(level) * most + values)
        upper = corners + (wide * bend_a + tall * bend_b) / 4 + pad
        return as_bound(upper), np.minimum.reduce(masses), (corners - pad) / most

    def above(self, level: float, effort: Effort) -> tuple[_Cells, Floats, float, float]:
        """Return small cells that may hold columns above a level, their heights, a bound, and what is reached."""
        cells = self._all_cells()
        reached = -np.inf
        if cells.inner.left.size == 0:
            return cells, cells.inner.left, level, reached
        while True:
            heights, scale, ends = self.heights(cells, level)
            active = heights > 0
            if not active.any():
                return cells.only(active), heights[active], level, reached
            reached = max(reached, level + float(ends.max()))
            cells, heights, scale = cells.only(active), heights[active], scale[active]
            narrow = (cells.inner.right - cells.inner.left).max() + (cells.outer.right - cells.outer.left).max() < 1e-9
            if heights.size * 4 > effort.cells or narrow:
                return cells, heights, level + float(as_bound(heights / scale).max()), reached
            cells = cells.halved()

    def greatest(self, floor: float, effort: Effort) -> float:
        level, bound = floor, np.inf
        for _ in range(8):
            cells, heights, upper, reached = self.above(level, effort)
            bound = min(bound, upper)
            if heights.size:
                k = int(np.argmax(heights))
                self._peak = (
                    int(cells.inner.piece[k]),
                    int(cells.outer.piece[k]),
                    float(cells.inner.left[k]),
                    float(cells.outer.left[k]),
                )
            if heights.size == 0 or not reached > level + 1e-13 or bound - reached <= 1e-12 * (1 + abs(bound)):
                break
            level = reached
        return max(bound, floor)

    def look_into(self, level: float, effort: Effort) -> bool:
        cells, heights, _, _ = self.above(level, effort)
        if heights.size == 0:
            return True
        P, multipliers, pad = self.shape.prior, self.search.multipliers, self.shape.unit
        pairs, which = np.unique(np.array([cells.inner.piece, cells.outer.piece]), axis=1, return_inverse=True)
        which = which.ravel()
        greatest = np.full(pairs.shape[1], -np.inf)
        np.maximum.at(greatest, which, heights)
        most = max(effort.cells >> 9, 2)
        complete = bool(pairs.shape[1] <= most)
        for k in np.argsort(-greatest, kind="stable")[:most].tolist():
            here = which == k
            inner_slope, outer_slope = self.inner.slope(int(pairs[0, k])), self.outer.slope(int(pairs[1, k]))
            low, high = float(cells.outer.left[here].min()), float(cells.outer.right[here].max())
            peak = int(np.argmax(np.where(here, heights, -np.inf)))
            # What S costs beyond its slope counts g - 1 times, which is least where T is lightest.
            times = float(self._g(np.array([low]))[0]) - 1
            beyond, top = multipliers - outer_slope * P, multipliers - inner_slope * P
            losses = self._losses(beyond, times * top)
            limit = float(greatest[k]) + pad * (self.search.size + abs(outer_slope) + abs(inner_slope)) * self.shape.e
            middle = float(cells.outer.left[peak] + cells.outer.right[peak]) / 2
            window = Window(low - pad, high + pad, middle, limit, losses)
            seen = enumerate_sets(window, self.groups, P, effort, self.evaluate)
            complete = complete and seen
        return complete

    def _losses(self, beyond: Floats, top: Floats) -> Losses:
        """Return what symbols lose that are not where the slopes of T and of S want them."""
        of_t, of_s = _binary(beyond, self.allowed, self.forced), _binary(top, self.rare, self.raised)
        return Losses(of_t.out + of_s.out, of_t.inside + of_s.out, of_t.inside + of_s.inside)
