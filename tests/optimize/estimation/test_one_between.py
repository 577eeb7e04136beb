"""The bound over rays of kind B against all of these rays in rationals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.one_between import OneBetween
from mechdesign.optimize.l1_cone import L1Cone


def ball_of(counts, radius):
    return md.L1Ball([Fraction(count, sum(counts)) for count in counts], radius)


def greatest(ball, e, d, lam, common=0.0, least=0.0):
    """The greatest ``sum_i d_i (v_i - 1)^2 + B (sum_i v_i - N)^2 - <lambda, v>`` over images of all rays of kind B."""
    a, B = Fraction(least), Fraction(common)
    N, c = ball.size, Fraction(e) / (1 + ball.half_radius * Fraction(e))
    D, L = ([Fraction(x) for x in side.tolist()] for side in (d, lam))
    found = []
    for f in range(N):
        for mask in range(1 << N):
            S = [i for i in range(N) if mask >> i & 1]
            x = (1 - c * sum((ball.center[i] for i in S), Fraction(0))) / ball.center[f]
            if f not in S and 0 <= x <= c:
                u = [c if i in S else x if i == f else Fraction(0) for i in range(N)]
                # The greatest entry of a column of kind B is taken for c, though it is x where S is empty.
                v = [((1 - a) * y + a * c) / (1 - a + a * c) for y in u]
                value = sum(p * (y - 1) ** 2 - q * y for p, q, y in zip(D, L, v, strict=True))
                found.append(value + B * (sum(v) - N) ** 2)
    return max(found)


def priced(ball, e, d, lam, common=0.0, least=0.0):
    form = QuadraticForm(d, common)
    found = Found(form, lam)
    cone = replace(L1Cone.of(ball, e), least=least)
    OneBetween(CountedSymbols.of(ball), cone).price(form, lam, found)
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


@pytest.mark.slow
def test_the_bound_with_a_common_number_is_above_all_rays_and_near_the_greatest():
    """Each kappa proves a bound; the best of some is the greatest value but where no kappa has the set of it."""
    rng = np.random.default_rng(3)
    apart = []
    for k in range(120):
        N = int(rng.integers(3, 7))
        ball = ball_of(rng.integers(1, 9, N).tolist(), (0, "0.2")[k % 2])
        e, least = (2.0, 1.75)[k // 2 % 2], (0.0, 0.125)[k // 4 % 2]
        d, lam, common = rng.normal(0.5, 1, N), rng.normal(size=N), -float(rng.exponential(0.5))
        exact, found = greatest(ball, e, d, lam, common, least), priced(ball, e, d, lam, common, least)
        assert exact <= Fraction(found.upper)
        apart.append(found.upper - float(exact))
    assert np.mean(np.array(apart) <= 1e-9) >= 0.5
    assert np.median(apart) <= 1e-9
    assert max(apart) < 1


def test_large_common_numbers_leave_the_rounding_errors_of_their_kappas():
    rng = np.random.default_rng(4)
    for common in -np.logspace(0, 12, 25):
        ball = ball_of(rng.integers(1, 9, 4).tolist(), 0)
        d, lam = rng.normal(0.5, 1, 4), rng.normal(size=4)
        assert greatest(ball, 1.75, d, lam, common, 0.125) <= Fraction(priced(ball, 1.75, d, lam, common, 0.125).upper)


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
