"""The linear program over listed extreme rays, for any sub-convex utility and few symbols.

``max sum_k theta_k mu(v_k)  subject to  sum_k theta_k v_k = (1,...,1), theta >= 0``. A basic solution has at
most N columns. Kinds of rays that `RayList.held_kinds` leaves out are not held at first but priced with the
duals, in chunks, and enter where they would improve the value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import REDUCED_COST
from mechdesign.optimize.master import Master
from mechdesign.optimize.pricing.listing import reduced_costs
from mechdesign.optimize.rays import RayList
from mechdesign.optimize.solution import Solution
from mechdesign.utility import Utility

_MOST_ENTERING = 5_000
_MOST_ROUNDS = 100


def solve_ray_lp(rays: RayList, utility: Utility, report: Callable[[str], None]) -> Solution:
    """Return a basic optimal mechanism over all extreme rays.

    Parameters
    ----------
    rays : RayList
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
    program = Master(rays.prior.size)
    # The constant column makes the program feasible where kinds A and B alone do not.
    for columns in (np.ones((rays.prior.size, 1)), *rays.of_kinds(rays.held_kinds)):
        program.add(columns, utility.mu(columns, rays.prior))
    for iteration in range(1, _MOST_ROUNDS + 1):
        report(f"solving a linear program over {program.columns.shape[1]} extreme rays")
        program.solve()
        report("pricing all extreme rays")
        entering, priced = _violating(rays, utility, program.multipliers)
        if entering.shape[1] == 0:
            return Solution(program.mechanism(), program.multipliers, priced, iteration)
        program.add(entering, utility.mu(entering, rays.prior))
    raise SolverError(f"rays still enter after {_MOST_ROUNDS} linear programs; change epsilon or radius a little")


def _violating(rays: RayList, utility: Utility, multipliers: Floats) -> tuple[Floats, int]:
    """Return the columns of greatest positive reduced cost, shape (N, k), and how many were priced."""
    best, costs, priced = np.empty((rays.prior.size, 0)), np.empty(0), 0
    for columns, cost in reduced_costs(rays, utility, multipliers):
        priced += columns.shape[1]
        entering = cost > REDUCED_COST
        best, costs = np.hstack([best, columns[:, entering]]), np.append(costs, cost[entering])
        if costs.size > _MOST_ENTERING:
            kept = np.argpartition(-costs, _MOST_ENTERING)[:_MOST_ENTERING]
            best, costs = best[:, kept], costs[kept]
    return best, priced
