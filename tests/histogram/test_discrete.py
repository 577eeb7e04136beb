"""The discrete correlated histogram: its rho and delta beside the distributions themselves, summed in full."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from chi_square import p_value
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from scipy.special import logsumexp
from scipy.stats import norm

from mechdesign.histogram.discrete import (
    ANALYSES,
    discrete_best,
    discrete_delta,
    discrete_least_sigma,
    discrete_rho,
    discrete_threshold,
)
from mechdesign.histogram.discrete_noise import above_threshold, correlation, half_step_noise
from mechdesign.histogram.discrete_tails import Tails
from mechdesign.histogram.zcdp import zcdp_delta


def log_pmf(variance, most):
    x = np.arange(-most, most + 1)
    log_weights = -(x**2) / (2 * variance)
    return log_weights - logsumexp(log_weights)


def log_joint(shifts, own, common, most):
    """Of counters with given integer shifts that share a common noise, on [-most, most]^s."""
    reach = 3 * most
    y = np.arange(-most, most + 1)
    c = np.arange(-most, most + 1)
    own_pmf, axes = log_pmf(own, reach), len(shifts)
    terms = log_pmf(common, most).reshape(-1, *[1] * axes)
    for axis, shift in enumerate(shifts):
        conditional = own_pmf[(y[None, :] - c[:, None] - shift) + reach]
        shape = [c.size] + [1] * axes
        shape[axis + 1] = y.size
        terms = terms + conditional.reshape(shape)
    return logsumexp(terms, axis=0)


def renyi(log_p, log_q, order):
    return logsumexp(order * log_p + (1 - order) * log_q) / (order - 1)


def worst_ratio(k, sigma, steps, most):
    """The greatest Renyi divergence of neighbours over ``order * rho``, with noise in steps of 1 / ``steps``."""
    root = math.sqrt(k)
    own, common, rho = (steps * sigma) ** 2, (steps * sigma) ** 2 / root, (k + root) / (8 * sigma**2)
    base = log_joint([0] * k, own, common, most)
    worst = 0.0
    for changed in range(1, k + 1):
        moved = log_joint([steps] * changed + [0] * (k - changed), own, common, most)
        for order in (1.01, 1.2, 1.5, 2, 3, 5, 8):
            worst = max(worst, renyi(moved, base, order) / (order * rho), renyi(base, moved, order) / (order * rho))
    return worst


@pytest.mark.parametrize("sigma", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("k", [1, 2])
def test_noise_in_half_steps_keeps_its_rho(k, sigma):
    assert worst_ratio(k, sigma, 2, most=24) <= 1 + 1e-9


def test_noise_in_whole_steps_breaks_that_rho():
    assert worst_ratio(1, 0.5, 1, most=24) > 1.11
    assert worst_ratio(2, 0.5, 1, most=24) > 1.19


def test_rho_is_lemma_19():
    assert discrete_rho(9, 2) == 12 / 32
    exact = (2 + correlation(2)) / (8 * Fraction(7, 10) ** 2)
    assert exact <= Fraction(discrete_rho(2, "0.7")) <= exact * (1 + Fraction(1, 2**50))
    assert discrete_rho(1, 1, value_sigma=1) == 0.25 + 0.5


@pytest.mark.parametrize("k", [1, 2, 3, 4, 99, 100, 51914, 10**9])
def test_the_correlation_is_a_rational_root_rounded_down(k):
    gamma = correlation(k)
    assert gamma**2 <= k < (gamma + Fraction(1, 2**20)) ** 2


@pytest.mark.combined
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.7, 5.0])
@pytest.mark.parametrize("epsilon", [0, 0.1, 1, 4, 30])
def test_the_conversion_is_the_least_over_all_orders(rho, epsilon):
    order = 1 + np.exp(np.linspace(-25, 15, 400_001))
    logs = (order - 1) * (order * rho - epsilon) + order * np.log1p(-1 / order) - np.log(order - 1)
    least = min(1.0, float(np.exp(logs.min())))
    found = zcdp_delta(rho, epsilon)
    assert found == pytest.approx(least, rel=1e-6, abs=5e-324)
    assert found <= max(least, 5e-324) * (1 + 1e-9)
    # Above what the Gaussian mechanism with that rho needs, and not above Lemma 17.
    mu = math.sqrt(2 * rho)
    gauss = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert gauss <= found <= zcdp_delta(rho, epsilon, "lemma-17")


def test_lemma_17_inverts_the_printed_epsilon():
    rho, delta = 0.13, 1e-7
    epsilon = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert zcdp_delta(rho, epsilon, "lemma-17") == pytest.approx(delta, rel=1e-12)
    assert zcdp_delta(2, 1, "lemma-17") == zcdp_delta(1, 1, "lemma-17") == 1


@pytest.mark.parametrize("conversion", ["optimal", "lemma-17"])
def test_conversions_at_the_ends_of_what_floats_hold(conversion):
    assert zcdp_delta("1e300", 1, conversion) == 1
    assert 0 < zcdp_delta("1e-300", 1, conversion) <= 5e-324
    assert 0 < zcdp_delta("1e-9", "log(9/8)", conversion) <= 1e-300


def exceedance(k, sigma, tau):
    """Probability that one of k new counters shows, its Jensen bound, and Lemma 20 at its best split; in floats."""
    most = 400
    x = np.arange(-most, most + 1)
    own, common = np.exp(log_pmf(4 * sigma**2, most)), np.exp(log_pmf(4 * sigma**2 / math.sqrt(k), most))
    tail = np.append(np.cumsum(own[::-1])[::-1][1:], 0.0)
    common_tail = np.append(np.cumsum(common[::-1])[::-1][1:], 0.0)
    given = tail[np.clip(2 * tau - x, -most, most) + most]
    exact = common @ (1 - (1 - np.minimum(given, 1)) ** k)
    jensen = -math.expm1(k * math.log1p(-float(common @ given)))
    shares = np.arange(2 * tau + 1)
    splits = -np.expm1(np.log1p(-common_tail[shares + most]) + k * np.log1p(-tail[2 * tau - shares + most]))
    return exact, jensen, splits.min()


def test_the_release_probability_of_the_note():
    exact, jensen, split = exceedance(10, 5, 25)
    assert (exact, jensen, split) == pytest.approx((5.3262e-5, 5.3345e-5, 4.43e-3), rel=1e-3)
    tails = Tails.of(10, Fraction(5))
    assert float(tails.jensen(50)) == pytest.approx(jensen, rel=1e-6)
    assert float(tails.split(50)) == pytest.approx(split, rel=1e-6)


@pytest.mark.parametrize(("k", "sigma", "tau"), [(1, 0.3, 1), (2, 1, 3), (7, 3, 4), (50, 2, 20), (3, 5, 0)])
def test_jensen_is_between_the_truth_and_lemma_20(k, sigma, tau):
    exact, jensen, split = exceedance(k, sigma, tau)
    tails = Tails.of(k, Fraction(str(sigma)))
    found = float(tails.jensen(2 * tau))
    assert exact <= found * (1 + 1e-9)
    assert found == pytest.approx(jensen, rel=1e-5)
    assert float(tails.split(2 * tau)) == pytest.approx(split, rel=1e-5)
    assert found <= float(tails.split(2 * tau))


@pytest.mark.sampled
@pytest.mark.parametrize("threshold", [0, 1, 5, 12, 40])
def test_sums_of_bounds_are_above_the_probability_to_many_digits(threshold):
    tails = Tails.of(1, Fraction(3, 2))  # both noises have variance 9
    with mpmath.workprec(600):
        pmf = [mpmath.exp(-mpmath.mpf(x * x) / 18) for x in range(-120, 121)]
        total = sum(pmf)
        above = [sum(pmf[i:]) / total for i in range(len(pmf) + 1)]
        exact = sum(p / total * above[min(max(threshold - x + 121, 0), 241)] for x, p in enumerate(pmf, -120))
        found = tails.jensen(threshold)
        ratio = mpmath.mpf(found.numerator) / found.denominator / exact
        assert 1 <= ratio <= 1 + mpmath.mpf(2) ** -50


def hockey_sticks(k, sigma, tau, epsilon, most):
    """The delta of every pair of neighbours with at most k counters, k = 1 or 2, summed in full."""
    own, common = 4 * sigma**2, 4 * sigma**2 / float(correlation(k))
    odds = math.exp(epsilon)

    def stick(p, q):
        return np.maximum(p - odds * q, 0).sum()

    found = []
    for new in range(k + 1):
        for changed in range(k - new + 1):
            shared = k - new
            q = np.exp(log_joint([0] * shared, own, common, most)) if shared else np.array(1.0)
            with_user = np.exp(log_joint([2] * changed + [0] * (shared - changed) + [0] * new, own, common, most))
            hidden = with_user
            for _ in range(new):  # new counters are the last axes; they show above 2 tau
                hidden = hidden[..., : math.floor(2 * tau) + most + 1].sum(axis=-1)
            shown = max(0.0, 1 - hidden.sum())
            found += [shown + stick(hidden, q), stick(q, hidden)]
    return found


@pytest.mark.combined
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize(("sigma", "tau", "epsilon"), [(1, 2, 1), (1.5, 4.5, 0.7), (2, 9, 0.5), (0.7, 3, 3)])
def test_delta_is_above_that_of_every_pair_of_neighbours(k, sigma, tau, epsilon):
    exact = max(hockey_sticks(k, sigma, tau, epsilon, most=45))
    proved, jensen, printed = (discrete_delta(k, sigma, tau, epsilon, analysis) for analysis in ANALYSES)
    assert exact <= proved <= jensen <= printed


def test_a_tau_between_steps_is_that_of_the_step_below():
    assert discrete_delta(5, 3, "7.75", 1) == discrete_delta(5, 3, 7.5, 1) < discrete_delta(5, 3, "7.4999", 1)


@settings(max_examples=examples(25), deadline=None)
@given(
    k=st.integers(1, 200),
    excess=st.floats(1.01, 2),
    epsilon=st.floats(0.1, 5),
    power=st.integers(2, 12),
    analysis=st.sampled_from(ANALYSES),
)
def test_the_threshold_is_the_least_multiple_of_a_half(k, excess, epsilon, power, analysis):
    delta = 10.0**-power
    sigma = excess * discrete_least_sigma(k, epsilon, delta, analysis)
    tau = discrete_threshold(k, sigma, epsilon, delta, analysis)
    assert (2 * tau).is_integer()
    assert discrete_delta(k, sigma, tau, epsilon, analysis) <= delta
    if tau:
        assert discrete_delta(k, sigma, tau - 0.5, epsilon, analysis) > delta


@pytest.mark.parametrize("analysis", ANALYSES)
def test_below_the_least_sigma_no_threshold_is_enough(analysis):
    least = discrete_least_sigma(10, "0.35", "1e-5", analysis)
    assert math.isfinite(discrete_threshold(10, least, "0.35", "1e-5", analysis))
    with raises("no-noise-enough", match=f"accepted: {least!r} or more"):
        discrete_threshold(10, least * (1 - 1e-12), "0.35", "1e-5", analysis)


@pytest.mark.combined
@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize(("k", "epsilon", "delta"), [(1, 1, 1e-6), (10, 0.35, 1e-5), (300, 2, 1e-9), (3, 1, 0.2)])
def test_no_sigma_has_a_threshold_below_the_best_by_more_than_a_step(k, epsilon, delta, analysis):
    sigma, tau = discrete_best(k, epsilon, delta, analysis)
    assert discrete_delta(k, sigma, tau, epsilon, analysis) <= delta
    least = discrete_least_sigma(k, epsilon, delta, analysis)
    others = [discrete_threshold(k, least * ratio, epsilon, delta, analysis) for ratio in np.geomspace(1.0001, 2, 10)]
    assert tau <= min(others) + 0.5


def test_the_better_analysis_needs_less():
    sigmas, taus = zip(*(discrete_best(100, 1, 1e-8, analysis) for analysis in ANALYSES), strict=True)
    assert all(first <= second for first, second in pairwise(taus))
    assert sigmas[0] < sigmas[1]


def test_a_delta_beyond_the_tables_is_refused_in_one_line():
    sigma = 2 * discrete_least_sigma(2, 1, "1e-60")
    with raises("beyond-precision"):
        discrete_threshold(2, sigma, 1, "1e-60")
    for analysis in ("jensen", "theorem-21"):
        assert discrete_delta(2, sigma, "1e300", 400, analysis) < 1e-44


def test_a_sigma_beyond_the_tables_is_refused():
    with raises("too-much-work"):
        discrete_delta(2, 10**6, 1, 1)


def test_a_released_value_takes_its_share():
    plain, more = (discrete_delta(10, 20, 200, 1, value_sigma=value) for value in (None, 4))
    assert plain < more
    assert discrete_threshold(10, 20, 1, 1e-5) <= discrete_threshold(10, 20, 1, 1e-5, value_sigma=10)
    with raises("no-noise-enough"):
        discrete_least_sigma(10, 1, 1e-6, value_sigma=1)


def test_no_noise_reaches_a_target_at_epsilon_0_but_a_large_delta():
    assert discrete_least_sigma(1, 0, 0.01) > 10
    with raises("no-noise-enough"):
        discrete_least_sigma(1, 0, 0.01, "jensen")  # Lemma 17 says nothing at epsilon 0


@pytest.mark.slow
def test_the_noise_of_a_release_has_one_common_term():
    k, sigma, n, most = 2, 1, 4_000, 30
    source = np.random.default_rng(11).bytes
    pairs = np.array([half_step_noise(k, sigma, k, source) for _ in range(n)])
    own, common = np.exp(log_pmf(4, most)), np.exp(log_pmf(4 / math.sqrt(k), most))
    sums = np.convolve(own, common)[most:-most]
    for column in pairs.T:
        assert p_value(np.bincount(column + most, minlength=2 * most + 1), sums) > 1e-6
    differences = np.convolve(own, own)[most:-most]
    seen = np.bincount(pairs[:, 0] - pairs[:, 1] + most, minlength=2 * most + 1)
    assert p_value(seen, differences) > 1e-6


def test_more_counts_than_k_get_no_noise():
    with raises("too-many-counters", "3", "is 2"):
        half_step_noise(2, 1, 3, np.random.default_rng(1).bytes)


@pytest.mark.parametrize("tau", [0, 0.5, 7, "7.25", "29/4"])
def test_a_noisy_count_that_equals_the_threshold_is_not_released(tau):
    twice = np.arange(60)
    expected = [Fraction(y, 2) > 1 + Fraction(tau) for y in range(60)]
    np.testing.assert_array_equal(above_threshold(twice, tau), expected)
    if (2 * Fraction(tau)).denominator == 1:
        at = int(2 + 2 * Fraction(tau))
        assert above_threshold(np.array([at, at + 1]), tau).tolist() == [False, True]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((0, 1, 1, 1), "not-a-whole-number"),
        ((2.0, 1, 1, 1), "not-a-whole-number"),
        ((2, 0, 1, 1), "out-of-range"),
        ((2, "x", 1, 1), "not-a-number"),
        ((2, 1, -1, 1), "out-of-range"),
        ((2, 1, 1, -1), "epsilon-out-of-range"),
        ((2, 1, 1, 1, "exact"), "unknown-choice"),
        ((2, 1, 1, 1, "proved", 0), "out-of-range"),
    ],
)
def test_other_parameters_are_refused(arguments, code):
    with raises(code):
        discrete_delta(*arguments)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [((0, 1), "out-of-range"), ((1, -1), "epsilon-out-of-range"), ((1, 1, "renyi"), "unknown-choice")],
)
def test_other_conversions_are_refused(arguments, code):
    with raises(code):
        zcdp_delta(*arguments)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5])
def test_other_deltas_are_refused(delta):
    with raises("delta-out-of-range"):
        discrete_threshold(2, 5, 1, delta)
