"""Double description: the extreme rays of a cone that half-spaces cut, one after the other, in integers.

A half-space ``<n, x> >= 0`` cuts off the rays x that are outside of it. The cone that is left has the other rays, and a
new one on each edge between a ray inside and one outside. Two rays are the ends of an edge if no other ray is in all
the walls that both are in. A polytope is the cone over it: a point has its denominator as its last coordinate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from math import gcd
from operator import mul

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_TOGETHER = 1 << 16  # words of walls
_WORD = 64  # bits
_EPS = float(np.finfo(float).eps)

Point = tuple[int, ...]
Walls = NDArray[np.uint64]


class DoubleDescription:
    """The rays of a cone so far, each as coprime integers that are not negative, and the walls that each lies in.

    Parameters
    ----------
    points : sequence of points
        The rays to begin with.
    walls : sequence of int
        For each ray a bit for every wall that it lies in.
    most_walls : int
        How many walls there can be, a multiple of 64.
    count : int
        How many there are.

    Examples
    --------
    >>> quadrant = DoubleDescription([(1, 0), (0, 1)], [1 << 1, 1 << 0], 64, 2)
    >>> quadrant.cut([2, -1]).tolist()
    [True, False]
    >>> quadrant.points
    [(1, 0), (1, 2)]
    """

    def __init__(self, points: Sequence[Point], walls: Sequence[int], most_walls: int, count: int) -> None:
        self.points = list(points)
        self.floats = np.array([in_floats(point) for point in points])
        self.walls: Walls = np.zeros((len(points), most_walls // _WORD), dtype=np.uint64)
        for word in range(-(-count // _WORD)):
            self.walls[:, word] = [wall >> _WORD * word & (1 << _WORD) - 1 for wall in walls]
        self.of_walls = count

    @property
    def full(self) -> bool:
        """Whether there is no room for another wall."""
        return bool(self.of_walls == _WORD * self.walls.shape[1])

    def cut(self, normal: Sequence[int]) -> NDArray[np.bool_]:
        """Cut off the rays outside of a half-space, and return which rays stay; new ones come after these."""
        signs = self.signs(normal)
        word, bit = divmod(self.of_walls, _WORD)
        wall = np.zeros(self.walls.shape[1], dtype=np.uint64)
        wall[word] = np.uint64(1 << bit)
        self.of_walls += 1
        self.walls[signs == 0] |= wall
        new: list[Point] = []
        common_walls = [np.empty((0, self.walls.shape[1]), dtype=np.uint64)]
        for k, j, shared in self._edges(np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)):
            one, other = self.points[k], self.points[j]
            above, under = slack(one, normal), slack(other, normal)
            between = [above * y - under * x for x, y in zip(one, other, strict=True)]
            divisor = gcd(*between)
            new.append(tuple(x // divisor for x in between))
            common_walls.append((shared | wall)[None])
        kept: NDArray[np.bool_] = signs >= 0
        self.points = [*compress(self.points, kept), *new]
        floats = np.reshape([in_floats(point) for point in new], (-1, self.floats.shape[1]))
        self.floats = np.vstack([self.floats[kept], floats])
        self.walls = np.vstack([self.walls[kept], *common_walls])
        return kept

    def signs(self, normal: Sequence[int]) -> NDArray[np.int64]:
        """Return on which side of a half-space rays are: by floats where rounding leaves no doubt."""
        greatest = max(map(abs, normal))
        coefficients = np.array([x / greatest for x in normal])
        slacks = self.floats @ coefficients
        doubt = 4 * len(normal) * _EPS * (self.floats @ np.abs(coefficients))
        signs: NDArray[np.int64] = np.sign(slacks).astype(np.int64)
        for k in np.flatnonzero(np.abs(slacks) <= doubt).tolist():
            exact = slack(self.points[k], normal)
            signs[k] = (exact > 0) - (exact < 0)
        return signs

    def _edges(self, above: NDArray[np.int64], below: NDArray[np.int64]) -> Iterator[tuple[int, int, Walls]]:
        """Yield the edges between two sets of rays, each with the walls that it lies in.

        The ends of an edge have as many walls in common as there are coordinates less two, or more, so that only those
        rays can be in them that share as many with the first one.
        """
        if below.size < above.size:
            yield from ((k, j, both) for j, k, both in self._edges(below, above))
            return
        used = -(-self.of_walls // _WORD)
        least, walls = self.floats.shape[1] - 2, np.ascontiguousarray(self.walls[:, :used].T)
        is_below = np.zeros(len(self.walls), dtype=bool)
        is_below[below] = True
        for k in above.tolist():
            shared = walls & walls[:, k, None]
            near = np.flatnonzero(np.bitwise_count(shared).sum(axis=0) >= least)
            near = near[near != k]
            shared = shared[:, near]
            places = np.flatnonzero(is_below[near])
            together = max(1, _TOGETHER // max(1, shared.size))
            for start in range(0, places.size, together):
                some = places[start : start + together]
                both = shared[:, some, None]
                ends = ((shared[:, None] & both) == both).all(axis=0).sum(axis=1) == 1
                for j in near[some[ends]].tolist():
                    yield k, j, self.walls[k] & self.walls[j]


def slack(point: Sequence[int], normal: Sequence[int]) -> int:
    """Return the inner product of a point and a normal."""
    return sum(map(mul, point, normal))


def in_floats(point: Point) -> Floats:
    """Return the coordinates of a point over the greatest, each correctly rounded."""
    greatest = max(point)
    return np.array([x / greatest for x in point])
