import numpy as np
import pytest
from refusals import raises
from strategies import random_ball
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.comparison.rivals import WEAKER_THAN_LDP
from mechdesign.optimize.rays import Rays


def k_ary_randomized_response(size, epsilon):
    matrix = np.ones((size, size)) + (np.exp(epsilon) - 1) * np.eye(size)
    return matrix / matrix.sum(axis=1, keepdims=True)


def test_the_order_is_randomized_response_then_best_ldp_then_the_design():
    ball = random_ball(np.random.default_rng(1), 6, "0.05")
    comparison = md.compare(md.design(md.DesignProblem(ball, 1)))
    krr = md.MutualInformation().value(k_ary_randomized_response(6, 1), ball.prior)
    assert comparison.k_ary_randomized_response == pytest.approx(krr, abs=1e-12)
    assert krr < comparison.best_ldp.value < comparison.design.value
    assert comparison.best_ldp.certified
    assert comparison.best_ldp.problem.uncertainty.radius == 2


def test_the_best_ldp_mechanism_is_the_staircase_program():
    """A second side: a linear program over the 2^N columns with entries 1 and e."""
    import cvxpy as cp

    ball = random_ball(np.random.default_rng(2), 6, "0.05")
    staircase = 1 + (np.e - 1) * np.array([[S >> i & 1 for S in range(64)] for i in range(6)], dtype=float)
    utility = md.ChiSquare()
    weights = cp.Variable(64, nonneg=True)
    program = cp.Problem(cp.Maximize(utility.mu(staircase, ball.prior) @ weights), [staircase @ weights == 1])
    best = program.solve(solver=cp.CLARABEL)
    comparison = md.compare(md.design(md.DesignProblem(ball, 1, utility)))
    assert comparison.best_ldp.value == pytest.approx(best, abs=1e-7)


def test_at_radius_2_the_design_is_the_best_ldp_mechanism():
    ball = random_ball(np.random.default_rng(3), 5, 2)
    comparison = md.compare(md.design(md.DesignProblem(ball, "0.7")))
    assert comparison.best_ldp.value == pytest.approx(comparison.design.value, abs=ALGEBRA)


def test_gains_are_compared_beyond_the_reach_of_lists():
    ball = random_ball(np.random.default_rng(4), 30, "0.02")
    comparison = md.compare(md.design(md.DesignProblem(ball, 1, md.HammingAccuracy())))
    assert comparison.best_ldp.certified
    assert comparison.best_ldp.value <= comparison.design.value + CERTIFIED


def test_what_cannot_be_listed_is_said_to_be_missing(monkeypatch):
    ball = random_ball(np.random.default_rng(5), 5, "0.02")
    solved = md.design(md.DesignProblem(ball, 1))

    def refuses(*problem):
        raise md.LimitError("too many to list")

    monkeypatch.setattr("mechdesign.optimize.designer.solve", refuses)
    comparison = md.compare(solved)
    assert comparison.best_ldp is None
    assert comparison.best_ldp_missing == "too many to list"


def test_every_epsilon_is_compared():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.1")
    for epsilon in (0, "1e-30", "log(2)", 40):
        comparison = md.compare(md.design(md.DesignProblem(ball, epsilon)))
        assert comparison.k_ary_randomized_response <= comparison.best_ldp.upper_bound + ALGEBRA


def test_listing_limits_are_those_of_the_rays():
    assert Rays(md.L1Ball(["0.5", "0.5"], 2), 2.0).count("ABC") == 0


def test_a_problem_a_design_and_a_mechanism_are_compared():
    problem = md.DesignProblem(random_ball(np.random.default_rng(6), 4, "0.05"), 1, md.ChiSquare())
    solved = md.design(problem)
    numbers = [
        (found.value, found.design.value, found.best_ldp.value, found.k_ary_randomized_response)
        for found in map(md.compare, (problem, solved, solved.mechanism))
    ]
    assert numbers[0] == numbers[1] == numbers[2]
    assert numbers[0][0] == solved.value


def test_a_mechanism_is_compared_by_the_utility_given():
    ball = random_ball(np.random.default_rng(7), 4, "0.05")
    matrix = k_ary_randomized_response(4, 1)
    mechanism = md.Mechanism.from_matrix(matrix, md.Guarantee(1, ball))
    found = md.compare(mechanism, md.MutualInformation())
    assert found.value == pytest.approx(found.k_ary_randomized_response, abs=1e-12)
    assert found.value == pytest.approx(md.MutualInformation().value(matrix, ball.prior), abs=1e-12)
    assert found.design.value > found.value
    assert found.design.problem.utility == found.best_ldp.problem.utility == md.MutualInformation()
    with raises("missing-argument"):
        md.compare(mechanism)


def test_what_cannot_be_compared_is_refused():
    problem = md.DesignProblem(md.L1Ball([0.5, 0.5]), 1)
    with raises("wrong-type"):
        md.compare(3)
    for compared in (problem, md.design(problem)):
        with raises("needless-argument"):
            md.compare(compared, md.ChiSquare())


# Errors of estimates


RELATIONSHIP = {
    "Husband": 19716,
    "Not-in-family": 12583,
    "Own-child": 7581,
    "Unmarried": 5125,
    "Wife": 2331,
    "Other": 1506,
}


def textbook_error_of_randomized_response(prior, epsilon):
    """n times the summed variance of the inverse of k-ary randomized response: fractions of outputs vary binomially."""
    N, e = len(prior), np.exp(epsilon)
    kept, other = e / (e + N - 1), 1 / (e + N - 1)
    seen = prior * (kept - other) + other
    return (seen * (1 - seen)).sum() / (kept - other) ** 2


def error_problem(epsilon=1, **known):
    return md.DesignProblem(
        md.L1Ball.from_counts(RELATIONSHIP, **(known or {"known": True})), epsilon, md.EstimationError()
    )


def test_errors_are_compared_with_numbers_computed_apart():
    problem = error_problem(delta=1e-9, bound="weissman")
    found = md.compare(problem)
    assert found.value == pytest.approx(3.20837010, rel=1e-6)
    assert found.best_ldp.value == pytest.approx(15.25993074, rel=1e-6)
    assert found.best_ldp.lower_bound <= 15.25993075
    assert found.errors.subset_selection.value == pytest.approx(15.28, abs=0.005)
    assert found.errors.subset_selection.name == "subset selection of 2 categories"
    assert found.k_ary_randomized_response == pytest.approx(16.71, abs=0.005)
    expected = textbook_error_of_randomized_response(problem.uncertainty.prior, 1)
    assert found.k_ary_randomized_response == pytest.approx(expected, rel=1e-9)
    assert found.errors.best_for_information_error == pytest.approx(9.39, abs=0.005)
    assert found.errors.best_for_information.problem.utility == md.MutualInformation()
    assert found.respondents(found.best_ldp.lower_bound) == pytest.approx(15.25993074 / 3.20837010, rel=1e-6)
    assert found.promise == WEAKER_THAN_LDP


def test_no_ldp_mechanism_is_below_the_certified_best_one():
    for epsilon in ("0.1", "1", "3"):
        found = md.compare(error_problem(epsilon))
        least = found.best_ldp.lower_bound
        assert least <= found.errors.subset_selection.value * (1 + 1e-9)
        assert least <= found.k_ary_randomized_response * (1 + 1e-9)
        assert found.value <= found.errors.best_for_information_error


def test_at_radius_2_the_promise_lacks_nothing():
    found = md.compare(error_problem(radius=2))
    assert found.promise is None
    assert found.respondents(found.best_ldp.value) == pytest.approx(1)


def test_utilities_are_compared_without_errors():
    found = md.compare(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], "0.1"), 1))
    assert (found.errors, found.promise) == (None, None)
    with raises("wrong-objective", "mutual-information"):
        found.respondents(1.0)


def test_a_mechanism_for_information_is_compared_by_its_error():
    problem = md.DesignProblem(md.L1Ball.from_counts(RELATIONSHIP, delta=1e-9, bound="weissman"), 1)
    found = md.compare(md.design(problem).mechanism, md.EstimationError())
    assert found.value == pytest.approx(found.errors.best_for_information_error)
    assert found.design.value == pytest.approx(3.20837010, rel=1e-6)
    assert found.respondents(found.design.value) == pytest.approx(3.20837 / 9.39, rel=1e-3)


def test_what_limits_leave_out_is_said(monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.estimation.subset_selection_error.MOST_SYMBOLS", 5)
    found = md.compare(error_problem())
    assert found.errors.subset_selection is None
    assert found.errors.subset_selection_missing.startswith("there are 6 categories")


def test_an_objective_that_nobody_can_estimate_is_refused():
    with raises("no-method", match="epsilon = 0 allows only the constant mechanism"):
        md.compare(error_problem(0))
    with raises("design-not-identifiable", "epsilon = 1e-20 is too small"):
        md.compare(error_problem("1e-20"))
