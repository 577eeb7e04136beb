"""Whole numbers over 2^b that keep an invariant table invariant, exactly.

The identity is invariant. So with V the matrices D that are 0 where pairs are forbidden, with ``D 1 = 0`` and
``n^T D = 0`` for the weights n of the prior, the invariant integer matrices are ``2^b I`` plus the integer points of V,
a lattice that does not depend on b.

*Forest rounding.* Take the bipartite graph of rows and columns whose edges are the allowed pairs, and a spanning forest
of it. Every other pair closes one cycle with the forest, along which ``+- l / n_x`` (l the least common multiple of the
weights of its rows) is an integer point of V, and these points span V. A matrix of V is the sum of them with its
entries off the forest times ``n_x / l``; rounded to whole numbers they give integers that are invariant, whatever the
floats were. Trees of small depth have short cycles: without forbidden pairs each has two rows. The root of each tree is
a category of great weight, whose row then takes little of the errors of the others.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanism.proof import Integers
from mechdesign.mechanism.table_claims import TableConstraints
from mechdesign.numerics.arrays import Floats

_Node = tuple[bool, int]  # whether it is a column, and its place
_MOST = 1 << 62


class InvariantIntegers:
    """Rounds tables to integers that keep the row sums, forbidden pairs and weights exactly.

    Parameters
    ----------
    constraints : TableConstraints
        Whose forbidden pairs stay 0.
    weights : sequence of int
        n, proportional to the prior.
    order : sequence of int
        The categories in the order in which they are taken into the forest.

    Examples
    --------
    >>> from fractions import Fraction
    >>> rounding = InvariantIntegers(TableConstraints((Fraction(0),) * 2), [3, 1], [0, 1])
    >>> rounding.rounded(np.array([[0.9, 0.1], [0.3, 0.7]]), 6)
    array([[58,  6],
           [18, 46]])
    """

    def __init__(self, constraints: TableConstraints, weights: Sequence[int], order: Sequence[int]) -> None:
        self._size, self._weights = len(weights), weights
        self._allowed = {y: [x for x in order if (x, y) not in constraints.forbidden] for y in order}
        self._from = {x: [y for y in order if (x, y) not in constraints.forbidden] for x in order}
        self._order = order
        self._parents, self._depths = self._forest()
        self._pairs: list[tuple[int, int]] = []
        self._least: list[float] = []
        entries, factors, cycles = list[int](), list[int](), list[int]()
        for x, y in self._others():
            steps = self._cycle(x, y)
            least = math.lcm(*(weights[row] for row, _, _ in steps))
            if max(least // weights[row] for row, _, _ in steps) >= _MOST:
                continue  # no multiple of it is as small as a probability
            for row, column, sign in steps:
                entries.append(row * self._size + column)
                factors.append(sign * (least // weights[row]))
                cycles.append(len(self._pairs))
            self._pairs.append((x, y))
            self._least.append(float(least // weights[x]))
        self._entries, self._cycles = np.array(entries, dtype=np.int64), np.array(cycles, dtype=np.int64)
        self._factors: NDArray[np.int64] = np.array(factors, dtype=np.int64)

    def rounded(self, matrix: Floats, bits: int) -> Integers:
        """Return integers whose rows sum to 2^bits, near a matrix of floats; entries may fall below 0.

        Sums wrap around at 2^64 and come back, because the entries that they lead to are smaller.
        """
        near = matrix - np.eye(self._size)
        rows, columns = np.array(self._pairs, dtype=np.int64).reshape(-1, 2).T
        times = np.rint(near[rows, columns] * 2.0**bits / np.array(self._least)).astype(np.int64)
        integers = (np.eye(self._size, dtype=np.int64) << bits).ravel()
        with np.errstate(over="ignore"):
            np.add.at(integers, self._entries, self._factors * times[self._cycles])
        return integers.reshape(self._size, self._size)

    def _forest(self) -> tuple[dict[_Node, _Node | None], dict[_Node, int]]:
        """Return the parent and the depth of every row and column, tree by tree, nearest to the root first."""
        parents: dict[_Node, _Node | None] = {}
        depths: dict[_Node, int] = {}
        for root in self._order:
            if (False, root) in parents:
                continue
            parents[False, root], depths[False, root] = None, 0
            waiting = deque([(False, root)])
            while waiting:
                node = waiting.popleft()
                for place in (self._allowed if node[0] else self._from)[node[1]]:
                    other = (not node[0], place)
                    if other not in parents:
                        parents[other], depths[other] = node, depths[node] + 1
                        waiting.append(other)
        return parents, depths

    def _others(self) -> Iterator[tuple[int, int]]:
        """Yield the allowed pairs off the forest."""
        for x in range(self._size):
            for y in self._from[x]:
                if self._parents[False, x] != (True, y) and self._parents[True, y] != (False, x):
                    yield x, y

    def _cycle(self, x: int, y: int) -> list[tuple[int, int, int]]:
        """Return the entries of the cycle that a pair closes, with alternating signs."""
        ends: list[list[_Node]] = [[(True, y)], [(False, x)]]
        while ends[0][-1] != ends[1][-1]:  # the deeper end climbs
            climbing = max(ends, key=lambda path: self._depths[path[-1]])
            parent = self._parents[climbing[-1]]
            if parent is None:  # pragma: no cover - both ends are in one tree
                raise AssertionError
            climbing.append(parent)
        path = ends[0] + ends[1][-2::-1]
        steps, sign = [(x, y, 1)], -1
        for one, other in pairwise(path):
            row, column = (other[1], one[1]) if one[0] else (one[1], other[1])
            steps.append((row, column, sign))
            sign = -sign
        return steps
