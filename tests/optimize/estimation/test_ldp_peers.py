"""The best LDP mechanisms beside those of the literature, whose errors come from their papers and from simulation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import ldp_peers
import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets

ROUNDING = 1e-9  # of an error, relative: the matrices are of floats
COUNTS = {5: [40, 25, 20, 10, 5], 7: [300, 20, 20, 10, 5, 2, 1], 8: [1] * 8}


def best(counts, epsilon):
    return md.design(md.DesignProblem(md.L1Ball.from_counts(counts, radius=2), epsilon, md.EstimationError()))


def is_below(error, other):
    return error <= other * (1 + ROUNDING)


@pytest.mark.combined
@pytest.mark.parametrize("N", COUNTS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_no_peer_is_below_the_bound_and_the_best_mechanism_is_never_above_them(N, epsilon):
    found = best(COUNTS[N], epsilon)
    assert found.certified
    prior, objective = found.problem.uncertainty.prior, found.problem.utility
    errors = {}
    for name, peer in ldp_peers.protocols(N, np.exp(epsilon)):
        assert md.leakage_capacity(peer.matrix, found.problem.uncertainty) <= epsilon * (1 + ROUNDING), name
        np.testing.assert_allclose(peer.matrix.sum(axis=1), 1, rtol=1e-12)
        errors[name] = objective.value(peer.matrix, prior)
        # The estimator of the literature is linear and unbiased: the best estimator has at most its error.
        assert is_below(errors[name], peer.error(prior)), name
    assert is_below(found.lower_bound, min(errors.values()))
    assert found.value <= min(errors.values()) * (1 + found.tol)
    assert len(errors) == N + 2 + ("block design" in errors)


@pytest.mark.parametrize("seed", range(6))
def test_as_many_reports_as_symbols_leave_one_estimator(seed):
    rng = np.random.default_rng(seed)
    e = float(np.exp(rng.uniform(0.1, 3)))
    square = [ldp_peers.randomized_response(6, e)] + [
        ldp_peers.block_design(N, base, e) for N, base in ldp_peers.DIFFERENCE_SETS
    ]
    for peer in square:
        prior = rng.dirichlet(np.ones(len(peer.matrix)))
        assert md.EstimationError().value(peer.matrix, prior) == pytest.approx(peer.error(prior), rel=1e-8)


@pytest.mark.parametrize("N", [4, 7, 9])
def test_at_a_uniform_prior_sets_are_estimated_as_in_the_literature(N):
    for d in range(1, N):
        peer = ldp_peers.subset_selection(N, 3.0, d)
        error = float(least_error_of_sets(N, Fraction(3), d))
        assert peer.error(np.full(N, 1 / N)) == pytest.approx(error, rel=1e-12)
        assert md.EstimationError().value(peer.matrix, np.full(N, 1 / N)) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize(("N", "base"), ldp_peers.DIFFERENCE_SETS)
def test_block_designs_estimate_as_well_as_all_sets_of_their_size(N, base):
    """With d = N / (e + 1) they are optimal, as subset selection is, with N outputs only."""
    d = len(base)
    differences = Counter((i - j) % N for i in base for j in base if i != j)
    assert set(differences.values()) == {d * (d - 1) // (N - 1)}
    e = Fraction(N, d) - 1
    least = min(least_error_of_sets(N, e, k) for k in range(1, N))
    assert least == least_error_of_sets(N, e, d)
    value = md.EstimationError().value(ldp_peers.block_design(N, base, float(e)).matrix, np.full(N, 1 / N))
    assert value == pytest.approx(float(least), rel=1e-9)
    if N <= 13:
        found = best([1] * N, f"log({e})")
        assert is_below(found.lower_bound, value)
        assert found.value <= value * (1 + found.tol)


@pytest.mark.parametrize("name", ["OUE", "SUE", "Hadamard response", "subsets of 2"])
def test_simulated_errors_are_those_that_are_promised(name):
    """The estimator of the literature has the error of its formula; least squares has the value of the objective."""
    N, e, reports, repetitions = 5, np.exp(1.0), 2_000, 4_000
    peer = dict(ldp_peers.protocols(N, e))[name]
    prior = np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    counts = np.random.default_rng(1).multinomial(reports, prior @ peer.matrix, size=repetitions)
    masses = prior @ peer.matrix
    weighed = peer.matrix / masses
    least_squares = np.linalg.solve(weighed @ peer.matrix.T, weighed)
    mechanism, output = peer.mechanism(1, prior.tolist())
    first = np.bincount(output, weights=counts[0]).astype(int).tolist()
    ours = md.estimate_frequencies(dict(zip(mechanism.outputs, first, strict=True)), mechanism, method="least-squares")
    np.testing.assert_allclose(ours.frequencies, least_squares @ counts[0] / reports, atol=1e-9)
    for promised, estimates in (
        (peer.error(prior), np.array([peer.estimate(row) for row in counts])),
        (md.EstimationError().value(peer.matrix, prior), counts / reports @ least_squares.T),
    ):
        squares = reports * ((estimates - prior) ** 2).sum(axis=1)
        spread = squares.std() / np.sqrt(repetitions)
        assert spread < 0.02 * promised
        assert abs(squares.mean() - promised) < 6 * spread
