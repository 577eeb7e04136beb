"""Symbols of equal probability: one row for all of them, and the way back."""

import numpy as np
import pytest
from clocks import limit_work
from hypothesis import given
from hypothesis import strategies as st
from strategies import F_INFORMATIONS, balls
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.optimize.orbits import Orbits

sizes_of_groups = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def shuffled(sizes, rng):
    """Return groups of these sizes over shuffled symbols."""
    names = rng.permutation(sum(sizes)).tolist()
    ends = np.cumsum(sizes).tolist()
    return Orbits(tuple(tuple(names[end - size : end]) for size, end in zip(sizes, ends, strict=True)))


def averaged(orbits, columns):
    """Return each column with every symbol's value replaced by its group's mean."""
    result = columns.copy()
    for group in orbits.groups:
        result[list(group)] = columns[list(group)].mean(axis=0)
    return result


@given(sizes_of_groups, st.integers(0, 2**32), st.integers(1, 4))
def test_turned_columns_sum_to_the_average_over_groups(sizes, seed, count):
    rng = np.random.default_rng(seed)
    orbits = shuffled(sizes, rng)
    columns = rng.integers(0, 3, (sum(sizes), count)) * rng.random(count)
    turned = orbits.turned(columns)
    np.testing.assert_allclose(turned.sum(axis=1), averaged(orbits, columns).sum(axis=1), rtol=0, atol=ALGEBRA)


@given(sizes_of_groups, st.integers(0, 2**32))
def test_a_turned_column_is_a_permutation_within_groups_times_a_weight(sizes, seed):
    rng = np.random.default_rng(seed)
    orbits = shuffled(sizes, rng)
    column = 1 + rng.integers(0, 3, (sum(sizes), 1)).astype(float)
    turned = orbits.turned(column)
    weights = turned.sum(axis=0) / column.sum()
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(), 1, rtol=ALGEBRA)
    for k, weight in enumerate(weights):
        for group in orbits.groups:
            expected = np.sort(column[list(group), 0])
            np.testing.assert_allclose(np.sort(turned[list(group), k]) / weight, expected, rtol=ALGEBRA)


@given(sizes_of_groups, st.integers(0, 2**32))
def test_a_turned_column_has_no_more_positions_than_its_groups_have_symbols(sizes, seed):
    rng = np.random.default_rng(seed)
    orbits = shuffled(sizes, rng)
    column = rng.integers(0, 2, (sum(sizes), 1)).astype(float)
    turning = [len(group) for group in orbits.groups if np.ptp(column[list(group)]) > 0]
    assert orbits.turned(column).shape[1] <= max(1, sum(n - 1 for n in turning) + 1)


@given(balls(2, 6), st.sampled_from(F_INFORMATIONS), st.integers(0, 2**32))
def test_turning_changes_neither_privacy_nor_utility(ball, utility, seed):
    rng = np.random.default_rng(seed)
    orbits = Orbits.of(md.DesignProblem(ball, 1, utility))
    columns = rng.integers(0, 4, (ball.size, 3)).astype(float)
    turned = orbits.turned(columns)
    before, after = utility.mu(columns, ball.prior).sum(), utility.mu(turned, ball.prior).sum()
    np.testing.assert_allclose(after, before, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ball.support(turned).sum(), ball.support(columns).sum(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(turned.max(axis=0).sum(), columns.max(axis=0).sum(), rtol=1e-10)


@given(sizes_of_groups, st.integers(0, 2**32))
def test_folded_columns_and_spread_multipliers_keep_products(sizes, seed):
    """``<spread(m), v> = <m, fold(v)>``, so that reduced costs are those of the smaller program."""
    rng = np.random.default_rng(seed)
    orbits = shuffled(sizes, rng)
    columns, multipliers = rng.random((sum(sizes), 4)), rng.standard_normal(len(sizes))
    spread = orbits.spread(multipliers)
    np.testing.assert_allclose(spread @ columns, multipliers @ orbits.fold(columns), rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(spread.sum(), multipliers.sum(), rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(orbits.fold(averaged(orbits, columns)), orbits.fold(columns), rtol=0, atol=ALGEBRA)


def test_symbols_of_equal_probability_are_one_group():
    ball = md.L1Ball.from_counts([3, 0, 3, 5, 0, 3], radius="0.1")
    assert Orbits.of(md.DesignProblem(ball, 1)).groups == ((0, 2, 5), (1, 4), (3,))
    assert not Orbits.of(md.DesignProblem(ball, 1)).trivial
    assert Orbits.of(md.DesignProblem(md.L1Ball.from_counts([1, 2, 3], known=True), 1)).trivial


@pytest.mark.parametrize(
    ("known", "utility"),
    [
        (md.ConvexHull([["0.5", "0.5"], ["0.4", "0.6"]]), md.MutualInformation()),
        (md.L1Ball(["0.5", "0.5"]), md.ExpectedGain([["1", "0"], ["0", "2"]])),
        (md.L1Ball.from_counts(list(range(1, 258)) + [1] * 3, known=True), md.MutualInformation()),
    ],
    ids=["hull", "utility that tells categories apart", "too many groups"],
)
def test_symbols_that_are_told_apart_stay_single(known, utility):
    orbits = Orbits.of(md.DesignProblem(known, 1, utility))
    assert orbits.trivial
    assert orbits.groups == tuple((k,) for k in range(known.size))


@pytest.mark.parametrize(("size", "rows"), [(200, 40), (1_000, 1_000), (1_600, 1_600)])
def test_many_groups_and_thousands_of_symbols_are_not_turned(size, rows):
    counts = [1 + k % 40 for k in range(size)]
    assert len(Orbits.of(md.DesignProblem(md.L1Ball.from_counts(counts, known=True), 1)).groups) == rows
    few = Orbits.of(md.DesignProblem(md.L1Ball.from_counts([1 + k % 4 for k in range(size)], known=True), 1))
    assert len(few.groups) == (4 if size <= 1_500 else size)


@pytest.mark.slow
@pytest.mark.parametrize("known", [{"radius": 0}, {"delta": "1e-9"}, {"radius": 2}], ids=["known", "delta", "LDP"])
def test_four_thousand_symbols_of_two_counts_are_certified(known, monkeypatch):
    """Turned columns would be eight thousand of four thousand entries each."""
    limit_work(monkeypatch)
    counts = [83 + (k < 2_264) for k in range(4_000)]
    design = md.design(md.DesignProblem(md.L1Ball.from_counts(counts, **known), 1), tol=1e-3, time_limit=30)
    assert design.certified
    assert design.stopped == ""
