import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from refusals import raises
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from mechdesign.histogram import gshm
from mechdesign.histogram.calibration import checked_tau, least_noise, meets, reachable_delta, upper_threshold
from mechdesign.histogram.gshm import ANALYSES, gshm_delta, gshm_least_sigma, gshm_threshold
from mechdesign.histogram.hockey_stick import gaussian_divergence, greatest_over_splits, rounded_up
from mechdesign.numerics.exact import arb_of, working_precision


def divergence(epsilon, mu):
    with working_precision():
        return float(gaussian_divergence(arb_of(Fraction(epsilon)), arb_of(Fraction(mu))).mid())


def integrated(epsilon, sigma, tau, shared, new):
    """Both hockey sticks of a pair, over the sum of the shared counters, which is sufficient."""
    survival, mu = ndtr(tau / sigma) ** new, math.sqrt(shared) / sigma

    def integral(f):
        # (first - second)_+ changes its sign once: both densities have one variance.
        return sum(quad(f, a, b, epsabs=1e-14, limit=200)[0] for a, b in ((-9, cut), (cut, mu + 9)))

    cut = min(mu + 8, max(-8, (epsilon - math.log(survival)) / mu + mu / 2))
    appears = integral(lambda x: max(0.0, survival * norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x)))
    cut = min(mu + 8, max(-8, -(epsilon + math.log(survival)) / mu + mu / 2))
    vanishes = integral(lambda x: max(0.0, norm.pdf(x) - math.exp(epsilon) * survival * norm.pdf(x - mu)))
    return 1 - survival + appears, vanishes


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, -0.5])
@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
def test_divergence_of_two_gaussians_is_the_integral(epsilon, mu):
    def excess(x):
        return max(0.0, norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x))

    cut = epsilon / mu + mu / 2
    expected = sum(quad(excess, a, b, epsabs=1e-13)[0] for a, b in ((-30, cut), (cut, 60)))
    assert divergence(epsilon, mu) == pytest.approx(expected, abs=1e-11)


def test_divergence_of_equal_gaussians():
    assert divergence(0.5, 0) == 0
    assert divergence(-0.5, 0) == pytest.approx(1 - math.exp(-0.5), abs=1e-15)


@pytest.mark.parametrize(("epsilon", "mu"), [(1e-6, 1e-9), (50, 0.02), (0.35, 1e-6), (700, 20), (1e-300, 1e-3)])
def test_divergence_holds_where_doubles_cancel(epsilon, mu):
    with mpmath.workdps(900):
        e, m = mpmath.mpf(str(epsilon)), mpmath.mpf(str(mu))
        expected = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        found = rounded_up(lambda: gaussian_divergence(arb_of(Fraction(str(epsilon))), arb_of(Fraction(str(mu)))))
        assert expected <= found
        assert found <= max(expected * (1 + mpmath.mpf(2) ** -51), 5e-324)


@pytest.mark.combined
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("sigma", "tau"), [(1, 1.5), (3, 12), (0.8, 0.3), (2, 0)])
def test_exact_is_the_greatest_integrated_hockey_stick(k, sigma, tau):
    for epsilon in (0.0, 0.35, 2.0):
        pairs = [integrated(epsilon, sigma, tau, j, k - j) for j in range(1, k + 1)]
        expected = max(1 - ndtr(tau / sigma) ** k, *(delta for pair in pairs for delta in pair))
        assert gshm_delta(k, sigma, tau, epsilon) == pytest.approx(expected, abs=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize(("sigma", "tau", "epsilon"), [(1, 1.5, 0.35), (3, 12, 0.1), (0.8, 0.3, 2.0), (2, 1, 1.0)])
def test_every_split_has_the_greater_of_its_two_integrated_hockey_sticks(monkeypatch, sigma, tau, epsilon):
    """Looked at one by one: all mixed splits that we tried stay below the greater of the two ends, which hides them."""
    bounds = []
    monkeypatch.setattr(gshm, "greatest_over_splits", lambda k, ends, found, steps: bounds.extend(found) or ends)
    gshm_delta(4, sigma, tau, epsilon)
    (bound,) = bounds
    appears_is_greater = 0
    for shared in (1, 2, 3):
        appears, vanishes = integrated(epsilon, sigma, tau, shared, 4 - shared)
        assert bound(4 - shared, shared) == pytest.approx(max(appears, vanishes), abs=1e-10)
        appears_is_greater += appears > vanishes + 1e-6
    assert appears_is_greater == 3


def random_settings(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        k = int(rng.integers(1, 40))
        sigma = float(rng.uniform(0.2, 4) * math.sqrt(k))
        yield k, sigma, float(rng.uniform(0, 6) * sigma), float(rng.choice([0.0, rng.uniform(0, 4)]))


def in_floats(k, sigma, tau, epsilon):
    """CSH Lemma 7 over all splits, in doubles."""

    def gauss(e, mu):
        return ndtr(mu / 2 - e / mu) - np.exp(e) * ndtr(-mu / 2 - e / mu)

    j = np.arange(1, k + 1)
    logs = (k - j) * np.log(ndtr(tau / sigma))
    mu = np.sqrt(j) / sigma
    appears = -np.expm1(logs) + np.exp(logs) * gauss(epsilon - logs, mu)
    return max(-np.expm1(k * np.log(ndtr(tau / sigma))), appears.max(), gauss(epsilon + logs, mu).max())


def test_branch_and_bound_finds_the_greatest_split():
    for k, sigma, tau, epsilon in random_settings(300, 1):
        exact = gshm_delta(k, sigma, tau, epsilon)
        assert exact == pytest.approx(in_floats(k, sigma, tau, epsilon), rel=1e-9, abs=1e-13)
        assert exact <= gshm_delta(k, sigma, tau, epsilon, "add-the-deltas")


def test_a_search_that_is_stopped_is_not_below():
    def product(new, shared):
        return float(new * shared)

    for steps in (0, 1, 3, 10, 1000):
        assert greatest_over_splits(100, 1.0, [product], steps) >= 2500
    assert greatest_over_splits(100, 1.0, [product], 1000) == 2500
    assert greatest_over_splits(1, 7.0, [product], 10) == 7
    tightened = greatest_over_splits(100, 1.0, [product, lambda new, shared: 2400.0], 10_000)
    assert tightened == 2400


@pytest.mark.slow
def test_thresholds_hold_and_are_least():
    rng = np.random.default_rng(2)
    for k, _, _, epsilon in random_settings(40, 3):
        delta = float(10 ** rng.uniform(-30, -0.3))
        sigma = gshm_least_sigma(k, epsilon, delta) * float(rng.uniform(1.0001, 3))
        for analysis in ANALYSES:
            tau = gshm_threshold(k, sigma, epsilon, delta, analysis)
            assert gshm_delta(k, sigma, tau, epsilon, analysis) <= delta
            assert tau == 0 or gshm_delta(k, sigma, tau * (1 - 1e-12), epsilon, analysis) > delta * (1 - 1e-9)


def test_the_least_sigma_has_a_threshold_and_less_has_none():
    for k, epsilon, delta in ((1, 1, 1e-6), (51914, 0.35, 1e-5), (10**6, 50, 1e-300), (7, 0, 0.3), (5, "1e-6", 0.01)):
        sigma = gshm_least_sigma(k, epsilon, delta)
        for analysis in ANALYSES:
            tau = gshm_threshold(k, sigma, epsilon, delta, analysis)
            assert gshm_delta(k, sigma, tau, epsilon, analysis) <= delta
        with raises("no-noise-enough", "gshm_least_sigma"):
            gshm_threshold(k, sigma * (1 - 1e-10), epsilon, delta)


@pytest.mark.parametrize(
    ("k", "sigma", "tau", "epsilon", "least", "most"),
    [
        (1000, 1e-300, 1e5, 0.5, 1, 1),
        (1000, "1e-400", 1e5, 0.5, 1, 1),
        (1000, 1e300, 1e5, 0.5, 1 - 1e-15, 1),
        (1000, 1e300, "1e305", 0.5, 5e-324, 5e-324),
        (10**6, 1e5, 1e5 * 37.6, 50, 1e-304, 1e-300),
        (10**9, 0.1, 0, 0, 1, 1),
        (1, 1e5, 1e5, "log(2)", 0.15, 0.17),
    ],
)
def test_far_values(k, sigma, tau, epsilon, least, most):
    for analysis in ANALYSES:
        assert least <= gshm_delta(k, sigma, tau, epsilon, analysis) <= most


def test_floats_are_read_as_the_decimal_and_as_the_double():
    assert checked_tau(0.1) == Fraction(1, 10)
    assert checked_tau(0.3) == Fraction(0.3) < Fraction(3, 10)
    assert reachable_delta(1e-5) == Fraction(1, 10**5) < Fraction(1e-5)
    assert not meets(1e-5, Fraction(1, 10**5))
    assert meets(math.nextafter(1e-5, 0), Fraction(1, 10**5))


def test_pre_threshold():
    assert upper_threshold(2.5) == 3.5
    assert upper_threshold("0.1", 3) >= Fraction(31, 10)
    assert Fraction(repr(upper_threshold(0.3, 7))) >= Fraction(73, 10)
    for lower in (0, -1, 1.5, True):
        with raises("not-a-whole-number"):
            upper_threshold(1, lower)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: gshm_delta(0, 1, 1, 1), "not-a-whole-number"),
        (lambda: gshm_delta(True, 1, 1, 1), "not-a-whole-number"),
        (lambda: gshm_delta(2, 0, 1, 1), "out-of-range"),
        (lambda: gshm_delta(2, 1, -1, 1), "out-of-range"),
        (lambda: gshm_delta(2, 1, math.nan, 1), "not-a-number"),
        (lambda: gshm_delta(2, 1, 1, -1), "epsilon-out-of-range"),
        (lambda: gshm_delta(2, 1, 1, 1, "best"), "unknown-choice"),
        (lambda: gshm_threshold(2, 1, 1, 0), "delta-out-of-range"),
        (lambda: gshm_threshold(2, 1, 1, 1), "delta-out-of-range"),
        (
            lambda: gshm_threshold(2, 0.5, 1, 1e-9),
            "no-noise-enough",
        ),
        (lambda: gshm_least_sigma(10**9, 0, "1e-320"), "no-noise-enough"),
        (lambda: least_noise(lambda sigma: 1.0, Fraction(1, 2)), "no-noise-enough"),
    ],
)
def test_refusals(call, code):
    with raises(code):
        call()
