import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, random_mechanism
from tolerances import ALGEBRA

import mechdesign as md


def test_leakage_is_the_largest_posterior_to_prior_ratio():
    rng = np.random.default_rng(1)
    matrix, Q = random_mechanism(rng, 4, 3), rng.dirichlet(np.ones(4))
    posterior = Q[:, None] * matrix / (Q @ matrix)
    np.testing.assert_allclose(md.leakage(matrix, Q), np.log((posterior / Q[:, None]).max(axis=0)), atol=ALGEBRA)
    assert md.epsilon_min(matrix, Q) == md.leakage(matrix, Q).max()


def test_identity_leaks_minus_the_log_of_each_probability():
    np.testing.assert_allclose(md.leakage(np.eye(2), [0.2, 0.8]), [-math.log(0.2), -math.log(0.8)], atol=ALGEBRA)


def test_outputs_outside_the_support_leak_infinitely_and_impossible_ones_nothing():
    found = md.leakage([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1.0, 0.0])
    np.testing.assert_array_equal(found, [0.0, math.inf, 0.0])


@given(balls(), st.integers(0, 2**32))
def test_capacity_bounds_the_leakage_at_every_member_and_is_attained(ball, seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, ball.size, 3)
    capacity = md.leakage_capacity(matrix, ball)
    for _ in range(20):
        member = ball.member_near(rng.dirichlet(np.full(ball.size, 0.4)))
        assert md.epsilon_min(matrix, member) <= capacity + 1e-9
    witnesses = [md.epsilon_min(matrix, np.maximum(ball.worst_mean(v)[1], 0)) for v in matrix.T]
    if math.isfinite(capacity):
        np.testing.assert_allclose(max(witnesses), capacity, atol=1e-9)


@given(balls(), st.integers(0, 2**32))
def test_merging_outputs_never_raises_leakage(ball, seed):
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    merged = np.c_[matrix[:, 0] + matrix[:, 1], matrix[:, 2:]]
    assert md.leakage_capacity(merged, ball) <= md.leakage_capacity(matrix, ball) + 1e-12


def test_leakage_over_all_priors_is_the_ldp_parameter():
    matrix = np.array([[0.6, 0.4], [0.2, 0.8]])
    capacity = md.leakage_capacity(matrix, md.L1Ball([0.5, 0.5], radius=2))
    assert capacity == pytest.approx(math.log(3), abs=ALGEBRA)


@pytest.mark.parametrize(
    ("matrix", "prior", "message"),
    [
        ([[1.0]], [0.5, 0.5], r"accepted: \(N, M\) and \(N,\)"),
        ([[1.5, -0.5], [0.5, 0.5]], [0.5, 0.5], "negative or non-finite"),
        ([[np.nan, 1.0], [0.5, 0.5]], [0.5, 0.5], "negative or non-finite"),
    ],
)
def test_bad_matrices_are_refused(matrix, prior, message):
    with pytest.raises(md.InputError, match=message):
        md.leakage(matrix, prior)


def test_a_transposed_matrix_and_counts_for_a_prior_are_refused():
    matrix = np.array([[0.9, 0.1], [0.4, 0.6]])
    with pytest.raises(md.InputError, match=r"rows of the matrix sum to 0.7 and 1.3"):
        md.leakage(matrix.T, [0.5, 0.5])
    with pytest.raises(md.InputError, match="the prior sums to 10"):
        md.leakage(matrix, [5, 5])
    numerators = np.array([[3, 1], [1, 3]])
    np.testing.assert_allclose(md.leakage(numerators, [0.5, 0.5]), md.leakage(numerators / 4, [0.5, 0.5]))
