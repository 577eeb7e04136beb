"""The numbers of the cone of an l1 ball against its definition ``max v <= e h(v)``, in Fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from exact_gains_oracle import ball_support
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.optimize.closed_form.form import exact_cone, fractions
from mechdesign.optimize.l1_cone import L1Cone, greatest_between, greatest_near
from mechdesign.optimize.rays import Rays

counts = st.lists(st.integers(1, 9), min_size=2, max_size=5)
radii = st.fractions(0, 2, max_denominator=20)
ratios = st.fractions("21/20", 30, max_denominator=20)


def cone_of(weights, radius, e, within_simplex):
    total = sum(weights)
    P = fractions([Fraction(w, total) for w in weights])
    return L1Cone(P, radius / 2, e, within_simplex), md.L1Ball(P.tolist(), radius, within_simplex=within_simplex)


def on_the_border(cone, column):
    return max(column) == cone.e * ball_support(cone.P, cone.t, column, within_simplex=cone.within_simplex)


def masses_of(weights):
    """Every set but the empty and the full one, with its mass."""
    for bits in range(1, 2 ** len(weights) - 1):
        inside = [bits >> i & 1 == 1 for i in range(len(weights))]
        yield inside, Fraction(sum(w for w, i in zip(weights, inside, strict=True) if i), sum(weights))


@given(counts, radii, ratios, st.booleans())
def test_the_columns_of_all_kinds_are_on_the_border_of_the_cone(weights, radius, e, within_simplex):
    cone, _ = cone_of(weights, radius, e, within_simplex)
    for inside, mass in masses_of(weights):
        rest = 1 - mass
        heavy_enough = mass >= cone.t or not within_simplex  # else less than t can be moved away from S
        if not cone.only_d and mass <= cone.heaviest_ab and heavy_enough:
            off = cone.off_a(mass, rest)
            assert on_the_border(cone, [cone.c if i else off for i in inside])
            assert 0 <= off <= cone.c
            on, scaled = cone.whole_a(mass)
            assert (on, scaled) == (cone.c * (rest + cone.t), off * (rest + cone.t))
            for f in [k for k, i in enumerate(inside) if not i]:
                x = cone.between_b(mass, cone.P[f])
                if x <= cone.c and sum(inside) < len(inside) - 1:
                    assert on_the_border(cone, [x if k == f else cone.c * i for k, i in enumerate(inside)])
        if cone.has_cd and mass <= cone.heaviest_cd:
            assert on_the_border(cone, [cone.e if i else Fraction(1) for i in inside])


@given(counts, radii, ratios)
def test_kind_c_begins_at_its_lightest_support(weights, radius, e):
    cone, _ = cone_of(weights, radius, e, within_simplex=True)
    sets = list(masses_of(weights))
    for tops, a in sets:
        for inside, b in sets:
            if a > cone.heaviest_cd or any(top and not i for top, i in zip(tops, inside, strict=True)):
                continue
            top = cone.top_c(b)
            assert (top >= 1) == (b >= cone.lightest_support_c)
            if top >= 1:
                column = [top if s else Fraction(int(i)) for s, i in zip(tops, inside, strict=True)]
                assert on_the_border(cone, column)


def test_the_limits_of_masses_are_where_values_reach_their_ends():
    cone, _ = cone_of([5, 3, 2], Fraction(1, 5), Fraction(3), within_simplex=True)
    assert cone.c == Fraction(30, 13)
    assert cone.left_by(cone.heaviest_ab) == 0
    assert cone.off_a(cone.heaviest_ab, 1 - cone.heaviest_ab) == 0
    assert cone.top_c(cone.lightest_support_c) == 1
    # At mass t the columns of kinds A and D are the same.
    t = cone.heaviest_cd
    assert cone.c / cone.off_a(t, 1 - t) == cone.e


@pytest.mark.parametrize(
    ("radius", "within_simplex", "has_cd", "only_d"),
    [
        ("0", True, False, False),
        ("0", False, False, False),
        ("0.5", True, True, False),
        ("0.5", False, False, False),
        ("1", True, True, False),
        ("2", True, True, True),
        ("2", False, False, False),
    ],
)
def test_the_kinds_there_are_follow_from_the_radius(radius, within_simplex, has_cd, only_d):
    ball = md.L1Ball(["0.5", "0.3", "0.2"], radius, within_simplex=within_simplex)
    exact, floats = exact_cone(md.DesignProblem(ball, "log(3)")), L1Cone.of(ball, 3.0)
    for cone in (exact, floats):
        assert (cone.has_cd, cone.only_d) == (has_cd, only_d)
    listed = Rays(ball, 3.0)
    assert (listed.count("CD") > 0) == has_cd
    assert (listed.count("AB") == 0) == only_d


@given(counts, radii, ratios, st.booleans())
def test_floats_agree_with_fractions(weights, radius, e, within_simplex):
    exact, ball = cone_of(weights, radius, e, within_simplex)
    floats = L1Cone.of(ball, float(e))
    for name in ("c", "heaviest_ab", "heaviest_cd", "lightest_support_c"):
        assert getattr(floats, name) == pytest.approx(float(getattr(exact, name)), rel=1e-14)
    for _, mass in masses_of(weights):
        rest = 1 - mass
        pairs = [
            (floats.left_by(float(mass)), exact.left_by(mass)),
            (floats.off_a(float(mass), float(rest)), exact.off_a(mass, rest)),
            (floats.between_b(float(mass), float(rest)), exact.between_b(mass, rest)),
            (floats.top_c(float(mass)), exact.top_c(mass)),
        ]
        for approximate, true in pairs:
            assert approximate == pytest.approx(float(true), rel=1e-12, abs=1e-12)


def test_a_closed_form_has_the_cone_of_its_problem():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.1", within_simplex=False)
    cone = exact_cone(md.DesignProblem(ball, "log(3/2)"))
    assert (cone.P.tolist(), cone.t, cone.e) == (list(ball.center), Fraction(1, 20), Fraction(3, 2))
    assert not cone.within_simplex
    assert not cone.has_cd
    assert replace(cone, within_simplex=True).has_cd
    hull = md.ConvexHull([["0.5", "0.5"], ["0.4", "0.6"]])
    assert exact_cone(md.DesignProblem(hull, 1)) is None


def test_the_greatest_f_of_an_interval_is_at_an_end():
    rng = np.random.default_rng(1)
    ends = np.sort(rng.uniform(0, 5, (2, 200)), axis=0)
    within = rng.uniform(ends[0], ends[1], (50, 200))
    for utility in (md.MutualInformation(), md.ChiSquare(), md.TotalVariation(), md.SquaredHellinger()):
        assert (utility.f(within) <= greatest_between(utility, *ends)).all()
        middle, half = ends.mean(axis=0), (ends[1] - ends[0]) / 2
        np.testing.assert_allclose(greatest_near(utility, middle, half), greatest_between(utility, *ends), atol=1e-12)


def test_an_f_that_overflows_bounds_nothing():
    utility = md.FInformation(lambda u: np.where(u > 2000, np.nan, u * u - 1))
    assert greatest_between(utility, np.array([0.0, 1.0]), np.array([1.0, 3000.0])).tolist() == [0.0, np.inf]
