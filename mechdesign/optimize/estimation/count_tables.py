"""Quadratic forms with a common number over two-valued columns, by tables over the weight and the size of sets.

For a set S of n symbols and one weight, ``z = sum_i (v_i - 1)`` depends on n alone. So a table of the greatest sums
over S for every weight and every n prices ``diag(d) + B 1 1'`` without the kappas of `weight_tables`: exactly at the
weight whose sigma the table has, and between two tables by their interpolation, as the greatest sum is convex in
sigma. Such a table takes N times as long; it serves the weights that the bound of kappas leaves above what columns
reach.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSetsBySize
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.counted import Found

_EPS = float(np.finfo(float).eps)
_ENTRIES = 2.5e9  # of all tables of a price, counted once for each symbol
_MOST_CELLS = 8_000_000  # of a table, which are held in memory
_COLUMNS = 8


def entries_by_size(weights: tuple[int, ...], capacity: int) -> float:
    """Return how many entries a table by weight and size fills, counted once for each symbol; infinite if too many.

    Examples
    --------
    >>> entries_by_size((3, 2, 1), 5)
    27.0
    """
    cells = (largest(weights, capacity) + 1) * (capacity + 1)
    return float(cells * len(weights) / 2) if cells <= _MOST_CELLS else np.inf


def largest(weights: tuple[int, ...], capacity: int) -> int:
    """Return the greatest number of symbols of at most a total weight.

    Examples
    --------
    >>> largest((3, 2, 1), 5)
    2
    """
    return int((np.cumsum(np.sort(weights)) <= capacity).sum())


@dataclass(frozen=True, eq=False)
class TwoLevelPrices:
    """What a table is made for: one form and one lambda over the two-valued columns of one kind.

    Attributes
    ----------
    weights : tuple of int
        Of the symbols.
    form : QuadraticForm
        ``diag(d) + B 1 1'`` with B below 0.
    multipliers : array, shape (N,)
        lambda.
    on, off, error : array, shape (W,)
        The values on S and off it for each weight of S, and how far the true ones may be from them.
    fixed : array, shape (W,)
        An upper bound of the form of ``off (1,...,1)``, rounding and errors of all sums over symbols included, but not
        of the common number.
    add_column : callable
        Adds the column of a set, given its members.
    """

    weights: tuple[int, ...]
    form: QuadraticForm
    multipliers: Floats
    on: Floats
    off: Floats
    error: Floats
    fixed: Floats
    add_column: Callable[[list[int]], None]

    def lowered(self, bounds: Floats, found: Found, near: float, deadline: float | None) -> float:
        """Return the greatest of the bounds of all weights, after tables have lowered those above what is reached.

        Parameters
        ----------
        bounds : array, shape (W,)
            Upper bounds for sets of each weight; these are changed.
        found : Found
            What has been found so far.
        near : float
            Bounds within this of what columns reach are not lowered further.
        deadline : float, optional
            No table begins after this time of `time.monotonic`.
        """
        _BySize(self, bounds, found, near).run(deadline)
        return float(bounds.max(initial=-np.inf))


@dataclass(frozen=True, order=True)
class _SizedTable:
    """The least costs of sets of every weight and size, for one weight's sigma."""

    weight: int
    sets: CheapestSetsBySize = field(compare=False)


class _BySize:
    def __init__(self, prices: TwoLevelPrices, bounds: Floats, found: Found, near: float) -> None:
        self.prices, self.bounds, self.found, self.near = prices, bounds, found, near
        self.sigma = prices.on + prices.off - 2
        self.tables: list[_SizedTable] = []

    def run(self, deadline: float | None) -> None:
        """Fill tables, the next one where the bound is greatest, until bounds are near what columns reach."""
        left, above = _ENTRIES, self._above()
        if not above.size:
            return
        capacity = int(above[-1])
        each = entries_by_size(self.prices.weights, capacity)
        ends = [capacity] if above[0] == capacity else [capacity, int(above[0])]
        for weight in ends:
            if each * len(ends) > left or time_is_up(deadline):
                return
            self._fill(weight, capacity)
        left -= each * len(ends)
        while (above := self._above()).size:
            weight = int(above[np.argmax(self.bounds[above])])
            if each > left or time_is_up(deadline) or any(table.weight == weight for table in self.tables):
                return
            self._fill(weight, capacity)
            left -= each

    def _above(self) -> NDArray[np.int64]:
        """Return the weights whose bound is not yet near what is reached."""
        return np.flatnonzero(self.bounds > max(self.found.reached, self.found.upper) + self.near)

    def _fill(self, weight: int, capacity: int) -> None:
        """Add the table of one weight's sigma, and lower the bounds beside it."""
        prices = self.prices
        for table in self.tables:
            table.sets.forget_members()
        sets = CheapestSetsBySize(capacity, largest(prices.weights, capacity))
        values = prices.form.diagonal * self.sigma[weight] - prices.multipliers
        for i, heavy in enumerate(prices.weights):
            sets.add(i, heavy, -float(values[i]))
        table = _SizedTable(weight, sets)
        insort(self.tables, table)
        at = self.tables.index(table)
        self._lower(table, table, table)
        for first, second in zip(self.tables[max(at - 1, 0) : at + 1], self.tables[at : at + 2], strict=False):
            if first is not second:
                self._lower(first, second, table)

    def _lower(self, first: _SizedTable, second: _SizedTable, newest: _SizedTable) -> None:
        """Lower the bounds of the weights between two tables, and add columns of the newest one."""
        above = self._above()
        at = above[(above >= first.weight) & (above <= second.weight)]
        if not at.size:
            return
        span = self.sigma[second.weight] - self.sigma[first.weight]
        share = np.clip((self.sigma[at] - self.sigma[first.weight]) / span, 0.0, 1.0) if span else np.zeros(at.size)
        one, two = first.sets.best[:, at], second.sets.best[:, at]
        missing = np.isinf(one)
        inside = -np.where(missing, 0.0, one) * (1 - share) - np.where(missing, 0.0, two) * share
        heights = np.where(missing, -np.inf, self._heights(at, inside))
        sizes, greatest = heights.argmax(axis=0), heights.max(axis=0)
        self.bounds[at] = np.minimum(self.bounds[at], greatest)
        for part in np.array_split(np.arange(at.size), _COLUMNS):
            if part.size:
                best = int(part[np.argmax(greatest[part])])
                if greatest[best] > -np.inf:
                    self.prices.add_column(newest.sets.members(int(at[best]), int(sizes[best])))

    def _heights(self, at: NDArray[np.int64], inside: Floats) -> Floats:
        """Return upper bounds from the greatest sums over S, for every size and some weights."""
        prices, N = self.prices, self.prices.multipliers.size
        common, on, off = prices.form.common, prices.on[at], prices.off[at]
        z = N * (off - 1) + np.arange(len(inside))[:, None] * (on - off)
        # z is off by at most N times the error, and by rounding; B z^2 falls with |z|.
        farther = N * (prices.error[at] + (2 * N + 16) * _EPS * (on + 1))
        nearest = np.maximum(np.abs(z) - farther, 0.0)
        values: Floats = as_bound(prices.fixed[at] + (on - off) * inside + common * nearest**2 * (1 - 8 * _EPS))
        return values
