"""Labels for training: identities of unbiased targets, and leakage to who knows more than the promise assumes."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.deploy import debias_labels, label_leakage, unprotected_labels

OCCUPATION = [6172, 6112, 6086, 5611, 5504, 4923, 3022, 2355]


@pytest.fixture(scope="module")
def ball():
    return md.L1Ball.from_counts(OCCUPATION, delta="1e-9")


@pytest.fixture(scope="module")
def design(ball):
    return md.design(md.DesignProblem(ball, 1, md.EstimationError()))


def test_targets_are_unbiased_and_their_noise_is_the_estimation_error_but_for_a_constant(design, ball):
    found, K, P = debias_labels(design.mechanism), design.mechanism.matrix, ball.prior
    np.testing.assert_allclose(K @ found.targets, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(found.targets.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(found.noise, design.value + P @ P - 1, rtol=1e-9)
    distances = ((found.targets[None] - np.eye(8)[:, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found.noise, (P[:, None] * K * distances).sum(), rtol=1e-9)


def test_no_other_unbiased_targets_have_less_noise(design, ball):
    found, K = debias_labels(design.mechanism), design.mechanism.matrix
    q, rng = ball.prior @ K, np.random.default_rng(5)
    left = np.eye(K.shape[1]) - np.linalg.pinv(K) @ K  # adds nothing to the mean
    for _ in range(50):
        other = found.targets + left @ rng.normal(size=found.targets.shape)
        np.testing.assert_allclose(K @ other, np.eye(8), atol=1e-9)
        assert q @ (other**2).sum(axis=1) - 1 >= found.noise - 1e-9


def test_numbers_of_reports_are_unbiased(design):
    numbers = np.arange(8.0) ** 2
    np.testing.assert_allclose(
        design.mechanism.matrix @ debias_labels(design.mechanism).values(numbers), numbers, atol=1e-9
    )
    with raises("wrong-size"):
        debias_labels(design.mechanism).values([1, 2])


def test_mechanisms_that_do_not_tell_labels_apart_are_refused(ball):
    accurate = md.design(md.DesignProblem(ball, "0.1", md.HammingAccuracy()))
    with raises("not-identifiable"):
        debias_labels(accurate.mechanism)


def test_leakage_is_the_promise_within_the_set_and_more_outside(design, ball):
    K = design.mechanism.matrix
    laws = np.array([ball.prior, np.eye(8)[0], np.full(8, 1 / 8)])
    found = label_leakage(design.mechanism, laws)
    assert found[0] <= 1
    assert found[1] > 1
    for law, leakage in zip(laws, found, strict=True):
        pairs = itertools.product(range(8), range(K.shape[1]))
        likely = [math.log(K[x, y] / (law @ K[:, y])) for x, y in pairs if K[x, y] > 0 and law @ K[:, y] > 0]
        assert leakage == pytest.approx(max(likely))
    with raises("out-of-range"):
        label_leakage(design.mechanism, np.full((2, 8), 0.2))
    with raises("wrong-size"):
        label_leakage(design.mechanism, [[0.5, 0.5]])


@pytest.mark.parametrize("mass", ["1e-300", "1e-320", "5e-324"])
def test_leakage_to_who_holds_a_label_for_nearly_impossible_is_finite(mass):
    promise = md.Guarantee("log(4)", md.L1Ball(["0.5", "0.5"], "0.2"))
    numerators = [[2**52 - 1, 1], [2**52, 0]]
    mechanism = md.Mechanism(numerators, 52, promise)
    found = label_leakage(mechanism, [[float(mass), 1.0], [0.0, 1.0]])
    assert found[0] == pytest.approx(-math.log(float(mass)), rel=1e-12)
    assert found[1] == 0


def test_a_promise_is_empty_from_minus_log_of_the_least_mass_on():
    known = md.L1Ball.from_counts({"a": 9, "b": 6, "c": 1}, known=True)
    for epsilon, expected in (("log(16/10)", ()), ("log(16/9)", ("a",)), ("log(15)", ("a", "b")), ("log(16)", "abc")):
        mechanism = md.design(md.DesignProblem(known, epsilon)).mechanism
        assert unprotected_labels(mechanism) == tuple(expected)
    assert np.array_equal(mechanism.matrix.max(axis=0), np.ones(3))
    assert unprotected_labels(md.design(md.DesignProblem(known, "log(16)", cap=2)).mechanism) == ()
    ldp = md.L1Ball.from_counts([9, 6, 1], radius=2)
    assert unprotected_labels(md.design(md.DesignProblem(ldp, 5)).mechanism) == ()


def best_top_k(P, e):
    """Ghazi et al. (2021), arXiv:2102.06062: randomized response among the k likeliest labels, the best k."""
    P = sorted(P, reverse=True)
    return max(Fraction(e) * sum(P[:k]) / (e + k - 1) for k in range(1, len(P) + 1))


@pytest.mark.combined
@pytest.mark.parametrize("size", [3, 5, 8, 12])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_best_accuracy_under_ldp_is_randomized_response_with_prior(size, epsilon):
    P = [Fraction(1, k) for k in range(1, size + 1)]
    P = [p / sum(P) for p in P]
    found = md.design(md.DesignProblem(md.L1Ball(P, 2), epsilon, md.HammingAccuracy()))
    assert found.certified
    assert found.value == pytest.approx(float(best_top_k(P, Fraction(math.exp(epsilon)))), abs=1e-12)
