"""Analyses from a second side: closed forms, random priors, designs, relabelled and merged matrices."""

import copy
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import raises
from strategies import random_ball, random_mechanism

import mechdesign as md
from mechdesign.comparison.analyzer import own_epsilon
from mechdesign.uncertainty.box import Box

EXACT = 1e-12
COUNTS = {"a": 50, "b": 30, "c": 20}
SETS = [
    md.L1Ball.from_counts(COUNTS, radius="0.1"),
    md.ConvexHull([["0.5", "0.3", "0.2"], ["0.3", "0.3", "0.4"], ["0.4", "0.5", "0.1"]]),
    Box.from_counts(COUNTS, "1e-3"),
    md.L1Ball.from_counts(COUNTS, known=True),
]


def quick(matrix, known, utility=None):
    return md.analyze(matrix, known, utility, optimum=False)


def members(known, rng, count=200):
    """Random priors of a set: mixtures of the center with members that are worst for random columns."""
    found = []
    for _ in range(count):
        worst = known.exact_set.exact_worst_mean(rng.integers(0, 100, known.size).tolist())[1]
        share = rng.random()
        found.append((1 - share) * known.prior + share * np.array([float(q) for q in worst]))
    return np.array(found)


# Randomized response has closed forms


@pytest.mark.parametrize("radius", ["0", "0.1", "0.5", "2"])
@pytest.mark.parametrize("epsilon", ["log(2)", "log(5)"])
def test_randomized_response_leaks_most_by_its_least_likely_symbol(radius, epsilon):
    ball = md.L1Ball(["0.5", "0.3", "0.15", "0.05"], radius)
    found = quick(md.baselines.k_ary_randomized_response(4, epsilon), ball)
    e = found.matrix.ldp_ratio
    for place, ratio in enumerate(found.ratios):
        least = max(Fraction(0), ball.center[place] - Fraction(radius) / 2)
        assert ratio == e / (least * e + 1 - least)
    place = found.outputs.index(found.worst_output)
    assert found.ratios[place] == found.ratios[3]
    assert_allclose(found.ldp_level, math.log(e), rtol=EXACT)
    assert math.exp(found.leakage) >= max(found.ratios)
    assert found.worst_prior[place] == max(Fraction(0), ball.center[place] - Fraction(radius) / 2)
    greatest = min(Fraction(1), ball.center[0] + Fraction(radius) / 2)
    assert min(found.least_lifts) == 1 / (greatest * e + 1 - greatest)


def test_randomized_response_has_utilities_in_closed_form():
    N, e = 5, 3.0
    prior = np.full(N, 1 / N)
    found = quick(md.baselines.k_ary_randomized_response(N, "log(3)"), prior)
    p, q = e / (e + N - 1), 1 / (e + N - 1)
    values = found.utilities
    assert_allclose(values["mutual-information"], p * math.log(N * p) + (N - 1) * q * math.log(N * q), rtol=1e-9)
    assert_allclose(values["hamming-accuracy"], p, rtol=1e-9)
    assert_allclose(values["total-variation"], (p - 1 / N + (N - 1) * (1 / N - q)) / 2, rtol=1e-9)
    assert_allclose(values["chi-square"], N * (p * p + (N - 1) * q * q) - 1, rtol=1e-9)
    # n times the variance of a frequency f is s (1 - s) / (p - q)^2 for the probability s of its output.
    assert_allclose(found.variances, 1 / N * (1 - 1 / N) / (p - q) ** 2, rtol=1e-9)
    assert_allclose(values["estimation-error"], found.variances.sum(), rtol=1e-9)


# Leakage over a set


@pytest.mark.combined
@pytest.mark.parametrize("known", SETS, ids=["ball", "hull", "box", "prior"])
@pytest.mark.parametrize("seed", range(4))
def test_no_prior_of_the_set_leaks_more_and_the_worst_prior_as_much(known, seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, 3, 5)
    found = quick(matrix, known)
    assert (md.leakage(matrix, members(known, rng)) <= found.leakages + EXACT).all()
    assert (md.pml.lower_leakage(matrix, members(known, rng)) <= found.lower_leakage + EXACT).all()
    assert known.exact_set.contains(found.worst_prior)
    at_worst = md.leakage(matrix, [float(q) for q in found.worst_prior])
    if math.isfinite(found.leakage):
        assert_allclose(at_worst.max(), found.leakage, rtol=1e-9)
        assert_allclose(found.leakage, md.pml.worst_case_leakage(matrix, known).value, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_merging_outputs_raises_neither_leakage_nor_utility(seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, 3, 6)
    whole, merged = quick(matrix, SETS[0]), quick(matrix @ np.kron(np.eye(3), np.ones((2, 1))), SETS[0])
    assert merged.leakage <= whole.leakage + EXACT
    assert merged.ldp_level <= whole.ldp_level + EXACT
    for name, value in merged.utilities.items():
        if name == "estimation-error":
            assert value >= whole.utilities[name] * (1 - 1e-9)
        else:
            assert value <= whole.utilities[name] + EXACT


def test_names_of_symbols_do_not_matter():
    rng = np.random.default_rng(5)
    ball = random_ball(rng, 4, "0.1")
    matrix, order = random_mechanism(rng, 4, 3), [2, 0, 3, 1]
    moved = md.L1Ball([ball.center[i] for i in order], ball.radius)
    first, second = quick(matrix, ball), quick(matrix[order], moved)
    assert first.ratios == second.ratios
    assert_allclose(first.variances[order], second.variances, rtol=1e-9)
    for name, value in first.utilities.items():
        assert_allclose(value, second.utilities[name], rtol=1e-9)


def test_rows_with_labels_are_put_in_the_order_of_the_set():
    import pandas as pd

    table = pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], index=["c", "a", "b"], columns=["no", "yes"])
    found = quick(table, SETS[0])
    assert found.inputs == ("a", "b", "c")
    assert found.outputs == ("no", "yes")
    assert_allclose(found.matrix.matrix, [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], rtol=EXACT)
    assert quick(table, [0.5, 0.3, 0.2]).inputs == ("c", "a", "b")
    with raises("labels-differ", "rows of the matrix", "'c', 'a', 'b'", "'x', 'y', 'z'"):
        quick(table, {"x": 0.5, "y": 0.3, "z": 0.2})
    with raises("labels-differ"):
        quick(pd.DataFrame(np.full((2, 3), 1 / 3), index=["p", "q"], columns=["a", "b", "c"]), SETS[0])


# The optimum


@pytest.mark.combined
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy(), md.EstimationError()], ids=str)
@pytest.mark.parametrize("known", SETS[:2], ids=["ball", "hull"])
def test_a_design_is_all_that_is_possible(known, utility):
    designed = md.design(md.DesignProblem(known, 1, utility))
    found = md.analyze(designed.mechanism)
    assert md.analyze(designed, optimum=False).ratios == found.ratios
    assert found.utility == utility
    assert found.leakage == designed.leakage
    assert found.value == designed.value
    assert found.certified
    assert found.share >= 1 - 1e-6
    assert found.least_share >= 1 - 1e-5
    assert_allclose(found.best.value, designed.value, rtol=2e-6)
    assert "100 %" in found.summary or "as many as the reports" in found.summary


def test_the_share_is_that_of_a_design_with_the_epsilon_of_the_leakage():
    ball, response = SETS[0], md.baselines.k_ary_randomized_response(3, 1)
    found = md.analyze(response, ball)
    again = md.design(md.DesignProblem(ball, md.Epsilon.covering(max(found.ratios))))
    assert_allclose(found.share, md.MutualInformation().value(response.matrix, ball.prior) / again.value, rtol=1e-6)
    assert found.least_share <= found.share
    # The design beside it leaks no more.
    assert max(found.best.mechanism.proof.ratios) <= max(found.ratios)
    assert found.summary == "19.3 % of what is possible at its leakage"


def test_errors_are_told_in_reports():
    found = md.analyze(md.baselines.hadamard_response(3, 1), SETS[0], md.EstimationError())
    assert found.value == found.utilities["estimation-error"]
    assert_allclose(found.share, found.best.value / found.value, rtol=EXACT)
    assert (
        found.summary
        == f"{1 / found.share:.3g} times the reports of the best mechanism of its leakage, for the same error"
    )


def test_a_least_utility_is_that_over_the_set():
    worst = md.WorstCaseUtility(md.HammingAccuracy())
    found = md.analyze(md.baselines.k_ary_randomized_response(3, 2), SETS[0], worst)
    assert_allclose(found.value, worst.value_over(found.matrix.matrix, SETS[0]), rtol=EXACT)
    assert 0 < found.least_share <= found.share <= 1


def test_what_is_not_certified_says_so():
    rng = np.random.default_rng(3)
    ball = random_ball(rng, 40, "0.05")
    found = md.analyze(random_mechanism(rng, 40, 40) * 0.1 + 0.9 / 40, ball, time_limit=0)
    assert not found.certified
    assert found.least_share < found.share
    assert "not certified" in found.summary or "no better mechanism was found" in found.summary
    told = re.search(r"NOT certified, at most ([0-9.]+)", dict(words(found))["optimum"])
    assert found.best.bound <= float(told[1]) <= found.best.bound + 1e-6


def words(found):
    from mechdesign.comparison.analysis_words import facts

    return facts(found)


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (np.eye(3), "nothing to compare with: its leakage is infinite, and the data themselves are worth 1.02965"),
        (np.full((3, 2), 0.5), "nothing to compare with: its reports tell nothing (leakage 0)"),
    ],
)
def test_without_an_optimum_the_reason_is_said(matrix, said):
    ball = md.L1Ball.from_counts(COUNTS, radius="0.5")
    found = md.analyze(matrix, ball)
    assert found.best is found.share is found.least_share is None
    assert found.summary == found.best_missing == said


def test_a_method_that_reaches_its_limit_leaves_the_rest_of_the_analysis(monkeypatch):
    def refuses(*given, **options):
        raise md.LimitError("too many to list")

    monkeypatch.setattr("mechdesign.comparison.analyzer.design", refuses)
    found = md.analyze(md.baselines.k_ary_randomized_response(3, 1), SETS[0])
    assert found.summary == "the optimum was not computed: too many to list"
    assert math.isfinite(found.leakage)


# Promises about a secret


def test_a_secret_is_told_less_of_than_the_data():
    known = md.SecretPromise([[30, 10, 10], [10, 20, 20]], secret="sex", useful="job", known=True)
    matrix = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    found = md.analyze(matrix, known)
    # By hand: the posterior of each value of the secret over its prior.
    of_value = np.array([[30, 10, 10], [10, 20, 20]]) / 50
    lifts = of_value @ matrix / (np.array([0.5, 0.5]) @ of_value @ matrix)
    assert_allclose(found.leakages, np.log(lifts.max(axis=0)), rtol=1e-9)
    assert found.worst_prior is None
    assert found.leakage < found.ldp_level
    assert found.certified
    assert 0 < found.share < 1
    constant = md.analyze(np.full((3, 2), 0.5), known)
    assert constant.summary == "nothing to compare with: its reports tell nothing about sex (leakage 0)"


# What reports do not tell apart, zeros, outputs that never occur


def test_zeros_rule_symbols_out():
    found = quick([["0.5", "0.5", "0"], ["0.5", "0", "0.5"], ["0", "0.5", "0.5"]], SETS[3])
    assert found.ldp_level == found.lower_leakage == math.inf
    assert math.isfinite(found.leakage)
    assert "infinite" in dict(words(found))["LDP level"]


def test_symbols_with_the_same_row_are_not_told_apart():
    found = quick([["0.75", "0.25"], ["0.25", "0.75"], ["0.25", "0.75"]], SETS[3])
    assert found.groups == (("a",), ("b", "c"))
    assert np.isinf(found.variances).tolist() == [False, True, True]
    assert found.utilities["estimation-error"] == math.inf
    assert dict(words(found))["not told apart"].endswith("each of these is determined: b, c")


def test_an_output_that_never_occurs_leaks_nothing():
    found = quick([["0.75", "0.25", "0"], ["0.25", "0.75", "0"], ["0.25", "0.75", "0"]], SETS[0])
    assert found.leakages[2] == 0
    assert found.ldp_level == math.nextafter(math.log(3), 2) or found.ldp_level == math.log(3)


def test_the_optimum_says_that_it_keeps_no_cap_where_the_mechanism_has_a_lower_ldp_level():
    """A cap is given up by the optimum, whose reports may rule a category out; one against itself gives up nothing."""
    from mechdesign.comparison.analysis_words import facts

    known = SETS[3]
    capped = md.design(md.DesignProblem(known, 1, cap=2)).mechanism
    found = md.analyze(capped)
    assert (found.ldp_level, found.best.mechanism.level) == (pytest.approx(2), None)
    assert "at the same leakage, without a cap: its LDP level is infinite (certified)" in dict(facts(found))["optimum"]
    assert "without a cap" not in dict(facts(md.analyze(found.best.mechanism)))["optimum"]
    every_prior = md.L1Ball(["1/2", "1/2"], 2)  # over it leakage is the LDP level
    both = md.analyze(md.design(md.DesignProblem(every_prior, 1)).mechanism)
    assert both.ldp_level == pytest.approx(1)
    assert "without a cap" not in dict(facts(both))["optimum"]


# What it shows


def test_tables_and_representations():
    found = md.analyze(md.baselines.k_ary_randomized_response(3, 1), SETS[0], name="theirs")
    outputs = found.to_frame("pandas")
    assert list(outputs.columns) == ["probability", "leakage", "lower_leakage"]
    assert_allclose(outputs["leakage"].max(), found.leakage)
    assert_allclose(outputs["probability"].sum(), 1)
    symbols = found.to_frame("polars", of="symbols")
    assert symbols["symbol"].to_list() == ["a", "b", "c"]
    assert_allclose(symbols["variance"].to_numpy(), found.variances)
    assert found.to_frame("pandas", of="utilities").loc["mutual-information", "value"] == found.value
    with raises("unknown-choice"):
        found.to_frame(of="columns")
    assert repr(found).startswith("Analysis(theirs, 3 x 3: leakage 0.")
    page = found._repr_html_()
    assert "theirs" in page
    assert "19.3 %" in page
    hostile = quick([["0.75", "0.25"], ["0.25", "0.75"]], {"<b>": 0.5, "x": 0.5})
    assert "<b>" not in hostile._repr_html_()
    assert "&lt;b&gt;" in hostile._repr_html_()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])
def test_copies_are_what_they_copy_and_cannot_be_changed(again):
    found = md.analyze(md.baselines.k_ary_randomized_response(3, 1), SETS[0])
    other = again(found)
    assert repr(other) == repr(found)
    assert other.utilities == found.utilities
    with pytest.raises(TypeError):
        other.utilities["mutual-information"] = 1.0
    for array in (other.variances, other.leakages, other.matrix.matrix):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_what_is_refused():
    response = md.baselines.k_ary_randomized_response(3, 1)
    for given, message in (
        ((response,), "there is no uncertainty"),
        ((response, [0.5, 0.5]), "3 rows for 2 categories"),
        ((response, SETS[0], "accuracy"), "the utility is 'accuracy'"),
        ((response, SETS[0], md.ExpectedGain([[1, 0], [0, 1]])), "3 categories"),
        ((7, SETS[0]), "the matrix is 7"),
    ):
        with pytest.raises(md.InputError, match=message):
            md.analyze(*given)


def test_the_epsilon_of_a_long_ratio_is_never_below_its_logarithm():
    """The optimum is designed for it: with less it would be the best among too few."""
    for short in (Fraction(9, 8), Fraction(10**30 + 1, 7**30)):
        assert own_epsilon(short).power == short
    for long in (Fraction(10**50 + 1, 7**30), Fraction(10**200 + 1, 7**30), Fraction(10**50 + 1, 10**50)):
        assert long < own_epsilon(long).power <= long * (1 + Fraction(1, 2**127))
