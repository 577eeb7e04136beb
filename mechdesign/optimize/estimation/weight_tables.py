"""Quadratic forms over rays of kinds A and D, priced by tables over the weights of sets.

Rays of kinds A and D have two values. For a set S of mass p the two values a > b depend on p alone, and

    sum_i d_i (v_i - 1)^2 - lambda_i v_i  =  (terms of b) + (a - b) sum over S of (d_i sigma - lambda_i),

with ``sigma = a + b - 2``. A common number B < 0 adds ``B z^2 <= kappa z + kappa^2 / (4 |B|)`` for every kappa, where
``z = sum_i (v_i - 1)``, and this is again linear in S. So one table over the weights of sets, at one (sigma, kappa),
bounds every weight. The greatest sum over sets of one weight is convex in (sigma, kappa): between two tables it is at
most their interpolation. Tables are added where the bound is greatest. Where kappas leave a bound far above what
columns reach, as sets of one weight differ in size, `count_tables` goes on.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.count_tables import TwoLevelPrices
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)
_FIRST_TABLES = 7
_CLOSED = 1e-10  # relative to the sizes of the terms: tables are not added for less
_MOST_KAPPAS = 6
_ENTRIES = 3e8  # of all tables
_COLUMNS = 8  # of a piece between two tables
_SPREAD = 0.02  # relative to the total: columns of values this near the greatest are kept

Levels = Callable[[Floats], tuple[Floats, Floats, Floats]]


def levels_a(cone: L1Cone[float]) -> Levels:
    """Return the values of kind A on S and off it for masses of S, with ``<P, v> = 1``, and their errors.

    With a cap the values off heavier sets than those of kind A are 0, before images are taken.
    """

    def of(mass: Floats) -> tuple[Floats, Floats, Floats]:
        beyond = mass > cone.heaviest_ab
        scale = np.where(beyond, 1.0, cone.mass_of_whole_a(mass))
        on, off = cone.whole_a(mass)
        on, off = np.where(beyond, 1 / np.maximum(mass, cone.heaviest_ab), on / scale), np.maximum(off, 0.0) / scale
        return _images(cone, on, off, 16 * _EPS * (1 + on) * (1 + 1 / scale))

    return of


def _images(cone: L1Cone[float], on: Floats, off: Floats, error: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the values of images of columns with two values, and their errors: no slope of theirs is above 1."""
    if cone.least == 0:
        return on, off, error
    scale = 1 - cone.least + cone.least * on
    return on / scale, ((1 - cone.least) * off + cone.least * on) / scale, 2 * error + 16 * _EPS * on


def levels_d(cone: L1Cone[float]) -> Levels:
    """Return the values of kind D likewise."""

    def of(mass: Floats) -> tuple[Floats, Floats, Floats]:
        scale = 1 + (cone.e - 1) * mass
        return _images(cone, cone.e / scale, 1 / scale, 16 * _EPS * cone.e / scale)

    return of


def least_kappa(common: float, kappa: float, look: Callable[[float], tuple[float, float]]) -> float:
    """Return about the kappa of the least ``h(kappa) + kappa^2 / (4 |B|)``, where h is the greatest of some lines.

    Each column is a line in kappa, whose slope is its z. The least is between the kappas that two columns would have by
    themselves, or where their lines meet.

    Parameters
    ----------
    common : float
        B, below 0.
    kappa : float
        Where to begin.
    look : callable
        Returns z of a greatest line at a kappa, and its height ``h(kappa)``.

    Examples
    --------
    The lines of slope 1 and -3 meet at kappa = 0.5:

    >>> least_kappa(-1.0, 3.0, lambda kappa: max((2 - 3 * kappa, -3.0), (kappa, 1.0))[::-1])
    0.5
    """
    lines: dict[bool, tuple[float, float]] = {}
    best, least = kappa, np.inf
    for _ in range(_MOST_KAPPAS):
        z, height = look(kappa)
        own, whole = 2 * common * z, height - kappa * kappa / (4 * common)
        best, least = (kappa, whole) if whole < least else (best, least)
        # A steeper line has a smaller kappa of its own.
        lines[own < kappa] = (z, height - kappa * z)
        if abs(own - kappa) <= 1e-9 * (abs(own) + abs(kappa)):
            break
        moved = own
        if len(lines) == 2 and lines[True][0] != lines[False][0]:
            (steep, high), (flat, low) = lines[True], lines[False]
            moved = min(max((low - high) / (steep - flat), 2 * common * steep), 2 * common * flat)
        if abs(moved - kappa) <= 1e-9 * (abs(moved) + abs(kappa)):
            break
        kappa = moved
    return best


@dataclass(frozen=True, order=True)
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

    def price(
        self,
        form: QuadraticForm,
        multipliers: Floats,
        found: Found,
        most_tables: int,
        near: float,
        deadline: float | None = None,
    ) -> None:
        """Raise the bound of what has been found to one for all columns of this kind, and add good columns.

        Tables are added while the bound is more than `near` above what is reached, at most so many, and fewer if they
        are large, and none after the deadline.
        """
        _Pricing(self, form, multipliers, found).run(most_tables, near, deadline)


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
        self.spread = _SPREAD * abs(float(multipliers.sum()) + max(found.reached, 0.0))
        self.tables: list[_Table] = []
        self.filled = 0

    def run(self, most_tables: int, near: float, deadline: float | None) -> None:
        """Fill tables where the bound between two is greatest, until it is near what columns reach, or all are."""
        last = self.on.size - 1
        most_tables = min(most_tables, int(_ENTRIES / (self.on.size * self.multipliers.size)))
        for weight in sorted({round(last * k / (_FIRST_TABLES - 1)) for k in range(_FIRST_TABLES)}):
            insort(self.tables, self._table(weight, last, self._kappa(weight)))
            self._column_at(self.tables[-1])
        closest: set[int] = set()
        pieces = [self._piece(k) for k in range(max(1, len(self.tables) - 1))]
        while self.filled < most_tables and not time_is_up(deadline):
            k = max(range(len(pieces)), key=lambda k: pieces[k][0])
            upper, weight = pieces[k]
            level = max(self.found.reached, self.found.upper) + near + _CLOSED * self.size
            if upper <= level or weight in closest:
                break
            closest.add(weight)
            end = next((j for j in (k, k + 1) if j < len(self.tables) and self.tables[j].weight == weight), None)
            if end is None:
                insort(self.tables, self._closest(self._table(weight, self.tables[k + 1].weight, self._kappa(weight))))
                pieces[k : k + 1] = [self._piece(k), self._piece(k + 1)]
            else:
                self.tables[end] = self._closest(self.tables[end])
                for j in (end - 1, end):
                    if 0 <= j < len(pieces):
                        pieces[j] = self._piece(j)
        greatest = max(upper for upper, _ in pieces)
        if self.form.common < 0 and greatest > max(self.found.reached, self.found.upper) + near:
            greatest = self._by_size().lowered(self._of_weights(), self.found, near, deadline)
        self.found.upper = max(self.found.upper, greatest)
        self.found.looked_at += self.filled

    def _of_weights(self) -> Floats:
        """Return the bound for each weight."""
        bounds = np.full(self.on.size, np.inf)
        for k in range(max(1, len(self.tables) - 1)):
            part, upper, _ = self._between(k)
            bounds[part] = np.minimum(bounds[part], upper)
        return bounds

    def _by_size(self) -> TwoLevelPrices:
        """Return what tables by weight and size need."""
        N = self.multipliers.size
        slack = self.slope * self.error + (8 * N + 64) * _EPS * self.size
        return TwoLevelPrices(
            self.kind.symbols.weights,
            self.form,
            self.multipliers,
            self.on,
            self.off,
            self.error,
            self.of_off + slack,
            self._column,
        )

    def _between(self, k: int) -> tuple[slice, Floats, NDArray[np.bool_]]:
        """Return the weights between two neighbouring tables, their bounds, and those that no set has."""
        first, second = self.tables[k], self.tables[min(k + 1, len(self.tables) - 1)]
        part = slice(first.weight, second.weight + 1)
        sigma, span = self.sigma[part], second.sigma - first.sigma
        share = np.clip((sigma - first.sigma) / span, 0.0, 1.0) if span != 0 else np.zeros(sigma.size)
        best = [-table.sets.best[part] for table in (first, second)]
        missing = np.isinf(best[0])
        inside = np.where(missing, 0.0, best[0]) * (1 - share) + np.where(missing, 0.0, best[1]) * share
        kappa = first.kappa * (1 - share) + second.kappa * share
        # Where kappas of both signs cancel, their rounding errors do not.
        largest = abs(first.kappa) * (1 - share) + abs(second.kappa) * share
        bounds = self._bounds(part, inside, kappa, largest)
        bounds[missing] = -np.inf
        return part, bounds, missing

    def _piece(self, k: int) -> tuple[float, int]:
        """Return the greatest bound over the weights between two neighbouring tables, and where it is."""
        first, second = self.tables[k], self.tables[min(k + 1, len(self.tables) - 1)]
        _, bounds, missing = self._between(k)
        at = int(np.argmax(bounds))
        if not missing[at]:
            for table in {first.weight: first, second.weight: second}.values():
                self._column(table.sets.members(first.weight + at))
        for turn, near in enumerate(np.array_split(np.arange(bounds.size), _COLUMNS)):
            # The best weight in each part of the piece, for more columns.
            best_here = int(near[np.argmax(bounds[near])]) if near.size else at
            if bounds[best_here] > self.found.reached - self.spread and not missing[best_here]:
                table = first if turn < _COLUMNS // 2 else second
                self._column(table.sets.members(first.weight + best_here))
        return float(bounds[at]), first.weight + at

    def _bounds(self, part: slice, inside: Floats, kappa: Floats, largest: Floats) -> Floats:
        """Return upper bounds from the greatest sums over S, with the size of the kappas that went into them."""
        N, common = self.multipliers.size, self.form.common
        on, off = self.on[part], self.off[part]
        curved = np.zeros(on.size)
        if common < 0:
            curved = kappa * N * (off - 1) - kappa**2 / (4 * common)
        sizes = self.size + N * largest * (self.top + 1) + np.abs(curved)
        slack = (self.slope + N * np.abs(kappa)) * self.error[part] + (8 * N + 64) * _EPS * sizes
        return as_bound(self.of_off[part] + (on - off) * inside + curved + slack)

    # Tables

    def _table(self, weight: int, capacity: int, kappa: float) -> _Table:
        """Return the table of one weight's sigma and some kappa, for all weights up to a capacity."""
        sets, sigma = CheapestSets(capacity), float(self.sigma[weight])
        values = self.form.diagonal * sigma - self.multipliers + kappa
        for i, heavy in enumerate(self.kind.symbols.weights):
            sets.add(i, heavy, -float(values[i]))
        self.filled += 1
        return _Table(weight, sigma, kappa, sets)

    def _closest(self, table: _Table) -> _Table:
        """Return the table of the same weight whose kappa gives the least bound there."""
        self._column_at(table)
        best, weight = table, table.weight
        if self.form.common >= 0 or np.isinf(table.sets.best[weight]):
            return table
        on, off = self.on[weight], self.off[weight]

        def look(kappa: float) -> tuple[float, float]:
            nonlocal best
            tried = table if kappa == table.kappa else self._table(weight, table.sets.best.size - 1, kappa)
            self._column_at(tried)
            best = min(best, tried, key=self._at)
            height = kappa * self.multipliers.size * (off - 1) - (on - off) * float(tried.sets.best[weight])
            return float(self._z(weight, len(tried.sets.members(weight)))), height

        least_kappa(self.form.common, table.kappa, look)
        return best

    def _at(self, table: _Table) -> float:
        """Return the bound of a table at its own weight."""
        part = slice(table.weight, table.weight + 1)
        kappa = np.array([table.kappa])
        return float(self._bounds(part, -table.sets.best[part], kappa, np.abs(kappa))[0])

    def _z(self, weight: int, members: int | Floats) -> Floats:
        N, on, off = self.multipliers.size, self.on[weight], self.off[weight]
        result: Floats = N * (off - 1) + np.asarray(members) * (on - off)
        return result

    def _kappa(self, weight: int) -> float:
        """Return the kappa of the least bound at one weight if sets may hold a symbol in part."""
        if self.form.common >= 0:
            return 0.0
        values = self.form.diagonal * self.sigma[weight] - self.multipliers
        N, P, w = self.multipliers.size, self.kind.prior, weight / self.kind.symbols.total
        kappas = 2 * self.form.common * self._z(weight, np.arange(2 * N + 1) / 2)
        items = values + kappas[:, None]
        likely = P > 0
        sums = np.maximum(items[:, ~likely], 0.0).sum(axis=1)
        order = np.argsort(-items[:, likely] / P[likely], axis=1)
        before = np.cumsum(P[likely][order], axis=1) - P[likely][order]
        share = np.clip((w - before) / P[likely][order], 0.0, 1.0)
        sums += (share * np.take_along_axis(items[:, likely], order, axis=1)).sum(axis=1)
        heights = (self.on[weight] - self.off[weight]) * sums - kappas**2 / (4 * self.form.common)
        heights += kappas * N * (self.off[weight] - 1)
        return float(kappas[int(np.argmin(heights))])

    def _column_at(self, table: _Table) -> None:
        if not np.isinf(table.sets.best[table.weight]):
            self._column(table.sets.members(table.weight))

    def _column(self, members: list[int]) -> None:
        mass = float(self.kind.prior[members].sum())
        if mass <= self.kind.most:
            on, off, _ = self.kind.levels(np.array([mass]))
            v = np.full(self.multipliers.size, off[0])
            v[members] = on[0]
            self.found.add(v / (self.kind.prior @ v))
