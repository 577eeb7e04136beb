"""The extreme rays of the column cone of any set of priors that has finitely many corners, listed.

The cone is ``K = { v >= 0 : max v <= e h(v) }``, and h(v) the least mean under a prior of the set. Scaled to
``max v = 1``, every extreme ray is a vertex of ``X = { x in [0, 1]^N : <Q, x> >= 1/e for every prior Q of the set }``
(docs/mathematics.md). The vertices of X are found from those of the unit cube by cutting. A vertex x that is outside of
X has a mean below 1/e under some prior Q of the set, which `exact_worst_mean` names; the half-space ``<Q, x> >= 1/e``
cuts it off, and the polytope that is left has the old vertices inside, and a new one on each edge that is cut (double
description). When no vertex is outside, all are found, and the priors that cut do for the whole set. All of this is
computed in integers.

A promise from below, ``min v >= a H(v)``, adds the half-spaces ``x_i >= a <Q, x>``, Q the prior of the greatest mean:
of the set, or with a cap any prior, so that x_i is at least a times another entry.
Scaled extreme rays are vertices still: where a greatest entry is 1, equalities of the cone are those of X.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import gcd
from operator import mul

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.optimize.rays import RaysOfSet
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.uncertainty.sides import priors_below

MOST_SYMBOLS = 8
_MOST_VERTICES = 6_000
_WORDS = 5  # of 64 bits: as many walls of the cube and cuts
_CHUNK = 1 << 15
_TOGETHER = 1 << 16  # words of walls
_EPS = float(np.finfo(float).eps)

Point = tuple[int, ...]  # the entries of a vertex over its last number
Walls = NDArray[np.uint64]


@dataclass(frozen=True)
class CutRays(RaysOfSet):
    """All extreme rays of the column cone of a set of few symbols, whatever it is.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1`` for the reference prior P.

    Attributes
    ----------
    known : UncertaintySet
        At most 8 symbols.
    exp_epsilon : float
        exp(epsilon), above 1; the float is taken as an exact number.
    floor : Floor
        What is asked from below; a is below 1.

    Examples
    --------
    >>> from mechdesign import L1Ball, ProductSet
    >>> pairs = ProductSet(L1Ball(["0.7", "0.3"], "0.1"), L1Ball(["0.5", "0.5"], "0.1"))
    >>> CutRays(pairs, 2.0).count("V")
    31
    """

    known: UncertaintySet
    exp_epsilon: float
    floor: Floor = NO_FLOOR

    @property
    def kinds(self) -> str:
        """One kind: vertices."""
        return "V"

    @cached_property
    def _columns(self) -> Floats:
        """The rays with greatest entry 1, shape (N, k), every entry correctly rounded.

        Raises
        ------
        LimitError
            If the set has too many corners, or infinitely many.
        """
        points = _Cutting(self.known, Fraction(self.exp_epsilon), self.floor).vertices()
        return np.array([_as_floats(point)[:-1] for point in points if max(point[:-1]) == point[-1]]).T

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds."""
        return self._columns.shape[1] if "V" in kinds else 0

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with how far its entries may be from those of their rays."""
        unit = 2 * (self.known.size + 8) * _EPS
        if "V" in kinds:
            for start in range(0, self._columns.shape[1], _CHUNK):
                columns = self._columns[:, start : start + _CHUNK]
                scaled = columns / (self.prior @ columns)
                yield scaled, unit * scaled


class _Cutting:
    """The vertices of X so far, and the walls of each: of the cube, and cuts."""

    def __init__(self, known: UncertaintySet, exp_epsilon: Fraction, floor: Floor = NO_FLOOR) -> None:
        self.known, self.e, self.a, self.below = known, exp_epsilon, floor.least_lift, priors_below(floor, known)
        N = known.size
        sets = range(1 << N)
        self.points: list[Point] = [(*(mask >> i & 1 for i in range(N)), 1) for mask in sets]
        self.floats = np.array(self.points, dtype=float)
        walls = np.zeros((1 << N, _WORDS), dtype=np.uint64)
        walls[:, 0] = [mask | (~mask & (1 << N) - 1) << N for mask in sets]
        self.walls: Walls = walls
        self.inside = [False] * (1 << N)  # known to be in X
        self.cuts = 0

    def vertices(self) -> list[Point]:
        """Return all vertices of X."""
        at = 0
        while at < len(self.points):  # ends: cuts are bounded in number, and so are vertices
            normal = None if self.inside[at] else self._normal_against(self.points[at])
            if normal is None:
                self.inside[at] = True
                at += 1
            else:
                self._cut(normal)
                at = next((k for k, inside in enumerate(self.inside) if not inside), len(self.points))
        return self.points

    def _normal_against(self, point: Point) -> list[int] | None:
        """Return a half-space that X is in and a vertex is not, by its coefficients; None if the vertex is in X."""
        *column, scale = point
        mean, prior = self.known.exact_worst_mean(column)
        if mean * self.e < scale:
            integers, common = over_common_denominator(prior)
            return [*(q * self.e.numerator for q in integers), -common * self.e.denominator]
        least, greatest = min(column), max(column)
        if self.a == 0 or least >= self.a * greatest:
            return None
        mean, prior = self.below.exact_worst_mean([greatest - x for x in column])
        if least >= self.a * (greatest - mean):
            return None
        integers, common = over_common_denominator(prior)
        normal = [*(-q * self.a.numerator for q in integers), 0]
        normal[column.index(least)] += common * self.a.denominator
        return normal

    def _cut(self, normal: list[int]) -> None:
        """Cut off the vertices outside of a half-space."""
        N = self.known.size
        if 2 * N + self.cuts == 64 * _WORDS:
            raise _too_many(self.known, f"more than {self.cuts} corners that matter")
        signs = self._signs(normal)
        wall = np.zeros(_WORDS, dtype=np.uint64)
        wall[(2 * N + self.cuts) // 64] = np.uint64(1 << (2 * N + self.cuts) % 64)
        self.cuts += 1
        self.walls[signs == 0] |= wall
        new: list[Point] = []
        common_walls = [np.empty((0, _WORDS), dtype=np.uint64)]
        for k, j, shared in self._edges(np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)):
            one, other = self.points[k], self.points[j]
            above, under = _slack(one, normal), _slack(other, normal)
            between = [above * y - under * x for x, y in zip(one, other, strict=True)]
            divisor = gcd(*between)
            new.append(tuple(x // divisor for x in between))
            common_walls.append((shared | wall)[None])
        kept = signs >= 0
        self.points = [*compress(self.points, kept), *new]
        self.floats = np.vstack([self.floats[kept], np.reshape([_as_floats(point) for point in new], (-1, N + 1))])
        self.inside = [*compress(self.inside, kept), *[False] * len(new)]
        self.walls = np.vstack([self.walls[kept], *common_walls])
        if len(self.points) > _MOST_VERTICES:
            raise _too_many(self.known, f"more than {_MOST_VERTICES} extreme rays")

    def _signs(self, normal: list[int]) -> NDArray[np.int64]:
        """Return on which side of a half-space vertices are: by floats where rounding leaves no doubt."""
        coefficients = np.array([float(Fraction(x, max(map(abs, normal)))) for x in normal])
        slack = self.floats @ coefficients
        doubt = 4 * len(normal) * _EPS * (self.floats @ np.abs(coefficients))
        signs: NDArray[np.int64] = np.sign(slack).astype(np.int64)
        for k in np.flatnonzero(np.abs(slack) <= doubt).tolist():
            exact = _slack(self.points[k], normal)
            signs[k] = (exact > 0) - (exact < 0)
        return signs

    def _edges(self, above: NDArray[np.int64], below: NDArray[np.int64]) -> Iterator[tuple[int, int, Walls]]:
        """Yield the edges between two sets of vertices, each with the walls that it lies in.

        Two vertices are the ends of an edge if no other vertex is in all the walls that both are in. These are N - 1 or
        more, so that only those vertices can be in them that share as many with the first one.
        """
        if below.size < above.size:
            yield from ((k, j, both) for j, k, both in self._edges(below, above))
            return
        used = (2 * self.known.size + self.cuts + 63) // 64
        least, walls = self.known.size - 1, np.ascontiguousarray(self.walls[:, :used].T)
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


def _slack(point: Point, normal: list[int]) -> int:
    return sum(map(mul, point, normal))


def _as_floats(point: Point) -> list[float]:
    """Return the entries of a vertex, each correctly rounded, and 1."""
    return [x / point[-1] for x in point]


def _too_many(known: UncertaintySet, what: str) -> LimitError:
    return LimitError.no_method(
        f"a {type(known).__name__} of {known.size} categories has {what}, too many to list; use an L1Ball that "
        "contains it, or a gain utility such as hamming-accuracy"
    )
