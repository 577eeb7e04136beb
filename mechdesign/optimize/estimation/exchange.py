"""Columns of many symbols, exchanged for better ones a block at a time, without a program for their weights.

Weights of k columns by interior points take about ``k^3`` operations a step, and a good mechanism of N symbols has many
times N columns. Here weights stay as they are. In a sweep each block of columns takes a step of the concave-convex
procedure (`generation`), with the matrix M of all columns as they are then. A block is small: all columns at once would
go to the directions that are worst now, and leave the others bare. The first columns come from Gaussian vectors that
are orthogonal in groups of N, so that their sample covariance is the one that is wanted; independent ones raise the
error by about N/k. Between sweeps `multiplicative` finds weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.interior_point import basis_of_sum_zero, full_weights
from mechdesign.optimize.estimation.linear_oracle import LinearOracle

_BLOCKS = 50  # of a sweep: about 2 % of the weight
WHOLE = 1e-12  # how far rows may be from their sum 1
_OF_ROWS = 0.3  # of the error, for a row that is off by its whole sum


@dataclass(frozen=True, eq=False)
class Exchanged:
    """A mechanism of columns and weights.

    Attributes
    ----------
    columns : array, shape (N, k)
        Scaled to ``<P, v> = 1``.
    weights : array, shape (k,)
        Positive; the weighted sum of the columns is (1,...,1) up to rounding.
    value : float
        The error.
    M : array, shape (N, N)
        The matrix of minus its gradient by weights, ``v'Mv``.
    multipliers : array, shape (N,)
        lambda, with ``<lambda, v>`` fitted to ``v'Mv`` at the columns.
    costs : array, shape (k,)
        ``v'Mv`` of each column.
    information : array, shape (N, N)
        ``J = sum w v v'``.
    """

    columns: Floats
    weights: Floats
    value: float
    M: Floats
    multipliers: Floats
    costs: Floats
    information: Floats

    @property
    def off(self) -> float:
        """How far a row is from its sum 1."""
        return float(np.abs(self.columns @ self.weights - 1).max())


def orthogonal_gaussians(covariance: Floats, groups: int, rng: np.random.Generator) -> Floats:
    """Return N Gaussian vectors for each group, whose sample covariance in the group is the one given.

    Examples
    --------
    >>> drawn = orthogonal_gaussians(np.diag([1.0, 4.0]), 1, np.random.default_rng(0))
    >>> (drawn @ drawn.T / 2).round(12) + 0.0
    array([[1., 0.],
           [0., 4.]])
    """
    values, vectors = np.linalg.eigh(covariance)
    half = vectors * np.sqrt(np.maximum(values, 0.0) * len(values))
    turns = (np.linalg.qr(rng.standard_normal(covariance.shape))[0] for _ in range(groups))
    result: Floats = np.hstack([half @ turn for turn in turns]) + 0.0
    return result


def moved(
    columns: Floats,
    weights: Floats,
    workload: Floats,
    oracle: LinearOracle,
    rng: np.random.Generator,
    deadline: float | None,
    fixed: int = 0,
) -> tuple[Floats, Floats]:
    """Return columns that were exchanged in one sweep, and weights for them; those given if the error does not fall.

    Parameters
    ----------
    columns : array, shape (N, k)
        Columns with ``<P, v> = 1``.
    weights : array, shape (k,)
        Positive weights by which the sum of the columns is (1,...,1).
    workload : array, shape (q, N)
        W, of rank N or N - 1.
    oracle : LinearOracle
        Finds columns.
    rng : numpy.random.Generator
        Puts columns into blocks.
    deadline : float or None
        A time of `time.monotonic`.
    fixed : int
        So many of the first columns stay.

    Raises
    ------
    SolverError
        If the deadline comes first.
    """
    program = ErrorOfColumns(workload)
    try:
        others = program.swept(columns, weights, oracle, rng, deadline, fixed)
        repaired = full_weights(others, weights)
        whole = np.abs(others @ repaired - 1).max() <= WHOLE
        if whole and program.evaluated(others, repaired).value < program.evaluated(columns, weights).value:
            return others, repaired
    except np.linalg.LinAlgError:  # too few columns for all directions
        pass
    return columns, weights


class ErrorOfColumns:
    """Error and gradient of columns with weights."""

    def __init__(self, workload: Floats) -> None:
        self._U = basis_of_sum_zero(workload.shape[1])
        queries = workload @ self._U
        self._K = queries.T @ queries

    def _of_information(self, J: Floats) -> tuple[float, Floats]:
        """Return the error and M of ``J = sum w v v'``."""
        inverse = np.linalg.inv(self._U.T @ J @ self._U)
        inverse = (inverse + inverse.T) / 2
        return float(np.sum(self._K * inverse)), self._U @ (inverse @ self._K @ inverse) @ self._U.T

    def evaluated(self, columns: Floats, weights: Floats) -> Exchanged:
        """Return the mechanism of columns and weights, with its error and multipliers."""
        J = (columns * weights) @ columns.T
        value, M = self._of_information(J)
        costs = np.einsum("ik,ik->k", columns, M @ columns)
        multipliers, *_ = np.linalg.lstsq(J, (columns * weights) @ costs, rcond=1e-12)
        return Exchanged(columns, weights, value, M, multipliers, costs, J)

    def swept(
        self,
        columns: Floats,
        weights: Floats,
        oracle: LinearOracle,
        rng: np.random.Generator,
        deadline: float | None,
        fixed: int = 0,
    ) -> Floats:
        """Return the columns after each block of them, but the fixed ones, took a step that raises its reduced costs.

        Rows that have become too great make their symbols dearer.
        """
        columns, at = columns.copy(), self.evaluated(columns, weights)
        J, rows = (columns * weights) @ columns.T, columns @ weights
        for block in np.array_split(rng.permutation(np.arange(fixed, weights.size)), _BLOCKS):
            if time_is_up(deadline):
                raise SolverError.not_converged("the time for a sweep is up")
            value, M = self._of_information(J)
            prices = (at.multipliers + _OF_ROWS * value * (rows - 1))[:, None]
            old = columns[:, block]
            new = oracle.best(2 * M @ old - prices)
            better = ((new * (M @ new - prices)) - old * (M @ old - prices)).sum(axis=0) > 0
            changed, old, new = block[better], old[:, better], new[:, better]
            J += (new * weights[changed]) @ new.T - (old * weights[changed]) @ old.T
            rows += (new - old) @ weights[changed]
            columns[:, changed] = new
        return columns
