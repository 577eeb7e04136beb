"""The discrete Gaussian: bounds beside sums to many digits, samples beside the exact probabilities."""

import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from chi_square import NEVER_FLAKES, p_value
from refusals import raises

from mechdesign.errors import InputError
from mechdesign.histogram import discrete_sampler as module
from mechdesign.histogram.discrete_sampler import (
    check_table_size,
    checked_variance,
    discrete_gaussian,
    gaussian_weights,
)

VARIANCES = [Fraction(1, 10**6), Fraction(1, 50), Fraction(1, 3), Fraction(2), Fraction(25, 2), Fraction(12345, 7)]


def probabilities(variance, most):
    """Of -most to most, by the definition."""
    values = np.arange(-most, most + 1)
    weights = np.exp(-(values**2) / (2 * float(variance)))
    return weights / weights.sum()


@pytest.mark.combined
@pytest.mark.parametrize("variance", VARIANCES)
@pytest.mark.parametrize("bits", [8, 64, 200])
def test_bounds_hold_the_weights_their_sum_and_the_rest(variance, bits):
    weights = gaussian_weights(variance, bits)
    with mpmath.workprec(2 * weights.places):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        scale = mpmath.mpf(2) ** weights.places
        M = len(weights.low)
        for m in range(0, M, max(1, M // 50)):
            exact = scale * mpmath.exp(-(m**2) / (2 * v))
            assert weights.low[m] <= exact <= weights.high[m]
        rest = sum(mpmath.exp(-(m**2) / (2 * v)) for m in range(M, 4 * M + 20))
        assert scale * rest <= weights.rest
        # theta_3(0, q) is the sum over all integers of q^(m^2).
        total = scale * mpmath.jtheta(3, 0, mpmath.exp(-1 / (2 * v)))
        assert weights.total_low <= total <= weights.total_high
        assert (weights.total_high - weights.total_low) * 2**bits < weights.total_low


@pytest.mark.parametrize("variance", VARIANCES)
def test_secure_samples_have_the_probabilities_of_the_definition(variance):
    n, most = 100_000, 12 * int(np.ceil(float(variance) ** 0.5)) + 3
    drawn = discrete_gaussian(variance, n)
    assert np.abs(drawn).max() <= most
    assert p_value(np.bincount(drawn + most, minlength=2 * most + 1), probabilities(variance, most)) > NEVER_FLAKES


@pytest.mark.parametrize("variance", [Fraction(1, 50), Fraction(2), Fraction(400)])
@pytest.mark.parametrize("bits", [8, 16])
def test_draws_that_few_digits_leave_open_are_completed_exactly(variance, bits):
    # With 8 digits a large share of the draws, and every tail, needs more of them.
    n, most = 20_000, 12 * int(np.ceil(float(variance) ** 0.5)) + 3
    seen = module._drawn(variance, n, np.random.default_rng(bits).bytes, bits)
    assert p_value(np.bincount(seen + most, minlength=2 * most + 1), probabilities(variance, most)) > 1e-6


def test_every_word_is_decided_as_more_digits_of_it_would_be():
    # All words of 8 digits: decided ones agree with each of their extensions by 8 more.
    variance = Fraction(7, 3)
    table, longer = (module._Cumulative.of(variance, bits) for bits in (8, 16))
    magnitudes, undecided = module._looked_up(table, np.arange(256, dtype=np.uint8))
    assert 0 < undecided.size < 40
    for word in range(256):
        single = table.decided(word)
        assert (single is None) == (word in undecided)
        if single is not None:
            assert single == magnitudes[word]
            assert {longer.decided(word << 8 | more) for more in range(256)} == {single}


def test_the_last_word_is_never_decided_by_a_table():
    # It may belong to any magnitude, however large: the tail is not cut.
    for bits in (8, 64, 128):
        assert module._Cumulative.of(Fraction(5), bits).decided(2**bits - 1) is None


def test_a_draw_in_the_far_tail():
    # Digits of 1 only, then 0: beyond what 64 digits decide.
    words = [b"\xff" * 8, b"\x00" * 8, b"\x00"]
    drawn = int(module._drawn(Fraction(1), 1, lambda size: words.pop(0), 64)[0])
    with mpmath.workprec(400):
        total = mpmath.jtheta(3, 0, mpmath.exp(-0.5))
        beyond = [2 * sum(mpmath.exp(-mpmath.mpf(x * x) / 2) for x in range(m + 1, 40)) / total for m in range(20)]
    # U = 1 - 2^-64, so |X| is the first m with P(|X| > m) < 2^-64.
    assert drawn == next(m for m, tail in enumerate(beyond) if tail < mpmath.mpf(2) ** -64)
    assert drawn >= 9


def test_variance_and_symmetry_of_many_samples():
    n, v = 400_000, 50
    drawn = discrete_gaussian(v, n, np.random.default_rng(3)).astype(float)
    exact = probabilities(v, 100) @ np.arange(-100, 101) ** 2
    assert abs(drawn.mean()) < 5 * (exact / n) ** 0.5
    assert abs((drawn**2).mean() - exact) < 5 * exact * (2 / n) ** 0.5


def test_a_generator_repeats_and_the_default_does_not():
    first, second = (discrete_gaussian("1/3", 100, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (discrete_gaussian(10**6, 100) != discrete_gaussian(10**6, 100)).any()


def test_the_default_is_the_operating_systems_randomness(monkeypatch):
    asked = []

    def source(size):
        asked.append(size)
        return bytes(size)

    monkeypatch.setattr(os, "urandom", source)
    np.testing.assert_array_equal(discrete_gaussian(4, 16), np.zeros(16))
    assert asked == [128, 2]


def test_the_variance_is_the_exact_rational_that_is_said():
    assert checked_variance(0.1) == checked_variance("1/10") == Fraction(1, 10)


def test_none_are_drawn():
    assert discrete_gaussian(3, 0).shape == (0,)


@pytest.mark.parametrize("variance", [0, -1, "nan", float("inf"), None, True])
def test_other_variances_are_refused(variance):
    with pytest.raises(InputError, match="variance"):
        discrete_gaussian(variance, 1)


@pytest.mark.parametrize("size", [-1, 1.5, True, None])
def test_other_sizes_are_refused(size):
    with raises("not-a-whole-number"):
        discrete_gaussian(1, size)


def test_a_table_too_large_is_refused_before_it_is_made():
    with raises("too-much-work", "about 8"):
        discrete_gaussian("1e300", 1)
    check_table_size(Fraction(80_000**2), 64)


def test_a_seed_is_no_generator():
    with raises("wrong-type"):
        discrete_gaussian(1, 1, 7)
