"""Explained variance: against the law of total variance, lists of rays, brute force, and published mechanisms."""

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.pricing import ListedPricing, check_listable
from mechdesign.optimize.pricing.prediction_intervals import PricedPredictions, price_by_prediction
from mechdesign.uncertainty import Box

PROBLEMS = Path(__file__).parent.parent.parent / "problems"
EDUCATION = {  # years of education of Adult, of both parts
    1: 83,
    2: 247,
    3: 509,
    4: 955,
    5: 756,
    6: 1389,
    7: 1812,
    8: 657,
    9: 15784,
    10: 10878,
    11: 2061,
    12: 1601,
    13: 8025,
    14: 2657,
    15: 834,
    16: 594,
}


def least_error(design, known, values):
    """Return the mean squared error of the best prediction from a report, from its definition."""
    P, a, K = known.prior, np.array(values, dtype=float), design.mechanism.matrix
    predictions = (P * a) @ K / (P @ K)
    return float(((P[:, None] * K) * (a[:, None] - predictions) ** 2).sum())


def bins_of_randomized_response(P, a, e):
    """Return the least error of randomized response between bins of neighbouring values, over all cuts."""
    least = math.inf
    for cuts in itertools.product([0, 1], repeat=a.size - 1):
        of = np.concatenate([[0], np.cumsum(cuts)])
        mass, total = np.bincount(of, P), np.bincount(of, P * a)
        k = mass.size
        q = (1 + (e - 1) * mass) / (e + k - 1)
        s = (total.sum() + (e - 1) * total) / (e + k - 1)
        least = min(least, float(P @ a**2 - (s**2 / q).sum()))
    return least


def test_variance_is_what_is_explained_and_what_is_left():
    rng = np.random.default_rng(1)
    for _ in range(20):
        P, a, K = rng.dirichlet(np.ones(5)), rng.normal(size=5) + 1000, rng.dirichlet(np.ones(4), 5)
        predictions = (P * a) @ K / (P @ K)
        left = ((P[:, None] * K) * (a[:, None] - predictions) ** 2).sum()
        explained = md.ExplainedVariance(a).value(K, P)
        np.testing.assert_allclose(explained + left, P @ (a - P @ a) ** 2, rtol=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("known", "sides"),
    [
        pytest.param(md.L1Ball.from_counts([50, 30, 15, 5], known=True), {}, marks=pytest.mark.slow),
        (md.L1Ball([0.4, 0.3, 0.2, 0.1], "0.1"), {"cap": 2}),
        (md.L1Ball([0.4, 0.3, 0.2, 0.1], 2), {}),
        pytest.param(md.L1Ball([0.4, 0.3, 0.2, 0.1], "0.2"), {"lower": "0.7"}, marks=pytest.mark.slow),
        pytest.param(Box.from_counts([500, 300, 150, 50], delta="0.01"), {}, marks=pytest.mark.slow),
    ],
)
def test_designs_and_prices_are_those_of_the_list_of_rays(known, sides):
    problem = md.DesignProblem(known, 1, md.ExplainedVariance([0, 1, 4, 9]), **sides)
    design = md.design(problem)
    rays = check_listable(known, math.e, problem.sides.floor_down)
    listed = problem.utility.value(solve_ray_lp(rays, problem.utility, lambda _: None).matrix, known.prior)
    assert design.certified
    np.testing.assert_allclose(design.value, listed, rtol=2e-7)
    rng = np.random.default_rng(7)
    for multipliers in (design.certificate.multipliers, rng.normal(size=4), np.zeros(4)):
        price = price_by_prediction(known, math.e, problem.utility, multipliers, problem.sides.floor_down)
        exact = ListedPricing(rays, problem.utility).price(multipliers).upper
        size = abs(exact) + abs(multipliers.sum())
        assert -1e-9 * size <= price.upper - exact <= 1e-7 * size


def test_intervals_hold_for_every_convex_function():
    rng = np.random.default_rng(3)
    for _ in range(200):
        slopes, offsets = rng.normal(size=(2, 4))

        def level(w, slopes=slopes, offsets=offsets):
            return (np.outer(w, slopes) + offsets).max(axis=1) - w**2

        w = np.sort(rng.uniform(-2, 2, 5))
        priced = PricedPredictions.of(w, level(w))
        for k in range(4):
            between = np.linspace(w[k], w[k + 1], 101)
            assert level(between).max() <= priced.uppers[k] + 1e-15


@pytest.mark.parametrize(
    ("values", "counts", "epsilon"),
    [([0, 1, 2, 3, 4], [5, 4, 3, 2, 1], 0.5), ([0, 1, 4, 5, 9, 10], [3, 3, 1, 1, 3, 4], 1)],
)
def test_best_under_ldp_is_randomized_response_on_bins(values, counts, epsilon):
    """Dong et al. (2022), arXiv:2212.06074: of neighbouring values; all cuts are tried."""
    ldp = md.L1Ball.from_counts(counts, radius=2)
    design = md.design(md.DesignProblem(ldp, epsilon, md.ExplainedVariance(values)))
    P = ldp.prior
    expected = bins_of_randomized_response(P, np.array(values, dtype=float), math.exp(epsilon))
    np.testing.assert_allclose(least_error(design, ldp, values), expected, rtol=1e-7)
    assert design.certified


@pytest.mark.sampled
@pytest.mark.parametrize(("epsilon", "error"), [(0.5, 6.390933), (1, 5.815283), (2, 4.341382)])
def test_years_of_education_under_ldp(epsilon, error):
    ldp = md.L1Ball.from_counts(EDUCATION, radius=2)
    design = md.design(md.DesignProblem(ldp, epsilon, md.ExplainedVariance()))
    assert design.certified
    assert least_error(design, ldp, list(EDUCATION)) == pytest.approx(error, abs=6e-6)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("epsilon", "known", "ball"), [(0.5, 4.8739, 5.0548), (1, 2.2573, 2.4154), (2, 0.5988, 0.7868)]
)
def test_years_of_education_under_leakage(epsilon, known, ball):
    sets = (md.L1Ball.from_counts(EDUCATION, known=True), md.L1Ball.from_counts(EDUCATION, delta="1e-9"))
    for priors, error in zip(sets, (known, ball), strict=True):
        design = md.design(md.DesignProblem(priors, epsilon, md.ExplainedVariance()))
        assert design.certified
        assert least_error(design, priors, list(EDUCATION)) == pytest.approx(error, abs=6e-5)


def test_values_are_labels_scores_or_numbers(tmp_path):
    known = md.L1Ball.from_counts({"1": 5, "3": 3, "2": 2}, known=True)
    by_label = md.ExplainedVariance({"3": 3, "2": 2, "1": 1})
    same = [md.ExplainedVariance(), by_label, md.ExplainedVariance([1, 3, 2])]
    same.append(md.ExplainedVariance(md.Workload.of("scores=1:1,2:2,3:3")))
    designs = [md.design(md.DesignProblem(known, 1, utility)) for utility in same]
    assert len({design.value for design in designs}) == 1
    assert len({design.problem.utility for design in designs}) == 1
    designs[0].mechanism.save(tmp_path / "m.json")
    found = md.verify(md.Mechanism.load(tmp_path / "m.json"))
    assert found.certificate.upper_bound == designs[0].certificate.upper_bound
    assert found.optimal
    K = designs[0].mechanism.matrix
    assert by_label.value(K, [0.5, 0.3, 0.2]) != md.ExplainedVariance([1, 3, 2]).value(K, [0.5, 0.3, 0.2])


def test_values_that_are_no_numbers_are_refused():
    known = md.L1Ball.from_counts({"low": 5, "high": 3}, known=True)
    with raises("not-a-number"):
        md.DesignProblem(known, 1, md.ExplainedVariance())
    with raises("bad-workload"):
        md.ExplainedVariance(md.Workload.prefix())
    with raises("missing-argument"):
        md.ExplainedVariance().value(np.eye(2), [0.5, 0.5])
    with raises("wrong-size"):
        md.DesignProblem(known, 1, md.ExplainedVariance([1, 2, 3]))
    with raises("nothing-to-estimate"):
        md.ExplainedVariance([1, 1])


def test_values_are_exact():
    known = md.L1Ball([Fraction(1, 3)] * 3)
    assert sum(md.ExplainedVariance(["0.1", "0.2", "1/3"]).centered(known.center)) == 0


@pytest.mark.parametrize(("epsilon", "error"), [pytest.param(0.5, 124.088102, marks=pytest.mark.slow), (1, 78.668457)])
def test_hours_per_week_of_adult(epsilon, error):
    known = md.read_problem(PROBLEMS / "adult-hours-per-week-explained-variance.toml").problem.uncertainty
    design = md.design(md.DesignProblem(known, epsilon, md.ExplainedVariance()))
    values = np.array([float(label) for label in known.labels])
    variance = known.prior @ (values - known.prior @ values) ** 2
    assert design.certified
    assert least_error(design, known, values) == pytest.approx(error, abs=2e-6)
    assert variance - design.upper_bound == pytest.approx(error, abs=2e-5)


@pytest.mark.parametrize(
    ("counts", "values", "epsilon"), [([10, 10, 10], [5, 0, 10], 1), ([40, 30, 15, 15], [40, 30, 36, 9], 1.5)]
)
def test_symbols_of_equal_probability_keep_values_of_their_own(counts, values, epsilon):
    known = md.L1Ball.from_counts(counts, known=True)
    design = md.design(md.DesignProblem(known, epsilon, md.ExplainedVariance(values)))
    assert design.value <= design.bound
    assert design.certified
    assert md.verify(design.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("counts", "values", "epsilon"),
    [
        ([897, 104], [-1.16, -0.63], 0.8),
        ([545, 456], [0.16, -0.38], 0.1),
        ([169, 472, 361], [-0.7, -0.19, 1.77], 0.2),
        ([206, 316, 320, 160], [0.77, -1.44, 2.04, -0.71], 0.2),
    ],
)
def test_outputs_that_a_solver_leaves_without_mass_cost_nothing(counts, values, epsilon):
    known = md.L1Ball.from_counts(counts, known=True)
    design = md.design(md.DesignProblem(known, epsilon, md.ExplainedVariance(values)))
    listed = solve_ray_lp(check_listable(known, math.exp(epsilon)), design.problem.utility, lambda _: None).matrix
    assert design.certified
    np.testing.assert_allclose(design.value, design.problem.utility.value(listed, known.prior), rtol=2e-6)


@pytest.mark.sampled
@pytest.mark.parametrize("sides", [{}, pytest.param({"cap": "0.6"}, marks=pytest.mark.slow), {"lower": "0.1"}])
def test_where_one_value_is_certain_nothing_is_left_to_explain(sides):
    """Gains were divided by the greatest of them, which is 0."""
    for known in (Box.from_counts([0, 115], "0.1"), md.L1Ball.from_counts([0, 115], radius="0.1")):
        found = md.design(md.DesignProblem(known, "0.1", md.ExplainedVariance([8, 12]), **sides))
        assert found.value == 0
        assert found.certified


@pytest.mark.parametrize("counts", [[17, 16, 13, 30, 26, 27], [4, 16, 25, 15, 16, 21]])
@pytest.mark.parametrize("epsilon", ["0.01", "0.001"])
def test_a_small_epsilon_is_certified(counts, epsilon):
    """Columns of an interior point that break the promise by its tolerance are no basis for the last program."""
    ball = md.L1Ball.from_counts(counts, radius="0.05")
    found = md.design(md.DesignProblem(ball, epsilon, md.ExplainedVariance(list(range(6)))))
    assert found.certified
    assert found.value > 0
