import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import random_mechanism
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.pml import epsilon_min, information_density, lower_leakage


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


@pytest.mark.parametrize(
    ("matrix", "prior", "code"),
    [
        ([[1.0]], [0.5, 0.5], "wrong-size"),
        ([[1.5, -0.5], [0.5, 0.5]], [0.5, 0.5], "not-probabilities"),
        ([[np.nan, 1.0], [0.5, 0.5]], [0.5, 0.5], "not-probabilities"),
    ],
)
def test_bad_matrices_are_refused(matrix, prior, code):
    with raises(code):
        md.leakage(matrix, prior)


def test_a_transposed_matrix_and_counts_for_a_prior_are_refused():
    matrix = np.array([[0.9, 0.1], [0.4, 0.6]])
    with raises("wrong-sum", "to 0", "7", "and 1", "3"):
        md.leakage(matrix.T, [0.5, 0.5])
    with raises("wrong-sum", "the prior", "to 10"):
        md.leakage(matrix, [5, 5])
    numerators = np.array([[3, 1], [1, 3]])
    np.testing.assert_allclose(md.leakage(numerators, [0.5, 0.5]), md.leakage(numerators / 4, [0.5, 0.5]))


def test_many_priors_are_each_as_one():
    rng = np.random.default_rng(2)
    matrix, priors = random_mechanism(rng, 5, 4), rng.dirichlet(np.ones(5), 30)
    one_by_one = np.array([md.leakage(matrix, Q) for Q in priors])
    for given_as in (priors, priors.tolist(), [tuple(map(Fraction, Q.tolist())) for Q in priors]):
        found = md.leakage(matrix, given_as)
        assert found.shape == (30, 4)
        np.testing.assert_allclose(found, one_by_one, atol=ALGEBRA)
        np.testing.assert_array_equal(epsilon_min(matrix, given_as), found.max(axis=1))
    assert isinstance(epsilon_min(matrix, priors[0]), float)
    assert md.leakage(matrix, priors[:0]).shape == (0, 4)


def test_many_priors_keep_the_conventions_at_probability_0():
    found = md.leakage([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.array([[1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_array_equal(found, [[0.0, math.inf, 0.0], [math.log(2), math.log(2), 0.0]])


@pytest.mark.parametrize(
    ("priors", "code"),
    [
        (np.array([[0.5, 0.5], [0.6, 0.6]]), "wrong-sum"),
        ([[0.5, 0.5], [0.6, 0.6]], "wrong-sum"),
        (np.array([[0.5, 0.5], [1.5, -0.5]]), "not-probabilities"),
        (np.array([[0.5, 0.5], [np.nan, 1.0]]), "not-a-number"),
        (np.array([[0.5, 0.5], [np.inf, -np.inf]]), "not-a-number"),
        (np.array([[1.0], [1.0]]), "too-few-categories"),
        ([[0.5, 0.5], [0.2, 0.3, 0.5]], "wrong-size"),
        (np.full((4, 3), 1 / 3), "wrong-size"),
        (np.full((2, 2, 2), 0.5), "not-a-number"),
    ],
)
def test_one_bad_prior_among_many_is_named(priors, code):
    with raises(code):
        md.leakage(np.eye(2), priors)


def test_priors_that_sum_to_1_only_nearly_are_weights():
    # The second is too far from 1 for the quick check, and near enough for the exact one.
    Q = np.array([[0.25, 0.75]]) * np.array([[1 + 4e-10], [1 + 8e-10]])
    np.testing.assert_allclose(md.leakage(np.eye(2), Q), [-np.log([0.25, 0.75])] * 2, atol=ALGEBRA)


def test_information_density_has_leakage_for_its_greatest_and_mutual_information_for_its_mean():
    rng = np.random.default_rng(3)
    for _ in range(20):
        matrix, Q = random_mechanism(rng, 4, 5), rng.dirichlet(np.ones(4))
        density = information_density(matrix, Q)
        np.testing.assert_array_equal(density.max(axis=0), md.leakage(matrix, Q))
        joint = Q[:, None] * matrix
        entropies = [-(p[p > 0] * np.log(p[p > 0])).sum() for p in (joint, Q, joint.sum(axis=0))]
        mean = (joint[joint > 0] * density[joint > 0]).sum()
        np.testing.assert_allclose(mean, entropies[1] + entropies[2] - entropies[0], atol=ALGEBRA)
    assert information_density(matrix, rng.dirichlet(np.ones(4), 7)).shape == (7, 4, 5)


def test_information_density_is_minus_infinity_where_a_symbol_rules_an_output_out_and_never_nan():
    found = information_density([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [1.0, 0.0])
    np.testing.assert_array_equal(found, [[0.0, -math.inf, 0.0], [-math.inf, math.inf, 0.0]])


def test_lower_leakage_is_that_of_a_proof_and_infinite_where_a_symbol_is_ruled_out():
    rng = np.random.default_rng(4)
    for _ in range(10):
        numerators = rng.integers(1, 9, (4, 3))
        numerators[:, 0] += 32 - numerators.sum(axis=1)
        known = md.L1Ball(["0.1", "0.2", "0.3", "0.4"])
        proof = md.mechanism.prove(numerators, 5, md.Guarantee(9, known, lower=9))
        found = lower_leakage(numerators, known.prior)
        np.testing.assert_allclose(found, [-math.log(lift) for lift in proof.least_lifts], atol=ALGEBRA)
        assert lower_leakage(numerators, rng.dirichlet(np.ones(4), 6)).shape == (6, 3)
    assert lower_leakage([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], [0.5, 0.5]).tolist() == [math.log(1.5), math.inf, 0.0]
    assert lower_leakage(np.ones((3, 1)), [0.2, 0.3, 0.5]).tolist() == [0.0]


@given(st.integers(2, 5), st.integers(0, 2**32), st.floats(0, 1))
def test_leakage_is_convex_in_the_prior(size, seed, weight):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, size, 3)
    P, Q = rng.dirichlet(np.ones(size), 2)
    between, at_P, at_Q = md.leakage(matrix, np.array([weight * P + (1 - weight) * Q, P, Q]))
    assert (between <= weight * at_P + (1 - weight) * at_Q + ALGEBRA).all()
    assert between.max() <= weight * at_P.max() + (1 - weight) * at_Q.max() + ALGEBRA


@given(st.integers(2, 5), st.integers(0, 2**32))
def test_leakage_follows_relabelling(size, seed):
    rng = np.random.default_rng(seed)
    matrix, Q = random_mechanism(rng, size, 4), rng.dirichlet(np.ones(size))
    rows, columns = rng.permutation(size), rng.permutation(4)
    found = md.leakage(matrix[rows][:, columns], Q[rows])
    np.testing.assert_allclose(found, md.leakage(matrix, Q)[columns], atol=ALGEBRA)
