import math
from fractions import Fraction

import numpy as np
import pytest
from ball_lp import least_mean
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, random_ball, random_mechanism
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign.pml import leakage_sensitivity, output_sensitivity
from mechdesign.pml.pointwise import epsilon_min


def positive(ball):
    """The ball around the same counts plus one, so that its center has full support."""
    return md.L1Ball.from_counts([1 + w for w in ball.evidence.counts], radius=ball.radius)


def test_both_sensitivities_are_what_linear_programs_find():
    rng = np.random.default_rng(21)
    for radius in (0.02, 0.2, 0.9):
        ball, matrix = random_ball(rng, 5, radius), random_mechanism(rng, 5, 4)
        P = ball.prior
        least = np.array([least_mean(P, radius, v) for v in matrix.T])
        leaked, lost = np.log(matrix.max(axis=0) / least), np.log(P @ matrix / least)
        S, D = leakage_sensitivity(matrix, ball.center, ball), output_sensitivity(matrix, ball.center, ball)
        assert S.value == pytest.approx(leaked.max() - epsilon_min(matrix, P), abs=SOLVER)
        assert D.value == pytest.approx(lost.max(), abs=SOLVER)
        assert (S.output, D.output) == (leaked.argmax(), lost.argmax())


@given(balls(), st.integers(0, 2**32))
def test_no_sampled_prior_exceeds_a_sensitivity_and_the_witnesses_attain_them(ball, seed):
    ball = positive(ball)
    rng = np.random.default_rng(seed)
    matrix, P = random_mechanism(rng, ball.size, 3), ball.prior
    S, D = leakage_sensitivity(matrix, ball.center, ball), output_sensitivity(matrix, ball.center, ball)
    assert 0 <= S.value <= D.value
    members = np.array([ball.member_near(Q) for Q in rng.dirichlet(np.full(ball.size, 0.4), 40)])
    here, there = epsilon_min(matrix, P), epsilon_min(matrix, members)
    assert (there - here <= S.value + ALGEBRA).all()
    occurs = matrix.any(axis=0)
    with np.errstate(divide="ignore"):
        fallen = np.log(P @ matrix[:, occurs]) - np.log(members @ matrix[:, occurs])
    assert (fallen <= D.value + ALGEBRA).all()
    for found in (S, D):
        assert ball.contains(found.witness)
    if math.isfinite(D.value):
        assert epsilon_min(matrix, S.prior) - here == pytest.approx(S.value, abs=1e-9)
        v = matrix[:, D.output]
        assert math.log(P @ v / (D.prior @ v)) == pytest.approx(D.value, abs=1e-9)


def test_the_greatest_divergence_of_the_outputs_is_not_definition_6():
    """The output that leaks most barely moves; the one that moves most leaks less, before and after."""
    ball = md.L1Ball(["0.9", "0.1"], "0.1")
    matrix = np.array([[0.2, 0.8], [0.0, 1.0]])
    S, D = leakage_sensitivity(matrix, ball.center, ball), output_sensitivity(matrix, ball.center, ball)
    assert S.value == pytest.approx(math.log(82 / 81), abs=ALGEBRA)
    assert D.value == pytest.approx(math.log(18 / 17), abs=ALGEBRA)
    # By definition, over a grid of the ball, which is the segment Q_1 in [0.85, 0.95].
    first = np.linspace(0.85, 0.95, 1001)
    Q = np.c_[first, 1 - first]
    growth = epsilon_min(matrix, Q) - epsilon_min(matrix, ball.prior)
    divergence = np.log((ball.prior @ matrix) / (Q @ matrix)).max(axis=1)
    np.testing.assert_allclose([growth.max(), divergence.max()], [S.value, D.value], atol=ALGEBRA)
    assert (S.output, S.witness) == (1, (Fraction(19, 20), Fraction(1, 20)))
    assert (D.output, D.witness) == (0, (Fraction(17, 20), Fraction(3, 20)))


@given(balls(least=3), st.integers(0, 2**32))
def test_both_agree_where_every_output_leaks_the_same(ball, seed):
    ball = positive(ball)
    e = 1 + (1 / (1 - min(ball.center)) - 1) * Fraction(seed % 97 + 1, 98)
    matrix = [[e * p for p in ball.center] for _ in ball.center]
    for j, p in enumerate(ball.center):
        matrix[j][j] = 1 - e * (1 - p)
    S, D = leakage_sensitivity(matrix, ball.center, ball), output_sensitivity(matrix, ball.center, ball)
    assert S.value == D.value
    # Remark 2: the capacity is the leakage at P plus the sensitivity.
    capacity = md.leakage_capacity(np.array(matrix, dtype=float), ball)
    assert capacity == pytest.approx(math.log(e) + S.value, abs=1e-9)


@given(balls(), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=40))
def test_a_larger_radius_never_lowers_a_sensitivity(ball, seed, radius):
    ball = positive(ball)
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 3)
    small, large = sorted([ball, ball.with_radius(radius)], key=lambda b: b.radius)
    for sensitivity in (leakage_sensitivity, output_sensitivity):
        assert sensitivity(matrix, ball.center, small).value <= sensitivity(matrix, ball.center, large).value
        assert sensitivity(matrix, ball.center, ball.with_radius(0)).value == 0


@given(balls(), st.integers(0, 2**32))
def test_merging_outputs_never_raises_the_output_sensitivity(ball, seed):
    ball = positive(ball)
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    merged = np.c_[matrix[:, 0] + matrix[:, 1], matrix[:, 2:]]
    found = output_sensitivity(merged, ball.center, ball).value
    assert found <= output_sensitivity(matrix, ball.center, ball).value + ALGEBRA


@given(balls(), st.integers(0, 2**32))
def test_sensitivities_follow_relabelling(ball, seed):
    ball = positive(ball)
    rng = np.random.default_rng(seed)
    matrix, rows = random_mechanism(rng, ball.size, 3), rng.permutation(ball.size)
    turned = md.L1Ball([ball.center[i] for i in rows], ball.radius)
    for sensitivity in (leakage_sensitivity, output_sensitivity):
        found = sensitivity(matrix[rows], turned.center, turned)
        assert found.value == sensitivity(matrix, ball.center, ball).value


def test_the_reference_may_be_any_member_of_any_set():
    hull = md.ConvexHull([["0.5", "0.5"], ["0.9", "0.1"]])
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    found = leakage_sensitivity(matrix, [0.7, 0.3], hull)
    assert found.value == pytest.approx(math.log(0.4 / 0.3), abs=ALGEBRA)
    assert found.prior.tolist() == [0.9, 0.1]


def test_sensitivity_is_infinite_where_a_prior_rules_an_output_out():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.4")
    for sensitivity in (leakage_sensitivity, output_sensitivity):
        assert sensitivity(np.eye(3), ball.center, ball).value == math.inf


@pytest.mark.parametrize("sensitivity", [leakage_sensitivity, output_sensitivity])
def test_bad_arguments_are_refused(sensitivity):
    ball = md.L1Ball(["0.5", "0.5"], "0.1")
    with raises("prior-outside-set"):
        sensitivity(np.eye(2), ["0.56", "0.44"], ball)
    with raises("wrong-size", "has 3"):
        sensitivity(np.eye(2), ["0.5", "0.25", "0.25"], ball)
    with raises("never-occurs", "output 2"):
        sensitivity(np.eye(2), [1, 0], md.L1Ball([1, 0], "0.1"))
    with raises("wrong-type", "such as an L1Ball or a ConvexHull"):
        sensitivity(np.eye(2), [0.5, 0.5], [0.5, 0.5])
