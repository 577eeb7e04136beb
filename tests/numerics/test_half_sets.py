from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.numerics.half_sets import half_set, half_sum


def greatest_sum_up_to_half(weights):
    half = sum(weights) // 2
    subsets = (subset for size in range(len(weights) + 1) for subset in combinations(weights, size))
    return max(total for total in map(sum, subsets) if total <= half)


@given(st.lists(st.integers(0, 60), max_size=9) | st.lists(st.integers(0, 10**5), max_size=6))
def test_no_set_comes_nearer_to_half_from_below(weights):
    chosen = half_set(weights)
    assert chosen == sorted(set(chosen))
    assert sum(weights[index] for index in chosen) == greatest_sum_up_to_half(weights)


@pytest.mark.parametrize(
    ("weights", "chosen"),
    [([], []), ([0, 0], []), ([7], []), ([1, 1], [0]), ([5, 4, 3, 1], [0, 3]), ([9, 1, 1], [1, 2])],
)
def test_small_cases(weights, chosen):
    assert half_set(weights) == chosen


def test_a_table_beyond_memory_is_not_attempted():
    assert half_set([10**10, 10**10 + 1]) is None


@given(st.lists(st.integers(0, 60), max_size=9) | st.lists(st.integers(0, 10**25), max_size=9))
def test_no_sum_comes_nearer_to_half_from_below(weights):
    assert half_sum(weights) == greatest_sum_up_to_half(weights)


def test_sums_by_table_and_by_meeting_agree():
    # In other units the table would be too large.
    weights = [1 + 37 * i**3 % 1009 for i in range(24)]
    assert half_sum([weight * 10**12 for weight in weights]) == half_sum(weights) * 10**12


def test_sums_out_of_reach_are_not_attempted():
    assert half_sum([10**20 + i for i in range(41)]) is None
    assert half_sum([10**30, *(10**20 + i for i in range(50))]) == sum(10**20 + i for i in range(50))
