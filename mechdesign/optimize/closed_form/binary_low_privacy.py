"""Two categories beyond the first privacy region, which ED Theorem 5 leaves out (its footnote 6)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, optimal_form
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "binary, second privacy region"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether N = 2, ``t <= min P`` and ``e (max P - t) >= 1``."""
    return given.P.size == 2 and given.t <= given.P.min() and given.e * (given.P.max() - given.t) >= 1


def mechanism(given: L1Cone[Fraction]) -> Numbers:
    """Return rows ``(a, 1 - a)`` for the likelier symbol and ``(0, 1)`` for the other.

    ``a = min(1, (1 - 1/e) / (p1 + t))``, which is 1 exactly when ``e (p2 - t) >= 1``.
    """
    P, t, e = given.P, given.t, given.e
    a = min(1 + 0 * e, (1 - 1 / e) / (P.max() + t))
    matrix = np.array([[a, 1 - a], [0 * a, 1 + 0 * a]])
    return matrix if P[0] >= P[1] else matrix[::-1]


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every sub-convex utility; None where it does not apply."""
    return optimal_form(problem, THEOREM, applies, mechanism)
