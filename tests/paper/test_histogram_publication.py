"""Equations and settings of "A Tight Context-aware Privacy Bound for Histogram Publication" (HP)."""

import math

import pytest
from tolerances import ALGEBRA

from figures import figure_hp_1a, figure_hp_1b
from figures.lib import hp_laplace
from mechdesign.histogram.laplace import (
    laplace_dp_epsilon,
    laplace_epsilon,
    laplace_epsilon_composed,
    laplace_epsilon_quadratic,
    laplace_scale,
)

every_setting = pytest.mark.parametrize(
    ("b", "alpha"), [(0.5, 0.5), (2.0, 0.2), (10.0, 0.05), (0.3, 0.01), (100.0, 0.1)]
)


@every_setting
def test_theorem_4_equation_1(b, alpha):
    printed = 2 / b - math.log(1 - alpha + alpha * math.exp(2 / b))
    assert laplace_epsilon(b, alpha) == pytest.approx(printed, rel=ALGEBRA)
    assert laplace_scale(laplace_epsilon(b, alpha), alpha) == pytest.approx(b, rel=1e-9)


@every_setting
def test_equation_2(b, alpha):
    printed = 2 * (1 - alpha) / b + 2 * alpha**2 / b**2
    assert laplace_epsilon_quadratic(b, alpha) == pytest.approx(printed, rel=ALGEBRA)
    assert laplace_epsilon(b, alpha) <= laplace_epsilon_quadratic(b, alpha)


@every_setting
def test_without_an_assumption_it_is_the_bound_of_differential_privacy(b, alpha):
    assert laplace_dp_epsilon(b) == pytest.approx(2 / b, rel=ALGEBRA)
    assert laplace_epsilon(b, "1e-300") == pytest.approx(2 / b, rel=ALGEBRA)
    assert laplace_epsilon(b, alpha) < 2 / b


@every_setting
def test_section_4_composition(b, alpha):
    k = 7
    printed = (k - 1) * ((1 - alpha) / b + alpha**2 / (2 * b**2))
    if alpha * k <= 1:
        assert laplace_epsilon_composed(b, alpha, k) == pytest.approx(printed, rel=ALGEBRA)
        assert laplace_epsilon(b, alpha) < printed


@pytest.mark.parametrize("alpha", [0.5, 0.2, 0.05])
def test_restricting_priors_reduces_leakage_roughly_by_the_factor_1_minus_alpha(alpha):
    assert laplace_epsilon(1000.0, alpha) / laplace_dp_epsilon(1000.0) == pytest.approx(1 - alpha, rel=2e-3)


def test_section_3b_the_settings_of_figure_1():
    assert (hp_laplace.RECORDS, hp_laplace.REPETITIONS, figure_hp_1b.ALPHA) == (1000, 10_000, 0.05)
    assert all(alpha <= 1 / k for k, alphas in figure_hp_1a.ALPHAS.items() for alpha in alphas)
    assert max(figure_hp_1b.BINS) * figure_hp_1b.ALPHA <= 1
