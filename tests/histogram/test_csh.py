import itertools
import math

import numpy as np
import pytest
from flint import arb
from refusals import raises
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from mechdesign.errors import LimitError
from mechdesign.histogram import one_factor
from mechdesign.histogram.csh import (
    ANALYSES,
    csh_delta,
    csh_least_sigma,
    csh_threshold,
)
from mechdesign.histogram.csh_pair import csh_pair_delta
from mechdesign.histogram.csh_quadrature import Pair, pair_deltas
from mechdesign.histogram.csh_terms import EXTREMES, sensitivity
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.numerics.exact import working_precision

# gamma, tau, (s, l, j), both deltas; sigma = 1, epsilon = 0.35.
POINTS = [
    (1.0, 1.5, (2, 1, 1), 0.264590810, 0.230990803),
    (1.0, 1.5, (2, 0, 1), 0.144422183, 0.027037663),
    (math.sqrt(2), 2.5, (2, 1, 1), 0.223560578, 0.218693430),
    (math.sqrt(2), 2.5, (2, 2, 1), 0.245985514, 0.244029761),
]


def released(count, t, c):
    with working_precision():
        ball = common_release_probability(count, arb(t), arb(c))
        return ball, float(ball)


@pytest.mark.parametrize(("count", "t", "c"), [(1, 2, 1), (5, 3, 0.5), (40, 2, 0.4), (3, 0, 1), (1000, 5, 0.18)])
def test_release_probability_is_the_integral(count, t, c):
    def integrand(z):
        return norm.pdf(z) * -np.expm1(count * log_ndtr(t - c * z))

    expected = sum(quad(integrand, a, a + 1, epsabs=1e-15, epsrel=1e-12)[0] for a in range(-12, 12))
    assert released(count, t, c)[1] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("t", [0.5, 3.0, 10.0, 60.0])
def test_release_probability_of_one_counter_is_a_tail(t):
    for c in (0.1, 1.0, 3.0):
        ball, _ = released(1, t, c)
        with working_precision():
            tail = (arb(t) / (2 * (1 + arb(c) ** 2)).sqrt()).erfc() / 2
            assert ball.overlaps(tail)
            assert ball.rel_accuracy_bits() > 60


@pytest.mark.parametrize("wide", [0, 0.3])
def test_a_sum_that_does_not_close_is_bounded_by_the_union(monkeypatch, wide):
    exact = released(40, 3, 0.4)[1]
    monkeypatch.setattr(one_factor, "_MOST_TERMS", 20 if wide == 0 else 500)
    with working_precision():
        ball = common_release_probability(40, arb(3), arb(0.4, wide))
        assert ball.contains(exact)
        assert ball.contains(0)
        assert ball.upper() <= 1


@pytest.mark.slow
def test_release_probability_of_many_counters_in_30_digits():
    import mpmath

    for k, sigma, tau in (
        (3, "10.482403184651952", "59.29249296961048"),
        (10, "17.65957726477183", "96.30354603128174"),
        (1000, "156.65945529220934", "892.9654401074276"),
    ):
        with mpmath.workdps(30):
            t, c = mpmath.mpf(tau) / mpmath.mpf(sigma), mpmath.mpf(k) ** mpmath.mpf(-0.25)
            points = [mpmath.mpf(x) for x in range(-8, 14)]
            expected = mpmath.quad(lambda z, t=t, c=c, k=k: mpmath.npdf(z) * (1 - mpmath.ncdf(t - c * z) ** k), points)
            assert abs(expected / mpmath.mpf("1e-5") - 1) < 1e-12
        with working_precision():
            found = common_release_probability(k, arb(tau) / arb(sigma), 1 / arb(k).sqrt().sqrt())
            assert abs(float(found) / float(expected) - 1) < 1e-13


def test_sensitivity_is_the_greatest_over_all_numbers_of_changes():
    for k, s in itertools.product((1, 2, 5, 30, 100), (0, 1, 2, 7, 30, 100)):
        expected = max(ell - ell**2 / (math.sqrt(k) + s) for ell in range(s + 1))
        with working_precision():
            assert float(sensitivity(k, s)) ** 2 == pytest.approx(expected, abs=1e-12)
        # Lemma 8 and its exact form agree where the best number is whole.
        assert expected <= (s + math.sqrt(k)) / 4 + 1e-12


@pytest.mark.parametrize(("gamma", "tau", "counts", "appears", "vanishes"), POINTS)
def test_pairs_that_are_known(gamma, tau, counts, appears, vanishes):
    found = pair_deltas(Pair(gamma, 1.0, tau, *counts), 0.35, 1.0)
    np.testing.assert_allclose(found, (appears, vanishes), atol=1.1e-9)


def brute_force(gamma, sigma, tau, epsilon, counts, points):
    """Both deltas of a pair from the joint density on a grid, with the common noise integrated directly."""
    s, ell, j = counts
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    common = nodes * sigma / math.sqrt(gamma)
    reach = 7 * sigma * math.sqrt(1 + 1 / gamma)
    axis = np.linspace(-reach, reach + 1, points)
    p, survives = 0.0, 0.0
    for z, weight in zip(common, weights, strict=True):
        plain, moved = norm.pdf(axis - z, scale=sigma), norm.pdf(axis - z - 1, scale=sigma)
        shared_p, shared_q = np.array(weight), np.array(weight * ndtr((tau - z) / sigma) ** j)
        for i in range(s):
            shared_p = np.multiply.outer(shared_p, plain)
            shared_q = np.multiply.outer(shared_q, moved if i < ell else plain)
        p, survives = p + shared_p, survives + shared_q
    cell = (axis[1] - axis[0]) ** s
    appears = 1 - survives.sum() * cell + np.maximum(survives - math.exp(epsilon) * p, 0).sum() * cell
    return appears, np.maximum(p - math.exp(epsilon) * survives, 0).sum() * cell


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon", "counts"),
    [
        (2, 1.0, 1.5, 0.35, (1, 1, 1)),
        (2, 0.7, 0.5, 1.0, (1, 0, 1)),
        (3, 1.2, 2.0, 0.2, (2, 1, 1)),
        (3, 1.0, 1.0, 0.0, (1, 1, 2)),
        (3, 1.5, 2.5, 0.7, (2, 2, 1)),
    ],
)
def test_pairs_equal_integration_over_the_joint_density(k, sigma, tau, epsilon, counts):
    s, ell, j = counts
    expected = brute_force(math.sqrt(k), sigma, tau, epsilon, counts, 20_001 if s == 1 else 501)
    found = csh_pair_delta(k, sigma, tau, epsilon, shared=s, changed=ell, new=j)
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_exact_is_the_greatest_pair_for_few_counters():
    for k, sigma, tau, epsilon in ((1, 1, 2, 0.5), (2, 0.9, 1.2, 0.35), (3, 1.1, 1.0, 1.0), (4, 0.7, 0.8, 3.0)):
        pairs = [
            csh_pair_delta(k, sigma, tau, epsilon, shared=s, changed=ell, new=j)
            for j in range(k + 1)
            for s in range(k - j + 1)
            for ell in range(s + 1)
        ]
        greatest = max(delta for pair in pairs for delta in pair)
        assert csh_delta(k, sigma, tau, epsilon, "exact") == pytest.approx(greatest, rel=1e-9)


def test_the_mechanism_itself_leaks_as_much():
    # Two of three counters are shared, with high counts; likelihoods of the outputs are known in closed form.
    k, sigma, tau, epsilon, rng = 3, 1.2, 1.5, 0.3, np.random.default_rng(11)
    gamma, s, ell, size = math.sqrt(k), 2, 1, 400_000
    shift = np.array([1.0, 0.0])
    covariance = sigma**2 * (np.eye(s) + np.ones((s, s)) / gamma)
    precision = np.linalg.inv(covariance)
    z = rng.normal(0, sigma / math.sqrt(gamma), size)
    noise = z[:, None] + rng.normal(0, sigma, (size, s + 1))

    def log_density(u):
        return -np.einsum("ni,ij,nj->n", u, precision, u) / 2

    def survival(u):
        v = sigma**2 / (gamma + s)
        return ndtr((tau - u.sum(axis=1) / (gamma + s)) / math.sqrt(sigma**2 + v))  # one new counter: a closed form

    outputs = noise[:, :s] + shift  # of the data set with the new counter
    is_released = noise[:, s] > tau
    loss = log_density(outputs - shift) + np.log(survival(outputs - shift)) - log_density(outputs)
    appears = np.where(is_released, 1.0, np.maximum(0.0, -np.expm1(epsilon - loss)))
    outputs = noise[:, :s]
    loss = log_density(outputs) - log_density(outputs - shift) - np.log(survival(outputs - shift))
    vanishes = np.maximum(0.0, -np.expm1(epsilon - loss))
    found = csh_pair_delta(k, sigma, tau, epsilon, shared=s, changed=ell, new=1)
    for sample, expected in zip((appears, vanishes), found, strict=True):
        assert abs(sample.mean() - expected) < 5 * sample.std() / math.sqrt(size)


def test_lemma_22():
    from scipy.special import ndtri

    k, sigma, epsilon, delta = 10, 25.0, 0.35, 1e-4
    mu = math.sqrt(k + math.sqrt(k)) / (2 * sigma)
    gauss = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    tau = sigma * (1 + k**-0.25) * ndtri((1 - delta + gauss) ** (1 / (k + 1)))
    assert csh_threshold(k, sigma, epsilon, delta, "theorem-11") == pytest.approx(tau, rel=1e-9)


def random_settings(count, most, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = int(rng.integers(1, most + 1))
        sigma = float(rng.uniform(0.15, 4) * math.sqrt(k + math.sqrt(k)) / 2)
        yield k, sigma, float(rng.uniform(0, 6) * sigma), float(rng.choice([0.0, rng.uniform(0, 4)]))


@pytest.mark.slow
def test_every_bound_is_at_least_every_pair():
    rng = np.random.default_rng(6)
    for k, sigma, tau, epsilon in random_settings(100, 30, 5):
        bounds = {name: csh_delta(k, sigma, tau, epsilon, name) for name in ANALYSES if name != "exact"}
        new = int(rng.integers(0, k + 1))
        changed = int(rng.integers(0, k - new + 1))
        pair = max(csh_pair_delta(k, sigma, tau, epsilon, shared=k - new, changed=changed, new=new))
        for name in ("proved", "theorem-11", "theorem-12"):
            assert pair <= bounds[name] * (1 + 1e-9), (name, k, sigma, tau, epsilon, new, changed)
            assert bounds[EXTREMES] <= bounds[name] * (1 + 1e-12)
        assert bounds["proved"] <= bounds["theorem-11"] * (1 + 1e-12)


@pytest.mark.slow
def test_pair_deltas_are_below_their_proved_bound_before_it_is_applied():
    rng = np.random.default_rng(7)
    for _ in range(100):
        k = int(rng.integers(2, 15))
        new = int(rng.integers(1, k))
        shared = k - new
        changed = int(rng.integers(0, shared + 1))
        sigma, tau, epsilon = float(rng.uniform(0.5, 4)), float(rng.uniform(0, 8)), float(rng.uniform(0, 2))
        mu = math.sqrt(changed - changed**2 / (math.sqrt(k) + shared)) / sigma
        gauss = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu) if mu else 0.0
        bound = released(new, tau / sigma, k**-0.25)[1] + gauss
        found = max(pair_deltas(Pair(k**0.5, sigma, tau, shared, changed, new), epsilon, 1.0))
        assert found <= bound * (1 + 1e-9) + 2e-15  # of which 1e-15 is the margin at scale 1


def test_exact_is_between_the_extremes_and_the_proved_bound():
    strict = 0
    for k, sigma, tau, epsilon in random_settings(25, 5, 8):
        low, exact, high = (csh_delta(k, sigma, tau, epsilon, name) for name in (EXTREMES, "exact", "proved"))
        assert low <= exact <= high
        strict += exact < high
    assert strict  # or the pairs would never have been looked at


@pytest.mark.slow
def test_thresholds_hold_and_are_least():
    rng = np.random.default_rng(9)
    for k, _, _, epsilon in random_settings(8, 60, 10):
        delta = float(10 ** rng.uniform(-30, -0.3))
        for analysis in ("proved", "theorem-11", "theorem-12"):
            sigma = csh_least_sigma(k, epsilon, delta, analysis) * float(rng.uniform(1.001, 2))
            tau = csh_threshold(k, sigma, epsilon, delta, analysis)
            assert csh_delta(k, sigma, tau, epsilon, analysis) <= delta
            assert tau == 0 or csh_delta(k, sigma, tau * (1 - 1e-11), epsilon, analysis) > delta * (1 - 1e-8)


@pytest.mark.slow
def test_the_least_sigma_has_a_threshold_and_less_has_none():
    for k, epsilon, delta in ((1, 1, 1e-6), (10**5, 50, 1e-300), (7, 0, 0.3), (5, "1e-6", 0.01)):
        for analysis in ("proved", "theorem-11", "theorem-12"):
            sigma = csh_least_sigma(k, epsilon, delta, analysis)
            tau = csh_threshold(k, sigma, epsilon, delta, analysis)
            assert csh_delta(k, sigma, tau, epsilon, analysis) <= delta
            with raises("no-noise-enough", "csh_least_sigma"):
                csh_threshold(k, sigma * (1 - 1e-10), epsilon, delta, analysis)


@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon", "least", "most"),
    [
        (1000, 1e-300, 1e5, 0.5, 1, 1),
        (1000, 1e300, 1e5, 0.5, 1 - 1e-15, 1),
        (1000, 1e300, "1e305", 0.5, 5e-324, 5e-324),
        (10**6, 1e5, 1e5 * 37.6, 50, 1e-304, 1e-290),
        (10**6, 0.1, 0, 0, 1, 1),
        (1, 1e5, 1e5, "log(2)", 0.23, 0.25),
    ],
)
def test_far_values(k, sigma, tau, epsilon, least, most):
    for analysis in ("proved", "exact", EXTREMES):
        assert least <= csh_delta(k, sigma, tau, epsilon, analysis) <= most
    assert csh_delta(k, sigma, tau, epsilon) <= csh_delta(k, sigma, tau, epsilon, "theorem-11")


def test_pairs_without_shared_or_without_new_counters():
    appears, vanishes = csh_pair_delta(4, 1, 1, 0.1, shared=0, changed=0, new=4)
    probability = released(4, 1, 4**-0.25)[1]
    assert appears == pytest.approx(probability, rel=1e-12)
    assert vanishes == pytest.approx(1 - math.exp(0.1) * (1 - probability), rel=1e-12)
    assert csh_pair_delta(4, 1, 1, 0.1, shared=3, changed=0, new=0) == (0, 0)
    assert csh_pair_delta(4, 1, 1, 5, shared=0, changed=0, new=1)[1] == 0


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: csh_delta(0, 1, 1, 1), "not-a-whole-number"),
        (lambda: csh_delta(2, 1, 1, 1, "best"), "unknown-choice"),
        (lambda: csh_threshold(10, 1, 1, 1e-9), "no-noise-enough"),
        (lambda: csh_threshold(10, 1, 1, 0), "delta-out-of-range"),
        (lambda: csh_pair_delta(3, 1, 1, 1, shared=1, changed=2, new=0), "out-of-range"),
        (lambda: csh_pair_delta(3, 1, 1, 1, shared=2, changed=1, new=2), "out-of-range"),
        (lambda: csh_pair_delta(3, 1, 1, 1, shared=-1, changed=0, new=2), "not-a-whole-number"),
    ],
)
def test_refusals(call, code):
    with raises(code):
        call()


@pytest.mark.slow
def test_too_many_pairs_are_refused_with_both_ways_out():
    with pytest.raises(LimitError, match=f"analysis='proved' for a proved bound, or analysis='{EXTREMES}'"):
        csh_delta(200, 4, 7, 2.0, "exact")


def test_twelve_counters_are_never_refused():
    # Little noise and a large epsilon: mixed pairs have to be integrated.
    assert csh_delta(12, 0.8515, 1.8, 3, "exact") < csh_delta(12, 0.8515, 1.8, 3, "proved")


def test_the_fourth_case_of_theorem_12_never_decides():
    # G(epsilon + log w, mu) <= G(epsilon, mu) + 1 - w, so that the sum of the other terms covers it.
    rng = np.random.default_rng(4)
    mu, epsilon = 10 ** rng.uniform(-2, 1, 10_000), 10 ** rng.uniform(-3, 1, 10_000)
    log_w = -(10 ** rng.uniform(-6, 1.5, 10_000))

    def divergence(e):
        return norm.cdf(mu / 2 - e / mu) - np.exp(e + norm.logcdf(-mu / 2 - e / mu))

    assert (divergence(epsilon + log_w) <= divergence(epsilon) - np.expm1(log_w) + 1e-12).all()
