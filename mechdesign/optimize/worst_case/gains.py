"""The greatest least gain over a set of priors: one linear program, for any set with linear rows.

For a decoder of the reports the least gain is ``h(u)``, with ``u_i`` the mean gain for the symbol i; and decoding is
post-processing, so that one output for each guess is enough: ``max h(u)``, ``u_i = sum_w g(w, i) v_w(i)``. The dual of
the rows of h is a prior of the set, at which no mechanism has a greater gain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.optimize.polyhedral import NEGLIGIBLE_ENTRY, solve_program
from mechdesign.optimize.polytope import Polytope
from mechdesign.optimize.solution import Solution
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import PolyhedralUtility

if TYPE_CHECKING:
    import cvxpy as cp


def solve_gains(
    known: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    priors: UncertaintySet,
    report: Callable[[str], None],
    least_lift: float = 0.0,
) -> tuple[Solution, PriorMixture]:
    """Return a mechanism of greatest least gain, lambda, and the mixture of priors that proves it.

    Parameters
    ----------
    known : UncertaintySet
        The set of the guarantee.
    exp_epsilon : float
        exp(epsilon).
    utility : PolyhedralUtility
        The gains.
    priors : UncertaintySet
        Over which the least is taken.
    report : callable
        Called with one line whenever a step begins.
    least_lift : float
        exp(-lower); 0 without a promise from below.

    Raises
    ------
    SolverError
        If the linear program cannot be solved.
    """
    gains = utility.gains(known.size)
    lowest, greatest = float(gains.min()), float(gains.max() - gains.min())
    scale = math.ldexp(1.0, math.frexp(greatest)[1] - 1) if greatest > 0 else 1.0
    linear = ((gains - lowest) / scale).T
    support = priors.support_rows()
    rows: list[Any] = []

    def goal(matrix: cp.Variable) -> tuple[cp.Expression, list[cp.Constraint]]:
        import cvxpy as cp

        auxiliary = cp.Variable(support.auxiliary.shape[1])
        means = cp.sum(cp.multiply(linear, matrix), axis=1)
        rows.append(support.columns @ means + support.auxiliary @ auxiliary >= 0)
        return auxiliary[0], rows

    report(f"solving a linear program with {known.size} x {len(gains)} entries")
    matrix, multipliers = solve_program(Polytope(known, exp_epsilon, len(gains), least_lift), goal)
    dual = np.asarray(rows[0].dual_value, dtype=float)
    proposal = support.columns.T @ np.maximum(dual, 0.0)
    if not np.isfinite(proposal).all() or proposal.sum() <= 0:
        raise SolverError("the linear program returned no prior that proves its optimum; change epsilon a little")
    mixture = PriorMixture.of_floats(*priors.mixture_near(proposal / proposal.sum()))
    worst = np.array([float(q) for q in mixture.mean])
    solution = Solution(
        matrix[:, matrix.max(axis=0) > NEGLIGIBLE_ENTRY], multipliers * scale + lowest * worst, len(gains), 1
    )
    return solution, mixture
