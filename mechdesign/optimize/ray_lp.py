"""The linear program over listed extreme rays, for any sub-convex utility and few symbols.

``max sum_k theta_k mu(v_k)  subject to  sum_k theta_k v_k = (1,...,1), theta >= 0``. A basic solution has at
most N columns. Kinds of rays that `RayList.held_kinds` leaves out are not held at first but priced with the
duals, in chunks, and enter where they would improve the value.
"""

from __future__ import annotations

from collections.abc import Callable

from mechdesign.errors import SolverError
from mechdesign.optimize.master import Master
from mechdesign.optimize.pricing.listing import entering_columns, first_columns
from mechdesign.optimize.rays import RayList
from mechdesign.optimize.solution import Solution
from mechdesign.utility import Utility

_MOST_ROUNDS = 100


def solve_ray_lp(rays: RayList, utility: Utility, report: Callable[[str], None]) -> Solution:
    """Return a basic optimal mechanism over all extreme rays.

    Parameters
    ----------
    rays : RayList
        Checked by `check_listable`.
    utility : Utility
        Any sub-convex utility.
    report : callable
        Called with one line whenever a step begins.

    Raises
    ------
    SolverError
        If HiGHS fails, or rays keep entering.
    """
    program = Master(rays.prior.size)
    for columns in first_columns(rays):
        program.add(columns, utility.mu(columns, rays.prior))
    for iteration in range(1, _MOST_ROUNDS + 1):
        report(f"solving a linear program over {program.columns.shape[1]} extreme rays")
        program.solve()
        report("pricing all extreme rays")
        entering, priced = entering_columns(rays, utility, program.multipliers)
        if entering.shape[1] == 0:
            return Solution(program.mechanism(), program.multipliers, priced, iteration)
        program.add(entering, utility.mu(entering, rays.prior))
    raise SolverError(f"rays still enter after {_MOST_ROUNDS} linear programs; change epsilon or radius a little")
