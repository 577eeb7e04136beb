"""The extreme rays of the column cone of an l1 ball or a relative ball, listed.

The four kinds of rays are stated in `mechdesign.optimize.l1_cone`. The list holds every extreme ray. On the border of a
kind it may hold columns that are not rays; every upper bound stays valid with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.uncertainty.ball import Ball

MOST_LISTED_SYMBOLS = 24
_CHUNK = 1 << 15

Masks = NDArray[np.int64]
UpperValues = Callable[[Floats, Floats], Floats]
"""Takes columns (N, k) and how far entries may be off, and returns upper bounds of a function, shape (k,)."""


class RayList(Protocol):
    """All extreme rays of a column cone, by kinds: what the linear program and exact pricing ask of them.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``. A list may hold more columns of the
    cone than its rays, never fewer. Lists inherit what is the same for most of them.
    """

    @property
    def prior(self) -> Floats:
        """The reference prior P, shape (N,)."""

    @property
    def kinds(self) -> str:
        """All kinds that can occur, one letter for each."""

    @property
    def held_kinds(self) -> str:
        """The kinds that a linear program holds from the start: none by default. The others are priced in chunks."""
        return ""

    def of_kinds(self, kinds: str) -> Iterator[Floats]:
        """Yield the columns of some kinds."""
        for columns, _ in self.with_errors(kinds):
            yield columns

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the columns of some kinds, each chunk with how far its entries may be from those of their rays."""

    def count(self, kinds: str) -> int:
        """Return the number of columns of some kinds, or slightly more."""

    def to_cut(self) -> RaysToCut | None:
        """Return rays of a wider cone that can be cut; None where the list is that of the cone itself."""
        return None


class RaysToCut(RayList, Protocol):
    """The rays of a wider cone than that of the columns that keep a promise; those that break it can be cut off."""

    def greatest(self, upper_of: UpperValues, deadline: float | None = None) -> Floats:
        """Cut rays off while the one of the greatest value breaks the promise, and return the values of all rays.

        After a deadline, a time of `time.monotonic`, nothing is cut.
        """

    def cut_off(self, column: Floats) -> bool:
        """Cut off a column that breaks the promise, unless there are too many rays, and return whether it was."""


class RaysOfSet(RayList, Protocol):
    """Rays that have the set of priors itself."""

    known: Any

    @property
    def prior(self) -> Floats:
        """The reference prior P, shape (N,); about a secret, the law of the useful column."""
        return np.asarray(self.known.prior)


@dataclass(frozen=True)
class Rays(RayList):
    """All extreme rays of the column cone of a ball.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    ball : Ball
        At most 24 symbols.
    exp_epsilon : float
        exp(epsilon), above 1.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> known = Rays(L1Ball([0.5, 0.3, 0.2]), 1.5)
    >>> np.hstack(list(known.of_kinds("AB"))).shape
    (3, 6)
    """

    ball: Ball
    exp_epsilon: float

    @property
    def prior(self) -> Floats:
        """The estimate P."""
        return self.ball.prior

    @property
    def kinds(self) -> str:
        """All four kinds."""
        return "ABCD"

    @property
    def held_kinds(self) -> str:
        """D if every ray is of this kind, else A and B."""
        return "D" if self._cone.only_d else "AB"

    @cached_property
    def _cone(self) -> L1Cone[float]:
        return L1Cone.of(self.ball, self.exp_epsilon)

    @cached_property
    def _mass(self) -> Floats:
        """P(S) for every set S, by its bit mask."""
        mass = np.zeros(1)
        for p in self.ball.prior:
            mass = np.concatenate([mass, mass + p])
        return mass

    def _takes_from_all_of(self, mass: Floats) -> NDArray[np.bool_]:
        """Return which sets are heavy enough for eq. (97) to be exact, so that kinds A and B are extreme."""
        if not self._cone.has_cd:
            return np.ones(mass.shape, dtype=bool)
        return mass >= self._cone.heaviest_cd - RAY_EDGE

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with how far its entries may be from those of their rays.

        Every entry has a relative rounding error of a few units. The entry x of kind B is also divided by P_f, and m of
        kind A by at least u and the mass of any symbol that has it, so that the rarer f is, or all symbols off S, the
        greater the error. Where columns are scaled, this moves their masses, and so their other entries, by a few units
        alone. In kind C a difference is multiplied by alpha e. But x is between 0 and c, and the scaled m between 0 and
        1, in theory and as computed.
        """
        everything = (1 << self.ball.size) - 1
        unit = 2 * (self.ball.size + 8) * float(np.finfo(float).eps)
        if not self._cone.only_d:
            P = self.ball.prior
            # m is divided by 1 - P(S) + u, and its column then by a mass of at least c / e.
            of_m = 4 * (1 + self._cone.t * self._cone.slope) / self._cone.alpha
            if "A" in kinds:
                of_own = np.minimum(unit * of_m / np.maximum(P, self._cone.u), 1.0)[:, None]
                a = self._two_values(
                    self._sets_a, self._cone.c, lambda S: np.clip(self._m(S), 0.0, min(self._cone.c, 1.0))
                )
                for columns, sets in zip(a, _chunks(self._sets_a), strict=True):
                    outside = 1 - self._indicator(sets)
                    apart = np.maximum((outside * P[:, None]).max(axis=0), self._cone.u)
                    of_rest = np.minimum(unit * of_m / apart, 1.0) * outside + unit * of_m * columns
                    yield columns, unit * columns + np.minimum(of_own, of_rest)
            if "B" in kinds:
                for f, columns in self._kind_b():
                    errors = 5 * unit * columns
                    errors[f] += min(4 * unit / P[f], self._cone.c)
                    yield columns, errors
            if "C" in kinds and self._rare_sets.size:
                for columns in self._kind_c():
                    # Every column has an entry that was 1 before it was scaled.
                    least = np.where(columns > 0, columns, np.inf).min(axis=0)
                    yield columns, unit * (columns + self._cone.slope * least * (columns > 0))
        if "D" in kinds and self._rare_sets.size:
            sets = self._rare_sets[(self._rare_sets != 0) & (self._rare_sets != everything)]
            for columns in self._two_values(sets, self.exp_epsilon, lambda S: np.ones(S.shape)):
                yield columns, unit * columns

    def count(self, kinds: str) -> int:
        """Return how many rays there are of some kinds, without building them."""
        total = 0
        everything = (1 << self.ball.size) - 1
        if not self._cone.only_d:
            total += self._sets_a.size if "A" in kinds else 0
            total += sum(sets.size for _, sets in self._sets_b()) if "B" in kinds else 0
            if "C" in kinds:
                # An upper bound: pairs are counted before the condition on b.
                members = np.bitwise_count(self._rare_sets)
                total += int((2.0 ** (self.ball.size - members.astype(float))).sum())
        if "D" in kinds:
            total += int(((self._rare_sets != 0) & (self._rare_sets != everything)).sum())
        return total

    # Kind A

    def _m(self, sets: Masks) -> Floats:
        mass = self._mass[sets]
        result: Floats = self._cone.off_a(mass, 1 - mass)
        return result

    @cached_property
    def _sets_a(self) -> Masks:
        sets = np.arange(1, (1 << self.ball.size) - 1)
        mass = self._mass[sets]
        rest: Floats = self._cone.left_by(mass)
        kept = (rest >= -RAY_EDGE) & self._takes_from_all_of(mass)
        if self._cone.u == 0:
            # For sets between these two a column of kind A is a sum of rays of kind B.
            kept &= (np.bitwise_count(sets) == self.ball.size - 1) | (np.abs(rest) <= RAY_EDGE)
        return sets[kept]

    # Kind B

    def _sets_b(self) -> Iterator[tuple[int, Masks]]:
        sets = np.arange(1 << self.ball.size)
        rest = self._cone.left_by(self._mass)
        allowed = (rest > 0) & ((sets == 0) | self._takes_from_all_of(self._mass))
        for f, p in enumerate(self.ball.prior):
            if p > 0:
                yield f, sets[allowed & (sets >> f & 1 == 0) & (rest <= self._cone.c * p + RAY_EDGE)]

    def _kind_b(self) -> Iterator[tuple[int, Floats]]:
        """Yield f and the columns in which it has x."""
        for f, sets in self._sets_b():
            for chunk in _chunks(sets):
                columns = self._indicator(chunk) * self._cone.c
                columns[f] = np.minimum(self._cone.between_b(self._mass[chunk], self.ball.prior[f]), self._cone.c)
                yield f, self._scaled(columns)

    # Kinds C and D

    @cached_property
    def _rare_sets(self) -> Masks:
        """Sets with P(S) <= t, the empty one among them."""
        if not self._cone.has_cd:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self._mass <= self._cone.heaviest_cd + RAY_EDGE)

    def _kind_c(self) -> Iterator[Floats]:
        sets = np.arange(1 << self.ball.size)
        waiting: list[Floats] = []
        for S in self._rare_sets[self._rare_sets != 0]:
            excess = self._mass[S] + self._mass - self._cone.t
            has_mass = self._mass[S] + self._mass > 0
            others = sets[(sets & S == 0) & (excess >= 1 / self._cone.slope - RAY_EDGE) & has_mass]
            # Where b and t nearly cancel, floats may give less, even 0.
            excess = np.maximum(excess, 1 / self._cone.slope)
            inside = self._indicator(np.array([S]))
            for chunk in _chunks(others):
                waiting.append(self._scaled(inside * (self._cone.slope * excess[chunk]) + self._indicator(chunk)))
                if sum(columns.shape[1] for columns in waiting) >= _CHUNK:
                    yield np.hstack(waiting)
                    waiting = []
        if waiting:
            yield np.hstack(waiting)

    # Columns from sets

    def _two_values(self, sets: Masks, on: float, off: object) -> Iterator[Floats]:
        for chunk in _chunks(sets):
            inside = self._indicator(chunk)
            yield self._scaled(inside * on + (1 - inside) * off(chunk))  # type: ignore[operator]

    def _indicator(self, sets: Masks) -> Floats:
        return indicator(sets, self.ball.size)

    def _scaled(self, columns: Floats) -> Floats:
        result: Floats = columns / (self.ball.prior @ columns)
        return result


def indicator(sets: Masks, size: int) -> Floats:
    """Return sets, given by their bit masks, as columns of zeros and ones.

    Examples
    --------
    >>> indicator(np.array([1, 6]), 3)
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """
    return (sets[None, :] >> np.arange(size)[:, None] & 1).astype(float)


def _chunks(sets: Masks) -> Iterator[Masks]:
    for start in range(0, sets.size, _CHUNK):
        yield sets[start : start + _CHUNK]
