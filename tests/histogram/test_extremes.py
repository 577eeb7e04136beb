"""Where delta is at most min(epsilon, 1) / 70 an extreme pair decides: steps of the proof, and pairs of neighbours."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri_exp
from scipy.stats import norm
from tolerances import ALGEBRA

from mechdesign.histogram import csh
from mechdesign.histogram.calibration import Sparse
from mechdesign.histogram.csh import csh_delta
from mechdesign.histogram.csh_quadrature import Pair, pair_deltas
from mechdesign.histogram.csh_terms import EXTREMES, CshTerms, sensitivity
from mechdesign.histogram.hockey_stick import gaussian_divergence, normal_tail
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import working_precision

Q = arb(235) / 100
NODES = np.linspace(-9, 14, 2001)
WEIGHTS = norm.pdf(NODES) * (NODES[1] - NODES[0])


def density(x):
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def mills(x):
    return normal_tail(x) / density(x)


def released(count, t, c):
    """The trapezoidal rule in floats, which knows nothing of balls."""
    return float(-np.expm1(count * log_ndtr(t - c * NODES)) @ WEIGHTS)


def threshold(k, probability):
    return brentq(lambda t: released(k, t, k**-0.25) - probability, 0, 40, xtol=1e-13)


def divergence(epsilon, mu):
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))


def shift(epsilon, delta):
    return brentq(lambda mu: divergence(epsilon, mu) - delta, 1e-6, 80, xtol=1e-14)


def steepness(epsilon, mu):
    return mu * norm.pdf(epsilon / mu - mu / 2) / divergence(epsilon, mu)


def test_the_divergence_falls_at_least_as_a_power_at_the_border_of_the_range():
    with working_precision():
        x, h = arb(8) / 5, arb(5) / 16
        assert density(x) * (1 - x * mills(x)) / x > arb(1) / 70
        assert 2 * h / (mills(x - h) - mills(x + h)) > 2 * Q
    for epsilon in (1e-4, 0.01, 0.3, 0.9, 1, 2, 30):
        assert steepness(epsilon, shift(epsilon, min(epsilon, 1) / 70)) > 4.7


def test_the_power_falls_with_the_shift_and_rises_with_epsilon():
    rng = np.random.default_rng(1)
    for _ in range(200):
        mu, epsilon = rng.uniform(0.05, 4), rng.uniform(0.05, 4)
        theta, power = rng.uniform(0.3, 1), steepness(epsilon, mu)
        assert divergence(epsilon, theta * mu) <= theta**power * divergence(epsilon, mu) + ALGEBRA * 1e-3
        assert steepness(epsilon, theta * mu) >= power * (1 - ALGEBRA)
        greater = epsilon * rng.uniform(1, 3)
        assert steepness(greater, shift(greater, divergence(epsilon, mu))) >= power * (1 - 1e-6)


def test_shares_of_releases_fall_with_the_threshold():
    for k, j in ((2, 1), (7, 3), (7, 6), (40, 5)):
        shares = [released(j, t, k**-0.25) / released(k, t, k**-0.25) for t in np.linspace(0, 6, 25)]
        assert (np.diff(shares) < 0).all()
        assert shares[-1] > j / k


@pytest.mark.slow
def test_every_sum_of_few_counters_is_below_1_in_ball_arithmetic():
    greatest = 0.0
    for k in range(2, 36):
        t = arb(threshold(k, 1 / 70) - 1e-6)
        with working_precision():
            c = 1 / arb(k).sqrt().sqrt()
            most = common_release_probability(k, t, c)
            assert most >= arb(1) / 70
            for j in range(1, k):
                share = common_release_probability(j, t, c) / most
                total = share + (sensitivity(k, k - j) / sensitivity(k, k)) ** (2 * Q)
                assert total < 1
                greatest = max(greatest, float(total))
    assert greatest == pytest.approx(0.976, abs=1e-3)


def kappa(n):
    return (2 * (30 * n * n).log() / (n + 2)).exp() * (1 + 2 / n).sqrt() / 30


def test_many_counters_start_below_their_lines():
    with working_precision():
        n = arb(6)
        b, least = n / (n + 1) * (1 - 1 / (n * n + n)), 1 - kappa(n)
        assert 1 - kappa(n) / 2 >= arb(60) / 70
        assert (1 - b / 2) ** Q < 1 - 1 / (2 - kappa(n))
        assert (1 - b / 2) ** Q < least / 2
        assert n ** (2 - Q) * (1 + 1 / n) ** Q < least
        assert all(kappa(arb(n + 1)) < kappa(arb(n)) for n in range(6, 1000))


@pytest.mark.parametrize("k", [36, 100, 1000, 50_000])
def test_many_counters_are_below_their_lines(k):
    n, p = math.sqrt(k), 1 / (60 * k)
    c = k**-0.25
    t = -ndtri_exp(math.log(p)) * math.sqrt(1 + c * c)
    loss, whole = float(kappa(arb(n))), released(k, t, c)
    assert released(1, t, c) == pytest.approx(p, rel=1e-6)
    assert 1 / 70 <= k * p * (1 - loss / 2) <= whole <= k * p
    both = float(np.exp(2 * norm.logsf(t - c * NODES)) @ WEIGHTS)
    assert k * both / p <= loss
    b = n / (n + 1) * (1 - 1 / (n * n + n))
    for j in {1, 2, k // 7, k // 2, k - k // 9, k - 2, k - 1}:
        share, y = released(j, t, c) / whole, j / k
        with working_precision():
            squares = float((sensitivity(k, k - j) / sensitivity(k, k)) ** 2)
        assert share <= min(y / (1 - loss / 2), 1 - (1 - loss) * (1 - y))
        assert squares <= 1 - b * y + ALGEBRA
        assert share + squares**2.35 < 1


@pytest.mark.parametrize("epsilon", [0.3, *(pytest.param(epsilon, marks=pytest.mark.slow) for epsilon in (0.02, 1, 4))])
def test_no_pair_passes_the_extremes_in_the_range(epsilon):
    delta = min(epsilon, 1) / 70
    for k in (2, 3, 5):
        t = threshold(k, delta)
        with working_precision():
            sigma = float(sensitivity(k, k)) / shift(epsilon, delta)
        for new in range(1, k):
            for changed in range(k - new + 1):
                pair = Pair(k**0.5, sigma, t * sigma, k - new, changed, new)
                assert max(pair_deltas(pair, epsilon, delta)) < delta


def test_the_range_ends_where_it_is_proved_to_end():
    for epsilon, ends in (("1", 1 / 70), ("log(2)", math.log(2) / 70), ("5", 1 / 70), ("0.07", 0.001)):
        terms = CshTerms(Sparse.of(3, 1), Fraction(1), Epsilon.of(epsilon))
        assert terms.extremes_decide(ends * (1 - 1e-15))
        assert not terms.extremes_decide(ends * (1 + 1e-15))


def test_mixed_pairs_are_bounded_above_the_range_alone(monkeypatch):
    looked = []
    search = csh.greatest_over_splits
    monkeypatch.setattr(csh, "greatest_over_splits", lambda *args: looked.append(args) or search(*args))
    assert csh_delta(10, 18, 97, 0.35) == csh_delta(10, 18, 97, 0.35, "exact") == csh_delta(10, 18, 97, 0.35, EXTREMES)
    assert not looked
    assert csh_delta(2, 1, 1.2, 0.05) > csh_delta(2, 1, 1.2, 0.05, EXTREMES)
    assert csh_delta(2, 1, 1.2, 0) > csh_delta(2, 1, 1.2, 0, EXTREMES)
    assert len(looked) == 2


def test_the_divergence_of_balls_is_that_of_floats():
    with working_precision():
        assert float(gaussian_divergence(arb(0.3), arb(0.7))) == pytest.approx(divergence(0.3, 0.7), rel=1e-12)
