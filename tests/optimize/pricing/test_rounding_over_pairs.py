"""Reduced costs of pairs of sets are rounded up: against rationals, for a utility that is one."""

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing.pairs_both_sides import TwoSidedPairPricing
from mechdesign.optimize.pricing.pairs_of_sets import PairPricing, _sums
from mechdesign.uncertainty import LowerLimits
from mechdesign.uncertainty.base import Floor


def exact_cost(pricing, S, T, multipliers):
    """``mu(v) - <lambda, v>`` of the column of a pair for the square of v - 1, in rationals."""
    known, e = pricing.known, Fraction(pricing.exp_epsilon)

    def members(mask):
        return [i for i in range(known.size) if mask >> i & 1]

    below, above = (e * known.least_mass(members(mask)) - 1 for mask in (S, T))
    share = -below / (above - below) if S != T else Fraction(1)
    v = [Fraction(1) if S >> i & 1 else share if T >> i & 1 else Fraction(0) for i in range(known.size)]
    mass = sum(p * x for p, x in zip(known.center, v, strict=True))
    v = [x / mass for x in v]
    paid = sum(Fraction(m) * x for m, x in zip(multipliers.tolist(), v, strict=True))
    return sum(p * (x - 1) ** 2 for p, x in zip(known.center, v, strict=True)) - paid


def compared(known, e, multipliers):
    """The bounds of all pairs, and their exact reduced costs."""
    pricing = PairPricing(known, e, md.ChiSquare())
    sums = _sums(multipliers), _sums(np.abs(multipliers))
    uppers, exact = [], []
    for below, above in pricing._states():
        uppers += pricing._costs(below, above, *sums).tolist()
        exact += [exact_cost(pricing, S, T, multipliers) for S, T in zip(below.tolist(), above.tolist(), strict=True)]
    assert pricing.price(multipliers).upper == max(uppers)
    return uppers, exact


def some_limits(rng):
    center = rng.integers(1, 10**6, 4)
    P = [Fraction(int(p), int(center.sum())) for p in center]
    return LowerLimits([p * Fraction(int(k), 10) for p, k in zip(P, rng.integers(5, 10, 4), strict=True)], center=P)


@pytest.mark.parametrize("size", [0.0, 1e9], ids=["of the utility", "of the multipliers"])
def test_the_rounding_error_is_counted(size):
    rng = np.random.default_rng(3)
    for _ in range(8):
        multipliers = size * rng.normal(size=4)
        uppers, exact = compared(some_limits(rng), 2.0, multipliers)
        assert all(Fraction(x) >= y for x, y in zip(uppers, exact, strict=True))
        assert max(uppers) < float(max(exact)) + 1e-11 * (1 + size)


def test_a_share_that_floats_do_not_give_is_bounded():
    """g of two sets is so near to 0 that their quotient is not computed, and a multiplier asks for it."""
    tiny = Fraction(1, 10**310)
    lower = [Fraction(1, 2) - 99 * tiny, 100 * tiny, 0]
    uppers, exact = compared(LowerLimits(lower, center=["0.6", "0.3", "0.1"]), 2.0, np.array([0.0, -9.0, 9.0]))
    assert max(exact) > 5
    assert all(x >= y for x, y in zip(uppers, exact, strict=True))


def exact_cost_of_both_sides(pricing, S, T, multipliers):
    """As `exact_cost`, for a promise on both sides, from the formulas of the rays in rationals."""
    known, b, a = pricing.known, Fraction(pricing.exp_epsilon), pricing.floor.least_lift
    symbols = range(known.size)

    def least(mask):
        return known.least_mass([i for i in symbols if mask >> i & 1])

    def greatest(mask):
        return 1 - least((1 << known.size) - 1 & ~mask)

    def x(mask):
        return (1 - 1 / b) * (1 - a + a * greatest(mask)) - (1 - a) * (1 - least(mask))

    if S == T:
        off = 1 if (1 << known.size) - 1 == S else max((1 / b - least(S)) / (1 - least(S)), _floor(a, greatest(S)))
        v = [Fraction(1) if S >> i & 1 else off for i in symbols]
    else:
        d = x(T), -x(S), a * (x(T) * greatest(S) - x(S) * greatest(T)) / (1 - a)
        v = [sum(d) if S >> i & 1 else d[1] + d[2] if T >> i & 1 else d[2] for i in symbols]
    mass = sum(p * value for p, value in zip(known.center, v, strict=True))
    v = [value / mass for value in v]
    paid = sum(Fraction(m) * value for m, value in zip(multipliers.tolist(), v, strict=True))
    return sum(p * (value - 1) ** 2 for p, value in zip(known.center, v, strict=True)) - paid


def _floor(a, greatest):
    return a * greatest / (1 - a + a * greatest)


@pytest.mark.parametrize("size", [0.0, 1e9], ids=["of the utility", "of the multipliers"])
def test_the_rounding_error_for_both_sides_is_counted(size):
    rng = np.random.default_rng(4)
    for lift in (Fraction(1, 2), Fraction(1, 50), Fraction(19, 20)):
        multipliers = size * rng.normal(size=4)
        pricing = TwoSidedPairPricing(some_limits(rng), 2.0, md.ChiSquare(), Floor(lift))
        sums, uppers, exact = (_sums(multipliers), _sums(np.abs(multipliers))), [], []
        for below, above in pricing._states():
            uppers += pricing._costs(below, above, *sums).tolist()
            pairs = zip(below.tolist(), above.tolist(), strict=True)
            exact += [exact_cost_of_both_sides(pricing, S, T, multipliers) for S, T in pairs]
        assert len(exact) >= 15
        assert all(Fraction(x) >= y for x, y in zip(uppers, exact, strict=True))
        assert max(uppers) < float(max(exact)) + 1e-11 * (1 + size)
