"""The extreme rays of the column cone of a lower probability, listed.

The priors are those with ``Q(S) >= f(S)`` for every set S, f supermodular. With ``g(S) = e f(S) - 1`` every extreme ray
of ``K = { v >= 0 : max v <= e h(v) }`` is, up to scale, of one of these kinds:

- **I**: ``1_{i}`` for a symbol i with ``g({i}) >= 0``;
- **E**: ``1_S`` with ``g(S) = 0``;
- **P**: ``g(T) 1_S - g(S) 1_T`` for S, not empty, in T with ``g(S) < 0 < g(T)``, if the difference M of T and S is
  *indecomposable* over S: no part U of M, neither empty nor M, has ``f(S + U) + f(T - U) = f(S) + f(T)``.

docs/mathematics.md proves it. e is taken as the exact number that the float is, and signs of g are decided in integers.
Values of g are correctly rounded, and kind P adds two positive numbers, so that every entry has a relative error of a
few units. Decomposable pairs are left out for few symbols only; elsewhere they make the list longer, and harmlessly so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.rays import Masks, RayList, indicator
from mechdesign.uncertainty import LowerProbability

MOST_LISTED_PAIRS = 600_000  # 3^12
_MOST_DECOMPOSED = 8  # symbols
_CHUNK = 1 << 15
_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)  # below it values of g are rounded to less than 53 bits
_LEAST = 1e-290  # below it a quotient of two values of g is not computed


@dataclass(frozen=True)
class LowerRays(RayList):
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
    def prior(self) -> Floats:
        """The reference prior P."""
        return self.known.prior

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
