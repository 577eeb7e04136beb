"""A known uniform prior and a symmetric utility (Grosse, Saeidian, Oechtering 2024, Theorem 4; ED Example 2)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, circulant, optimal_form
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "uniform known prior, symmetric utility (Grosse et al. 2024, Theorem 4)"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether t = 0 and all probabilities are equal."""
    return bool(given.t == 0 and given.P.min() == given.P.max())


def mechanism(given: L1Cone[Fraction], *, in_floats: bool = False) -> Numbers:
    """Return the cyclic shifts of a column of k entries e and one entry ``N - k e``, with ``k = floor(N / e)``.

    For epsilon = log(N/k) this is the k-singular mechanism, whose mutual information is epsilon.
    """
    N = given.P.size
    k = math.floor(N / given.e)
    column = np.array([given.e] * k + [N - k * given.e] + [0 * given.e] * (N - k - 1))[:N]
    return circulant(column, in_floats=in_floats)


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every symmetric sub-convex utility; None where the theorem does not apply."""
    if not problem.utility.is_symmetric:
        return None
    return optimal_form(problem, THEOREM, applies, partial(mechanism, in_floats=True))
