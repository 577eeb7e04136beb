"""High privacy with a known prior (Grosse, Saeidian, Oechtering 2024, Theorem 3; ED Example 1)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, optimal_form
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "high privacy, known prior (Grosse et al. 2024, Theorem 3)"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether t = 0 and ``e (1 - min P) <= 1``."""
    return bool(given.t == 0 and given.e * (1 - given.P.min()) <= 1)


def mechanism(given: L1Cone[Fraction]) -> Numbers:
    """Return ``p_ij = e P_j`` off the diagonal and ``p_jj = 1 - e (1 - P_j)`` on it."""
    P, e = given.P, given.e
    matrix = np.tile(e * P, (P.size, 1))
    np.fill_diagonal(matrix, 1 - e * (1 - P))
    return matrix


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every sub-convex utility; None where the theorem does not apply."""
    return optimal_form(problem, THEOREM, applies, mechanism)
