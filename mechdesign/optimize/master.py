"""The linear program of column generation: columns are added, and it is solved again from the last basis."""

from __future__ import annotations

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.highs import DUAL, PRIMAL, successive_solver
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT


class Master:
    """``max sum_k theta_k mu_k  subject to  sum_k theta_k v_k = (1,...,1), theta >= 0`` over the columns held.

    Parameters
    ----------
    rows : int
        Length of the columns.

    Attributes
    ----------
    columns : array, shape (rows, K)
        The columns held so far.
    weights : array, shape (K,)
        theta of the last solution.
    multipliers : array, shape (rows,)
        Dual to the equalities, and after these to the rows that were added.
    value : float
        Of the last solution.
    """

    def __init__(self, rows: int) -> None:
        import highspy

        self._highs = successive_solver()  # new columns keep the basis feasible
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        none = np.empty(0, dtype=np.int32)
        for _ in range(rows):
            self._highs.addRow(1.0, 1.0, 0, none, np.empty(0))
        self._optimal = highspy.HighsModelStatus.kOptimal
        self.columns: Floats = np.empty((rows, 0))
        self.weights: Floats = np.empty(0)
        self.multipliers: Floats = np.zeros(rows)
        self.value = -np.inf

    def add(self, columns: Floats, gains: Floats) -> None:
        """Add columns, shape (rows, k), with mu of each, shape (k,)."""
        across = np.ascontiguousarray(columns.T)
        filled = across != 0
        starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))[:-1]]).astype(np.int32)
        indices = np.nonzero(filled)[1].astype(np.int32)
        count = len(across)
        self._highs.addCols(
            count, gains, np.zeros(count), np.full(count, np.inf), indices.size, starts, indices, across[filled]
        )
        self.columns = np.hstack([self.columns, columns])

    def add_row(self, coefficients: Floats) -> None:
        """Add the row ``sum_k coefficients_k theta_k >= 0``; columns that are added later have one more entry."""
        held = np.flatnonzero(coefficients).astype(np.int32)
        self._highs.addRow(0.0, np.inf, held.size, held, coefficients[held])
        self.columns = np.vstack([self.columns, coefficients])

    def solve(self) -> None:
        """Solve the program from the last basis.

        Raises
        ------
        SolverError
            If HiGHS ends without an optimum.
        """
        rows, held = self.columns.shape
        if self.weights.size == 0 and held < rows:
            # Without a basis, and with more equations than columns, the primal method takes degenerate steps for long.
            self._run_dual()
        else:
            self._highs.run()
        if not self._solved():
            # The primal simplex method may fail on degenerate programs; the dual one then starts without a basis.
            self._highs.clearSolver()
            self._run_dual()
        if not self._solved():
            status = self._highs.modelStatusToString(self._highs.getModelStatus())
            raise SolverError(
                f"HiGHS ended {status!r} on {self.columns.shape[1]} columns; change epsilon or radius a little"
            )
        solution = self._highs.getSolution()
        self.weights = np.maximum(np.array(solution.col_value), 0.0)
        self.multipliers = np.array(solution.row_dual)
        self.value = float(self._highs.getInfo().objective_function_value)

    def _run_dual(self) -> None:
        self._highs.setOptionValue("simplex_strategy", DUAL)
        self._highs.run()
        self._highs.setOptionValue("simplex_strategy", PRIMAL)

    def _solved(self) -> bool:
        return bool(self._highs.getModelStatus() == self._optimal)

    def mechanism(self) -> Floats:
        """Return the columns that the last solution uses, times their weights."""
        columns, weights = self.columns[:, : self.weights.size], self.weights
        used = weights > NEGLIGIBLE_WEIGHT
        return with_weights(columns[:, used], weights[used])


def with_weights(columns: Floats, weights: Floats) -> Floats:
    """Return columns times weights, which are solved for once more so that rows sum to 1 up to rounding.

    Parameters
    ----------
    columns : array, shape (N, k)
        The columns that a basic solution of a linear program uses.
    weights : array, shape (k,)
        Their weights, up to the solver's errors.
    """
    ones = np.ones(len(columns))
    exact, *_ = np.linalg.lstsq(columns, ones, rcond=None)
    exact += np.linalg.lstsq(columns, ones - columns @ exact, rcond=None)[0]
    if (exact < 0).any() or np.abs(columns @ exact - 1).max() > np.abs(columns @ weights - 1).max():
        exact = weights
    result: Floats = columns * exact
    return result
