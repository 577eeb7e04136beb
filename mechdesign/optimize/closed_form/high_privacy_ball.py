"""High privacy under l1 uncertainty, for any number of symbols.

Contains the binary and the known-prior form. For total variation it is not optimal in general, so it is
compared with and never returned without a certificate.
"""

from __future__ import annotations

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, Parameters, exact_parameters
from mechdesign.problem import DesignProblem

THEOREM = "high privacy, l1 ball"


def applies(given: Parameters) -> bool:
    """Return whether epsilon > 0 and ``c (1 - min P) <= 1`` with ``c = e / (1 + t e)``."""
    return bool(given.e > 1 and given.c * (1 - given.P.min()) <= 1)


def optimal(given: Parameters) -> bool:
    """Return whether optimality is proved for every sub-convex utility.

    That is so for a known prior, and for two symbols while ``t <= min P``: beyond it the ball cut with
    the simplex is smaller than eq. (97) assumes, and better mechanisms exist.
    """
    return bool(given.t == 0 or (given.P.size == 2 and given.t <= given.P.min()))


def mechanism(given: Parameters) -> Numbers:
    """Return ``p_ij = c theta_j`` off the diagonal and ``p_jj = m_j theta_j`` on it.

    ``m_i = (1 - c (1 - P_i)) / (P_i + t)``, ``G = sum_i 1 / (c - m_i)``, ``T = G / (c G - 1)`` and
    ``theta_j = (c T - 1) / (c - m_j)``.
    """
    P, t, c = given.P, given.t, given.c
    m = (1 - c * (1 - P)) / (P + t)
    G = (1 / (c - m)).sum()
    theta = (c * G / (c * G - 1) - 1) / (c - m)
    matrix = np.tile(c * theta, (P.size, 1))
    np.fill_diagonal(matrix, m * theta)
    return matrix


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, which is always feasible; None where it does not apply."""
    given = exact_parameters(problem)
    if given is None or not applies(given):
        return None
    return ClosedForm(THEOREM, mechanism(given.floats()), optimal(given))
