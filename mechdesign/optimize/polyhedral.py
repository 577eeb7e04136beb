"""One linear program for the polyhedral utilities.

Columns with the same best guess can be merged, because the column cone is convex and mu is linear on
them; so one column for every guess is enough, and the program has no ray in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.optimize.polytope import Polytope
from mechdesign.optimize.solution import Solution
from mechdesign.tolerances import SOLVER
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import PolyhedralUtility


def solve_polyhedral(
    known: UncertaintySet, exp_epsilon: float, utility: PolyhedralUtility, report: Callable[[str], None]
) -> Solution:
    """Return an optimal mechanism with one output for each guess that is used.

    Parameters
    ----------
    known : UncertaintySet
        Any.
    exp_epsilon : float
        exp(epsilon).
    utility : PolyhedralUtility
        What is maximised, at the reference prior of the set.
    report : callable
        Told what is being done.

    Raises
    ------
    SolverError
        If the solver fails.
    """
    import cvxpy as cp

    linear = utility.gains(known.size) * known.prior
    # A power of two changes no digit; solvers want numbers of about 1.
    scale = math.ldexp(1.0, math.frexp(float(np.abs(linear).max()))[1] - 1)
    linear = linear / scale
    polytope = Polytope(known, exp_epsilon, len(linear))
    matrix = cp.Variable((known.size, len(linear)))
    row_sums = polytope.row_sums(matrix)
    program = cp.Problem(cp.Maximize(cp.sum(cp.multiply(linear.T, matrix))), [row_sums, *polytope.privacy(matrix)])
    report(f"solving a linear program with {known.size} x {len(linear)} entries")
    options = {"primal_feasibility_tolerance": SOLVER, "dual_feasibility_tolerance": SOLVER}
    try:
        program.solve(solver=cp.HIGHS, highs_options=options)
    except cp.SolverError as error:
        raise SolverError(f"HiGHS failed ({error}); change epsilon or radius a little") from error
    if program.status != cp.OPTIMAL or matrix.value is None:
        raise SolverError(f"HiGHS ended {program.status}; change epsilon or radius a little")
    values = np.asarray(matrix.value, dtype=float)
    multipliers = np.asarray(row_sums.dual_value, dtype=float) * scale
    return Solution(values[:, values.max(axis=0) > SOLVER], multipliers, len(linear), 1)
