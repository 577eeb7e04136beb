"""Designs of greatest least utility: reference values, a second way to the optimum, and what no mechanism exceeds."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from cone_lp import rows_of
from extreme_priors import extreme_priors
from refusals import raises
from scipy.optimize import linprog
from strategies import random_ball, random_hull
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign import uncertainty
from mechdesign.optimize.polyhedral import Polytope
from mechdesign.optimize.pricing.listing import check_listable

INFORMATION = md.WorstCaseUtility(md.MutualInformation())
ACCURACY = md.WorstCaseUtility(md.HammingAccuracy())
RELATIONSHIP = {
    "Husband": 19716,
    "Not-in-family": 12583,
    "Own-child": 7581,
    "Unmarried": 5125,
    "Wife": 2331,
    "Other-relative": 1506,
}


def ball(prior, half_radius):
    return md.L1Ball(prior.split(), 2 * Fraction(half_radius))


REFERENCES = [
    (ball(".4 .3 .2 .1", "0.02"), "log(2)", 0.5599616398, 0.5659902789, 0.5659902789, 0.5599616398),
    (ball(".4 .3 .2 .1", "0.08"), "log(2)", 0.4480263658, 0.4601012949, 0.4634834573, 0.4402230126),
    (ball(".5 .3 .2", "0.1"), "log(2)", 0.2983014720, 0.3208332620, 0.3234943717, 0.2818219498),
    (ball(".4 .2 .2 .2", "0.05"), "1", 0.7550167331, 0.7692481162, 0.7692481162, 0.7476634153),
    (md.L1Ball.from_counts(RELATIONSHIP, radius="0.03"), "1", 0.8623907647, 0.8661134336, 0.8661311328, 0.8623417029),
    (
        md.L1Ball.from_probabilities(
            {label: Fraction(n, sum(RELATIONSHIP.values())) for label, n in RELATIONSHIP.items()},
            delta="1e-9",
            samples=500,
            bound="weissman",
        ),
        "1",
        0.5319233498,
        0.5729137762,
        0.5815137204,
        0.5042693319,
    ),
]


@pytest.mark.parametrize(("known", "epsilon", "least", "there", "plain", "plainly"), REFERENCES)
def test_reference_values(known, epsilon, least, there, plain, plainly):
    """The greatest least information, its value at P, the optimum at P, and what that one is worth at least."""
    design = md.design(md.DesignProblem(known, epsilon, INFORMATION))
    assert design.certified
    assert design.value == pytest.approx(least, abs=1e-9)
    assert design.bound == pytest.approx(least, abs=1e-9)
    assert design.value_at_estimate == pytest.approx(there, abs=1e-9)
    at_estimate = md.design(md.DesignProblem(known, epsilon))
    assert at_estimate.value == at_estimate.value_at_estimate == pytest.approx(plain, abs=1e-9)
    # The optimum at P is not unique in the second row, where another one is worth 0.0013 more at least.
    unique = known != REFERENCES[1][0]
    at_least = INFORMATION.value_over(at_estimate.mechanism.matrix, known)
    assert plainly - 1e-9 <= at_least <= (plainly + 1e-9 if unique else least)
    assert md.verify(design.mechanism).optimal


def test_reference_value_of_the_accuracy():
    design = md.design(md.DesignProblem(ball(".5 .3 .2", "0.1"), "log(2)", ACCURACY))
    assert design.value == pytest.approx(0.6, abs=1e-10)
    assert design.bound == pytest.approx(0.6, abs=1e-10)


def few_sets():
    rng = np.random.default_rng(5)
    yield random_ball(rng, 3, "0.2")
    yield random_ball(rng, 4, "0.1")
    yield md.L1Ball(["0.5", "0.25", "0.25", "0"], "0.3")
    yield random_hull(rng, 3, 4)
    yield uncertainty.Box.from_counts([40, 30, 20, 0], "0.1")
    yield uncertainty.EventSet.from_counts([20, 15, 9], "0.1")


few = pytest.mark.parametrize("known", list(few_sets()), ids=repr)


def listed(known, exp_epsilon):
    rays = check_listable(known, exp_epsilon)
    return np.hstack([np.ones((known.size, 1)), *rays.of_kinds(rays.kinds)])


@pytest.mark.sampled
@few
def test_the_optimum_is_that_of_the_program_over_all_rays_and_all_corners(known):
    design = md.design(md.DesignProblem(known, "log(2)", INFORMATION))
    V, corners = listed(known, 2.0), extreme_priors(known)
    gains = np.array([md.MutualInformation().mu(V, [float(q) for q in Q]) for Q in corners])
    count = V.shape[1]
    solved = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.hstack([-gains, np.ones((len(gains), 1))]),
        b_ub=np.zeros(len(gains)),
        A_eq=np.hstack([V, np.zeros((known.size, 1))]),
        b_eq=np.ones(known.size),
        bounds=[(0, None)] * count + [(None, None)],
    )
    assert design.certified
    assert design.value == pytest.approx(-solved.fun, abs=CERTIFIED)
    smallest = min(md.MutualInformation().value(design.mechanism.matrix, Q) for Q in corners)
    assert math.isclose(design.value, smallest, abs_tol=ALGEBRA)
    assert all(Q in corners or known.center == Q for Q in design.certificate.mixture.priors)


@pytest.mark.sampled
@few
def test_no_corner_of_the_polytope_of_mechanisms_exceeds_the_bound(known):
    bound = md.design(md.DesignProblem(known, "log(2)", INFORMATION)).bound
    accuracy = md.design(md.DesignProblem(known, "log(2)", ACCURACY)).bound
    V, rng = listed(known, 2.0), np.random.default_rng(known.size)
    for _ in range(4):
        solved = linprog(rng.standard_normal(V.shape[1]), A_eq=V, b_eq=np.ones(known.size))
        matrix = (V * solved.x)[:, solved.x > 1e-9]
        assert INFORMATION.value_over(matrix, known) <= bound + ALGEBRA
        assert ACCURACY.value_over(matrix, known) <= accuracy + ALGEBRA


@pytest.mark.sampled
@few
def test_the_least_gain_is_that_of_the_program_over_all_corners(known):
    rng = np.random.default_rng(known.size)
    utility = md.ExpectedGain(rng.integers(-5, 9, (3, known.size)).tolist())
    design = md.design(md.DesignProblem(known, "log(2)", md.WorstCaseUtility(utility)))
    rows = rows_of(Polytope(known, 2.0, 3))
    size = rows.inequalities.shape[1]
    of_corners = np.array([(utility.matrix * [float(q) for q in Q]).ravel() for Q in extreme_priors(known)])
    padded = np.hstack([-of_corners, np.zeros((len(of_corners), size - 3 * known.size)), np.ones((len(of_corners), 1))])
    A = np.vstack([np.hstack([-rows.inequalities.toarray(), np.zeros((rows.inequalities.shape[0], 1))]), padded])
    solved = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=A,
        b_ub=np.zeros(len(A)),
        A_eq=np.hstack([rows.equalities.toarray(), np.zeros((known.size, 1))]),
        b_eq=np.ones(known.size),
        bounds=[(0, None)] * (3 * known.size) + [(None, None)] * (size - 3 * known.size + 1),
    )
    assert design.certified
    assert design.value == pytest.approx(-solved.fun, abs=CERTIFIED)
    assert md.verify(design.mechanism).optimal


@pytest.mark.parametrize("objective", [INFORMATION, ACCURACY])
def test_a_larger_set_never_raises_the_optimum(objective):
    radii = ["0", "0.05", "0.2", "0.5", "1.1"]
    designs = [md.design(md.DesignProblem(md.L1Ball([".4", ".3", ".2", ".1"], r), 1, objective)) for r in radii]
    assert all(design.certified for design in designs)
    for smaller, larger in pairwise(designs):
        assert larger.value <= smaller.bound
    inner = uncertainty.EventSet.from_counts([30, 20, 10], "0.1")
    outer = md.L1Ball.from_counts([30, 20, 10], delta="0.1")
    both = [md.design(md.DesignProblem(known, 1, objective)) for known in (inner, outer)]
    assert both[1].value <= both[0].bound


@pytest.mark.parametrize("objective", [INFORMATION, ACCURACY])
def test_names_of_symbols_do_not_matter(objective):
    prior, turned = ["0.4", "0.3", "0.2", "0.1"], ["0.2", "0.1", "0.4", "0.3"]
    values = [md.design(md.DesignProblem(md.L1Ball(P, "0.3"), 1, objective)).value for P in (prior, turned)]
    assert values[0] == pytest.approx(values[1], abs=CERTIFIED)


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy()])
def test_over_one_prior_it_is_the_utility_there(utility):
    for known in (md.L1Ball(["0.5", "0.3", "0.2"]), md.ConvexHull([["0.5", "0.3", "0.2"]])):
        plain = md.design(md.DesignProblem(known, 1, utility))
        worst = md.design(md.DesignProblem(known, 1, md.WorstCaseUtility(utility)))
        assert worst.value == pytest.approx(plain.value, abs=ALGEBRA)
        assert worst.value_at_estimate == pytest.approx(plain.value, abs=ALGEBRA)
        assert worst.certificate.mixture.priors == (known.center,)
        assert md.verify(worst.mechanism).optimal


@pytest.mark.parametrize("known", [md.L1Ball(["0.9", "0.1"], "0.3"), md.L1Ball(["0.4", "0.3", "0.3"], 2)])
def test_where_a_symbol_may_be_certain_nothing_is_told_by_any_mechanism(known):
    design = md.design(md.DesignProblem(known, 1, INFORMATION))
    assert (design.value, design.certified) == (0.0, True)
    assert 0 <= design.bound <= 1e-11
    assert design.value_at_estimate == pytest.approx(md.design(md.DesignProblem(known, 1)).value, abs=ALGEBRA)
    assert any(1 in Q for Q in design.certificate.mixture.priors)
    assert md.verify(design.mechanism).proof.holds


def test_under_local_differential_privacy_guesses_are_still_right_with_some_probability():
    design = md.design(md.DesignProblem(md.L1Ball(["0.4", "0.3", "0.2", "0.1"], 2), 1, ACCURACY))
    assert design.value == pytest.approx(math.e / (math.e + 3), abs=1e-10)


@pytest.mark.parametrize("epsilon", ["0", "1e-45"])
def test_at_epsilon_0_only_a_guess_beforehand_is_left(epsilon):
    known = md.L1Ball(["0.4", "0.3", "0.3"], "0.2")
    assert md.design(md.DesignProblem(known, epsilon, INFORMATION)).value == 0
    accuracy = md.design(md.DesignProblem(known, epsilon, ACCURACY))
    assert accuracy.value == pytest.approx(1 / 3, abs=1e-9)
    assert accuracy.certified
    assert md.verify(accuracy.mechanism).proof.holds


def test_at_epsilon_0_the_priors_may_be_around_another_estimate():
    around = md.WorstCaseUtility(md.MutualInformation(), md.L1Ball(["0.3", "0.3", "0.4"], "0.1"))
    design = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], "0.2"), 0, around))
    assert (design.value, design.certified, design.certificate.bound) == (0, True, 0)


def test_the_ball_as_printed_has_priors_inside_the_simplex_only():
    known = md.L1Ball(["0.5", "0.3", "0.2"], "0.6", within_simplex=False)
    design = md.design(md.DesignProblem(known, 1, INFORMATION))
    exact = md.design(md.DesignProblem(known.exact_set, 1, INFORMATION))
    assert design.certified
    assert design.value <= exact.bound
    assert md.verify(design.mechanism).proof.holds


def test_the_priors_of_the_utility_may_be_others_than_those_of_the_guarantee():
    everything, around = md.L1Ball(["0.5", "0.3", "0.2"], 2), md.L1Ball(["0.5", "0.3", "0.2"], "0.1")
    design = md.design(md.DesignProblem(everything, 1, md.WorstCaseUtility(md.MutualInformation(), around)))
    assert design.certified
    assert 0 < design.value < md.design(md.DesignProblem(around, 1, INFORMATION)).value
    with raises("wrong-size", "have 3", "has 2"):
        md.DesignProblem(md.L1Ball(["0.5", "0.5"]), 1, md.WorstCaseUtility(md.MutualInformation(), around))


def test_gains_of_any_set_and_size_are_designed_and_others_refused_by_name():
    pair = md.ProductSet(md.L1Ball(["0.75", "0.25"], "0.1"), md.L1Ball(["0.6", "0.4"], "0.1"))
    assert md.design(md.DesignProblem(pair, 1, ACCURACY)).certified
    with raises("no-method", match="the extreme priors of ProductSet"):
        md.design(md.DesignProblem(pair, 1, INFORMATION))
    thirty = md.L1Ball.from_counts(list(range(1, 31)), radius="0.1")
    assert md.design(md.DesignProblem(thirty, 1, ACCURACY)).certified
    with raises("no-method", match="at most 16 categories"):
        md.design(md.DesignProblem(thirty, 1, INFORMATION))


def test_gains_with_a_large_part_in_common_keep_a_gap_relative_to_it():
    utility = md.ExpectedGain([[10**9, 10**9 + 1, 10**9], [10**9 + 1, 10**9, 10**9 + 2]])
    assert md.design(
        md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"], "0.1"), 1, md.WorstCaseUtility(utility))
    ).certified


def test_only_utilities_have_a_least_value():
    with raises("wrong-type", "the utility"):
        md.WorstCaseUtility(md.EstimationError())
    with raises("wrong-type", "the uncertainty", "is 3"):
        md.WorstCaseUtility(md.MutualInformation(), 3)


def test_a_comparison_has_the_design_for_the_estimate_and_the_same_priors_for_all():
    known = md.L1Ball(["0.5", "0.3", "0.2"], "0.2")
    both = md.compare(md.DesignProblem(known, "log(2)", INFORMATION))
    assert both.estimate.least == pytest.approx(0.2818219498, abs=1e-9)
    assert both.estimate.best_at_estimate.value == pytest.approx(0.3234943717, abs=1e-9)
    # Over every prior the least would be 0.
    assert 0 < both.k_ary_randomized_response <= both.best_ldp.value + ALGEBRA <= both.value
    assert md.compare(both.design.mechanism).value == both.design.value
    assert md.compare(md.DesignProblem(known, 1)).estimate is None


@pytest.mark.sampled
@pytest.mark.parametrize("limit", [0, 0.15])
def test_a_time_limit_ends_the_search_with_value_and_bound_on_the_right_sides(limit):
    known = md.L1Ball.from_counts([round(100_000 / k) for k in range(1, 10)], radius="0.4")
    problem = md.DesignProblem(known, 1, md.WorstCaseUtility(md.MutualInformation()))
    whole, early = md.design(problem), md.design(problem, time_limit=limit)
    assert early.value <= whole.bound
    assert early.bound >= whole.value
    assert early.iterations <= whole.iterations
    if limit == 0:
        assert early.stopped == "time limit"
        assert early.iterations == 1
    assert md.verify(early.mechanism).certificate.bound == pytest.approx(early.bound, rel=1e-9)


def test_a_search_that_runs_out_of_rounds_ends_with_its_true_gap(monkeypatch):
    """The mechanism of the last program is a mechanism, and lambda proves what it proves."""
    problem = md.DesignProblem(
        md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.1"), 1, md.WorstCaseUtility(md.MutualInformation())
    )
    whole = md.design(problem)
    monkeypatch.setattr("mechdesign.optimize.worst_case.information._MOST_ROUNDS", 2)
    ended = md.design(problem)
    assert ended.stopped == "stalled"
    assert not ended.certified
    assert ended.value <= whole.value + 1e-9
    assert ended.bound >= whole.value - 1e-9
    assert md.verify(ended.mechanism).proof.holds
