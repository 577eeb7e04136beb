"""Branch and bound near the fractional knapsack against lists of all rays, and against tables over counts."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from strategies import F_INFORMATIONS
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.optimize.certificate import certify
from mechdesign.optimize.column_generation import ColumnGeneration, solve_ray_lp
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.pricing import check_listable
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.half_enumeration import EnumerationEffort
from mechdesign.optimize.pricing.knapsack import KnapsackPricing, knapsack_search
from mechdesign.optimize.pricing.listing import reduced_costs

LEAST = EnumerationEffort(2, 2, 4, 0)


def long_ball(rng, size, radius, shape="plain", within_simplex=True):
    """A ball whose probabilities have 16 digits, so that its weights total 1e16 or so."""
    P = rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 5.0])))
    if shape == "ties":
        P[: size // 2 + 1] = P[0]
    if shape == "zeros" and Fraction(radius) > 0:
        P[: size // 3 + 1] = 0
    if shape == "dominant":
        P[0] += 2
    exact = [Fraction(repr(p)) for p in P.tolist()]
    return md.L1Ball([p / sum(exact) for p in exact], radius, within_simplex=within_simplex)


def averaged(ball, multipliers):
    """lambda as it is priced: alike for symbols of equal probability, which never raises the bound."""
    result = np.array(multipliers)
    for p in set(ball.center):
        alike = [q == p for q in ball.center]
        result[alike] = result[alike].mean()
    return result


def greatest_reduced_cost(ball, exp_epsilon, utility, multipliers):
    """By the list of all rays. On the border of a kind it has columns that are outside of the cone by rounding."""
    greatest = utility.mu(np.ones((ball.size, 1)), ball.prior)[0] - multipliers.sum()
    for columns, costs in reduced_costs(check_listable(ball, exp_epsilon), utility, multipliers):
        inside = columns.max(axis=0) <= exp_epsilon * ball.support(columns) * (1 + 1e-13)
        greatest = max(greatest, costs[inside].max(initial=-np.inf))
    return greatest


def instances(count, seed):
    rng = np.random.default_rng(seed)
    for number in range(count):
        shape = ("plain", "ties", "zeros", "dominant")[number // 4 % 4]
        radius = str(rng.choice(["0", "0.01", "0.05", "0.3", "0.9", "1.5", "2"]))
        ball = long_ball(rng, int(rng.integers(2, 9)), radius, shape, within_simplex=number % 7 != 3)
        exp_epsilon = float(rng.choice([1.05, 1.5, math.e, 6.0, 40.0]))
        utility = F_INFORMATIONS[number % 4]
        if number % 3 == 0:
            rays = check_listable(ball, exp_epsilon)
            multipliers = solve_ray_lp(rays, utility, lambda step: None).multipliers.copy()
            multipliers += rng.choice([0.0, 1e-3]) * ball.prior * rng.standard_normal(ball.size)
        else:
            multipliers = ball.prior * rng.standard_normal(ball.size) * rng.choice([0.1, 1.0])
            multipliers += rng.choice([0.0, 0.01]) * rng.standard_normal(ball.size)
        yield ball, exp_epsilon, utility, averaged(ball, multipliers)


@pytest.mark.slow
def test_the_search_and_the_list_price_alike_on_a_hundred_random_balls():
    for ball, exp_epsilon, utility, multipliers in instances(112, seed=1):
        listed = greatest_reduced_cost(ball, exp_epsilon, utility, multipliers)
        pricing = KnapsackPricing(ball, exp_epsilon, utility)
        price = pricing.price(multipliers)
        size = max(1.0, abs(listed))
        assert listed - ALGEBRA * size <= price.upper <= listed + CERTIFIED * size
        costs = utility.mu(price.best, ball.prior) - multipliers @ price.best
        assert costs.max() >= listed - CERTIFIED * size
        for columns in (price.best, pricing.guess(multipliers)):
            assert columns.min() >= 0
            np.testing.assert_allclose(ball.prior @ columns, 1, atol=ALGEBRA)
            assert (columns.max(axis=0) <= exp_epsilon * ball.support(columns) * (1 + 1e-9)).all()


@pytest.mark.slow
def test_the_bound_holds_however_little_is_looked_at(monkeypatch):
    for name in ("_GUESSED", "_QUICK", "_THOROUGH"):
        monkeypatch.setattr(knapsack_search, name, LEAST)
    for ball, exp_epsilon, utility, multipliers in instances(60, seed=2):
        listed = greatest_reduced_cost(ball, exp_epsilon, utility, multipliers)
        bound = KnapsackPricing(ball, exp_epsilon, utility).price(multipliers).upper
        assert bound >= listed - ALGEBRA * max(1.0, abs(listed))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("size", "radius"),
    [
        (20, "0"),
        pytest.param(24, "0.05", marks=pytest.mark.slow),
        pytest.param(30, "0", marks=pytest.mark.slow),
        pytest.param(26, "0.4", marks=pytest.mark.slow),
        (22, "2"),
    ],
)
def test_the_search_and_tables_price_alike(size, radius):
    rng = np.random.default_rng(size)
    counts = np.unique(1 + rng.integers(0, 900, 2 * size))[:size].tolist()
    ball = md.L1Ball.from_counts(counts, radius=radius)
    for utility in (md.MutualInformation(), md.TotalVariation()):
        multipliers = ball.prior * (0.5 + 0.2 * rng.standard_normal(len(counts)))
        tables = CountPricing(ball, math.e, utility).price(multipliers)
        price = KnapsackPricing(ball, math.e, utility).price(multipliers)
        np.testing.assert_allclose(price.upper, tables.upper, atol=1e-9)


@pytest.mark.slow
def test_the_same_bound_is_found_again():
    ball = long_ball(np.random.default_rng(5), 30, "0.05")
    multipliers = 0.5 * ball.prior * (1 + 0.1 * np.random.default_rng(6).standard_normal(30))
    pricing = KnapsackPricing(ball, math.e, md.MutualInformation())
    for thorough in (False, True):
        first, second = (pricing.price(multipliers, thorough=thorough) for _ in range(2))
        assert first.upper == second.upper
        np.testing.assert_array_equal(first.best, second.best)
        costs = pricing.utility.mu(first.best, ball.prior) - multipliers @ first.best
        assert costs.max() <= first.upper


@pytest.mark.parametrize(
    ("size", "radius"), [*(pytest.param(*of, marks=pytest.mark.slow) for of in ((20, "0.03"), (40, "0"))), (40, "2")]
)
def test_column_generation_ends_with_a_certificate(size, radius):
    ball = long_ball(np.random.default_rng(size), size, radius)
    problem = md.DesignProblem(ball, 1, md.MutualInformation())
    pricing = KnapsackPricing(ball, effective_exp_epsilon(problem), problem.utility)
    solution = ColumnGeneration(problem, pricing, lambda step: None).solve(1e-6, None)
    bound = certify(problem, solution.multipliers, pricing).upper_bound
    assert 0 <= bound - problem.utility.value(solution.matrix, ball.prior) <= 1e-6


def test_kinds_return_what_they_find_and_do_not_change():
    ball = long_ball(np.random.default_rng(3), 8, "0.3", "ties")
    multipliers = averaged(ball, 0.3 * ball.prior * np.random.default_rng(4).random(8))
    searched = KnapsackPricing(ball, math.e, md.MutualInformation())._search(multipliers)
    assert {type(kind).__name__ for kind in searched.kinds} >= {"KindA", "KindB", "KindC", "KindD"}
    for kind in searched.kinds:
        before = {name: id(value) for name, value in vars(kind).items()}
        peak = kind.relaxation(-10.0, LEAST).peak
        batches = [*kind.prefixes(), *kind.neighbours(peak), *kind.columns_above(-10.0, LEAST)]
        assert sum(batch.looked_at for batch in batches) > 0
        assert {name: id(value) for name, value in vars(kind).items()} == before
        assert kind.split(peak)
    assert searched.looked_at == 0
    assert searched.found.columns().shape == (8, 0)
    assert searched.found.greatest == -multipliers.sum()


class DropsSets(KnapsackPricing):
    """A search that loses a part of its first split: the sets that hold a certain symbol."""

    def _search(self, multipliers):
        search = super()._search(multipliers)
        search.kinds = [kind.split(None)[0][0] for kind in search.kinds]
        return search


def test_a_search_that_drops_sets_gives_a_bound_that_verification_refuses():
    ball = long_ball(np.random.default_rng(7), 6, "0")
    problem = md.DesignProblem(ball, 1)
    honest = md.design(problem)
    multipliers = 0.5 * ball.prior * (1 + np.random.default_rng(5).random(6))
    exp_epsilon = effective_exp_epsilon(problem)
    false_bound = certify(problem, multipliers, DropsSets(ball, exp_epsilon, problem.utility)).upper_bound
    true_bound = certify(problem, multipliers, KnapsackPricing(ball, exp_epsilon, problem.utility)).upper_bound
    assert false_bound < true_bound
    claim = replace(honest.mechanism.optimality, bound=false_bound, multipliers=tuple(multipliers))
    with raises("optimality-false"):
        md.verify(replace(honest.mechanism, optimality=claim))


def test_multipliers_beyond_floats_prove_nothing():
    ball = md.L1Ball(["0.5", "0.3", "0.2"])
    for multipliers in ([1.7e308] * 3, [1.7e308, -1.7e308, 1.0], [np.nan, 0.0, 0.0]):
        with np.errstate(over="ignore", invalid="ignore"):
            price = KnapsackPricing(ball, math.e, md.MutualInformation()).price(np.array(multipliers))
        assert price.upper == np.inf
