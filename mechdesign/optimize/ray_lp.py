"""The linear program over listed extreme rays, for any sub-convex utility and few symbols.

``max sum_k theta_k mu(v_k)  subject to  sum_k theta_k v_k = (1,...,1), theta >= 0``. A basic solution has at
most N columns. Rays of kinds C and D are not held at first but priced with the duals, in chunks, and enter
where they would improve the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.optimize.pricing.listing import held_kinds, reduced_costs
from mechdesign.optimize.rays import Rays
from mechdesign.optimize.solution import Solution
from mechdesign.tolerances import NEGLIGIBLE_WEIGHT, REDUCED_COST, SOLVER
from mechdesign.uncertainty.base import Floats
from mechdesign.utility import Utility

_MOST_ENTERING = 5_000
_MOST_ROUNDS = 100
_NEAR = 0.05  # of the value: a reduced cost with which a column stays in the program


def solve_ray_lp(rays: Rays, utility: Utility, report: Callable[[str], None]) -> Solution:
    """Return a basic optimal mechanism over all extreme rays.

    Parameters
    ----------
    rays : Rays
        Known to be few enough.
    utility : Utility
        Any.
    report : callable
        Told what is being done.

    Raises
    ------
    SolverError
        If HiGHS fails, or rays keep entering.
    """
    # The constant column makes the program feasible where kinds A and B alone do not.
    held = np.hstack([np.ones((rays.ball.size, 1)), *rays.of_kinds(held_kinds(rays))])
    reached = -np.inf
    for iteration in range(1, _MOST_ROUNDS + 1):
        report(f"solving a linear program over {held.shape[1]} extreme rays")
        gains = utility.mu(held, rays.ball.prior)
        weights, multipliers = _solve(held, gains)
        report("pricing all extreme rays")
        entering, priced = _violating(rays, utility, multipliers)
        if entering.shape[1] == 0:
            return Solution(_mechanism(held, weights), multipliers, priced, iteration)
        value = float(gains @ weights)
        if value > reached + SOLVER * abs(value):
            # Columns far from entering are dropped; pricing brings back those that are missed. While the
            # value stands still none is, or the duals could alternate for ever.
            near = gains - multipliers @ held >= -_NEAR * max(abs(float(multipliers.sum())), 1e-6)
            held = held[:, near | (weights > 0)]
        reached = max(reached, value)
        held = np.hstack([held, entering])
    raise SolverError(f"rays still enter after {_MOST_ROUNDS} linear programs; change epsilon or radius a little")


def _solve(columns: Floats, gains: Floats) -> tuple[Floats, Floats]:
    import cvxpy as cp

    weights = cp.Variable(columns.shape[1], nonneg=True)
    row_sums = columns @ weights == np.ones(columns.shape[0])
    program = cp.Problem(cp.Maximize(gains @ weights), [row_sums])
    options = {
        "solver": "simplex",
        "simplex_strategy": 4,  # primal: there are many more columns than rows
        "primal_feasibility_tolerance": SOLVER,
        "dual_feasibility_tolerance": SOLVER,
    }
    try:
        program.solve(solver=cp.HIGHS, highs_options=options)
    except cp.SolverError as error:
        raise SolverError(
            f"HiGHS failed on {columns.shape[1]} rays ({error}); change epsilon or radius a little"
        ) from error
    if program.status != cp.OPTIMAL or weights.value is None:
        raise SolverError(f"HiGHS ended {program.status} on {columns.shape[1]} rays; change epsilon or radius a little")
    return np.maximum(weights.value, 0.0), np.asarray(row_sums.dual_value, dtype=float)


def _violating(rays: Rays, utility: Utility, multipliers: Floats) -> tuple[Floats, int]:
    """Return the columns of greatest positive reduced cost, shape (N, k), and how many were priced."""
    best, costs, priced = np.empty((rays.ball.size, 0)), np.empty(0), 0
    for columns, cost in reduced_costs(rays, utility, multipliers):
        priced += columns.shape[1]
        entering = cost > REDUCED_COST
        best, costs = np.hstack([best, columns[:, entering]]), np.append(costs, cost[entering])
        if costs.size > _MOST_ENTERING:
            kept = np.argpartition(-costs, _MOST_ENTERING)[:_MOST_ENTERING]
            best, costs = best[:, kept], costs[kept]
    return best, priced


def _mechanism(held: Floats, weights: Floats) -> Floats:
    """Return the columns of the solution, with weights solved again so that rows sum to 1 to rounding."""
    support = np.flatnonzero(weights > NEGLIGIBLE_WEIGHT)
    columns = held[:, support]
    exact, *_ = np.linalg.lstsq(columns, np.ones(held.shape[0]), rcond=None)
    residual = np.ones(held.shape[0]) - columns @ exact
    exact += np.linalg.lstsq(columns, residual, rcond=None)[0]
    if (exact < 0).any() or np.abs(columns @ exact - 1).max() > np.abs(columns @ weights[support] - 1).max():
        exact = weights[support]
    return columns * exact
