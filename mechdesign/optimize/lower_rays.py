"""The extreme rays of the column cone of a lower probability, listed, for a promise from above or on both sides.

The priors are those with ``Q(S) >= f(S)`` for every set S, f supermodular. With ``g(S) = e f(S) - 1`` every extreme ray
of ``K = { v >= 0 : max v <= e h(v) }`` is, up to scale, of one of these kinds:

- **I**: ``1_{i}`` for a symbol i with ``g({i}) >= 0``;
- **E**: ``1_S`` with ``g(S) = 0``;
- **P**: ``g(T) 1_S - g(S) 1_T`` for S, not empty, in T with ``g(S) < 0 < g(T)``, if the difference M of T and S is
  *indecomposable* over S: no part U of M, neither empty nor M, has ``f(S + U) + f(T - U) = f(S) + f(T)``.

docs/mathematics.md proves it. e is taken as the exact number that the float is, and signs of g are decided in integers.
Values of g are correctly rounded, and kind P adds two positive numbers, so that every entry has a relative error of a
few units. Decomposable pairs are left out for few symbols only; elsewhere they make the list longer, and harmlessly so.

*A promise on both sides.* ``F(S) = 1 - f(all but S)`` is the greatest mass of S. With ``b = exp(epsilon)`` and
``a = exp(-lower)`` the cone is ``{ v : max v <= b h(v), min v >= a H(v) }``, and every extreme ray is, up to scale, of
one of these kinds:

- **C**: ``(1,...,1)``;
- **T**: 1 on S and ``m = max( (1/b - f(S)) / (1 - f(S)), a F(S) / (1 - a + a F(S)) )`` elsewhere;
- **P**: ``d1 + d2 + d3 = 1`` on S, ``d2 + d3`` on the rest of T and ``d3`` elsewhere, S within T, so that both
  conditions are equalities.

S and T are neither empty nor the set of all symbols. With a cap a is exp(-cap) and H(v) the greatest mean under any
prior, so that ``F(S) = 1`` for every S but the empty one; `capped_rays` has a list for any set.

With ``x(S) = (1 - 1/b) (1 - a + a F(S)) - (1 - a) (1 - f(S))`` kind P exists exactly where ``x(S) < 0 < x(T)``; then

    d1 : d2 : d3  =  x(T) : -x(S) : a ( x(T) F(S) - x(S) F(T) ) / (1 - a).

docs/mathematics.md proves this too. b and a are taken as the exact numbers that are given, the signs of x are decided
in integers, values of x, f and F are correctly rounded, and all sums are of positive numbers, so that every entry has a
relative error of a few units. Some columns of this list are not extreme; all lie in the cone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.rays import Masks, RaysOfSet, indicator
from mechdesign.uncertainty import LowerProbability
from mechdesign.uncertainty.base import Floor

MOST_LISTED_PAIRS = 600_000  # 3^12
_MOST_DECOMPOSED = 8  # symbols
_CHUNK = 1 << 15
_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)  # below it values of g are rounded to less than 53 bits
_LEAST = 1e-290  # below it a quotient of two values of g is not computed


@dataclass(frozen=True)
class LowerRays(RaysOfSet):
    """All extreme rays of the column cone of a lower probability.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : LowerProbability
        With a supermodular f, and at most 12 symbols.
    exp_epsilon : float
        exp(epsilon), above 1.

    Examples
    --------
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1", "0.05"], center=["0.4", "0.3", "0.2", "0.1"])
    >>> rays = LowerRays(limits, 2.0)
    >>> [rays.count(kind) for kind in rays.kinds]
    [0, 1, 15]
    """

    known: LowerProbability
    exp_epsilon: float

    @property
    def kinds(self) -> str:
        """Single symbols, ties, pairs."""
        return "IEP"

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """The sign of g(S) for every set S, by its bit mask."""
        return np.array([(value > 0) - (value < 0) for value in self._exact[0]], dtype=np.int8)

    @cached_property
    def values(self) -> Floats:
        """g(S) for every set S, by its bit mask, correctly rounded."""
        values, common = self._exact
        return np.array([value / common for value in values])

    @cached_property
    def _exact(self) -> tuple[list[int], int]:
        """g(S) as integers over a common denominator, and that."""
        values, common = self.known.of_every_set()
        e = Fraction(self.exp_epsilon)
        whole = common * e.denominator
        return [value * e.numerator - whole for value in values], whole

    @cached_property
    def _sets(self) -> dict[str, Masks]:
        """The sets of kinds I and E."""
        single = np.array([1 << i for i in range(self.known.size)])
        ties = np.flatnonzero(self.signs == 0)
        return {"I": single[self.signs[single] >= 0], "E": ties[np.bitwise_count(ties) > 1]}

    @cached_property
    def _pairs(self) -> tuple[Masks, Masks]:
        """S and T of kind P."""
        everything = (1 << self.known.size) - 1
        lower, upper = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for S in (np.flatnonzero(self.signs[1:] < 0) + 1).tolist():
            M = subsets_of(everything & ~S)[1:]
            T = M | S
            kept = self.signs[T] > 0
            if self.known.size <= _MOST_DECOMPOSED:
                kept &= ~self._decomposable(S, everything & ~S)[1:]
            lower.append(np.full(int(kept.sum()), S))
            upper.append(T[kept])
        return np.concatenate(lower), np.concatenate(upper)

    def _decomposable(self, S: int, outside: int) -> NDArray[np.bool_]:
        """Return for each subset M of the symbols outside of S, in the order of `subsets_of`, if it is decomposable."""
        subsets = subsets_of(outside)
        f = self._comparable[subsets | S]
        f = f - f[0]
        found = np.zeros(subsets.size, dtype=bool)
        places = np.arange(subsets.size)
        for U in range(1, subsets.size):
            others = places[(places & U) == 0][1:]
            found[others | U] |= f[U] + f[others] == f[others | U]
        return found

    @cached_property
    def _comparable(self) -> NDArray[np.generic]:
        """f(S) times a common denominator, as integers of numpy, or of Python where those overflow.

        f is supermodular: sums of two of its increases over S are at most another one.
        """
        values, common = self.known.of_every_set()
        return np.array(values, dtype=np.int64 if common < 2**63 else object)

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds."""
        sets = sum(found.size for kind, found in self._sets.items() if kind in kinds)
        return sets + (self._pairs[0].size if "P" in kinds else 0)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with bounds on the errors of its entries.

        A column with greatest entry 1 has a mass of 1/e at least, because its mean under every prior of the set is.
        """
        N = self.known.size
        unit = 2 * (N + 8) * _EPS
        for kind, sets in self._sets.items():
            if kind in kinds and sets.size:
                columns = indicator(sets, N)
                columns /= self.prior @ columns
                yield columns, unit * columns
        if "P" in kinds:
            S, T = self._pairs
            for start in range(0, S.size, _CHUNK):
                cut = slice(start, start + _CHUNK)
                share, error = shares(self.values[S[cut]], self.values[T[cut]])
                inside = indicator(S[cut], N)
                between = indicator(T[cut], N) - inside
                columns, errors = inside + share * between, error * between
                mass = self.prior @ columns
                # An error of the share also changes the mass that all entries are divided by.
                scaled, least = columns / mass, self.prior @ (columns - errors)
                yield scaled, (unit + 2 * (self.prior @ errors) / least) * scaled + 2 * errors / least


def shares(below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Return the entry of kind P on M where that on S is 1, from g(S) < 0 and g(T) > 0, and bounds of its error.

    Examples
    --------
    >>> shares(np.array([-0.5]), np.array([1.5]))[0]
    array([0.25])
    """
    difference = above - below
    known = difference > _LEAST
    divisor = np.where(known, difference, 1.0)
    share = np.where(known, -below / divisor, 0.5)
    return share, np.where(known, 8 * _EPS * share + _TINY / divisor, 0.5)


def subsets_of(mask: int) -> Masks:
    """Return all subsets of a set, as masks, in the order of the numbers that count them."""
    result = np.zeros(1, dtype=np.int64)
    for i in range(mask.bit_length()):
        if mask >> i & 1:
            result = np.concatenate([result, result | 1 << i])
    return result


@dataclass(frozen=True)
class TwoSidedRays(RaysOfSet):
    """All extreme rays of the column cone of a two-sided promise, and some more columns of the cone.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : LowerProbability
        With a supermodular f, and at most 12 symbols, or 16 where no list is made. Every symbol has mass at some prior
        of the set.
    exp_epsilon : float
        exp(epsilon), above 1.
    floor : Floor
        What is asked from below; a is between 0 and 1.

    Examples
    --------
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.4", "0.35", "0.25"])
    >>> rays = TwoSidedRays(limits, 2.0, Floor(Fraction(1, 2)))
    >>> [rays.count(kind) for kind in rays.kinds]
    [1, 6, 2]
    """

    known: LowerProbability
    exp_epsilon: float
    floor: Floor

    @property
    def kinds(self) -> str:
        """The constant column, two values, three values."""
        return "CTP"

    @cached_property
    def _exact(self) -> tuple[list[int], list[int], list[int], int, int]:
        """By bit masks, as integers: f(S) and F(S) over a common denominator, x(S) over another; both denominators."""
        values, common = self.known.of_every_set()
        b, a = Fraction(self.exp_epsilon), self.floor.least_lift
        above, strict = b.numerator - b.denominator, a.denominator - a.numerator
        most = [common - value for value in reversed(values)]  # the mask of the complement counts from the end
        if self.floor.for_everyone:
            most[1:] = [common] * (len(most) - 1)
        x = [
            above * (strict * common + a.numerator * F) - b.numerator * strict * (common - f)
            for f, F in zip(values, most, strict=True)
        ]
        return values, most, x, common, b.numerator * a.denominator * common

    @cached_property
    def x(self) -> Floats:
        """x(S) for every set S, by its bit mask."""
        values, common = self._exact[2], self._exact[4]
        return np.array([value / common for value in values])

    @cached_property
    def greatest_masses(self) -> Floats:
        """F(S) for every set S, by its bit mask."""
        return np.array([F / self._exact[3] for F in self._exact[1]])

    @cached_property
    def elsewhere(self) -> Floats:
        """The value m of kind T off S, for every set S but the empty one and that of all symbols, by its bit mask."""
        values, most, x, common, _ = self._exact
        b, a = Fraction(self.exp_epsilon), self.floor.least_lift
        return np.array(
            [
                (b.denominator * common - b.numerator * f) / (b.numerator * (common - f))
                if sign <= 0
                else a.numerator * F / ((a.denominator - a.numerator) * common + a.numerator * F)
                for f, F, sign in zip(values[1:-1], most[1:-1], x[1:-1], strict=True)
            ]
        )

    @cached_property
    def signs(self) -> NDArray[np.int8]:
        """The sign of x(S), for every set S, by its bit mask; 0 for the empty set and that of all symbols."""
        signs = np.array([(value > 0) - (value < 0) for value in self._exact[2]], dtype=np.int8)
        signs[[0, -1]] = 0
        return signs

    @cached_property
    def _pairs(self) -> tuple[Masks, Masks]:
        """S and T of kind P."""
        signs, everything, found = self.signs, (1 << self.known.size) - 1, [(np.empty(0, dtype=np.int64),) * 2]
        for S in np.flatnonzero(signs < 0).tolist():
            T = subsets_of(everything & ~S) | S
            found.append((np.full(T.size, S), T))
        lower, upper = (np.concatenate(sets) for sets in zip(*found, strict=True))
        kept = signs[upper] > 0
        return lower[kept], upper[kept]

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds."""
        sizes = {"C": 1, "T": (1 << self.known.size) - 2, "P": self._pairs[0].size}
        return sum(size for kind, size in sizes.items() if kind in kinds)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with bounds on the errors of its entries."""
        N = self.known.size
        unit = 4 * (N + 8) * _EPS
        if "C" in kinds:
            yield np.ones((N, 1)), np.full((N, 1), unit)
        if "T" in kinds:
            inside = indicator(np.arange(1, (1 << N) - 1), N)
            columns = inside + (1 - inside) * self.elsewhere
            columns /= self.prior @ columns
            yield columns, unit * columns
        if "P" in kinds:
            S, T = self._pairs
            for start in range(0, S.size, _CHUNK):
                cut = slice(start, start + _CHUNK)
                columns, errors = self._three_values(S[cut], T[cut])
                mass = self.prior @ columns
                # The error of the share also changes the mass that all entries are divided by.
                scaled, least = columns / mass, self.prior @ (columns - errors)
                yield scaled, (unit + 2 * (self.prior @ errors) / least) * scaled + 2 * errors / least

    def levels(self, S: Masks, T: Masks) -> tuple[Floats, Floats, Floats]:
        """Return the share x, the value off T and bounds on the errors of x, of columns of kind P.

        Times ``(1 - a) / (d1 + d2)``, such a column is ``1 - a`` higher on S than off T, and on M x times that.
        """
        a = float(self.floor.least_lift)
        share, error = shares(self.x[S], self.x[T])
        return share, a * ((1 - share) * self.greatest_masses[S] + share * self.greatest_masses[T]), error

    def _three_values(self, S: Masks, T: Masks) -> tuple[Floats, Floats]:
        """Return columns of kind P times ``(1 - a) / (d1 + d2)``, and bounds on the errors that their shares cause."""
        a, strict, N = float(self.floor.least_lift), float(1 - self.floor.least_lift), self.known.size
        share, everywhere, error = self.levels(S, T)
        inside = indicator(S, N)
        between = indicator(T, N) - inside
        columns = strict * (inside + share * between) + everywhere
        return columns, error * (strict * between + a * self.greatest_masses[T])
