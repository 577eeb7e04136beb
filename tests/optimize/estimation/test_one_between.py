"""The bound over rays of kind B against all of these rays in rationals."""

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.weight_tables import OneBetween
from mechdesign.optimize.l1_cone import L1Cone


def ball_of(counts, radius):
    return md.L1Ball([Fraction(count, sum(counts)) for count in counts], radius)


def greatest(ball, e, d, lam):
    """The greatest ``sum_i d_i (v_i - 1)^2 - <lambda, v>`` over all rays of kind B."""
    N, c = ball.size, Fraction(e) / (1 + ball.half_radius * Fraction(e))
    D, L = ([Fraction(x) for x in side.tolist()] for side in (d, lam))
    found = []
    for f in range(N):
        for mask in range(1 << N):
            S = [i for i in range(N) if mask >> i & 1]
            x = (1 - c * sum((ball.center[i] for i in S), Fraction(0))) / ball.center[f]
            if f not in S and 0 <= x <= c:
                v = [c if i in S else x if i == f else Fraction(0) for i in range(N)]
                found.append(sum(a * (y - 1) ** 2 - b * y for a, b, y in zip(D, L, v, strict=True)))
    return max(found)


def priced(ball, e, d, lam):
    form = QuadraticForm(d)
    found = Found(form, lam)
    OneBetween(CountedSymbols.of(ball), L1Cone.of(ball, e)).price(form, lam, found)
    return found


def test_the_bound_is_that_of_all_rays_rounded_up():
    """At exp(epsilon) = 2 there are sets that leave 0 for the other symbols, where the error of x changes nothing."""
    rng = np.random.default_rng(1)
    for k in range(40):
        counts = rng.integers(1, 5, 4).tolist()
        ball = ball_of(counts, (0, "0.2")[k % 2])
        e, d, lam = (2.0, 1.7)[k // 2 % 2], rng.normal(size=4), rng.normal(size=4)
        exact, found = greatest(ball, e, d, lam), priced(ball, e, d, lam)
        assert exact <= Fraction(found.upper) <= exact + Fraction(1, 10**9)
        assert found.reached == pytest.approx(float(exact), abs=1e-9)


def test_the_error_of_the_value_between_is_counted():
    """x is a quotient of a difference that cancels and a small mass, and the multiplier asks for a small x."""
    rng = np.random.default_rng(2)
    total = 100_000
    for own in (2, 3, 5, 6, 7, 9, 11, 13):
        ball = ball_of([own, total - 2 * own, own], 0)
        e = total / (total - 2 * own + own * float(rng.uniform(0.2, 0.8)))
        d, lam = np.zeros(3), np.array([1.0, -1.0, 2.0])
        assert greatest(ball, e, d, lam) <= Fraction(priced(ball, e, d, lam).upper)


@pytest.mark.parametrize("place", [0.3, 0.5, 0.8])
def test_a_concave_form_is_greatest_between_the_ends(place):
    """Weights that are rounded give x as an interval only, inside of which the ray is better than at both ends."""
    own, S, total = 40_001, 500_000_003, 10**9
    ball = ball_of([own, S, total - own - S], 0)
    e = total / (S + own * place)
    x = e * place
    d = np.array([-1.0, 0.0, 0.0])
    lam = np.array([2 * (1 - x), -10.0, 10.0])
    exact = greatest(ball, e, d, lam)
    assert exact <= Fraction(priced(ball, e, d, lam).upper) <= exact + 1
