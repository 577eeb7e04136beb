"""A time limit is kept by branch and bound too, and the bound that is claimed then is one that was proved before."""

import time

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.branch_and_bound.box_search import MOST_BOXES
from mechdesign.uncertainty import Box, EventSet

COUNTS = [900, 700, 500, 300, 200, 100, 60, 30, 1000, 800, 444, 333, 222, 111, 99, 55, 12]


def test_a_search_ends_at_the_deadline_with_a_bound_that_holds():
    pricing = BoxPricing(Box.from_counts(COUNTS[:8], "1e-9"), 2.0, md.MutualInformation())
    multipliers = np.linspace(0.02, 0.1, 8)
    whole = pricing.price(multipliers)
    ended = pricing.price(multipliers, deadline=time.monotonic())
    assert ended.columns == 1 < whole.columns
    assert ended.upper >= whole.upper


@pytest.mark.slow
@pytest.mark.parametrize("made", [Box, EventSet])
def test_seventeen_symbols_at_a_time_limit(made):
    known = made.from_counts(COUNTS, "1e-9")
    started = time.process_time()
    solved = md.design(md.DesignProblem(known, 1), time_limit=4)  # a second is enough where nothing else runs
    # The bound rests on the boxes that were looked at in time, and not on as many as there may be.
    assert solved.stopped == "time limit"
    assert solved.certificate.columns < MOST_BOXES
    assert 0 < solved.gap < 1
    assert not solved.certified
    assert time.process_time() - started < 30
