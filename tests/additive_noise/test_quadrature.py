import math

import numpy as np
import pytest
from refusals import raises
from scipy.stats import laplace, norm

from mechdesign.additive_noise.quadrature import noise_epsilon_min, noise_leakage, noise_tail

POINTS, PRIOR = [-1.0, 0.5, 3.0], [0.2, 0.5, 0.3]


def gaussian(t):
    return norm.logpdf(t, scale=1.2)


def uniform(t):
    return np.where(np.abs(t) <= 1, math.log(0.5), -np.inf)


def test_leakage_is_its_definition():
    y = np.linspace(-5, 5, 21).reshape(3, 7)
    densities = np.array([np.exp(gaussian(y - x)) for x in POINTS])
    expected = np.log(densities.max(axis=0) / np.tensordot(PRIOR, densities, axes=1))
    np.testing.assert_allclose(noise_leakage(gaussian, POINTS, PRIOR, y), expected, rtol=1e-10)


def test_outputs_far_out_do_not_underflow():
    found = noise_leakage(gaussian, POINTS, PRIOR, [1e6, -1e6])
    np.testing.assert_allclose(found, -np.log([0.3, 0.2]), rtol=1e-12)


def test_bounded_noise_leaks_what_it_excludes():
    found = noise_leakage(uniform, [0, 1], [0.25, 0.75], [-0.5, 0.5, 1.5, 9.0])
    np.testing.assert_allclose(found, [math.log(4), 0, math.log(4 / 3), 0], atol=1e-15)
    assert noise_leakage(uniform, [0, 1], [0, 1], -0.5) == np.inf
    assert noise_epsilon_min(uniform, [0, 1], [0, 1], (-2, 2)) == np.inf
    assert noise_tail(uniform, [0, 1], [0.25, 0.75], 0.5, (-3, 4)) == pytest.approx(0.125, abs=1e-9)


def test_epsilon_min_refines_the_grid():
    # A cusp at a point of the alphabet that the grid alone would not meet, and a smooth peak between two.
    found = noise_epsilon_min(laplace.logpdf, [-1.0, 0.1, 1.0], [0.45, 0.1, 0.45], (-3.37, 3.11), grid=17)
    assert found == pytest.approx(-math.log(0.1 + 0.45 * math.exp(-1.1) + 0.45 * math.exp(-0.9)), rel=1e-12)
    rare = [0.45, 0.1, 0.45]
    between = noise_epsilon_min(gaussian, [-1.0, 0.0, 3.0], rare, (-0.9, 2.9), grid=5)
    fine = noise_leakage(gaussian, [-1.0, 0.0, 3.0], rare, np.linspace(-0.9, 2.9, 200_001)).max()
    assert between >= fine - 1e-12


@pytest.mark.slow
def test_tail_agrees_with_a_sum_and_with_sampling():
    y = np.linspace(-12, 14, 1_300_001)
    mixture = sum(q * np.exp(gaussian(y - x)) for q, x in zip(PRIOR, POINTS, strict=True))
    for epsilon in (0.0, 0.3, 0.8, 2.0):
        above = noise_leakage(gaussian, POINTS, PRIOR, y) > epsilon
        found = noise_tail(gaussian, POINTS, PRIOR, epsilon, (-12, 14))
        assert found == pytest.approx((mixture * above).sum() * (y[1] - y[0]), abs=1e-5)
    rng = np.random.default_rng(5)
    drawn = rng.choice(POINTS, p=PRIOR, size=200_000) + rng.normal(scale=1.2, size=200_000)
    shown = (noise_leakage(gaussian, POINTS, PRIOR, drawn) > 0.8).mean()
    assert abs(shown - noise_tail(gaussian, POINTS, PRIOR, 0.8, (-12, 14))) < 5 * math.sqrt(0.25 / drawn.size)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: noise_leakage(3, [0, 1], [0.5, 0.5], 0), "wrong-type"),
        (
            lambda: noise_leakage(gaussian, [0, 1, 2], [0.5, 0.5], 0),
            "wrong-size",
        ),
        (lambda: noise_leakage(gaussian, [0, math.nan], [0.5, 0.5], 0), "not-a-number"),
        (lambda: noise_leakage(gaussian, [0, 1], [0.5, 0.6], 0), "wrong-sum"),
        (lambda: noise_leakage(gaussian, [0, 1], [0.5, 0.5], "y"), "not-a-number"),
        (lambda: noise_leakage(lambda t: t * np.nan, [0, 1], [0.5, 0.5], 0), "function-fails"),
        (
            lambda: noise_leakage(lambda t: 1.0, [0, 1], [0.5, 0.5], 0),
            "function-fails",
        ),
        (lambda: noise_epsilon_min(gaussian, [0, 1], [0.5, 0.5], (2, 1)), "out-of-range"),
        (lambda: noise_epsilon_min(gaussian, [0, 1], [0.5, 0.5], (0, 1), grid=2), "not-a-whole-number"),
        (lambda: noise_tail(gaussian, [0, 1], [0.5, 0.5], -1, (0, 1)), "epsilon-out-of-range"),
        (lambda: noise_tail(gaussian, [0, 1], [0.5, 0.5], math.nan, (0, 1)), "epsilon-out-of-range"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
