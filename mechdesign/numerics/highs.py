"""HiGHS, set up to solve one linear program after another, each from the basis of the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mechdesign.numerics.tolerances import SOLVER

if TYPE_CHECKING:
    import highspy

DUAL: Final = 1
"""The dual simplex method, as HiGHS numbers it."""

PRIMAL: Final = 4
"""The primal simplex method: where columns are added or the objective changes, the last basis stays feasible."""


def successive_solver() -> highspy.Highs:
    """Return a silent solver without a program, which keeps its basis and uses the primal simplex method.

    Examples
    --------
    >>> solver = successive_solver()
    >>> solver.getNumCol(), solver.getOptionValue("simplex_strategy")[1] == PRIMAL
    (0, True)
    """
    import highspy

    solver = highspy.Highs()
    options = {
        "output_flag": False,
        "presolve": "off",  # presolve would discard the basis
        "simplex_strategy": PRIMAL,
        "primal_feasibility_tolerance": SOLVER,
        "dual_feasibility_tolerance": SOLVER,
    }
    for name, setting in options.items():
        solver.setOptionValue(name, setting)
    return solver
