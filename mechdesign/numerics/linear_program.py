"""Linear programs, all of which HiGHS solves: one alone, or one after another, each from the basis of the last one.

No number of threads is set: HiGHS has one pool for the whole process, and refuses programs that ask for another size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import LEAST_COEFFICIENT, SOLVER

DUAL: Final = 1
"""The dual simplex method, as HiGHS numbers it."""

PRIMAL: Final = 4
"""The primal simplex method: where columns are added or the objective changes, the last basis stays feasible."""

Rows = tuple[Any, ArrayLike]
"""A matrix, dense or sparse, and the right side."""


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """How HiGHS ended.

    Attributes
    ----------
    status : str
        In its words.
    x : float array
        A point where the objective is least, or greatest; of no use unless there is an optimum.
    prices : float array
        The dual value of each row: how the optimum changes with its right side.
    value : float
        Of the objective.
    """

    status: str
    x: Floats
    prices: Floats
    value: float

    @property
    def optimal(self) -> bool:
        """Whether it found an optimum."""
        return self.status == "Optimal"

    def required(self, where: str, advice: str) -> ProgramSolution:
        """Return the optimum.

        Raises
        ------
        SolverError
            If there is none.
        """
        if not self.optimal:
            raise SolverError.solver_failed(f"HiGHS ended {self.status!r} on {where}; {advice}")
        return self


class LinearProgram:
    """``min <costs, x>  subject to  lower <= x <= upper``, and rows ``low <= A x <= high``, which may change.

    Parameters
    ----------
    method : int, optional
        `PRIMAL` or `DUAL`, for a program that is solved again and again: each time from the last basis, which presolve
        would discard. Without it the program is simplified first.
    greatest : bool
        Whether the objective is made as great as possible instead.
    interior : bool
        Whether it is solved by interior points, and then moved to a vertex.

    Examples
    --------
    >>> program = LinearProgram(method=PRIMAL)
    >>> program.add_columns([1.0, 2.0])
    >>> program.add_rows([[1.0, 1.0]], 1.0, math.inf)
    >>> program.solved().value
    1.0
    >>> program.change_costs([0], [3.0])
    >>> program.solved().x
    array([0., 1.])
    """

    def __init__(self, *, method: int | None = None, greatest: bool = False, interior: bool = False) -> None:
        import highspy

        self._highs = highspy.Highs()
        self._method = DUAL if method is None else method
        options: dict[str, object] = {
            "output_flag": False,
            "primal_feasibility_tolerance": SOLVER,
            "dual_feasibility_tolerance": SOLVER,
            "small_matrix_value": LEAST_COEFFICIENT,
        }
        if method is not None:
            options |= {"presolve": "off", "solver": "simplex"}
        if interior:
            options |= {"solver": "ipm"}
        for name, setting in options.items():
            self._highs.setOptionValue(name, setting)
        if greatest:
            self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def add_columns(
        self, costs: ArrayLike, lower: ArrayLike = 0.0, upper: ArrayLike = math.inf, entries: Any = None
    ) -> None:
        """Add variables with their costs and limits; with the entries of their columns in the rows that there are."""
        floats = np.asarray(costs, dtype=float)
        none = np.empty((floats.size, 0))
        held = _across(none if entries is None else entries.T)
        self._highs.addCols(floats.size, floats, _all(lower, floats.size), _all(upper, floats.size), *held)

    def add_rows(self, matrix: Any, low: ArrayLike, high: ArrayLike) -> None:
        """Add rows over the variables that there are."""
        across = matrix if hasattr(matrix, "tocsr") else np.atleast_2d(np.asarray(matrix, dtype=float))
        count = across.shape[0]
        self._highs.addRows(count, _all(low, count), _all(high, count), *_across(across))

    def change_costs(self, places: ArrayLike, costs: ArrayLike) -> None:
        """Change the costs of variables; the last basis stays feasible."""
        which = np.asarray(places, dtype=np.int32)
        self._highs.changeColsCost(which.size, which, np.asarray(costs, dtype=float))

    def change_limits(self, places: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change the limits of variables."""
        which = np.asarray(places, dtype=np.int32)
        self._highs.changeColsBounds(which.size, which, _all(lower, which.size), _all(upper, which.size))

    def change_row(self, row: int, column: int, entry: float, high: float) -> None:
        """Change an entry of a row, and what the row is at most."""
        self._highs.changeCoeff(row, column, entry)
        self._highs.changeRowBounds(row, -math.inf, high)

    def solved(self, *, method: int | None = None, anew: bool = False, seconds: float | None = None) -> ProgramSolution:
        """Solve the program.

        Parameters
        ----------
        method : int, optional
            For this time alone.
        anew : bool
            Forget the last basis.
        seconds : float, optional
            After so long it ends without an optimum.
        """
        if anew:
            self._highs.clearSolver()
        if seconds is not None:  # HiGHS counts the time of all runs
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.setOptionValue("simplex_strategy", self._method if method is None else method)
        self._highs.run()
        solution = self._highs.getSolution()
        return ProgramSolution(
            status=self._highs.modelStatusToString(self._highs.getModelStatus()),
            x=np.array(solution.col_value),
            prices=np.array(solution.row_dual),
            value=self._highs.getObjectiveValue(),
        )


def minimum(
    costs: ArrayLike, *, at_most: Rows | None = None, equal: Rows | None = None, free: Any = ()
) -> ProgramSolution:
    """Solve ``min <costs, x>  subject to  A x <= b,  C x = d`` with x >= 0 but for variables that are free.

    Parameters
    ----------
    costs : array, shape (n,)
    at_most, equal : (matrix, right side), optional
        A and b, and C and d; matrices are dense or sparse. The prices are those of A, then those of C.
    free : slice or array of places
        The variables that may be negative.

    Examples
    --------
    >>> minimum([1.0, 2.0], equal=([[1.0, 1.0]], [1.0])).x
    array([1., 0.])
    """
    program, prices = LinearProgram(), np.asarray(costs, dtype=float)
    lower = np.zeros(prices.size)
    lower[free if isinstance(free, slice) else list(free)] = -math.inf
    program.add_columns(prices, lower)
    if at_most is not None:
        program.add_rows(at_most[0], -math.inf, at_most[1])
    if equal is not None:
        program.add_rows(equal[0], equal[1], equal[1])
    return program.solved()


def _all(numbers: ArrayLike, count: int) -> Floats:
    found: Floats = np.asarray(numbers, dtype=float) + np.zeros(count)
    return found


def _across(matrix: Any) -> tuple[int, Any, Any, Any]:
    """Return the entries of a matrix that are not 0, row by row, as HiGHS takes them."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr()
        sparse.sum_duplicates()
        return sparse.nnz, sparse.indptr[:-1].astype(np.int32), sparse.indices.astype(np.int32), sparse.data
    filled = matrix != 0
    starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])[:-1].astype(np.int32)
    indices = np.nonzero(filled)[1].astype(np.int32)
    return indices.size, starts, indices, np.ascontiguousarray(matrix)[filled]
