import copy
import pickle
from collections import Counter
from functools import cache
from itertools import product
from math import lgamma
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matrices import circulant, mechanism_of, randomized_response, table
from numpy.testing import assert_allclose
from refusals import raises
from tolerances import ALGEBRA

import mechdesign as md

PROBLEMS = Path(__file__).parents[2] / "problems"


@cache
def warner():
    return mechanism_of(randomized_response(2, 3.0))


@cache
def four():
    return mechanism_of(
        [[0.6, 0.2, 0.1, 0.1, 0], [0.1, 0.5, 0.1, 0, 0.3], [0, 0.2, 0.7, 0.1, 0], [0.2, 0, 0.2, 0.5, 0.1]]
    )


@cache
def pair():
    """The last two categories have equal rows."""
    return mechanism_of(randomized_response(3, 8.0)[[0, 1, 2, 2]])


@cache
def designed():
    return md.design(md.read_problem(PROBLEMS / "adult-relationship.toml").problem).mechanism


def drawn(rng, mechanism, theta, reports):
    """Return the frequencies of random records, and counts of their reports."""
    records = rng.multinomial(reports, theta)
    outputs = sum(rng.multinomial(k, row / row.sum()) for k, row in zip(records, mechanism.matrix, strict=True))
    return records / reports, dict(zip(mechanism.outputs, outputs.tolist(), strict=True))


# Point estimates


@pytest.mark.parametrize(("size", "exp_epsilon"), [(2, 3), (5, 2), (16, 4)])
def test_least_squares_is_the_textbook_inverse_of_randomized_response(size, exp_epsilon):
    kept, other = np.array([exp_epsilon, 1]) / (exp_epsilon + size - 1)
    mechanism = mechanism_of(randomized_response(size, exp_epsilon))
    counts = 1000 + np.arange(size)
    p, n = counts / counts.sum(), counts.sum()
    found = md.estimate_frequencies(table(counts), mechanism, method="least-squares")
    assert_allclose(found.frequencies, (p - other) / (kept - other), atol=1e-10)
    assert_allclose(found.standard_errors, np.sqrt(p * (1 - p) / n) / (kept - other), rtol=1 / n)
    skewed = md.estimate_frequencies({"y0": 1}, mechanism, method="least-squares")
    assert_allclose(skewed.frequencies, ((np.arange(size) == 0) - other) / (kept - other), atol=1e-10)


def test_least_squares_is_linear_in_the_reports_and_unbiased():
    first, second = np.array([50, 10, 20, 30, 5]), np.array([5, 60, 20, 1, 29])
    estimates = [
        md.estimate_frequencies(table(counts), four(), method="least-squares").frequencies
        for counts in (first, second, first + second)
    ]
    assert_allclose(estimates[2], (estimates[0] + estimates[1]) / 2, atol=1e-10)  # 115 reports each
    # Reports as they are expected give the truth, and an estimate that is linear then is unbiased.
    for theta in np.eye(4):
        expected = np.rint(1e12 * (theta @ four().matrix))
        found = md.estimate_frequencies(table(expected), four(), method="least-squares")
        assert_allclose(found.frequencies, theta, atol=1e-10)
        assert abs(found.frequencies.sum() - 1) <= 1e-10


def test_least_squares_sums_to_1_and_may_be_negative():
    found = md.estimate_frequencies({"y0": 100}, four(), method="least-squares")
    assert abs(found.frequencies.sum() - 1) <= 1e-10
    assert found.frequencies.min() < 0
    assert found.likelihood_gap is None


def test_least_squares_weighs_outputs_that_have_probability_0_at_the_prior():
    ball = md.L1Ball([1, 0], radius=1, labels=["x0", "x1"])
    promise = md.Guarantee(md.Epsilon.of("log(4)"), ball)
    matrix = [[0.5, 0.5, 0], [0.25, 0.5, 0.25]]
    mechanism = md.Mechanism.repaired(matrix, promise, outputs=["y0", "y1", "y2"]).mechanism
    found = md.estimate_frequencies({"y0": 300, "y1": 500, "y2": 200}, mechanism, method="least-squares")
    assert np.isfinite(found.frequencies).all()
    assert_allclose(found.frequencies.sum(), 1, atol=ALGEBRA)


def test_maximum_likelihood_is_a_distribution():
    found = md.estimate_frequencies({"y0": 100}, four())
    assert_allclose(found.frequencies, [1, 0, 0, 0], atol=ALGEBRA)
    assert found.likelihood_gap <= 1e-6


def test_both_methods_agree_inside_the_simplex_where_there_are_as_many_outputs_as_inputs():
    mechanism = mechanism_of(randomized_response(3, 4.0))
    likely = md.estimate_frequencies({"y0": 500, "y1": 300, "y2": 200}, mechanism)
    linear = md.estimate_frequencies({"y0": 500, "y1": 300, "y2": 200}, mechanism, method="least-squares")
    assert_allclose(likely.frequencies, linear.frequencies, atol=1e-10)
    assert_allclose(likely.covariance, linear.covariance, atol=1e-10)
    assert_allclose(likely.intervals, linear.intervals, atol=1e-10)


# Errors


@pytest.mark.parametrize("of", ["population", "records"])
def test_standard_errors_are_the_spread_of_simulated_estimates(of):
    rng = np.random.default_rng(0)
    theta, reports, times = np.array([0.4, 0.3, 0.2, 0.1]), 400, 20_000
    records = rng.multinomial(reports, theta, size=times)
    outputs = sum(rng.multinomial(records[:, i], four().matrix[i]) for i in range(4))
    # The estimate is linear, so that those of single outputs give all others.
    single = np.array(
        [md.estimate_frequencies({f"y{j}": 1}, four(), method="least-squares").frequencies for j in range(5)]
    )
    errors = outputs / reports @ single - (theta if of == "population" else records / reports)
    expected = np.rint(1e9 * (theta @ four().matrix))
    told = md.estimate_frequencies(table(expected), four(), method="least-squares", of=of)
    spread = np.sqrt(reports) * errors.std(axis=0)
    assert_allclose(spread, np.sqrt(1e9) * told.standard_errors, rtol=0.02)  # four times their own error
    assert (np.abs(errors.mean(axis=0)) <= 4.5 * spread / np.sqrt(reports * times)).all()
    pair = errors[:, :2].sum(axis=1).std() * np.sqrt(reports)
    assert_allclose(pair, np.sqrt(1e9) * told.total(["x0", "x1"])[1], rtol=0.02)


def test_the_records_are_known_better_by_the_variance_of_drawing_them():
    counts = {"y0": 400, "y1": 300, "y2": 200, "y3": 50, "y4": 50}
    population, records = (md.estimate_frequencies(counts, four(), of=of) for of in ("population", "records"))
    assert_allclose(population.frequencies, records.frequencies, rtol=0)
    theta = population.frequencies
    assert_allclose(
        population.covariance - records.covariance, (np.diag(theta) - np.outer(theta, theta)) / 1000, atol=1e-6
    )
    assert (records.standard_errors < population.standard_errors).all()
    told = md.estimate_frequencies({"y0": 3, "y1": 7}, mechanism_of(np.eye(2)), of="records")
    assert_allclose(told.intervals, [[0.3, 0.3], [0.7, 0.7]], atol=1e-6)


def test_totals():
    found = md.estimate_frequencies({"y0": 500, "y1": 300, "y2": 200}, pair())
    assert_allclose(found.total(["x2", "x3"])[0], found.frequencies[2:].sum())
    merged = md.estimate_frequencies(
        {"y0": 500, "y1": 300, "y2": 200}, mechanism_of(randomized_response(3, 8.0), prior=[1, 1, 2])
    )
    assert_allclose(found.total(["x2", "x3"])[1], merged.standard_errors[2], rtol=1e-3)
    assert found.total(["x1", "x2"])[1] == np.inf
    assert found.total([]) == (0.0, 0.0)
    assert_allclose(found.total(found.labels), [1, 0], atol=1e-8)
    with raises("unknown-label", "'x9'"):
        found.total(["x9"])
    with raises("label-twice", "'x1'"):
        found.total(["x1", "x1"])
    with raises("wrong-type"):
        found.total("x1")


# Intervals


def log_choices(counts):
    return lgamma(sum(counts) + 1) - sum(lgamma(c + 1) for c in counts)


@pytest.mark.parametrize(("confidence", "least"), [(0.95, 0.925), pytest.param(0.99, 0.98, marks=pytest.mark.slow)])
def test_coverage_of_all_samples_of_randomized_response(confidence, least):
    reports = 60
    intervals = np.array(
        [
            md.estimate_frequencies({"y0": reports - k, "y1": k}, warner(), confidence=confidence).intervals[1]
            for k in range(reports + 1)
        ]
    )
    covered = []
    for theta in np.linspace(0, 1, 41):
        p = 0.25 + 0.5 * theta
        chances = [
            np.exp(log_choices((k, reports - k)) + k * np.log(p) + (reports - k) * np.log(1 - p))
            for k in range(reports + 1)
        ]
        covered.append(chances @ ((intervals[:, 0] <= theta) & (theta <= intervals[:, 1])))
    assert min(covered) >= least
    assert confidence - 0.005 <= np.mean(covered) <= confidence + 0.02


@pytest.mark.parametrize(
    ("confidence", "least", "reports"),
    [(0.95, 0.93, 12), *(pytest.param(*given, 20, marks=pytest.mark.slow) for given in ((0.95, 0.93), (0.99, 0.97)))],
)
def test_coverage_of_all_samples_where_a_rare_output_reveals_a_rare_category(confidence, least, reports):
    mechanism = mechanism_of([[0.6, 0.4, 0], [0.2, 0.3, 0.5]])
    samples = [(a, b, reports - a - b) for a, b in product(range(reports + 1), repeat=2) if a + b <= reports]
    intervals = np.array(
        [
            md.estimate_frequencies(table(counts), mechanism, confidence=confidence).intervals[1]
            for counts in samples
            if counts[2] <= 12
        ]
    )
    samples = np.array([counts for counts in samples if counts[2] <= 12])
    choices = np.array([log_choices(counts) for counts in samples.tolist()])
    for theta in (0.0, 0.002, 0.02, 0.05, 0.1, 0.2):
        with np.errstate(divide="ignore"):
            logs = np.log([1 - theta, theta] @ mechanism.matrix)
        chances = np.exp(choices + np.where(samples > 0, samples * np.maximum(logs, -1e300), 0.0).sum(axis=1))
        assert abs(chances.sum() - 1) <= 1e-6
        assert chances @ ((intervals[:, 0] <= theta) & (theta <= intervals[:, 1])) >= least


@pytest.mark.parametrize("times", [25, pytest.param(80, marks=pytest.mark.slow)])
@pytest.mark.parametrize("of", [pytest.param("population", marks=pytest.mark.slow), "records"])
def test_coverage_of_a_designed_mechanism_by_simulation(of, times):
    mechanism, theta = designed(), np.array([0.45, 0.3, 0.15, 0.07, 0.03, 0.0])
    rng = np.random.default_rng(5)
    hits = np.zeros(6)
    for _ in range(times):
        frequencies, counts = drawn(rng, mechanism, theta, 1500)
        truth = theta if of == "population" else frequencies
        found = md.estimate_frequencies(counts, mechanism, of=of)
        assert found.identifiable.all()
        intervals = found.intervals
        hits += (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
    assert hits.min() / times >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / times)


@pytest.mark.slow
def test_coverage_where_several_bounds_are_equally_good():
    # Every other category has no mass, so that each bound is the least of three that are equal but for noise.
    mechanism, theta = mechanism_of(circulant(6, 2)), np.array([0.5, 0, 0.3, 0, 0.2, 0])
    rng = np.random.default_rng(6)
    hits, times = np.zeros(6), 150
    for _ in range(times):
        frequencies, counts = drawn(rng, mechanism, theta, 500)
        found = md.estimate_frequencies(counts, mechanism, of="records")
        assert not found.identifiable.any()
        hits += (found.intervals[:, 0] <= frequencies + ALGEBRA) & (frequencies <= found.intervals[:, 1] + ALGEBRA)
    assert hits.min() / times >= 0.93


@pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_intervals_hold_the_estimate_and_what_reports_leave_open(rounds):
    rng = np.random.default_rng(7)
    for mechanism in (four(), pair(), designed()):
        for _ in range(rounds):
            drawn_counts = rng.multinomial(30, rng.dirichlet(np.full(len(mechanism.outputs), 0.3)))
            counts = dict(zip(mechanism.outputs, drawn_counts.tolist(), strict=True))
            methods = ["maximum-likelihood"] if mechanism is pair() else ["maximum-likelihood", "least-squares"]
            for method, of in product(methods, ("population", "records")):
                found = md.estimate_frequencies(counts, mechanism, method=method, of=of)
                lower, upper = found.intervals.T
                assert (lower <= found.identified[:, 0]).all()
                assert (found.identified[:, 0] <= found.frequencies).all()
                assert (found.frequencies <= found.identified[:, 1]).all()
                assert (found.identified[:, 1] <= upper).all()
                if method == "maximum-likelihood":
                    assert lower.min() >= 0
                    assert upper.max() <= 1 + ALGEBRA


def test_more_confidence_is_wider_and_more_reports_are_narrower():
    few = {"y0": 40, "y1": 30, "y2": 20, "y3": 5, "y4": 5}
    width = np.ptp(md.estimate_frequencies(few, four()).intervals, axis=1)
    assert (np.ptp(md.estimate_frequencies(few, four(), confidence=0.99).intervals, axis=1) > width).all()
    many = {label: 100 * count for label, count in few.items()}
    assert (np.ptp(md.estimate_frequencies(many, four()).intervals, axis=1) < width / 4).all()


# What cannot be told apart


def test_equal_rows():
    found = md.estimate_frequencies({"y0": 500, "y1": 300, "y2": 200}, pair())
    assert found.identifiable.tolist() == [True, True, False, False]
    assert found.groups == (("x0",), ("x1",), ("x2", "x3"))
    assert found.standard_errors[2:].tolist() == [np.inf, np.inf]
    total, error = found.total(["x2", "x3"])
    assert_allclose(found.identified, [[found.frequencies[0]] * 2, [found.frequencies[1]] * 2, [0, total], [0, total]])
    assert_allclose(found.frequencies[2:], total / 2)
    assert found.intervals[2:, 0].tolist() == [0, 0]
    assert_allclose(found.intervals[2:, 1], total + 1.96 * error, rtol=0.02)


def test_with_endless_reports_the_identified_range_holds_the_truth_and_the_interval_is_no_wider():
    rng = np.random.default_rng(8)
    matrix = rng.dirichlet(np.ones(3), size=6)
    mechanism = mechanism_of(matrix)
    for theta in rng.dirichlet(np.full(6, 0.5), size=10):
        found = md.estimate_frequencies(table(np.rint(1e14 * (theta @ mechanism.matrix))), mechanism)
        assert (found.identified[:, 0] <= theta + 1e-5).all()
        assert (theta <= found.identified[:, 1] + 1e-5).all()
        assert_allclose(found.intervals, found.identified, atol=1e-4)


def test_a_mechanism_with_one_output_tells_nothing():
    found = md.estimate_frequencies({"y0": 7}, mechanism_of(np.ones((3, 1))))
    assert_allclose(found.frequencies, 1 / 3, atol=ALGEBRA)
    assert_allclose(found.intervals, [[0, 1]] * 3, atol=ALGEBRA)
    assert found.groups == (("x0", "x1", "x2"),)
    assert found.total(found.labels) == (pytest.approx(1), pytest.approx(0, abs=1e-8))


def test_least_squares_says_which_categories_have_dependent_rows():
    with raises("not-identifiable", "'x2, x3'"):
        md.estimate_frequencies({"y0": 5}, pair(), method="least-squares")
    with raises("not-identifiable", "(and 1 more groups)"):
        md.estimate_frequencies({"y0": 5}, mechanism_of(np.eye(2)[[0, 0, 1, 1]]), method="least-squares")


def test_the_order_of_labels_does_not_matter():
    rng = np.random.default_rng(9)
    for matrix in (four().matrix, pair().matrix, rng.dirichlet(np.ones(3), size=5)):
        counts = rng.multinomial(300, np.full(matrix.shape[1], 1 / matrix.shape[1]))
        rows, columns = rng.permutation(len(matrix)), rng.permutation(counts.size)
        found = md.estimate_frequencies(table(counts), mechanism_of(matrix))
        again = md.estimate_frequencies(table(counts[columns]), mechanism_of(matrix[rows][:, columns]))
        for name in ("frequencies", "standard_errors", "intervals", "identifiable", "identified"):
            assert_allclose(getattr(again, name), getattr(found, name)[rows], atol=1e-8)
        assert_allclose(again.covariance, found.covariance[np.ix_(rows, rows)], atol=1e-8)


def test_a_million_million_reports():
    counts = np.rint(1e12 * (np.array([0.9, 0.1, 0, 0]) @ four().matrix))
    found = md.estimate_frequencies(table(counts), four())
    assert_allclose(found.frequencies, [0.9, 0.1, 0, 0], atol=1e-10)
    assert found.standard_errors.max() <= 1e-5


# Reports and results


REPORTS = ["y0"] * 6 + ["y1"] * 4
CODES = [0] * 6 + [1] * 4


@pytest.mark.parametrize(
    "reports",
    [
        REPORTS,
        tuple(REPORTS),
        iter(REPORTS),
        np.array(REPORTS),
        np.array(CODES),
        CODES,
        np.array(CODES, dtype=np.uint8),
        pd.Series(REPORTS),
        pd.Series(REPORTS, dtype="category"),
        pd.Series(CODES),
        pl.Series(REPORTS),
        Counter(REPORTS),
        {"y1": 4, "y0": np.int64(6)},
        pd.Series(REPORTS).value_counts().to_dict(),
    ],
    ids=lambda reports: type(reports).__name__,
)
def test_reports_come_in_many_containers(reports):
    found = md.estimate_frequencies(reports, warner())
    assert found.reports == 10
    assert_allclose(found.frequencies, [0.7, 0.3], atol=ALGEBRA)


def test_labels_that_read_as_integers():
    mechanism = md.Mechanism.from_matrix(warner().matrix, warner().guarantee, outputs=["0", "1"])
    assert md.estimate_frequencies({0: 6, "1": 4}, mechanism).reports == 10
    assert md.estimate_frequencies(CODES, mechanism, integers="labels").reports == 10
    with raises("ambiguous-labels"):
        md.estimate_frequencies(CODES, mechanism)


@pytest.mark.parametrize(
    ("reports", "options", "code"),
    [
        ([], {}, "nothing-given"),
        ({}, {}, "nothing-given"),
        (pd.Series([], dtype=str), {}, "nothing-given"),
        ({"y0": 0}, {}, "nothing-given"),
        (["y0", "y7"], {}, "unknown-label"),
        ([0, 2], {}, "unknown-label"),
        (["y0", None], {}, "missing-value"),
        ({"y7": 3}, {}, "unknown-label"),
        ({"y0": -1}, {}, "not-counts"),
        ({"y0": 1.5}, {}, "not-counts"),
        ({"y0": 10**16}, {}, "not-counts"),
        ({1.5: 1}, {}, "bad-label"),
        ("y0", {}, "wrong-record-type"),
        (pd.Series(REPORTS).value_counts(), {}, "wrong-record-type"),
        (REPORTS, {"method": "em"}, "unknown-choice"),
        (REPORTS, {"of": "people"}, "unknown-choice"),
        (REPORTS, {"confidence": 1}, "out-of-range"),
        (REPORTS, {"confidence": 0.0}, "out-of-range"),
        (REPORTS, {"confidence": float("nan")}, "out-of-range"),
        (REPORTS, {"confidence": "0.95"}, "out-of-range"),
        (REPORTS, {"confidence": True}, "out-of-range"),
        (REPORTS, {"integers": "both"}, "unknown-choice"),
    ],
)
def test_bad_input(reports, options, code):
    with raises(code):
        md.estimate_frequencies(reports, warner(), **options)


@pytest.mark.parametrize("again", [lambda x: x, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_an_estimate_cannot_be_changed(again):
    found = md.estimate_frequencies({"y0": 6, "y1": 4}, warner())
    copied = again(found)
    assert repr(copied) == (
        "FrequencyEstimate(2 categories, 10 reports, maximum-likelihood of population: "
        "'x0' 0.7 +- 0.31, 'x1' 0.3 +- 0.31)"
    )
    assert copied.labels == warner().inputs
    for name in ("frequencies", "standard_errors", "intervals", "identifiable", "identified", "covariance"):
        np.testing.assert_array_equal(getattr(copied, name), getattr(found, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(copied, name)[...] = 0
    with pytest.raises(AttributeError):
        copied.reports = 5


@pytest.mark.parametrize("reports", [["y0", "y7"], pd.Series(["y0", "y7"]), ["y0", None], np.array(["y0", "y7"])])
def test_no_message_names_a_parameter_that_is_not_there(reports):
    with pytest.raises(md.InputError) as caught:
        md.estimate_frequencies(reports, warner())
    assert "(unknown)" not in str(caught.value)
    assert "(missing)" not in str(caught.value)
