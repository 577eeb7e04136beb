"""Limits that counts do not support are told, one by one, whichever of them it is."""

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerFunction, LowerLimits, RelativeBall
from mechdesign.uncertainty.binomial_limits import lower_limit, upper_limit
from mechdesign.uncertainty.l1_ball import Evidence

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
    with pytest.raises(md.InputError, match=r"gamma .* is below .*; use from_counts"):
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
def test_other_samples_than_the_total_are_what_the_limits_are_of(made):
    few, scaled = made.from_counts(COUNTS, DELTA, samples=10), made.from_counts((4, 3, 2, 1), DELTA)
    assert few.lower == scaled.lower
    assert few.lower[0] < made.from_counts(COUNTS, DELTA).lower[0]


@pytest.mark.parametrize("sets", [{"x1x2", "x1x3"}, {"x1x2", "x2x3"}, {"x1x3", "x2x3"}])
def test_every_two_sets_that_differ_by_a_symbol_each_are_compared(sets):
    with pytest.raises(md.InputError, match="f is not supermodular"):
        LowerFunction(lambda S: Fraction(3, 5) if "".join(S) in sets else Fraction(0), ["1/3"] * 3, supermodular=True)


def test_a_symbol_that_a_function_leaves_no_mass_is_refused():
    with pytest.raises(md.InputError, match="'x3' has probability 0 under every prior"):
        LowerFunction(lambda S: int({"x1", "x2"} <= set(S)), ["0.5", "0.5", "0"], supermodular=True)


@pytest.mark.parametrize("pair", [("x1", "x2"), ("x1", "x3"), ("x2", "x3")])
def test_every_two_symbols_are_compared(pair):
    """``f({a}) + f({b}) > f({a, b})`` for these two alone."""
    with pytest.raises(md.InputError, match="f is not supermodular"):
        LowerFunction(lambda S: Fraction(any(a in S for a in pair), 5), ["1/3"] * 3, supermodular=True)
