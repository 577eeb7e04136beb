"""The extreme rays of the column cone of a two-sided promise over a lower probability, listed.

The priors are those with ``Q(S) >= f(S)`` for every set S, f supermodular, and ``F(S) = 1 - f(all but S)`` is the
greatest mass of S. With ``b = exp(epsilon)`` and ``a = exp(-lower)`` the cone is
``{ v : max v <= b h(v), min v >= a H(v) }``, and every extreme ray is, up to scale, of one of these kinds:

- **C**: ``(1,...,1)``;
- **T**: 1 on S and ``m = max( (1/b - f(S)) / (1 - f(S)), a F(S) / (1 - a + a F(S)) )`` elsewhere;
- **P**: ``d1 + d2 + d3 = 1`` on S, ``d2 + d3`` on the rest of T and ``d3`` elsewhere, S within T, so that both
  conditions are equalities.

S and T are neither empty nor the set of all symbols.
With ``x(S) = (1 - 1/b) (1 - a + a F(S)) - (1 - a) (1 - f(S))`` kind P exists exactly where ``x(S) < 0 < x(T)``; then

    d1 : d2 : d3  =  x(T) : -x(S) : a ( x(T) F(S) - x(S) F(T) ) / (1 - a).

docs/mathematics.md proves it. b and a are taken as the exact numbers that are given, the signs of x are decided in
integers, values of x, f and F are correctly rounded, and all sums are of positive numbers, so that every entry has a
relative error of a few units. Some columns of the list are not extreme; all lie in the cone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.lower_rays import shares, subsets_of
from mechdesign.optimize.rays import Masks, RayList, indicator
from mechdesign.uncertainty import LowerProbability

_CHUNK = 1 << 15
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class TwoSidedRays(RayList):
    """All extreme rays of the column cone of a two-sided promise, and some more columns of the cone.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : LowerProbability
        With a supermodular f, and at most 12 symbols. Every symbol has mass at some prior of the set.
    exp_epsilon : float
        exp(epsilon), above 1.
    least_lift : Fraction
        exp(-lower), between 0 and 1.

    Examples
    --------
    >>> from mechdesign.uncertainty import LowerLimits
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.4", "0.35", "0.25"])
    >>> rays = TwoSidedRays(limits, 2.0, Fraction(1, 2))
    >>> [rays.count(kind) for kind in rays.kinds]
    [1, 6, 2]
    """

    known: LowerProbability
    exp_epsilon: float
    least_lift: Fraction

    @property
    def prior(self) -> Floats:
        """The reference prior P."""
        return self.known.prior

    @property
    def kinds(self) -> str:
        """The constant column, two values, three values."""
        return "CTP"

    @cached_property
    def _exact(self) -> tuple[list[int], list[int], list[int], int, int]:
        """By bit masks, as integers: f(S) and F(S) over a common denominator, x(S) over another; both denominators."""
        values, common = self.known.of_every_set()
        b, a = Fraction(self.exp_epsilon), self.least_lift
        above, strict = b.numerator - b.denominator, a.denominator - a.numerator
        most = [common - value for value in reversed(values)]  # the mask of the complement counts from the end
        x = [
            above * (strict * common + a.numerator * F) - b.numerator * strict * (common - f)
            for f, F in zip(values, most, strict=True)
        ]
        return values, most, x, common, b.numerator * a.denominator * common

    @cached_property
    def _x(self) -> Floats:
        values, common = self._exact[2], self._exact[4]
        return np.array([value / common for value in values])

    @cached_property
    def _greatest_masses(self) -> Floats:
        """F(S) for every set S, by its bit mask."""
        return np.array([F / self._exact[3] for F in self._exact[1]])

    @cached_property
    def _elsewhere(self) -> Floats:
        """The value m of kind T off S, for every set S but the empty one and that of all symbols, by its bit mask."""
        values, most, x, common, _ = self._exact
        b, a = Fraction(self.exp_epsilon), self.least_lift
        return np.array(
            [
                (b.denominator * common - b.numerator * f) / (b.numerator * (common - f))
                if sign <= 0
                else a.numerator * F / ((a.denominator - a.numerator) * common + a.numerator * F)
                for f, F, sign in zip(values[1:-1], most[1:-1], x[1:-1], strict=True)
            ]
        )

    @cached_property
    def _pairs(self) -> tuple[Masks, Masks]:
        """S and T of kind P."""
        everything = (1 << self.known.size) - 1
        signs = np.array([(value > 0) - (value < 0) for value in self._exact[2]], dtype=np.int8)
        signs[[0, everything]] = 0
        lower, upper = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for S in np.flatnonzero(signs < 0).tolist():
            T = subsets_of(everything & ~S) | S
            T = T[signs[T] > 0]
            lower.append(np.full(T.size, S))
            upper.append(T)
        return np.concatenate(lower), np.concatenate(upper)

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
            columns = inside + (1 - inside) * self._elsewhere
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

    def _three_values(self, S: Masks, T: Masks) -> tuple[Floats, Floats]:
        """Return columns of kind P times ``(1 - a) / (d1 + d2)``, and bounds on the errors that their shares cause."""
        a, strict, N = float(self.least_lift), float(1 - self.least_lift), self.known.size
        share, error = shares(self._x[S], self._x[T])
        of_S, of_T = self._greatest_masses[S], self._greatest_masses[T]
        inside = indicator(S, N)
        between = indicator(T, N) - inside
        everywhere = a * ((1 - share) * of_S + share * of_T)
        columns = strict * (inside + share * between) + everywhere
        return columns, error * (strict * between + a * of_T)
