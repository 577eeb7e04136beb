import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

from mechdesign.histogram.laplace_plan import (
    laplace_dp_epsilon,
    laplace_epsilon,
    laplace_epsilon_composed,
    laplace_epsilon_quadratic,
    laplace_scale,
    least_bin_probability,
)
from mechdesign.uncertainty import ConvexHull, L1Ball

SCALES = st.floats(-3, 300).map(lambda exponent: 10.0**exponent)
ALPHAS = st.sampled_from(["0", "1e-300", "1e-3", "0.123456789", "0.3", "0.5"])
TENTH, FIFTH = Fraction(1, 10), Fraction(1, 5)


def counts_of(priors, k):
    # The distribution of the histogram of independent records, one prior each: {counts: probability}.
    distribution = {(0,) * k: Fraction(1)}
    for prior in priors:
        grown = {}
        for counts, mass in distribution.items():
            for bin_, p in enumerate(prior):
                key = (*counts[:bin_], counts[bin_] + 1, *counts[bin_ + 1 :])
                grown[key] = grown.get(key, 0) + mass * p
        distribution = grown
    return distribution


def density(y, counts, u):
    # Of the noisy counts, up to a constant; u = exp(-1/b).
    return u ** sum(abs(a - c) for a, c in zip(y, counts, strict=True))


def greatest_leakage(priors, u, released=None):
    # The supremum over all outcomes and over the bins of the first record of its density, given the bin, over its
    # density. Only the first `released` counts are shown; all of them if that is None. With a rational u it is exact.
    #
    # The grid suffices: between two neighbouring whole numbers each density is A exp(y_j / b) + C exp(-y_j / b) in the
    # coordinate y_j, so that a ratio of two is a ratio of linear functions of exp(2 y_j / b) and monotone, and outside
    # [0, n] the ratio is constant.
    n, k = len(priors), len(priors[0])
    shown = k if released is None else released
    others = counts_of(priors[1:], k)
    worst = 0
    for y in itertools.product(range(n + 1), repeat=shown):
        given_bin = []
        for bin_ in range(k):
            added = tuple(int(bin_ == j) for j in range(k))
            given_bin.append(
                sum(
                    mass * density(y, [c + a for c, a in zip(counts, added, strict=True)][:shown], u)
                    for counts, mass in others.items()
                )
            )
        marginal = sum(p * value for p, value in zip(priors[0], given_bin, strict=True))
        worst = max(worst, max(given_bin) / marginal) if marginal > 0 else worst
    return worst


def fractions(*texts):
    return tuple(map(Fraction, texts))


@pytest.mark.combined
@pytest.mark.parametrize(
    "priors",
    [
        [fractions("3/10", "7/10")],
        [fractions("1/2", "1/2")] * 5,
        [fractions("1/10", "9/10")] * 4,
        [fractions("1/5", "3/10", "1/2")] * 3,
        [fractions("1/5", "3/10", "1/2"), fractions("9/10", "1/20", "1/20"), fractions("1/3", "1/3", "1/3")],
        [fractions("1/10", "1/5", "3/10", "2/5")] * 2,
    ],
)
@pytest.mark.parametrize("u", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_theorem_4_is_the_supremum_over_outcomes_exactly(priors, u):
    alpha = min(priors[0])
    # exp(2/b) / (1 - alpha + alpha exp(2/b)), with u = exp(-1/b).
    closed = 1 / (alpha + (1 - alpha) * u**2)
    assert greatest_leakage(priors, u) == closed
    assert laplace_epsilon(-1 / math.log(u), alpha) == pytest.approx(math.log(closed), rel=1e-12)


def test_no_real_outcome_leaks_more_and_the_rarest_bin_alone_leaks_as_much():
    priors, scale = [fractions("1/5", "3/10", "1/2")] * 3, 0.7
    rng = np.random.default_rng(5)
    outcomes = rng.uniform(-3, 6, size=(20_000, 3))
    others = counts_of(priors[1:], 3)
    given_bin = np.array(
        [
            sum(
                float(mass) * np.exp(-np.abs(outcomes - counts - np.eye(3)[bin_]).sum(axis=1) / scale)
                for counts, mass in others.items()
            )
            for bin_ in range(3)
        ]
    )
    leakage = np.log(given_bin / (np.array([0.2, 0.3, 0.5]) @ given_bin))
    assert leakage.max() <= laplace_epsilon(scale, "1/5") * (1 + 1e-12)
    attained = (outcomes[:, 0] >= 3) & (outcomes[:, 1:] <= 0).all(axis=1)
    assert attained.sum() > 100
    np.testing.assert_allclose(leakage[0, attained], laplace_epsilon(scale, "1/5"), rtol=1e-12)


def test_records_that_are_not_independent_may_leak_more():
    # Two copies of one record count twice: the assumption of Theorem 4 is needed.
    alpha, u = Fraction(1, 5), Fraction(1, 2)
    leak = 1 / (alpha + (1 - alpha) * u**4)
    assert leak > 1 / (alpha + (1 - alpha) * u**2)
    counts = {0: (2, 0), 1: (0, 2)}
    y = (2, 0)
    given_bin = [density(y, counts[bin_], u) for bin_ in (0, 1)]
    assert given_bin[0] / (alpha * given_bin[0] + (1 - alpha) * given_bin[1]) == leak


def printed(scale, alpha):
    with mpmath.workdps(2_000):
        b, a = mpmath.mpf(scale), mpmath.mpf(alpha)
        return 2 / b - mpmath.log(1 - a + a * mpmath.exp(2 / b))


@given(SCALES, ALPHAS)
def test_epsilon_is_the_printed_bound_rounded_up_by_a_unit_or_two(scale, alpha):
    exact, found = printed(scale, alpha), mpmath.mpf(laplace_epsilon(scale, alpha))
    assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -50)


@given(st.floats(1e-300, 40), ALPHAS)
def test_the_scale_reaches_its_target_and_hardly_a_smaller_one_does(epsilon, alpha):
    scale = laplace_scale(epsilon, alpha)
    if scale == 0:
        assert Fraction(alpha) > 0
        assert epsilon >= -math.log(Fraction(alpha)) * (1 - 1e-15)
        return
    assert laplace_epsilon(scale, alpha) <= epsilon
    if alpha == "0" or epsilon < 0.99 * -math.log(float(alpha)):
        assert laplace_epsilon(scale * (1 - 1e-13), alpha) > epsilon


@pytest.mark.parametrize("alpha", ["1/2", "1/10", "1/1000"])
def test_no_noise_is_needed_from_log_one_over_alpha_on(alpha):
    limit = 1 / Fraction(alpha)
    assert laplace_scale(f"log({limit})", alpha) == 0.0
    assert laplace_scale(f"log({limit - Fraction(1, 10**9)})", alpha) > 0
    # Without noise an outcome tells the bin of every record where all fall into the same one: log(1/alpha).
    prior = (Fraction(alpha), 1 - Fraction(alpha))
    assert greatest_leakage([prior] * 3, Fraction(0)) == limit


@pytest.mark.parametrize("scale", ["0.05", 0.3, 1, 7, "1e200"])
def test_the_other_bounds_are_above_the_sharp_one_and_printed_right(scale):
    b = Fraction(scale)
    for alpha in (Fraction(1, 1000), TENTH, FIFTH):
        sharp, quadratic = laplace_epsilon(scale, alpha), laplace_epsilon_quadratic(scale, alpha)
        exact = 2 * (1 - alpha) / b + 2 * alpha**2 / b**2
        assert sharp <= quadratic
        assert exact <= Fraction(quadratic) <= exact * (1 + Fraction(1, 2**50))
        assert sharp < laplace_dp_epsilon(scale)
        for bins in (3, 4, 5):
            composed = laplace_epsilon_composed(scale, alpha, bins)
            exact = (bins - 1) * ((1 - alpha) / b + alpha**2 / (2 * b**2))
            assert sharp <= composed
            assert exact <= Fraction(composed) <= exact * (1 + Fraction(1, 2**50))


def test_the_quadratic_bound_is_worse_than_differential_privacy_for_little_noise():
    assert laplace_epsilon_quadratic("0.09", TENTH) > laplace_dp_epsilon("0.09")
    assert laplace_epsilon_quadratic("0.11", TENTH) < laplace_dp_epsilon("0.11")


def test_composition_is_no_bound_for_two_bins():
    # As printed the bound would hold for k = 2; both counts together leak about twice as much.
    alpha, u = Fraction(3, 10), Fraction(9, 10)
    x = -math.log(u)
    as_printed = (1 - float(alpha)) * x + float(alpha) ** 2 * x**2 / 2
    priors = [(alpha, 1 - alpha)] * 3
    assert math.log(greatest_leakage(priors, u)) > 1.8 * as_printed
    assert math.log(greatest_leakage(priors, u, released=1)) <= as_printed
    with raises("out-of-range"):
        laplace_epsilon_composed(1, alpha, 2)


@pytest.mark.parametrize("u", [Fraction(1, 10), Fraction(9, 10)])
def test_composition_bounds_three_bins_whether_two_or_all_counts_are_released(u):
    prior = fractions("1/10", "1/5", "7/10")
    bound = laplace_epsilon_composed(-1 / math.log(u), TENTH, 3)
    assert math.log(greatest_leakage([prior] * 3, u, released=2)) <= math.log(greatest_leakage([prior] * 3, u)) <= bound


def test_epsilon_falls_with_the_scale_and_with_alpha():
    assert (np.diff([laplace_epsilon(b, TENTH) for b in np.geomspace(0.1, 100, 40)]) < 0).all()
    assert (np.diff([laplace_epsilon(1, float(a)) for a in np.linspace(0, 0.5, 30)]) < 0).all()
    assert laplace_epsilon(1, 0) == laplace_dp_epsilon(1) == 2.0
    assert laplace_epsilon("1e-309", 0) == laplace_epsilon_quadratic("1e-309", TENTH) == math.inf
    assert laplace_epsilon_composed("1e-309", TENTH, 4) == math.inf


def test_differential_privacy_holds_for_the_double_and_for_the_decimal_it_prints():
    for scale in (0.1, 0.3):
        assert Fraction(laplace_dp_epsilon(scale)) >= 2 / min(Fraction(scale), Fraction(repr(scale)))


@pytest.mark.parametrize("radius", ["0.01", "0.1", "0.3", "0.4", "1", "2"])
def test_alpha_is_the_least_mean_of_a_bin_over_the_ball(radius):
    ball = L1Ball(["0.5", "0.3", "0.2"], radius)
    units = np.eye(3, dtype=int).tolist()
    worst = [ball.exact_worst_mean(unit) for unit in units]
    alpha = least_bin_probability(ball)
    assert alpha == min(value for value, _ in worst)
    assert any(min(prior) == alpha and ball.contains(prior) for _, prior in worst)
    assert least_bin_probability(ball.as_printed()) == alpha


def test_alpha_from_counts_covers_the_radius():
    ball = L1Ball.from_counts([400, 350, 250], delta="0.01")
    assert least_bin_probability(ball) == Fraction(1, 4) - ball.radius / 2 > 0
    assert least_bin_probability(L1Ball.from_counts([400, 350, 250], known=True)) == Fraction(1, 4)


def test_alpha_holds_with_the_promised_probability():
    rng = np.random.default_rng(11)
    true = np.array([0.6, 0.25, 0.15])
    samples = rng.multinomial(500, true, size=2_000)
    radius = L1Ball.from_counts(samples[0].tolist(), delta="0.1").radius  # the same for all, and slow to derive
    alphas = [least_bin_probability(L1Ball.from_counts(counts.tolist(), radius=radius)) for counts in samples]
    assert sum(alpha > Fraction(3, 20) for alpha in alphas) <= 0.1 * len(alphas)
    assert max(alphas) > 0


@pytest.mark.parametrize("ball", [L1Ball.from_counts([812, 188, 0], delta=1e-9), L1Ball([0.5, 0.5], 2)])
def test_an_unseen_bin_or_a_large_radius_is_differential_privacy(ball):
    alpha = least_bin_probability(ball)
    assert alpha == 0
    assert laplace_scale(0.5, alpha) == 4.0
    assert laplace_epsilon(4, alpha) == laplace_dp_epsilon(4) == 0.5


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: laplace_epsilon(0, 0.1), "out-of-range"),
        (lambda: laplace_epsilon(math.nan, 0.1), "not-a-number"),
        (lambda: laplace_epsilon(1, 0.51), "out-of-range"),
        (lambda: laplace_epsilon(1, -1e-300), "out-of-range"),
        (lambda: laplace_epsilon(1, math.nan), "not-a-number"),
        (lambda: laplace_scale(1, 0.51), "out-of-range"),
        (lambda: laplace_scale(0, 0.1), "epsilon-out-of-range"),
        (lambda: laplace_scale("log(1)", 0), "epsilon-out-of-range"),
        (
            lambda: laplace_scale("1e-309", 0),
            "epsilon-out-of-range",
        ),
        (lambda: laplace_epsilon_quadratic(-1, 0.1), "out-of-range"),
        (lambda: laplace_epsilon_quadratic(1, 1), "out-of-range"),
        (lambda: laplace_epsilon_composed(1, 0.3, 4), "out-of-range"),
        (lambda: laplace_epsilon_composed(1, 0.3, 1), "not-a-whole-number"),
        (lambda: laplace_epsilon_composed(1, 0.3, 3.5), "not-a-whole-number"),
        (lambda: laplace_dp_epsilon(0), "out-of-range"),
        (lambda: least_bin_probability([0.5, 0.5]), "wrong-type"),
        (lambda: least_bin_probability(ConvexHull([[0.5, 0.5], [0.4, 0.6]])), "wrong-type"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
