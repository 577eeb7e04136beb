"""Quadratic forms over rays of two values: kinds A and D.

For a set S of mass p the two values a > b depend on p alone, and

    sum_i d_i (v_i - 1)^2 - lambda_i v_i  =  (terms of b) + (a - b) sum over S of (d_i sigma - lambda_i),

with ``sigma = a + b - 2``. A common number B < 0 adds ``B z^2 <= kappa z + kappa^2 / (4 |B|)`` for every kappa, where
``z = sum_i (v_i - 1)``, and this is again linear in S. So one table over the weights of sets, at one (sigma, kappa),
bounds every weight. The greatest sum over sets of one weight is convex in (sigma, kappa): between two tables it is at
most their interpolation. Tables are added where the bound is greatest.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.bounds import as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.counted import CountedSymbols
from mechdesign.optimize.estimation.found import Found
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)
_FIRST_TABLES = 7
_CLOSED = 1e-7  # relative to the sizes of the terms: tables are not added for less

Levels = Callable[[Floats], tuple[Floats, Floats, Floats]]


def levels_a(cone: L1Cone[float]) -> Levels:
    """Return the values of kind A on S and off it for masses of S, with ``<P, v> = 1``, and their errors."""

    def of(mass: Floats) -> tuple[Floats, Floats, Floats]:
        scale = (1 - mass) + cone.c * mass * cone.t
        on, off = cone.whole_a(mass)
        on, off = on / scale, np.maximum(off, 0.0) / scale
        return on, off, 16 * _EPS * (1 + on) * (1 + 1 / scale)

    return of


def levels_d(cone: L1Cone[float]) -> Levels:
    """Return the values of kind D likewise."""

    def of(mass: Floats) -> tuple[Floats, Floats, Floats]:
        scale = 1 + (cone.e - 1) * mass
        return cone.e / scale, 1 / scale, 16 * _EPS * cone.e / scale

    return of


@dataclass(order=True)
class _Table:
    """The least costs of sets for one weight's sigma, and one kappa."""

    weight: int
    sigma: float = field(compare=False)
    kappa: float = field(compare=False)
    sets: CheapestSets = field(compare=False)


@dataclass(frozen=True, eq=False)
class TwoLevels:
    """One kind of two-valued columns of a cone.

    Attributes
    ----------
    symbols : CountedSymbols
        The weights.
    prior : array, shape (N,)
        P.
    levels : callable
        `levels_a` or `levels_d` of the cone: both values fall as the mass grows.
    most : float
        The greatest mass of S.
    """

    symbols: CountedSymbols
    prior: Floats
    levels: Levels
    most: float

    def price(self, form: QuadraticForm, multipliers: Floats, found: Found, most_tables: int) -> None:
        """Raise the bound of what has been found to one for all columns of this kind, and add good columns."""
        _Pricing(self, form, multipliers, found).run(most_tables)


class _Pricing:
    """One form and one lambda."""

    def __init__(self, kind: TwoLevels, form: QuadraticForm, multipliers: Floats, found: Found) -> None:
        self.kind, self.form, self.multipliers, self.found = kind, form, multipliers, found
        most = min(kind.most, 1.0)
        weights = np.arange(kind.symbols.heaviest(most) + 1)
        lightest, heaviest = kind.symbols.masses(weights, most)
        high, low = kind.levels(lightest), kind.levels(heaviest)
        self.on, self.off = (high[0] + low[0]) / 2, (high[1] + low[1]) / 2
        apart = np.maximum(high[0] - low[0], high[1] - low[1]) / 2
        self.error = apart + high[2] + low[2]
        self.sigma = self.on + self.off - 2
        d, lam = form.diagonal, multipliers
        self.top = float(self.on.max()) + 1
        self.of_off = d.sum() * (self.off - 1) ** 2 - lam.sum() * self.off
        self.slope = float((2 * np.abs(d) * self.top + np.abs(lam)).sum())
        self.size = float((np.abs(d) * (self.top + 1) ** 2 + np.abs(lam) * self.top).sum())
        self.tables: list[_Table] = []

    def run(self, most_tables: int) -> None:
        last = self.on.size - 1
        for weight in sorted({round(last * k / (_FIRST_TABLES - 1)) for k in range(_FIRST_TABLES)}):
            self._add(weight, last)
        pieces = [self._piece(k) for k in range(max(1, len(self.tables) - 1))]
        while len(self.tables) < most_tables:
            k = max(range(len(pieces)), key=lambda k: pieces[k][0])
            upper, weight = pieces[k]
            ends = {table.weight for table in self.tables[k : k + 2]}
            level = max(self.found.reached, self.found.upper)
            if upper <= level + _CLOSED * self.size * 1e-3 or weight in ends:
                break
            self._add(weight, self.tables[k + 1].weight)
            pieces[k : k + 1] = [self._piece(k), self._piece(k + 1)]
        self.found.upper = max(self.found.upper, *(upper for upper, _ in pieces))

    def _piece(self, k: int) -> tuple[float, int]:
        """Return the greatest bound over the weights between two neighbouring tables, and where it is."""
        first, second = self.tables[k], self.tables[min(k + 1, len(self.tables) - 1)]
        part = slice(first.weight, second.weight + 1)
        sigma, span = self.sigma[part], second.sigma - first.sigma
        share = np.clip((sigma - first.sigma) / span, 0.0, 1.0) if span != 0 else np.zeros(sigma.size)
        best = [-table.sets.best[part] for table in (first, second)]
        missing = np.isinf(best[0])
        inside = np.where(missing, 0.0, best[0]) * (1 - share) + np.where(missing, 0.0, best[1]) * share
        kappa = first.kappa * (1 - share) + second.kappa * share
        bounds = self._bounds(part, inside, kappa)
        bounds[missing] = -np.inf
        at = int(np.argmax(bounds))
        if not missing[at]:
            for table in {first.weight: first, second.weight: second}.values():
                self._column(table.sets.members(first.weight + at))
        return float(bounds[at]), first.weight + at

    def _bounds(self, part: slice, inside: Floats, kappa: Floats) -> Floats:
        """Return upper bounds from the greatest sums over S."""
        N, common = self.multipliers.size, self.form.common
        on, off = self.on[part], self.off[part]
        curved = np.zeros(on.size)
        if common < 0:
            curved = kappa * N * (off - 1) - kappa**2 / (4 * common)
        sizes = self.size + N * np.abs(kappa) * self.top + np.abs(curved)
        slack = (self.slope + N * np.abs(kappa)) * self.error[part] + (8 * N + 64) * _EPS * sizes
        return as_bound(self.of_off[part] + (on - off) * inside + curved + slack)

    # Tables

    def _add(self, weight: int, capacity: int) -> None:
        """Add the table of one weight's sigma, for all weights up to a capacity."""
        sigma = float(self.sigma[weight])
        values = self.form.diagonal * sigma - self.multipliers
        kappa = self._kappa(weight, values) if self.form.common < 0 else 0.0
        table = self._table(weight, sigma, kappa, capacity)
        for _ in range(3 if self.form.common < 0 else 0):
            # The slope of the bound in kappa is z of the best set, less that at which kappa touches B z^2.
            if np.isinf(table.sets.best[weight]):
                break
            z = self._z(weight, len(table.sets.members(weight)))
            moved = (kappa + 2 * self.form.common * z) / 2
            if abs(moved - kappa) <= 1e-3 * abs(kappa):
                break
            other = self._table(weight, sigma, moved, capacity)
            if self._at(other) >= self._at(table):
                break
            table, kappa = other, moved
        insort(self.tables, table)
        if not np.isinf(table.sets.best[weight]):
            self._column(table.sets.members(weight))

    def _table(self, weight: int, sigma: float, kappa: float, capacity: int) -> _Table:
        sets = CheapestSets(capacity)
        values = self.form.diagonal * sigma - self.multipliers + kappa
        for i, heavy in enumerate(self.kind.symbols.weights):
            sets.add(i, heavy, -float(values[i]))
        return _Table(weight, sigma, kappa, sets)

    def _at(self, table: _Table) -> float:
        """Return the bound of a table at its own weight."""
        part = slice(table.weight, table.weight + 1)
        return float(self._bounds(part, -table.sets.best[part], np.array([table.kappa]))[0])

    def _z(self, weight: int, members: int | Floats) -> Floats:
        N, on, off = self.multipliers.size, self.on[weight], self.off[weight]
        result: Floats = N * (off - 1) + np.asarray(members) * (on - off)
        return result

    def _kappa(self, weight: int, values: Floats) -> float:
        """Return the kappa of the least bound at one weight if sets may hold a symbol in part."""
        N, P, w = self.multipliers.size, self.kind.prior, weight / self.kind.symbols.total
        kappas = 2 * self.form.common * self._z(weight, np.arange(2 * N + 1) / 2)
        items = values + kappas[:, None]
        likely = P > 0
        sums = np.maximum(items[:, ~likely], 0.0).sum(axis=1)
        order = np.argsort(-items[:, likely] / P[likely], axis=1)
        before = np.cumsum(P[likely][order], axis=1) - P[likely][order]
        share = np.clip((w - before) / P[likely][order], 0.0, 1.0)
        sums += (share * np.take_along_axis(items[:, likely], order, axis=1)).sum(axis=1)
        part = slice(weight, weight + 1)
        heights = [float(self._bounds(part, s[None], k[None])[0]) for s, k in zip(sums, kappas, strict=True)]
        return float(kappas[int(np.argmin(heights))])

    def _column(self, members: list[int]) -> None:
        mass = float(self.kind.prior[members].sum())
        if mass <= self.kind.most:
            on, off, _ = self.kind.levels(np.array([mass]))
            v = np.full(self.multipliers.size, off[0])
            v[members] = on[0]
            self.found.add(v / (self.kind.prior @ v))
