"""Randomized response under local differential privacy (Warner; Kairouz, Oh and Viswanath)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign.numerics.exact import over_common_denominator
from mechdesign.numerics.half_sets import half_set
from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, exact_cone, except_diagonal
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

THEOREM = "k-ary randomized response (LDP)"
THEOREM_BINARY = "binary randomized response of a subset (LDP)"


def mechanism(size: int, exp_epsilon: Fraction, *, in_floats: bool = False) -> Numbers:
    """Return k-ary randomized response: ``e / (e + N - 1)`` on the diagonal, ``1 / (e + N - 1)`` off it."""
    total = exp_epsilon + size - 1
    return except_diagonal(np.full(size, 1 / total), np.full(size, exp_epsilon / total), in_floats=in_floats)


def binary_mechanism(given: L1Cone[Fraction], subset: Sequence[int]) -> Numbers:
    """Return binary randomized response on whether the symbol lies in a subset."""
    e = given.e
    matrix = np.tile(np.array([1 / (1 + e), e / (1 + e)]), (given.P.size, 1))
    matrix[list(subset)] = matrix[list(subset)][:, ::-1]
    return matrix


def _ldp_cone(problem: DesignProblem) -> L1Cone[Fraction] | None:
    """Return the cone if the ball, cut with the simplex, is the whole simplex (t = 1); None otherwise."""
    given = exact_cone(problem)
    return given if given is not None and given.only_d else None


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return k-ary randomized response; None unless the ball is the whole simplex.

    It is optimal for N = 2. For more symbols Kairouz et al. prove it optimal above some epsilon that depends on
    the prior; they do not give its value, so here the mechanism counts as feasible only.
    """
    given = _ldp_cone(problem)
    if given is None:
        return None
    return ClosedForm(THEOREM, mechanism(given.P.size, given.e, in_floats=True), optimal=given.P.size == 2)


def solve_binary(problem: DesignProblem) -> ClosedForm | None:
    """Return binary randomized response of the subset whose mass is nearest to 1/2.

    Kairouz et al. have it optimal below some epsilon, whose value they do not give. Where other sets come as near, such
    as for three equally likely symbols, it is not, however small epsilon is (docs/mathematics.md). So here it counts as
    feasible only. None if the ball is not the whole simplex, or if the partition problem is too large to solve.
    """
    given = _ldp_cone(problem)
    if given is None or given.P.size == 2:
        return None
    subset = half_set(over_common_denominator(given.P)[0])
    if subset is None:
        return None
    return ClosedForm(THEOREM_BINARY, binary_mechanism(given, subset).astype(float), optimal=False)
