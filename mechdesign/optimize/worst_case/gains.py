"""The greatest least gain over a set of priors: one linear program, for any set with linear rows.

For a decoder of the reports the least gain is ``h(u)``, with ``u_i`` the mean gain for the symbol i; and decoding is
post-processing, so that one output for each guess is enough: ``max h(u)``, ``u_i = sum_w g(w, i) v_w(i)``. The dual of
the rows of h is a prior of the set, at which no mechanism has a greater gain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.optimize.method import Solution
from mechdesign.optimize.polyhedral import NEGLIGIBLE_ENTRY, Polytope, solve_program
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import PolyhedralUtility

if TYPE_CHECKING:
    import cvxpy as cp


def solve_gains(
    known: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    priors: UncertaintySet,
    progress: Callable[[str], None],
    floor: Floor = NO_FLOOR,
    deadline: float | None = None,
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
    progress : callable
        Called with one line whenever a step begins.
    floor : Floor
        What is asked from below.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.

    Raises
    ------
    SolverError
        If the linear program cannot be solved.
    """
    gains = utility.gains(known.size)
    lowest, greatest = float(gains.min()), float(np.ptp(gains))
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

    progress(f"solving a linear program with {known.size} x {len(gains)} entries")
    found = solve_program(Polytope(known, exp_epsilon, len(gains), floor), goal, deadline)
    at_estimate = PriorMixture((known.center,), (Fraction(1),))
    if found is None:  # the constant mechanism
        multipliers = known.prior * gains[int((gains @ known.prior).argmax())]
        return Solution(np.ones((known.size, 1)), multipliers, 1, 1, stopped="time limit"), at_estimate
    dual = np.asarray(rows[0].dual_value, dtype=float)
    proposal = support.columns.T @ np.maximum(dual, 0.0)
    proves = np.isfinite(proposal).all() and proposal.sum() > 0
    if not proves and not found.stopped:
        raise SolverError.solver_failed("the linear program has no prior that proves its optimum; change epsilon")
    mixture = PriorMixture.of_floats(*priors.mixture_near(proposal / proposal.sum())) if proves else at_estimate
    worst = np.array([float(q) for q in mixture.mean])
    solution = Solution(
        found.matrix[:, found.matrix.max(axis=0) > NEGLIGIBLE_ENTRY],
        found.multipliers * scale + lowest * worst,
        len(gains),
        1,
        stopped="time limit" if found.stopped else "",
    )
    return solution, mixture
