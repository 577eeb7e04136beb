"""Branch and bound against lists of all rays: never below, and not above by more than it says."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples
from strategies import F_INFORMATIONS, balls, hulls, random_ball, random_hull
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.numerics.exact import xlogx
from mechdesign.optimize.certificate import certify, priced_bound, reduced_cost_of
from mechdesign.optimize.column_generation import ColumnGeneration, solve_ray_lp
from mechdesign.optimize.pricing import Price, check_listable, price_by_listing
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing, price_by_boxes
from mechdesign.optimize.pricing.branch_and_bound.box_program import BoxProgram, ColumnBox, FoundColumns
from mechdesign.optimize.pricing.branch_and_bound.box_search import BoxSearch

JENSEN_SHANNON = md.FInformation(lambda u: (xlogx(u) - (1 + u) * np.log((1 + u) / 2)) / 2, name="jensen-shannon")
exps = st.sampled_from([1 + 1e-6, 1.01, 1.125, 1.5, 2.0, math.e, 5.0, 40.0, 1e4])
SMOOTH = (md.MutualInformation(), md.ChiSquare(), md.SquaredHellinger(), JENSEN_SHANNON)


def greatest_reduced_cost(uncertainty, exp_epsilon, utility, multipliers):
    """By the list of all rays, which lacks the constant column where that is the only extreme ray."""
    constant = utility.mu(np.ones((uncertainty.size, 1)), uncertainty.prior)[0] - multipliers.sum()
    price = price_by_listing(check_listable(uncertainty, exp_epsilon), utility, multipliers)
    return max(price.upper, constant)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(st.one_of(balls(), hulls()), exps, st.sampled_from(SMOOTH), st.integers(0, 2**32))
def test_boxes_and_rays_price_alike(uncertainty, exp_epsilon, utility, seed):
    rng = np.random.default_rng(seed)
    multipliers = uncertainty.prior * (rng.standard_normal(uncertainty.size) * rng.choice([0.0, 0.1, 1.0]))
    listed = greatest_reduced_cost(uncertainty, exp_epsilon, utility, multipliers)
    price = price_by_boxes(uncertainty, exp_epsilon, utility, multipliers, most_nodes=1000)
    # The list adds its rounding errors, too.
    assert price.upper >= listed - 1e-12 * max(1.0, abs(listed))
    # Where all columns of a face have the same reduced cost the search may not end by itself.
    assert price.columns >= 1000 or price.upper <= listed + CERTIFIED * max(1.0, abs(listed))


@pytest.mark.parametrize("rounds", [8, pytest.param(24, marks=pytest.mark.slow)])
def test_boxes_and_rays_price_alike_on_dozens_of_random_sets(rounds):
    rng = np.random.default_rng(20)
    for number in range(rounds):
        size, exp_epsilon = int(rng.integers(3, 8)), float(rng.choice([1.1, 1.5, math.e, 10.0]))
        of_hull = random_hull(rng, size, int(rng.integers(1, 4)))
        uncertainty = of_hull if number % 2 else random_ball(rng, size, str(rng.choice(["0", "0.02", "0.2", "2"])))
        multipliers = uncertainty.prior * rng.standard_normal(size) * rng.choice([0.3, 1.0])
        listed = greatest_reduced_cost(uncertainty, exp_epsilon, SMOOTH[number % 4], multipliers)
        price = price_by_boxes(uncertainty, exp_epsilon, SMOOTH[number % 4], multipliers)
        assert listed - ALGEBRA <= price.upper <= listed + 1e-9


@settings(max_examples=examples(15))
@given(st.one_of(balls(), hulls()), exps, st.integers(0, 2**32))
def test_the_bound_holds_where_f_has_a_kink_and_the_search_ends_early(uncertainty, exp_epsilon, seed):
    multipliers = uncertainty.prior * np.random.default_rng(seed).standard_normal(uncertainty.size) * 0.3
    listed = greatest_reduced_cost(uncertainty, exp_epsilon, md.TotalVariation(), multipliers)
    bounds = [
        price_by_boxes(uncertainty, exp_epsilon, md.TotalVariation(), multipliers, most_nodes=most).upper
        for most in (1, 20, 150)
    ]
    assert min(bounds) >= listed - ALGEBRA
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.sampled
@pytest.mark.sampled
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda utility: utility.name)
def test_boxes_and_rays_price_alike_at_the_optimum(utility):
    """There all columns of the optimal mechanism have the same reduced cost, 0, which is the hardest case."""
    rng = np.random.default_rng(4)
    for uncertainty in (random_hull(rng, 6, 2), random_hull(rng, 5, 4), random_ball(rng, 5, "0.1")):
        solution = solve_ray_lp(check_listable(uncertainty, 2.5), utility, lambda step: None)
        price = price_by_boxes(uncertainty, 2.5, utility, solution.multipliers, most_nodes=4000)
        assert -ALGEBRA <= price.upper <= CERTIFIED


@given(hulls(), exps, st.sampled_from(F_INFORMATIONS), st.integers(0, 2**32))
@settings(max_examples=examples(15))
def test_columns_found_are_in_the_cone_and_none_is_above_the_bound(hull, exp_epsilon, utility, seed):
    multipliers = hull.prior * np.random.default_rng(seed).standard_normal(hull.size) * 0.2
    oracle = BoxPricing(hull, exp_epsilon, utility)
    price = oracle.price(multipliers, thorough=False)
    for columns in (price.best, oracle.guess(multipliers), oracle.start()):
        assert columns.shape[0] == hull.size
        assert columns.min() >= 0
        np.testing.assert_allclose(hull.prior @ columns, 1, atol=ALGEBRA)
        assert (columns.max(axis=0) <= exp_epsilon * hull.support(columns) * (1 + 1e-8)).all()
        costs = utility.mu(columns, hull.prior) - multipliers @ columns
        # Solutions may be outside of the cone by a solver's tolerance.
        assert costs.max() <= price.upper + CERTIFIED * max(1.0, np.abs(columns).max())
    np.testing.assert_array_equal(oracle.start()[:, 0], 1)


def test_the_same_bound_is_found_again():
    hull = random_hull(np.random.default_rng(1), 7, 3)
    multipliers = 0.3 * hull.prior
    found = [price_by_boxes(hull, 2.0, md.MutualInformation(), multipliers, most_nodes=most) for most in (60, 60, 61)]
    assert found[0].upper == found[1].upper
    np.testing.assert_array_equal(found[0].best, found[1].best)


def test_a_target_ends_the_search_and_is_then_proved():
    hull = random_hull(np.random.default_rng(1), 8, 4)
    multipliers = 0.3 * hull.prior
    whole = price_by_boxes(hull, 2.0, md.MutualInformation(), multipliers)
    sooner = price_by_boxes(hull, 2.0, md.MutualInformation(), multipliers, target=whole.upper + 0.01)
    assert whole.upper <= sooner.upper <= whole.upper + 0.01
    assert sooner.columns < whole.columns


def test_twelve_symbols_and_twenty_priors_are_priced():
    hull = random_hull(np.random.default_rng(12), 12, 20)
    multipliers = hull.prior * np.random.default_rng(0).standard_normal(12)
    price = price_by_boxes(hull, math.e, md.MutualInformation(), multipliers)
    costs = md.MutualInformation().mu(price.best, hull.prior) - multipliers @ price.best
    assert costs.max() <= price.upper <= costs.max() + 1e-9


def test_column_generation_priced_by_boxes_reaches_the_optimum():
    """The whole way: guesses and prices only, beside the linear program over all rays."""
    hull, utility = random_hull(np.random.default_rng(6), 6, 3), md.MutualInformation()
    problem = md.DesignProblem(hull, "log(2)", utility)
    generated = ColumnGeneration(problem, BoxPricing(hull, 2.0, utility), lambda step: None).solve(1e-9, None)
    listed = solve_ray_lp(check_listable(hull, 2.0), utility, lambda step: None)
    for matrix in (generated.matrix, listed.matrix):
        np.testing.assert_allclose(utility.value(matrix, hull.prior), listed.multipliers.sum(), atol=CERTIFIED)


@pytest.mark.parametrize(
    "lie", ["optimum", "duals"], ids=["a solution that is not a maximum", "dual values that solve nothing"]
)
def test_whatever_the_solver_says_the_bound_holds(lie, monkeypatch):
    """The bound stands on weak duality: random numbers instead of dual values make it worse, never false."""
    rng = np.random.default_rng(9)
    proved, maximum = BoxProgram._proved, BoxProgram.maximum

    def with_other_duals(self, linear, box, tangents, duals):
        return proved(self, linear, box, tangents, duals + rng.standard_normal(duals.shape))

    def with_other_point(self, linear, box, deadline=None, *, proves=True):
        return maximum(self, linear, box, deadline, proves=proves)[0], rng.uniform(box.lower, box.upper)

    if lie == "duals":
        monkeypatch.setattr(BoxProgram, "_proved", with_other_duals)
    else:
        monkeypatch.setattr(BoxProgram, "maximum", with_other_point)
    for uncertainty in (random_hull(rng, 4, 3), random_ball(rng, 4, "0.2")):
        for utility in F_INFORMATIONS:
            multipliers = uncertainty.prior * rng.standard_normal(4)
            listed = greatest_reduced_cost(uncertainty, 2.0, utility, multipliers)
            assert price_by_boxes(uncertainty, 2.0, utility, multipliers, most_nodes=100).upper >= listed - ALGEBRA


def test_relaxations_are_not_below_what_they_bound():
    """Random boxes, random points in them."""
    rng = np.random.default_rng(10)
    hull = random_hull(rng, 5, 2)
    program = BoxProgram(hull, 2.0)
    for utility in (*F_INFORMATIONS, JENSEN_SHANNON):
        search = BoxSearch(program, utility, hull.prior * rng.standard_normal(5))
        for _ in range(30):
            ends, level = np.sort(rng.random((2, 5)), axis=0), float(rng.standard_normal())
            points = rng.uniform(ends[0], ends[1], (50, 5))
            q = points @ hull.prior
            box = ColumnBox(ends[0], ends[1], q.min(), q.max(), points[0])
            bound = search._relaxed(box, level)
            above = bound.constant + points @ bound.slopes + bound.slope_of_q * q - bound.bend * q**2
            true = utility.mu(points.T, hull.prior) - points @ search.multipliers - level * q
            assert (above >= true - ALGEBRA).all()


def test_a_relaxation_that_is_too_low_is_noticed(monkeypatch):
    """Guards the comparison with lists: chords of the wrong end give a bound that they refute."""
    hull = random_hull(np.random.default_rng(3), 5, 2)
    listed = greatest_reduced_cost(hull, 2.0, md.MutualInformation(), np.zeros(5))
    chords = BoxSearch._chords
    monkeypatch.setattr(BoxSearch, "_chords", lambda self, x, box: chords(self, 0.98 * x, box))
    monkeypatch.setattr(FoundColumns, "keep", lambda self, x: None)
    assert price_by_boxes(hull, 2.0, md.MutualInformation(), np.zeros(5), most_nodes=500).upper < listed - 1e-6


@pytest.mark.combined
@pytest.mark.parametrize("exp_epsilon", [1 + 1e-12, 1e4, 1e9, 1e200])
@pytest.mark.parametrize("utility", SMOOTH, ids=lambda utility: utility.name)
def test_the_bound_holds_at_the_ends_of_what_floats_hold(exp_epsilon, utility):
    """With symbols that have no mass under the reference prior, so that q may be as small as 1/e."""
    priors = [[0, "0.5", "0.3", "0.2", 0], ["0.3", 0, "0.3", "0.3", "0.1"], ["0.2"] * 5]
    hull = md.ConvexHull(priors, [1, 0, 0])
    multipliers = hull.prior * np.random.default_rng(0).standard_normal(5)
    listed = greatest_reduced_cost(hull, exp_epsilon, utility, multipliers)
    assert price_by_boxes(hull, exp_epsilon, utility, multipliers, most_nodes=150).upper >= listed - 1e-9 * abs(listed)


def test_multipliers_beyond_floats_prove_nothing():
    hull = md.ConvexHull([[Fraction(1, 2), Fraction(1, 2)]])
    for multipliers in ([1.7e308, 1.7e308], [1.7e308, -1.7e308]):
        assert price_by_boxes(hull, 1.5, md.MutualInformation(), np.array(multipliers)).upper == np.inf
    # The column (1/2, 3/2) has 1e300.
    assert price_by_boxes(hull, 1.5, md.MutualInformation(), np.array([1e300, -1e300])).upper >= 0.99e300


def test_no_program_is_solved_after_the_deadline():
    ball = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.1")
    lam = np.zeros(4)
    assert math.isfinite(price_by_boxes(ball, 2.0, md.MutualInformation(), lam, most_nodes=1).upper)
    late = price_by_boxes(ball, 2.0, md.MutualInformation(), lam, most_nodes=1, deadline=time.monotonic())
    assert late.upper == math.inf


def test_verification_ends_where_the_claimed_bound_is_proved():
    known = random_hull(np.random.default_rng(3), 7, 4)
    problem = md.DesignProblem(known, 1.0)
    multipliers = known.prior * np.linspace(-0.1, 0.3, 7)
    boxes = BoxPricing(known, math.e, problem.utility)
    whole = certify(problem, multipliers, boxes)
    for slack in (0.0, 0.01, 0.1):
        target = reduced_cost_of(multipliers, whole.upper_bound + slack)
        ended = certify(problem, multipliers, BoxPricing(known, math.e, problem.utility, target=target))
        assert whole.upper_bound - ALGEBRA <= ended.upper_bound <= whole.upper_bound + slack
        assert ended.columns <= whole.columns
    assert ended.columns < whole.columns


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6), st.floats(-1e9, 1e9))
def test_a_reduced_cost_that_is_enough_proves_the_bound(multipliers, bound):
    lam = np.array(multipliers)
    cost = reduced_cost_of(lam, bound)
    assert priced_bound(lam, lambda _: Price(cost, "", 0))[1] <= bound
