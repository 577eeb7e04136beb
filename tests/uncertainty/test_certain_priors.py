"""Concentration at its ends: a prior that allows one symbol, and probabilities below what doubles hold."""

import pytest

import mechdesign as md


@pytest.mark.parametrize("delta", ["1e-9", "0.5"])
def test_samples_of_a_prior_that_allows_one_symbol_are_always_at_distance_0(delta):
    certain = [1, 0, 0]
    assert md.weissman_radius(10, 3, delta, prior=certain) == 0.0
    assert md.uncertainty.required_samples(3, delta, "0.01", prior=certain) == 1
    for radius in ("0.01", "0.5", "1.5"):
        assert md.uncertainty.failure_probability(10, 3, radius, prior=certain) == 0.0
    assert md.uncertainty.failure_probability(10, 3, 0, prior=certain) == 1.0  # "at most" and "less" are the same to it


def test_a_probability_with_too_many_digits_for_memory_is_the_least_double():
    assert md.uncertainty.failure_probability(10**15, 2, 1) == 5e-324
    assert md.uncertainty.failure_probability(10**5, 2, 1) == 5e-324
