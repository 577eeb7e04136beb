"""Numbers of reports, against textbook variances and the intervals that estimates come with."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

import mechdesign as md
from mechdesign.comparison import plan_reports
from mechdesign.comparison.report_plan import ReportPlan
from mechdesign.comparison.rivals import WEAKER_THAN_LDP

COUNTS = {"a": 500, "b": 300, "c": 150, "d": 50}


def problem(epsilon=1, utility=None, **known):
    return md.DesignProblem(
        md.L1Ball.from_counts(COUNTS, **(known or {"known": True})), epsilon, utility or md.EstimationError()
    )


def row_of(found, name):
    (row,) = [row for row in found.mechanisms if row.name.startswith(name)]
    return row


@pytest.fixture(scope="module")
def designed():
    return md.design(problem(delta="0.01"))


def test_randomized_response_needs_what_the_textbook_says(designed):
    found = plan_reports(designed, standard_error="0.01")
    row = row_of(found, "k-ary")
    e = math.e
    kept, other = e / (e + 3), 1 / (e + 3)
    seen = designed.problem.uncertainty.prior * (kept - other) + other
    variances = seen * (1 - seen) / (kept - other) ** 2
    np.testing.assert_allclose(row.variances, variances, rtol=1e-9)
    assert found.needed(row.largest) == math.ceil(variances.max() * 10_000)
    assert found.needed(row.mean) == math.ceil(variances.mean() * 10_000)


def test_a_problem_a_design_and_a_mechanism_need_the_same(designed):
    plans = [plan_reports(given, standard_error=0.02) for given in (designed.problem, designed, designed.mechanism)]
    names = [[row.name for row in found.mechanisms] for found in plans]
    others = ["best LDP mechanism", "subset selection of 1 category", "k-ary randomized response"]
    assert names[0] == names[1] == ["design for estimation-error", *others]
    assert names[2] == ["this mechanism", *others]
    needed = [[(found.needed(row.largest), found.needed(row.mean)) for row in found.mechanisms] for found in plans]
    assert needed[0] == needed[1] == needed[2]
    assert [row.local for row in plans[0].mechanisms] == [False, True, True, True]
    assert plans[0].promise == WEAKER_THAN_LDP


def test_a_design_for_information_stands_beside_the_one_for_estimation():
    found = plan_reports(problem(utility=md.MutualInformation(), delta="0.01"), standard_error=0.02)
    assert [row.name for row in found.mechanisms[:2]] == [
        "design for mutual-information",
        "design for estimation-error",
    ]
    first, second = found.mechanisms[:2]
    assert first.error >= second.lower_bound
    assert first.lower_bound is None
    assert second.at_least == second.lower_bound <= second.error


def test_reports_that_determine_nothing_are_never_enough():
    ball = md.L1Ball.from_counts(COUNTS, radius=2)
    coarse = np.array([[0.7, 0.3], [0.3, 0.7], [0.3, 0.7], [0.3, 0.7]])
    mechanism = md.Mechanism.from_matrix(coarse, md.Guarantee(1, ball))
    found = plan_reports(mechanism, standard_error=0.02)
    first = found.mechanisms[0]
    assert (first.error, found.needed(first.largest), found.needed(first.mean)) == (math.inf, None, None)
    assert found.promise is None
    assert "best LDP mechanism" not in [row.name for row in found.mechanisms]  # the design is that one
    assert plan_reports(mechanism, reports=100).standard_error_of(first.largest) is None


@given(st.floats(1e-6, 1e6), st.floats(1e-4, 10), st.floats(0.5, 0.999))
def test_the_number_needed_is_the_least(variance, wanted, confidence):
    for standard_error, interval in ((Fraction(wanted), None), (None, Fraction(wanted))):
        found = ReportPlan(None, standard_error, interval, confidence, problem(), ())
        n = found.needed(variance)
        error = wanted if interval is None else wanted / found.quantile
        assert math.sqrt(variance / n) <= error * (1 + 1e-9)
        assert n == 1 or math.sqrt(variance / (n - 1)) > error * (1 - 1e-9)
        back = ReportPlan(n, None, None, confidence, problem(), ())
        assert back.standard_error_of(variance) <= error * (1 + 1e-9)
        assert back.needed(variance) is None
        assert found.standard_error_of(variance) is None


def test_one_report_at_least_is_needed():
    """Also for an answer that is known without any."""
    assert ReportPlan(None, Fraction(1, 100), None, 0.95, problem(), ()).needed(0.0) == 1


def test_only_a_claim_about_an_estimation_error_makes_a_mechanism_the_best(designed):
    """Otherwise the best design stands beside it."""
    for_information = md.design(problem(utility=md.MutualInformation(), delta="0.01")).mechanism
    for mechanism, others in (
        (designed.mechanism, []),
        (replace(designed.mechanism, optimality=None), ["design for estimation-error"]),
        (for_information, ["design for estimation-error"]),
    ):
        names = [row.name for row in plan_reports(mechanism, standard_error=0.02).mechanisms]
        assert names[: names.index("best LDP mechanism")] == ["this mechanism", *others]


def test_exact_numbers_are_not_rounded_up():
    found = ReportPlan(None, Fraction(1, 100), None, 0.95, problem(), ())
    for variance in (2.0, 2.0 * (1 + 1e-15), 2.0 * (1 - 1e-15)):
        assert found.needed(variance) == 20_000
    assert found.needed(2.0 * (1 + 1e-7)) == 20_001


def test_intervals_of_estimates_are_as_wide_as_planned(designed):
    """From as many reports as are planned, in the proportions that are expected."""
    plan = plan_reports(designed, interval="0.01", confidence=0.9)
    n = plan.needed(plan.mechanisms[0].largest)
    prior, mechanism = designed.problem.uncertainty.prior, designed.mechanism
    counts = np.rint(n * (prior @ mechanism.matrix)).astype(int)
    named = dict(zip(mechanism.outputs, counts.tolist(), strict=True))
    found = md.estimate_frequencies(named, mechanism, confidence=0.9)
    widths = np.diff(found.intervals, axis=1)[:, 0] / 2
    assert widths.max() == pytest.approx(0.01, rel=0.01)
    errors = plan_reports(designed, reports=int(counts.sum()))
    assert errors.standard_error_of(errors.mechanisms[0].largest) == pytest.approx(
        found.standard_errors.max(), rel=0.01
    )
    mean = np.sqrt((found.standard_errors**2).mean())
    assert errors.standard_error_of(errors.mechanisms[0].mean) == pytest.approx(mean, rel=0.01)


def test_what_is_not_certified_is_marked(designed):
    loose = replace(designed, tol=1e-15)
    assert not loose.certified
    assert plan_reports(loose, reports=10).mechanisms[0].name == "design for estimation-error (NOT certified)"


def test_limits_of_one_mechanism_do_not_end_the_plan(designed, monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.estimation.subset_selection_error.MOST_SYMBOLS", 3)

    def refuses(*arguments, **options):
        raise md.LimitError("too many rays")

    monkeypatch.setattr("mechdesign.comparison.rivals.design", refuses)
    found = plan_reports(designed, standard_error=0.02)
    assert row_of(found, "best LDP").missing == "too many rays"
    assert row_of(found, "subset selection").missing.startswith("there are 4 categories")
    for row in found.mechanisms[1:3]:
        assert (row.variances, row.error, row.at_least, row.largest, row.mean) == (None,) * 5
        assert found.needed(row.largest) is None
    assert found.needed(found.mechanisms[0].largest) > 0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "conflicting-arguments"),
        ({"reports": 5, "interval": 0.1}, "conflicting-arguments"),
        ({"standard_error": 0}, "out-of-range"),
        ({"standard_error": -0.1}, "out-of-range"),
        ({"standard_error": float("nan")}, "not-a-number"),
        ({"interval": "wide"}, "not-a-number"),
        ({"reports": 0}, "not-a-whole-number"),
        ({"reports": 2.5}, "not-a-whole-number"),
        ({"reports": 10**16}, "not-a-whole-number"),
        ({"interval": 0.1, "confidence": 1}, "out-of-range"),
        ({"interval": 0.1, "confidence": 1e-17}, "out-of-range"),
        ({"interval": 0.1, "confidence": True}, "out-of-range"),
    ],
)
def test_what_cannot_be_planned_is_refused(designed, options, code):
    with raises(code):
        plan_reports(designed, **options)


def test_other_objects_and_epsilon_0_are_refused():
    with raises("wrong-type", "is 3"):
        plan_reports(3, reports=5)
    for utility in (md.EstimationError(), md.MutualInformation()):
        with raises("no-reports-enough", "epsilon"):
            plan_reports(problem(0, utility), reports=5)
