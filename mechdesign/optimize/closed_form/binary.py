"""Two categories in the first privacy region (ED Theorem 5)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, optimal_form
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "binary, first privacy region (ED Theorem 5)"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether N = 2, ``t <= min P`` and ``e (max P - t) <= 1``."""
    return given.P.size == 2 and given.t <= given.P.min() and given.e * (given.P.max() - given.t) <= 1


def mechanism(given: L1Cone[Fraction]) -> Numbers:
    """Return the matrix of ED eq. (41), without the sign error of eq. (93)."""
    P, t, e = given.P, given.t, given.e
    p1, p2 = P.max(), P.min()
    matrix: Numbers = np.array([[e * (p2 + t), 1 - e * (p2 - t)], [1 - e * (p1 - t), e * (p1 + t)]]) / (1 + 2 * t * e)
    return matrix if P[0] >= P[1] else matrix[::-1]


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every sub-convex utility; None where the theorem does not apply."""
    return optimal_form(problem, THEOREM, applies, mechanism)
