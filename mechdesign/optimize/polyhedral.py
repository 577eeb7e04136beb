"""One linear program for the polyhedral utilities.

Columns with the same best guess can be merged, because the column cone is convex and mu is linear on
them. So one column for every guess is enough, and the program needs no rays. The simplex method gives
exact zeros but takes long on large programs, for which an interior point method is tried first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import SOLVER
from mechdesign.optimize.polytope import Polytope
from mechdesign.optimize.solution import Solution
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import PolyhedralUtility

if TYPE_CHECKING:
    import cvxpy as cp

_LARGE = 2_500  # entries of the matrix, beyond which the simplex method is slower
_CLOSED = 1e-11
NEGLIGIBLE_ENTRY: Final = 1e-9
"""An entry that an interior point method leaves where the optimum is 0 is below this."""


def solve_polyhedral(
    known: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    report: Callable[[str], None],
    least_lift: float = 0.0,
) -> Solution:
    """Return an optimal mechanism with one output for each guess that is used.

    Parameters
    ----------
    known : UncertaintySet
        Any set of priors.
    exp_epsilon : float
        exp(epsilon).
    utility : PolyhedralUtility
        What is maximised, at the reference prior of the set.
    report : callable
        Called with one line whenever a step begins.
    least_lift : float
        exp(-lower), below 1; 0 without a promise from below.

    Raises
    ------
    SolverError
        If both methods fail.
    """
    # A gain that all guesses share is the same for every mechanism; it is left out, because it would cost digits.
    shortfalls = utility.shortfalls(known.size)
    least, exact = shortfalls.argmin(axis=0).tolist(), utility.exact_gains(known.size)
    common = np.array([float(p * exact(w, i)) for i, (p, w) in enumerate(zip(known.center, least, strict=True))])
    linear = (shortfalls - shortfalls.min(axis=0)) * known.prior
    greatest = float(linear.max())
    if greatest == 0:
        return Solution(np.ones((known.size, 1)), common, len(linear), 0)
    # A power of two changes no digit; solvers want numbers of about 1.
    scale = math.ldexp(1.0, math.frexp(greatest)[1] - 1)
    report(f"solving a linear program with {known.size} x {len(linear)} entries")
    matrix, multipliers = _solve(known, exp_epsilon, linear / scale, least_lift)
    return Solution(matrix[:, matrix.max(axis=0) > NEGLIGIBLE_ENTRY], multipliers * scale + common, len(linear), 1)


def _solve(known: UncertaintySet, exp_epsilon: float, linear: Floats, least_lift: float = 0.0) -> tuple[Floats, Floats]:
    """Return a mechanism with a column for every guess, and the multipliers of its row sums."""
    import cvxpy as cp

    polytope = Polytope(known, exp_epsilon, len(linear), least_lift)
    return solve_program(polytope, lambda matrix: (cp.sum(cp.multiply(linear.T, matrix)), []))


def solve_program(
    polytope: Polytope, goal: Callable[[cp.Variable], tuple[cp.Expression, list[cp.Constraint]]]
) -> tuple[Floats, Floats]:
    """Return a mechanism that maximises a linear objective, and the multipliers of its row sums.

    Parameters
    ----------
    polytope : Polytope
        The mechanisms.
    goal : callable
        Takes the variable of the mechanism, shape (N, M), and returns what is maximised, and constraints of its own.

    Raises
    ------
    SolverError
        If both methods fail.
    """
    import cvxpy as cp

    matrix = cp.Variable((polytope.uncertainty.size, polytope.outputs))
    row_sums = polytope.row_sums(matrix)
    objective, constraints = goal(matrix)
    program = cp.Problem(cp.Maximize(objective), [row_sums, *polytope.privacy(matrix), *constraints])
    simplex = {"highs_options": {"primal_feasibility_tolerance": SOLVER, "dual_feasibility_tolerance": SOLVER}}
    interior = {"tol_gap_abs": _CLOSED, "tol_gap_rel": _CLOSED, "tol_feas": _CLOSED}
    methods: list[tuple[str, dict[str, Any]]] = [(cp.HIGHS, simplex), (cp.CLARABEL, interior)]
    endings = []
    for solver, options in methods if matrix.size <= _LARGE else reversed(methods):
        try:
            program.solve(solver=solver, **options)
        except cp.SolverError as error:
            endings.append(f"{solver} failed ({error})")
            continue
        if program.status == cp.OPTIMAL and matrix.value is not None:
            values: Floats = np.asarray(matrix.value, dtype=float)
            values[np.abs(values) < NEGLIGIBLE_ENTRY * np.abs(values).max(axis=0)] = 0.0
            return values, np.asarray(row_sums.dual_value, dtype=float)
        endings.append(f"{solver} ended {program.status}")
    raise SolverError(f"{', '.join(endings)}; change epsilon or radius a little")
