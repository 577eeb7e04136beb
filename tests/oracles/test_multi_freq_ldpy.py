"""Randomized response and estimation beside multi-freq-ldpy, a package for frequencies under LDP."""

import math

import numpy as np
import pytest
from chi_square import NEVER_FLAKES, p_value
from numpy.testing import assert_allclose

import mechdesign as md
from mechdesign.comparison.rivals import randomized_response_of

grr = pytest.importorskip(
    "multi_freq_ldpy.pure_frequency_oracles.GRR", reason='multi-freq-ldpy is not installed (pip install ".[oracles]")'
)

K, EPSILON = 5, 1.5
TRUTH = np.array([0.45, 0.3, 0.15, 0.08, 0.02])
# Our probabilities are multiples of 2^-48.
EXACT = 1e-10


@pytest.fixture(scope="module")
def response():
    everything = md.L1Ball(["1/5"] * K, radius=2)
    return randomized_response_of(md.DesignProblem(everything, epsilon=EPSILON))


def seeded_clients(codes, seed):
    """Return the reports of their clients, whose randomness is that of numba."""
    from numba import njit

    @njit
    def set_seed(value):
        np.random.seed(value)  # noqa: NPY002 - the only one there is in numba's compiled code

    set_seed(seed)
    return np.array([grr.GRR_Client(int(code), K, EPSILON) for code in codes])


def records(rng, size):
    return rng.choice(K, size=size, p=TRUTH)


def test_their_clients_report_with_our_probabilities(response):
    codes = np.arange(20_000) % K
    reports = seeded_clients(codes, 7)
    for code in range(K):
        seen = np.bincount(reports[codes == code], minlength=K)
        assert p_value(seen, response.matrix[code]) > NEVER_FLAKES
    # Their p and q are ours to within the bits.
    p = math.exp(EPSILON) / (math.exp(EPSILON) + K - 1)
    assert_allclose(
        response.matrix, np.full((K, K), (1 - p) / (K - 1)) + np.eye(K) * (p - (1 - p) / (K - 1)), rtol=EXACT
    )


def test_least_squares_is_their_matrix_inversion(response):
    rng = np.random.default_rng(1)
    reports = response.privatize(records(rng, 50_000), rng)
    ours = md.estimate_frequencies(reports, response, method="least-squares").frequencies
    assert ours.min() > 0  # so that they neither clip nor normalise
    assert_allclose(ours, grr.GRR_Aggregator_MI(list(reports), K, EPSILON), rtol=EXACT)


def test_they_clip_and_normalise_what_we_leave_unbiased(response):
    rng = np.random.default_rng(2)
    reports = response.privatize(records(rng, 60), rng)
    ours = md.estimate_frequencies(reports, response, method="least-squares").frequencies
    assert ours.min() < 0
    clipped = ours.clip(0)
    assert_allclose(clipped / clipped.sum(), grr.GRR_Aggregator_MI(list(reports), K, EPSILON), rtol=EXACT)


@pytest.mark.parametrize("size", [60, 5_000])
def test_maximum_likelihood_is_where_their_iterations_end(response, size, monkeypatch):
    monkeypatch.setattr(grr, "IBU", grr.IBU.py_func)  # compiling it takes longer than running it
    rng = np.random.default_rng(3)
    reports = response.privatize(records(rng, size), rng)
    ours = md.estimate_frequencies(reports, response).frequencies
    theirs = grr.GRR_Aggregator_IBU(list(reports), K, EPSILON, nb_iter=100_000, tol=1e-14)
    assert_allclose(ours, theirs, atol=EXACT)


def test_reports_of_their_clients_are_estimated_by_ours(response):
    codes = records(np.random.default_rng(4), 20_000)
    found = md.estimate_frequencies(seeded_clients(codes, 8), response)
    shares = np.bincount(codes, minlength=K) / codes.size
    assert (np.abs(found.frequencies - shares) < 6 * found.standard_errors).all()
