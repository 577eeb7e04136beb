"""Least scales far from 1: the search for them goes down as well as up."""

from fractions import Fraction

import pytest

from mechdesign.histogram.discrete import discrete_least_sigma
from mechdesign.histogram.discrete_noise import correlation
from mechdesign.histogram.zcdp import zcdp_delta


def rho(k, sigma):
    return (k + correlation(k)) / (8 * Fraction(repr(sigma)) ** 2)


@pytest.mark.parametrize(("k", "epsilon"), [(1, 700), (1, 300), (10, 700), (4, 20), (10**9, "0.001")])
@pytest.mark.parametrize(("analysis", "conversion"), [("proved", "optimal"), ("theorem-21", "lemma-17")])
def test_the_least_sigma_is_where_the_noise_alone_reaches_delta(k, epsilon, analysis, conversion):
    sigma = discrete_least_sigma(k, epsilon, "1e-6", analysis)
    assert zcdp_delta(rho(k, sigma), epsilon, conversion) < 1e-6
    assert zcdp_delta(rho(k, sigma * (1 - 1e-12)), epsilon, conversion) >= 1e-6


def test_such_scales_are_below_a_sixteenth():
    assert discrete_least_sigma(1, 700, "1e-6") < 1 / 16
