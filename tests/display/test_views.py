"""What frames, notebooks and the interpreter show of objects is what the objects hold."""

import re
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples

import mechdesign as md

LABELS = ["<script>alert('x')</script>", 'a "quoted" & more', "c"]


@cache
def designed(utility="mutual-information"):
    ball = md.L1Ball.from_counts(dict(zip(LABELS, (812, 150, 38), strict=True)), delta="1e-9")
    return md.design(md.DesignProblem(ball, 1, md.utility.utility_by_name(utility)))


@cache
def compared(utility="mutual-information"):
    return md.compare(designed(utility))


@cache
def randomized(size):
    """Randomized response with some zeros in place of the least probabilities of odd rows."""
    labels = [f"s{i}" for i in range(size)]
    promise = md.Guarantee("log(3)", md.L1Ball([f"1/{size}"] * size, radius=2, labels=labels))
    matrix = np.full((size, size), 1 / (size + 2)) + np.diag(np.full(size, 2 / (size + 2)))
    return md.Mechanism.from_matrix(matrix, promise, outputs=labels)


@cache
def estimated(size=3):
    mechanism = randomized(size) if size != 3 else designed().mechanism
    return md.estimate_frequencies({mechanism.outputs[0]: 600, mechanism.outputs[-1]: 400}, mechanism)


@cache
def objects():
    mechanism = designed().mechanism
    problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], labels=LABELS), 1, md.EstimationError())
    return {
        "mechanism": mechanism,
        "design": designed(),
        "estimation": designed("estimation-error"),
        "verification": md.verify(mechanism),
        "comparison": compared(),
        "errors": compared("estimation-error"),
        "worst case": compared("worst-case-mutual-information"),
        "estimate": estimated(),
        "plan": md.planning.plan(20, samples=100, epsilon=2, delta="1e-5"),
        "reports": md.plan_reports(problem, standard_error=0.01),
        "precision": md.plan_reports(designed(), reports=1000),
        "audit": md.deploy.audit(mechanism, 1000, rng=np.random.default_rng(1)),
        "repair": md.Mechanism.repaired([[0.9, 0.1], [0.1, 0.9]], md.Guarantee("log(2)", md.L1Ball([0.5, 0.5], 2))),
    }


NAMES = [
    "mechanism",
    "design",
    "estimation",
    "verification",
    "comparison",
    "errors",
    "worst case",
    "estimate",
    "plan",
    "reports",
    "precision",
    "audit",
    "repair",
]
FRAMES = ["mechanism", "verification", "comparison", "errors", "worst case", "estimate", "plan", "reports", "precision"]


def numbers_of(thing, depth=3):
    """Every number that an object holds, or computes as a property."""
    if isinstance(thing, bool) or thing is None or depth < 0:
        return set()
    if isinstance(thing, int | float | np.number):
        return {float(thing)}
    if isinstance(thing, np.ndarray):
        return set(thing.astype(float).ravel().tolist())
    if isinstance(thing, tuple | list):
        return set().union(*(numbers_of(item, depth - 1) for item in thing))
    found = set()
    for name in dir(type(thing)):
        if not name.startswith("_") and isinstance(getattr(type(thing), name), property):
            try:
                found |= numbers_of(getattr(thing, name), depth - 1)
            except (AttributeError, md.InputError):
                continue
    for value in getattr(thing, "__dict__", {}).values():
        found |= numbers_of(value, depth - 1)
    return found


@pytest.mark.parametrize(
    ("text", "digits"),
    [("1e-6", "1e-06"), ("1e-9", "1e-09"), ("0.05", "0.05"), ("0.1234567", "0.123457"), ("1/3", "0.333334")],
)
def test_a_delta_is_shown_as_it_was_given_and_never_lower(text, digits):
    ball = md.L1Ball.from_counts({"a": 60, "b": 40}, delta=text)
    shown = md.Mechanism.from_matrix([[0.5, 0.5]] * 2, md.Guarantee(1, ball))._repr_html_()
    value, rounded = re.search(r">delta</th><td[^>]*><data value=\"([^\"]*)\">([^<]*)<", shown).groups()
    assert Fraction(text) <= Fraction(value) <= Fraction(rounded)
    assert rounded == digits


@pytest.mark.parametrize("name", NAMES)
def test_every_number_in_a_notebook_is_one_of_the_object(name):
    thing = objects()[name]
    shown = thing._repr_html_()
    held = numbers_of(thing)
    if name == "mechanism":
        held |= {float(thing.guarantee.uncertainty.delta)}
    if name in {"design", "estimation"}:
        held |= {float(thing.mechanism.guarantee.uncertainty.delta), *thing.mechanism.matrix.ravel().tolist()}
        held |= {thing.mechanism.leakage}
    if name == "verification":
        held |= {float(thing.mechanism.guarantee.epsilon), thing.proof.leakage, thing.certificate.bound, thing.gap}
    if name in {"comparison", "errors", "worst case", "reports", "precision"}:
        held |= {value for row in thing.to_frame("polars").rows() for value in row if isinstance(value, int | float)}
    if name == "repair":
        held |= {thing.mechanism.leakage, *thing.mechanism.matrix.ravel().tolist()}
    if name == "audit":
        held |= {float(thing.counts.sum()), float(len(thing.outside))}
    numbers = re.findall(r'<data value="([^"]*)">([^<]*)</data>', shown)
    assert numbers
    for full, rounded in numbers:
        assert float(full) in held, full
        assert float(rounded.replace(",", "")) == pytest.approx(float(full), rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_markup_in_labels_is_text_in_a_notebook(name):
    shown = objects()[name]._repr_html_()
    assert "<script" not in shown
    assert 'a "quoted"' not in shown
    if name in {"mechanism", "design", "estimate"}:
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in shown


@pytest.mark.parametrize("name", FRAMES)
def test_both_libraries_hold_the_same_table(name):
    thing = objects()[name]
    pandas, polars = thing.to_frame("pandas"), thing.to_frame("polars")
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert [pandas.index.name, *pandas.columns] == polars.columns
    there = pandas.reset_index()
    for column in polars.columns:
        for one, other in zip(there[column].tolist(), polars[column].to_list(), strict=True):
            assert (pd.isna(one) and other is None) or one == other
    assert type(thing.to_frame()) is pd.DataFrame


def test_frames_hold_the_numbers_of_the_objects():
    mechanism = objects()["mechanism"]
    np.testing.assert_array_equal(mechanism.to_frame("pandas").to_numpy(), mechanism.matrix)
    assert mechanism.to_frame("pandas").index.tolist() == LABELS
    leakage = mechanism.leakage_frame("pandas")
    assert leakage["leakage"].max() == mechanism.leakage
    assert leakage["probability"].sum() == pytest.approx(1)
    comparison = objects()["errors"].to_frame("pandas")
    assert comparison.loc["this design", "value"] == designed("estimation-error").value
    assert comparison.loc["this design", "respondents"] == 1
    estimate = estimated().to_frame("pandas")
    np.testing.assert_array_equal(estimate["frequency"].to_numpy(), estimated().frequencies)
    assert estimate["standard_error"].isna().tolist() == (~estimated().identifiable).tolist()


def test_leakage_from_below_stands_beside_that_from_above():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2), "log(2)")
    mechanism = md.Mechanism.from_matrix([[0.6, 0.4], [0.4, 0.6]], promise)
    frame = mechanism.leakage_frame("polars")
    assert frame.columns == ["output", "leakage", "lower_leakage", "probability"]
    assert frame["lower_leakage"].max() == mechanism.lower_leakage


def test_an_output_may_have_the_name_of_the_first_column():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    named = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["input", "input_"])
    assert named.to_frame("polars").columns == ["input__", "input", "input_"]
    assert named.to_frame("pandas").shape == (2, 2)


@pytest.mark.slow
@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=4, unique=True))
def test_any_labels_are_shown(labels):
    try:
        ball = md.L1Ball([f"1/{len(labels)}"] * len(labels), radius=2, labels=labels)
    except md.InputError:
        return
    size = len(labels)
    matrix = np.full((size, size), 1 / (size + 1)) + np.diag(np.full(size, 1 / (size + 1)))
    mechanism = md.Mechanism.from_matrix(matrix, md.Guarantee("log(2)", ball))
    tags = {"table", "caption", "thead", "tbody", "tr", "th", "td", "data", "div"}
    assert set(re.findall(r"<(\w+)", mechanism._repr_html_())) <= tags
    assert mechanism.to_frame("polars")["input"].to_list() == list(mechanism.inputs)


@pytest.mark.parametrize("size", [2, 3, 40])
def test_an_estimate_of_any_size_is_told_in_a_line(size):
    found = estimated(size)
    told = repr(found)
    assert "\n" not in told
    assert len(told) < 400
    first = int(np.argmax(found.frequencies))
    assert f"{found.labels[first]!r} {found.frequencies[first]:.4g} +- {found.standard_errors[first]:.2g}" in told
    assert ("(not identifiable)" in told) == (not found.identifiable.all())
    assert ("more)" in told) == (size > 5)
    assert f"{found.reports:,} reports" in told


@pytest.mark.slow
def test_a_large_estimate_and_mechanism_are_told_in_a_line():
    found = estimated(1000)
    assert len(repr(found)) < 400
    assert "and 995 more)" in repr(found)
    assert len(found._repr_html_()) < 30_000
    assert len(repr(randomized(1000))) < 300
    assert len(randomized(1000)._repr_html_()) < 100_000


def test_a_comparison_is_a_short_table():
    lines = repr(compared()).splitlines()
    assert lines[0] == "Comparison of mutual-information in nats, epsilon = 1, 3 categories"
    assert [line.split("  ")[1] for line in lines[1:]] == [row.name for row in compared().rows]
    for line, row in zip(lines[1:], compared().rows, strict=True):
        assert f"{row.value:.6g}" in line
        assert f"{row.value / designed().value:.1%}" in line
        assert len(line) < 80


def test_what_was_compared_has_a_row_where_it_is_not_the_design():
    promise = md.Guarantee(1, designed().problem.uncertainty)
    flat = md.Mechanism.from_matrix([[0.6, 0.4], [0.5, 0.5], [0.5, 0.5]], promise)
    both = md.compare(flat, md.MutualInformation())
    assert [row.name for row in both.rows][:2] == ["the mechanism compared", "this design"]
    assert both.rows[0].value == both.value < both.rows[1].value


def test_a_verification_tells_what_it_proved():
    mechanism = designed().mechanism
    told = repr(md.verify(mechanism))
    assert f"leakage <= {mechanism.leakage:.6g}" in told
    assert f"mutual-information {designed().value:.9g}" in told
    assert told.endswith("optimal)")
    plain = md.Mechanism(mechanism.numerators, mechanism.bits, mechanism.guarantee)
    assert "no optimality claimed" in repr(md.verify(plain))
    assert md.verify(plain).to_frame("polars")["quantity"].to_list() == ["leakage", "epsilon"]


def test_a_plan_of_reports_is_a_short_table():
    plan = objects()["reports"]
    lines = repr(plan).splitlines()
    assert len(lines) == 1 + len(plan.mechanisms)
    assert f"{plan.needed(plan.mechanisms[0].largest):,} reports" in lines[1]
    assert "standard errors <=" in repr(objects()["precision"])


def test_a_latex_table_comes_from_pandas():
    told = randomized(2).to_frame("pandas").to_latex(float_format="%.2f")
    assert "s0 & 0.75 & 0.25" in told


def number_before(text, words):
    return float(re.search(words + r" ([0-9.e+-]+)", text)[1])


def test_what_is_proved_to_be_at_most_is_not_printed_below_it():
    rng = np.random.default_rng(5)
    for _ in range(40):
        P, ratio = rng.dirichlet(np.ones(3)), Fraction(int(rng.integers(1001, 9000)), 1000)
        V = np.array(md.baselines.k_ary_randomized_response(3, f"log({ratio})").matrix)
        mechanism = md.Mechanism.from_matrix(V, md.Guarantee("log(9)", md.L1Ball(P, radius=0.3)))
        found = md.analyze(mechanism, optimum=False)
        assert number_before(repr(mechanism), "leakage <=") >= mechanism.leakage
        assert number_before(repr(md.verify(mechanism)), "leakage <=") >= mechanism.leakage
        assert number_before(repr(found), "leakage") >= found.leakage
        assert number_before(repr(found), "LDP") >= found.ldp_level
        for shown in (mechanism._repr_html_(), md.verify(mechanism)._repr_html_(), found._repr_html_()):
            cells = re.findall(r'<data value="([0-9.e+-]+)">([0-9.e+-]+)</data>', shown)
            told = [float(text) for value, text in cells if float(value) == mechanism.leakage]
            assert told
            assert min(told) >= mechanism.leakage


def test_a_bound_is_not_printed_on_the_wrong_side():
    for objective, side in [("mutual-information", 1), ("estimation-error", -1)]:
        solved = designed(objective)
        found = md.verify(solved.mechanism)
        told = number_before(repr(found), "upper bound" if side > 0 else "lower bound")
        assert side * told >= side * found.certificate.bound
        shown = dict(re.findall(r'<data value="([0-9.e+-]+)">([0-9.e+-]+)</data>', solved._repr_html_()))
        assert side * float(shown[repr(solved.bound)]) >= side * solved.bound
