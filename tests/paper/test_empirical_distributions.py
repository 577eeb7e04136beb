"""Numbers that "Privacy Mechanism Design based on Empirical Distributions" (ED) prints, in the order of the paper.

Each test names its place in the paper. What other files hold is not repeated here; comments point there. The numbers
below cannot be held, for the reason that is given:

- Figures 2a and 2b: how the 10,000 distributions are drawn, how far they lie, and which 2-singular mechanism is meant.
- Figure 3a: the numbers of samples; Figure 3b: the epsilons.
- Figure 4: the numbers of samples and the epsilons; Figure 5: the feature, the numbers of samples and the deltas.
- Figures 6a, 6b and 7: the numbers of samples except m = 100, the epsilons, and the grid of the paper's search.
- Figures 4 and 5: the random shuffles and the noise. Means over 100 of them are compared with expectations instead.
- Every curve itself: the text of the paper has captions and no values, so that curves are held to their equations.

"Significant", "substantial" and "strongly" are not numbers; what can be said for them is in the tests of the figures.
Of [15] see test_extremal_mechanisms.py; the texts of [11], [13], [25], [31] and [34] are not at hand.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from strategies import F_INFORMATIONS, random_ball, random_mechanism
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from figures import figure_2a, figure_2b, figure_3a, figure_3b, figure_4, figure_5, figure_6a, figure_6b, figure_7
from figures.lib import binary_laplace, gaussian_curves
from figures.lib.output import FOLDER
from mechdesign.additive_noise import laplace_epsilon, laplace_threshold_matrix, pldp_delta_exact, pldp_sigma
from mechdesign.optimize.closed_form import binary, high_privacy, uniform
from mechdesign.optimize.closed_form.form import exact_cone
from mechdesign.planning import delta_min, guaranteed_epsilon
from mechdesign.pml import (
    epsilon_at,
    epsilon_max,
    leakage_tail,
    privacy_region,
    privacy_regions,
    sensitivity_bound_any_region,
    sensitivity_bound_first_region,
    worst_case_leakage,
)
from mechdesign.uncertainty import failure_probability, kappa, phi, weissman_radius
from mechdesign.uncertainty.balance import Kappa

EXAMPLE_1 = np.array(
    [
        [0.325, 0.225, 0.225, 0.225],
        [0.45, 0.1, 0.225, 0.225],
        [0.45, 0.225, 0.1, 0.225],
        [0.45, 0.225, 0.225, 0.1],
    ]
)
PRIOR_1 = [0.4, 0.2, 0.2, 0.2]
# Two symbols with a ball, in the condition of Theorem 5: p1 = 3/5, beta = 1/5, exp(epsilon) = 3/2.
P, HALF, E = Fraction(3, 5), Fraction(1, 10), Fraction(3, 2)
PI_1, PI_2 = (P + HALF, 1 - P - HALF), (P - HALF, 1 - P + HALF)


def two_symbols():
    return md.DesignProblem(md.L1Ball(["0.6", "0.4"], "0.2"), "log(3/2)")


# Section I and Section II-A.


def test_section_1_ldp_is_pml_for_all_priors_and_its_worst_prior_is_degenerate():
    """Remark 1 too: over all priors the capacity is the lift capacity, the greatest quotient in a column."""
    worst = worst_case_leakage(EXAMPLE_1, md.L1Ball(PRIOR_1, 2))
    assert worst.value == pytest.approx(np.log((EXAMPLE_1.max(axis=0) / EXAMPLE_1.min(axis=0)).max()), abs=ALGEBRA)
    assert worst.value == pytest.approx(np.log(2.25), abs=ALGEBRA)
    assert sorted(worst.prior) == [0, 0, 0, 1]


def test_section_1_pml_allows_zeros_and_ldp_does_not():
    with_zeros = two_singular([10])
    assert md.leakage_capacity(with_zeros, md.L1Ball(["0.1"] * 10)) == pytest.approx(np.log(5), abs=ALGEBRA)
    assert md.leakage_capacity(with_zeros, md.L1Ball(["0.1"] * 10, 2)) == math.inf


def test_definition_1_no_gain_function_exceeds_the_leakage_and_one_attains_it():
    """Equation (1), with guesses w in a set of three."""
    rng = np.random.default_rng(1)
    prior = np.array(PRIOR_1)
    posterior = prior[:, None] * EXAMPLE_1 / (prior @ EXAMPLE_1)
    leaked = np.exp(md.leakage(EXAMPLE_1, prior))
    for gain in rng.exponential(size=(500, 3, 4)) ** 3:
        assert ((gain @ posterior).max(axis=0) <= leaked * (gain @ prior).max() * (1 + ALGEBRA)).all()
    guess_the_symbol = np.diag(1 / prior)
    assert (guess_the_symbol @ prior).max() == pytest.approx(1, abs=ALGEBRA)
    np.testing.assert_allclose((guess_the_symbol @ posterior).max(axis=0), leaked, rtol=ALGEBRA)


def test_theorem_1_of_pointwise_maximal_leakage():
    """Equations (2) to (4): leakage is the Renyi divergence of order infinity between posterior and prior."""
    prior = np.array(PRIOR_1)
    posterior = prior[:, None] * EXAMPLE_1 / (prior @ EXAMPLE_1)
    divergence = np.log((posterior / prior[:, None]).max(axis=0))
    np.testing.assert_allclose(md.leakage(EXAMPLE_1, prior), divergence, atol=ALGEBRA)
    np.testing.assert_allclose(np.log((EXAMPLE_1 / (prior @ EXAMPLE_1)).max(axis=0)), divergence, atol=ALGEBRA)


def test_definitions_2_and_3_with_delta_0_and_1():
    """(epsilon, 0)-PML is epsilon-PML; every mechanism is (epsilon, 1)-PML, for epsilon = 0 already."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        matrix = random_mechanism(rng, 4, 3)
        least = md.epsilon_min(matrix, PRIOR_1)
        assert epsilon_at(matrix, PRIOR_1, 0) == pytest.approx(least, abs=1e-9)
        assert leakage_tail(matrix, PRIOR_1, least + 1e-9) == 0 < leakage_tail(matrix, PRIOR_1, max(0, least - 1e-9))
        assert epsilon_at(matrix, PRIOR_1, 1) == 0


def test_every_mechanism_satisfies_epsilon_max():
    """Releasing the data unchanged is epsilon_max-PML with epsilon_max = -log min P."""
    assert md.epsilon_min(np.eye(4), PRIOR_1) == pytest.approx(-np.log(0.2), abs=ALGEBRA)
    assert epsilon_max(PRIOR_1) == pytest.approx(-np.log(0.2), abs=ALGEBRA)
    problem = md.DesignProblem(md.L1Ball(PRIOR_1), "log(5)")
    np.testing.assert_array_equal(md.design(problem).mechanism.matrix, np.eye(4))


@pytest.mark.parametrize("epsilon", ["0.2", "0.6", "1", "1.4"])
def test_footnote_2_more_outputs_than_symbols_do_not_help(epsilon):
    solved = md.design(md.DesignProblem(md.L1Ball(PRIOR_1), epsilon))
    assert solved.mechanism.matrix.shape[1] <= 4
    rng = np.random.default_rng(3)
    for _ in range(20):
        matrix = rng.dirichlet(np.full(12, 0.1), 4)
        mean = np.array(PRIOR_1) @ matrix
        # Mixed with its output distribution until the greatest leakage is epsilon.
        share = min(1, np.expm1(float(epsilon)) / np.expm1(md.epsilon_min(matrix, PRIOR_1)))
        matrix = share * matrix + (1 - share) * mean
        assert md.epsilon_min(matrix, PRIOR_1) <= float(epsilon) + ALGEBRA
        assert md.MutualInformation().value(matrix, np.array(PRIOR_1)) <= solved.upper_bound


def test_example_1_leaks_epsilon_in_every_output():
    """ED eq. (12): an extremal mechanism has leakage epsilon everywhere."""
    # Not so the constant mechanism, which is an extreme point too:
    # test_a_constant_mechanism_is_a_vertex_of_the_polytope_and_far_from_the_bound in tests/pml/test_bounds.py.
    np.testing.assert_allclose(md.leakage(EXAMPLE_1, PRIOR_1), np.log(9 / 8), atol=ALGEBRA)


@pytest.mark.parametrize(("region", "zeros"), [("1.1", 0), ("1.3", 1), ("2.0", 2), ("3.0", 3)])
def test_definition_4_a_column_has_fewer_zeros_than_the_number_of_its_region(region, zeros):
    """exp(epsilon_k) = 1 / (sum of the N - k largest probabilities): 1.25, 5/3, 2.5 for Example 1's prior."""
    np.testing.assert_allclose(np.exp(privacy_regions(PRIOR_1)), [1, 5 / 4, 5 / 3, 5 / 2], rtol=ALGEBRA)
    assert privacy_region(PRIOR_1, f"log({region})") == zeros + 1
    solved = md.design(md.DesignProblem(md.L1Ball(["0.4", "0.2", "0.2", "0.2"]), f"log({region})"))
    # A row that has no other entry to take up its rounding may turn a zero into a few units of 2^-48.
    assert (solved.mechanism.matrix < 1e-12).sum(axis=0).max() == zeros
    # The regions 1 to N - 1 do not reach epsilon_max: test_the_regions_of_definition_4_end_below_epsilon_max in
    # tests/pml/test_regions.py.


# Section II-B and Section III. That the tail is not above (17) is in tests/uncertainty/test_weissman.py, exactly.


def test_equations_13_and_14_the_estimate_and_its_distance():
    samples = ["a", "b", "a", "c", "a", "b", "a", "a"]
    ball = md.L1Ball.from_samples(samples, labels=["a", "b", "c"], radius="0.5")
    assert ball.center == (Fraction(5, 8), Fraction(1, 4), Fraction(1, 8))
    # |5/8 - 3/8| + |1/4 - 3/8| + |1/8 - 1/4| = 1/2.
    assert ball.contains(["3/8", "3/8", "1/4"])
    assert not ball.contains(["0.3749", "0.3751", "0.25"])


def test_equation_15_at_the_ends_of_its_domain():
    """phi falls from infinity at 0, which (2, infinity) leaves out, to 2 at 1/2."""
    assert (phi(0), phi(0.5)) == (math.inf, 2)
    masses = np.linspace(0, 0.5, 51).round(2).tolist()
    values = [phi(p) for p in masses]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 51
    printed = [np.log((1 - p) / p) / (1 - 2 * p) for p in masses[1:-1]]
    np.testing.assert_allclose(values[1:-1], printed, rtol=1e-9)


def test_equation_16_reaches_one_half_and_is_0_where_a_symbol_is_certain():
    assert kappa(["0.3", "0.2", "0.4", "0.1"]) == Kappa(Fraction(1, 2), exact=True)
    assert kappa(["0.4", "0.2", "0.2", "0.2"]) == Kappa(Fraction(2, 5), exact=True)
    # Printed for all distributions as (0, 0.5]; those without full support may have 0.
    assert kappa([1, 0, 0]) == Kappa(Fraction(0), exact=True)


PRIORS = [["1/2", "1/2"], ["9/10", "1/10"], ["2/5", "1/5", "1/5", "1/5"], ["1/10"] * 10]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("samples", "radius"), [(1000, 0.2), (300, 0.5)])
def test_theorem_2_equations_17_20_and_21(prior, samples, radius):
    N, factor = len(prior), phi(kappa(prior).value)
    printed = (2**N - 2) * np.exp(-samples * factor * radius**2 / 4)
    found = failure_probability(samples, N, radius, prior)
    assert found == pytest.approx(min(1, printed), rel=1e-9, abs=0)
    least = 2 * np.sqrt((np.log(2**N - 2) - np.log(found)) / (samples * factor))
    if found < 1:
        assert least == pytest.approx(radius, rel=1e-9)
        assert weissman_radius(samples, N, found) == pytest.approx(
            np.sqrt(2 / samples * (np.log(2**N - 2) - np.log(found))), rel=1e-9
        )
        # Independent of the prior the radius is never smaller, and equal where a set has mass 1/2.
        assert weissman_radius(samples, N, found) >= least * (1 - 1e-12)
    equal = failure_probability(samples, N, radius, bound="weissman") == pytest.approx(found, rel=1e-12, abs=0)
    assert equal == (factor == 2 or found == 1)


@pytest.mark.parametrize("N", range(2, 12))
def test_section_3_a_uniform_prior_has_phi_2_for_even_alphabets_and_nearly_so_for_odd_ones(N):
    factor = phi(kappa([f"1/{N}"] * N).value)
    if N % 2 == 0:
        assert factor == 2
    else:
        # kappa = (N - 1) / (2 N): 3 log 2 = 2.079, 5 log(3/2) = 2.027, ...
        assert factor == pytest.approx(N * np.log((N + 1) / (N - 1)), rel=1e-12)
        assert 2 < factor < 2 + 2 / (3 * (N**2 - 1))


# Section IV-A. Proposition 1: test_leakage_is_convex_in_the_prior in tests/pml/test_pointwise.py. Definition 5:
# tests/pml/test_capacity.py. Theorem 3 and Appendix A: test_theorem_3_and_half_of_it_hold_between_all_members in
# tests/pml/test_bounds.py.


def test_corollary_1_a_hull_is_as_good_as_its_extreme_points():
    priors = [["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"]]
    inner = ["0.4", "0.3", "0.3"]
    few = md.design(md.DesignProblem(md.ConvexHull(priors, [1, 0]), 1, md.HammingAccuracy()))
    more = md.design(md.DesignProblem(md.ConvexHull([*priors, inner], [1, 0, 0]), 1, md.HammingAccuracy()))
    assert few.value == pytest.approx(more.value, abs=CERTIFIED)


# Section IV-B and IV-C. Remark 2, whose lines (29) and (30) are not equal in general, and the same claim in the caption
# of Figure 2: test_the_greatest_divergence_of_the_outputs_is_not_definition_6 in tests/pml/test_sensitivity.py.
# Theorem 4 and Appendix B, where the bound is attained and where not, footnotes 4 and 5, and Corollary 2:
# tests/pml/test_bounds.py. Points and bound of Figures 2a and 2b: tests/figures/test_sensitivity_figures.py.


def test_theorem_4_bounds_the_sensitivity_of_both_examples():
    """Equation (32): the first region for Example 1, and -log(1 - beta e / 2), which Example 2 attains."""
    beta = 0.05
    first = -np.log(1 - beta / 2 * (9 / 8 - 1) / 0.2)
    assert sensitivity_bound_first_region("log(9/8)", beta, "0.2") == pytest.approx(first, rel=1e-9)
    assert sensitivity_bound_any_region("log(5)", beta) == pytest.approx(-np.log(1 - beta * 5 / 2), rel=1e-9)


def test_example_1_is_what_the_solver_and_the_theorem_find():
    problem = md.DesignProblem(md.L1Ball(PRIOR_1), "log(9/8)")
    np.testing.assert_allclose(high_privacy.solve(problem).matrix, EXAMPLE_1, atol=ALGEBRA)
    found = md.design(problem).mechanism.matrix
    order = [0, *(1 + np.argsort(found[1:, 1:].argmin(axis=0)))]
    np.testing.assert_allclose(found[:, order], EXAMPLE_1, atol=1e-12)
    np.testing.assert_array_equal(figure_2a.MECHANISM, EXAMPLE_1)


@pytest.mark.parametrize("utility", [*F_INFORMATIONS, md.HammingAccuracy()], ids=lambda u: u.name)
def test_example_1_is_optimal_for_sub_convex_utilities_in_the_first_region(utility):
    assert privacy_region(PRIOR_1, "log(9/8)") == 1
    solved = md.design(md.DesignProblem(md.L1Ball(PRIOR_1), "log(9/8)", utility))
    assert solved.certified
    assert utility.value(EXAMPLE_1, np.array(PRIOR_1)) == pytest.approx(solved.value, abs=CERTIFIED)


def test_equation_87_is_attained_by_example_1_in_all_columns_but_the_first():
    """ED says that the bound is tight for extremal mechanisms. In the first column it is 0.2 and the least entry 0.325.

    The bound is attained only where the least entry of a column is that of a least probable symbol.
    """
    prior, e, p_min = np.array(PRIOR_1), 9 / 8, 0.2
    bound = (1 - e * (1 - p_min)) / p_min * (prior @ EXAMPLE_1)
    np.testing.assert_allclose(bound, [0.2, 0.1, 0.1, 0.1], atol=ALGEBRA)
    np.testing.assert_allclose(EXAMPLE_1.min(axis=0), [0.325, 0.1, 0.1, 0.1], atol=ALGEBRA)


def test_equation_87_holds_for_mechanisms_of_the_first_region():
    rng, prior = np.random.default_rng(5), np.array(PRIOR_1)
    for _ in range(200):
        matrix = rng.dirichlet(np.ones(5), 4)
        share = 0.25 * rng.random() / np.expm1(md.epsilon_min(matrix, prior))
        matrix = share * matrix + (1 - share) * (prior @ matrix)
        e = np.exp(md.epsilon_min(matrix, prior))
        assert 1 <= e < 1 / 0.8
        assert (matrix.min(axis=0) >= (1 - e * 0.8) / 0.2 * (prior @ matrix) - ALGEBRA).all()


def two_singular(cycles):
    """A 2-singular mechanism: output j may come from symbols j and j + 1 of its cycle."""
    matrix, start = np.zeros((sum(cycles), sum(cycles))), 0
    for length in cycles:
        here = start + np.arange(length)
        matrix[here, here] += 0.5
        matrix[np.roll(here, -1), here] += 0.5
        start += length
    return matrix


def test_example_2_two_singular_mechanism_of_ten_symbols():
    problem = md.DesignProblem(md.L1Ball(["0.1"] * 10), "log(5)")
    matrix = uniform.solve(problem).matrix
    assert set(np.unique(matrix)) == {0.0, 0.5}
    np.testing.assert_allclose([matrix.sum(axis=0), matrix.sum(axis=1)], 1, atol=ALGEBRA)
    np.testing.assert_allclose(md.leakage(matrix, [0.1] * 10), np.log(5), atol=ALGEBRA)
    assert md.design(problem).value == pytest.approx(np.log(5), abs=CERTIFIED)


@pytest.mark.parametrize("cycles", [[10], [5, 5], [3, 7], [2] * 5, [4, 3, 3]], ids=str)
def test_example_2_every_two_singular_mechanism_leaks_log_5_and_has_the_greatest_information(cycles):
    matrix, prior = two_singular(cycles), np.full(10, 0.1)
    np.testing.assert_allclose(md.leakage(matrix, prior), np.log(5), atol=ALGEBRA)
    for utility in F_INFORMATIONS:
        best = md.design(md.DesignProblem(md.L1Ball(["0.1"] * 10), "log(5)", utility)).value
        assert utility.value(matrix, prior) == pytest.approx(best, abs=CERTIFIED)


def is_half_way_between_private_mechanisms(matrix, exp_epsilon):
    """Columns v_j (1 + s_j) and v_j (1 - s_j), where sum_j s_j v_j = 0: a multiple of a column leaks what it does."""
    _, values, directions = np.linalg.svd(matrix)
    if values[-1] > 1e-9:
        return False
    scales = directions[-1] / (2 * np.abs(directions[-1]).max())
    for other in (matrix * (1 + scales), matrix * (1 - scales)):
        np.testing.assert_allclose(other.sum(axis=1), 1, atol=ALGEBRA)
        assert md.epsilon_min(other, np.full(len(matrix), 1 / len(matrix))) <= np.log(exp_epsilon) + ALGEBRA
    return bool(np.abs(scales).max() > 0)


@pytest.mark.parametrize(
    ("cycles", "extremal"), [([5, 5], True), ([3, 7], True), ([10], False), ([2] * 5, False), ([4, 3, 3], False)]
)
def test_example_2_not_every_singular_mechanism_is_extremal(cycles, extremal):
    """ED calls k-singular mechanisms extremal. Where their columns are dependent they are not extreme points.

    Those of 2-singular mechanisms are independent exactly if each cycle of symbols is odd. The circulant one is not.
    """
    assert is_half_way_between_private_mechanisms(two_singular(cycles), 5) == (not extremal)


def test_example_2_not_every_singular_mechanism_is_optimal_for_every_sub_convex_utility():
    """They are for those that do not distinguish symbols. This one asks in which half X lies."""
    pairs, others = np.kron(np.eye(2), np.full((2, 2), 0.5)), np.array([0, 2, 1, 3])
    gain = md.ExpectedGain([[1, 0, 1, 0], [0, 1, 0, 1]])
    values = [gain.value(matrix, np.full(4, 0.25)) for matrix in (pairs, pairs[others])]
    assert values == pytest.approx([1 / 2, 1], abs=ALGEBRA)
    for matrix in (pairs, pairs[others]):
        np.testing.assert_allclose(md.leakage(matrix, np.full(4, 0.25)), np.log(2), atol=ALGEBRA)


# Section IV-D. The curves of Figures 3a and 3b: tests/figures/test_trade_off_figures.py.


@pytest.mark.parametrize(
    ("epsilon", "samples", "guaranteed", "categories"), [("log(5)", 3035, 2, 20), (1, 900, 1.5, 4)]
)
def test_corollary_3_equation_39(epsilon, samples, guaranteed, categories):
    step = np.exp(-float(md.Epsilon.of(epsilon))) - np.exp(-guaranteed)
    printed = (2**categories - 2) * np.exp(-2 * samples * step**2)
    found = delta_min(epsilon, guaranteed, samples, categories, bound="weissman")
    assert found == pytest.approx(min(1, printed), rel=1e-9)


@pytest.mark.parametrize("samples", [1_000, 10_000, 10**6])
def test_equations_37_and_38_for_twenty_symbols_epsilon_log_5_and_delta_1e_minus_5(samples):
    beta = np.sqrt(2 / samples * (np.log(2**20 - 2) - np.log(1e-5)))
    assert weissman_radius(samples, 20, "1e-5") == pytest.approx(beta, rel=1e-12)
    printed = np.log(5) + np.log(1 / (1 - beta * 5 / 2))
    assert guaranteed_epsilon("log(5)", "1e-5", samples, 20, bound="weissman") == pytest.approx(printed, rel=1e-9)


def test_section_1a_delta_falls_exponentially_in_the_number_of_samples():
    logs = [np.log(delta_min("log(5)", "2", m, 20, bound="weissman") / (2**20 - 2)) for m in (4_000, 8_000, 16_000)]
    assert logs[1:] == pytest.approx([2 * logs[0], 4 * logs[0]], rel=1e-9)


# Section V. Proposition 2 and Appendix D row by row: tests/optimize/test_polytope.py. Theorem 5 on random problems, and
# the second region that footnote 6 leaves out: tests/optimize/closed_form/test_closed_form.py.


@pytest.mark.combined
@pytest.mark.parametrize("utility", [*F_INFORMATIONS, md.HammingAccuracy()], ids=lambda u: u.name)
@pytest.mark.parametrize(("p1", "beta"), [("0.5", "0.3"), ("0.6", "0.2"), ("0.8", "0.39")])
def test_theorem_5_up_to_the_end_of_its_condition(utility, p1, beta):
    p, t = Fraction(p1), Fraction(beta) / 2
    for part in (Fraction(1, 3), Fraction(1)):
        e = 1 + part * (1 / (p - t) - 1)
        printed = np.array([[e * (1 - p + t), 1 - e * (1 - p - t)], [1 - e * (p - t), e * (p + t)]]) / (1 + 2 * t * e)
        assert (printed.sum(axis=1) == 1).all()
        solved = md.design(md.DesignProblem(md.L1Ball([p, 1 - p], beta), f"log({e})", utility))
        value = utility.value(printed.astype(float), np.array([float(p), float(1 - p)]))
        # Between what the rounded mechanism reaches and what no mechanism exceeds.
        assert solved.value - ALGEBRA <= value <= solved.upper_bound + ALGEBRA
        assert solved.certified


def test_theorem_5_is_equation_41_and_not_the_slip_of_equation_93():
    problem = two_symbols()
    matrix = binary.mechanism(exact_cone(problem))
    assert matrix[0, 0] == E * (1 - P + HALF) / (1 + 2 * HALF * E)
    slip = E * (1 - P - HALF) / (1 + 2 * HALF * E)
    column = [slip, 1 - E * (P + HALF) / (1 + 2 * HALF * E)]
    ratio = max(column) / problem.uncertainty.exact_support([int(x * 10**6) for x in column]) * 10**6
    assert ratio < E * Fraction(99, 100), "with the slip the leakage is not epsilon, so that it is not extremal"


def test_the_condition_of_theorem_5_does_not_ensure_the_first_region_in_the_whole_ball():
    """ED: epsilon < -log(p1 - beta/2) ensures the first privacy region for all distributions in the ball.

    It does for (p1 - beta/2, p2 + beta/2), which is one end of the ball. For p1 = 0.6 and beta = 0.2 the condition is
    epsilon < log 2, and log(3/2) is in the second region of the other end, (0.7, 0.3), which begins at log(10/7). For
    the whole ball it takes epsilon < -log(p1 + beta/2). The theorem itself is right under its condition.
    """
    assert E < 1 / (P - HALF)
    ball = two_symbols().uncertainty
    assert ball.contains(PI_1)
    assert ball.contains(PI_2)
    assert privacy_region(PI_1, "log(3/2)") == 2
    assert privacy_region(PI_2, "log(3/2)") == privacy_region(ball.center, "log(3/2)") == 1
    for e, region in (("99/70", 1), ("10/7", 2)):
        assert privacy_region(PI_1, f"log({e})") == region
    form = binary.solve(two_symbols())
    assert form.matrix.min() > 0
    assert md.design(two_symbols()).value == pytest.approx(
        md.MutualInformation().value(form.matrix, np.array([0.6, 0.4])), abs=CERTIFIED
    )


def test_remark_3_warners_mechanism_at_the_whole_simplex():
    """p1 = 1/2 and beta = 1: the ball is the set of all priors on two symbols."""
    problem = md.DesignProblem(md.L1Ball(["0.5", "0.5"], 1), "0.8")
    e = np.exp(0.8)
    warner = np.array([[e, 1], [1, e]]) / (1 + e)
    np.testing.assert_allclose(binary.solve(problem).matrix, warner, atol=ALGEBRA)
    np.testing.assert_allclose(md.design(problem).mechanism.matrix, warner, atol=1e-12)
    assert problem.uncertainty.contains([1, 0])
    assert problem.uncertainty.contains([0, 1])


def test_equation_43_is_the_epsilon_whose_bound_by_theorem_4_is_epsilon():
    """ED calls epsilon' the bound of Theorem 4 itself; it is what the bound takes to epsilon."""
    for e, t in ((3.0, 0.05), (1.5, 0.1), (9.0, 0.01)):
        smaller = float(np.log(e / (1 + t * e)))
        assert smaller + sensitivity_bound_any_region(smaller, 2 * t) == pytest.approx(np.log(e), rel=1e-9)
        assert smaller < np.log(e) < np.log(e) + sensitivity_bound_any_region(float(np.log(e)), 2 * t)


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


def test_the_inclusion_of_equation_44_is_proper():
    known = md.design(md.DesignProblem(md.L1Ball(["0.6", "0.4"]), f"log({E / (1 + HALF * E)})"))
    assert known.upper_bound < md.design(two_symbols()).value


def test_with_a_zero_in_every_column_the_constraints_are_those_of_the_smaller_epsilon():
    """After Proposition 2: a column with a zero is in the cone of the printed ball exactly if in that of eq. (43)."""
    rng, inside = np.random.default_rng(6), 0
    ball = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.1", within_simplex=False)
    e, t = Fraction(3), ball.half_radius
    for _ in range(300):
        column = [0, *rng.integers(0, 9, 3).tolist()]
        rng.shuffle(column)
        if any(column):
            mean = sum(p * v for p, v in zip(ball.center, column, strict=True))
            in_ball = max(column) <= e * ball.exact_support(column)
            assert in_ball == (max(column) <= e / (1 + t * e) * mean)
            inside += in_ball
    assert 50 < inside < 290


# Appendix C. The slip of (93) is above. (90) is printed for (89) where pi2 is put in to give (91).


def test_equations_91_to_94_are_the_entries_of_equation_41():
    matrix = binary.mechanism(exact_cone(two_symbols()))
    p11, p21 = matrix[:, 0]
    assert p21 == (1 - E * PI_2[0]) / (E * PI_2[1]) * p11
    cross = PI_2[0] * PI_1[1] - PI_1[0] * PI_2[1]
    assert p11 == (1 - E) * E * PI_2[1] / (1 - E * (PI_1[1] + PI_2[0] - E * cross))
    assert p21 == 1 - E * (P + HALF) / (1 + 2 * HALF * E)
    assert p11 >= p21


def test_each_of_equations_89_and_90_is_an_equality_for_one_end_of_the_ball_alone():
    matrix = binary.mechanism(exact_cone(two_symbols())).astype(float)
    at_1, at_2 = (np.exp(md.leakage(matrix, [float(p) for p in pi])) for pi in (PI_1, PI_2))
    assert [at_2[0], at_1[1]] == pytest.approx([1.5, 1.5], abs=ALGEBRA)
    assert max(at_1[0], at_2[1]) < 1.49


def vertices(e, priors):
    """The vertices (p11, p21) of the polygon of binary mechanisms that leak at most log(e) under every prior."""
    rows = []  # a p11 + b p21 <= c
    for a, b in priors:
        first, second = (1 - e * a, -e * b), (-e * a, 1 - e * b)
        rows += [(*first, Fraction(0)), (*second, Fraction(0))]
        rows += [(-x, -y, -(x + y)) for x, y in (first, second)]
    rows += [(Fraction(s if i == 0 else 0), Fraction(s if i else 0), Fraction(s > 0)) for i in (0, 1) for s in (1, -1)]
    found = set()
    for (a, b, c), (d, f, g) in combinations(rows, 2):
        if (det := a * f - b * d) != 0:
            x, y = (c * f - b * g) / det, (a * g - c * d) / det
            if all(u * x + v * y <= w for u, v, w in rows):
                found.add((x, y))
    return found


def test_footnote_8_two_vertices_are_trivial_and_the_other_two_are_theorem_5():
    matrix = binary.mechanism(exact_cone(two_symbols()))
    best = {tuple(matrix[:, 0]), tuple(matrix[:, 1])}
    assert vertices(E, [PI_1, PI_2]) == {(0, 0), (1, 1)} | best
    # The ends of the ball are its extreme points: priors between them add no vertex.
    assert vertices(E, [PI_1, (P, 1 - P), PI_2]) == {(0, 0), (1, 1)} | best


# Section VI-A. Equations (49) and (50) to 900 digits, and Appendix E: tests/additive_noise/test_laplace.py.


@pytest.mark.parametrize("samples", [100, 1000, 10**6])
def test_equation_45_is_the_radius_of_two_symbols(samples):
    assert weissman_radius(samples, 2, "1e-6") == pytest.approx(np.sqrt(2 * np.log(2e6) / samples), rel=1e-9)


def test_after_proposition_3_the_leakage_decreases_in_the_least_probability():
    leaked = [laplace_epsilon(1.0, p / 100) for p in range(1, 51)]
    assert leaked == sorted(leaked, reverse=True)
    assert len(set(leaked)) == 50


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_remark_4_the_laplace_mechanism_over_all_priors_is_locally_private(scale):
    """p_min = 1/2 and beta = 1 in equation (50) leave 2/b; a known prior has equation (49)."""
    assert laplace_epsilon(scale, "0.5", 1) == pytest.approx(2 / scale, rel=ALGEBRA)
    printed = 2 / scale - np.log(np.exp(2 / scale) * 0.3 + 0.7)
    assert laplace_epsilon(scale, "0.3") == pytest.approx(printed, rel=1e-9)
    with_radius = 2 / scale - np.log((0.3 - 0.1 / 2) * (np.exp(2 / scale) - 1) + 1)
    assert laplace_epsilon(scale, "0.3", "0.1") == pytest.approx(with_radius, rel=1e-9)


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("p1", [0.3, 0.7])
def test_appendix_e_equations_101_to_105_outcome_by_outcome(scale, p1):
    from mechdesign.additive_noise import noise_leakage

    def found(y):
        return np.exp(noise_leakage(lambda t: -np.abs(t) / scale, [-1, 1], [p1, 1 - p1], y))

    ratio, p2 = np.exp(2 / scale), 1 - p1
    # (104), where the bounds are equalities, and (105), which has the same bounds at y = 1 and y = -1.
    above, below = ratio / (ratio * p2 + p1), ratio / (ratio * p1 + p2)
    np.testing.assert_allclose(found([1, 1.5, 30]), above, rtol=1e-9)
    np.testing.assert_allclose(found([-1, -1.5, -30]), below, rtol=1e-9)
    assert (found([0, 0.3, 0.99]) < 1 / (p1 / ratio + p2)).all()
    assert (found([-0.01, -0.3, -0.99]) < 1 / (p2 / ratio + p1)).all()
    assert [above, below] == pytest.approx([1 / (p1 / ratio + p2), 1 / (p2 / ratio + p1)], rel=ALGEBRA)
    # (106): the greater of the two is that of the rarer symbol.
    assert np.log(max(above, below)) == pytest.approx(laplace_epsilon(scale, "0.3"), rel=1e-9)


# Section VI-B, equations (53) to (65): tests/additive_noise/test_gaussian.py. ED has (65) from a union bound, which
# gives delta_1 + delta_2; its last term needs that the output and the estimate are independent.

# Section VI-C. Figures 4 to 7 and what is said of them: tests/figures/test_additive_noise_figures.py; there also the
# experiment record by record, eq. (67), which prints N for m, the scale 2/epsilon of LDP, and delta = 0 in Figure 5.
# Equation (70), for sensitivity 2 as in footnote 7: tests/additive_noise/test_pldp.py.


def test_equation_66_decides_for_minus_1_below_0():
    np.testing.assert_allclose(
        laplace_threshold_matrix(1.3),
        [[stats.laplace.cdf((0 - x) / 1.3), stats.laplace.sf((0 - x) / 1.3)] for x in (-1, 1)],
    )


@pytest.mark.parametrize("sigma", [1.5, 2.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_after_equation_68_the_probability_of_failure_bounds_the_other_delta_and_is_not_tight(epsilon, sigma):
    distance = 2 / sigma
    other = stats.norm.cdf(distance / 2 - epsilon / distance) - np.exp(epsilon) * stats.norm.cdf(
        -distance / 2 - epsilon / distance
    )
    assert other < 0.9 * pldp_delta_exact(epsilon, sigma)


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.5])
def test_equations_69_and_70_fail_with_less_than_delta(delta):
    for epsilon in (0.1, 1.0, 5.0):
        assert pldp_delta_exact(epsilon, pldp_sigma(epsilon, delta)) < delta


def test_figures_are_drawn_with_the_settings_of_their_captions():
    with (FOLDER / "figure_2a.csv").open() as file:
        assert sum(line.startswith("random") for line in file) == 10_000
    assert (len(figure_2b.PRIOR), figure_2b.EPSILON) == (10, "log(5)")
    np.testing.assert_array_equal(np.unique(figure_2b.MECHANISM), [0, 0.5])
    assert (figure_3a.CATEGORIES, figure_3a.EPSILON) == (20, "log(5)")
    assert (figure_3b.CATEGORIES, figure_3b.DELTA) == (20, "1e-5")
    assert (binary_laplace.ITERATIONS, figure_4.DELTA, binary_laplace.FEATURES) == (100, "1e-9", ("income", "sex"))
    assert (figure_5.EPSILON, figure_5.DELTAS[-1]) == ("log(2)", "0")
    assert (figure_6a.SIGMA, figure_6a.P_MIN) == (1.5, 0.5)
    assert (figure_6b.SIGMA, figure_6b.P_MIN) == (2, 0.5)
    assert (figure_7.SIGMA, figure_7.P_MIN) == (1.5, 0.3)
    assert gaussian_curves.DELTA_2 == "1e-6"
    assert 100 in gaussian_curves.SAMPLES
