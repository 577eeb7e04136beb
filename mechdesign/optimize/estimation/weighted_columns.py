"""Columns of many symbols with weights: their error, better weights, fewer columns, and columns exchanged for others.

Weights of k columns by interior points take about ``k^3`` operations a step, and a good mechanism of N symbols has many
times N columns. A multiplicative step takes ``k N^2``: weights w give ``J = sum w v v'``, the matrix M of minus the
gradient, ``v'Mv``, and multipliers lambda whose ``<lambda, v>`` are fitted to it. At the best weights both are equal
wherever a weight is positive, and ``v'Mv`` is nowhere greater, so that each weight is multiplied by a power of
``v'Mv / <lambda, v>`` (as in the design of experiments: Silvey, Titterington and Torsney 1978). Rows keep their sums by
least squares. Columns that are needed grow by this, and light ones are left out.

In a sweep each block of columns takes a step of the concave-convex procedure (`generation`), with the matrix M of all
columns as they are then. A block is small: all columns at once would go to the directions that are worst now, and leave
the others bare.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.interior_point import basis_of_sum_zero, full_weights
from mechdesign.optimize.estimation.linear_oracle import LinearOracle

_POWER = 4.0  # of the ratio that weights are multiplied by; halved where the error rises
_FASTER = 1.2  # what the power is multiplied by after a step that is good
_GREATEST, _LEAST = 4.0, 0.05  # ratio taken
_RISES = 1e-9  # relative: an error that rises by more
_RANK = 1e-13  # eigenvalues of J, relative to the greatest
_NEARLY, _MOST_REPAIRS = 1e-9, 10  # how far rows may be from their sum 1 between steps, and how often they are repaired
_LEAST_SHARE = 0.1  # of a weight that is left when rows are repaired
_LEFT, _STEPS_BETWEEN, _STEPS_AT_LAST = 0.8, 10, 30  # where columns are cut to a number: share a time, steps
_MOST_WEIGHED, _FOR_EACH = 3_600, 10  # columns that interior points take; and for each symbol, where there are more
FEW_SYMBOLS = 60
"""Up to so many symbols steps of interior points are quick; coarse weights or fewer columns held gave worse designs, by
up to 2 %."""

_BLOCKS = 50  # of a sweep: about 2 % of the weight
_WHOLE = 1e-12  # how far rows may be from their sum 1
_OF_ROWS = 0.3  # of the error, for a row that is off by its whole sum


@dataclass(frozen=True, eq=False)
class WeightedColumns:
    """A mechanism as columns with weights, and what tells which columns would be better.

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
    """

    columns: Floats
    weights: Floats
    value: float
    M: Floats
    multipliers: Floats

    def heaviest(self, most: int) -> tuple[Floats, Floats]:
        """Return no more than so many columns, those that some row uses most, and their weights."""
        kept = np.argsort(-self.weights * self.columns.max(axis=0), kind="stable")[:most]
        return self.columns[:, kept], self.weights[kept]


class ErrorOfColumns:
    """The error of columns with weights, for a workload.

    Parameters
    ----------
    workload : array, shape (q, N)
        W; of rank N, or N - 1 without the sum of all frequencies, so that the error is infinite where columns leave a
        direction out.

    Examples
    --------
    >>> program = ErrorOfColumns(np.eye(2))
    >>> found = program.reweighted(np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]]), np.full(3, 1 / 3), 100)
    >>> found.weights.round(6), round(found.value, 6)
    (array([0.5, 0.5, 0. ]), 0.5)
    """

    def __init__(self, workload: Floats) -> None:
        self._U = basis_of_sum_zero(workload.shape[1])
        queries = workload @ self._U
        self._K = queries.T @ queries

    def of_information(self, J: Floats) -> tuple[float, Floats]:
        """Return the error and M of ``J = sum w v v'``."""
        inverse = np.linalg.inv(self._U.T @ J @ self._U)
        inverse = (inverse + inverse.T) / 2
        return float(np.sum(self._K * inverse)), self._U @ (inverse @ self._K @ inverse) @ self._U.T

    def evaluated(self, columns: Floats, weights: Floats) -> WeightedColumns:
        """Return columns with their error, M and lambda."""
        return self._at(columns, weights).found

    def reweighted(
        self, columns: Floats, weights: Floats, steps: int, deadline: float | None = None
    ) -> WeightedColumns:
        """Return the best weights that so many multiplicative steps come to.

        Parameters
        ----------
        columns : array, shape (N, k)
            Columns with ``<P, v> = 1``.
        weights : array, shape (k,)
            Positive; their weighted sum of the columns is about (1,...,1).
        steps : int
            How many steps.
        deadline : float, optional
            A time of `time.monotonic` after which no step begins.

        Raises
        ------
        SolverError
            If no weights near those given make a mechanism, or its columns leave a direction out.
        """
        best = self._at(columns, _whole(columns, weights))
        power = _POWER
        for _ in range(steps):
            if time_is_up(deadline):
                break
            try:
                at = self._at(columns, best.multiplied(power))
            except SolverError:  # a step that is too long
                power /= 2
                continue
            if at.found.value > best.found.value * (1 + _RISES):
                power /= 2
            else:
                best, power = at, min(_FASTER * power, _POWER)
        return self._repaired(best.found)

    def cut(
        self, found: WeightedColumns, most: int, deadline: float | None = None, steps: int = _STEPS_AT_LAST
    ) -> WeightedColumns:
        """Return no more than so many of the columns; more only where those that stay would make no mechanism.

        Columns go a fifth at a time, and the weights of those that stay take some steps each time: to leave half of the
        columns at once would raise the error by some percent. So many steps follow, and end at the deadline.
        """
        try:
            while found.weights.size > most:
                left = max(most, int(_LEFT * found.weights.size))
                found = self.reweighted(*found.heaviest(left), _STEPS_BETWEEN)
            return self.reweighted(found.columns, found.weights, steps, deadline)
        except SolverError:
            return found

    def _at(self, columns: Floats, weights: Floats) -> _At:
        J = (columns * weights) @ columns.T
        try:
            value, M = self.of_information(J)
            values, vectors = np.linalg.eigh(J)
        except np.linalg.LinAlgError:
            value, M, values, vectors = np.nan, J, np.ones(len(J)), J
        if not 0 < value < np.inf:
            raise SolverError.solver_failed(
                f"the weights of {weights.size} columns leave a direction out; change epsilon or radius a little"
            )
        kept = values > _RANK * values[-1]
        half = vectors[:, kept] / np.sqrt(values[kept])
        costs = np.einsum("ik,ik->k", columns, M @ columns)
        multipliers = half @ (half.T @ (columns @ (weights * costs)))
        return _At(WeightedColumns(columns, weights, value, M, multipliers), costs, half)

    def _repaired(self, found: WeightedColumns) -> WeightedColumns:
        """Return columns with weights whose rows sum to 1 up to rounding."""
        return self.evaluated(found.columns, _whole(found.columns, found.weights))


@dataclass(frozen=True, eq=False)
class _At:
    """Weighted columns, ``v'Mv`` of each, and H with ``H H' = J^-1``."""

    found: WeightedColumns
    costs: Floats
    half: Floats

    def multiplied(self, power: float) -> Floats:
        """Return weights multiplied by a power of ``v'Mv / <lambda, v>``, of which rows sum to 1 nearly.

        Raises
        ------
        SolverError
            If weights near these do not make rows sum to 1.
        """
        columns = self.found.columns
        fitted = np.maximum(self.found.multipliers @ columns, 1e-12 * self.costs.max())
        weights: Floats = self.found.weights * np.clip(self.costs / fitted, _LEAST, _GREATEST) ** power
        with np.errstate(over="ignore", invalid="ignore"):  # of weights that are far off
            for _ in range(_MOST_REPAIRS):
                missing = 1 - columns @ weights
                if np.abs(missing).max() <= _NEARLY:
                    return weights
                share = self.half @ (self.half.T @ missing)
                weights = weights * np.maximum(1 + share @ columns, _LEAST_SHARE)
        raise SolverError.not_converged("rows do not sum to 1 after a step that is too long")


def lightened(columns: Floats, weights: Floats, workload: Floats, most: int) -> tuple[Floats, Floats]:
    """Return fewer of the columns, and their weights, where interior points would take minutes for all.

    Parameters
    ----------
    columns : array, shape (N, k)
        Columns with ``<P, v> = 1``; up to 3,600 stay as they are.
    weights : array, shape (k,)
        Positive; the weighted sum of the columns is (1,...,1).
    workload : array, shape (q, N)
        W; where it leaves directions out, all columns may stay.
    most : int
        How many are kept, or ten for each symbol if that is more.
    """
    if weights.size <= _MOST_WEIGHED:
        return columns, weights
    program = ErrorOfColumns(workload)
    try:
        found = program.cut(program.evaluated(columns, weights), max(most, _FOR_EACH * len(columns)))
    except SolverError:
        return columns, weights
    return found.columns, found.weights


def cut_to(columns: Floats, weights: Floats, workload: Floats, most: int) -> tuple[Floats, Floats] | None:
    """Return no more than so many of the columns of more than 60 symbols, and their weights.

    It takes seconds where dropping them one by one, each time with the best weights, takes minutes; the error is some
    per cent greater. None for up to 60 symbols, and where as few columns are not found to make a mechanism.
    """
    if len(columns) <= FEW_SYMBOLS:
        return None
    program = ErrorOfColumns(workload)
    try:
        found = program.cut(program.evaluated(columns, weights), most)
    except SolverError:
        return None
    return (found.columns, found.weights) if found.weights.size <= most else None


def _whole(columns: Floats, weights: Floats) -> Floats:
    """Return weights near those given, of which rows sum to 1 up to rounding.

    Raises
    ------
    SolverError
        If there are none.
    """
    result = weights
    for _ in range(_MOST_REPAIRS):
        result = full_weights(columns, result)
        if np.abs(columns @ result - 1).max() <= _WHOLE:
            return result
    raise SolverError.solver_failed(f"no weights of {weights.size} columns near those given make rows sum to 1")


def orthogonal_gaussians(covariance: Floats, groups: int, rng: np.random.Generator) -> Floats:
    """Return N Gaussian vectors for each group, whose sample covariance in the group is the one given.

    Columns from independent vectors have a greater error, by about N/k for k columns.

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
        Positive; the weighted sum of the columns is (1,...,1).
    workload : array, shape (q, N)
        W.
    oracle : LinearOracle
        Finds columns.
    rng : numpy.random.Generator
        Puts columns into blocks.
    deadline : float or None
        A time of `time.monotonic` after which no block begins; columns stay then.
    fixed : int
        So many of the first columns stay.
    """
    program = ErrorOfColumns(workload)
    try:
        before = program.evaluated(columns, weights)
        others = _swept(program, before, oracle, rng, deadline, fixed)
        after = program.evaluated(others, _whole(others, weights))
    except (np.linalg.LinAlgError, SolverError):  # too few columns for all directions, or the deadline
        return columns, weights
    return (after.columns, after.weights) if after.value < before.value else (columns, weights)


def _swept(
    program: ErrorOfColumns,
    at: WeightedColumns,
    oracle: LinearOracle,
    rng: np.random.Generator,
    deadline: float | None,
    fixed: int,
) -> Floats:
    """Return the columns after each block of them, but the fixed ones, took a step that raises its reduced costs.

    Rows that have become too great make their symbols dearer.
    """
    columns, weights = at.columns.copy(), at.weights
    J, rows = (columns * weights) @ columns.T, columns @ weights
    for block in np.array_split(rng.permutation(np.arange(fixed, weights.size)), _BLOCKS):
        if not block.size:  # there are fewer columns than blocks
            continue
        if time_is_up(deadline):
            raise SolverError.not_converged("the time for a sweep is up")
        value, M = program.of_information(J)
        prices = (at.multipliers + _OF_ROWS * value * (rows - 1))[:, None]
        old = columns[:, block]
        new = oracle.best(2 * M @ old - prices)
        better = ((new * (M @ new - prices)) - old * (M @ old - prices)).sum(axis=0) > 0
        changed, old, new = block[better], old[:, better], new[:, better]
        J += (new * weights[changed]) @ new.T - (old * weights[changed]) @ old.T
        rows += (new - old) @ weights[changed]
        columns[:, changed] = new
    return columns
