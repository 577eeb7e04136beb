import math

import mpmath
import numpy as np
import pytest
from refusals import raises
from scipy.special import erfcinv
from scipy.stats import norm

from mechdesign.additive_noise.gaussian import gaussian_delta
from mechdesign.additive_noise.pldp import pldp_delta, pldp_delta_exact, pldp_sigma


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 10.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1, 0.9])
def test_sigma_is_equation_70_and_delta_inverts_it(epsilon, delta):
    f = erfcinv(delta)
    sigma = pldp_sigma(epsilon, delta)
    assert sigma == pytest.approx(math.sqrt(2) * (f + math.sqrt(f**2 + epsilon)) / epsilon, rel=1e-12)
    assert pldp_delta(epsilon, sigma) == pytest.approx(delta, rel=1e-12)
    assert pldp_delta(epsilon, sigma) <= math.nextafter(delta, 1)  # delta is the decimal, which its double may be below


@pytest.mark.combined
@pytest.mark.parametrize(("epsilon", "sigma"), [(0.5, 3.0), (1.0, 1.5), (1.0, 2.0), (4.0, 1.0)])
@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 1.0])
def test_exact_delta_is_the_probability_of_outputs_whose_densities_differ(epsilon, sigma, p):
    y = np.linspace(-16, 16, 320_001)
    ratios = norm.logpdf(y, 1, sigma) - norm.logpdf(y, -1, sigma)
    mixture = p * norm.pdf(y, 1, sigma) + (1 - p) * norm.pdf(y, -1, sigma)
    direct = mixture[np.abs(ratios) > epsilon].sum() * (y[1] - y[0])
    assert pldp_delta_exact(epsilon, sigma) == pytest.approx(direct, abs=1e-4)


@pytest.mark.parametrize(("epsilon", "sigma"), [("0.5", "3"), ("1", "1.5"), ("2", "5"), ("30", "1.1")])
def test_deltas_are_not_below_sixty_digits_of_them(epsilon, sigma):
    with mpmath.workdps(60):
        e, s = mpmath.mpf(epsilon), mpmath.mpf(sigma)
        m = s**2 * e / 2
        near, far = mpmath.ncdf((1 - m) / s), mpmath.ncdf((-1 - m) / s)
        for found, exact in [(pldp_delta(epsilon, sigma), 2 * near), (pldp_delta_exact(epsilon, sigma), near + far)]:
            assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -15)


def test_equation_70_is_conservative_by_up_to_two():
    ratios = np.array([pldp_delta_exact(1.0, s) / pldp_delta(1.0, s) for s in (1.5, 3.0, 6.0, 12.0)])
    assert ((ratios >= 0.5) & (ratios <= 1)).all()
    assert pldp_delta_exact(0.01, 30.0) / pldp_delta(0.01, 30.0) > 0.85  # tails as far as each other: little is lost


@pytest.mark.combined
@pytest.mark.parametrize("sigma", [0.5, 1.5, 2.0, 6.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_pml_over_every_prior_fails_no_more_often(epsilon, sigma):
    whole = gaussian_delta(epsilon, sigma, 0.5, 2)
    assert gaussian_delta(epsilon, sigma, 0.5, 0.1) <= whole * (1 + 1e-9)
    assert whole <= pldp_delta_exact(epsilon, sigma) * (1 + 1e-9)


def test_vacuous_deltas_are_one_and_tiny_ones_not_zero():
    assert pldp_delta(1.0, 0.1) == 1.0
    assert pldp_delta_exact("1e-300", 1.0) <= 1.0
    assert pldp_delta(1.0, 1e300) == pldp_delta_exact(1.0, 1e300) == 5e-324


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: pldp_sigma(1, 0), "delta-out-of-range"),
        (lambda: pldp_sigma(1, 1), "delta-out-of-range"),
        (lambda: pldp_sigma(1, math.nan), "not-a-number"),
        (lambda: pldp_sigma(0, 0.1), "epsilon-out-of-range"),
        (lambda: pldp_sigma("1e-320", 0.1), "epsilon-out-of-range"),
        (lambda: pldp_delta(1, 0), "out-of-range"),
        (lambda: pldp_delta_exact(-1, 1), "epsilon-out-of-range"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
