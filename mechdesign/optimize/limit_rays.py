"""The rays of cones around the columns that keep a promise about a secret within limits of the joint distribution.

Every joint distribution within the limits gives a half-space ``<e P - A_s, v> >= 0`` for each value s of the secret,
and the columns that keep the promise are in all of these. The columns in finitely many half-spaces are a cone around
them, whose rays are listed by double description. Where a function is greatest at a ray that breaks the promise, the
joint distribution that is worst for this ray gives a half-space that cuts it off. Cuts go on until the function is
greatest at a ray that keeps the promise, which is then the greatest of all columns that keep it, or until there are too
many rays. At any time the greatest value over the rays is an upper bound.

The joint distribution of the counts gives the first half-spaces, so that no bound is above that for the counts alone.
Rows are rounded up, which leaves all columns inside, as entries are not negative.

With a cap for everyone all this is done for columns with their greatest entry M beside: the cone of all ``(v, M)`` with
``a M <= v_i <= M``, of which every vertex of a cube is a ray, is cut by the same half-spaces.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.optimize.capped_secret_rays import CappedSecretRays
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.double_description import DoubleDescription, slack
from mechdesign.optimize.rays import RaysOfSet, RaysToCut, UpperValues
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty import SecretPromise
from mechdesign.uncertainty.base import NO_FLOOR, Floor

_MOST_RAYS = 8_000
_MOST_WALLS = 1_024
_MOST_FIRST = 2_000  # rays of the joint distribution of the counts: more of them are not cut
_ROUNDED = 60  # bits of the entries of rows
_BROKEN = Fraction(1, 10**10)  # of <P, v>: a row that is broken by less cuts nothing off
_EPS = float(np.finfo(float).eps)


class LimitCone(RaysOfSet, RaysToCut):
    """The rays of a cone around all columns that keep a promise about a secret within limits, to be cut further.

    Columns come in one chunk of shape (N, k), scaled so that ``<P, v> = 1``.

    Parameters
    ----------
    known : SecretPromise
        With limits or without.
    exp_epsilon : float
        exp(epsilon), above 1; the float is taken as an exact number.
    floor : Floor
        What is asked from below, less than 1.

    Examples
    --------
    >>> cone = LimitCone(SecretPromise([[20, 10], [10, 15]], delta="0.1"), 2.0)
    >>> print(cone.greatest(lambda columns, errors: columns[0]).max().round(6))
    1.833333
    """

    def __init__(self, known: SecretPromise, exp_epsilon: float, floor: Floor = NO_FLOOR) -> None:
        self.known, self._e, self._least_lift = known, Fraction(exp_epsilon), floor.of_lifts
        # Less than the last bit of a row is rounded down to no cap, without which the corner at 0 is no column.
        capped = floor.of_entries * (1 << _ROUNDED) >= 1
        self._rays = _of_cube(known.size, floor.of_entries) if capped else _of_orthant(known.size)
        for row in self._rows_of_counts():
            self._cut(_rounded_up(row))

    @property
    def kinds(self) -> str:
        """One kind: rays of the cone so far."""
        return "V"

    def count(self, kinds: str) -> int:
        """Return how many rays there are."""
        return len(self._rays.points) if "V" in kinds else 0

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays, with bounds on the errors of their entries."""
        if "V" in kinds:
            columns = self.columns
            yield columns, 2 * (self.known.size + 8) * _EPS * columns

    @property
    def columns(self) -> Floats:
        """The rays, shape (N, k)."""
        columns: Floats = self._rays.floats.T[: self.known.size]
        return columns / (self.prior @ columns)

    def greatest(self, upper_of: UpperValues, deadline: float | None = None) -> Floats:
        """Cut rays off while the one of the greatest value breaks the promise, and return the values of all rays.

        After a deadline, a time of `time.monotonic`, nothing is cut.
        """
        while True:
            values = next(upper_of(*found) for found in self.with_errors("V"))
            full = self._rays.full or len(self._rays.points) > _MOST_RAYS
            if full or time_is_up(deadline) or not self._cut_off(self._rays.points[int(np.argmax(values))]):
                return values

    def cut_off(self, column: Floats) -> bool:
        """Cut off a column that breaks the promise, unless there are too many rays, and return whether it was."""
        if self._rays.full or len(self._rays.points) > _MOST_RAYS:
            return False
        integers, _ = over_common_denominator(map(Fraction, column.tolist()))
        return self._cut_off(integers)

    def copy(self) -> LimitCone:
        """Return a cone to cut without changing this one."""
        result = copy.copy(self)
        result._rays = copy.deepcopy(self._rays)
        return result

    def _rows_of_counts(self) -> Iterator[list[Fraction]]:
        joint, P = self.known.joint, self.known.center
        for place in range(len(joint.values)):
            given = joint.conditional(place)
            yield [self._e * p - q for p, q in zip(P, given, strict=True)]
            if self._least_lift > 0:
                yield [q - self._least_lift * p for p, q in zip(P, given, strict=True)]

    def _cut_off(self, column: Sequence[int]) -> bool:
        """Cut off a column that breaks the promise by the row that it breaks most, and return whether it does."""
        column = column[: self.known.size]
        rows = self.known.rows_at(column, self._e, self._least_lift)
        broken, row = min((sum(map(mul, row, column), Fraction(0)), row) for row in rows)
        normal = _rounded_up(row)
        if broken >= -_BROKEN * sum(map(mul, self.known.center, column)) or slack(column, normal) >= 0:
            return False
        self._cut(normal)
        return True

    def _cut(self, normal: list[int]) -> None:
        self._rays.cut(normal + [0] * (self._rays.floats.shape[1] - len(normal)))


@dataclass(frozen=True)
class LimitRays(SecretRays):
    """The rays for the joint distribution of the counts, which are not all outside of the limits: prices cut them.

    Examples
    --------
    >>> rays = LimitRays(SecretPromise([[20, 10], [10, 15]], delta="0.1"), 2.0)
    >>> rays.count(rays.kinds), rays.to_cut().count("V")
    (2, 2)
    """

    def to_cut(self) -> LimitCone | None:
        """Return a cone of these rays to cut; None where there are too many."""
        return None if self.count(self.kinds) > _MOST_FIRST else self._first_cone.copy()

    @cached_property
    def _first_cone(self) -> LimitCone:
        return LimitCone(self.known, self.exp_epsilon, Floor(self.least_lift))


@dataclass(frozen=True)
class CappedLimitRays(CappedSecretRays):
    """The same with a cap for everyone.

    Examples
    --------
    >>> rays = CappedLimitRays(SecretPromise([[20, 10], [10, 15]], delta="0.1"), 2.0, Fraction(1, 8))
    >>> rays.count(rays.kinds), rays.to_cut().count("V")
    (3, 4)
    """

    def to_cut(self) -> LimitCone | None:
        """Return a cone of these rays to cut; None where there are too many."""
        return None if self.count(self.kinds) > _MOST_FIRST else self._first_cone.copy()

    @cached_property
    def _first_cone(self) -> LimitCone:
        return LimitCone(self.known, self.exp_epsilon, Floor(self.least, for_everyone=True))


def _of_orthant(size: int) -> DoubleDescription:
    """Return the rays of all columns: single symbols."""
    units = [tuple(int(i == j) for i in range(size)) for j in range(size)]
    everything = (1 << size) - 1
    return DoubleDescription(units, [everything ^ 1 << j for j in range(size)], _MOST_WALLS, size)


def _of_cube(size: int, least: Fraction) -> DoubleDescription:
    """Return the rays of all columns with their greatest entry, all others being at least so much of it."""
    low, top = math.floor(least * (1 << _ROUNDED)), 1 << _ROUNDED
    everything = (1 << size) - 1
    points = [(*(top if S >> i & 1 else low for i in range(size)), top) for S in range(1 << size)]
    walls = [S << size | everything ^ S for S in range(1 << size)]
    return DoubleDescription(points, walls, _MOST_WALLS, 2 * size)


def _rounded_up(row: Sequence[Fraction]) -> list[int]:
    """Return integers for a row, over its greatest entry, none of them below the row."""
    greatest = max(map(abs, row))
    return [math.ceil(x / greatest * (1 << _ROUNDED)) for x in row]
