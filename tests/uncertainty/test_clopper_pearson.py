"""The radius from limits of Clopper and Pearson, against exact tails, all k, the exact law of counts, and scipy."""

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from laws_of_counts import PRIORS, distance, outcomes
from refusals import raises
from repetitions import examples
from scipy.special import betaincinv

import mechdesign as md
from mechdesign.numerics.exact import arb_of
from mechdesign.uncertainty import clopper_pearson_radius, failure_probability, required_samples
from mechdesign.uncertainty.binomial_tail import _around_maximum, bits_for, least_excess, log_tail, log_worst_tail
from mechdesign.uncertainty.radii import radius_exact

clopper_pearson_radius_exact, weissman_radius_exact = (
    partial(radius_exact, bound=bound) for bound in ("clopper-pearson", "weissman")
)

STEP = Fraction(1, 10**15)


def exact_tail(samples, k, q):
    return sum(math.comb(samples, j) * q**j * (1 - q) ** (samples - j) for j in range(k, samples + 1))


def exact_worst(samples, excess):
    """Return the greatest F(k) in rational arithmetic, over all k."""
    least = math.floor(samples * excess) + 1
    return max(exact_tail(samples, k, Fraction(k, samples) - excess) for k in range(least, samples + 1))


# Tails


@given(st.integers(1, 80), st.data())
def test_balls_contain_the_exact_tails(samples, data):
    k = data.draw(st.integers(1, samples))
    q = data.draw(st.fractions(0, Fraction(k, samples), max_denominator=10**6))
    if 0 < q < 1:
        with ctx.workprec(bits_for(samples)):
            found, exact = log_tail(samples, k, arb_of(q)), arb_of(exact_tail(samples, k, q)).log()
            assert found.overlaps(exact)
            assert found.rad() < 1e-15


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("samples", "k", "q"),
    [
        (10**5, 50_300, "0.5"),
        (10**6, 500_001, "0.5"),
        (10**6, 999_000, "0.99"),
        (10**9, 1_100, "1e-6"),
        (300, 300, 0.9),
    ],
)
def test_balls_contain_the_tails_that_mpmath_sums(samples, k, q):
    q = Fraction(q)
    with mpmath.workdps(50):
        # The first terms of the sum, each from the one before: the rest is below 1e-40 of it.
        p = mpmath.mpf(q.numerator) / q.denominator
        term = total = mpmath.binomial(samples, k) * p**k * (1 - p) ** (samples - k)
        for j in range(k, samples):
            term *= p / (1 - p) * (samples - j) / (j + 1)
            total += term
            if term < total * mpmath.mpf("1e-45"):
                break
        expected = mpmath.nstr(mpmath.log(total), 40)
    with ctx.workprec(bits_for(samples)):
        assert abs(log_tail(samples, k, arb_of(q)) - arb(expected)) < arb("1e-25")


@given(st.integers(1, 60), st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50))
@settings(max_examples=examples(60))
def test_the_worst_tail_is_the_greatest_of_all(samples, excess):
    with ctx.workprec(bits_for(samples)):
        found = log_worst_tail(samples, excess)
        assert found.overlaps(arb_of(exact_worst(samples, excess)).log())


@pytest.mark.combined
@pytest.mark.parametrize("samples", [257, 700, pytest.param(2_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("excess", ["0.02", "0.05", "0.2", "0.7"])
def test_the_worst_tail_of_many_samples_is_the_greatest_of_all(samples, excess):
    t = Fraction(excess)
    with ctx.workprec(bits_for(samples)):
        found = log_worst_tail(samples, t)
        k = math.floor(samples * t) + 1
        tails = [log_tail(samples, j, arb_of(Fraction(j, samples) - t)) for j in range(k, samples + 1)]
        assert not any(tail > found for tail in tails)
        assert any(tail.overlaps(found) for tail in tails)
        # They rise, then fall, as is proved for t >= 2/n.
        signs = [bool(b > a) for a, b in pairwise(tails)]
        assert signs == sorted(signs, reverse=True)


def test_no_place_is_claimed_where_none_is_proved():
    samples = 10_000
    with ctx.workprec(bits_for(samples)):
        assert log_worst_tail(samples, least_excess(samples) - STEP) is None
        assert log_worst_tail(samples, least_excess(samples)) is not None
    assert clopper_pearson_radius_exact(samples, 2, "0.999") == 2 * least_excess(samples) == Fraction(2, 400)


def test_a_worst_tail_that_neither_rises_nor_falls_throughout_is_found():
    """For t below 2/n: F falls near its end and then rises again."""
    samples, excess = 49, Fraction(72, 4_900)
    with ctx.workprec(bits_for(samples)):
        assert log_worst_tail(samples, excess).overlaps(arb_of(exact_worst(samples, excess)).log())


@pytest.mark.parametrize("guess", [0, 5, 9])
def test_neighbours_that_balls_do_not_tell_apart_are_all_kept(guess):
    """A top of equal values: whatever may be the greatest is in the range."""
    values = [arb(v) for v in (1, 2, 3)] + [arb(4, 0.01)] * 5 + [arb(3), arb(2), arb(1)]
    low, high = _around_maximum(values.__getitem__, 0, len(values) - 1, guess)
    assert low <= 3 < 7 <= high


def test_where_no_place_is_proved_the_bound_is_weissmans():
    samples, radius = 10**6, Fraction(1, 5 * 10**4)
    with ctx.workprec(bits_for(samples)):
        assert log_worst_tail(samples, radius / 2) is None
    assert failure_probability(samples, 3, radius) == failure_probability(samples, 3, radius, bound="weissman") == 1


def test_a_multiple_that_balls_cannot_tell_from_the_bound_is_decided_in_rationals():
    """One sample of two categories: 2 (1 - t) = delta exactly, at t = 0.975."""
    assert clopper_pearson_radius_exact(1, 2, "0.05") == Fraction("1.95")
    assert clopper_pearson_radius_exact(1, 2, "0.0499999999999999999999") == Fraction("1.95") + STEP


# Radii

TABLE = [
    (2, 100, "0.05", ".27162030", ".20576161"),
    (4, 100, "1e-3", ".43696253", ".38867305"),
    (5, 300, "1e-6", ".33878910", ".31422696"),
    (16, 500, "1e-9", ".35672729", ".34059602"),
    (16, 48842, "1e-9", ".03609314", ".03439048"),
    (100, 48842, "1e-9", ".06071992", ".05954212"),
]


@pytest.mark.parametrize(("categories", "samples", "delta", "weissman", "sharper"), TABLE)
def test_radii_that_were_computed_apart_from_this_package(categories, samples, delta, weissman, sharper):
    half = Fraction(1, 2 * 10**8)
    assert abs(weissman_radius_exact(samples, categories, delta) - Fraction(weissman)) <= half
    assert abs(clopper_pearson_radius_exact(samples, categories, delta) - Fraction(sharper)) <= half


@given(st.integers(1, 40), st.integers(2, 12), st.sampled_from(["1e-9", "0.001", "0.05", "0.4", "0.95", "0.999999"]))
@settings(max_examples=examples(60), deadline=None)
def test_the_radius_is_the_least_multiple_whose_exact_tails_are_small_enough(samples, categories, delta):
    radius = clopper_pearson_radius_exact(samples, categories, delta)
    level = Fraction(delta) / (2**categories - 2)
    assert radius == 2 or exact_worst(samples, radius / 2) <= level
    # One more where the real number is a multiple itself, which balls cannot tell.
    assert exact_worst(samples, radius / 2 - STEP) > level


@pytest.mark.parametrize("samples", [50, 300, 2_000])
@pytest.mark.parametrize(("categories", "delta"), [(2, 0.05), (4, 1e-3), (10, 1e-6)])
def test_scipy_finds_the_same_limits_where_it_can(samples, categories, delta):
    k = np.arange(1, samples + 1)
    lower = betaincinv(k, samples - k + 1, delta / (2**categories - 2))
    assert clopper_pearson_radius(samples, categories, delta) == pytest.approx(2 * max(k / samples - lower), abs=1e-9)


@pytest.mark.combined
@pytest.mark.parametrize("prior", [*PRIORS, ["1/2", "3/10", "1/5"], ["99/100", "1/100"]])
@pytest.mark.parametrize("delta", ["0.9", "0.5", "0.05", "0.001"])
@pytest.mark.parametrize("samples", [1, 4, 11, 20])
def test_the_true_prior_is_outside_no_more_often_than_delta_says(prior, delta, samples):
    radius = clopper_pearson_radius_exact(samples, len(prior), delta)
    outside = sum(probability for counts, probability in outcomes(prior, samples) if distance(counts, prior) > radius)
    assert outside <= Fraction(delta)


def test_the_union_bound_leaves_no_smaller_radius_for_two_categories():
    # A prior whose failure probability nearly is that of one tail: the half radius cannot be had for less.
    samples, t = 20, clopper_pearson_radius_exact(20, 2, "0.05") / 2
    near = t - Fraction(1, 10**6)
    k = max(range(math.floor(20 * near) + 1, 21), key=lambda k: exact_tail(20, k, Fraction(k, 20) - near))
    q = Fraction(k, samples) - near - Fraction(1, 10**9)
    assert sum(p for (seen, _), p in outcomes([q, 1 - q], 20) if Fraction(seen, 20) - q > near) > Fraction("0.025")


@pytest.mark.slow
@given(st.integers(1, 10**9), st.integers(2, 10**4), st.sampled_from(["1e-300", "1e-9", "0.05", "0.2"]))
@settings(max_examples=examples(60), deadline=None)
def test_it_is_never_above_weissmans_and_falls_with_delta(samples, categories, delta):
    radius = clopper_pearson_radius_exact(samples, categories, delta)
    assert 0 < radius <= weissman_radius_exact(samples, categories, delta) <= 2
    assert clopper_pearson_radius_exact(samples, categories, Fraction(delta) / 2) >= radius
    assert clopper_pearson_radius_exact(samples, categories + 1, delta) >= radius
    assert clopper_pearson_radius(samples, categories, delta) >= radius


@pytest.mark.parametrize(
    ("categories", "delta"), [(2, "0.05"), pytest.param(2, "0.95", marks=pytest.mark.slow), (3, "0.5"), (10, "1e-9")]
)
def test_it_falls_with_samples(categories, delta):
    sizes = [*range(1, 30), 200, 255, 256]
    radii = [clopper_pearson_radius_exact(samples, categories, delta) for samples in sizes]
    assert radii == sorted(radii, reverse=True)


@pytest.mark.combined
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("samples", [1, 2, 257, 10**6, 10**9, 10**15])
@pytest.mark.parametrize("categories", [2, 100, 10**4, 10**15])
@pytest.mark.parametrize("delta", ["1e-300", "0.3", "0.999999"])
def test_extreme_arguments(samples, categories, delta):
    radius = clopper_pearson_radius_exact(samples, categories, delta)
    assert 0 < radius <= weissman_radius_exact(samples, categories, delta)
    assert clopper_pearson_radius_exact(samples, categories, 0) == 2


def test_bad_arguments_are_named():
    for arguments, message in [
        ((0, 3, 0.1), "samples is 0"),
        ((5, 1, 0.1), "categories is 1"),
        ((5, 3, 1), "delta is 1"),
    ]:
        with pytest.raises(md.InputError, match=message):
            clopper_pearson_radius(*arguments)


# And back


@given(st.integers(1, 10**7), st.integers(2, 300), st.sampled_from(["1e-9", "1e-3", "0.1"]))
@settings(max_examples=examples(40), deadline=None)
def test_samples_and_failure_invert_the_radius(samples, categories, delta):
    radius = clopper_pearson_radius_exact(samples, categories, delta)
    if radius < 2:
        assert failure_probability(samples, categories, radius) <= float(delta) * (1 + 1e-15)
        if radius < 1.9:
            assert failure_probability(samples, categories, radius) == pytest.approx(float(delta), rel=1e-5)
        found = required_samples(categories, delta, radius)
        assert clopper_pearson_radius_exact(found, categories, delta) <= radius
        assert found <= samples
        if found > 1:
            assert clopper_pearson_radius_exact(found - 1, categories, delta) > radius


def test_failure_is_the_exact_worst_tail_times_the_number_of_sets():
    found = failure_probability(30, 3, "0.7")
    assert found == pytest.approx(float(6 * exact_worst(30, Fraction("0.35"))), rel=1e-14)
    assert found >= 6 * exact_worst(30, Fraction("0.35"))
    assert found < failure_probability(30, 3, "0.7", bound="weissman")
    assert failure_probability(30, 3, 0) == failure_probability(10**6, 2, "1e-5") == 1
    assert failure_probability(30, 3, 2) == 0
    assert failure_probability(10**15, 16, 1) == 5e-324


def test_bounds_are_chosen_by_name():
    assert radius_exact(50, 3, "0.1") == clopper_pearson_radius_exact(50, 3, "0.1")
    assert radius_exact(50, 3, "0.1") < weissman_radius_exact(50, 3, "0.1")
    assert required_samples(3, "0.1", "0.3", [0.8, 0.1, 0.1]) < required_samples(3, "0.1", "0.3", bound="weissman")
    for call in (required_samples, failure_probability):
        with raises("unknown-choice", "is 7", "clopper-pearson, weissman"):
            call(3, "0.1", "0.3", bound=7)
        with raises("needless-argument"):
            call(3, "0.1", "0.3", [0.8, 0.1, 0.1], bound="clopper-pearson")


# Limits as functions of the count


def test_limits_are_not_convex_in_the_count_at_one_half():
    """Of 4 samples: the limit at 3 is above the middle of those at 2 and 4."""
    half, second, fourth = Fraction(1, 2), Fraction("0.38573"), Fraction("0.8409")
    assert exact_tail(4, 2, second) > half  # so that the limit is below
    assert exact_tail(4, 4, fourth) > half
    assert exact_tail(4, 3, (second + fourth) / 2) < half  # and this one above


@pytest.mark.parametrize("level", [1e-9, 1e-3, 0.05, 0.3, 0.46])
def test_no_case_below_the_limiting_level_is_known(level):
    for samples in range(2, 120):
        counts = np.arange(1, samples + 1)
        limits = np.concatenate([[0], betaincinv(counts, samples - counts + 1, level)])
        assert np.diff(limits, 2).min() > 0
