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
from mechdesign.pml import worst_case_leakage


@given(balls(), st.integers(0, 2**32))
def test_capacity_bounds_the_leakage_at_every_member_and_is_attained(ball, seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, ball.size, 3)
    capacity = md.leakage_capacity(matrix, ball)
    for _ in range(20):
        member = ball.member_near(rng.dirichlet(np.full(ball.size, 0.4)))
        assert md.epsilon_min(matrix, member) <= capacity + 1e-9
    witnesses = [md.epsilon_min(matrix, np.maximum(ball.worst_mean(v)[1], 0)) for v in matrix.T]
    if math.isfinite(capacity):
        np.testing.assert_allclose(max(witnesses), capacity, atol=1e-9)


@given(balls(), st.integers(0, 2**32))
def test_merging_outputs_never_raises_leakage(ball, seed):
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    merged = np.c_[matrix[:, 0] + matrix[:, 1], matrix[:, 2:]]
    assert md.leakage_capacity(merged, ball) <= md.leakage_capacity(matrix, ball) + 1e-12


def test_leakage_over_all_priors_is_the_ldp_parameter():
    matrix = np.array([[0.6, 0.4], [0.2, 0.8]])
    capacity = md.leakage_capacity(matrix, md.L1Ball([0.5, 0.5], radius=2))
    assert capacity == pytest.approx(math.log(3), abs=ALGEBRA)


@given(balls(), st.integers(0, 2**32))
def test_the_worst_case_is_the_capacity_and_its_witness_attains_it(ball, seed):
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 3)
    worst = worst_case_leakage(matrix, ball)
    assert worst.value == pytest.approx(md.leakage_capacity(matrix, ball), abs=1e-9)
    assert ball.contains(worst.witness)
    attained = md.leakage(matrix, worst.prior)[worst.output]
    assert attained == pytest.approx(worst.value, abs=1e-9)


def test_the_worst_case_is_what_a_linear_program_finds():
    rng = np.random.default_rng(5)
    for radius in (0.02, 0.3, 1.1):
        ball, matrix = random_ball(rng, 5, radius), random_mechanism(rng, 5, 4)
        by_lp = [math.log(v.max() / least_mean(ball.prior, radius, v)) for v in matrix.T]
        worst = worst_case_leakage(matrix, ball)
        assert worst.value == pytest.approx(max(by_lp), abs=SOLVER)
        assert worst.output == int(np.argmax(by_lp))


def test_the_worst_case_is_rounded_up_and_its_witness_exact():
    ball = md.L1Ball(["1/2", "1/2"], "1/5")
    worst = worst_case_leakage([[3, 1], [1, 3]], ball)
    assert worst.witness == (Fraction(2, 5), Fraction(3, 5))
    assert Fraction(3) / (3 * worst.witness[0] + worst.witness[1]) == Fraction(5, 3)
    assert md.Epsilon.of(repr(worst.value)).exp_down >= Fraction(5, 3) - Fraction(1, 10**16)
    assert 0 <= worst.value - math.log(5 / 3) <= 4e-16
    assert not worst.prior.flags.writeable


def test_the_worst_case_over_all_priors_is_the_ldp_parameter():
    rng = np.random.default_rng(6)
    matrix = rng.dirichlet(np.ones(4), 5)
    for radius in (2, 2.0, "2"):
        worst = worst_case_leakage(matrix, md.L1Ball(["1/5"] * 5, radius))
        assert worst.value == pytest.approx(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max(), abs=ALGEBRA)
        assert sorted(worst.prior) == [0, 0, 0, 0, 1]


def test_the_worst_case_is_infinite_where_a_prior_rules_an_output_out():
    worst = worst_case_leakage(np.eye(3)[:, :3], md.L1Ball(["0.5", "0.3", "0.2"], "0.4"))
    assert (worst.value, worst.output) == (math.inf, 2)
    np.testing.assert_array_equal(worst.prior[2], 0)


def test_the_worst_case_over_a_hull_and_a_product():
    hull = md.ConvexHull([["0.5", "0.5"], ["0.9", "0.1"]])
    matrix = [[0.75, 0.25], [0.25, 0.75]]
    worst = worst_case_leakage(matrix, hull)
    assert worst.value == pytest.approx(max(md.epsilon_min(matrix, Q) for Q in ([0.5, 0.5], [0.9, 0.1])), abs=ALGEBRA)
    assert worst.prior.tolist() == [0.9, 0.1]
    pairs = md.ProductSet(hull, md.L1Ball(["0.6", "0.4"], "0.1"))
    both = worst_case_leakage(np.kron(matrix, matrix), pairs)
    second = worst_case_leakage(matrix, pairs.second)
    assert both.value == pytest.approx(worst.value + second.value, abs=ALGEBRA)


def test_an_output_that_never_occurs_is_passed_over():
    ball = md.L1Ball(["0.5", "0.5"], "0.1")
    assert worst_case_leakage([[0, 1], [0, 1]], ball).output == 1
    assert worst_case_leakage([[0, 1], [0, 1]], ball).value == 0


def test_the_integers_of_a_mechanism_give_what_its_proof_has():
    ball = md.L1Ball.from_counts([812, 150, 38], delta=1e-9)
    mechanism = md.design(md.DesignProblem(ball, "1")).mechanism
    worst = worst_case_leakage(mechanism.numerators, ball)
    assert worst.value == mechanism.leakage
    assert mechanism.proof.ratios[worst.output] == max(mechanism.proof.ratios)


@given(balls(), st.integers(0, 2**32), st.fractions(0, 2, max_denominator=40))
def test_a_larger_radius_never_lowers_the_capacity(ball, seed, radius):
    if 0 in ball.center:
        radius = max(radius, Fraction(1, 100))
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 3)
    small, large = sorted([ball, ball.with_radius(radius)], key=lambda b: b.radius)
    assert worst_case_leakage(matrix, small).value <= worst_case_leakage(matrix, large).value


@pytest.mark.parametrize(
    ("matrix", "uncertainty", "code"),
    [
        ([[1.0], [1.0]], [0.5, 0.5], "wrong-type"),
        ([[1.0], [1.0], [1.0]], md.L1Ball([0.5, 0.5]), "wrong-size"),
        ([[0.9, 0.2], [0.5, 0.5]], md.L1Ball([0.5, 0.5]), "wrong-sum"),
    ],
)
def test_bad_arguments_are_refused(matrix, uncertainty, code):
    for function in (md.leakage_capacity, worst_case_leakage):
        with raises(code):
            function(matrix, uncertainty)
