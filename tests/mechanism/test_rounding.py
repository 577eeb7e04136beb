import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, epsilons, random_ball, random_mechanism

import mechdesign as md
from mechdesign.mechanism.rounding import by_falling_mass, round_to_integers
from mechdesign.optimize.rays import Rays

EDUCATION = [15784, 10878, 8025, 2657, 2061, 1812, 1601, 1389, 955, 834, 756, 657, 594, 509, 247, 83]


def promise(epsilon, uncertainty):
    return md.Guarantee(md.Epsilon.of(epsilon), uncertainty)


@given(balls(), epsilons, st.integers(1, 52), st.integers(0, 2**32))
def test_any_matrix_becomes_a_mechanism_that_is_proved(ball, epsilon, bits, seed):
    """Private or not, at any number of bits: what comes out always keeps the guarantee."""
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    numerators = round_to_integers(matrix, bits, promise(epsilon, ball))
    assert md.mechanism.prove(numerators, bits, promise(epsilon, ball)).holds


@given(balls(), epsilons, st.integers(0, 2**32))
def test_a_private_matrix_loses_next_to_nothing(ball, epsilon, seed):
    """Rare outputs included: half of the columns carry a hundred millionth of the mass."""
    exp_epsilon = float(md.Epsilon.of(epsilon).exp_down)
    rng = np.random.default_rng(seed)
    columns = np.hstack([*Rays(ball, exp_epsilon).of_kinds("ABCD"), np.ones((ball.size, 1))])
    chosen = columns[:, rng.integers(0, columns.shape[1], 4)] * [0.3, 0.2, 1e-9, 1e-9]
    chosen /= chosen.sum(axis=1).max() * 1.01
    # The constant column fills no row exactly, so complete with shares of a private column.
    lacking = 1 - chosen.sum(axis=1)
    weight = lacking.max() * exp_epsilon + lacking.max()
    matrix = np.c_[chosen, lacking + weight] / (1 + weight)
    if exp_epsilon * ball.support(matrix[:, [-1]])[0] < matrix[:, -1].max() * (1 + 1e-12):
        return
    numerators = round_to_integers(matrix, 48, promise(epsilon, ball))
    utility = md.MutualInformation()
    before = utility.value(matrix, ball.prior)
    after = utility.value(numerators / 2.0**48, ball.prior)
    assert after >= before - 1e-9


def test_zeros_stay_zeros_where_the_support_has_slack():
    ball = md.L1Ball([0.5, 0.3, 0.2], radius="0.02")
    solved = md.design(md.DesignProblem(ball, "1.2", md.SquaredHellinger()))
    assert (solved.mechanism.numerators == 0).any()
    assert solved.gap <= 1e-11


def test_numerators_that_are_exact_are_kept():
    ball = md.L1Ball(["0.25"] * 4)
    matrix = np.array([[0.5, 0, 0.5, 0], [0.5, 0.5, 0, 0], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5]])
    numerators = round_to_integers(matrix, 10, promise("log(2)", ball))
    np.testing.assert_array_equal(numerators, (matrix * 2**10).astype(int))


def test_a_solvers_errors_are_repaired():
    rng = np.random.default_rng(9)
    ball = random_ball(rng, 8, "0.02")
    solved = md.design(md.DesignProblem(ball, 1))
    exact = solved.mechanism.matrix
    for noise in (1e-12, 1e-9, 1e-7):
        noisy = exact + noise * rng.standard_normal(exact.shape)
        numerators = round_to_integers(noisy, 48, promise(1, ball))
        value = md.MutualInformation().value(numerators / 2.0**48, ball.prior)
        smallest = (ball.prior @ exact).min()
        assert solved.value - 100 * noise / smallest <= value <= solved.upper_bound


@pytest.mark.parametrize(("inputs", "outputs", "bits"), [(30, 60, 6), (64, 64, 6), (30, 60, 10), (5, 40, 1)])
def test_more_outputs_than_the_bits_can_hold(inputs, outputs, bits):
    ball = md.L1Ball.from_counts([1] * inputs, radius="0.01")
    matrix = np.random.default_rng(0).dirichlet(np.full(outputs, 0.3), inputs)
    mechanism = md.Mechanism.from_matrix(matrix, promise(3, ball), bits=bits)
    assert mechanism.numerators.shape[1] > 1 or bits == 1


def test_most_zeros_of_the_education_design_are_kept():
    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(EDUCATION, delta="1e-9"), 1))
    numerators = solved.mechanism.numerators
    tiny = numerators < 1_000
    assert tiny.sum() >= 120
    assert (numerators == 0).sum() >= 0.5 * tiny.sum()


def test_epsilon_zero_and_hopeless_cases_give_one_output():
    ball = md.L1Ball([0.5, 0.5], radius=2)
    for epsilon in (0, "1e-30"):
        numerators = round_to_integers(np.array([[0.9, 0.1], [0.1, 0.9]]), 48, promise(epsilon, ball))
        np.testing.assert_array_equal(numerators, [[2**48], [2**48]])


@pytest.mark.parametrize(
    "matrix",
    [[[0.5, 0.4], [0.5, 0.5]], [[1.1, -0.1], [0.5, 0.5]], [[np.nan, 1.0], [0.5, 0.5]]],
)
def test_what_is_far_from_stochastic_is_refused(matrix):
    with raises("solver-failed"):
        round_to_integers(np.array(matrix), 48, promise(1, md.L1Ball([0.5, 0.5])))


def test_outputs_come_by_falling_mass_then_numerators():
    ball = md.L1Ball(["0.5", "0.5"])
    numerators = np.array([[1, 4, 3, 8], [7, 4, 5, 0]])
    ordered = by_falling_mass(numerators, ball)
    np.testing.assert_array_equal(ordered, [[8, 4, 3, 1], [0, 4, 5, 7]])


def test_columns_that_a_round_leaves_as_they_are_are_not_proved_again(monkeypatch):
    """The first rounding of this design breaks the guarantee in some columns, and the second in fewer."""
    proved = []

    kept = md.Guarantee.is_kept_by

    def counted(guarantee, column):
        proved.append(tuple(column))
        return kept(guarantee, column)

    monkeypatch.setattr(md.Guarantee, "is_kept_by", counted)
    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(EDUCATION, delta="1e-9"), 1))
    assert len(proved) > solved.mechanism.numerators.shape[1]
    assert len(set(proved)) == len(proved)
