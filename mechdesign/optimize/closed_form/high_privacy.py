"""High privacy with a known prior (Grosse, Saeidian, Oechtering 2024, Theorem 3; ED Example 1)."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, except_diagonal, optimal_form
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "high privacy, known prior (Grosse et al. 2024, Theorem 3)"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether t = 0 and ``e (1 - min P) <= 1``."""
    return bool(given.t == 0 and given.e * (1 - given.P.min()) <= 1)


def mechanism(given: L1Cone[Fraction], *, in_floats: bool = False) -> Numbers:
    """Return ``p_ij = e P_j`` off the diagonal and ``p_jj = 1 - e (1 - P_j)`` on it."""
    P, e = given.P, given.e
    return except_diagonal(e * P, 1 - e * (1 - P), in_floats=in_floats)


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every sub-convex utility; None where the theorem does not apply."""
    return optimal_form(problem, THEOREM, applies, partial(mechanism, in_floats=True))
