"""Which bound a radius is taken from, and the formula of each."""

import math
from fractions import Fraction

import pytest
from refusals import raises

from mechdesign.uncertainty.radii import (
    BOUNDS,
    CLOPPER_PEARSON,
    WEISSMAN,
    checked_bound,
    failure_probability,
    required_samples,
)

PRIOR = ["0.7", "0.2", "0.1"]


def test_a_true_prior_chooses_the_bound_that_uses_it():
    assert checked_bound(None) == CLOPPER_PEARSON
    assert checked_bound(None, PRIOR) == checked_bound(WEISSMAN, PRIOR) == WEISSMAN
    assert failure_probability(100, 3, "0.3", PRIOR) == failure_probability(100, 3, "0.3", PRIOR, bound=WEISSMAN)
    assert failure_probability(100, 3, "0.3", PRIOR) != failure_probability(100, 3, "0.3")
    assert required_samples(3, "0.01", "0.2", PRIOR) == required_samples(3, "0.01", "0.2", PRIOR, bound=WEISSMAN)
    with raises("needless-argument"):
        checked_bound(CLOPPER_PEARSON, PRIOR)


@pytest.mark.parametrize(("samples", "categories", "half"), [(40, 2, "0.25"), (300, 5, "0.1"), (48842, 16, "0.03")])
def test_the_failure_at_a_half_radius(samples, categories, half):
    """ED eq. (17) with a radius of 2 t: ``(2^N - 2) exp(-2 n t^2)``; the default is below it."""
    t = Fraction(half)
    found = failure_probability(samples, categories, 2 * t, bound=WEISSMAN)
    assert found == pytest.approx((2**categories - 2) * math.exp(-2 * samples * float(t) ** 2), rel=1e-12)
    assert 0 < failure_probability(samples, categories, 2 * t) < found < 1


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_ends_of_what_a_radius_and_delta_can_be(bound):
    assert [failure_probability(100, 3, radius, bound=bound) for radius in (0, 2)] == [1.0, 0.0]
    with raises("not-enough-samples"):
        required_samples(3, 0, "0.1", bound=bound)
