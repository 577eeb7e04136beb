from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.optimize import linprog
from strategies import balls, random_ball
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign.uncertainty.bounds_of_counts import observed_radius_exact
from mechdesign.uncertainty.radii import radius_exact

columns = st.lists(st.integers(0, 1000), min_size=5, max_size=5)


def least_mean_by_lp(ball, v):
    """Minimise <Q, v> over the ball with a solver: variables Q and its distances to the center."""
    N, P = ball.size, ball.prior
    eye = np.eye(N)
    solution = linprog(
        np.r_[v, np.zeros(N)],
        A_ub=np.block([[eye, -eye], [-eye, -eye], [np.zeros((1, N)), np.ones((1, N))]]),
        b_ub=np.r_[P, -P, float(ball.radius)],
        A_eq=np.r_[np.ones(N), np.zeros(N)][None, :],
        b_eq=[1.0],
        bounds=(0, None),
    )
    return solution.fun


@given(balls(), columns)
def test_support_is_the_least_mean_over_the_ball(ball, integers):
    v = np.array(integers[: ball.size], dtype=float)
    support, worst = ball.worst_mean(v)
    np.testing.assert_allclose(support, least_mean_by_lp(ball, v), atol=SOLVER * 1000)
    np.testing.assert_allclose(ball.support(v[:, None]), [support], atol=ALGEBRA * 1000)
    assert worst.min() >= -ALGEBRA
    np.testing.assert_allclose([worst.sum(), worst @ v], [1.0, support], atol=ALGEBRA * 1000)


@given(balls(), columns)
def test_exact_twin_agrees_and_its_witness_is_in_the_ball(ball, integers):
    column = integers[: ball.size]
    support, worst = ball.exact_worst_mean(column)
    assert support == ball.exact_support(column) == sum(q * x for q, x in zip(worst, column, strict=True))
    assert ball.contains(worst)
    np.testing.assert_allclose(float(support), ball.worst_mean(column)[0], atol=ALGEBRA * 1000)


@given(balls(), columns)
def test_linear_rows_describe_the_support_function(ball, integers):
    v = np.array(integers[: ball.size], dtype=float) / 1000
    for known in (ball, md.L1Ball(ball.center, ball.radius, within_simplex=False) if 0 not in ball.center else ball):
        rows = known.support_rows()
        K = rows.auxiliary.shape[1]
        solution = linprog(-np.eye(K)[0], A_ub=-rows.auxiliary.toarray(), b_ub=rows.columns @ v, bounds=(None, None))
        np.testing.assert_allclose(-solution.fun, known.worst_mean(v)[0], atol=SOLVER)


def test_ends_of_the_radius_are_the_known_prior_and_the_whole_simplex():
    v = np.array([3.0, 1.0, 2.0])
    P = np.array([0.5, 0.3, 0.2])
    assert md.L1Ball(P.tolist(), 0).worst_mean(v)[0] == pytest.approx(P @ v, abs=ALGEBRA)
    assert md.L1Ball(P.tolist(), 2).worst_mean(v)[0] == pytest.approx(1.0, abs=ALGEBRA)


@given(balls(), columns, st.fractions(0, 2, max_denominator=50))
def test_a_larger_ball_has_a_smaller_support(ball, integers, radius):
    if 0 in ball.center:
        radius = max(radius, Fraction(1, 100))
    column = integers[: ball.size]
    other = ball.with_radius(radius)
    smaller, larger = sorted([ball, other], key=lambda b: b.radius)
    assert smaller.exact_support(column) >= larger.exact_support(column)


@given(balls(), columns)
def test_ball_as_printed_is_equation_97_and_never_above_the_exact_one(ball, integers):
    if 0 in ball.center and ball.radius == 0:
        return
    printed = md.L1Ball(ball.center, ball.radius, within_simplex=False)
    column = integers[: ball.size]
    formula = sum(p * x for p, x in zip(ball.center, column, strict=True)) - ball.half_radius * (
        max(column) - min(column)
    )
    assert printed.exact_support(column) == formula <= ball.exact_support(column)
    np.testing.assert_allclose(printed.worst_mean(column)[0], float(formula), atol=ALGEBRA * 1000)
    if ball.radius <= 2 * min(ball.center):
        assert formula == ball.exact_support(column)


def test_members_near_a_prior_are_members():
    rng = np.random.default_rng(5)
    for radius in ("0", "0.1", "1.3"):
        ball = random_ball(rng, 6, radius)
        near = ball.member_near(rng.dirichlet(np.ones(6)))
        assert np.abs(near - ball.prior).sum() <= float(ball.radius) + 1e-14
        np.testing.assert_allclose(near.sum(), 1, atol=ALGEBRA)
        np.testing.assert_allclose(ball.member_near(ball.prior), ball.prior, atol=ALGEBRA)


def test_members_of_a_ball_as_printed_may_be_outside_the_simplex():
    printed = md.L1Ball(["0.9", "0.1"], "0.4", within_simplex=False)
    np.testing.assert_allclose(printed.member_near([1.1, -0.1]), [1.1, -0.1], atol=1e-12)
    np.testing.assert_allclose(printed.exact_set.member_near([1.1, -0.1]), [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("bound", ["clopper-pearson", "weissman"])
def test_counts_give_the_radius_of_the_bound_and_keep_their_order(bound):
    exact = partial(radius_exact, bound=bound)
    ball = md.L1Ball.from_counts({"b": 3, "a": 5, 7: 0}, delta="1e-3", bound=bound)
    assert ball.labels == ("b", "a", "7")
    assert ball.center == (Fraction(3, 8), Fraction(5, 8), Fraction(0))
    assert ball.radius == ball.evidence.radius()
    assert ball.radius == exact(8, 3, "1e-3")
    larger = md.L1Ball.from_probabilities({"b": "3/8", "a": "5/8"}, delta="1e-3", samples=8, bound=bound)
    assert larger.radius == exact(8, 2, "1e-3")
    records = ["b"] * 300 + ["a"] * 500
    assert md.L1Ball.from_samples(records, delta="1e-3", bound=bound).radius == exact(800, 2, "1e-3")


def test_the_sharper_bound_is_the_default():
    assert md.L1Ball.from_counts([3, 5], delta="1e-3").radius == observed_radius_exact((3, 5), Fraction(1, 1000))
    assert md.L1Ball.from_samples(["a", "b"], delta="1e-3").radius == observed_radius_exact((1, 1), Fraction(1, 1000))
    halves = md.L1Ball.from_probabilities([0.5, 0.5], samples=2, delta="1e-3")
    assert halves.radius == radius_exact(2, 2, "1e-3")
    assert "bound" not in repr(md.L1Ball.from_counts([3, 5], delta="1e-3")) + repr(halves)
    assert "bound='clopper-pearson'" in repr(md.L1Ball.from_counts([3, 5], delta="1e-3", bound="clopper-pearson"))
    assert "bound='weissman'" in repr(md.L1Ball.from_counts([3, 5], delta="1e-3", bound="weissman"))


def test_samples_are_counted_by_frequency_then_label():
    ball = md.L1Ball.from_samples(["z", "a", "b", "z", "b"], radius=0.1)
    assert ball.labels == ("b", "z", "a")
    assert ball.evidence.counts == (2, 2, 1)
    given = md.L1Ball.from_samples(np.array([1, 2, 1]), radius=0.1, labels=[1, 2, 3])
    assert given.evidence.counts == (2, 1, 0)


def test_a_center_of_decimals_is_exact_and_weights_are_normalised():
    assert md.L1Ball([0.1, 0.9]).center == (Fraction(1, 10), Fraction(9, 10))
    third = md.L1Ball([0.3333333333, 0.3333333333, 0.3333333333], 0.1)
    assert third.center == (Fraction(1, 3),) * 3


def test_balls_are_values():
    first, second = md.L1Ball([0.5, 0.5], 0.1), md.L1Ball(["1/2", "0.5"], "1e-1")
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(ValueError, match="read-only"):
        first.prior[0] = 1.0


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: md.L1Ball([0.5, 0.4]), "wrong-sum"),
        (lambda: md.L1Ball([1.5, -0.5]), "not-probabilities"),
        (lambda: md.L1Ball([1.0]), "too-few-categories"),
        (lambda: md.L1Ball([0.5, float("nan")]), "not-a-number"),
        (lambda: md.L1Ball([0.5, 0.5], 2.1), "radius-out-of-range"),
        (lambda: md.L1Ball([0.5, 0.5], -1), "radius-out-of-range"),
        (lambda: md.L1Ball([1, 0]), "never-occurs"),
        (lambda: md.L1Ball([0.5, 0.5], 0, ["a", "a"]), "label-twice"),
        (lambda: md.L1Ball([0.5, 0.5], 0, ["a"]), "wrong-size"),
        (lambda: md.L1Ball.from_counts({"a": 2, "b": 0}, known=True), "never-occurs"),
        (lambda: md.L1Ball.from_counts([1, 2], delta=0.1, radius=0.1), "conflicting-arguments"),
        (lambda: md.L1Ball.from_counts([1, 2], samples=5, known=True), "missing-argument"),
        (lambda: md.L1Ball.from_counts([1, 2], delta=1.5), "delta-out-of-range"),
        (
            lambda: md.L1Ball.from_counts([1, 2], delta=0.1, bound="hoeffding"),
            "unknown-choice",
        ),
        (lambda: md.L1Ball.from_counts([1, 2], radius=0.1, bound="weissman"), "missing-argument"),
    ],
)
def test_bad_balls_are_refused_by_value(make, code):
    with raises(code):
        make()


def test_evidence_must_belong_to_the_ball():
    evidence = md.uncertainty.Evidence((3, 1), 4, Fraction(1, 100))
    with raises("evidence-contradicts"):
        md.L1Ball([0.5, 0.5], 2, evidence=evidence)
    with raises("evidence-contradicts"):
        md.L1Ball([0.75, 0.25], 0.1, evidence=evidence)
