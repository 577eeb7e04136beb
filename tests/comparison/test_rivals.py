"""What stands beside a design: the same wherever it is shown, and what theorems and a program over columns say."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.comparison.rivals import Rivals, problem_of, randomized_response_of
from mechdesign.report.page_comparison import page_comparison

COUNTS = {"a": 500, "b": 300, "c": 150, "d": 50}
BALL = md.L1Ball.from_counts(COUNTS, delta="1e-3")
UTILITIES = [md.MutualInformation(), md.EstimationError(), md.WorstCaseUtility(md.MutualInformation())]


@pytest.mark.sampled
@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: utility.name)
def test_comparisons_plans_pages_and_sweeps_show_the_same_rivals(utility):
    problem = md.DesignProblem(BALL, 1, utility)
    solved = md.design(problem)
    compared = md.compare(solved).rivals
    page = {row.key: row.value for row in page_comparison(solved.mechanism).rows}
    (swept,) = md.sweep([problem], baselines=["best-ldp", "randomized-response", "subset-selection"])
    for key in ("best_ldp", "k_ary_randomized_response"):
        assert page[key] == compared[key].value
    assert swept.best_ldp.value == compared["best_ldp"].value
    assert swept.values.randomized_response == compared["k_ary_randomized_response"].value
    if utility.estimation is None:
        assert (swept.values.subset_selection, "subset_selection" in compared) == (None, False)
        return
    assert swept.values.subset_selection == compared["subset_selection"].value
    planned = {row.key: row.value for row in md.plan_reports(solved, reports=10).mechanisms}
    assert planned.pop("design") == solved.value
    assert planned == {
        key: compared[key].value for key in ("best_ldp", "subset_selection", "k_ary_randomized_response")
    }


def test_the_error_of_randomized_response_is_the_variance_of_a_binomial():
    e, N, prior = 3.0, 4, BALL.prior
    kept, other = e / (e + N - 1), 1 / (e + N - 1)
    seen = prior * (kept - other) + other
    row = Rivals(md.DesignProblem(BALL, "log(3)", md.EstimationError())).randomized_response()
    np.testing.assert_allclose(row.variances, seen * (1 - seen) / (kept - other) ** 2, rtol=1e-9)
    assert (row.error, row.at_least, row.lower_bound) == (row.value, row.value, None)
    assert row.value == pytest.approx(row.variances.sum())


def test_rivals_of_a_two_sided_promise_keep_both_sides():
    rivals = Rivals(md.DesignProblem(BALL, "log(3)", lower="log(2)"))
    for row in (rivals.best_ldp(), rivals.randomized_response()):
        assert row.local
        assert row.mechanism.guarantee.epsilon == md.Epsilon.of("log(2)")
        assert row.mechanism.leakage <= np.log(2) + 1e-15
        lifts = row.mechanism.matrix / (BALL.prior @ row.mechanism.matrix)
        assert lifts.min() >= 1 / 2 - 1e-12


def test_randomized_response_is_for_all_priors_alone():
    with pytest.raises(md.InputError, match="accepted: all priors"):
        randomized_response_of(md.DesignProblem(BALL, 1))


def test_the_problem_of_a_mechanism_is_that_of_its_guarantee_and_claim():
    problem = md.DesignProblem(BALL, 1, md.EstimationError())
    mechanism = md.design(problem).mechanism
    for given in (problem, md.design(problem), mechanism):
        found = problem_of(given, "compared")
        assert (found.uncertainty, found.epsilon, found.utility) == (BALL, problem.epsilon, problem.utility)
    bare = md.Mechanism.from_matrix(mechanism.matrix, mechanism.guarantee)
    assert problem_of(bare, "compared").utility == md.MutualInformation()
    with pytest.raises(md.InputError, match="what is drawn is 'x'; give a DesignProblem"):
        problem_of("x", "drawn")
