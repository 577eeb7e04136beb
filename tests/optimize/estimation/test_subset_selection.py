"""Subset selection: its errors from integrals, against its matrix, Ye and Barg's formula, and sums over two cases."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

import mechdesign as md
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets
from mechdesign.optimize.estimation import subset_selection_error


@given(st.integers(2, 9), st.floats(0.02, 8), st.integers(0, 10**6))
def test_the_covariance_is_that_of_the_matrix(N, epsilon, seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(N) / 2)
    members = int(rng.integers(1, N))
    e = math.exp(epsilon)
    found = subset_selection_error.covariance(prior, e, members)
    matrix = subset_selection_error.mechanism(N, Fraction(e), members).astype(float)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    # From the definition J^-1 - P P', in coordinates in which the frequencies of all symbols but the last vary freely.
    free = (matrix[:-1] - matrix[-1]) / np.sqrt(prior @ matrix)
    np.testing.assert_allclose(found[:-1, :-1], np.linalg.inv(free @ free.T), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-9 * np.trace(found))
    assert np.trace(found) == pytest.approx(md.EstimationError().value(matrix, prior), rel=1e-9)


@pytest.mark.combined
@pytest.mark.parametrize(("N", "members"), [(2, 1), (16, 4), (60, 16), (200, 54)])
@pytest.mark.parametrize("epsilon", [0.01, 1, 6, 40])
def test_at_a_uniform_prior_the_error_is_that_of_ye_and_barg(N, members, epsilon):
    e = math.exp(epsilon)
    found = np.trace(subset_selection_error.covariance(np.full(N, 1 / N), e, members))
    assert found == pytest.approx(float(least_error_of_sets(N, Fraction(e), members)), rel=1e-10)


@pytest.mark.parametrize(("N", "members"), [(30, 8), (60, 30)])
def test_with_one_heavy_symbol_the_error_is_a_sum_over_two_cases(N, members):
    """Of 60 choose 30 sets half contain the heavy symbol, and all of these have the same mass."""
    e, light = math.exp(1.5), 0.1 / (N - 1)
    prior = np.full(N, light)
    prior[0] = 0.9
    with_heavy = 1 / (1 + (e - 1) * (0.9 + (members - 1) * light))
    without = 1 / (1 + (e - 1) * members * light)

    def share(others, chosen):  # of all sets, those with the given `chosen` symbols and none of the other given ones
        return math.comb(N - chosen - others, members - chosen) / math.comb(N, members)

    B = np.full((N, N), share(0, 3) * with_heavy + share(1, 2) * without)
    np.fill_diagonal(B, share(0, 2) * with_heavy + share(1, 1) * without)
    B[0, :] = B[:, 0] = share(0, 2) * with_heavy
    B[0, 0] = share(0, 1) * with_heavy
    mean = (members * e + N - members) / N  # of the entries of a column, without the factor that makes rows sum to 1
    once = np.diag(B)
    every = share(0, 1) * with_heavy + share(1, 0) * without
    J = (every + (e - 1) * (once[:, None] + once) + (e - 1) ** 2 * B) / mean
    expected = np.linalg.inv(J) - np.outer(prior, prior)
    np.testing.assert_allclose(subset_selection_error.covariance(prior, e, members), expected, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(
    ("name", "members", "error"),
    [
        ("relationship", 2, 15.28),
        ("workclass", 3, 24.44),
        ("occupation", 4, 47.73),
        ("education", 4, 50.31),
        ("race", 2, 11.08),
    ],
)
def test_errors_computed_apart_from_matrices(name, members, error):
    problem = md.read_problem(f"problems/adult-{name}.toml").problem
    prior, e = problem.uncertainty.prior, problem.epsilon.exp_down
    found = subset_selection_error.best_members(prior, e, np.eye(prior.size))
    assert found[0] == members
    assert np.trace(found[1]) == pytest.approx(error, abs=0.005)


def test_the_best_size_is_the_best_of_all():
    rng = np.random.default_rng(5)
    for N in (3, 6, 10):
        for epsilon in ("0.1", "1", "3"):
            prior, e = rng.dirichlet(np.ones(N)), md.Epsilon.of(epsilon).exp_down
            W = rng.normal(size=(4, N))
            errors = {d: np.trace(W @ subset_selection_error.covariance(prior, float(e), d) @ W.T) for d in range(1, N)}
            members, covariance = subset_selection_error.best_members(prior, e, W)
            assert errors[members] == min(errors.values())
            assert np.trace(W @ covariance @ W.T) == pytest.approx(errors[members])


@pytest.mark.parametrize(
    ("weights", "exp_epsilon", "uniform", "best"),
    [
        ([3, 20, 4, 32, 14, 4, 14, 9], Fraction(21, 10), 3, 2),  # the frequency of a rare symbol among heavy ones
        ([45, 45, *[1] * 14], Fraction(27, 10), 4, 6),  # that of a heavy symbol: more than one size away
    ],
)
def test_the_best_size_is_found_below_and_above_that_of_a_uniform_prior(weights, exp_epsilon, uniform, best):
    prior = np.array(weights) / sum(weights)
    N, W = prior.size, np.eye(prior.size)[:1]
    assert min(range(1, N), key=lambda members: least_error_of_sets(N, exp_epsilon, members)) == uniform
    errors = [subset_selection_error.covariance(prior, exp_epsilon, members)[0, 0] for members in range(1, N)]
    assert 1 + int(np.argmin(errors)) == best
    assert subset_selection_error.best_members(prior, exp_epsilon, W)[0] == best


def test_sets_of_one_are_randomized_response():
    assert (subset_selection_error.mechanism(4, Fraction(3), 1) == randomized_response.mechanism(4, Fraction(3))).all()


def test_what_is_too_large_is_refused():
    with raises("too-much-work", "155117520", "20000"):
        subset_selection_error.mechanism(30, Fraction(3), 15)
    with raises("too-much-work", "are 501", "most 500"):
        subset_selection_error.covariance(np.full(501, 1 / 501), 3.0, 2)
    for members in (0, 3):
        with raises("out-of-range", "to 2"):
            subset_selection_error.covariance(np.full(3, 1 / 3), 3.0, members)
