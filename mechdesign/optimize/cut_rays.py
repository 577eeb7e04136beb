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

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.optimize.double_description import DoubleDescription, Point, in_floats
from mechdesign.optimize.rays import RaysOfSet
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.uncertainty.sides import priors_below

MOST_SYMBOLS = 8
_MOST_VERTICES = 6_000
_MOST_WALLS = 320  # of the cube, and cuts
_CHUNK = 1 << 15
_EPS = float(np.finfo(float).eps)


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
        return np.array([in_floats(point)[:-1] for point in points if max(point[:-1]) == point[-1]]).T

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


class _Cutting(DoubleDescription):
    """The vertices of X so far, and the walls of each: of the cube, and cuts."""

    def __init__(self, known: UncertaintySet, exp_epsilon: Fraction, floor: Floor = NO_FLOOR) -> None:
        self.known, self.e, self.a, self.below = known, exp_epsilon, floor.least_lift, priors_below(floor, known)
        N = known.size
        sets = range(1 << N)
        walls = [mask | (~mask & (1 << N) - 1) << N for mask in sets]
        super().__init__([(*(mask >> i & 1 for i in range(N)), 1) for mask in sets], walls, _MOST_WALLS, 2 * N)
        self.inside = [False] * (1 << N)  # known to be in X

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
        if self.full:
            raise _too_many(self.known, f"more than {self.of_walls - 2 * self.known.size} corners that matter")
        kept = self.cut(normal)
        self.inside = [*compress(self.inside, kept), *[False] * (len(self.points) - int(kept.sum()))]
        if len(self.points) > _MOST_VERTICES:
            raise _too_many(self.known, f"more than {_MOST_VERTICES} extreme rays")


def _too_many(known: UncertaintySet, what: str) -> LimitError:
    return LimitError.no_method(
        f"a {type(known).__name__} of {known.size} categories has {what}, too many to list; use an L1Ball that "
        "contains it, or a gain utility such as hamming-accuracy"
    )
