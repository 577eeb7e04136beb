"""The extreme rays of the column cone of a hull of finitely many priors, listed.

The cone is ``K = { v >= 0 : max v <= e <Q_k, v> for every k }``. Scaled to ``max v = 1``, every extreme ray is
a vertex of ``{ v in [0, 1]^N : <Q_k, v> >= 1/e for every k }``: it is 1 on a set S that is not empty, strictly
between 0 and 1 on a set F, and 0 elsewhere. Its entries on F are determined by a set T of tight rows, as many as F has
symbols. If F is empty, some row is tight nevertheless, or S is a single symbol. The kind of a ray is the size of F,
as a digit.

For given F and T the square system is the same for every S. It is solved once, exactly: with ``W`` the
solution of ``Q_TF W = Q_T`` and ``U = Q - Q_F W`` of the other rows, and because every prior sums to 1,

    v_F = W(all) / e - W(S),        <Q_k, v> - 1/e = U_k(S) - U_k(all) / e,

where (S) sums columns over S. Whether a system is singular is therefore decided in integers, and every float
below is a sum of correctly rounded rationals, with an error that is known. A candidate is dropped only if it violates
a constraint by more than that error, so that no ray is lost; those kept are in the cone up to the errors stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from flint import fmpz_mat
from numpy.typing import NDArray

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.rays import Masks, RayList, indicator
from mechdesign.uncertainty import ConvexHull

MOST_LISTED_VERTICES = 4_000_000
_CHUNK = 1 << 15
_MOST_AT_ONCE = 1 << 21  # numbers in one array
_EPS = float(np.finfo(float).eps)
_TINY = 1e-300  # covers the error of underflow
_FINE = 1e-12  # of its mass: a column whose error is greater is computed again in rationals
_COARSEST = 1e-9  # of its greatest entry: likewise

Prior = tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class _Vertices:
    """Vertices with j fractional entries: F (k, j), the sets S (k,), and the entries with their errors (k, j)."""

    fractional: NDArray[np.int64]
    sets: Masks
    values: Floats
    errors: Floats

    def __len__(self) -> int:
        return self.sets.size


@dataclass(frozen=True, eq=False)
class _System:
    """One choice of F and T: the exact solution as floats, rows of F first, columns of the free symbols."""

    fractional: tuple[int, ...]
    tight: tuple[int, ...]
    free: tuple[int, ...]
    coefficients: Floats
    wholes: Floats


@dataclass(frozen=True)
class HullRays(RayList):
    """All extreme rays of the column cone of a hull.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1`` for the reference prior P.

    Attributes
    ----------
    hull : ConvexHull
        Priors that are mixtures of the others are left out first.
    exp_epsilon : float
        exp(epsilon), above 1; the float is taken as an exact number.

    Examples
    --------
    >>> rays = HullRays(ConvexHull([["0.5", "0.3", "0.2"], ["0.4", "0.2", "0.4"]]), 1.5)
    >>> [rays.count(kind) for kind in rays.kinds]
    [0, 4, 2]
    """

    hull: ConvexHull
    exp_epsilon: float

    @property
    def prior(self) -> Floats:
        """The reference prior P."""
        return self.hull.prior

    @property
    def kinds(self) -> str:
        """The kinds that can occur: a digit for each number of fractional entries."""
        return "".join(str(j) for j in range(self._most_fractional + 1))

    @property
    def _most_fractional(self) -> int:
        return min(self.hull.size - 1, len(self._priors))

    @property
    def systems(self) -> int:
        """How many systems are solved exactly: pairs of a set F and a set of as many rows."""
        N, K = self.hull.size, len(self._priors)
        return sum(math.comb(N, j) * math.comb(K, j) for j in range(self._most_fractional + 1))

    @property
    def candidates(self) -> int:
        """How many columns are computed."""
        N, K = self.hull.size, len(self._priors)
        return sum(math.comb(N, j) * math.comb(K, j) << (N - j) for j in range(self._most_fractional + 1))

    @cached_property
    def _priors(self) -> list[Prior]:
        return essential_priors(self.hull.priors)

    @cached_property
    def _integers(self) -> tuple[list[list[int]], int]:
        integers, common = over_common_denominator(q for prior in self._priors for q in prior)
        N = self.hull.size
        return [integers[k * N : (k + 1) * N] for k in range(len(self._priors))], common

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds.

        Raises
        ------
        LimitError
            If the list grows beyond memory.
        """
        return sum(len(part) for kind, parts in self._vertices.items() if kind in kinds for part in parts)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the rays of some kinds, each chunk with bounds on the errors of its entries.

        The errors of fractional entries change the mass that a column is divided by, and so all its entries.
        """
        P = self.prior
        unit = 2 * (self.hull.size + 8) * _EPS
        for part in (part for kind in kinds for part in self._vertices.get(kind, [])):
            for start in range(0, len(part), _CHUNK):
                cut = slice(start, start + _CHUNK)
                columns, errors = self._columns(part, cut)
                mass = P @ columns
                scaled = columns / mass
                yield scaled, (unit + 2 * (P @ errors) / mass) * scaled + 2 * errors / mass

    def _columns(self, part: _Vertices, cut: slice) -> tuple[Floats, Floats]:
        """Return columns with greatest entry 1 and the errors of their entries."""
        columns = indicator(part.sets[cut], self.hull.size)
        errors = np.zeros_like(columns)
        every = np.arange(columns.shape[1])[:, None]
        columns[part.fractional[cut], every] = part.values[cut]
        errors[part.fractional[cut], every] = part.errors[cut]
        return columns, errors

    # Enumeration

    @cached_property
    def _vertices(self) -> dict[str, list[_Vertices]]:
        found: dict[str, list[_Vertices]] = {}
        total = 0
        for j, kind in enumerate(self.kinds):
            parts = found.setdefault(kind, [])
            for batch in self._batches(j):
                for part in self._feasible(batch):
                    total += len(part)
                    if total > MOST_LISTED_VERTICES:
                        raise LimitError.no_method(
                            f"{self.hull.size} categories and {len(self._priors)} priors have more than "
                            f"{MOST_LISTED_VERTICES} extreme rays, too many to list; "
                            "merge categories, or give fewer priors"
                        )
                    if len(part):
                        parts.append(part)
        return found

    def _batches(self, j: int) -> Iterator[list[_System]]:
        """Yield nonsingular systems with j fractional entries, as many at once as arrays may hold."""
        N = self.hull.size
        most = max(1, _MOST_AT_ONCE // (len(self._priors) * min(_CHUNK, 1 << (N - j))))
        batch: list[_System] = []
        for fractional in combinations(range(N), j):
            for tight in combinations(range(len(self._priors)), j):
                system = self._solved(fractional, tight)
                if system is not None:
                    batch.append(system)
                if len(batch) == most:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _solved(self, fractional: tuple[int, ...], tight: tuple[int, ...]) -> _System | None:
        """Return W and U for one choice of F and T, or None if it determines no vertex."""
        rows, common = self._integers
        free = tuple(i for i in range(self.hull.size) if i not in fractional)
        others = [rows[k] for k in range(len(rows)) if k not in tight]
        # Numerators of all of W and U over one denominator.
        numerators, denominator = [[row[i] for i in free] for row in others], common
        wholes = [sum(row) for row in numerators]
        if fractional:
            square = fmpz_mat([[rows[k][f] for f in fractional] for k in tight])
            if square.det() == 0:
                return None
            right = fmpz_mat(len(tight), len(free), [rows[k][i] for k in tight for i in free])
            solution, over = square.solve(right).numer_denom()
            W = _as_rows(solution)
            denominator = common * int(over)
            numerators = [[common * w for w in row] for row in W]
            wholes = [sum(row) + denominator for row in numerators]
            if others:
                rest = fmpz_mat(len(others), len(free), [row[i] for row in others for i in free])
                lost = fmpz_mat([[row[f] for f in fractional] for row in others]) * solution
                U = _as_rows(rest * over - lost)
                numerators += U
                wholes += [sum(row) for row in U]
        try:
            coefficients = np.array([[w / denominator for w in row] for row in numerators])
            sums = np.array([whole / denominator for whole in wholes])
        except OverflowError:
            raise LimitError.beyond_precision(
                f"the priors {', '.join(str(k + 1) for k in tight)} of {self.hull!r} have ratios of probabilities that "
                "no float holds; round the priors, or leave out nearly impossible categories"
            ) from None
        return _System(fractional, tight, free, coefficients.reshape(len(rows), len(free)), sums)

    def _feasible(self, batch: list[_System]) -> Iterator[_Vertices]:
        """Yield the vertices that the systems of a batch determine, for all sets S."""
        j, n = len(batch[0].fractional), len(batch[0].free)
        coefficients = np.stack([system.coefficients for system in batch])
        sums = np.stack([system.wholes for system in batch])[:, :, None] / self.exp_epsilon
        powers = np.array([[1 << i for i in system.free] for system in batch], dtype=np.int64)
        fractional = np.array([system.fractional for system in batch], dtype=np.int64).reshape(len(batch), j)
        unit = 2 * (self.hull.size + 8) * _EPS
        for start in range(1, 1 << n, _CHUNK):
            inside = indicator(np.arange(start, min(start + _CHUNK, 1 << n)), n)
            values = sums - coefficients @ inside
            errors = unit * (np.abs(sums) + np.abs(coefficients) @ inside) + _TINY
            # A sum that overflows may be NaN. Every comparison with it is false, so that it drops no candidate.
            missed = (values[:, j:] > errors[:, j:]).any(axis=1)
            missed |= ((values[:, :j] < -errors[:, :j]) | (values[:, :j] > 1 + errors[:, :j])).any(axis=1)
            kept = ~missed
            if j == 0:
                # Where no row is tight the cone is the orthant, whose rays are the single symbols.
                kept &= ~(np.abs(values) > errors).all(axis=1) | (inside.sum(axis=0) == 1)
            which, column = np.nonzero(kept)
            found = _Vertices(
                fractional[which],
                (inside[:, column].astype(np.int64) * powers[which].T).sum(axis=0),
                np.clip(values[which, :j, column], 0.0, 1.0),
                errors[which, :j, column],
            )
            yield self._refined(found, [batch[index].tight for index in which] if j else [])

    # Rationals where rounding errors are large

    def _refined(self, found: _Vertices, tight: Sequence[tuple[int, ...]]) -> _Vertices:
        """Return the vertices; those of large error are computed again, and dropped if they are not vertices."""
        if not tight:
            return found
        columns, errors = self._columns(found, slice(None))
        P = self.prior
        rough = (P @ errors > _FINE * (P @ columns)) | (errors.max(axis=0) > _COARSEST)
        values, allowed, kept = found.values.copy(), found.errors.copy(), np.ones(len(found), dtype=bool)
        for index in np.flatnonzero(rough):
            inside = [i for i in range(self.hull.size) if int(found.sets[index]) >> i & 1]
            exact = self._exact(found.fractional[index].tolist(), tight[int(index)], inside)
            kept[index] = exact is not None
            if exact is not None:
                values[index] = exact
                allowed[index] = _EPS * values[index] + _TINY
        return _Vertices(found.fractional[kept], found.sets[kept], values[kept], allowed[kept])

    def _exact(self, fractional: list[int], tight: tuple[int, ...], inside: list[int]) -> list[float] | None:
        """Return the fractional entries, correctly rounded, or None if the column is not in the cone."""
        rows, common = self._integers
        e = Fraction(self.exp_epsilon)
        # All is multiplied by ``common * e.numerator``, so that every number is whole.
        square = fmpz_mat([[rows[k][f] * e.numerator for f in fractional] for k in tight])
        asked = [common * e.denominator - e.numerator * sum(row[i] for i in inside) for row in rows]
        solution, over = square.solve(fmpz_mat(len(tight), 1, [asked[k] for k in tight])).numer_denom()
        entries, denominator = [int(x) for x in solution.entries()], int(over)
        if not all(0 <= x <= denominator for x in entries):
            return None
        for row, missing in zip(rows, asked, strict=True):
            given = sum(row[f] * x for f, x in zip(fractional, entries, strict=True))
            if e.numerator * given < missing * denominator:
                return None
        return [x / denominator for x in entries]


def essential_priors(priors: Sequence[Prior]) -> list[Prior]:
    """Return priors with the same hull, without those found to be mixtures of the others.

    A solver proposes the mixture; it counts only if it holds in rational arithmetic.

    Examples
    --------
    >>> ends = [(Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4))]
    >>> essential_priors([ends[0], (Fraction(1, 3), Fraction(2, 3)), ends[1], ends[0]]) == ends
    True
    """
    kept = list(dict.fromkeys(priors))
    for prior in list(kept):
        others = [other for other in kept if other is not prior]
        if others and _is_mixture(prior, others):
            kept = others
    return kept


def _is_mixture(prior: Prior, others: list[Prior]) -> bool:
    """Return whether a prior is proved to be a mixture of others."""
    matrix = np.array([[float(q) for q in other] for other in others]).T
    proposed = minimum(np.zeros(len(others)), equal=(matrix, [float(q) for q in prior]))
    if not proposed.optimal:
        return False
    used = [others[k] for k in np.flatnonzero(proposed.x > 1e-12)]
    integers, _ = over_common_denominator(q for row in [prior, *used] for q in row)
    N = len(prior)
    right, *columns = [integers[k * N : (k + 1) * N] for k in range(len(used) + 1)]
    transposed = fmpz_mat(columns)
    normal = transposed * transposed.transpose()
    if normal.det() == 0:
        return False
    weights, over = normal.solve(transposed * fmpz_mat(N, 1, right)).numer_denom()
    mixture = transposed.transpose() * weights
    return min(weights.entries()) >= 0 and [int(x) for x in mixture.entries()] == [int(over) * x for x in right]


def _as_rows(matrix: fmpz_mat) -> list[list[int]]:
    entries, width = [int(x) for x in matrix.entries()], matrix.ncols()
    return [entries[start : start + width] for start in range(0, len(entries), width)]
