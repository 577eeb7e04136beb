"""How well reports answer each query of a workload: the variance of each estimate, in floats or exactly.

Floats decide by singular values. For a mechanism in whole numbers "do reports determine this answer" is a question
about the range of a matrix of whole numbers, which is answered without rounding; variances that floats cannot carry are
computed in balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats, shares
from mechdesign.numerics.exact import arb_of, over_common_denominator, working_precision
from mechdesign.numerics.row_relations import RowRelations, row_relations
from mechdesign.numerics.tolerances import RANK, RANK_OF_FLOATS

_FIRST_BITS, _DOUBLINGS, _ACCURATE = 256, 12, 60  # bits of balls, and those of a variance that have to be right

Weights = Sequence[Sequence[int]] | NDArray[np.int64]


class Variances(NamedTuple):
    """What `variances_of_integers` returns.

    Attributes
    ----------
    each : array, shape (q,)
        n times the variance of the estimated answer of each query; infinite where reports do not determine it.
    condition : float
        The ratio of the singular values from which floats computed it; 1 for what was computed in balls.
    """

    each: Floats
    condition: float


def variances_of_integers(weights: Weights, prior: Sequence[Fraction], workload: Floats) -> Variances:
    """Return n times the variance of the estimated answer of each query, for a mechanism in whole numbers.

    Where the singular values of the matrix of floats are all above 1e-8 of the greatest, every answer is determined and
    floats carry the variances. Elsewhere both are exact: an answer is determined if its query is in the range of the
    matrix, over the rationals, and variances are computed in balls until 60 bits are right. Only matrices with more
    than 300 rows that are neither equal nor independent are left to floats.

    Parameters
    ----------
    weights : whole numbers, shape (N, M)
        The mechanism; the probability of an output is its weight over the sum of the row.
    prior : sequence of N fractions
        P.
    workload : array, shape (q, N)
        W, each float the rational that it is.

    Raises
    ------
    LimitError
        If a million bits are not enough for a variance.

    Examples
    --------
    The third and the fourth category have equal rows, so that their difference has no estimate, however little it
    weighs:

    >>> weights = [[12, 2, 2], [2, 12, 2], [2, 2, 12], [2, 2, 12]]
    >>> W = np.array([[1e9, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
    >>> variances_of_integers(weights, [Fraction(1, 4)] * 4, W).each
    array([5.175e+17,       inf])
    """
    matrix, P = shares(weights), np.array([float(p) for p in prior])
    condition = condition_of(matrix, P)
    if condition * RANK < 1:
        return Variances(variances_of_matrix(matrix, P, workload), condition)
    exact = exact_variances(weights, prior, workload)
    if exact is None:
        return Variances(variances_of_matrix(matrix, P, workload), 1 / RANK)
    return Variances(exact, 1.0)


def exact_variances(weights: Weights, prior: Sequence[Fraction], workload: Floats) -> Floats | None:
    """Return what `variances_of_integers` does, each the float next to a ball of which 60 bits are right.

    So each is off by at most 2^-52 of itself. None for more rows than relations are found among in a minute.

    Examples
    --------
    >>> exact_variances([[3, 1], [1, 3]], [Fraction(1, 2)] * 2, np.eye(2))
    array([1., 1.])
    """
    rows = weights.tolist() if isinstance(weights, np.ndarray) else weights
    exact = _Exact.of(rows, [sum(row) for row in rows], prior)
    return None if exact is None else exact.variances(workload)


def condition_of(matrix: Floats, prior: Floats) -> float:
    """Return the ratio of the singular values of columns over the roots of their masses; infinite without full rank.

    Where it is below 10^8, reports determine every answer, and floats show it.

    Examples
    --------
    >>> round(condition_of(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])), 9)
    2.0
    """
    values = _spectrum(matrix, prior)[1]
    return float(values[0] / values[-1]) if values.size == len(prior) and values[-1] > 0 else np.inf


def variances_of_matrix(matrix: Floats, prior: Floats, workload: Floats) -> Floats:
    """Return n times the variance of the estimated answer of each query from n reports, shape (q,).

    It is the diagonal of ``W (J^-1 - P P') W'``, whose sum is the estimation error; infinite where the reports do not
    determine the answer. Each query is judged by itself, by singular values: what shows only through those below 1e-8
    of the greatest counts as undetermined, unless all are above 1e-12. Then floats show that every answer is
    determined, though they cannot carry the variances, which are computed in balls, for each float the rational that
    it is.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    prior : array, shape (N,)
        P.
    workload : array, shape (q, N)
        W.

    Examples
    --------
    The second and third category have equal rows, so that only the first frequency is determined:

    >>> matrix = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    >>> variances_of_matrix(matrix, np.array([0.5, 0.25, 0.25]), np.eye(3)).round(9)
    array([ 1., inf, inf])
    """
    left, values = _spectrum(matrix, prior)
    rank = int((values > RANK * values[0]).sum())
    if rank < values.size == len(prior) and values[-1] > RANK_OF_FLOATS * values[0]:
        entries, one = over_common_denominator([Fraction(x) for x in matrix.ravel().tolist()])
        rows = np.array(entries, dtype=object).reshape(matrix.shape).tolist()
        exact = _Exact.of(rows, [one] * len(rows), [Fraction(p) for p in prior.tolist()])
        if exact is not None:
            return exact.variances(workload)
    F = centered(workload, prior)
    images = F @ left[:, :rank]
    missing = np.linalg.norm(F - images @ left[:, :rank].T, axis=1)
    lengths = np.linalg.norm(F, axis=1)
    result: Floats = np.where(missing > RANK * lengths, np.inf, ((images / values[:rank]) ** 2).sum(axis=1))
    return result


def variances_of_covariance(covariance: Floats, workload: Floats) -> Floats:
    """Return the variance of each query, shape (q,), from the covariance of the frequencies, shape (N, N).

    Examples
    --------
    >>> variances_of_covariance(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([1., 0.])
    """
    result: Floats = np.maximum(((workload @ covariance) * workload).sum(axis=1), 0.0)
    return result


def without_offsets(queries: Floats) -> Floats:
    """Return queries less the entry of each row that is least in size.

    Frequencies sum to 1, so that a number added to a row adds a known number to its answer.

    Examples
    --------
    >>> without_offsets(np.array([[2020.0, 2021.0, 2023.0], [1.0, 0.0, -1.0]]))
    array([[ 0.,  1.,  3.],
           [ 1.,  0., -1.]])
    """
    least = np.abs(queries).argmin(axis=1)
    result: Floats = queries - queries[np.arange(len(queries)), least][:, None]
    return result


def centered(queries: Floats, prior: Floats) -> Floats:
    """Return queries less their answers at a prior, F.

    Examples
    --------
    >>> centered(np.array([[2020.0, 2021.0]]), np.array([0.5, 0.5]))
    array([[-0.5,  0.5]])
    """
    moved = without_offsets(queries)
    result: Floats = moved - (moved @ prior)[:, None]
    return result


def _spectrum(matrix: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return left singular vectors and singular values of the columns over the roots of their masses, the used ones."""
    masses = prior @ matrix
    used = masses > 0
    left, values, _ = np.linalg.svd(matrix[:, used] / np.sqrt(masses[used]), full_matrices=False)
    return left, values


@dataclass(frozen=True)
class _Exact:
    """A mechanism of whole numbers, each row over its total, without the outputs that never occur at a prior."""

    rows: Sequence[Sequence[int]]
    totals: Sequence[int]
    prior: Sequence[Fraction]
    relations: RowRelations

    @staticmethod
    def of(rows: Sequence[Sequence[int]], totals: Sequence[int], prior: Sequence[Fraction]) -> _Exact | None:
        """Return the mechanism with the relations among its rows; None if finding them takes minutes."""
        used = [j for j in range(len(rows[0])) if any(row[j] and p for row, p in zip(rows, prior, strict=True))]
        kept = [[row[j] for j in used] for row in rows]
        relations = row_relations(kept)
        return None if relations is None else _Exact(kept, totals, prior, relations)

    def variances(self, workload: Floats) -> Floats:
        """Return the variance of each query; infinite where it is not in the range of the matrix."""
        result = np.zeros(len(workload))
        # An offset changes no answer but the known one, so that F is taken without the rounding of offsets.
        queries = [self._centered(row) for row in workload.tolist()]
        determined = []
        for place, query in enumerate(queries):
            # Row i stands for its probabilities times its total.
            if not self.relations.spans([f * total for f, total in zip(query, self.totals, strict=True)]):
                result[place] = np.inf
            elif any(query):
                determined.append(place)
        if determined:
            result[determined] = self._in_balls([queries[place] for place in determined])
        return result

    def _centered(self, row: list[float]) -> list[Fraction]:
        exact = [Fraction(x) for x in row]
        answer = sum((x * p for x, p in zip(exact, self.prior, strict=True)), Fraction(0))
        return [x - answer for x in exact]

    def _in_balls(self, queries: Sequence[Sequence[Fraction]]) -> list[float]:
        """Return ``f' J^-1 f`` for queries f in the range of J, with J and f at independent rows alone."""
        bits = _FIRST_BITS
        for _ in range(_DOUBLINGS):
            with working_precision(bits):
                found = self._at_precision(queries)
            if found is not None:
                return found
            bits *= 2
        raise LimitError.beyond_precision(
            f"the estimation error needs more than {bits // 2} bits: the mechanism is too nearly one whose reports do "
            "not determine the queries; give a mechanism with another epsilon"
        )

    def _at_precision(self, queries: Sequence[Sequence[Fraction]]) -> list[float] | None:
        """Return the variances if the working precision is enough for all of them, else None."""
        kept = self.relations.independent
        rows = [[arb(x) / total for x in row] for row, total in zip(self.rows, self.totals, strict=True)]
        masses: list[Any] = [arb(0)] * len(rows[0])
        for row, p in zip(rows, map(arb_of, self.prior), strict=True):
            masses = [mass + p * x for mass, x in zip(masses, row, strict=True)]
        columns = arb_mat([rows[i] for i in kept])
        lifts = arb_mat([[x / mass for x, mass in zip(rows[i], masses, strict=True)] for i in kept])
        F = arb_mat([[arb_of(query[i]) for query in queries] for i in kept])
        try:
            solved = (columns * lifts.transpose()).solve(F)
        except ZeroDivisionError:  # J may be singular, for all that balls of this precision tell
            return None
        balls = [sum((F[i, k] * solved[i, k] for i in range(len(kept))), arb(0)) for k in range(len(queries))]
        return [float(ball.mid()) for ball in balls] if all(b.rel_accuracy_bits() >= _ACCURATE for b in balls) else None
