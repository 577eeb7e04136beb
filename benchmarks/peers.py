"""Other ways to the same optimum, to be measured beside ours; the package itself uses none of them."""

from __future__ import annotations

import numpy as np

import mechdesign as md


def literal_proposition_2(ball: md.L1Ball, exp_epsilon: float) -> float:
    """Return the greatest probability of a right guess by ED Proposition 2 as it stands.

    One row for every i, i' and j: ``p_ij <= c (<P, p_j> + t p_i'j)`` with ``c = e / (1 + t e)`` (ED eq. 43).
    The program is the one of `mechdesign.optimize.polyhedral` otherwise, solver and tolerances included.
    """
    import cvxpy as cp
    from scipy.sparse import csr_array, eye_array, kron

    from mechdesign.tolerances import SOLVER

    N, t = ball.size, float(ball.half_radius)
    c = exp_epsilon / (1 + t * exp_epsilon)
    ones = np.ones((N, 1))
    each_i, each_other = kron(eye_array(N), ones), kron(ones, eye_array(N))
    rows = csr_array(each_i - c * t * each_other - csr_array(np.tile(c * ball.prior, (N * N, 1))))
    matrix = cp.Variable((N, N), nonneg=True)
    gain = cp.sum(cp.multiply(ball.prior, cp.diag(matrix)))
    program = cp.Problem(cp.Maximize(gain), [rows @ matrix <= 0, cp.sum(matrix, axis=1) == np.ones(N)])
    options = {"primal_feasibility_tolerance": SOLVER, "dual_feasibility_tolerance": SOLVER}
    return float(program.solve(solver=cp.HIGHS, highs_options=options))


def qif_least_loss(prior: np.ndarray, epsilon: float, loss: np.ndarray) -> float:
    """Return the least expected loss of an epsilon-LDP mechanism by the package qif.

    Raises
    ------
    ImportError
        Where qif is not installed.
    """
    from qif import mechanism

    found = mechanism.d_privacy.min_loss_given_d(
        prior, len(prior), lambda i, k: epsilon * float(i != k), lambda i, j: float(loss[i, j])
    )
    return float((prior[:, None] * np.array(found) * loss).sum())
