"""The proof that kinds A to D are all rays of the cone of an l1 ball, followed in rationals (docs/mathematics.md)."""

import math
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from exact_rays import rays_of_ball

import mechdesign as md

INSTANCES = [
    (("2/5", "3/10", "1/5", "1/10"), t, e)
    for t in ("0", "1/20", "1/10", "1/4", "2/5", "7/10", "1")
    for e in ("11/10", "3/2", "3", "20")
] + [
    (("1/4", "1/4", "1/4", "1/4"), "1/4", "4"),
    (("1/2", "1/2", "0"), "1/8", "2"),
    (("9/10", "1/10"), "1/5", "11/10"),
    # 1/e + t is the mass of a set: a generator on the border of the cone.
    (("2/5", "3/10", "3/10"), "1/5", "2"),
    (("2/5", "2/5", "1/5"), "3/10", "2"),
]


def known(instance):
    masses, t, e = instance
    return [Fraction(p) for p in masses], Fraction(t), Fraction(e)


def share(P, t, F):
    """q(F) of Lemma 1."""
    return Fraction(1) if len(F) == len(P) else max(Fraction(0), sum((P[i] for i in F), Fraction(0)) - t)


def subsets(N):
    return [frozenset(S) for size in range(1, N + 1) for S in combinations(range(N), size)]


def whole_numbers(column):
    common = math.lcm(*(Fraction(value).denominator for value in column))
    return [int(value * common) for value in column], common


def scaled(P, column):
    mean = sum(p * v for p, v in zip(P, column, strict=True))
    return tuple(v / mean for v in column)


def rays_of_chains(P, t, e):
    """Every generator within the cone, and every combination of two for which its condition is an equality."""
    N = len(P)
    sets = subsets(N)
    for T in sets:
        w_T = e * share(P, t, T) - 1
        if w_T >= 0:
            yield T, T, tuple(Fraction(i in T) for i in range(N))
        for S in sets:
            w_S = e * share(P, t, S) - 1
            if S < T and w_S < 0 < w_T:
                yield S, T, tuple(w_T * (i in S) - w_S * (i in T) for i in range(N))


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_support_function_is_a_sum_over_a_chain(instance):
    P, t, _ = known(instance)
    ball = md.L1Ball(P, 2 * t) if t > 0 else md.L1Ball(P)
    for column in permutations([5, 3, 3, 0][: len(P)]):
        order = sorted(range(len(P)), key=lambda i: -column[i])
        falls = [*[column[i] for i in order], 0]
        total = sum((falls[k] - falls[k + 1]) * share(P, t, order[: k + 1]) for k in range(len(P)))
        assert total == ball.exact_support(list(column))


@pytest.mark.parametrize("instance", INSTANCES)
def test_every_ray_of_a_chain_is_listed_or_not_extreme(instance):
    P, t, e = known(instance)
    ball = md.L1Ball(P, 2 * t) if t > 0 else md.L1Ball(P)
    c = e / (1 + t * e)
    listed = {scaled(P, column) for column in rays_of_ball(P, 2 * t, e)}
    kept = 0
    for S, T, column in rays_of_chains(P, t, e):
        integers, common = whole_numbers(column)
        support = ball.exact_support(integers) / common
        assert max(column) == e * support or (S == T and max(column) < e * support)
        one = scaled(P, column)
        if one in listed:
            kept += 1
            continue
        # Not extreme: the constant vector, or an inner point of the polytope of the proof.
        if len(T) == len(P):
            rest = frozenset(range(len(P))) - S
            assert S == T or (t == 0 and len(rest) >= 2)
            continue
        rest = T if S == T else T - S
        assert len(rest) >= 2
        assert all(0 < one[i] < c for i in rest)
        assert S == T or (all(one[i] == c for i in S) and sum(P[i] for i in S) >= t)
    assert kept >= len(P)


@pytest.mark.parametrize("instance", INSTANCES)
def test_nothing_is_listed_that_no_chain_has(instance):
    P, t, e = known(instance)
    ball = md.L1Ball(P, 2 * t) if t > 0 else md.L1Ball(P)
    chains = {scaled(P, column) for _, _, column in rays_of_chains(P, t, e)}
    for column in rays_of_ball(P, 2 * t, e):
        one = scaled(P, column)
        integers, common = whole_numbers(one)
        assert max(one) <= e * ball.exact_support(integers) / common
        # Kinds A and B where P(S) < t are columns of the ball as printed: in the cone, and not on its border.
        inside = max(one) < e * ball.exact_support(integers) / common
        assert one in chains or inside or min(one) == max(one)
