"""Kairouz, Oh and Viswanath: binary randomized response under local differential privacy, for small epsilon.

The text of the paper is not at hand; its abstract has binary randomized response optimal at high privacy.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md

INFORMATION = md.MutualInformation()


def binary(N, S, epsilon):
    """Randomized response on whether the symbol lies in S."""
    odds = np.where(np.isin(np.arange(N), S)[:, None] == np.array([True, False]), math.exp(epsilon), 1)
    return odds / odds.sum(axis=1, keepdims=True)


def every_set(N, size, epsilon):
    """All sets of a size, each reported with odds e if it holds the symbol."""
    odds = np.array([[math.exp(epsilon) if i in S else 1 for S in combinations(range(N), size)] for i in range(N)])
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("N", [3, 5, 7])
@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.01])
def test_a_uniform_prior_of_odd_size_has_a_better_mechanism(N, epsilon):
    P, near = np.full(N, 1 / N), (N - 1) // 2
    of_one, of_all = binary(N, range(near), epsilon), every_set(N, near, epsilon)
    anyone = md.L1Ball([Fraction(1, N)] * N, 2)
    for matrix in (of_one, of_all):
        assert md.leakage_capacity(matrix, anyone) == pytest.approx(epsilon, abs=ALGEBRA)
    p = near / N
    lead = (2 / 3) * p * (1 - p) * (1 - 2 * p) * epsilon**3 / 2
    gain = INFORMATION.value(of_all, P) - INFORMATION.value(of_one, P)
    assert gain > 0
    if epsilon <= 0.1:
        assert gain == pytest.approx(lead, rel=3 * epsilon)


@pytest.mark.parametrize("epsilon", ["0.02", "0.1", "1"])
def test_a_set_that_alone_comes_nearest_to_one_half_is_optimal_without_mass_one_half(epsilon):
    prior = ["0.6", "0.25", "0.15"]
    best = md.design(md.DesignProblem(md.L1Ball(prior, 2), epsilon))
    assert best.certified
    value = INFORMATION.value(binary(3, [0], float(epsilon)), np.array(prior, dtype=float))
    assert value == pytest.approx(best.value, abs=CERTIFIED)
