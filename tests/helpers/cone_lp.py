"""The polytope of mechanisms as sparse rows, and linear functions over a column cone by a solver that knows no ray."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, eye_array, kron

from mechdesign.optimize.polyhedral import Polytope


class PolytopeRows(NamedTuple):
    """``inequalities @ x >= 0`` and ``equalities @ x = 1`` with ``x[:N M] >= 0``, the rest of x free.

    The first N M entries of x are the matrix column by column; auxiliary variables for each of the M columns follow.
    """

    inequalities: csr_array
    equalities: csr_array


def rows_of(polytope):
    """Return a polytope as sparse rows, O(N) for each output."""
    known, M = polytope.uncertainty, polytope.outputs
    blocks, each = known.promise_rows(polytope.exp_epsilon, polytope.floor), eye_array(M)
    inequalities = block_array([[kron(each, block.columns), kron(each, block.auxiliary)] for block in blocks])
    sums = kron(coo_array(np.ones((1, M))), eye_array(known.size))
    equalities = block_array([[sums, coo_array((known.size, inequalities.shape[1] - known.size * M))]])
    return PolytopeRows(csr_array(inequalities), csr_array(equalities))


def violation(polytope, matrix):
    """Return the greatest amount by which a matrix violates a constraint, 0 for a member of the polytope."""
    known = polytope.uncertainty
    privacy, below = known.excess(matrix, polytope.exp_epsilon), known.lack(matrix, float(polytope.floor.least_lift))
    return float(max(privacy.max(), below.max(), np.abs(matrix.sum(axis=1) - 1).max(), -matrix.min(), 0.0))


def greatest_by_lp(known, exp_epsilon, a):
    """Maximise <a, v> over the cone with <P, v> = 1 by a linear program that knows no ray."""
    rows = rows_of(Polytope(known, exp_epsilon, 1))
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
