"""Each theorem from a second side: exact privacy in rationals, and the solver's certified optimum."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from repetitions import examples
from strategies import F_INFORMATIONS, balls, is_closed, random_ball
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.optimize.closed_form import (
    binary,
    binary_low_privacy,
    closed_forms,
    high_privacy,
    high_privacy_ball,
    randomized_response,
    uniform,
    uniform_ball,
)
from mechdesign.optimize.closed_form.form import circulant, exact_cone

utilities = st.sampled_from(F_INFORMATIONS)
small_epsilons = st.integers(101, 260).map(lambda k: f"log({k}/100)")


def is_private(matrix, problem):
    """Check rows and columns of a matrix of Fractions in rational arithmetic."""
    e = problem.epsilon.exp_down
    assert all(sum(row) == 1 for row in matrix.tolist())
    for column in matrix.T.tolist():
        assert min(column) >= 0
        common = np.lcm.reduce([int(Fraction(x).denominator) for x in column], dtype=object)
        integers = [int(x * common) for x in column]
        if max(integers) > e * problem.uncertainty.exact_support(integers):
            return False
    return True


def solved_value(problem):
    solved = md.design(problem)
    assert is_closed(solved)
    return solved.value


def value_of(form, problem):
    return problem.utility.value(form.matrix, problem.uncertainty.prior)


@st.composite
def binary_problems(draw):
    ball = draw(balls(2, 2))
    return md.DesignProblem(ball, draw(small_epsilons), draw(utilities))


@given(binary_problems())
def test_binary_forms_are_private_and_optimal_on_both_sides_of_their_border(problem):
    given_numbers = exact_cone(problem)
    applied = 0
    for theorem in (binary, binary_low_privacy):
        if theorem.applies(given_numbers):
            applied += 1
            assert is_private(theorem.mechanism(given_numbers), problem)
            form = theorem.solve(problem)
            assert form.optimal
            np.testing.assert_allclose(value_of(form, problem), solved_value(problem), atol=CERTIFIED)
    assert bool(applied) == (given_numbers.t <= given_numbers.P.min())


def test_on_their_border_the_binary_forms_are_the_same_mechanism():
    problem = md.DesignProblem(md.L1Ball(["0.6", "0.4"], "0.1"), "log(20/11)")
    given_numbers = exact_cone(problem)
    assert binary.applies(given_numbers)
    assert binary_low_privacy.applies(given_numbers)
    first, second = binary.mechanism(given_numbers), binary_low_privacy.mechanism(given_numbers)
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("counts", "radius", "epsilon"),
    [([1, 1], "1/7", "log(7/3)"), ([2, 1], "1/9", "log(18/11)"), ([5, 6], "10/11", "log(11)")],
)
def test_on_their_border_zeros_are_zeros(counts, radius, epsilon):
    """In floats they may be -1e-17, whose square root is not a number."""
    problem = md.DesignProblem(md.L1Ball.from_counts(counts, radius=radius), epsilon, md.SquaredHellinger())
    for form in closed_forms(problem):
        assert form.matrix.min() >= 0
        assert np.isfinite(value_of(form, problem))


def test_beyond_the_least_probability_the_binary_forms_are_not_optimal():
    """Hence their condition t <= min P, and that of the high-privacy form for two symbols."""
    problem = md.DesignProblem(md.L1Ball(["0.9", "0.1"], "0.4"), "log(11/10)")
    given_numbers = exact_cone(problem)
    assert given_numbers.t > given_numbers.P.min()
    form = high_privacy_ball.solve(problem)
    assert is_private(high_privacy_ball.mechanism(given_numbers), problem)
    assert not form.optimal
    assert value_of(form, problem) < solved_value(problem) * 0.99
    assert binary.solve(problem) is None


def test_the_likelier_symbol_may_come_second():
    first = md.DesignProblem(md.L1Ball(["0.7", "0.3"], "0.1"), "0.2")
    second = md.DesignProblem(md.L1Ball(["0.3", "0.7"], "0.1"), "0.2")
    np.testing.assert_allclose(binary.solve(first).matrix, binary.solve(second).matrix[::-1])


@given(balls(2, 4), small_epsilons, utilities)
def test_high_privacy_forms_are_private_and_optimal_where_proved(ball, epsilon, utility):
    problem = md.DesignProblem(ball, epsilon, utility)
    given_numbers = exact_cone(problem)
    assume(high_privacy_ball.applies(given_numbers))
    assert is_private(high_privacy_ball.mechanism(given_numbers), problem)
    form = high_privacy_ball.solve(problem)
    reached, best = value_of(form, problem), solved_value(problem)
    assert reached <= best + CERTIFIED
    if form.optimal:
        np.testing.assert_allclose(reached, best, atol=CERTIFIED)
    if high_privacy.applies(given_numbers):
        exact, contained = high_privacy.mechanism(given_numbers), high_privacy_ball.mechanism(given_numbers)
        assert exact.tolist() == contained.tolist()


def test_high_privacy_is_the_sum_of_its_rays():
    """A second derivation: weights theta_j of the N rays of kind A that leave one symbol out."""
    problem = md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], "0.1"), "log(11/10)")
    numbers = exact_cone(problem)
    P, t, c = numbers.P, numbers.t, numbers.c
    m = (1 - c * (1 - P)) / (P + t)
    G = (1 / (c - m)).sum()
    theta = (c * G / (c * G - 1) - 1) / (c - m)
    matrix = np.tile(c * theta, (3, 1))
    np.fill_diagonal(matrix, m * theta)
    assert matrix.tolist() == high_privacy_ball.mechanism(numbers).tolist()


def test_high_privacy_reaches_the_border_of_its_condition():
    problem = md.DesignProblem(md.L1Ball(["0.5", "0.25", "0.25"]), "log(4/3)")
    assert high_privacy.applies(exact_cone(problem))
    assert high_privacy.solve(problem).matrix[1, 1] == 0
    beyond = md.DesignProblem(md.L1Ball(["0.5", "0.25", "0.25"]), "log(401/300)")
    assert high_privacy.solve(beyond) is None


def test_high_privacy_is_not_optimal_for_total_variation():
    problem = md.DesignProblem(md.L1Ball(["1/6"] * 6, "0.3"), "log(11/10)", md.TotalVariation())
    form = high_privacy_ball.solve(problem)
    assert not form.optimal
    assert value_of(form, problem) == pytest.approx(0.041876, abs=5e-7)
    assert solved_value(problem) == pytest.approx(0.044593, abs=5e-7)


@settings(max_examples=examples(60))
@given(st.integers(2, 6), st.fractions(0, 2, max_denominator=40), small_epsilons, utilities)
def test_the_best_symmetric_column_is_optimal_for_every_radius(size, radius, epsilon, utility):
    for within_simplex in (True, False):
        ball = md.L1Ball([Fraction(1, size)] * size, radius, within_simplex=within_simplex)
        problem = md.DesignProblem(ball, epsilon, utility)
        given_numbers = exact_cone(problem)
        for column in uniform_ball.candidates(given_numbers):
            assert is_private(circulant(column), problem)
        form = uniform_ball.solve(problem)
        np.testing.assert_allclose(value_of(form, problem), solved_value(problem), atol=CERTIFIED)
        if uniform.applies(given_numbers):
            assert is_private(uniform.mechanism(given_numbers), problem)
            np.testing.assert_allclose(value_of(uniform.solve(problem), problem), value_of(form, problem), atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_k_singular_mechanisms_carry_epsilon(k):
    problem = md.DesignProblem(md.L1Ball([Fraction(1, 6)] * 6), f"log({6 // k})")
    form = uniform.solve(problem)
    np.testing.assert_allclose(np.unique(form.matrix), [0, 1 / k] if k < 6 else [1 / 6])
    assert value_of(form, problem) == pytest.approx(np.log(6 // k), abs=1e-12)


def test_symmetric_forms_ask_for_a_symmetric_utility():
    ball = md.L1Ball(["0.25"] * 4)
    gain = md.ExpectedGain([[1, 0, 0, 0], [0, 1, 1, 1]])
    assert uniform.solve(md.DesignProblem(ball, 1, gain)) is None
    assert uniform_ball.solve(md.DesignProblem(ball, 1, gain)) is None
    hamming = md.DesignProblem(ball, 1, md.HammingAccuracy())
    np.testing.assert_allclose(value_of(uniform.solve(hamming), hamming), solved_value(hamming), atol=CERTIFIED)


def test_randomized_response_is_optimal_where_kairouz_et_al_say_so():
    rng = np.random.default_rng(5)
    for size in (3, 4, 5):
        ball = random_ball(rng, size, 2)
        for utility in F_INFORMATIONS[:2]:
            large = md.DesignProblem(ball, 9, utility)
            np.testing.assert_allclose(
                value_of(randomized_response.solve(large), large), solved_value(large), rtol=1e-6
            )
        small = md.DesignProblem(ball, "0.02")
        np.testing.assert_allclose(
            value_of(randomized_response.solve_binary(small), small), solved_value(small), rtol=1e-6
        )
    warner = md.DesignProblem(md.L1Ball(["0.3", "0.7"], 2), "1")
    assert randomized_response.solve(warner).optimal
    np.testing.assert_allclose(
        value_of(randomized_response.solve(warner), warner), solved_value(warner), atol=CERTIFIED
    )


def test_randomized_response_is_private_for_every_prior_and_only_offered_there():
    for size in (2, 4):
        problem = md.DesignProblem(md.L1Ball([Fraction(1, size)] * size, 2), "log(3)")
        numbers = exact_cone(problem)
        assert is_private(randomized_response.mechanism(numbers.P.size, numbers.e), problem)
        assert is_private(randomized_response.binary_mechanism(numbers, [0]), problem)
    wide = md.DesignProblem(md.L1Ball(["0.5", "0.5"], "1.9"), "log(3)")
    printed = md.DesignProblem(md.L1Ball(["0.5", "0.5"], 2, within_simplex=False), "log(3)")
    for problem in (wide, printed):
        assert randomized_response.solve(problem) is None
        assert randomized_response.solve_binary(problem) is None


def test_binary_response_takes_the_subset_nearest_to_half():
    problem = md.DesignProblem(md.L1Ball(["0.4", "0.35", "0.15", "0.1"], 2), "0.5")
    matrix = randomized_response.solve_binary(problem).matrix
    together = matrix[:, 0] == matrix[0, 0]
    assert problem.uncertainty.prior[together].sum() == pytest.approx(0.5)


def test_no_closed_form_speaks_of_hulls():
    hull = md.ConvexHull([["0.5", "0.5"], ["0.6", "0.4"]])
    assert closed_forms(md.DesignProblem(hull, 1)) == []


@given(balls(2, 4), small_epsilons, utilities)
def test_every_form_offered_is_private_and_none_beats_the_bound(ball, epsilon, utility):
    problem = md.DesignProblem(ball, epsilon, utility)
    forms = closed_forms(problem)
    if not forms:
        return
    solved = md.design(problem)
    for form in forms:
        assert md.leakage_capacity(form.matrix, ball) <= float(problem.epsilon) + 1e-9
        assert value_of(form, problem) <= solved.upper_bound + 1e-12
        if form.optimal:
            assert value_of(form, problem) >= solved.value - 1e-12
    assert solved.closed_form.value == pytest.approx(
        max(value_of(form, problem) for form in forms if form.optimal or not forms[0].optimal), abs=1e-12
    )


@pytest.mark.parametrize(
    ("mechanism", "counts", "radius"),
    [
        (high_privacy.mechanism, [5, 3, 4, 7, 1], 0),
        (high_privacy_ball.mechanism, [5, 3, 4, 7, 1], "0.1"),
        (lambda cone, **options: randomized_response.mechanism(cone.P.size, cone.e, **options), [5, 3, 4, 7, 1], 2),
        (uniform.mechanism, [3] * 7, 0),
    ],
    ids=["high-privacy", "high-privacy-ball", "randomized-response", "uniform"],
)
def test_fractions_are_converted_before_they_are_copied(mechanism, counts, radius):
    """The same matrix as if all N^2 of them were converted, which takes long for thousands of symbols."""
    given_numbers = exact_cone(md.DesignProblem(md.L1Ball.from_counts(counts, radius=radius), "log(21/20)"))
    converted = mechanism(given_numbers, in_floats=True)
    assert converted.dtype == float
    assert converted.tolist() == mechanism(given_numbers).astype(float).tolist()
