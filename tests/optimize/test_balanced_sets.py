"""A first feasible mechanism: sets of equal mass of which some combination is constant."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples
from scipy.optimize import linprog, nnls
from strategies import F_INFORMATIONS, balls, counts
from tolerances import SOLVER

import mechdesign as md
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.start import balanced_sets, ball_around, center_multipliers, start_columns
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits

exps = st.sampled_from([1 + 1e-7, 1.001, 1.125, 1.5, 2.0, math.e, 5.0, 40.0, 1e9])
pieces = st.sampled_from([Box, EventSet, L1Box, LowerLimits])


@st.composite
def cases(draw, most=12):
    """A prior, a length and an order of its symbols."""
    found = np.array(draw(counts(1, most, zeros=False)), dtype=float)
    length = draw(st.one_of(st.floats(0.001, 1.0), st.integers(1, 8).map(lambda k: k / 8)))
    rank = draw(st.permutations(range(found.size)))
    return found / found.sum(), length, np.array(rank)


def assert_balanced(prior, length, shares):
    greatest = np.minimum(1.0, length / prior)
    assert shares.shape[0] == prior.size
    assert 1 <= shares.shape[1] <= prior.size + 1
    assert (shares >= 0).all()
    assert (shares <= greatest[:, None] + 1e-12).all()
    # The last column ends the walk where rounding would take over.
    np.testing.assert_allclose(prior @ shares[:, :-1], length, rtol=0, atol=2e-12)
    np.testing.assert_allclose(prior @ shares[:, -1], length, rtol=0, atol=SOLVER)
    near = np.minimum(shares, np.abs(greatest[:, None] - shares)) <= 1e-12
    assert ((~near[:, :-1]).sum(axis=0) <= 1).all()
    weights, missed = nnls(shares, np.full(prior.size, length))
    assert missed <= SOLVER
    np.testing.assert_allclose(weights.sum(), 1, rtol=0, atol=10 * SOLVER)


@given(cases())
def test_columns_have_the_mass_asked_for_and_some_combination_is_constant(case):
    prior, length, rank = case
    assert_balanced(prior, length, balanced_sets(prior, length, rank))


@pytest.mark.parametrize("length", [0.01, 0.2, 1 / math.e, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("heavy", [1, 100, 10**7])
def test_a_symbol_heavier_than_the_length_is_never_held_whole(length, heavy):
    found = np.array([heavy, *range(1, 20)], dtype=float)
    prior = found / found.sum()
    shares = balanced_sets(prior, length, np.arange(20))
    assert_balanced(prior, length, shares)
    if prior[0] > length:
        assert shares[0].max() <= length / prior[0] + 1e-12


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_a_uniform_prior_is_balanced_by_equal_sets(size):
    prior = np.full(size, 1 / size)
    for length in (0.3, 0.5, 1.0):
        assert_balanced(prior, length, balanced_sets(prior, length, np.arange(size)))


def test_four_hundred_symbols_need_no_more_columns_than_symbols():
    rng = np.random.default_rng(2)
    found = 1 + rng.integers(0, 500, 400)
    assert_balanced(found / found.sum(), 0.4, balanced_sets(found / found.sum(), 0.4, np.arange(400)))


def test_the_order_decides_among_ties_and_nothing_else():
    prior = np.array([0.25, 0.25, 0.25, 0.25])
    first = balanced_sets(prior, 0.5, np.array([0, 1, 2, 3]))
    last = balanced_sets(prior, 0.5, np.array([3, 2, 1, 0]))
    np.testing.assert_array_equal(first[:, 0], [1, 1, 0, 0])
    np.testing.assert_array_equal(last[:, 0], [0, 0, 1, 1])
    np.testing.assert_array_equal(last, first[::-1])


def test_all_of_the_mass_is_the_constant_column():
    shares = balanced_sets(np.array([0.5, 0.3, 0.2]), 1.0, np.arange(3))
    np.testing.assert_allclose(shares, 1, rtol=1e-12)


@settings(max_examples=examples(100))
@given(balls(2, 8), exps, st.sampled_from(F_INFORMATIONS), st.booleans())
def test_the_first_columns_lie_in_the_cone_and_make_a_mechanism(ball, e, utility, printed):
    ball = ball.as_printed() if printed else ball
    columns = start_columns(ball, e, utility)
    assert (columns >= 0).all()
    np.testing.assert_allclose(ball.prior @ columns, 1, rtol=1e-9)
    room = 1e-9 * np.maximum(columns.max(axis=0), 1) + 1e-14 * e
    assert (columns.max(axis=0) <= e * ball.support(columns) + room).all()
    # Without the constant column too, where a column of two values has the greatest utility.
    for held in (columns, columns[:, 1:]):
        solved = linprog(-utility.mu(held, ball.prior), A_eq=held, b_eq=np.ones(ball.size))
        assert solved.status == 0
        assert -solved.fun >= -SOLVER


@settings(max_examples=examples(50))
@given(
    st.sampled_from([Box, EventSet, L1Box, LowerLimits]), counts(2, 6, zeros=False), st.sampled_from(["1e-9", "0.3"])
)
def test_no_prior_of_a_set_of_pieces_is_outside_the_ball_around_it(kind, found, delta):
    known = kind.from_counts(found, delta)
    values, common = known.of_every_set()
    lost = [-Fraction(value, common) for value in values]
    for S in range(len(lost)):
        lost[S] += sum(p for i, p in enumerate(known.center) if S >> i & 1)
    # Some Q has Q(S) = f(S) for any one S, and an l1 distance is twice what the set loses that loses most.
    assert 2 * max(lost) <= ball_around(known).radius <= 2


def test_the_ball_around_a_hull_ends_at_its_farthest_prior():
    hull = md.ConvexHull(
        [["0.5", "0.3", "0.2"], ["0.4", "0.4", "0.2"], ["0.45", "0.35", "0.2"]], weights=["1", "0", "0"]
    )
    ball = ball_around(hull)
    assert ball.center == hull.center
    assert ball.radius == Fraction(1, 5)


@pytest.mark.parametrize("kind", ["box", "hull"])
def test_a_design_for_many_categories_that_stops_at_once_is_worth_what_the_ball_around_its_set_gives(kind):
    counts = [round(100_000 / k) for k in range(1, 101)]
    P = [Fraction(count, sum(counts)) for count in counts]
    if kind == "box":
        known = Box([p * 9 / 10 for p in P], [p * 11 / 10 for p in P], center=P)
    else:
        known = md.ConvexHull([P, [(p + q) / 2 for p, q in zip(P, P[::-1], strict=True)]])
    found = md.design(md.DesignProblem(known, 1, md.MutualInformation()), time_limit=0.1)
    columns = start_columns(ball_around(known), math.e, md.MutualInformation())
    gains = md.MutualInformation().mu(columns, known.prior)
    first = -linprog(-gains, A_eq=columns, b_eq=np.ones(len(columns))).fun
    assert not found.certified
    assert found.value >= first - 1e-6 > 0.5


@given(balls(2, 6), exps, st.sampled_from(F_INFORMATIONS))
def test_the_first_multipliers_give_bounds(ball, e, utility):
    exact = md.DesignProblem(ball, 1, utility)
    for center in center_multipliers(ball, e, utility):
        assert center.shape == (ball.size,)
        assert np.isfinite(center).all()
        assert np.isfinite(md.optimize.certify(exact, center).upper_bound)


def test_the_first_mechanism_is_nearly_optimal():
    """Sets of equal mass lose little where symbols are many."""
    rng = np.random.default_rng(4)
    for radius in ("0", "0.05"):
        ball = md.L1Ball.from_counts((1 + rng.integers(0, 200, 30)).tolist(), radius=radius)
        columns = CountPricing(ball, math.e, md.MutualInformation()).start()
        first = -linprog(-md.MutualInformation().mu(columns, ball.prior), A_eq=columns, b_eq=np.ones(30)).fun
        assert 0.95 <= first / md.design(md.DesignProblem(ball, 1)).value <= 1 + 1e-9
