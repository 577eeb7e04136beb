"""Numbers and statements that "Privacy Mechanism Design based on Empirical Distributions" (ED) prints."""

from fractions import Fraction

import numpy as np
import pytest
from strategies import random_ball
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.optimize.closed_form import binary, high_privacy, uniform
from mechdesign.optimize.closed_form.form import exact_cone

EXAMPLE_1 = np.array(
    [
        [0.325, 0.225, 0.225, 0.225],
        [0.45, 0.1, 0.225, 0.225],
        [0.45, 0.225, 0.1, 0.225],
        [0.45, 0.225, 0.225, 0.1],
    ]
)
PRIOR_1 = [0.4, 0.2, 0.2, 0.2]


def test_example_1_is_what_the_solver_and_the_theorem_find():
    problem = md.DesignProblem(md.L1Ball(PRIOR_1), "log(9/8)")
    np.testing.assert_allclose(high_privacy.solve(problem).matrix, EXAMPLE_1, atol=ALGEBRA)
    found = md.design(problem).mechanism.matrix
    order = [0, *(1 + np.argsort(found[1:, 1:].argmin(axis=0)))]
    np.testing.assert_allclose(found[:, order], EXAMPLE_1, atol=1e-12)


def test_example_1_leaks_epsilon_in_every_output():
    """ED eq. (12): an extremal mechanism has leakage epsilon everywhere."""
    np.testing.assert_allclose(md.leakage(EXAMPLE_1, PRIOR_1), np.log(9 / 8), atol=ALGEBRA)


def test_example_2_two_singular_mechanism_of_ten_symbols():
    problem = md.DesignProblem(md.L1Ball(["0.1"] * 10), "log(5)")
    matrix = uniform.solve(problem).matrix
    assert set(np.unique(matrix)) == {0.0, 0.5}
    np.testing.assert_allclose([matrix.sum(axis=0), matrix.sum(axis=1)], 1, atol=ALGEBRA)
    np.testing.assert_allclose(md.leakage(matrix, [0.1] * 10), np.log(5), atol=ALGEBRA)
    assert md.design(problem).value == pytest.approx(np.log(5), abs=CERTIFIED)


def test_remark_3_warners_mechanism_at_the_whole_simplex():
    """p1 = 1/2 and beta = 1: the ball is the set of all priors on two symbols."""
    problem = md.DesignProblem(md.L1Ball(["0.5", "0.5"], 1), "0.8")
    e = np.exp(0.8)
    warner = np.array([[e, 1], [1, e]]) / (1 + e)
    np.testing.assert_allclose(binary.solve(problem).matrix, warner, atol=ALGEBRA)
    np.testing.assert_allclose(md.design(problem).mechanism.matrix, warner, atol=1e-12)


def test_theorem_5_is_equation_41_and_not_the_slip_of_equation_93():
    problem = md.DesignProblem(md.L1Ball(["0.6", "0.4"], "0.2"), "log(3/2)")
    p, half, e = Fraction(3, 5), Fraction(1, 10), Fraction(3, 2)
    matrix = binary.mechanism(exact_cone(problem))
    assert matrix[0, 0] == e * (1 - p + half) / (1 + 2 * half * e)
    slip = e * (1 - p - half) / (1 + 2 * half * e)
    column = [slip, 1 - e * (p + half) / (1 + 2 * half * e)]
    ratio = max(column) / problem.uncertainty.exact_support([int(x * 10**6) for x in column]) * 10**6
    assert ratio < e * Fraction(99, 100), "with the slip the leakage is not epsilon, so that it is not extremal"


def test_mechanisms_for_the_smaller_epsilon_of_equation_43_are_private_in_the_ball():
    """ED eq. (44): epsilon'-PML for the estimate is epsilon-PML in the ball, e' = e / (1 + t e)."""
    rng = np.random.default_rng(4)
    for radius in ("0.01", "0.1", "0.4"):
        ball = random_ball(rng, 5, radius)
        e, t = Fraction(3), ball.half_radius
        known = md.design(md.DesignProblem(ball.with_radius(0), f"log({e / (1 + t * e)})"))
        assert md.leakage_capacity(known.mechanism.matrix, ball) <= np.log(3) + 1e-12
        robust = md.design(md.DesignProblem(ball, "log(3)"))
        assert known.value <= robust.upper_bound


def test_corollary_1_a_hull_is_as_good_as_its_extreme_points():
    priors = [["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"]]
    inner = ["0.4", "0.3", "0.3"]
    few = md.design(md.DesignProblem(md.ConvexHull(priors, [1, 0]), 1, md.HammingAccuracy()))
    more = md.design(md.DesignProblem(md.ConvexHull([*priors, inner], [1, 0, 0]), 1, md.HammingAccuracy()))
    assert few.value == pytest.approx(more.value, abs=CERTIFIED)


def test_every_mechanism_satisfies_epsilon_max():
    """Releasing the data unchanged is epsilon_max-PML with epsilon_max = -log min P."""
    assert md.epsilon_min(np.eye(4), PRIOR_1) == pytest.approx(-np.log(0.2), abs=ALGEBRA)
    problem = md.DesignProblem(md.L1Ball(PRIOR_1), "log(5)")
    np.testing.assert_array_equal(md.design(problem).mechanism.matrix, np.eye(4))


@pytest.mark.parametrize(("region", "zeros"), [("1.1", 0), ("1.3", 1), ("2.0", 2), ("3.0", 3)])
def test_definition_4_a_column_has_fewer_zeros_than_the_number_of_its_region(region, zeros):
    """exp(epsilon_k) = 1 / (sum of the N - k largest probabilities): 1.25, 5/3, 2.5 for Example 1's prior."""
    solved = md.design(md.DesignProblem(md.L1Ball(["0.4", "0.2", "0.2", "0.2"]), f"log({region})"))
    # A row that has no other entry to take up its rounding may turn a zero into a few units of 2^-48.
    assert (solved.mechanism.matrix < 1e-12).sum(axis=0).max() == zeros


def test_theorem_1_of_pointwise_maximal_leakage():
    """Leakage is the Renyi divergence of order infinity between posterior and prior."""
    prior = np.array([0.4, 0.2, 0.2, 0.2])
    posterior = prior[:, None] * EXAMPLE_1 / (prior @ EXAMPLE_1)
    divergence = np.log((posterior / prior[:, None]).max(axis=0))
    np.testing.assert_allclose(md.leakage(EXAMPLE_1, prior), divergence, atol=ALGEBRA)


@pytest.mark.parametrize(
    ("epsilon", "samples", "guaranteed", "categories"), [("log(5)", 3035, 2, 20), (1, 900, 1.5, 4)]
)
def test_corollary_3_equation_39(epsilon, samples, guaranteed, categories):
    step = np.exp(-float(md.Epsilon.of(epsilon))) - np.exp(-guaranteed)
    printed = (2**categories - 2) * np.exp(-2 * samples * step**2)
    assert md.planning.delta_min(epsilon, guaranteed, samples, categories) == pytest.approx(min(1, printed), rel=1e-9)


@pytest.mark.parametrize("samples", [100, 1000, 10**6])
def test_equation_45_is_the_radius_of_two_symbols(samples):
    from mechdesign.uncertainty import weissman_radius

    assert weissman_radius(samples, 2, "1e-6") == pytest.approx(np.sqrt(2 * np.log(2e6) / samples), rel=1e-9)


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_remark_4_the_laplace_mechanism_over_all_priors_is_locally_private(scale):
    """p_min = 1/2 and beta = 1 in equation (50) leave 2/b; a known prior has equation (49)."""
    from mechdesign.additive_noise.laplace import laplace_epsilon

    assert laplace_epsilon(scale, "0.5", 1) == pytest.approx(2 / scale, rel=ALGEBRA)
    printed = 2 / scale - np.log(np.exp(2 / scale) * 0.3 + 0.7)
    assert laplace_epsilon(scale, "0.3") == pytest.approx(printed, rel=1e-9)


def test_theorem_4_bounds_the_sensitivity_of_both_examples():
    """Equation (32): the first region for Example 1, and -log(1 - beta e / 2), which Example 2 attains."""
    from mechdesign.pml import sensitivity_bound_any_region, sensitivity_bound_first_region

    beta = 0.05
    first = -np.log(1 - beta / 2 * (9 / 8 - 1) / 0.2)
    assert sensitivity_bound_first_region("log(9/8)", beta, "0.2") == pytest.approx(first, rel=1e-9)
    assert sensitivity_bound_any_region("log(5)", beta) == pytest.approx(-np.log(1 - beta * 5 / 2), rel=1e-9)
