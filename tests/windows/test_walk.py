"""The greedy walk, against a linear program over all arcs of the circle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from mechdesign.windows.walk import greedy

LOADS = st.lists(st.integers(0, 9), min_size=2, max_size=9).filter(lambda loads: sum(loads) > 0)


def arcs(loads, threshold):
    """All arcs of at most the circle that hold the threshold, as first bucket and length."""
    q = len(loads)
    twice = [*loads, *loads]
    return [(a, n) for a in range(q) for n in range(1, q + 1) if sum(twice[a : a + n]) >= threshold]


@given(LOADS, st.data())
def test_no_weighted_family_of_arcs_has_more_windows_a_round(loads, data):
    threshold = data.draw(st.integers(1, sum(loads)))
    found = greedy(np.array(loads), threshold)
    q = len(loads)
    allowed = arcs(loads, threshold)
    cover = np.array([[float((b - a) % q < n) for a, n in allowed] for b in range(q)])
    best = linprog(-np.ones(len(allowed)), A_eq=cover, b_eq=np.ones(q)).fun
    assert len(found.ends) / found.rounds(q) == pytest.approx(-best, rel=1e-9)


@given(LOADS, st.data())
def test_windows_cover_every_bucket_equally_and_hold_enough(loads, data):
    threshold = data.draw(st.integers(1, sum(loads)))
    found, q = greedy(np.array(loads), threshold), len(loads)
    cover = np.zeros(q, dtype=int)
    for first, length in zip(found.firsts(q), found.lengths, strict=True):
        cover[np.arange(first, first + length) % q] += 1
    assert (cover == found.rounds(q)).all()
    assert found.sums(np.array(loads)).min() >= threshold
    assert found.start == found.firsts(q).min()
    assert set(zip(found.firsts(q).tolist(), found.lengths.tolist(), strict=True)) <= set(arcs(loads, threshold))


@given(LOADS, st.integers(0, 8), st.data())
def test_turning_the_circle_turns_the_windows(loads, turn, data):
    threshold = data.draw(st.integers(1, sum(loads)))
    one, other = greedy(np.array(loads), threshold), greedy(np.roll(loads, turn), threshold)
    assert len(one.ends) * other.rounds(len(loads)) == len(other.ends) * one.rounds(len(loads))


def test_less_than_the_threshold_has_no_windows():
    assert greedy(np.array([1, 2, 3]), 7) is None


@given(LOADS, st.data())
def test_windows_can_hold_what_some_samples_have_and_nothing_else(loads, data):
    threshold = data.draw(st.integers(1, sum(loads)))
    found, q = greedy(np.array(loads), threshold), len(loads)
    sums = found.sums(np.array(loads))
    assert found.can_hold(sums.tolist(), q)
    moved = data.draw(st.lists(st.integers(-3, 3), min_size=len(sums), max_size=len(sums)))
    other = sums + moved - np.roll(moved, 1)  # of the same total
    within = [[float((b - a) % q < n) for b in range(q)] for a, n in zip(found.firsts(q), found.lengths, strict=True)]
    possible = linprog(np.zeros(q), A_eq=[*within, [1.0] * q], b_eq=[*other, sum(loads)]).success
    assert found.can_hold(other.tolist(), q) == possible
