"""The least count of samples in a window, against sums of binomial terms in rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows.threshold import UNITS_PER_SAMPLE, arcs, least_count, least_share, least_units


def tail(samples, k, p):
    """P[Bin(m, p) >= k], exactly."""
    return sum(math.comb(samples, j) * p**j * (1 - p) ** (samples - j) for j in range(k, samples + 1))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("samples", "epsilon", "level", "expected"),
    [(60, "1", "1e-3", 35), (200, "0.5", "1e-6", 154), (400, "2", "1e-9", 100)],
)
def test_reference_counts(samples, epsilon, level, expected):
    share = least_share(Epsilon.of(epsilon))
    assert least_count(samples, share, Fraction(level)) == expected
    assert tail(samples, expected, share) <= Fraction(level) < tail(samples, expected - 1, share)


@given(st.integers(1, 60), st.fractions(Fraction(1, 50), Fraction(49, 50)), st.integers(1, 12))
def test_it_is_the_least_count_in_rationals(samples, share, digits):
    level = Fraction(1, 10**digits)
    found = least_count(samples, share, level)
    passing = [k for k in range(math.floor(samples * share) + 1, samples + 1) if tail(samples, k, share) <= level]
    assert found == (passing[0] if passing else None)


def test_large_samples_against_floats():
    """scipy's tail, whose logarithm has errors below 1e-6 here, decides between neighbours that differ by 0.05."""
    from scipy.stats import binom

    level = Fraction(1, 10**9) / arcs(1000, 1024)
    for samples in (10**5, 10**6):
        for epsilon in ("0.1", "1", "4"):
            share = least_share(Epsilon.of(epsilon))
            found = least_count(samples, share, level)
            tails = binom.logsf([found - 1, found - 2], samples, float(share))
            assert tails[0] <= math.log(level) < tails[1]


def test_parts_of_samples_need_a_little_more():
    level = Fraction(1, 10**9) / arcs(1000, 1024)
    share = least_share(Epsilon.of("1"))
    units = least_units(10**6, share, level)
    assert units == 390_359_681_036
    assert least_count(10**6, share, level) * UNITS_PER_SAMPLE < units

    def divergence(part):
        p = float(share)
        return part * math.log(part / p) + (1 - part) * math.log((1 - part) / (1 - p))

    assert 10**6 * divergence(units / UNITS_PER_SAMPLE / 10**6) == pytest.approx(-math.log(level), rel=1e-9)


def test_the_share_is_rounded_up():
    assert least_share(Epsilon.of("1")) == Fraction(212_068_059_414_652_665, 2**59)
    for epsilon in np.linspace(0.01, 20, 50):
        share = least_share(Epsilon.of(repr(float(epsilon))))
        assert math.exp(-epsilon) * (1 - 1e-15) < share < math.exp(-epsilon) * (1 + 1e-15) + 2.0**-60


def test_too_few_samples_have_no_count():
    assert least_count(5, Fraction(1, 2), Fraction(1, 1000)) is None
    assert least_units(5, Fraction(1, 2), Fraction(1, 1000)) is None
