"""A time limit is kept by branch and bound too, with a bound that holds."""

import time

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.branch_and_bound.pricing import MOST_BOXES
from mechdesign.uncertainty import Box, EventSet

COUNTS = [900, 700, 500, 300, 200, 100, 60, 30, 1000, 800, 444, 333, 222, 111, 99, 55, 12]


def test_a_search_ends_at_the_deadline_with_a_bound_that_holds():
    pricing = BoxPricing(Box.from_counts(COUNTS[:8], "1e-9"), 2.0, md.MutualInformation())
    multipliers = np.linspace(0.02, 0.1, 8)
    whole, ended = pricing.price(multipliers), pricing.price(multipliers, deadline=time.monotonic())
    assert ended.columns == 1 < whole.columns
    assert ended.upper >= whole.upper


@pytest.mark.slow
@pytest.mark.parametrize("made", [Box, EventSet])
def test_seventeen_symbols_within_a_second(made):
    known = made.from_counts(COUNTS, "1e-9")
    started = time.monotonic()
    solved = md.design(md.DesignProblem(known, 1), time_limit=1)
    # Twenty thousand boxes would take minutes.
    assert solved.stopped == "time limit"
    assert solved.certificate.columns < MOST_BOXES / 4
    assert 0 < solved.gap < 1
    assert not solved.certified
    assert time.monotonic() - started < 60


@pytest.mark.slow
def test_the_bound_is_never_above_the_one_that_the_search_has_proved(monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.designer._FOR_THE_BOUND", 0.0)
    solved = md.design(md.DesignProblem(Box.from_counts(COUNTS, "1e-9"), 1), time_limit=0)
    assert solved.certificate.columns > 1
    assert md.verify(solved.mechanism).certificate.upper_bound <= solved.bound
