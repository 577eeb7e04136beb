"""The greatest value of a linear function over a column cone, by a solver that knows no ray."""

import numpy as np
from scipy.optimize import linprog

from mechdesign.optimize.polyhedral import Polytope


def greatest_by_lp(known, exp_epsilon, a):
    """Maximise <a, v> over the cone with <P, v> = 1 by a linear program that knows no ray."""
    rows = Polytope(known, exp_epsilon, 1).rows()
    N, size = known.size, rows.inequalities.shape[1]
    solution = linprog(
        np.r_[-a, np.zeros(size - N)],
        A_ub=-rows.inequalities,
        b_ub=np.zeros(rows.inequalities.shape[0]),
        A_eq=np.r_[known.prior, np.zeros(size - N)][None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * N + [(None, None)] * (size - N),
    )
    assert solution.status == 0, solution.message
    return -solution.fun
