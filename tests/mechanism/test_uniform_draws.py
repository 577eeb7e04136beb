from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from mechdesign.mechanism.uniform_draws import drawn_records


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_each_set_of_records_is_equally_likely(size):
    """The counts that are drawn against all sets of as many of six records."""
    kinds = [0, 0, 0, 1, 1, 2]
    every = Counter(tuple(np.bincount(kept, minlength=3)) for kept in combinations(kinds, size))
    rng = np.random.default_rng(3)
    drawn = Counter(tuple(drawn_records(np.bincount(kinds), size, rng.bytes)) for _ in range(4_000))
    assert set(drawn) <= set(every)
    expected = np.array(list(every.values()))
    assert chisquare([drawn[kept] for kept in every], 4_000 * expected / expected.sum()).pvalue > 1e-5


@given(st.lists(st.integers(0, 30), min_size=1).filter(any), st.data())
def test_as_many_are_drawn_as_asked_for(counts, data):
    size = data.draw(st.integers(0, sum(counts)))
    taken = drawn_records(np.array(counts), size, np.random.default_rng(0).bytes)
    assert taken.sum() == size
    assert (taken >= 0).all()
    assert (taken <= counts).all()
