"""Equations and settings of "A Tight Context-aware Privacy Bound for Histogram Publication" (HP), in its order.

That Theorem 4 is a bound and is attained is held exactly in tests/histogram/test_laplace.py, and there too that the sum
over k - 1 counts in Section IV is not a bound for k = 2. What is said of Figures 1a and 1b is held in
tests/figures/test_hp_figures.py. These numbers cannot be held: the values of the curves, which the text does not print,
and of Figure 1a k, alpha and epsilon, of Figure 1b k and epsilon.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tolerances import ALGEBRA

from figures import figure_hp_1a, figure_hp_1b
from figures.lib import hp_laplace
from mechdesign.histogram.laplace_plan import (
    laplace_dp_epsilon,
    laplace_epsilon,
    laplace_epsilon_composed,
    laplace_epsilon_quadratic,
    laplace_scale,
)

THIRD = Fraction(1, 3)
every_setting = pytest.mark.parametrize(
    ("b", "alpha"), [(0.5, 0.5), (2.0, 0.2), (10.0, 0.05), (0.3, 0.01), (100.0, 0.1)]
)


@every_setting
def test_section_2c_the_variance_of_the_noise_is_2_b_squared(b, alpha):
    """And Definition 3: a query of sensitivity 2 has densities that differ by a factor of exp(2/b) at most."""
    assert stats.laplace(scale=b).var() == pytest.approx(2 * b**2, rel=ALGEBRA)
    y = np.stack(np.meshgrid(*[np.linspace(-3, 4, 15)] * 2), axis=-1).reshape(-1, 2)
    moved = [stats.laplace.logpdf(y - counts, scale=b).sum(axis=1) for counts in ([1, 0], [0, 1])]
    assert np.abs(moved[0] - moved[1]).max() == pytest.approx(2 / b, rel=1e-9)
    assert laplace_dp_epsilon(b) == pytest.approx(2 / b, rel=ALGEBRA)


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


@every_setting
def test_section_4_a_greater_alpha_leaks_less_and_the_greatest_is_1_over_k(b, alpha):
    leaked = [laplace_epsilon(b, part * alpha) for part in (0.25, 0.5, 0.75, 1)]
    assert leaked == sorted(leaked, reverse=True)
    assert len(set(leaked)) == 4


@pytest.mark.parametrize("b", [2.0, 10.0, 100.0])
def test_section_4_composition_is_looser_from_four_bins_on_and_tighter_than_equation_2_for_three(b):
    """The paper has both comparisons without a k: (k - 1)/b is 2/b for k = 3, and is larger from k = 4 on."""
    for k in range(4, 21):
        assert (k - 1) / b > laplace_dp_epsilon(b)
        assert laplace_epsilon_composed(b, Fraction(1, k), k) > laplace_epsilon_quadratic(b, Fraction(1, k))
    assert laplace_epsilon(b, THIRD) < laplace_epsilon_composed(b, THIRD, 3) < laplace_epsilon_quadratic(b, THIRD)
    assert (3 - 1) / b == pytest.approx(laplace_dp_epsilon(b), rel=ALGEBRA)


def test_section_4_the_factor_1_minus_alpha_is_near_1_where_k_is_large():
    """alpha is at most 1/k: 1/2 for two bins, 0.95 for twenty, 0.99 for a hundred."""
    shares = [laplace_epsilon(1000.0, Fraction(1, k)) / laplace_dp_epsilon(1000.0) for k in (2, 20, 100)]
    assert shares == pytest.approx([0.5, 0.95, 0.99], rel=2e-3)


@pytest.mark.parametrize("alpha", [0.5, 0.2, 0.05])
def test_restricting_priors_reduces_leakage_roughly_by_the_factor_1_minus_alpha(alpha):
    assert laplace_epsilon(1000.0, alpha) / laplace_dp_epsilon(1000.0) == pytest.approx(1 - alpha, rel=2e-3)


def test_section_3b_the_settings_of_figure_1():
    assert (hp_laplace.RECORDS, hp_laplace.REPETITIONS, figure_hp_1b.ALPHA) == (1000, 10_000, 0.05)
    assert all(alpha <= 1 / k for k, alphas in figure_hp_1a.ALPHAS.items() for alpha in alphas)
    assert max(figure_hp_1b.BINS) * figure_hp_1b.ALPHA <= 1
