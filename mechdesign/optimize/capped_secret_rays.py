"""The extreme rays of the column cone of a promise about a secret with a cap for everyone, listed.

The cone is ``{ v : <e P - A_s, v> >= 0 for every s, a M <= v_i <= M }`` with ``M = max v`` and ``a = exp(-cap)``. Its
columns with M = 1 lie in the cube ``[a, 1]^N`` cut by K half-spaces, so that they are means of the vertices of this
polytope. A vertex is determined by the set F of its entries strictly between a and 1, the corner of the cube that the
other entries are in, and ``|F|`` tight rows that are independent on F. Not all K rows are tight, because weighted by
the law of the secret they sum to ``(e - 1) <P, v> > 0``. So a vertex has at most ``K - 1`` entries between.

For each F and each set T of rows, what the entries on F are as a linear function of the others is solved in integers,
for all corners at once; e and a are taken as the exact numbers that the floats are.
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

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.rays import RaysOfSet, indicator
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty.secret import SecretPromise

MOST_WITH_CAP = 45_000_000
"""The most corners and sets of rows that are looked at."""
_CHUNK = 1 << 14
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class CappedSecretRays(RaysOfSet):
    """All extreme rays for a secret with a cap, at the joint distribution of the counts, and some more columns.

    Columns come in chunks of shape (N, k), scaled so that ``<P, v> = 1``.

    Attributes
    ----------
    known : SecretPromise
        Limits are not looked at: with limits the cone is smaller, and this list serves for upper bounds.
    exp_epsilon : float
        exp(epsilon), above 1.
    least : Fraction
        a, above 0 and below ``exp(-epsilon)``; a float holds it.

    Examples
    --------
    >>> rays = CappedSecretRays(SecretPromise([[3, 1], [1, 3]], known=True), 1.25, Fraction(1, 4))
    >>> np.hstack(list(rays.of_kinds("1"))).round(3)
    array([[0.5, 1.5],
           [1.5, 0.5]])
    """

    known: SecretPromise
    exp_epsilon: float
    least: Fraction

    @property
    def kinds(self) -> str:
        """A digit for each number of entries between a and 1, from 0 to K - 1."""
        return self._without.kinds

    @property
    def candidates(self) -> int:
        """How many pairs of a corner of a face of the cube and a set of rows there are."""
        values, N = len(self.known.joint.values), self.known.size
        return sum(math.comb(values, m) * math.comb(N, m) << N - m for m in range(min(values, N)))

    @cached_property
    def _without(self) -> SecretRays:
        """The list without a cap, for its rows."""
        return SecretRays(self.known, self.exp_epsilon)

    @cached_property
    def _unit(self) -> float:
        return 4 * (self.known.size + 8) * _EPS

    @cached_property
    def _listed(self) -> dict[str, tuple[Floats, Floats]]:
        nothing = np.empty((self.known.size, 0))
        found = {kind: [(nothing, nothing), *self._vertices(between)] for between, kind in enumerate(self.kinds)}
        return {
            kind: (np.hstack([v for v, _ in parts]), np.hstack([e for _, e in parts])) for kind, parts in found.items()
        }

    def count(self, kinds: str) -> int:
        """Return how many columns are listed of some kinds."""
        return sum(columns.shape[1] for kind, (columns, _) in self._listed.items() if kind in kinds)

    def with_errors(self, kinds: str) -> Iterator[tuple[Floats, Floats]]:
        """Yield the columns of some kinds, each chunk with how far its entries may be from those of their rays."""
        for kind, (columns, errors) in self._listed.items():
            for start in range(0, columns.shape[1] if kind in kinds else 0, _CHUNK):
                yield columns[:, start : start + _CHUNK], errors[:, start : start + _CHUNK]

    def _vertices(self, between: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield the vertices with so many entries between a and 1, over their means, with their errors.

        Corners without a 1 are left out: a vertex whose entries are all below 1 is a column of the cone, but no ray.
        """
        a, N = float(self.least), self.known.size
        for F in combinations(range(N), between):
            others = [x for x in range(N) if x not in F]
            for T in combinations(self._without.rows, between):
                solved = _solved(T, F, others)
                if solved is None:
                    continue
                for start in range(1, 1 << len(others), _CHUNK):
                    masks = np.arange(start, min(start + _CHUNK, 1 << len(others)))
                    corners = a + (1 - a) * indicator(masks, len(others))
                    values, unsure = solved @ corners, self._unit * (np.abs(solved) @ corners)
                    inside = ((values >= a - unsure) & (values <= 1 + unsure)).all(axis=0)
                    if inside.any():
                        columns, errors = np.empty((N, inside.sum())), np.zeros((N, inside.sum()))
                        columns[others], columns[list(F)] = corners[:, inside], np.clip(values[:, inside], a, 1)
                        errors[list(F)] = np.minimum(unsure[:, inside], 1 - a)
                        yield self._kept(columns, errors)

    def _kept(self, columns: Floats, errors: Floats) -> tuple[Floats, Floats]:
        """Return the columns that keep all rows, or may, over their means, and their errors."""
        rows = self._rows
        sizes = np.abs(rows)
        may = (rows @ columns >= -(sizes @ (self._unit * columns + errors))).all(axis=0)
        columns, errors = columns[:, may], errors[:, may]
        means, off = self.prior @ columns, self.prior @ errors
        scaled = columns / means
        return scaled, (errors + off * scaled) / (means - off) + self._unit * scaled

    @cached_property
    def _rows(self) -> Floats:
        """The rows as floats, each over its greatest entry."""
        return np.array([[entry / (max(map(abs, row)) or 1) for entry in row] for row in self._without.rows])


def _solved(rows: Sequence[Sequence[int]], own: Sequence[int], others: Sequence[int]) -> Floats | None:
    """Return the entries on some symbols, where rows are 0, as multiples of those on others; None if not determined.

    Examples
    --------
    >>> _solved([[2, -3, 4]], [0], [1, 2])
    array([[ 1.5, -2. ]])
    """
    if not rows:
        return np.empty((0, len(others)))
    if not others:
        return None
    square = fmpz_mat([[row[x] for x in own] for row in rows])
    if square.det() == 0:
        return None
    found = square.solve(fmpz_mat([[-row[x] for x in others] for row in rows]))
    entries = [float(Fraction(int(entry.p), int(entry.q))) for entry in found.entries()]
    return np.array(entries).reshape(len(own), len(others))
