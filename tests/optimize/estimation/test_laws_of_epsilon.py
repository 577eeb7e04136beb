"""How least errors grow with privacy: as 1/epsilon for a known prior, and as 1/epsilon^2 under LDP, certified."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from refusals import raises

import mechdesign as md

# Shares fall as 1/k, to 0.027 of twelve symbols.
COUNTS = [round(10_000 / k) for k in range(1, 13)]


@cache
def certified(radius, epsilon, size):
    """The least error, from below and from above."""
    problem = md.DesignProblem(md.L1Ball.from_counts(COUNTS[:size], radius=radius), epsilon, md.EstimationError())
    found = md.design(problem)
    assert found.certified
    return np.array([found.lower_bound, found.value])


def power(radius, low, high, size, growth):
    """The least and the greatest power k for which the errors at two epsilons are as growth(epsilon)^-k."""
    at_low, at_high = certified(radius, low, size), certified(radius, high, size)
    ratios = np.array([at_low[0] / at_high[1], at_low[1] / at_high[0]])
    return np.log(ratios) / np.log(growth(float(high)) / growth(float(low)))


@pytest.mark.combined
@pytest.mark.parametrize("size", [10, 12])
@pytest.mark.parametrize(("radius", "margin"), [(0, 2e-3), ("0.02", 0.03)])
def test_pml_errors_grow_as_1_over_exp_epsilon_minus_1(size, radius, margin):
    """Above the epsilon of some of the smallest probabilities."""
    least, greatest = power(radius, "0.5", "1", size, np.expm1)
    assert 1 - margin <= least <= greatest <= 1 + margin


@pytest.mark.combined
@pytest.mark.parametrize("size", [6, 10, 12])
@pytest.mark.parametrize(("low", "high"), [("0.05", "0.1"), ("0.1", "0.2")])
def test_ldp_errors_grow_as_1_over_epsilon_squared(size, low, high):
    least, greatest = power(2, low, high, size, lambda epsilon: epsilon)
    assert 1.99 <= least <= greatest <= 2.01


@pytest.mark.parametrize("epsilon", ["0.2", "0.4"])
def test_a_known_prior_needs_epsilon_over_4_of_the_reports_of_ldp(epsilon):
    """In between: 1/N is below epsilon, which is below 1."""
    known, every = certified(0, epsilon, 12), certified(2, epsilon, 12)
    for ratio in (every[0] / known[1], every[1] / known[0]):
        assert ratio == pytest.approx(4 / float(epsilon), rel=0.1)


def test_below_the_smallest_probability_pml_errors_grow_as_under_ldp():
    least, greatest = power(0, "0.01", "0.02", 12, np.expm1)
    assert 2 - 1e-4 <= least <= greatest <= 2 + 1e-4
    P = np.array(COUNTS) / sum(COUNTS)
    assert certified(0, "0.02", 12) == pytest.approx((1 - P @ P) / np.expm1(0.02) ** 2, rel=1e-4)


@pytest.mark.parametrize("radius", ["0", "2"])
def test_a_design_that_tells_nothing_to_the_precision_of_floats_is_refused(radius):
    """An infinite error fits no JSON, and nobody would collect with it."""
    problem = md.DesignProblem(md.L1Ball.from_counts([5, 3, 2], radius=radius), "1e-20", md.EstimationError())
    with raises("design-not-identifiable", "epsilon = 1e-20 is too small"):
        md.design(problem)


@pytest.mark.combined
@pytest.mark.parametrize("radius", ["0", "0.1", "2"])
@pytest.mark.parametrize("epsilon", ["1e-8", "1e-10", "1e-11"])
def test_a_tiny_epsilon_has_a_value_and_a_bound_on_the_right_sides(epsilon, radius):
    """Columns differ from each other by less than the tolerances of a linear program."""
    best = {"0": 0.5, "0.1": 0.605, "2": 2.0}[radius] / float(epsilon) ** 2
    found = md.design(md.DesignProblem(md.L1Ball([0.5, 0.5], radius), epsilon, md.EstimationError()))
    assert found.lower_bound <= best * (1 + 1e-6) <= found.value * (1 + 2e-6)
    assert found.value == pytest.approx(best, rel=0.01)
    assert found.lower_bound == pytest.approx(best, rel=0.02)
    assert found.gap == found.value - found.lower_bound
    assert md.verify(found.mechanism).value == found.value


def test_comparisons_go_up_to_the_greatest_epsilons():
    problem = md.DesignProblem(md.L1Ball.from_counts([5, 3, 2], known=True), 700, md.EstimationError())
    found = md.compare(problem).errors.subset_selection
    assert float(found.variances.sum()) == pytest.approx(0.62)
