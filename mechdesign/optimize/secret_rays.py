"""The extreme rays of the column cone of a promise about a secret, listed.

For a known joint distribution the cone is ``K = { v >= 0 : <e P - A_s, v> >= 0 for every value s of the secret }``,
one row for each of K values. An extreme ray that is positive on the set F of symbols is determined by ``|F| - 1`` tight
rows that are independent on F. Not all rows are tight, because weighted by the law of the secret they sum to
``(e - 1) <P, v> > 0``. So a ray has at most K entries that are not 0, and the number of rays grows like ``N^K``, not
like ``2^N``. The kind of a ray is the number of its tight rows that determine it, as a digit.

A promise from below adds the rows ``A_s - a P``. One row of each value can be tight at most, and where a row of every
value is, these are dependent: weighted by the law of the secret they sum to a multiple of P that is 0 at v, so to 0.
Rays still have at most K entries that are not 0, and there are up to ``2^|T|`` times as many.

e is taken as the exact number that the float is. For each set T of rows and each F the system is solved in integers,
and a column is kept if it is positive on F and keeps every row. Entries are correctly rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice, product
from operator import mul

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.rays import RaysOfSet
from mechdesign.uncertainty.secret import SecretPromise

_KINDS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHUNK = 1 << 14
_MOST_ROWS = 6  # of a minor that is computed in floats
_MINOR_ERROR = 1e-10  # where rows sum to 1: the backward error of elimination moves minors of 6 rows by less than 1e-11
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class _Listed:
    """Rays with the same number of entries: the symbols F (k, m + 1), and the entries there (k, m + 1)."""

    symbols: NDArray[np.int64]
    values: Floats


@dataclass(frozen=True)
class SecretRays(RaysOfSet):
    """All extreme rays of the column cone of a promise about a secret, at the joint distribution of the counts.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : SecretPromise
        Limits are not looked at: with limits the cone is smaller, and this list serves for upper bounds.
    exp_epsilon : float
        exp(epsilon), above 1.
    least_lift : Fraction
        exp(-lower), below 1; 0 without a promise from below.

    Examples
    --------
    >>> rays = SecretRays(SecretPromise([[20, 10, 5, 5], [10, 15, 20, 15]], known=True), 1.25)
    >>> [rays.count(kind) for kind in rays.kinds]
    [2, 5]
    """

    known: SecretPromise
    exp_epsilon: float
    least_lift: Fraction = Fraction(0)

    @property
    def kinds(self) -> str:
        """A digit for each number of tight rows, from 0 to K - 1."""
        return _KINDS[: min(len(self.known.joint.values), self.known.size)]

    @property
    def candidates(self) -> int:
        """How many pairs of a set of symbols and a set of rows there are, or infinitely many for practical purposes."""
        values, N = len(self.known.joint.values), self.known.size
        if values > len(_KINDS):
            return 10**18
        sides = 2 if self.least_lift > 0 else 1
        return sum(sides**m * math.comb(values, m) * math.comb(N, m + 1) for m in range(min(values, N)))

    @cached_property
    def rows(self) -> list[list[int]]:
        """The rows ``e P - A_s``, then ``A_s - a P``, each times a positive number of its own, as integers."""
        levels = [Fraction(self.exp_epsilon)] + [self.least_lift] * (self.least_lift > 0)
        return [row for sign, level in zip((1, -1), levels, strict=False) for row in self._rows_at(sign, level)]

    def _rows_at(self, sign: int, level: Fraction) -> Iterator[list[int]]:
        joint = self.known.joint
        for row, seen in zip(joint.counts, joint.of_values, strict=True):
            integers = [
                sign * (level.numerator * seen * of_symbol - level.denominator * joint.total * count)
                for of_symbol, count in zip(joint.of_symbols, row, strict=True)
            ]
            common = math.gcd(*integers) or 1
            yield [entry // common for entry in integers]

    def _tight(self, size: int) -> Iterator[tuple[int, ...]]:
        """Yield the sets of rows that can be tight together: one of each value."""
        K = len(self.known.joint.values)
        sides = range(len(self.rows) // K)
        for values in combinations(range(K), size):
            for of_each in product(sides, repeat=size):
                yield tuple(side * K + value for side, value in zip(of_each, values, strict=True))

    @cached_property
    def _listed(self) -> dict[str, _Listed]:
        masses, total = self.known.joint.of_symbols, self.known.joint.total
        result = {}
        for tight, kind in enumerate(self.kinds):
            found = list(self.exact(tight))
            values = []
            for symbols, entries in found:
                mass = sum(entry * masses[x] for entry, x in zip(entries, symbols, strict=True))
                values.append([entry * total / mass for entry in entries])
            shape = (len(found), tight + 1)
            result[kind] = _Listed(
                np.array([symbols for symbols, _ in found], dtype=np.int64).reshape(shape),
                np.array(values, dtype=float).reshape(shape),
            )
        return result

    def exact(self, tight: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the rays that a number of tight rows determines: the symbols F and coprime integers there."""
        seen = set()
        for T in self._tight(tight):
            for F in self._perhaps_positive(T, tight + 1):
                entries = _positive_solution([[self.rows[t][x] for x in F] for t in T])
                if entries is None or (F, entries) in seen:
                    continue
                if all(sum(map(mul, (row[x] for x in F), entries)) >= 0 for row in self.rows):
                    seen.add((F, entries))
                    yield F, entries

    def _perhaps_positive(self, T: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
        """Yield the sets of symbols on which the rows of T may have a positive solution.

        Left out are sets on which a row has one sign alone, and sets whose minors, which by Cramer's rule are the
        entries of the solution, have both signs by more than their rounding errors.
        """
        scaled = self._floats[list(T)]
        sets = combinations(range(self.known.size), size)
        while chunk := list(islice(sets, _CHUNK)):
            if not T:
                yield from chunk
                continue
            on = scaled[:, np.array(chunk)].transpose(1, 0, 2)
            signs: NDArray[np.bool_] = np.logical_and((on > 0).any(axis=2), (on < 0).any(axis=2))
            places = np.flatnonzero(np.all(signs, axis=1))
            if 1 < len(T) <= _MOST_ROWS:
                places = places[_not_of_both_signs(on[places])]
            yield from (chunk[place] for place in places.tolist())

    @cached_property
    def _floats(self) -> Floats:
        """The rows as floats, each over its greatest entry."""
        return np.array([[entry / (max(map(abs, row)) or 1) for entry in row] for row in self.rows])

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds."""
        return sum(len(found.symbols) for kind, found in self._listed.items() if kind in kinds)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with bounds on the errors of its entries."""
        unit = 2 * (self.known.size + 8) * _EPS
        for kind, found in self._listed.items():
            if kind not in kinds:
                continue
            for start in range(0, len(found.symbols), _CHUNK):
                symbols, values = found.symbols[start : start + _CHUNK], found.values[start : start + _CHUNK]
                columns = np.zeros((self.known.size, len(symbols)))
                np.put_along_axis(columns, symbols.T, values.T, axis=0)
                yield columns, unit * columns


def _not_of_both_signs(systems: Floats) -> NDArray[np.bool_]:
    """Return for which systems, shape (n, m, m + 1), the solution is not proved to have entries of both signs."""
    scaled = systems / np.abs(systems).sum(axis=2, keepdims=True)
    minors = np.stack([(-1) ** c * np.linalg.det(np.delete(scaled, c, axis=2)) for c in range(scaled.shape[2])], axis=1)
    mixed = (minors > _MINOR_ERROR).any(axis=1) & (minors < -_MINOR_ERROR).any(axis=1)
    return np.asarray(~mixed)


def _positive_solution(rows: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Return the positive coprime integers that every row maps to 0, if they are unique up to a factor; else None.

    Examples
    --------
    >>> _positive_solution([[4, -6]])
    (3, 2)
    """
    if not rows:
        return (1,)
    if len(rows) == 1:
        ((first, second),) = rows
        found = [-second, first] if first > 0 else [second, -first]
    else:
        size = len(rows)
        square = fmpz_mat([list(row[:-1]) for row in rows])
        if square.det() == 0:
            return None
        solution, over = square.solve(fmpz_mat(size, 1, [-row[-1] for row in rows])).numer_denom()
        sign = 1 if int(over) > 0 else -1
        found = [sign * int(entry) for entry in solution.entries()] + [sign * int(over)]
    if min(found) <= 0:
        return None
    common = math.gcd(*found)
    return tuple(entry // common for entry in found)
