"""Cyclic sets: their sizes, how often two symbols are together, and what designs gain from them."""

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets
from mechdesign.optimize.estimation.cyclic_sets import cyclic_sets
from mechdesign.optimize.estimation.generation import Goal, generate


@pytest.mark.parametrize(("size", "members", "families"), [(2, 1, 1), (5, 4, 2), (31, 15, 3), (94, 25, 10), (60, 1, 1)])
def test_two_symbols_are_together_about_equally_often(size, members, families):
    sets = cyclic_sets(size, members, families, np.random.default_rng(3))
    assert sets.shape == (size, families * size)
    assert set(np.unique(sets)) <= {0.0, 1.0}
    assert (sets.sum(axis=0) == members).all()
    assert (sets.sum(axis=1) == families * members).all()
    together = (sets @ sets.T)[~np.eye(size, dtype=bool)]
    mean = families * members * (members - 1) / (size - 1)
    assert together.mean() == pytest.approx(mean)
    assert np.abs(together - mean).max() <= 3


@pytest.mark.parametrize(("size", "members"), [(7, 3), (13, 4), (11, 5)])
def test_small_difference_sets_are_found(size, members):
    """Of several searches one finds a set in which every difference occurs equally often."""
    spreads = []
    for seed in range(20):
        sets = cyclic_sets(size, members, 1, np.random.default_rng(seed))
        spreads.append(np.ptp((sets @ sets.T)[~np.eye(size, dtype=bool)]))
    assert min(spreads) == 0


def test_the_first_weights_are_as_good_as_subset_selection_up_to_half_a_percent():
    N = 40
    ball = md.L1Ball([1 / N] * N, 2)
    found = generate(ball, 3.0, np.eye(N), np.random.default_rng(0), goal=Goal(tolerance=1.0))
    assert found.rounds == 1
    least = min(float(least_error_of_sets(N, Fraction(3), d)) for d in range(1, N))
    assert least * (1 - 1e-9) <= found.value <= least * 1.005
    at_once = generate(ball, 3.0, np.eye(N), np.random.default_rng(0), deadline=0.0)
    assert (at_once.rounds, at_once.stopped) == (0, "time limit")
    assert found.value < at_once.value < 1.03 * least
    np.testing.assert_allclose(at_once.matrix.max(axis=0), 3 * at_once.matrix.min(axis=0))
    np.testing.assert_allclose(at_once.matrix.sum(axis=1), 1)
