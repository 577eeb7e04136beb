"""Limits that counts do not support are told, one by one, whichever of them it is."""

import time
from fractions import Fraction

import pytest
from refusals import raises
from scipy.stats import poisson

from mechdesign.uncertainty import Box, EventSet, L1Box, LowerFunction, LowerLimits, RelativeBall
from mechdesign.uncertainty.binomial_limits import is_limit, lower_limit, upper_limit
from mechdesign.uncertainty.evidence import Evidence

COUNTS, DELTA = (40, 30, 20, 10), Fraction(1, 100)
CENTER = [Fraction(count, 100) for count in COUNTS]
EVIDENCE = Evidence(COUNTS, 100, DELTA)
NONE_STATED = Evidence(COUNTS, 100, None)


def lower_at(level):
    return [lower_limit(100, count, level) for count in COUNTS]


def upper_at(level):
    return [upper_limit(100, count, level) for count in COUNTS]


def test_lower_limits_at_a_level_that_is_not_shared_are_told():
    assert LowerLimits(lower_at(DELTA / 4), center=CENTER).excess_over(EVIDENCE) == ""
    assert "the lower limit of 'x1'" in LowerLimits(lower_at(DELTA / 2), center=CENTER).excess_over(EVIDENCE)


def test_limits_of_a_box_share_delta_on_both_sides():
    fine, sharp = DELTA / 8, DELTA / 4
    assert Box(lower_at(fine), upper_at(fine), center=CENTER).excess_over(EVIDENCE) == ""
    assert "the lower limit of" in Box(lower_at(sharp), upper_at(fine), center=CENTER).excess_over(EVIDENCE)
    assert "the upper limit of" in Box(lower_at(fine), upper_at(sharp), center=CENTER).excess_over(EVIDENCE)


def test_without_a_stated_delta_no_limit_is_supported():
    assert LowerLimits([0] * 4, center=CENTER).excess_over(NONE_STATED) == ""
    assert Box([0] * 4, [1] * 4, center=CENTER).excess_over(NONE_STATED) == ""
    assert LowerLimits(["1e-9", 0, 0, 0], center=CENTER).excess_over(NONE_STATED)
    assert Box([0] * 4, [1, 1, 1, "0.999999"], center=CENTER).excess_over(NONE_STATED)
    assert EventSet(CENTER, ["0.9"], ["0.5"]).excess_over(NONE_STATED)


def test_a_relative_ball_below_the_limits_of_all_events_is_supported_and_no_other():
    events = EventSet.from_counts(COUNTS, DELTA)
    alpha, gamma = events.alphas[-1], events.gammas[-1]
    assert RelativeBall(CENTER, alpha, gamma).supported_by(EVIDENCE).delta == DELTA
    with raises("evidence-contradicts"):
        RelativeBall(CENTER, alpha, gamma - Fraction(1, 10**4)).supported_by(EVIDENCE)


def test_a_box_in_a_ball_has_half_of_delta_for_the_limits_and_half_for_the_radius():
    made = L1Box.from_counts(COUNTS, DELTA)
    fine, sharp = DELTA / 16, DELTA / 8
    limits, upper = lower_at(fine), upper_at(fine)
    assert (made.lower, made.upper) == (tuple(limits), tuple(upper))
    assert L1Box(limits, upper, made.radius, center=CENTER).excess_over(EVIDENCE) == ""
    assert L1Box([0] * 4, [1] * 4, 2, center=CENTER).excess_over(EVIDENCE) == ""
    assert "the lower limit of" in L1Box(lower_at(sharp), upper, made.radius, center=CENTER).excess_over(EVIDENCE)
    assert "the upper limit of" in L1Box(limits, upper_at(sharp), made.radius, center=CENTER).excess_over(EVIDENCE)
    less = made.radius - Fraction(1, 10**9)
    assert "radius" in L1Box([0] * 4, [1] * 4, less, center=CENTER).excess_over(EVIDENCE)


@pytest.mark.parametrize("made", [LowerLimits, Box])
def test_samples_that_are_asserted_are_what_the_limits_are_of(made):
    few, scaled = made.from_probabilities(CENTER, DELTA, samples=10), made.from_counts((4, 3, 2, 1), DELTA)
    assert few.lower == scaled.lower
    assert few.lower[0] < made.from_counts(COUNTS, DELTA).lower[0]


@pytest.mark.parametrize("sets", [{"x1x2", "x1x3"}, {"x1x2", "x2x3"}, {"x1x3", "x2x3"}])
def test_every_two_sets_that_differ_by_a_symbol_each_are_compared(sets):
    with raises("not-supermodular"):
        LowerFunction(lambda S: Fraction(3, 5) if "".join(S) in sets else Fraction(0), ["1/3"] * 3, supermodular=True)


def test_a_symbol_that_a_function_leaves_no_mass_is_refused():
    with raises("never-occurs", "'x3'"):
        LowerFunction(lambda S: int({"x1", "x2"} <= set(S)), ["0.5", "0.5", "0"], supermodular=True)


@pytest.mark.parametrize("pair", [("x1", "x2"), ("x1", "x3"), ("x2", "x3")])
def test_every_two_symbols_are_compared(pair):
    """``f({a}) + f({b}) > f({a, b})`` for these two alone."""
    with raises("not-supermodular"):
        LowerFunction(lambda S: Fraction(any(a in S for a in pair), 5), ["1/3"] * 3, supermodular=True)


@pytest.mark.parametrize("samples", [10**9, 10**12])
def test_limits_near_1_are_decided_soon_by_their_complement(samples):
    """Arb took a second for each of these tails, or gave none, so that a file of a thousand took many minutes."""
    seen, level = samples - 1_000, Fraction(1, 10**12)
    started = time.process_time()
    limit = lower_limit(samples, seen, level)
    for q in (limit, Fraction(seen + 1, samples), 1 - Fraction(1, 10**15)):
        assert is_limit(samples, seen, q, level) == (q == limit)
    assert time.process_time() - started < 0.5
    # The 1,000 others are nearly a Poisson variable, of which at most 1,000 are seen with probability 1e-12.
    missing = float(samples * (1 - limit))
    assert poisson.cdf(1_000, missing) == pytest.approx(1e-12, rel=1e-2)
    assert not is_limit(samples, seen, limit + Fraction(1, samples), level)


@pytest.mark.parametrize("digits", [150, 300])
def test_limits_near_1_are_decided_at_tiny_levels_too(digits):
    samples, level = 10**12, Fraction(1, 10**digits)
    limit = lower_limit(samples, samples - 1_000, level)
    started = time.process_time()  # of reading: beyond floats, limits are derived by bisection
    assert is_limit(samples, samples - 1_000, limit, level)
    assert not is_limit(samples, samples - 1_000, limit + Fraction(1, 10 * samples), level)
    assert time.process_time() - started < 0.5
    assert 1_000 < samples * (1 - limit) < 20_000
