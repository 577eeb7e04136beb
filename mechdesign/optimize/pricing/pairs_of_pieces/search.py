"""Best-first search over pairs of pieces, once for each vector of multipliers."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.pairs_of_pieces.cases import (
    BY_INNER,
    BY_OUTER,
    BY_Q,
    BY_X,
    NOT_DIVIDED,
    Case,
    CaseArrays,
    Indices,
    first_cases,
)
from mechdesign.optimize.pricing.pairs_of_pieces.columns import BETWEEN, IN, OUTSIDE, ColumnsOfStates
from mechdesign.optimize.pricing.pairs_of_pieces.piece_table import PieceTable
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.start import ball_around, start_columns
from mechdesign.uncertainty.pieces import PieceSet
from mechdesign.utility import FInformation

METHOD = "branch and bound over pairs of pieces"
MOST_CASES, FEW_CASES = 100_000, 4_000
_BATCH, _MOST_TERMS = 256, 1 << 15  # cases, and their symbols, that are bounded together: a limit is looked at between
_STEPS = 40
_CLOSE = 1e-8
_POOR = 0.1  # a division that lowers what is left to prove by a smaller share
_BY_CELL, _ALWAYS, _NEVER = 0.3, 0.03, 1e9  # a cell is divided where its width makes up this share of what is left
_BY_CHORD = 0.2  # likewise a chord
_EDGE = 1e-12
_EPS = float(np.finfo(float).eps)


class PiecePricing:
    """Prices columns over a lower probability of pieces (`Pricing`).

    Parameters
    ----------
    known : PieceSet
        With a supermodular f.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.
    target : float
        A bound that is good enough: the search ends when it is proved.

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"])
    >>> pricing = PiecePricing(limits, 2.0, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 6))
    0.223144
    """

    method = METHOD

    def __init__(self, known: PieceSet, exp_epsilon: float, utility: FInformation, target: float = -math.inf) -> None:
        self.known, self.exp_epsilon, self.utility, self.target = known, exp_epsilon, utility, target

    @cached_property
    def _table(self) -> PieceTable:
        return PieceTable.of(self.known)

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return a bound of the greatest reduced cost, rounded up, and good columns; of few cases unless thorough."""
        with np.errstate(all="ignore"):
            found = self._found(multipliers)
            if not np.isfinite(8 * np.abs(found.multipliers).sum() * self.exp_epsilon):
                return Price(math.inf, "multipliers beyond floats", 0)
            search = _PairSearch(found, self.target)
            upper = search.run(MOST_CASES if thorough else FEW_CASES, deadline)
        whole = thorough and not time_is_up(deadline)
        price = Price(upper, METHOD, search.looked_at, found.best(), whole)
        if whole and -math.inf < self.target < price.upper:
            # A bound that boxes have proved, of a file made before, is proved by them again.
            other = BoxPricing(self.known, self.exp_epsilon, self.utility, target=self.target).price(found.multipliers)
            return min(price, other, key=lambda found: found.upper)
        return price

    def start(self, deadline: float | None = None) -> Floats:
        """Return (1,...,1), first columns of a ball that holds the set, and some that no small step improves, (N, k).

        Those of the ball make up a mechanism; many of the others are needed before some of them do.
        """
        N = self.known.size
        first = start_columns(ball_around(self.known), self.exp_epsilon, self.utility)[:, 1:]
        return np.hstack([np.ones((N, 1)), first, self.guess(np.zeros(N), deadline)])

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.known.size)]

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return columns with ``<P, v> = 1`` that moving one symbol does not improve, shape (N, k)."""
        with np.errstate(all="ignore"):
            found = self._found(multipliers)
            found.climb(deadline)
        return found.best()

    def _found(self, multipliers: Floats) -> ColumnsOfStates:
        lam = np.asarray(multipliers, dtype=float)
        return ColumnsOfStates(self._table, self.known.prior, self.exp_epsilon, self.utility, lam)


@dataclass(frozen=True, eq=False)
class _CornerTerms:
    """What the terms of symbols are made of at points (x, q) of each case; shapes (n, c) and (n, c, N)."""

    batch: CaseArrays
    x: Floats
    q: Floats
    F: tuple[Floats, Floats, Floats]
    weight_in: Floats
    weight_between: Floats
    needed: Floats


class _PairSearch:
    """The search for one vector of multipliers."""

    def __init__(self, found: ColumnsOfStates, target: float) -> None:
        self.found, self.table, self.target = found, found.table, target
        self.prior, self.multipliers, self.utility = found.prior, found.multipliers, found.utility
        self.looked_at = 0
        self._batch = min(_BATCH, max(1, _MOST_TERMS // self.prior.size))
        self.least = (1 / found.exp_epsilon) * (1 - 4 * _EPS)
        f = np.abs(np.asarray(self.utility.f(np.array([0.0, 1.0, 2 * found.exp_epsilon])), dtype=float))
        self._scale = 1 + float(f.max())
        self._close = _CLOSE + 1e-12 * float(np.abs(self.multipliers).sum())

    @property
    def _enough(self) -> float:
        return max(self.target, self.found.greatest + self._close)

    def run(self, most: int, deadline: float | None) -> float:
        """Return the bound when it is good enough, or the limit of cases or of time is reached."""
        self.found.climb(deadline)
        alone = self.table.lower(np.eye(self.prior.size, dtype=bool))
        closed, count = self._of_one_symbol(alone), 0
        # f is at most 1/e on S.
        first = first_cases(self.table, alone <= self.least + _EDGE, self.least, max(self.found.greatest, 0.0) + 1)
        todo, waiting = list(first), list[tuple[float, int, Case]]()
        most += len(todo)
        while True:
            for start in range(0, len(todo), self._batch):
                for case in self._bounded(todo[start : start + self._batch]):
                    if case.bound <= self._enough:
                        closed = max(closed, case.bound)
                    else:
                        count += 1
                        heapq.heappush(waiting, (-case.bound, count, case))
                if time_is_up(deadline):
                    left = [case.bound for case in todo[start + self._batch :]]
                    return max(closed, self.found.greatest, *left, *(-held[0] for held in waiting[:1]))
            greatest = -waiting[0][0] if waiting else -math.inf
            if greatest <= self._enough or self.looked_at >= most:
                return max(closed, self.found.greatest, greatest)
            todo = []
            for _ in range(min(_BATCH // 2, len(waiting))):
                case = heapq.heappop(waiting)[2]
                closed = max(closed, case.bound) if case.split == NOT_DIVIDED else closed
                todo += case.parts(self.table)

    def _of_one_symbol(self, alone: Floats) -> float:
        """Return the greatest reduced cost of a column of one symbol, rounded up."""
        scaled = np.where(self.prior > 0, 1 / self.prior, 1.0)
        upper = self.utility.mu_up(np.diag(scaled), self.prior, np.diag(4 * _EPS * scaled))
        paid = self.multipliers * scaled
        costs = np.where(alone >= self.least - _EDGE, upper - paid + 4 * _EPS * np.abs(paid), -math.inf)
        self.found.take(np.where(np.eye(self.prior.size, dtype=bool), IN, OUTSIDE).astype(np.int8))
        return float(costs.max())

    def _bounded(self, cases: list[Case]) -> list[Case]:
        """Return the cases that may hold a column, with their bounds and how they are divided."""
        self.looked_at += len(cases)
        batch, kept = CaseArrays.of(cases).narrowed(self.table, self.prior, self.least)
        cases = [case for case, keep in zip(cases, kept.tolist(), strict=True) if keep]
        if not cases:
            return []
        level = max(self.found.greatest, -1e300)
        corners = self._terms(batch, batch.x[:, [0, 0, 1, 1]], batch.q[:, [0, 1, 0, 1]])
        y, z, shares = self._weights(corners, level, cases)
        above = self._proved(corners, level, y, z)
        bounds = level + above / np.where(above > 0, batch.q[:, 0], batch.q[:, 1])
        bounds = as_bound(bounds + 8 * _EPS * (np.abs(level) + np.abs(bounds)))
        center = batch.x.mean(axis=1, keepdims=True), batch.q.mean(axis=1, keepdims=True)
        gains = self._gains(self._terms(batch, *center), y, z)
        self.found.take(gains[:, 0].argmax(axis=1).astype(np.int8))
        # What has just been divided without success is not divided again at once.
        poor = np.array([case.bound for case in cases]) - bounds < _POOR * (bounds - level)
        last = np.array([case.split for case in cases])
        needed = np.where(poor & (last >= 0), _ALWAYS, np.where(poor & (last >= BY_Q), _NEVER, _BY_CELL))
        split = self._splits(batch, level, y, z, above, shares, needed)
        return [
            replace(case, rows=rows, x=x, q=q, y=of_y, z=of_z, bound=min(case.bound, bound), split=how)
            for case, rows, x, q, of_y, of_z, bound, how in zip(
                cases,
                zip(batch.j.tolist(), batch.k.tolist(), strict=True),
                map(tuple, batch.x.tolist()),
                map(tuple, batch.q.tolist()),
                y.tolist(),
                z.tolist(),
                bounds.tolist(),
                split.tolist(),
                strict=True,
            )
        ]

    def _terms(self, batch: CaseArrays, x: Floats, q: Floats) -> _CornerTerms:
        """Return the terms at points, shape (n, c)."""
        table, far = self.table, x[:, :, None]
        a_j, a_k = table.masses[batch.j][:, None], table.masses[batch.k][:, None]
        needed = self.least + (1 - x) * table.slacks[batch.j][:, None] + x * table.slacks[batch.k][:, None]
        F = self._perspective(np.zeros_like(x), q), self._perspective(np.ones_like(x), q), self._perspective(x, q)
        return _CornerTerms(batch, x, q, F, (1 - far) * a_j + far * a_k, far * a_k, needed)

    def _perspective(self, u: Floats, q: Floats) -> Floats:
        """Return ``q f(u / q)``, rounded up."""
        f, ratio = self.utility.f, u / q
        ends = (np.asarray(f(ratio * (1 + s * _EPS)), dtype=float) for s in (-4, 4))
        greatest = np.maximum(*ends)
        result: Floats = q * greatest + 8 * _EPS * q * np.abs(greatest)
        return result

    def _gains(self, terms: _CornerTerms, y: Floats, z: Floats) -> Floats:
        """Return the terms of every symbol in every state, shape (n, c, 3, N)."""
        allowed = terms.batch.allowed[:, None]
        F_0, F_1, F_x = (values[:, :, None] * self.prior for values in terms.F)
        paid, weight = self.multipliers + z[:, None, None] * self.prior, y[:, None, None]
        gains = np.empty((*terms.x.shape, 3, self.prior.size))
        gains[:, :, OUTSIDE] = F_0
        gains[:, :, IN] = F_1 - paid + weight * terms.weight_in
        gains[:, :, BETWEEN] = F_x - terms.x[:, :, None] * paid + weight * terms.weight_between
        return np.where(allowed, gains, -math.inf)

    def _weights(self, terms: _CornerTerms, level: float, cases: list[Case]) -> tuple[Floats, Floats, Floats]:
        """Return y and z of a low bound, by the ellipsoid method, and how often symbols had each state, (n, 3, N)."""
        n, center = len(cases), np.array([(case.y, case.z) for case in cases])
        rows, shape = np.arange(n), np.zeros((n, 2, 2))
        shape[:, 0, 0], shape[:, 1, 1] = 4 * (0.3 + center[:, 0]) ** 2, 4 * self._scale**2
        best, at, shares = np.full(n, math.inf), center.copy(), np.zeros((n, 3, self.prior.size))
        for step in range(_STEPS):
            y, z = np.maximum(center[:, 0], 0.0), center[:, 1]
            gains = self._gains(terms, y, z)
            values = gains.max(axis=2).sum(axis=2) + (z[:, None] - level) * terms.q - y[:, None] * terms.needed
            corner = values.argmax(axis=1)
            value, state = values[rows, corner], gains[rows, corner].argmax(axis=1)
            inside, between = state == IN, state == BETWEEN
            weight = inside * terms.weight_in[rows, corner] + between * terms.weight_between[rows, corner]
            mass = (inside + terms.x[rows, corner, None] * between) @ self.prior
            slope = np.stack([weight.sum(axis=1) - terms.needed[rows, corner], terms.q[rows, corner] - mass], axis=1)
            if 2 * step >= _STEPS:
                shares += np.stack([state == OUTSIDE, inside, between], axis=1)
            at = np.where((value < best)[:, None], np.stack([y, z], axis=1), at)
            best = np.minimum(best, value)
            negative = center[:, 0] < 0
            slope[negative] = (-1.0, 0.0)
            center, shape = _cut(center, shape, slope, np.where(negative, 0.0, value - best))
        return at[:, 0], at[:, 1], shares / shares.sum(axis=1, keepdims=True)

    def _proved(self, terms: _CornerTerms, level: float, y: Floats, z: Floats) -> Floats:
        """Return the greatest bound of G over the points of each case, rounded up."""
        gains = self._gains(terms, y, z).max(axis=2).sum(axis=2)
        values = gains + (z[:, None] - level) * terms.q - y[:, None] * terms.needed
        sizes = np.abs(np.stack(terms.F)).sum(axis=0)
        sizes += np.abs(self.multipliers).sum() + (np.abs(z) + np.abs(z - level))[:, None]
        weights = terms.weight_in.sum(axis=2) + terms.weight_between.sum(axis=2) + 3 + np.abs(terms.needed)
        error = 8 * (self.prior.size + 16) * _EPS * (sizes + y[:, None] * weights)
        return as_bound((values + error).max(axis=1))

    def _splits(
        self, batch: CaseArrays, level: float, y: Floats, z: Floats, above: Floats, shares: Floats, needed: Floats
    ) -> Indices:
        """Return how each case is divided: by a chord or a cell, where that makes the bound, or by a symbol."""
        x, q = (np.repeat(side.mean(axis=1, keepdims=True), 2, axis=1) for side in (batch.x, batch.q))
        at_x = self._proved(self._terms(batch, x, batch.q), level, y, z)
        at_q = self._proved(self._terms(batch, batch.x, q), level, y, z)
        undecided = batch.allowed.sum(axis=1) > 1
        scores = np.where(undecided, (1 - shares.max(axis=1)) * (self.prior + np.abs(self.multipliers)), 0.0)
        certain = scores.max(axis=1) <= 0
        by_symbol = np.where(certain, undecided.argmax(axis=1), scores.argmax(axis=1))
        by_symbol = np.where(undecided.any(axis=1), by_symbol, NOT_DIVIDED)
        wide_x, wide_q = (side[:, 1] - side[:, 0] > _EDGE for side in (batch.x, batch.q))
        by_cell = np.where(wide_x & ((at_x <= at_q) | ~wide_q), BY_X, np.where(wide_q, BY_Q, NOT_DIVIDED))
        lost = above - np.minimum(at_x, at_q)
        split = np.where((by_cell != NOT_DIVIDED) & ((lost > needed * above) | certain), by_cell, by_symbol)
        # What a chord adds to the least mean of sets of the masses in the middle.
        inner, outer = shares[:, IN] @ self.prior, (shares[:, IN] + shares[:, BETWEEN]) @ self.prior
        by_inner = y * (1 - x[:, 0]) * self._added(batch.j, inner)
        by_outer = y * x[:, 0] * self._added(batch.k, outer)
        chord = np.maximum(by_inner, by_outer)
        divided = (chord > _BY_CHORD * above) | ((split == NOT_DIVIDED) & (chord > 0))
        result: Indices = np.where(divided, np.where(by_inner >= by_outer, BY_INNER, BY_OUTER), split)
        return result

    def _added(self, rows: Indices, mass: Floats) -> Floats:
        """Return how far chords are above f, at masses within their ends; 0 for pieces, above 0 for all chords."""
        table = self.table
        chords = np.array([table.halves[row] is not None for row in rows.tolist()])
        slopes = table.masses.sum(axis=1)
        inside = np.clip(mass, table.first[rows], table.last[rows])
        pieces = slice(0, 1 + table.pieces)
        f = (inside[:, None] * slopes[pieces] - table.slacks[pieces]).max(axis=1)
        return np.where(chords, np.maximum(inside * slopes[rows] - table.slacks[rows] - f, 1e-15), 0.0)


def _cut(center: Floats, shape: Floats, slope: Floats, excess: Floats) -> tuple[Floats, Floats]:
    """Return the least ellipses that hold what cuts leave of ellipses in the plane."""
    moved = np.einsum("nij,nj->ni", shape, slope)
    size = np.sqrt(np.maximum((slope * moved).sum(axis=1), 1e-200))
    moved /= size[:, None]
    depth = np.clip(excess / size, 0.0, 0.9)[:, None]
    center = center - (1 + 2 * depth) / 3 * moved
    depth = depth[:, :, None]
    outer = moved[:, :, None] * moved[:, None]
    return center, 4 / 3 * (1 - depth**2) * (shape - 2 * (1 + 2 * depth) / (3 * (1 + depth)) * outer)
