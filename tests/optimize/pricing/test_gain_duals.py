"""Whatever is proposed for y and Q, the bound of a gain utility holds; what misses room by little costs little."""

import math
from fractions import Fraction
from functools import cache

import exact_gains_oracle as oracle
import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing import price_by_guess

GAINS = [[3, 0, 1, 0], [0, 2, 0, 5], [1, 1, 1, -2]]
PROPOSED_WHERE = "mechdesign.optimize.pricing.gain_duals.ball_duals"
SETS = {
    "known": md.L1Ball(["0.4", "0.3", "0.2", "0.1"]),
    "ball": md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.3"),
    "unseen": md.L1Ball(["0.5", "0.3", "0.2", "0"], "0.3"),
}


@cache
def greatest(name, multipliers):
    """Return the greatest reduced cost over all rays of a set, which no proposal changes."""
    return oracle.greatest_reduced_cost(SETS[name], Fraction(5, 2), GAINS, [Fraction(x) for x in multipliers])


@pytest.mark.combined
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf, -1.0, -1e-3, 0.0, 1e-9, 0.3, 1e9])
def test_the_bound_holds_for_any_weight_and_member(name, y, monkeypatch):
    known, rng = SETS[name], np.random.default_rng(3)
    for moved in ([0, 0, 0, 0], [-0.1, 0, 0, 0.1], [0.15, -0.15, 0, 0], [0, 0, -0.1, 0.1]):
        Q = known.prior + (0 if name == "known" else 1) * np.array(moved)
        lie = (None, np.full(len(GAINS), y), np.tile(Q, (len(GAINS), 1)))
        monkeypatch.setattr(PROPOSED_WHERE, lambda *given, lie=lie: lie)
        for multipliers in rng.standard_normal((3, 4)):
            price = price_by_guess(known, 2.5, md.ExpectedGain(GAINS), multipliers)
            assert price.upper >= greatest(name, tuple(multipliers.tolist()))


@pytest.mark.combined
@pytest.mark.parametrize("exp_epsilon", [2.5, 1e3, 1e5])
@pytest.mark.parametrize("excess", [1e-13, 1e-11])
def test_a_prior_that_gives_an_unseen_symbol_too_much_costs_as_little(exp_epsilon, excess):
    class Off(md.L1Ball):
        def member_near(self, Q):
            near = super().member_near(Q).copy()
            near[3] += excess
            return near

    ball = SETS["unseen"]
    rng = np.random.default_rng(4)
    for multipliers in rng.standard_normal((6, 4)) - [0, 0, 0, 2]:
        right = price_by_guess(ball, exp_epsilon, md.ExpectedGain(GAINS), multipliers).upper
        off = price_by_guess(Off(ball.center, ball.radius), exp_epsilon, md.ExpectedGain(GAINS), multipliers).upper
        assert right < math.inf
        # What is missing is y times the excess, and adding to y costs exp(epsilon) times that.
        assert right - 1e-9 <= off <= right + 16 * excess * exp_epsilon * (abs(right) + 1)


@pytest.mark.parametrize("exp_epsilon", [2.5e13, 4e13])
def test_more_is_tried_where_adding_what_is_missing_adds_rounding(exp_epsilon):
    for multipliers in np.random.default_rng(4).standard_normal((4, 4)) - [0, 0, 0, 2]:
        assert price_by_guess(SETS["unseen"], exp_epsilon, md.ExpectedGain(GAINS), multipliers).upper < math.inf
