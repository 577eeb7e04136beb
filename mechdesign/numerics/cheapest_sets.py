"""The cheapest set of items for every total weight: the 0/1 knapsack as a table over integer weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats


@dataclass(frozen=True)
class _Taken:
    """An item, the entries of the table that it lowered (None if it is in every set), and the item added before it."""

    item: int
    weight: int
    bits: NDArray[np.uint8] | None
    before: _Taken | None


class CheapestSets:
    """``best[w]``, the least total cost of a set of items with total weight w, item by item.

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

    def copy(self) -> CheapestSets:
        """Return a table with the same items, to which others can be added."""
        other = object.__new__(CheapestSets)
        other.best = self.best.copy()
        other._heaviest, other._last = self._heaviest, self._last
        return other

    def add(self, item: int, weight: int, cost: float) -> None:
        """Add an item that sets may contain."""
        top = min(self._heaviest + weight, self.best.size - 1)
        if top < weight:
            return
        with_item = self.best[: top - weight + 1] + cost
        without = self.best[weight : top + 1]
        lower = with_item < without
        np.copyto(without, with_item, where=lower)
        self._heaviest = top
        self._last = _Taken(item, weight, np.packbits(lower, bitorder="little"), self._last)

    def require(self, item: int, weight: int, cost: float) -> None:
        """Add an item that every set contains."""
        self.best[weight:] = self.best[: max(self.best.size - weight, 0)] + cost
        self.best[:weight] = np.inf
        self._heaviest = min(self._heaviest + weight, self.best.size - 1)
        self._last = _Taken(item, weight, None, self._last)

    def members(self, weight: int) -> list[int]:
        """Return the items of a cheapest set of a weight, the last added first; some set must have the weight."""
        chosen, taken = [], self._last
        while taken is not None:
            before = weight - taken.weight
            if taken.bits is None or (before >= 0 and _bit(taken.bits, before)):
                chosen.append(taken.item)
                weight = before
            taken = taken.before
        return chosen


def _bit(bits: NDArray[np.uint8], index: int) -> bool:
    return index >> 3 < bits.size and bool(bits[index >> 3] >> (index & 7) & 1)


@dataclass(frozen=True)
class Kin:
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

    def add_to(self, sets: CheapestSets, leave_out: int = 0) -> None:
        """Add these items, which sets may contain, except the first ``leave_out`` of them."""
        for item in self.items[leave_out:]:
            sets.add(item, self.weight, self.cost)


def leave_one_out(
    kins: Sequence[Kin], wanted: Sequence[bool], sets: CheapestSets
) -> Iterator[tuple[int, CheapestSets]]:
    """Yield the index of each wanted kin, with the table of all items except the first one of that kin.

    The kins are halved recursively, and each half is added to the table of the other, so that n kins take O(n log n)
    additions instead of n^2.

    Parameters
    ----------
    kins : sequence of Kin
        All items that `sets` does not contain yet.
    wanted : sequence of bool
        The kins whose tables are yielded.
    sets : CheapestSets
        The table to which the items are added, such as an empty one.

    Examples
    --------
    >>> kins = [Kin([0], 2, 1.0), Kin([1, 2], 3, -1.0)]
    >>> [(k, table.members(3)) for k, table in leave_one_out(kins, [False, True], CheapestSets(6))]
    [(1, [2])]
    """
    yield from _leave_one_out(kins, list(range(len(kins))), wanted, sets)


def _leave_one_out(
    kins: Sequence[Kin], among: list[int], wanted: Sequence[bool], sets: CheapestSets
) -> Iterator[tuple[int, CheapestSets]]:
    if not any(wanted[k] for k in among):
        return
    if len(among) == 1:
        table = sets.copy()
        kins[among[0]].add_to(table, leave_out=1)
        yield among[0], table
        return
    half = len(among) // 2
    for these, others in ((among[:half], among[half:]), (among[half:], among[:half])):
        if any(wanted[k] for k in these):
            table = sets.copy()
            for k in others:
                kins[k].add_to(table)
            yield from _leave_one_out(kins, these, wanted, table)
