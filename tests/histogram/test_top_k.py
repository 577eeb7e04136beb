"""The top k: the reduction beside all small histograms, and the released count beside full sums and simulation."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from scipy import integrate
from scipy.stats import norm

from mechdesign.histogram.csh import csh_delta, csh_threshold
from mechdesign.histogram.top_k import recentred, top_k_counts, top_k_delta, top_k_threshold


def gaussian_delta(epsilon, mu):
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)


def neighbours(most, size):
    """All histograms with counts up to ``most``, each with all histograms that one user more makes of it."""
    for counts in itertools.product(range(most + 1), repeat=size):
        for user in itertools.product((0, 1), repeat=size):
            yield np.array(counts), np.array(counts) + user


@pytest.mark.sampled
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_the_reduction_is_k_sparse_and_monotonic(k):
    # Lemma 13, and how the subtracted count moves with the others.
    together = 0
    for without, with_user in neighbours(3, 4):
        (before, first), (after, second) = top_k_counts(without, k), top_k_counts(with_user, k)
        assert np.count_nonzero(before) <= k
        change, step = after - before, second - first
        assert set(change.tolist()) <= {0, 1} or set(change.tolist()) <= {0, -1}
        assert step in (0, 1)
        assert (change >= 0).all() if step == 0 else (change <= 0).all()
        together = max(together, np.count_nonzero(change) * step)
    assert together == (k if k < 4 else 0)  # all k counts and the subtracted one change with one user


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_reduction_is_the_papers(k):
    for counts in itertools.product(range(4), repeat=4):
        t = sorted(counts, reverse=True)[k]
        reduced, subtracted = top_k_counts(np.array(counts), k)
        assert subtracted == t
        assert reduced.tolist() == [max(0, c - t) for c in counts]


def test_counters_that_are_not_listed_are_zero():
    for counts in ([], [3], [3, 0, 5]):
        reduced, subtracted = top_k_counts(np.array(counts, dtype=np.int64), 3)
        assert (reduced.tolist(), subtracted) == (counts, 0)


def test_unsigned_counts_do_not_wrap():
    assert top_k_counts(np.array([1, 9, 4], dtype=np.uint8), 1)[0].tolist() == [0, 5, 0]


def test_counts_are_not_changed_in_place():
    counts = np.array([1, 9, 4])
    top_k_counts(counts, 1)
    assert counts.tolist() == [1, 9, 4]


@pytest.mark.parametrize(
    ("counts", "k", "code"),
    [
        (np.array([1.0, 2.0]), 1, "not-counts"),
        (np.array([[1, 2]]), 1, "not-counts"),
        (np.array([1, -2]), 1, "not-counts"),
        (np.array([1, 2]), 0, "not-a-whole-number"),
        (np.array([1, 2]), 1.5, "not-a-whole-number"),
    ],
)
def test_other_counts_are_refused(counts, k, code):
    with raises(code):
        top_k_counts(counts, k)


@pytest.mark.sampled
@pytest.mark.parametrize("analysis", ["proved", "theorem-11", "theorem-12"])
def test_without_a_released_count_it_is_the_sparse_mechanism(analysis):
    assert top_k_delta(10, 30, 120, 0.35, analysis) == csh_delta(10, 30, 120, 0.35, analysis)
    assert top_k_threshold(10, 30, 0.35, 1e-5, analysis) == csh_threshold(10, 30, 0.35, 1e-5, analysis)


def sensitivity(k, sigma, value_sigma):
    """The greatest Mahalanobis distance, from the covariance of the k counts and the released one."""
    covariance = np.zeros((k + 1, k + 1))
    covariance[:k, :k] = sigma**2 / math.sqrt(k) + sigma**2 * np.eye(k)
    covariance[k, k] = value_sigma**2
    precision = np.linalg.inv(covariance)
    shifts = [np.r_[np.full(a, -1.0), np.zeros(k - a), 1.0] for a in range(k + 1)]
    shifts += [np.r_[np.full(a, 1.0), np.zeros(k - a), 0.0] for a in range(k + 1)]
    return max(math.sqrt(shift @ precision @ shift) for shift in shifts)


@pytest.mark.combined
@pytest.mark.parametrize("k", [1, 4, 9, 100])
@pytest.mark.parametrize(("sigma", "value_sigma"), [(3, 3), (3, 1), (20, 45)])
@pytest.mark.parametrize("epsilon", [0, 0.35, 2])
def test_a_released_count_adds_to_the_squared_sensitivity(k, sigma, value_sigma, epsilon):
    # These k have a whole (k + sqrt k) / 2, so that the bound is attained.
    mu = sensitivity(k, sigma, value_sigma)
    assert mu**2 == pytest.approx((k + math.sqrt(k)) / (4 * sigma**2) + 1 / value_sigma**2)
    expected = gaussian_delta(epsilon, mu)
    found = top_k_delta(k, sigma, 1000 * sigma, epsilon, value_sigma=value_sigma)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("k", [2, 3, 5, 7, 50])
def test_for_every_k_the_sensitivity_is_not_above_the_one_used(k):
    assert sensitivity(k, 2, 2) <= math.sqrt((k + math.sqrt(k)) / 4 + 1) / 2 * (1 + 1e-12)


@pytest.mark.parametrize(("k", "sigma", "tau"), [(1, 2, 5), (10, 4, 12), (30, 3, 15)])
def test_new_counters_are_added_with_their_exact_probability(k, sigma, tau):
    common = sigma * k**-0.25

    def shows(z):
        return norm.pdf(z) * -np.expm1(k * norm.logcdf((tau - common * z) / sigma))

    release = integrate.quad(shows, -12, 12, epsabs=1e-14, limit=200)[0]
    expected = release + gaussian_delta(1, math.sqrt((k + math.sqrt(k)) / (4 * sigma**2) + 1 / 16))
    assert top_k_delta(k, sigma, tau, 1, value_sigma=4) == pytest.approx(expected, rel=1e-8)


def test_the_delta_of_a_whole_release_is_above_that_of_its_parts():
    # k = 1, one shared counter that falls while the subtracted count rises: y and t jointly, and nothing is hidden.
    exact = gaussian_delta(0.5, sensitivity(1, 2, 3))
    assert exact <= top_k_delta(1, 2, 9, 0.5, value_sigma=3)


@pytest.mark.parametrize(("k", "epsilon", "delta"), [(1, 1, 1e-6), (10, 0.35, 1e-5)])
def test_the_threshold_is_the_least_with_a_released_count(k, epsilon, delta):
    sigma = 60 / epsilon
    tau = top_k_threshold(k, sigma, epsilon, delta, value_sigma=sigma)
    assert top_k_delta(k, sigma, tau, epsilon, value_sigma=sigma) <= delta
    assert top_k_delta(k, sigma, tau * (1 - 1e-9), epsilon, value_sigma=sigma) > delta
    assert tau > top_k_threshold(k, sigma, epsilon, delta) * (1 - 1e-9)


def test_a_released_count_that_takes_all_of_delta_is_refused():
    with raises("no-noise-enough"):
        top_k_threshold(10, 30, 0.35, 1e-5, value_sigma=1)


@pytest.mark.parametrize("function", [top_k_delta, top_k_threshold])
def test_other_analyses_of_a_released_count_are_refused(function):
    with raises("unknown-choice", "'theorem-12'"):
        function(10, 30, 0.35, 0.5, "theorem-12", value_sigma=30)


def test_a_recentred_sum_changes_by_half_the_width():
    for low, high in ((0, 10), (-3, 5), ("0.1", "0.7"), (4, 4)):
        middle, bound = recentred(low, high)
        ends = [Fraction(low), Fraction(high)]
        assert max(abs(x - middle) for x in ends) == bound
        assert bound <= max(map(abs, ends))
        values = [ends[0], ends[1], (ends[0] + 2 * ends[1]) / 3]
        assert sum(x - middle for x in values) + middle * len(values) == sum(values)


def test_a_range_upside_down_is_refused():
    with raises("out-of-range", "is 3", "high = 2"):
        recentred(3, 2)
