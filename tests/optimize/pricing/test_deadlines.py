"""Thorough pricings that end at a deadline: their bounds hold, and files with them are verified."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize import every_method
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing import ListedPricing, check_listable
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.knapsack import KnapsackPricing
from mechdesign.optimize.pricing.price import BallPricing, Price

CONFLICTS = md.L1Ball.from_counts([3, 5, 7, 11, 13, 17, 19], radius="0.6")
HULL = md.ConvexHull([["0.5", "0.3", "0.1", "0.1"], ["0.4", "0.2", "0.3", "0.1"], ["0.3", "0.3", "0.2", "0.2"]])
LATE = 0.0  # a time that has passed


@pytest.mark.combined
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.SquaredHellinger()], ids=lambda u: u.name)
@pytest.mark.parametrize(
    ("pricing", "known"),
    [(CountPricing, CONFLICTS), (KnapsackPricing, CONFLICTS), (BoxPricing, HULL)],
    ids=["tables", "search", "boxes"],
)
def test_a_bound_at_the_deadline_holds_and_is_not_below_the_whole_one(pricing, known, utility):
    rng, weaker = np.random.default_rng(5), 0
    rays = ListedPricing(check_listable(known, 3.0), utility)
    priced = pricing(known, 3.0, utility)
    for _ in range(1 if pricing is KnapsackPricing else 8):
        multipliers = rng.standard_normal(known.size) * known.prior
        cut, whole = (priced.price(multipliers, deadline=deadline) for deadline in (LATE, None))
        assert (cut.whole, whole.whole) == (False, True)
        assert cut.upper >= whole.upper - 1e-12 * abs(whole.upper)
        assert cut.upper >= rays.price(multipliers).upper - 1e-11
        assert cut.columns <= whole.columns
        weaker += cut.upper > whole.upper + 1e-9
    # Where the first bound is exact there is nothing left to search.
    assert weaker > 0 or priced.method == KnapsackPricing.method


@pytest.mark.slow
def test_a_search_near_the_knapsack_ends_at_the_deadline():
    """Symbols of like probability, with multipliers for which many sets are nearly as good as the best."""
    weights = np.random.default_rng(1).integers(10**11, 2 * 10**11, 40)
    ball = md.L1Ball.from_counts(weights.tolist(), radius="0.1")
    pricing = KnapsackPricing(ball, 1.5, md.MutualInformation())
    multipliers = 0.2 * ball.prior * (1 + 1e-4 * np.random.default_rng(2).standard_normal(40))
    cut, whole = (pricing.price(multipliers, deadline=deadline) for deadline in (LATE, None))
    assert cut.columns < whole.columns
    assert cut.upper > whole.upper


def test_a_quick_pricing_has_no_deadline():
    multipliers = np.random.default_rng(3).standard_normal(7) * CONFLICTS.prior
    for pricing in (CountPricing, KnapsackPricing):
        priced = pricing(CONFLICTS, 3.0, md.MutualInformation())
        quick = [priced.price(multipliers, thorough=False, deadline=deadline) for deadline in (LATE, None)]
        assert quick[0].upper == quick[1].upper
        assert not quick[0].whole


ZIPF = [int(900 / k) + 3 for k in range(1, 26)]


@pytest.mark.parametrize("limit", [0, None])
def test_a_design_asks_for_thorough_pricings_until_the_limit_only(limit, monkeypatch):
    asked, price = [], BallPricing.price

    def noted(self, multipliers, *, thorough=True, deadline=None):
        if self.ball.size == 25 and thorough:
            asked.append((deadline, multipliers.tobytes()))
        return price(self, multipliers, thorough=thorough, deadline=deadline)

    monkeypatch.setattr(BallPricing, "price", noted)
    started = time.monotonic()
    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(ZIPF, delta="1e-3"), 1), tol=1e-6, time_limit=limit)
    assert solved.certified == (limit is None)
    assert asked
    assert len({multipliers for _, multipliers in asked}) == len(asked)  # the bound is not computed twice
    if limit is None:
        assert {deadline for deadline, _ in asked} == {math.inf}
    else:
        most = time.monotonic() + every_method._FOR_THE_BOUND
        assert all(started <= deadline <= most for deadline, _ in asked)
    assert md.verify(solved.mechanism).certificate.upper_bound <= solved.upper_bound


def test_a_bound_of_a_quick_pricing_is_verified_by_one(monkeypatch):
    """Searches need not be better where they are longer; a true bound is not refused for that."""
    price = BallPricing.price

    def worse(self, multipliers, *, thorough=True, deadline=None):
        found = price(self, multipliers, thorough=thorough, deadline=deadline)
        return replace(found, upper=found.upper + 0.5) if thorough else found

    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(ZIPF, known=True), 1), tol=1e-3)
    monkeypatch.setattr(BallPricing, "price", worse)
    assert md.verify(solved.mechanism).certificate.upper_bound <= solved.upper_bound


class Weaker:
    """A pricing that proves less each time, and never looks at everything."""

    def __init__(self):
        self.upper = 1.0

    def price(self, multipliers, *, thorough=True, deadline=None):
        self.upper *= 2
        return Price(self.upper, "weaker", 1, whole=False)


def test_a_bound_that_is_known_is_not_given_up_for_a_weaker_one():
    problem = md.DesignProblem(md.L1Ball(["0.5", "0.5"]), 9)
    zeros = np.zeros(2)
    known = Solution(np.eye(2), zeros, 2, 1, stopped="time limit", price=Price(0.25, "stronger", 1, whole=False))
    assert every_method._priced_again(problem, known, Weaker(), LATE).reduced_cost == 0.25
    unknown = replace(known, price=None)
    assert every_method._priced_again(problem, unknown, Weaker(), LATE).reduced_cost == 2.0
