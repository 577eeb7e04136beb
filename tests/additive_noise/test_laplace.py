import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from tolerances import ALGEBRA

from mechdesign.additive_noise.laplace import (
    laplace_epsilon,
    laplace_scale,
    laplace_threshold_information,
    laplace_threshold_matrix,
)
from mechdesign.additive_noise.quadrature import noise_epsilon_min, noise_leakage
from mechdesign.pml import epsilon_min, leakage_capacity
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import MutualInformation

SCALES = st.floats(-300, 300).map(lambda exponent: 10.0**exponent)
P_MINS = st.sampled_from(["0.5", "0.3", "0.123456789", "1e-3", "1e-300"])
RADII = st.sampled_from(["0", "0.01", "0.25", "0.6", "1", "2"])


def density(scale):
    return lambda t: -np.abs(t) / scale - math.log(2 * scale)


def printed(scale, p_min, radius=0):
    """ED eq. (49) and (50) as they are printed, with enough digits for their cancellation."""
    with mpmath.workdps(900):
        p = max(mpmath.mpf(0), mpmath.mpf(p_min) - mpmath.mpf(radius) / 2)
        b = mpmath.mpf(scale)
        return 2 / b - mpmath.log(p * (mpmath.exp(2 / b) - 1) + 1)


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("p", [0.5, 0.3, 0.02])
def test_epsilon_is_the_greatest_leakage_over_outputs(scale, p):
    found = noise_epsilon_min(density(scale), [-1, 1], [p, 1 - p], (-4, 4))
    assert found == pytest.approx(laplace_epsilon(scale, p), rel=1e-12)


@pytest.mark.parametrize(("p_min", "radius"), [(0.5, 0.1), (0.3, 0.25), (0.3, 0.7), (0.1, 2)])
def test_no_prior_of_the_ball_leaks_more_and_one_leaks_as_much(p_min, radius):
    scale, y = 0.8, np.linspace(-3, 3, 61)
    least, most = max(0.0, p_min - radius / 2), min(1.0, p_min + radius / 2)
    worst = max(noise_leakage(density(scale), [-1, 1], [q, 1 - q], y).max() for q in np.linspace(least, most, 101))
    assert worst == pytest.approx(laplace_epsilon(scale, p_min, radius), rel=1e-12)


@given(SCALES.filter(lambda scale: scale > 1e-4), P_MINS, RADII)
def test_epsilon_is_printed_equation_rounded_up_by_a_unit_or_two(scale, p_min, radius):
    exact, found = printed(scale, p_min, radius), laplace_epsilon(scale, p_min, radius)
    assert mpmath.mpf(found) >= exact
    assert mpmath.mpf(found) <= exact * (1 + mpmath.mpf(2) ** -50)


@pytest.mark.parametrize("radius", [0, 0.1, 1, 2])
def test_extreme_scales_neither_overflow_nor_vanish(radius):
    p = max(0.0, 0.5 - radius / 2)
    small, large = laplace_epsilon(1e-300, 0.5, radius), laplace_epsilon(1e300, 0.5, radius)
    assert small == pytest.approx(2e300 if p == 0 else -math.log(p), rel=1e-15)
    assert large == pytest.approx(2e-300 * (1 - p), rel=1e-14)


def test_what_no_float_can_hold_is_infinite_or_the_least_float():
    assert laplace_epsilon("1e-309", 0.5, 1) == math.inf
    assert laplace_epsilon("1e-400", 0.5, 0) == math.nextafter(math.log(2), 1)
    assert laplace_epsilon("1e400", 0.5, 0) == laplace_epsilon("1e400", 0.5, 1) == 5e-324


def test_epsilon_holds_for_the_double_that_draws_the_noise_and_for_the_decimal_it_prints():
    # 0.3 is held as a smaller number, which leaks more; 0.1 as a larger one.
    for scale in (0.3, 0.1):
        found = Fraction(laplace_epsilon(scale, 0.5, 1))
        assert found >= 2 / Fraction(scale)
        assert found >= 2 / Fraction(repr(scale))


def test_ldp_is_the_limit_from_where_the_ball_reaches_the_border():
    assert laplace_epsilon(4, 0.5, 1) == laplace_epsilon(4, 0.3, 0.6) == laplace_epsilon(4, 0.3, 2) == 0.5
    assert laplace_epsilon(4, 0.3, 0.599) < 0.5
    assert laplace_scale(0.5, 0.5, 1) == laplace_scale(0.5, 0.3, 2) == 4.0


@given(st.floats(1e-300, 40), P_MINS, RADII)
def test_the_scale_reaches_its_target_and_hardly_a_smaller_one_does(epsilon, p_min, radius):
    scale = laplace_scale(epsilon, p_min, radius)
    p = max(Fraction(0), Fraction(p_min) - Fraction(radius) / 2)
    if scale == 0:
        assert p > 0
        assert epsilon >= -math.log(p) * (1 - 1e-15)
        return
    assert laplace_epsilon(scale, p_min, radius) <= epsilon
    with mpmath.workdps(60):
        assert printed(scale * (1 - 1e-14), p_min, radius) > mpmath.mpf(epsilon) * (1 - mpmath.mpf(10) ** -30) or (
            # Near log(1/p) epsilon as a float says less about the scale than the scale about epsilon.
            epsilon > 0.99 * -math.log(p)
        )


@pytest.mark.parametrize("p", ["0.5", "0.3", "1e-9"])
def test_no_noise_is_needed_from_the_leakage_of_the_data_on(p):
    limit = f"log({1 / Fraction(p)})"
    assert laplace_scale(limit, p) == 0.0
    just_below = f"log({1 / Fraction(p) - Fraction(1, 10**40)})"
    scale = laplace_scale(just_below, p)
    with mpmath.workdps(60):
        ratio = (1 - mpmath.mpf(p)) / (1 / (1 / mpmath.mpf(p) - mpmath.mpf(10) ** -40) - mpmath.mpf(p))
        assert scale == pytest.approx(float(2 / mpmath.log(ratio)), rel=1e-14)


def test_sixty_digits_beside_the_limit_are_told_apart():
    below = "0.693147180559945309417232121458176568075500134360255254120680"
    above = "0.693147180559945309417232121458176568075500134360255254120681"
    assert 0.0146 < laplace_scale(below, 0.5) < 0.023  # rounded towards more noise: exp has 128 bits
    assert laplace_scale("0.6931471805599453094172321214581765681", 0.5) == 0.0
    assert laplace_scale(above, 0.5) <= laplace_scale(below, 0.5)


def test_epsilon_decreases_with_the_scale_and_increases_with_the_radius():
    scales = [laplace_epsilon(b, 0.3) for b in np.geomspace(0.1, 100, 50)]
    assert (np.diff(scales) < 0).all()
    radii = [laplace_epsilon(1, 0.3, float(beta)) for beta in np.linspace(0, 0.6, 30)]
    assert (np.diff(radii) > 0).all()


@pytest.mark.parametrize("scale", [0.05, 1, 30])
def test_threshold_matrix_is_the_probability_of_each_sign(scale):
    from scipy.stats import laplace

    matrix = laplace_threshold_matrix(scale)
    for row, x in zip(matrix, (-1, 1), strict=True):
        np.testing.assert_allclose(row, [laplace.cdf(0, x, scale), laplace.sf(0, x, scale)], rtol=ALGEBRA)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=ALGEBRA)


@pytest.mark.parametrize(("scale", "p", "radius"), [(0.5, 0.5, 0), (2, 0.3, 0.2), (2, 0.3, 2), (50, 0.1, 0.1)])
def test_threshold_leaks_no_more_than_the_noise(scale, p, radius):
    matrix = laplace_threshold_matrix(scale)
    assert epsilon_min(matrix, [p, 1 - p]) <= laplace_epsilon(scale, p)
    assert leakage_capacity(matrix, L1Ball([p, 1 - p], radius=radius)) <= laplace_epsilon(scale, p, radius)


@pytest.mark.parametrize("scale", [0.01, 0.3, 1, 7, 1e3])
@pytest.mark.parametrize("p", [0.5, 0.3, 0.01])
def test_threshold_information_is_the_utility_of_its_matrix(scale, p):
    matrix = laplace_threshold_matrix(scale)
    expected = MutualInformation().value(matrix, np.array([p, 1 - p]))
    assert laplace_threshold_information(scale, p) == pytest.approx(expected, abs=ALGEBRA)


def test_threshold_information_has_its_limits():
    assert laplace_threshold_information(1e-300, 0.5) == pytest.approx(math.log(2))
    # With little left of X the information is d^2 / 2, d = 1 / b.
    assert laplace_threshold_information(1e9, 0.5) == pytest.approx(0.5e-18, rel=1e-8)


def test_thresholded_noise_is_what_the_matrix_says():
    rng = np.random.default_rng(7)
    x = np.where(rng.random(200_000) < 0.3, -1, 1)
    reports = np.where(x + rng.laplace(scale=1.3, size=x.size) < 0, -1, 1)
    for row, symbol in zip(laplace_threshold_matrix(1.3), (-1, 1), strict=True):
        told = reports[x == symbol]
        deviation = math.sqrt(row[0] * row[1] / told.size)
        assert abs((told == -1).mean() - row[0]) < 5 * deviation


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: laplace_epsilon(0, 0.5), "out-of-range"),
        (lambda: laplace_epsilon(-1, 0.5), "out-of-range"),
        (lambda: laplace_epsilon(math.nan, 0.5), "not-a-number"),
        (lambda: laplace_epsilon(math.inf, 0.5), "not-a-number"),
        (lambda: laplace_epsilon(True, 0.5), "not-a-number"),
        (lambda: laplace_epsilon(1, 0), "out-of-range"),
        (lambda: laplace_epsilon(1, 0.6), "out-of-range"),
        (lambda: laplace_epsilon(1, math.nan), "not-a-number"),
        (lambda: laplace_epsilon(1, 0.5, 2.1), "radius-out-of-range"),
        (lambda: laplace_epsilon(1, 0.5, -0.1), "radius-out-of-range"),
        (lambda: laplace_scale(0, 0.5), "epsilon-out-of-range"),
        (lambda: laplace_scale("log(1)", 0.5), "epsilon-out-of-range"),
        (lambda: laplace_scale(-1, 0.5), "epsilon-out-of-range"),
        (
            lambda: laplace_scale("1e-309", 0.5, 1),
            "epsilon-out-of-range",
        ),
        (
            lambda: laplace_scale("1e-309", 0.5, 0),
            "epsilon-out-of-range",
        ),
        (lambda: laplace_threshold_matrix(0), "out-of-range"),
        (lambda: laplace_threshold_information(1, 0.7), "out-of-range"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
