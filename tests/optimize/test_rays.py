import math
from fractions import Fraction

import numpy as np
import pytest
from cone_lp import greatest_by_lp
from exact_rays import rays_of_ball
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, epsilons, random_ball
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.pricing import check_listable
from mechdesign.optimize.rays import Rays


def listed(ball, exp_epsilon, kinds="ABCD"):
    return np.hstack([np.empty((ball.size, 0)), *Rays(ball, exp_epsilon).of_kinds(kinds)])


@given(balls(), epsilons)
def test_every_listed_column_is_in_the_cone(ball, epsilon):
    exp_epsilon = float(md.Epsilon.of(epsilon).exp_down)
    columns = listed(ball, exp_epsilon)
    np.testing.assert_allclose(ball.prior @ columns, 1, atol=ALGEBRA)
    assert columns.min(initial=0) >= 0
    assert (columns.max(axis=0) <= exp_epsilon * ball.support(columns) + 1e-10).all()


@pytest.mark.slow
@given(balls(), epsilons, st.integers(0, 2**32))
def test_the_list_holds_a_maximiser_of_every_linear_function(ball, epsilon, seed):
    """A second side: linear programs over the cone, whose optima are at extreme rays."""
    exp_epsilon = float(md.Epsilon.of(epsilon).exp_down)
    rng = np.random.default_rng(seed)
    columns = np.c_[listed(ball, exp_epsilon), np.ones(ball.size)]
    for _ in range(3):
        a = rng.standard_normal(ball.size) * ball.prior + rng.standard_normal(ball.size) * 0.01
        np.testing.assert_allclose((a @ columns).max(), greatest_by_lp(ball, exp_epsilon, a), atol=SOLVER)


@given(balls(), epsilons, st.integers(0, 2**32))
def test_as_printed_kinds_a_and_b_are_all(ball, epsilon, seed):
    if 0 in ball.center and ball.radius == 0:
        return
    printed = md.L1Ball(ball.center, ball.radius, within_simplex=False)
    exp_epsilon = float(md.Epsilon.of(epsilon).exp_down)
    assert listed(printed, exp_epsilon, "CD").size == 0
    columns = np.c_[listed(printed, exp_epsilon, "AB"), np.ones(ball.size)]
    a = np.random.default_rng(seed).standard_normal(ball.size) * ball.prior
    np.testing.assert_allclose((a @ columns).max(), greatest_by_lp(printed, exp_epsilon, a), atol=SOLVER)


def test_without_one_kind_the_list_is_not_complete():
    """Each kind is needed: with it left out some linear function is not maximised."""
    cases = {
        "A": md.L1Ball(["0.4", "0.3", "0.3"], "0.2"),
        "B": md.L1Ball(["0.5", "0.3", "0.2"], "0"),
        "C": md.L1Ball(["0.5", "0.25", "0.04", "0.02", "0.19"], "0.4"),
        "D": md.L1Ball(["0.8", "0.15", "0.05"], "0.2"),
    }
    rng = np.random.default_rng(12)
    for kind, ball in cases.items():
        short = np.c_[listed(ball, 4.0, "ABCD".replace(kind, "")), np.ones(ball.size)]
        missed = 0.0
        for _ in range(40):
            a = rng.standard_normal(ball.size) * ball.prior
            missed = max(missed, greatest_by_lp(ball, 4.0, a) - (a @ short).max())
        assert missed > 1e-4, kind


@given(balls(), epsilons)
def test_counts_are_those_of_the_columns(ball, epsilon):
    rays = Rays(ball, float(md.Epsilon.of(epsilon).exp_down))
    for kind in "ABD":
        assert rays.count(kind) == listed(ball, rays.exp_epsilon, kind).shape[1]
    assert rays.count("C") >= listed(ball, rays.exp_epsilon, "C").shape[1]


def test_entries_are_as_exact_as_they_say():
    """Kinds A and B again in rationals, with a symbol of probability 1e-9: errors stay within what is allowed."""
    ball = md.L1Ball.from_counts([1, 7, 10**9 // 3, 10**9 - 10**9 // 3 - 8], known=True)
    P, e = ball.center, Fraction(5, 2)
    rays = Rays(ball, float(e))
    chunks = list(rays.with_errors("AB"))
    columns, errors = (np.hstack(parts) for parts in zip(*chunks, strict=True))
    checked = 0
    for v, allowed in zip(columns.T, errors.T, strict=True):
        inside = [i for i in range(4) if v[i] > 2.4999]
        odd = [i for i in range(4) if 0 < v[i] <= 2.4999]
        if len(odd) != 1:
            continue
        exact = (1 - e * sum(P[i] for i in inside)) / P[odd[0]]
        assert abs(Fraction(float(v[odd[0]])) - exact) <= Fraction(float(allowed[odd[0]]))
        checked += 1
    assert checked >= 4


def test_chunks_do_not_change_the_list(monkeypatch):
    ball = md.L1Ball(["0.4", "0.3", "0.15", "0.1", "0.05"], "0.3")
    whole = listed(ball, 2.5)
    monkeypatch.setattr("mechdesign.optimize.rays._CHUNK", 3)
    pieces = listed(ball, 2.5)
    assert {tuple(v) for v in whole.T.round(12)} == {tuple(v) for v in pieces.T.round(12)}
    assert max(columns.shape[1] for columns in Rays(ball, 2.5).of_kinds("AB")) == 3


def test_under_ldp_the_rays_are_the_staircase_columns():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], 2)
    columns = listed(ball, math.e)
    assert columns.shape == (3, 2**3 - 2)
    np.testing.assert_allclose(columns.max(axis=0) / columns.min(axis=0), math.e, atol=ALGEBRA)


def test_education_has_74_thousand_rays_of_kinds_a_and_b_and_314_thousand_in_all():
    counts = [15784, 10878, 8025, 2657, 2061, 1812, 1601, 1389, 955, 834, 756, 657, 594, 509, 247, 83]
    ball = md.L1Ball.from_counts(counts, delta="1e-9", bound="weissman")
    rays = Rays(ball, math.e)
    assert 73_500 < rays.count("AB") < 74_500
    assert 313_500 < sum(columns.shape[1] for columns in rays.of_kinds("ABCD")) < 314_500


def test_lists_too_long_for_memory_or_time_are_refused_by_their_count():
    rng = np.random.default_rng(0)
    with raises("no-method", "2^60"):
        check_listable(random_ball(rng, 60, 0), math.e)
    with raises("no-method", "22"):
        check_listable(random_ball(rng, 22, 0), math.e)
    with raises("no-method", "18"):
        check_listable(md.L1Ball.from_counts([5] * 18, radius="0.9"), math.e)


def test_columns_without_mass_are_not_listed():
    """Where 1/e is below the edge of kind C, a set of symbols without mass alone is not the support of a ray."""
    ball = md.L1Ball(["0.25"] * 4 + ["0"], radius=Fraction(1, 10**12))
    with np.errstate(divide="raise", invalid="raise"):
        assert all(np.isfinite(columns).all() for columns in Rays(ball, 2.7e43).of_kinds("ABCD"))


@pytest.mark.combined
@pytest.mark.parametrize("radius", ["0", "0.1", "0.5"])
@pytest.mark.parametrize("epsilon", [1.1, 2.0, 5.0])
@pytest.mark.parametrize("rare", ["1e-3", "1e-9", "1e-12", "1e-17"])
def test_no_exact_ray_is_above_the_listed_ones_however_rare_a_symbol_is(rare, epsilon, radius):
    """With e = 2, half of all mass leaves to a rare symbol what floats round to 0."""
    rng = np.random.default_rng(0)
    for parts in ((1, 1), (2, 1, 3), (3, 3, 1, 1)):
        rest = 1 - Fraction(rare)
        ball = md.L1Ball([Fraction(rare), *(rest * part / sum(parts) for part in parts)], radius)
        exact = np.array(list(rays_of_ball(ball.center, Fraction(radius), Fraction(epsilon))), dtype=float).T
        pricing = ListedForms(Rays(ball, epsilon))
        for _ in range(20):
            form = QuadraticForm(rng.exponential(size=ball.size) * rng.choice([0, 1], ball.size))
            multipliers = rng.normal(size=ball.size)
            greatest = float((form.values(exact - 1) - multipliers @ exact).max())
            assert pricing.price(form, multipliers).upper >= greatest - 1e-14 * (1 + abs(greatest))


@pytest.mark.combined
@pytest.mark.parametrize("radius", ["0", "0.1"])
@pytest.mark.parametrize("rare", ["1e-9", "1e-12", "1e-15"])
@pytest.mark.parametrize("objective", [md.EstimationError(), md.MutualInformation()], ids=lambda given: given.name)
def test_a_rare_symbol_does_not_widen_the_gap(objective, rare, radius):
    for size in (2, 3, 5):
        center = [Fraction(rare), *[(1 - Fraction(rare)) / (size - 1)] * (size - 1)]
        for epsilon in ("0.1", "1", "3"):
            assert md.design(md.DesignProblem(md.L1Ball(center, radius), epsilon, objective)).certified
