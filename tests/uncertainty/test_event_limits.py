"""Limits of single events and lines below the limits of all events: what is not proved is not promised."""

from fractions import Fraction

import numpy as np
import pytest

from mechdesign.uncertainty import binomial_limits, event_limits
from mechdesign.uncertainty.binomial_limits import event_level, is_limit, lower_limit
from mechdesign.uncertainty.event_limits import EventLimits, counts_of_events, log_tails_up

LEVEL = event_level(Fraction(1, 1000), 4)


def limits_of(samples, level=LEVEL):
    return EventLimits(samples, np.arange(samples + 1), level)


def test_what_balls_cannot_tell_is_not_proved():
    """``P[Bin(1, q) >= 1] = q``: the level itself, which a ball in binary does not hold exactly."""
    assert not is_limit(1, 1, Fraction(1, 3), Fraction(1, 3))
    assert is_limit(1, 1, Fraction(1, 3) - Fraction(1, 10**12), Fraction(1, 3))


@pytest.mark.parametrize("guess", [1 + 1e-9, 1 + 1e-6, 1.5, 0.0])
def test_a_poor_guess_in_floats_makes_no_limit_too_great(guess, monkeypatch):
    in_floats = binomial_limits._in_floats
    monkeypatch.setattr(binomial_limits, "_in_floats", lambda *given: guess * in_floats(*given))
    q = lower_limit(50, 20, LEVEL)
    assert is_limit(50, 20, q, LEVEL)
    assert not is_limit(50, 20, q * (1 + Fraction(2, 10**8)), LEVEL)


def test_a_level_below_all_floats_has_a_limit():
    level = Fraction(1, 10**400)
    q = lower_limit(500, 490, level)
    assert q > Fraction(1, 10)
    assert is_limit(500, 490, q, level)
    assert not is_limit(500, 490, q + Fraction(1, 10**15), level)


def test_every_count_may_occur_where_the_samples_are_not_the_total():
    for counts, samples in (((3, 1), 10), ((1,) * 17, 17)):
        assert counts_of_events(counts, samples).tolist() == list(range(samples + 1))


@pytest.mark.parametrize("samples", [40, 70, pytest.param(400, marks=pytest.mark.slow)])
def test_the_limits_of_all_counts_are_proved(samples):
    for level in (LEVEL, Fraction(1, 10**40)):
        least = limits_of(samples, level).least
        for k in {*range(40), *range(40, samples, 17), *range(samples - 32, samples + 1)} - {0}:
            q = Fraction(float(least[k]))
            assert is_limit(samples, k, q, level)
            if min(k, samples - k) <= 30:
                assert q <= lower_limit(samples, k, level)


@pytest.mark.parametrize("room", [1, 2])
def test_a_tail_is_below_the_level_only_with_its_error(room):
    seen, q = np.array([40]), np.array([0.25])
    (tail,), (error,) = log_tails_up(100, seen, q)
    for above, holds in ((0.5, False), (10.0, True)):
        level = Fraction(float(np.exp(tail))) * (1 + Fraction(above * error))
        assert limits_of(100, level)._hold(seen, q, room).tolist() == [holds]


def test_limits_in_floats_do_not_rest_on_a_guess(monkeypatch):
    monkeypatch.setattr("mechdesign.uncertainty.event_limits._STEPS", ())
    found = limits_of(100)
    least = found.least
    monkeypatch.undo()
    np.testing.assert_allclose(least, limits_of(100).least, atol=1e-12)
    assert all(is_limit(100, k, Fraction(float(least[k])), LEVEL) for k in range(1, 101))


@pytest.mark.parametrize("alpha", ["0.3", "2/3", "1", "1.7", "1000.1", "123456.7"])
def test_a_line_of_the_least_gamma_is_below_all_limits(alpha):
    slope = Fraction(alpha)
    for samples in (7, 23, 70):
        limits = limits_of(samples)
        gamma = limits.least_gamma(slope)
        assert gamma >= max(0, slope - 1)
        for k, least in enumerate(limits.least.tolist()):
            assert slope * Fraction(k, samples) - gamma <= Fraction(least)
        assert limits.allows((slope, gamma))


def test_a_line_above_a_limit_is_refused_though_floats_do_not_show_it():
    """A steep line through the limit of all samples: a gamma of 10^6 has ten digits after the point as a float."""
    limits, alpha = limits_of(20), Fraction(10**6)
    exact = lower_limit(20, 20, LEVEL)
    for excess in range(5, 200, 5):
        q = exact * (1 + Fraction(1, 10**12)) + Fraction(excess, 10**12)
        assert not is_limit(20, 20, q, LEVEL)
        assert not limits.allows((alpha, alpha - q))


@pytest.mark.parametrize("samples", [20, 200])
def test_a_line_just_above_a_limit_is_refused(samples):
    limits = limits_of(samples)
    k = int(np.argmax(limits.shares - limits.least))
    for excess in (Fraction(2, 10**12), Fraction(6, 10**12), Fraction(1, 10**9)):
        q = Fraction(float(limits.least[k])) + excess
        assert not is_limit(samples, k, q, LEVEL)
        assert not limits.allows((Fraction(1), Fraction(k, samples) - q))


@pytest.mark.parametrize("samples", [23, *(pytest.param(samples, marks=pytest.mark.slow) for samples in (60, 400))])
def test_lines_together_are_allowed_if_each_is(samples):
    limits = limits_of(samples)
    lines = limits.lines()
    assert len(lines) > 2
    assert limits.allows(*lines)
    for place, (alpha, gamma) in enumerate(lines):
        higher = [*lines[:place], (alpha, gamma - Fraction(1, 10**10)), *lines[place + 1 :]]
        assert limits.allows(*higher) is limits.allows(higher[place])
    assert not limits.allows(*lines[:-1], (lines[-1][0], lines[-1][1] - Fraction(1, 10**10)))


@pytest.mark.sampled
@pytest.mark.parametrize("tails", [np.nan, np.inf, 0.0])
def test_where_floats_prove_nothing_exact_tails_decide(tails, monkeypatch):
    limits, asked = limits_of(100), []
    (alpha, gamma), *_ = lines = limits.lines()
    monkeypatch.setattr(event_limits, "log_tails_up", lambda n, k, q: (np.full(k.size, tails), np.zeros(k.size)))
    monkeypatch.setattr(event_limits, "is_limit", lambda *given: asked.append(given) or is_limit(*given))
    assert limits.allows(*lines)
    assert {31, 50, 69} <= {k for _, k, _, _ in asked}
    assert not limits.allows((alpha, gamma - Fraction(1, 10**9)))


@pytest.mark.parametrize("symbols", [300, pytest.param(1_200, marks=pytest.mark.slow)])
def test_a_set_of_many_samples_is_read_without_its_limits(monkeypatch, symbols):
    """They take seconds where the level is below all floats, as for 1,200 symbols."""
    evidence = ((1,) * symbols, 20_000, Fraction(1, 10**9))
    lines = EventLimits.of(*evidence).lines(5)
    monkeypatch.setattr(EventLimits, "least", property(lambda limits: pytest.fail("limits were computed")))
    assert EventLimits.of(*evidence).allows(*lines)
