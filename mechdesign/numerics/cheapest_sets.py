"""The cheapest set of items for every total weight: the 0/1 knapsack as a table over integer weights.

A second table has the number of items as another axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_PAD = 8  # bits that are 0, before and after those of an addition, so that no index falls beside them


@dataclass(frozen=True)
class _Taken:
    """Items that sets take together, where they lowered the table (None if always), and what was added before them."""

    items: Sequence[int]
    weight: int
    bits: bytes | None
    before: _Taken | None


class CheapestSets:
    """``best[w]``, the least total cost of a set of items with total weight w, item by item.

    Items of equal weight and cost are added in parts: with 1, 2, 4, ... of them and the rest, each taken as a whole or
    not at all, sets have any number of them. So g such items take about log2(g) additions.

    Parameters
    ----------
    capacity : int
        The greatest total weight of the table.

    Attributes
    ----------
    best : array, shape (capacity + 1,)
        Infinite where no set has the weight.

    Examples
    --------
    >>> sets = CheapestSets(5)
    >>> for item, (weight, cost) in enumerate([(2, 1.0), (3, -1.0), (2, 0.5)]):
    ...     sets.add(item, weight, cost)
    >>> sets.best
    array([ 0. ,  inf,  0.5, -1. ,  1.5, -0.5])
    >>> sets.members(5)
    [2, 1]
    """

    def __init__(self, capacity: int) -> None:
        self.best: Floats = np.full(capacity + 1, np.inf)
        self.best[0] = 0.0
        self._heaviest = 0
        self._last: _Taken | None = None
        # What an addition computes on the way; copies of the table use the same memory.
        self._with_items: Floats = np.empty(capacity + 1)
        self._lower = np.empty(capacity + 1 + 2 * _PAD, dtype=bool)

    def copy(self) -> CheapestSets:
        """Return a table with the same items, to which others can be added."""
        other = object.__new__(CheapestSets)
        other.best = self.best.copy()
        other._heaviest, other._last = self._heaviest, self._last
        other._with_items, other._lower = self._with_items, self._lower
        return other

    def add(self, item: int, weight: int, cost: float) -> None:
        """Add an item that sets may contain."""
        self._add_together((item,), weight, cost)

    def add_equal(self, items: Sequence[int], weight: int, cost: float) -> None:
        """Add items of equal weight and cost, of which sets may contain any number."""
        held = self.best.size - 1
        number = len(items) if weight == 0 else min(len(items), held // weight)
        first = 0
        for size in parts(number):
            self._add_together(items[first : first + size], size * weight, size * cost)
            first += size

    def require(self, items: Sequence[int], weight: int, cost: float) -> None:
        """Add items of equal weight and cost that every set contains."""
        weight, cost = len(items) * weight, len(items) * cost
        self.best[weight:] = self.best[: max(self.best.size - weight, 0)] + cost
        self.best[:weight] = np.inf
        self._heaviest = min(self._heaviest + weight, self.best.size - 1)
        self._last = _Taken(items, weight, None, self._last)

    def _add_together(self, items: Sequence[int], weight: int, cost: float) -> None:
        """Add items of a total weight and cost that sets contain all or none of."""
        top = min(self._heaviest + weight, self.best.size - 1)
        if top < weight:
            return
        number = top - weight + 1
        without, with_items = self.best[weight : top + 1], self._with_items[:number]
        lower = self._lower[: number + 2 * _PAD]
        lower[:_PAD] = lower[number + _PAD :] = False
        np.add(self.best[:number], cost, out=with_items)
        np.less(with_items, without, out=lower[_PAD : number + _PAD])
        np.minimum(without, with_items, out=without)
        self._heaviest = top
        self._last = _Taken(items, weight, np.packbits(lower, bitorder="little").tobytes(), self._last)

    def members(self, weight: int) -> list[int]:
        """Return the items of a cheapest set of a weight, the last added first; some set must have the weight."""
        chosen: list[int] = []
        taken = self._last
        while taken is not None:
            before, bits = weight - taken.weight, taken.bits
            if bits is None or (0 <= before < 8 * len(bits) - _PAD and bits[(before >> 3) + 1] >> (before & 7) & 1):
                chosen.extend(taken.items)
                weight = before
            taken = taken.before
        return chosen

    def members_of_each(self, weights: Sequence[int], number: int) -> NDArray[np.bool_]:
        """Return which items are in a cheapest set of each of k weights: `members` for many at once.

        Parameters
        ----------
        weights : sequence of int, of length k
            Some set must have each of them.
        number : int
            Greater than every item.

        Returns
        -------
        array of bool, shape (number, k)

        Examples
        --------
        >>> sets = CheapestSets(5)
        >>> sets.add_equal([0, 1, 2], 2, -1.0)
        >>> sets.members_of_each([0, 4], 3)
        array([[False,  True],
               [False,  True],
               [False, False]])
        """
        chosen = np.zeros((number, len(weights)), dtype=bool)
        left = np.array(weights, dtype=np.int64)
        taken = self._last
        while taken is not None:
            here = np.ones(left.size, dtype=bool)
            before = left - taken.weight
            if taken.bits is not None:
                # Indices beside the bits fall on the padding.
                octets = np.frombuffer(taken.bits, dtype=np.uint8).take((before >> 3) + 1, mode="clip")
                here = (octets >> (before & 7) & 1).astype(bool)
            chosen[list(taken.items)] = here
            left = np.where(here, before, left)
            taken = taken.before
        return chosen


class CheapestSetsBySize:
    """``best[n, w]``, the least total cost of a set of n items with total weight w, item by item.

    Parameters
    ----------
    capacity : int
        The greatest total weight of the table.
    most : int
        The greatest number of items.
    with_members : bool
        Whether `members` may be asked for.

    Attributes
    ----------
    best : array, shape (most + 1, capacity + 1)
        Infinite where no set has the size and the weight.

    Examples
    --------
    >>> sets = CheapestSetsBySize(3, 2)
    >>> for item, (weight, cost) in enumerate([(2, 1.0), (1, -1.0), (2, 0.5)]):
    ...     sets.add(item, weight, cost)
    >>> sets.best
    array([[ 0. ,  inf,  inf,  inf],
           [ inf, -1. ,  0.5,  inf],
           [ inf,  inf,  inf, -0.5]])
    >>> sets.members(3, 2)
    [2, 1]
    """

    def __init__(self, capacity: int, most: int, *, with_members: bool = True) -> None:
        self.best: Floats = np.full((most + 1, capacity + 1), np.inf)
        self.best[0, 0] = 0.0
        self._heaviest = self._largest = 0
        self._taken: list[tuple[int, int, NDArray[np.uint8], int]] | None = [] if with_members else None

    def copy(self) -> CheapestSetsBySize:
        """Return a table with the same items, to which others can be added."""
        other = object.__new__(CheapestSetsBySize)
        other.best, other._heaviest, other._largest = self.best.copy(), self._heaviest, self._largest
        other._taken = None if self._taken is None else list(self._taken)
        return other

    def add(self, item: int, weight: int, cost: float) -> None:
        """Add an item that sets may contain."""
        size, top = min(self._largest + 1, len(self.best) - 1), min(self._heaviest + weight, self.best.shape[1] - 1)
        if size < 1 or top < weight:
            return
        without = self.best[1 : size + 1, weight : top + 1]
        with_item = self.best[:size, : top - weight + 1] + cost
        if self._taken is not None:
            lower = with_item < without
            self._taken.append((item, weight, np.packbits(lower, axis=1, bitorder="little"), lower.shape[1]))
        np.minimum(without, with_item, out=without)
        self._largest, self._heaviest = size, top

    def add_equal(self, items: Sequence[int], weight: int, cost: float) -> None:
        """Add items of equal weight and cost, of which sets may contain any number."""
        for item in items:
            self.add(item, weight, cost)

    def members(self, weight: int, size: int) -> list[int]:
        """Return the items of a cheapest set of a weight and a size, the last added first; some set must have both."""
        chosen: list[int] = []
        for item, heavy, bits, width in reversed(self._taken or []):
            row, place = size - 1, weight - heavy
            if 0 <= row < len(bits) and 0 <= place < width and bits[row, place >> 3] >> (place & 7) & 1:
                chosen.append(item)
                weight, size = place, row
        return chosen

    def forget_members(self) -> None:
        """Free the memory that `members` reads."""
        self._taken = None


def parts(number: int) -> list[int]:
    """Return 1, 2, 4, ... and a rest, which sum to a number: some of them sum to each smaller number.

    Examples
    --------
    >>> parts(10), parts(1), parts(0)
    ([1, 2, 4, 3], [1], [])
    """
    result: list[int] = []
    while number > 0:
        result.append(min(2 ** len(result), number))
        number -= result[-1]
    return result


class _Sets(Protocol):
    """A table to which items are added."""

    def copy(self) -> Self: ...

    def add_equal(self, items: Sequence[int], weight: int, cost: float) -> None: ...


Sets = TypeVar("Sets", bound=_Sets)


@dataclass(frozen=True)
class ItemGroup:
    """Items of equal weight and equal cost, which are interchangeable.

    Attributes
    ----------
    items : sequence of int
        At least one.
    weight : int
        The weight of each.
    cost : float
        The cost of each.
    """

    items: Sequence[int]
    weight: int
    cost: float

    def add_to(self, sets: _Sets, leave_out: int = 0) -> None:
        """Add these items, which sets may contain, except the first ``leave_out`` of them."""
        sets.add_equal(self.items[leave_out:], self.weight, self.cost)


def leave_one_out(
    groups: Sequence[ItemGroup], merits: Sequence[float] | Floats, sets: Sets
) -> Iterator[tuple[int, Sets]]:
    """Yield the index of each wanted group, with the table of all items except the first one of that group.

    The groups are halved recursively, and each half is added to the table of the other, so that n groups take
    O(n log n) times the additions of one, instead of n^2.

    Parameters
    ----------
    groups : sequence of ItemGroup
        All items that `sets` does not contain yet.
    merits : sequence or array of float
        How much each group is wanted; -inf where it is not. Of two halves the one with the greatest merit comes first.
        A merit may be lowered while tables are yielded: halves that are no longer wanted are left out.
    sets : CheapestSets or CheapestSetsBySize
        The table to which the items are added, such as an empty one.

    Examples
    --------
    >>> groups = [ItemGroup([0], 2, 1.0), ItemGroup([1, 2], 3, -1.0)]
    >>> [(k, table.members(3)) for k, table in leave_one_out(groups, [-np.inf, 1.0], CheapestSets(6))]
    [(1, [2])]
    """
    yield from _leave_one_out(groups, list(range(len(groups))), merits, sets)


def _leave_one_out(
    groups: Sequence[ItemGroup], among: list[int], merits: Sequence[float] | Floats, sets: Sets
) -> Iterator[tuple[int, Sets]]:
    def merit(some: list[int]) -> float:
        return float(max(merits[k] for k in some))

    if merit(among) == -np.inf:
        return
    if len(among) == 1:
        table = sets.copy()
        groups[among[0]].add_to(table, leave_out=1)
        yield among[0], table
        return
    half = len(among) // 2
    halves = sorted((among[:half], among[half:]), key=merit, reverse=True)
    for these, others in zip(halves, reversed(halves), strict=True):
        if merit(these) > -np.inf:
            table = sets.copy()
            for k in others:
                groups[k].add_to(table)
            yield from _leave_one_out(groups, these, merits, table)
