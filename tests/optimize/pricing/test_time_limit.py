"""A time limit is kept by branch and bound too, and the bound that is claimed then is one that was proved before."""

import time

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.branch_and_bound.pricing import FEW_BOXES
from mechdesign.uncertainty import Box, EventSet

COUNTS = [900, 700, 500, 300, 200, 100, 60, 30, 1000, 800, 444, 333, 222, 111, 99, 55, 12]


def pricing(deadline):
    return BoxPricing(Box.from_counts(COUNTS[:8], "1e-9"), 2.0, md.MutualInformation(), deadline)


def test_a_search_ends_at_the_deadline_with_a_bound_that_holds():
    multipliers = np.linspace(0.02, 0.1, 8)
    whole = pricing(None).price(multipliers)
    ended = pricing(time.monotonic()).price(multipliers)
    assert ended.columns == 1 < whole.columns
    assert ended.upper >= whole.upper


def test_after_the_deadline_what_was_proved_before_is_returned(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    timed, multipliers = pricing(10.0), np.linspace(0.02, 0.1, 8)
    before = timed.price(multipliers)
    now[0] = 11.0
    assert timed.price(multipliers.copy()) is before
    assert timed.price(2 * multipliers).columns == 1
    # Another pricing of the same problem has proved nothing.
    assert timed.until(10.0).price(multipliers).columns == 1
    assert timed.until(None).price(multipliers).upper == before.upper


def test_of_two_bounds_of_the_same_multipliers_the_lower_is_kept(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    timed, multipliers = pricing(10.0), np.linspace(0.02, 0.1, 8)
    rough = timed.price(multipliers, thorough=False)
    fine = timed.price(multipliers, thorough=True)
    now[0] = 11.0
    assert timed.price(multipliers, thorough=False).upper == min(rough.upper, fine.upper)


@pytest.mark.parametrize("made", [Box, pytest.param(EventSet, marks=pytest.mark.slow)])
def test_seventeen_symbols_within_a_second(made):
    known = made.from_counts(COUNTS, "1e-9")
    started = time.monotonic()
    solved = md.design(md.DesignProblem(known, 1), time_limit=1)
    # The bound rests on the few boxes that were looked at in time, and not on 20,000 more.
    assert solved.stopped == "time limit"
    assert solved.certificate.columns <= FEW_BOXES + 1
    assert 0 < solved.gap < 1
    assert not solved.certified
    assert time.monotonic() - started < 30
