"""Least errors under LDP at a uniform prior beside the factorization mechanism of McKenna et al. (2020)."""

from __future__ import annotations

import factorization
import ldp_peers
import numpy as np
import pytest
from clocks import limit_work

import mechdesign as md
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets

# Computed apart from the package, by listing all 2^N - 2 rays: value and certified lower bound of the prefix workload.
PREFIX = {
    8: (24.34386788, 24.34386770),
    10: (35.94511569, 35.94511544),
    12: (48.61580454, 48.61580437),
    14: (62.59739769, 62.59739372),
    16: (77.46482370, 77.46481829),
}
IDENTITY = {8: (22.61138453, 2), 10: (30.00405516, 3), 12: (37.22418406, 3), 14: (44.53330501, 4), 16: (51.91389306, 4)}
SIZES = [8, 10, 12, pytest.param(14, marks=pytest.mark.slow), pytest.param(16, marks=pytest.mark.slow)]


def best(N, workload):
    ball = md.L1Ball.from_counts([1] * N, radius=2)
    return md.design(md.DesignProblem(ball, 1, md.EstimationError(workload)), tol=1e-6)


def prefix(N):
    """Their workload: all N prefixes, the last of which is known to be 1."""
    return np.tril(np.ones((N, N)))


@pytest.mark.sampled
@pytest.mark.parametrize("N", SIZES)
def test_prefix_workload_meets_values_computed_apart(N):
    found = best(N, "prefix")
    value, lower = PREFIX[N]
    assert found.certified
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.lower_bound == pytest.approx(value, rel=1e-6)
    # Each bound is below every value.
    assert found.lower_bound <= value + 5e-9
    assert lower - 5e-9 <= found.value


@pytest.mark.parametrize("N", SIZES)
def test_identity_workload_meets_values_computed_apart(N):
    found = best(N, None)
    value, members = IDENTITY[N]
    e = found.problem.epsilon.exp_down
    closed = float(least_error_of_sets(N, e, members))
    assert closed == pytest.approx(value, abs=5.0001e-9)
    assert closed == float(min(least_error_of_sets(N, e, k) for k in range(1, N)))
    assert found.certified
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.lower_bound == pytest.approx(value, rel=1e-6)
    assert found.lower_bound <= value + 5e-9


@pytest.mark.parametrize("workload", [np.eye, prefix])
@pytest.mark.parametrize("N", [4, 8])
def test_their_objective_is_ours_without_what_sampling_adds(N, workload):
    rng = np.random.default_rng(N)
    matrix = rng.dirichlet(np.ones(2 * N), size=N)
    W = workload(N)
    theirs = factorization.average_variance(matrix.T, W)
    assert theirs == pytest.approx(factorization.variance_of_decoding(matrix.T, W), rel=1e-9)
    sampling = (W**2).sum() / N - ((W @ np.full(N, 1 / N)) ** 2).sum()
    ours = md.EstimationError(W).value(matrix, np.full(N, 1 / N))
    assert ours == pytest.approx(theirs + sampling, rel=1e-9)


@pytest.mark.parametrize(
    ("N", "name", "sampling"), [(8, "prefix", 1.3125), pytest.param(8, "frequencies", 0.875, marks=pytest.mark.slow)]
)
def test_no_strategy_is_below_the_bound(N, name, sampling):
    """Randomized response, RAPPOR, Hadamard response, a tree, and what their own descent ends with."""
    found = best(N, name)
    W = prefix(N) if name == "prefix" else np.eye(N)
    rng = np.random.default_rng(0)
    strategies = {
        "descent": factorization.descended(W, np.e, rng),
        "tree": factorization.hierarchical(N, np.e),
        "randomized response": ldp_peers.randomized_response(N, np.e).matrix.T,
        "RAPPOR": ldp_peers.unary_encoding(N, np.e, optimized=False).matrix.T,
        "Hadamard response": ldp_peers.hadamard_response(N, np.e).matrix.T,
    }
    everything = found.problem.uncertainty
    errors = {}
    for strategy, Q in strategies.items():
        np.testing.assert_allclose(Q.sum(axis=0), 1, rtol=1e-9)
        assert md.leakage_capacity(Q.T, everything) <= 1 + 1e-9, strategy
        errors[strategy] = factorization.average_variance(Q, W) + sampling
    assert found.lower_bound <= min(errors.values())
    assert found.value <= min(errors.values()) * (1 + found.tol)
    # Their descent is not stuck at a poor one: it leaves a sixth of the error at most, as their own program does.
    assert errors["descent"] < 7 / 6 * found.value


@pytest.mark.slow
@pytest.mark.parametrize(("name", "halvings"), [("prefix", (16, 17)), ("frequencies", (13, 14))])
def test_many_symbols_are_estimated_better_than_by_descent(name, halvings, monkeypatch):
    limit_work(monkeypatch)
    N = 32
    ball = md.L1Ball.from_counts([1] * N, radius=2)
    found = md.design(md.DesignProblem(ball, 1, md.EstimationError(name)), time_limit=60)
    W = prefix(N) if name == "prefix" else np.eye(N)
    sampling = (W**2).sum() / N - ((W @ np.full(N, 1 / N)) ** 2).sum()
    Q = factorization.descended(W, np.e, np.random.default_rng(0), halvings)
    descent = factorization.average_variance(Q, W) + sampling
    assert found.lower_bound <= found.value < descent < 1.25 * found.value
    if name == "frequencies":
        e = found.problem.epsilon.exp_down
        closed = float(min(least_error_of_sets(N, e, k) for k in range(1, N)))
        assert found.lower_bound <= closed <= found.value * (1 + 1e-9)
        assert found.value <= 1.001 * closed


# The authors' README, for 128 symbols and epsilon = 1: the greatest variance over all symbols that a record may be, of
# their optimized strategy from a random start (github.com/ryan112358/workload-factorization-mechanism).
PUBLISHED = 1910.8675697859098


@pytest.mark.slow
def test_what_they_published_for_128_symbols_is_above_the_bound_and_above_our_design(monkeypatch):
    limit_work(monkeypatch)
    N = 128
    ball = md.L1Ball.from_counts([1] * N, radius=2)
    found = md.design(md.DesignProblem(ball, 1, md.EstimationError("prefix")), time_limit=60)
    W, matrix = prefix(N), found.mechanism.matrix
    sampling = (W**2).sum() / N - ((W @ np.full(N, 1 / N)) ** 2).sum()
    decoding = factorization.best_decoding(matrix.T, W)
    of_symbols = (decoding**2 @ matrix.T - (decoding @ matrix.T) ** 2).sum(axis=0)
    assert of_symbols.mean() + sampling == pytest.approx(found.value, rel=1e-9)
    # An average is never above a maximum.
    assert found.lower_bound - sampling <= PUBLISHED
    assert of_symbols.max() < 0.9 * PUBLISHED
