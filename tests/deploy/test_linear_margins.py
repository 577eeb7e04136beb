"""Margins of estimates: the correction of the second order, for noise that is skewed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mechdesign.deploy.linear import Noise

Z = 3.0


@pytest.mark.parametrize("third", [-0.8, 0.8])
def test_the_skewness_widens_the_side_of_its_large_errors_by_its_share(third):
    """An estimate is too low by much where the third moment is negative, so that the truth is far above."""
    noise = Noise(variance=np.array([0.5]), third=np.array([third]), own=np.zeros(1))
    below, above = noise.margins(100, np.array([Z]))
    normal = Z * np.sqrt(0.5 / 100)
    correction = (Z**2 - 1) / 6 * abs(third) / (0.5 * 100)
    assert_allclose(below if third > 0 else above, normal + correction, rtol=1e-12)
    assert_allclose(above if third > 0 else below, normal, rtol=1e-12)


def test_a_skewed_sum_stays_within_the_corrected_margins():
    """The estimate misses low and high as often as its z says, counted over the binomial distribution in full."""
    from scipy.stats import binom, norm

    probability, reports = 0.02, 400
    variance = probability * (1 - probability)
    noise = Noise(np.array([variance]), np.array([variance * (1 - 2 * probability)]), np.zeros(1))
    below, _ = noise.margins(reports, np.array([Z]))
    # The truth is missed where the estimate, a share of successes, is above it by more than the margin.
    missed = binom.sf(np.floor(reports * (probability + below[0])), reports, probability)
    plain = binom.sf(np.floor(reports * (probability + Z * np.sqrt(variance / reports))), reports, probability)
    assert missed < 1.1 * norm.sf(Z)
    assert plain > 2 * norm.sf(Z)
