"""The column of an l1 ball's cone that is greatest in a linear function, for many functions at once.

Columns are scaled to ``<P, v> = 1``. With the symbols in the order of falling ``g_i / P_i``, a column that is greatest
in ``<g, v>`` has its greater values on the first symbols. For kinds A and B, which alone describe the known prior and
the ball as printed, this is exact (a fractional knapsack for each m). For kinds C and D the set S must not be heavier
than t, and it is taken from the first symbols that are lighter than t.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.optimize.capped_cone import with_least
from mechdesign.optimize.l1_cone import L1Cone

_BLOCK = 200  # functions at a time: twice as fast as thousands, whose arrays leave the caches
_LIGHTEST = 1e-12  # a symbol without mass is put in order as if it had this mass

_Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LinearOracle:
    """Finds columns of a cone by linear functions.

    Attributes
    ----------
    cone : L1Cone
        The cone of the ball.

    Examples
    --------
    >>> oracle = LinearOracle(L1Cone(np.array([0.5, 0.3, 0.2]), 0.0, 2.0))
    >>> oracle.best(np.array([[0.1, 0.2], [0.2, 0.0], [0.3, 0.1]])).round(4)
    array([[0. , 1.2],
           [2. , 0. ],
           [2. , 2. ]])
    """

    cone: L1Cone[float]

    @cached_property
    def masses(self) -> Floats:
        """P, with a small positive number where it is 0: what functions are divided by."""
        floored: Floats = np.maximum(self.cone.P, _LIGHTEST)
        return floored

    def best(self, functions: Floats) -> Floats:
        """Return the best column found for each function, shape (N, m), scaled to ``<P, v> = 1``.

        Parameters
        ----------
        functions : array, shape (N, m)
            g, one in each column.
        """
        blocks = np.split(functions, range(_BLOCK, functions.shape[1], _BLOCK), axis=1)
        return np.hstack([self._best(block) for block in blocks])

    def _best(self, functions: Floats) -> Floats:
        sorted_by = _Sorted.of(self.cone.P, self.masses, functions)
        found = list(self._kinds(sorted_by))
        best = np.argmax([candidate.values for candidate in found], axis=0)
        columns = np.empty(functions.shape)
        for index, candidate in enumerate(found):
            chosen = np.flatnonzero(best == index)
            if chosen.size:
                columns[:, chosen] = candidate.columns(chosen)
        return with_least(columns, self.cone.P, self.cone.least)

    def _kinds(self, by: _Sorted) -> Iterator[_Found]:
        cone = self.cone
        yield _Constant(by)
        if not cone.only_d:
            if cone.t > 0 or cone.least > 0:
                yield _KindA(cone, by)
            if cone.c > 1:
                yield _KindB(cone, by)
        if cone.has_cd:
            rare = np.flatnonzero(cone.heaviest_cd >= cone.P)
            if rare.size:
                yield _KindD(cone, by, rare)
                if not cone.only_d:
                    yield _KindC(cone, by, rare)


@dataclass(frozen=True, eq=False)
class _Sorted:
    """Functions, with the symbols in the order of falling ``g_i / P_i``.

    Attributes
    ----------
    order : array of int, shape (N, m)
        The symbols in their order.
    place : array of int, shape (N, m)
        The place of each symbol.
    mass, gain : array, shape (N + 1, m)
        Sums of P and g over the first k symbols.
    ratio : array, shape (N, m)
        ``g_i / P_i``, in the order of the symbols as numbered.
    """

    functions: Floats
    order: _Places
    place: _Places
    mass: Floats
    gain: Floats
    ratio: Floats

    @classmethod
    def of(cls, prior: Floats, masses: Floats, functions: Floats) -> _Sorted:
        """Sort the symbols for each function by its ratio to the mass, the greatest first."""
        ratio = functions / masses[:, None]
        order = np.argsort(-ratio, axis=0, kind="stable")
        place = np.empty_like(order)
        np.put_along_axis(place, order, np.arange(prior.size)[:, None], axis=0)
        return cls(
            functions, order, place, _sums(prior[order]), _sums(np.take_along_axis(functions, order, axis=0)), ratio
        )

    @property
    def whole(self) -> Floats:
        """The sum of g over all symbols."""
        result: Floats = self.gain[-1]
        return result


def _sums(values: Floats) -> Floats:
    """Return the sums of the first 0, ..., N rows."""
    result: Floats = np.vstack([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    return result


class _Found:
    """The best column of a kind for each function."""

    values: Floats

    @staticmethod
    def _of_image(cone: L1Cone[float], by: _Sorted, gain: Floats, mass: Floats, top: Any) -> Floats:
        """Return ``<g, v> / <P, v>`` of images v, from ``<g, u>``, ``<P, u>`` and the greatest entry of columns u."""
        result: Floats = ((1 - cone.least) * gain + cone.least * top * by.whole) / (
            (1 - cone.least) * mass + cone.least * top
        )
        return result

    def columns(self, chosen: _Places) -> Floats:
        """Return the columns of some functions, not scaled."""
        raise NotImplementedError

    def _keep_best(self, values: Floats, allowed: NDArray[np.bool_]) -> _Places:
        """Keep the greatest value of each function, and return its row."""
        values = np.where(allowed, values, -np.inf)
        best: _Places = np.argmax(values, axis=0)
        self.values = values[best, np.arange(values.shape[1])]
        return best


class _Constant(_Found):
    def __init__(self, by: _Sorted) -> None:
        self.values = by.whole
        self._size = len(by.order)

    def columns(self, chosen: _Places) -> Floats:
        return np.ones((self._size, chosen.size))


class _KindA(_Found):
    def __init__(self, cone: L1Cone[float], by: _Sorted) -> None:
        self._by = by
        mass, gain = by.mass[1:-1], by.gain[1:-1]
        self._top, off = cone.whole_a(mass)
        self._off = np.maximum(off, 0.0)
        scale = mass * self._top + (1 - mass) * self._off
        values = self._of_image(cone, by, self._top * gain + self._off * (by.whole - gain), scale, self._top)
        # Where m would be below 0 it is 0 with a cap.
        self._row = self._keep_best(values, (off >= 0) | ((cone.least > 0) & (self._top > 0)))

    def columns(self, chosen: _Places) -> Floats:
        row = self._row[chosen]
        result: Floats = np.where(self._by.place[:, chosen] <= row, self._top[row, chosen], self._off[row, chosen])
        return result


class _KindB(_Found):
    def __init__(self, cone: L1Cone[float], by: _Sorted) -> None:
        self._by, self._c = by, cone.c
        every = np.arange(by.order.shape[1])
        self._row = np.minimum((cone.left_by(by.mass[1:]) >= 0).sum(axis=0), len(by.order) - 1)
        self._symbol = by.order[self._row, every]
        own = cone.P[self._symbol]
        with np.errstate(divide="ignore", invalid="ignore"):
            between = cone.between_b(by.mass[self._row, every], own)
        self._between = np.clip(np.where(own > 0, between, 0.0), 0.0, cone.c)
        gain = cone.c * by.gain[self._row, every] + self._between * by.functions[self._symbol, every]
        self.values = self._of_image(cone, by, gain, np.ones_like(gain), cone.c)

    def columns(self, chosen: _Places) -> Floats:
        columns = np.where(self._by.place[:, chosen] < self._row[chosen], self._c, 0.0)
        columns[self._symbol[chosen], np.arange(chosen.size)] = self._between[chosen]
        return columns


class _OverRare(_Found):
    """Kinds C and D: S consists of the first rare symbols."""

    def __init__(self, cone: L1Cone[float], by: _Sorted, rare: _Places) -> None:
        self._cone, self._by = cone, by
        self._rare = np.zeros(cone.P.size, dtype=bool)
        self._rare[rare] = True
        inner = np.argsort(-by.ratio[rare], axis=0, kind="stable")
        symbols = rare[inner]
        mass = np.cumsum(cone.P[symbols], axis=0)
        # S has at most as many symbols as any function allows.
        most = max(1, int((mass <= cone.heaviest_cd + RAY_EDGE).sum(axis=0).max()))
        self._mass = mass[:most]
        self._allowed = self._mass <= cone.heaviest_cd
        self._gain = np.cumsum(np.take_along_axis(by.functions, symbols[:most], axis=0), axis=0)
        self._last = np.take_along_axis(by.place, symbols[:most], axis=0)

    def _in_set(self, chosen: _Places) -> NDArray[np.bool_]:
        last = self._last[self._row[chosen], chosen]
        result: NDArray[np.bool_] = self._rare[:, None] & (self._by.place[:, chosen] <= last)
        return result

    _row: _Places


class _KindD(_OverRare):
    def __init__(self, cone: L1Cone[float], by: _Sorted, rare: _Places) -> None:
        super().__init__(cone, by, rare)
        rise = cone.e - 1
        values = self._of_image(cone, by, by.whole + rise * self._gain, 1 + rise * self._mass, cone.e)
        self._row = self._keep_best(values, self._allowed)

    def columns(self, chosen: _Places) -> Floats:
        result: Floats = np.where(self._in_set(chosen), self._cone.e, 1.0)
        return result


class _KindC(_OverRare):
    """S and S' together are the first k symbols; the best k of each S is found by bisection.

    The value as a function of k is a ratio whose numerator and denominator grow in steps of falling ratio, so that it
    rises up to the best k and falls from there on.
    """

    def __init__(self, cone: L1Cone[float], by: _Sorted, rare: _Places) -> None:
        super().__init__(cone, by, rare)
        N = len(by.order)
        enough = (by.mass < cone.lightest_support_c).sum(axis=0)
        low = np.minimum(np.maximum(self._last + 1, enough), N)
        allowed = self._allowed & (enough <= N)
        high = np.full_like(low, N)
        while (low < high).any():
            middle = (low + high) // 2
            further = np.minimum(middle + 1, N)
            rises = self._value(further) > self._value(middle)
            low, high = np.where(rises, further, low), np.where(rises, high, middle)
        self._support = low
        self._row = self._keep_best(self._value(low), allowed)

    def _value(self, k: _Places) -> Floats:
        """Return the value of each S where S and S' together are the first k symbols."""
        support = np.take_along_axis(self._by.mass, k, axis=0)
        gain = np.take_along_axis(self._by.gain, k, axis=0)
        rise = self._cone.top_c(support) - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            gain, mass = gain + rise * self._gain, support + rise * self._mass
            return self._of_image(self._cone, self._by, gain, mass, 1 + rise)

    def columns(self, chosen: _Places) -> Floats:
        k = self._support[self._row[chosen], chosen]
        top = self._cone.top_c(self._by.mass[k, chosen])
        held = np.where(self._by.place[:, chosen] < k, 1.0, 0.0)
        result: Floats = np.where(self._in_set(chosen), np.maximum(top, 1.0), held)
        return result
