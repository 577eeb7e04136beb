"""Which frequencies of the inputs of a mechanism its reports determine.

Reports show theta only through the distribution of outputs ``A^T theta``. A sum ``r^T theta`` is identifiable, that is
determined by that distribution, exactly when r is in the range of A: then A u = r for some u, and ``r^T theta`` is
the mean of u over the outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import PRIMAL, LinearProgram
from mechdesign.numerics.tolerances import RANK, SOLVER

_INVISIBLE = 1e-6  # an entry of a null vector below this counts as 0; null vectors have errors of about RANK
_NUDGE = 1e-7  # of frequencies into the interior of the simplex
_LARGEST_PROGRAM = 200  # categories, beyond which two linear programs for each take minutes


@dataclass(frozen=True, eq=False)
class Identification:
    """Which categories the reports of a mechanism distinguish.

    Attributes
    ----------
    basis : array, shape (N, rank)
        Orthonormal columns that span the range of A; the identity if the range is the whole space.
    null : array, shape (N, N - rank)
        Orthonormal columns that span the null space of A^T.
    identifiable : bool array, shape (N,)
        Whether theta_i is determined by the distribution of outputs.
    groups : tuple of int arrays
        The finest partition of the categories such that the null space of A^T is the sum of its parts within them.
        Categories of different groups are not confounded with each other, and the total of each group is
        identifiable, because null vectors sum to zero. An identifiable category is a group of its own.
    """

    basis: Floats
    null: Floats
    identifiable: NDArray[np.bool_]
    groups: tuple[NDArray[np.intp], ...]


def identify(matrix: Floats) -> Identification:
    """Return which categories a mechanism distinguishes, from the singular values of its matrix.

    Columns are first divided by the square roots of their means, so that a rare output weighs as much as the
    information it carries. Singular values below 1e-8 of the greatest count as 0.

    Parameters
    ----------
    matrix : array, shape (N, M)
        Row-stochastic, without columns of zeros.

    Examples
    --------
    >>> found = identify(np.array([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]]))
    >>> found.identifiable, [group.tolist() for group in found.groups]
    (array([ True, False, False]), [[0], [1, 2]])
    """
    N = len(matrix)
    left, values, _ = np.linalg.svd(matrix / np.sqrt(matrix.mean(axis=0)), full_matrices=matrix.shape[1] < N)
    rank = int((values > RANK * values[0]).sum())
    if rank == N:
        return Identification(np.eye(N), np.empty((N, 0)), np.ones(N, dtype=bool), tuple(np.arange(N)[:, None]))
    null = left[:, rank:]
    reach = np.linalg.norm(null, axis=1)
    identifiable = reach < _INVISIBLE
    null = np.where(identifiable[:, None], 0.0, null)
    directions = null / np.where(identifiable, 1.0, reach)[:, None]
    groups = _components(np.abs(directions @ directions.T) > _INVISIBLE)
    return Identification(left[:, :rank], null, identifiable, groups)


def _components(linked: NDArray[np.bool_]) -> tuple[NDArray[np.intp], ...]:
    """Return the connected components of a graph, in the order of their least members."""
    from scipy.sparse.csgraph import connected_components

    count, names = connected_components(linked, directed=False)
    groups = [np.flatnonzero(names == k) for k in range(count)]
    return tuple(sorted(groups, key=lambda group: int(group[0])))


@dataclass(frozen=True, eq=False)
class Ranges:
    """The least and the greatest frequency of some categories, given the distribution of outputs.

    Attributes
    ----------
    categories : int array, shape (K,)
        Their positions among the inputs.
    lower, upper : array, shape (K,)
        The range of each.
    below, above : array, shape (N, K)
        Identifiable sums that prove the ranges: ``below[:, k] <= e_i <= above[:, k]`` for category i, so that
        ``below[:, k]^T theta <= theta_i <= above[:, k]^T theta`` for every theta.
    choices : tuple of int
        For each category the number of sums, at most, among which its bound was chosen as the best at the given theta.
        The best bound at an estimated theta looks tighter than it is, and confidence limits must correct for that.
    """

    categories: NDArray[np.intp]
    lower: Floats
    upper: Floats
    below: Floats
    above: Floats
    choices: tuple[int, ...]


def identified_ranges(matrix: Floats, found: Identification, theta: Floats) -> Ranges:
    """Return bounds on the categories that the distribution of outputs does not determine.

    Each bound is a linear program over the frequencies of a group that give the same distribution. In groups of more
    than 200 categories it is replaced by what single outputs say, ``0 <= theta_i <= min_j (A^T theta)_j / A_ij``,
    which holds but may be wider.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    found : Identification
        What `identify` returned for the mechanism.
    theta : array, shape (N,)
        Frequencies that give the distribution of outputs.

    Raises
    ------
    SolverError
        If HiGHS ends without an optimum.
    """
    N = len(theta)
    categories = np.flatnonzero(~found.identifiable)
    place = np.empty(N, dtype=np.intp)
    place[categories] = np.arange(categories.size)
    below, above = np.zeros((2, N, categories.size))
    choices = np.ones(categories.size, dtype=object)  # whole numbers beyond 2^63
    for group in found.groups:
        if group.size > 1:
            corner = np.ix_(group, place[group])
            if group.size <= _LARGEST_PROGRAM:
                basis = _identifiable_sums(found.null[group])
                below[corner], above[corner] = _proofs(basis, theta[group])
                # A sum is determined by as many categories as the basis has columns, its own category among them.
                choices[place[group]] = math.comb(group.size - 1, basis.shape[1] - 1)
            else:
                above[corner] = _proofs_by_outputs(matrix[group], theta[group])
                choices[place[group]] = matrix.shape[1]
    inside = theta[categories]
    lower = np.clip(theta @ below, 0.0, inside)
    upper = np.maximum(np.minimum(theta @ above, 1.0), inside)
    return Ranges(categories, lower, upper, below, above, tuple(choices))


def _identifiable_sums(null: Floats) -> Floats:
    """Return orthonormal columns that span the orthogonal complement of the null vectors of a group."""
    left, values, _ = np.linalg.svd(null)
    basis: Floats = left[:, int((values > _INVISIBLE).sum()) :]
    return basis


def _proofs(basis: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Return the identifiable sums that bound each category of a group best at theta, shape (m, m) each."""
    size = len(theta)
    # Where theta has zeros, several sums may be best: they are chosen at a positive point next to theta.
    total = float(theta.sum())
    inner = (1 - _NUDGE) * theta / total + _NUDGE / size if total > 0 else np.full(size, 1 / size)
    program = _RangeProgram(basis, inner)
    below, above = np.zeros((2, size, size))
    vanishing = np.zeros(size, dtype=bool)  # 0 at some solution, so that no sum above 0 bounds these from below
    for k in range(size):
        point, above[:, k] = program.greatest(k)
        vanishing |= point <= SOLVER
    for k in range(size):
        if not vanishing[k]:
            point, below[:, k] = program.least(k)
            vanishing |= point <= SOLVER
    below[:, vanishing] = 0.0
    return below, above


def _proofs_by_outputs(rows: Floats, theta: Floats) -> Floats:
    """Return for each category of a group the multiple of a column that is its best upper bound, shape (m, m)."""
    bounds = np.divide(theta @ rows, rows, out=np.full(rows.shape, np.inf), where=rows > 0)
    best = bounds.argmin(axis=1)
    proofs: Floats = rows[:, best] / rows[np.arange(len(rows)), best]
    return proofs


class _RangeProgram:
    """Linear programs over ``{x >= 0 : basis^T x = basis^T theta}``, each started where the last one ended."""

    def __init__(self, basis: Floats, theta: Floats) -> None:
        self._basis, self._size, values = basis, len(theta), basis.T @ theta
        self._program = LinearProgram(method=PRIMAL)  # another objective keeps the basis feasible
        self._program.add_columns(np.zeros(self._size))
        self._program.add_rows(basis.T, values, values)

    def least(self, k: int) -> tuple[Floats, Floats]:
        """Return a point where x_k is least, and a sum in the span of the basis that is at most x_k and equals it."""
        return self._solve(k, 1.0)

    def greatest(self, k: int) -> tuple[Floats, Floats]:
        """Return a point where x_k is greatest, and a sum that is at least x_k and equals it."""
        point, proof = self._solve(k, -1.0)
        return point, -proof

    def _solve(self, k: int, sign: float) -> tuple[Floats, Floats]:
        costs = np.zeros(self._size)
        costs[k] = sign
        self._program.change_costs(np.arange(self._size), costs)
        found = self._program.solved().required(f"a group of {self._size} categories", "merge some of them")
        proof: Floats = self._basis @ found.prices
        return found.x, proof
