"""The linear program of column generation: columns are added, and it is solved again from the last basis."""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import DUAL, PRIMAL, LinearProgram
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT

_NEAR = 1e-6


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
        self._program = LinearProgram(method=PRIMAL, greatest=True)  # new columns keep the basis feasible
        self._program.add_rows(np.empty((rows, 0)), 1.0, 1.0)
        self.columns: Floats = np.empty((rows, 0))
        self.weights: Floats = np.empty(0)
        self.multipliers: Floats = np.zeros(rows)
        self.value = -np.inf

    def add(self, columns: Floats, gains: Floats) -> None:
        """Add columns, shape (rows, k), with mu of each, shape (k,)."""
        self._program.add_columns(gains, entries=columns)
        self.columns = np.hstack([self.columns, columns])

    def add_row(self, coefficients: Floats) -> None:
        """Add the row ``sum_k coefficients_k theta_k >= 0``; columns that are added later have one more entry."""
        self._program.add_rows(coefficients, 0.0, np.inf)
        self.columns = np.vstack([self.columns, coefficients])

    def solve(self) -> None:
        """Solve the program from the last basis.

        Raises
        ------
        SolverError
            If HiGHS ends without an optimum.
        """
        rows, held = self.columns.shape
        # Without a basis, and with more equations than columns, the primal method takes degenerate steps for long.
        found = self._program.solved(method=DUAL if self.weights.size == 0 and held < rows else PRIMAL)
        if not found.optimal:
            # The primal simplex method may fail on degenerate programs; the dual one then starts without a basis.
            found = self._program.solved(method=DUAL, anew=True)
        found.required(f"{held} columns", "change epsilon or radius a little")
        self.weights, self.multipliers, self.value = np.maximum(found.x, 0.0), found.prices, found.value

    def mechanism(self) -> Floats:
        """Return the columns that the last solution uses, times their weights."""
        columns, weights = self.columns[:, : self.weights.size], self.weights
        used = weights > NEGLIGIBLE_WEIGHT
        return with_weights(columns[:, used], weights[used])


def spread(columns: Floats) -> Floats:
    """Return columns; if all are within 1e-6 of (1,...,1), moved away from it by one factor until an entry is off by 1.

    Weights make a mechanism of columns with ``<P, v> = 1`` if and only if they make one of these. For a very small
    epsilon the tolerances of a linear program would not tell the columns apart.

    Examples
    --------
    >>> spread(1 + 2.0**-30 * np.array([[1, -1], [-1, 1]]))
    array([[2., 0.],
           [0., 2.]])
    """
    most = float(np.abs(columns - 1).max(initial=0.0))
    return 1 + (columns - 1) / most if 0 < most < _NEAR else columns


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
