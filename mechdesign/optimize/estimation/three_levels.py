"""Quadratic forms over rays of kind C: g/q on a set S, 1/q on a set S', and 0 elsewhere.

With a = P(S) and b = P(S) + P(S'), ``g = e (b - t)`` and ``q = b + (g - 1) a``. For fixed sets the form, less its value
at 0, is a quadratic function V of the point ``(g/q, 1/q)``. That point runs along a straight line as b varies and a is
fixed, and along a ray from 0 as a varies and b is fixed. So over a rectangle of (a, b) a convex V is at most the
interpolation of its values at the four corners.

At a corner every symbol has a value for each of its three places. A multiplier kappa of the mass of S' leaves one
condition, the weight of S, and one short table over the rare symbols, since S has mass at most t, holds the greatest
sum for every weight. `KappaLines` finds a kappa for each corner. Between the two sides of b both the interpolated
kappa and b move, and with the share s of the side of kappa_2, their product is above its interpolation by
``s (1 - s) (kappa_1 - kappa_2)`` times the width. Rectangles whose bound is above the level of the other kinds are
divided, or one symbol, the one of which kappa would take a fraction, is put inside S and S' or outside.

A common number B < 0 adds ``B z^2 <= tau z + tau^2 / (4 |B|)`` for every number tau, where ``z = sum_i (v_i - 1)``.
Each rectangle has a tau of its own, its tilt, which is taken from lambda.

With a cap, images of such columns are meant: ``g/q``, ``(k g + 1 - k)/q`` and ``k g/q``, linear functions of the point
``(g/q, 1/q)`` with ``q = (1 - k) (b + (g - 1) a) + k g``, where k is the cone's least. All of this holds for them, with
the form less its value at ``k g/q`` for each symbol.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.optimize.capped_cone import with_least
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.counted import CountedSymbols, Found, moves, subset_sums
from mechdesign.optimize.estimation.kappa_lines import BestKappa, KappaLines
from mechdesign.optimize.l1_cone import L1Cone

_EPS = float(np.finfo(float).eps)
_OUT, _MID, _HIGH = 1, 2, 4
_NARROW = 1e-7  # a point, of masses that are rounded
_DECIDED = -2  # in place of a symbol to divide by
_MOST_IN_TABLES = 150_000  # entries of the tables of cases that are bounded together
_MOST_TOGETHER = 128
_ENTRIES_OF_CASE = 20_000  # what a case takes beside its tables, in entries of tables
_COLUMNS_OF_BATCH = 6
_HALVINGS = 6
_WORTH = 0.1  # of a symbol that is cut, over the width of a rectangle: others of about its gain can take its place

Indices = NDArray[np.int64]


@dataclass(eq=False)
class _Cases:
    """Rectangles of the weight of S and of b, each with the places that every symbol may have.

    Weights are told by their positions among all sums of weights.
    """

    first: Indices
    last: Indices
    low: Floats
    high: Floats
    places: NDArray[np.uint8]
    upper: Floats
    kappa: Floats
    lack: Floats
    tilt: Floats
    weight: Indices
    cut: Indices

    def only(self, which: NDArray[np.generic]) -> _Cases:
        return _Cases(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: list[_Cases]) -> _Cases:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class ThreeLevels:
    """The columns of kind C of a cone with ``0 < t < 1``.

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
        work: float,
        near: float,
        deadline: float | None = None,
    ) -> None:
        """Raise the bound of what has been found to one for all columns of kind C, and add good columns.

        Bounds within `near` of what other kinds reach are not
        lowered further, about so many entries of tables are filled, and cases stay whole after the deadline.
        """
        _LevelSearch(self, form, multipliers, found).run(work, near, deadline)


class _LevelSearch:
    """One form and one lambda."""

    def __init__(self, kind: ThreeLevels, form: QuadraticForm, multipliers: Floats, found: Found) -> None:
        self.cone, self.symbols, self.found = kind.cone, kind.symbols, found
        self.d, self.lam, self.P = form.diagonal, multipliers, kind.cone.P
        self.common = min(form.common, 0.0)
        self.weights = np.array(kind.symbols.weights, dtype=np.int64)
        self.heaviest = kind.symbols.heaviest(kind.cone.t)
        self.rare = np.flatnonzero(self.weights <= self.heaviest)
        self.rare = self.rare[np.argsort(self.weights[self.rare], kind="stable")]
        self.reachable = subset_sums(self.weights[self.rare], self.heaviest)
        self.masses = np.minimum(self.reachable / kind.symbols.total, kind.cone.t)
        self.all_masses = subset_sums(self.weights, int(self.weights.sum())) / kind.symbols.total
        self.moves = [moves(self.reachable, int(w)) for w in self.weights[self.rare]]
        e, t, N, off = kind.cone.e, kind.cone.t, self.P.size, kind.symbols.off
        top = min(e, 1 / max(kind.cone.least, 1e-300))
        size = float((np.abs(self.d) * (top + 2) ** 2 + np.abs(self.lam) * top).sum())
        slope = float((2 * np.abs(self.d) * (top + 1) + np.abs(self.lam)).sum())
        moved = 32 * _EPS * (3 + 2 * t * e) + 2 * e * off / kind.cone.lightest_support_c
        self.size, self.near = size, 0.0
        self.rounding, self.moved = (8 * N + 64) * _EPS, min(moved, 1.0) * top
        self.slack = self.rounding * size + slope * self.moved
        self.top = top
        self.curved = float(np.maximum(-self.d, 0.0).sum())
        self.base = float(self.d.sum())

    def run(self, work: float, near: float, deadline: float | None) -> None:
        """Split cases, the greatest bound first, until all bounds are near what columns reach, or the work is done."""
        self.near = near
        if self.rare.size == 0:
            return
        least = max(self.cone.lightest_support_c - RAY_EDGE - self.symbols.off, float(np.finfo(float).tiny))
        if least > 1:
            return
        places = np.full((1, self.P.size), _OUT | _MID, dtype=np.uint8)
        places[:, self.rare] |= _HIGH
        last = np.array([self.reachable.size - 1])
        whole = self._cases(0 * last, last, np.array([least]), np.ones(1), places, np.array([np.inf]), np.zeros(1))
        cases = self._bounded(whole)
        looked_at = 1
        # Work is limited by entries of tables, so that the same prices always come out.
        most_cases = int(work / (4 * self.reachable.size * self.P.size + _ENTRIES_OF_CASE)) + 1
        together = max(1, min(_MOST_TOGETHER, _MOST_IN_TABLES // (4 * (self.reachable.size))))
        while cases.upper.size:
            cases = cases.only(cases.upper > self._level)
            if not cases.upper.size or looked_at >= most_cases or time_is_up(deadline):
                break
            order = np.argsort(-cases.upper, kind="stable")
            children = self._divided(cases.only(order[:together]))
            looked_at += children.upper.size
            parts = [
                self._bounded(children.only(np.arange(k, min(k + together, children.upper.size))))
                for k in range(0, children.upper.size, together)
            ]
            cases = _Cases.joined([cases.only(order[together:]), *parts])
        self.found.looked_at += looked_at
        self.found.upper = max(self._level, float(cases.upper.max(initial=-np.inf)))

    @property
    def _level(self) -> float:
        """Bounds at or below it need not be lower."""
        return max(self.found.upper, self.found.reached) + self.near

    def _cases(
        self,
        first: Indices,
        last: Indices,
        low: Floats,
        high: Floats,
        places: NDArray[np.uint8],
        upper: Floats,
        tilt: Floats,
    ) -> _Cases:
        """Return the cases that hold columns, narrowed to masses that their places allow."""
        room = 1e-9 + self.symbols.off
        low = np.maximum(low, ((places & _OUT) == 0) @ self.P - room)
        high = np.minimum(high, (places != _OUT) @ self.P + room)
        if self.symbols.off == 0:
            # b is the mass of some set, up to rounding.
            above = np.minimum(np.searchsorted(self.all_masses, low - room), self.all_masses.size - 1)
            below = np.maximum(np.searchsorted(self.all_masses, high + room, side="right") - 1, 0)
            low = np.maximum(low, self.all_masses[above] - self.rounding)
            high = np.minimum(high, self.all_masses[below] + self.rounding)
        count = len(places)
        zeros, nowhere = np.zeros(count), np.full(count, -1)
        cases = _Cases(first, last, low, high, places, upper, zeros, zeros, tilt, zeros.astype(np.int64), nowhere)
        return cases.only((low <= high) & (cases.first <= cases.last))

    # Division

    def _divided(self, cases: _Cases) -> _Cases:
        """Return the two halves of each case; one set of symbols in a point has no halves, and its bound is final."""
        e, t = self.cone.e, self.cone.t
        cut = self._cut(cases)
        whole = cut != _DECIDED
        self.found.upper = max(self.found.upper, float(cases.upper[~whole].max(initial=-np.inf)))
        cases, cut = cases.only(whole), cut[whole]
        g = np.maximum(e * (cases.high - t), 1.0)
        across = (1 + e * self.masses[cases.first]) * (cases.high - cases.low)
        along = (g - 1) * (self.masses[cases.last] - self.masses[cases.first])
        # A fraction of a symbol is worth less than a rectangle as wide as the symbol is heavy.
        heavy = np.where(cut >= 0, self.P[cut], 0.0)
        by_symbol = ((_WORTH * heavy > np.maximum(across, along)) | self._is_point(cases)) & (cut >= 0)
        by_weight = ~by_symbol & (along > across) & (cases.last > cases.first)
        lower, higher = cases.only(np.arange(cases.upper.size)), cases.only(np.arange(cases.upper.size))
        middle = (cases.first + cases.last) // 2
        lower.last = np.where(by_weight, middle, cases.last)
        higher.first = np.where(by_weight, middle + 1, cases.first)
        by_mass = ~by_symbol & ~by_weight
        half = (cases.low + cases.high) / 2
        lower.high = np.where(by_mass, half, cases.high)
        higher.low = np.where(by_mass, half, cases.low)
        rows = np.flatnonzero(by_symbol)
        lower.places[rows, cut[rows]] &= _OUT
        higher.places[rows, cut[rows]] &= _MID | _HIGH
        both = _Cases.joined([lower, higher])
        return self._cases(both.first, both.last, both.low, both.high, both.places, both.upper, both.tilt)

    def _is_point(self, cases: _Cases) -> NDArray[np.bool_]:
        """Return which cases have one weight of S and one mass of S and S', up to rounding."""
        width = 4 * self.rounding if self.symbols.off == 0 else _NARROW
        result: NDArray[np.bool_] = (cases.high - cases.low <= width) & (cases.last == cases.first)
        return result

    def _cut(self, cases: _Cases) -> Indices:
        """Return the symbol that each case may be divided by; in a point any that is not decided, or `_DECIDED`."""
        free = np.where((cases.places & _OUT > 0) & (cases.places != _OUT), self.P, -1.0)
        heaviest = np.where(free.max(axis=1) >= 0, free.argmax(axis=1), _DECIDED)
        result: Indices = np.where((cases.cut < 0) & self._is_point(cases), heaviest, cases.cut)
        return result

    # Bounds

    def _points(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return g/q and 1/q."""
        g, least = np.maximum(self.cone.top_c(b), 1.0), self.cone.least
        q = (1 - least) * (b + (g - 1) * a) + least * g
        return g / q, 1 / q

    def _values(self, high: Floats, mid: Floats, tilt: Floats) -> tuple[Floats, Floats, Floats]:
        """Return for every symbol what S and S' add to the form outside, and this less ``phi_i(0)``, shape (..., N)."""
        least = self.cone.least
        lam = self.lam - tilt[..., None]
        on, between, off = (
            y[..., None] * (self.d * (y[..., None] - 2) - lam)
            for y in (high, least * high + (1 - least) * mid, least * high)
        )
        return on - off, between - off, off

    def _of_tilt(self, tilt: Floats) -> Floats:
        """Return what ``B z^2 <= tilt z + tilt^2 / (4 |B|)`` adds beside ``tilt sum(v)``, and the rounding errors."""
        if self.common == 0:
            return np.zeros_like(tilt)
        N, curved = self.P.size, tilt**2 / (4 * -self.common)
        sizes = N * np.abs(tilt)
        return curved - N * tilt + self.rounding * (curved + sizes * (self.top + 2)) + sizes * self.moved

    def _bounded(self, cases: _Cases) -> _Cases:
        """Return cases with their bounds, where the bounds are attained, and the symbols to divide them by."""
        if not cases.upper.size:
            return cases
        self._tilt(cases)
        self._kappas(cases)
        heights = self._heights(cases, self._at_corners(cases))
        cases.weight = np.argmax(heights, axis=1)
        cases.upper = np.minimum(cases.upper, heights.max(axis=1))
        for k in np.argsort(-cases.upper, kind="stable")[:_COLUMNS_OF_BATCH]:
            if cases.upper[k] > max(self.found.upper, self.found.reached):
                self._column(cases, int(k))
        return cases

    def _corners(self, cases: _Cases) -> tuple[Floats, Floats]:
        """Return a and b at the corners of each case, shape (K, 4): both a at the low b, and both at the high one."""
        ends = [self.masses[cases.first], self.masses[cases.last]]
        return np.stack([*ends, *ends], axis=1), np.stack([cases.low, cases.low, cases.high, cases.high], axis=1)

    def _heights(self, cases: _Cases, kappas: Floats) -> Floats:
        """Return a bound for each weight of S, shape (K, W), with kappas of corners; -inf where no set has it."""
        ends = [self.masses[cases.first], self.masses[cases.last]]
        masses = [cases.low, cases.high]
        high, mid = self._points(*self._corners(cases))
        tables = self._tables(cases, high, mid, kappas)
        weights = np.arange(tables.shape[2])
        a = self.masses[weights]
        inside = (weights >= cases.first[:, None]) & (weights <= cases.last[:, None])
        heights = np.full(inside.shape, -np.inf)
        at_sides = []
        for side, b in enumerate(masses):
            ahead, behind = mid[:, 2 * side], mid[:, 2 * side + 1]
            span = ahead - behind
            share = (ahead[:, None] - self._points(a, b[:, None])[1]) / np.where(span > 0, span, 1.0)[:, None]
            share = np.clip(np.where(span[:, None] > 0, share, 0.0), 0.0, 1.0)
            one, two = tables[:, 2 * side], tables[:, 2 * side + 1]
            possible = inside & np.isfinite(one)
            joined = np.where(possible, one, 0.0) * (1 - share) + np.where(possible, two, 0.0) * share
            at_sides.append(kappas[:, 2 * side, None] * (1 - share) + kappas[:, 2 * side + 1, None] * share)
            joined += at_sides[side] * (b[:, None] - a)
            heights = np.maximum(heights, np.where(possible, joined, -np.inf))
        # b is a convex function of 1/q, and so below its interpolation by at most this.
        width, e, least = cases.high - cases.low, self.cone.e, self.cone.least
        sag = ((1 - least) * (1 + e * ends[1]) + least * e) * width**2 * mid.max(axis=1) / 4
        spread = np.maximum(np.ptp(high, axis=1), np.ptp(mid, axis=1))
        extra = np.maximum(-kappas.min(axis=1), 0.0) * sag + self.curved * spread**2 / 2
        extra += np.abs(kappas).max(axis=1) * (2 * self.symbols.off + 64 * self.P.size * _EPS) + self.slack
        extra += self._of_tilt(cases.tilt)
        # Between the sides b and its kappa both move.
        extra = extra[:, None] + width[:, None] * np.maximum(at_sides[0] - at_sides[1], 0.0) / 4
        missing = heights == -np.inf
        return np.where(missing, -np.inf, as_bound(heights + self.base + extra))

    def _tables(self, cases: _Cases, high: Floats, mid: Floats, kappas: Floats) -> Floats:
        """Return the greatest sums for every weight of S at each corner, shape (K, 4, W)."""
        places = cases.places[:, None, :]
        of_high, of_mid, off = self._values(high, mid, cases.tilt[:, None])
        of_mid = np.where(places & _MID, of_mid - kappas[..., None] * self.P, -np.inf)
        outside = np.where(places & _OUT, np.maximum(of_mid, 0.0), of_mid)
        of_high = np.where(places & _HIGH, of_high, -np.inf)
        # No symbol has to be in S itself: cases are divided into outside, and inside S or S'.
        gains = of_high[..., self.rare] - outside[..., self.rare]
        size, reach = int(cases.last.max()) + 1, 0
        best = np.full((*high.shape, size), -np.inf)
        best[..., 0] = (outside + off).sum(axis=-1)
        for k, (source, target) in enumerate(self.moves):
            count = int(min(np.searchsorted(target, size), np.searchsorted(source, reach + 1)))
            if not count:
                continue
            gain = gains[..., k, None]
            if target[count - 1] - target[0] == count - 1 == source[count - 1] - source[0]:
                # Without gaps, slices are quicker.
                within = best[..., source[0] : source[0] + count] + gain
                part = best[..., target[0] : target[0] + count]
                np.maximum(part, within, out=part)
            else:
                within = best[..., source[:count]] + gain
                best[..., target[:count]] = np.maximum(best[..., target[:count]], within)
            reach = max(reach, int(target[count - 1]))
        return best

    def _tilt(self, cases: _Cases) -> None:
        """Set the tilt of each case to about that of its own z, between the ends of an interval that is halved."""
        if self.common == 0:
            return
        N, least = self.P.size, self.cone.least
        middle = (self.masses[cases.first] + self.masses[cases.last]) / 2
        high, _ = self._points(middle, (cases.low + cases.high) / 2)
        low, top = 2 * self.common * N * (high - 1), 2 * self.common * N * (least * high - 1)
        start = np.clip(cases.tilt, low, top)
        for _ in range(_HALVINGS):
            cases.tilt = start
            own = 2 * self.common * self._kappas(cases)
            # A smaller tilt makes z smaller, and its own tilt greater.
            low, top = np.where(own > start, start, low), np.where(own > start, top, start)
            start = np.clip(own, (3 * low + top) / 4, (low + 3 * top) / 4)
        cases.tilt = start

    def _at_corners(self, cases: _Cases) -> Floats:
        """Return a kappa of about the least bound at each corner, shape (K, 4); that of the case where no set is."""
        a, b = self._corners(cases)
        of_high, of_mid, _ = self._values(*self._points(a, b), cases.tilt[:, None])
        places, N = np.repeat(cases.places, 4, axis=0), self.P.size
        a, b, gains = a.ravel(), b.ravel(), (of_high.reshape(-1, N), of_mid.reshape(-1, N))
        best = _lines(self.P, gains, places, (a, a), (b, b))
        kappas, lack = best.kappa.reshape(-1, 4), best.lack.reshape(-1, 4)
        lacks = (np.abs(cases.lack) > self.rounding)[:, None] | ~np.isnan(lack)
        result: Floats = np.where(lacks, cases.kappa[:, None], kappas)
        return result

    def _kappas(self, cases: _Cases) -> Floats:
        """Set a kappa of about the least bound for each case, and the symbol that it takes in part; return z.

        Where no S' has the mass, kappa is so large that the bound shows it.
        """
        light, heavy, places, least = self.masses[cases.first], self.masses[cases.last], cases.places, self.cone.least
        high, mid = self._points((light + heavy) / 2, (cases.low + cases.high) / 2)
        of_high, of_mid, _ = self._values(high, mid, cases.tilt)
        best = _lines(self.P, (of_high, of_mid), places, (light, heavy), (cases.low, cases.high))
        steep = np.clip(self.size / np.maximum(np.abs(best.lack), 1e-9), 0.0, 1e5 * self.size)
        cases.cut, cases.lack = best.cut, best.lack
        lacks = np.abs(best.lack) > self.rounding
        cases.kappa = np.where(lacks, np.where(best.lack < 0, -steep, steep), best.kappa)
        in_high = best.in_high.sum(axis=1)
        rise = (1 - least) * (high * in_high + mid * (best.inside.sum(axis=1) - in_high))
        result: Floats = rise + self.P.size * (least * high - 1)
        return result

    # Columns

    def _column(self, cases: _Cases, k: int) -> None:
        """Add the column of the sets at which the bound of a case is attained, if they make one."""
        a, weight = self.masses[cases.weight[k]], int(self.reachable[cases.weight[k]])
        b = (cases.low[k] + cases.high[k]) / 2
        of_high, of_mid, _ = self._values(*self._points(a, np.array(b)), cases.tilt[k])
        places: NDArray[np.uint8] = cases.places[k]
        kappa = cases.kappa[k]
        priced = np.where(places & _MID, of_mid - kappa * self.P, -1e300)
        outside = np.where(places & _OUT, np.maximum(priced, 0.0), priced)
        sets = CheapestSets(weight)
        for i in self.rare:
            if places[i] & _HIGH:
                sets.add(int(i), int(self.weights[i]), float(outside[i] - of_high[i]))
        if np.isinf(sets.best[-1]):
            return
        S = np.zeros(self.P.size, dtype=bool)
        S[sets.members(weight)] = True
        may, must = (places & _MID) > 0, (places & _OUT) == 0
        for cut in {-1, int(cases.cut[k])}:
            middle: NDArray[np.bool_] = np.logical_and(~S & may, (priced > 0) | must)
            if cut >= 0 and not S[cut]:
                middle[cut] = not middle[cut]
            mass, support = float(self.P[S].sum()), float(self.P[S | middle].sum())
            if mass <= self.cone.t and support >= self.cone.lightest_support_c:
                v = np.where(S, self.cone.top_c(support), np.where(middle, 1.0, 0.0))
                self.found.add(with_least(v[:, None], self.P, self.cone.least)[:, 0])


def _lines(
    P: Floats,
    gains: tuple[Floats, Floats],
    places: NDArray[np.uint8],
    of_set: tuple[Floats, Floats],
    of_both: tuple[Floats, Floats],
) -> BestKappa:
    """Return the best kappas for gains in S and in S', and for ends of the masses of S, and of S and S' together."""
    may_high, may_mid, must = (places & _HIGH) > 0, (places & _MID) > 0, (places & _OUT) == 0
    return KappaLines(P, *gains, may_high, may_mid, must, *of_set, *of_both).best()
