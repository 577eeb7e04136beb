"""Arrays from what users give: real numbers are taken, and everything else is refused in one line."""

import json
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.deploy.leakage_audit import audit_counts
from mechdesign.histogram import discrete_gaussian, top_k_counts
from mechdesign.numerics.arrays import entries, number_array, real_array
from mechdesign.optimize.certificate import certify

STRANGE = {
    "complex": np.array([[0.5 + 1j, 0.5], [0.5, 0.5]]),
    "complex in a list": [[0.5, 0.5], [0.5 + 1j, 0.5]],
    "masked": np.ma.array([[0.5, 0.5], [0.5, 0.5]], mask=[[False, True], [False, False]]),
    "masked in a list": [[np.ma.masked, 0.5], [0.5, 0.5]],
    "ragged": [[0.5, 0.5], [1.0]],
    "ragged arrays": [np.zeros((2, 2)), np.zeros((2, 3))],
    "words": [["a", "b"], ["c", "d"]],
    "signalling": [[Decimal("sNaN"), 1.0], [0.5, 0.5]],
    "too large": [[10**5000, 0], [1, 0]],
    "objects": np.array([[object(), 1], [1, 0]], dtype=object),
    "dates": np.array([["2020", "2021"], ["2020", "2021"]], dtype="M8[Y]"),
    "bytes": np.array([[b"1", b"0"], [b"1", b"0"]]),
    "no dimension": np.array(None),
    "a type": int,
}
BALL = md.L1Ball(["0.5", "0.5"], 2, ["no", "yes"])
PROMISE = md.Guarantee("log(3)", BALL)


@cache
def warner():
    return md.Mechanism(np.array([[3, 1], [1, 3]]), 2, PROMISE, ("n", "y"))


TAKERS = {
    "real_array": lambda value: real_array(value, "the matrix"),
    "leakage": lambda value: md.leakage(value, [0.5, 0.5]),
    "worst_case_leakage": lambda value: md.pml.worst_case_leakage(value, BALL),
    "support": BALL.support,
    "worst_mean": BALL.worst_mean,
    "from_matrix": lambda value: md.Mechanism.from_matrix(value, PROMISE),
    "numerators": lambda value: md.Mechanism(value, 2, PROMISE),
    "then": lambda value: warner().then(value),
    "value": lambda value: md.MutualInformation().value(value, [0.5, 0.5]),
    "certify": lambda value: certify(md.DesignProblem(BALL, 1), value),
    "gain": md.ExpectedGain,
    "hull": md.ConvexHull,
    "prior": md.pml.epsilon_max,
    "priors": lambda value: md.leakage([[0.75, 0.25], [0.25, 0.75]], value),
    "counts": lambda value: audit_counts(warner(), value),
    "top k": lambda value: top_k_counts(value, 1),
    "labels": lambda value: md.L1Ball(["0.5", "0.5"], 0, labels=value),
}


@pytest.mark.combined
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_not_an_array_of_real_numbers_is_refused_in_one_line(taker, strange):
    with pytest.raises(md.InputError) as refused:
        TAKERS[taker](STRANGE[strange])
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    "given",
    [
        [[0.25, 1]],
        [["1/4", True]],
        [[Fraction(1, 4), Decimal(1)]],
        [[np.float32(0.25), np.int8(1)]],
        np.array([[0.25, 1]], dtype=object),
        np.array([["0.25", "1"]]),
        np.array([[0.25, 1]], dtype=np.longdouble),
        np.ma.array([[0.25, 1.0]]),
        pd.DataFrame([[0.25, 1.0]]),
        [pa.array([0.25, 1.0])],
        (range(1), range(1, 2)),
    ],
    ids=[
        "floats",
        "ratios as text",
        "fractions",
        "numpy scalars",
        "objects",
        "text",
        "long doubles",
        "without a masked entry",
        "data frame",
        "arrow",
        "ranges",
    ],
)
def test_real_numbers_are_taken_in_every_form(given):
    found = real_array(given, "the matrix")
    assert found.dtype == np.float64
    assert found.tolist() in ([[0.25, 1.0]], [[0.0], [1.0]])


def test_numbers_keep_their_type():
    assert number_array([np.int64(3), 2], "the counts", "integers").dtype == np.int64
    assert number_array(np.array([1, 2], dtype=np.uint8), "the counts", "integers").dtype == np.uint8
    with raises("not-a-number", "the counts"):
        number_array([10**30], "the counts", "integers")


def test_entries_that_are_not_finite_are_left_to_the_caller():
    assert np.isnan(real_array([1.0, np.nan], "the vector")).tolist() == [False, True]
    assert np.isinf(real_array([np.longdouble("1e4000")], "the vector")).all()


def test_lists():
    assert entries(iter("ab"), "labels", "a list") == ["a", "b"]
    for wrong in ("ab", 5, None, np.array(1.0), list):
        with raises("wrong-type", "labels", "a list"):
            entries(wrong, "labels", "a list")


# The same class, where it is not a matter of arrays


def test_a_function_of_complex_values_is_refused_wherever_they_arise():
    half = md.FInformation(lambda u: np.where(u > 1e6, 1j, 0) * u if (u > 1e6).any() else 0 * u)
    with raises("not-a-number"):
        half.mu_up(np.full((2, 1), 1e7), np.array([0.5, 0.5]), 0.0)


@pytest.mark.parametrize("outputs", [5, np.array(1.0), "ab"])
def test_outputs_are_a_list(outputs):
    with raises("wrong-type"):
        md.Mechanism(np.array([[3, 1], [1, 3]]), 2, PROMISE, outputs)


@pytest.mark.parametrize("outputs", [np.array(["a", "b"]), pd.Series(["a", "b"])])
def test_outputs_in_an_array_are_taken(outputs):
    assert md.Mechanism(np.array([[3, 1], [1, 3]]), 2, PROMISE, outputs).outputs == ("a", "b")


@pytest.mark.parametrize("options", [{"unknown": np.array(["no"])}, {"missing": [1]}, {"integers": np.array([1, 2])}])
def test_options_that_are_not_words_are_refused(options):
    with pytest.raises(md.InputError):
        warner().privatize(["no"], **options)
    with raises("unknown-choice", "method"):
        md.estimate_frequencies(["n"], warner(), method=np.array(["a", "b"]))


@pytest.mark.parametrize("records", [np.array(["no", "\ud800"]), pd.Series([10**30, 1]), ["no", 10**30]])
def test_records_that_no_column_holds_are_refused(records):
    with pytest.raises(md.InputError):
        warner().privatize(records)


def test_a_generator_of_records_is_read_to_its_end():
    reports = warner().privatize(label for label in ["no", "yes", "no"])
    assert len(reports) == 3
    assert set(reports) <= {"n", "y"}


@pytest.mark.combined
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("confidence", [1e-3, 1e-19, 1e-177, 1e-300])
@pytest.mark.parametrize("of", ["population", "records"])
def test_intervals_of_hardly_any_confidence_are_numbers(confidence, of):
    found = md.estimate_frequencies({"n": 30, "y": 20}, warner(), confidence=confidence, of=of, method="least-squares")
    low, high = found.intervals.T
    assert (low <= high).all()
    half_a_report = 0.5 * 2 / 50  # from no to yes an estimate moves by 2 / 50
    assert (np.abs(high - found.frequencies) < half_a_report + 2e-3).all()


@pytest.mark.parametrize("path", ["a\x00b", "\ud800", "\n"])
def test_problem_files_with_names_that_no_file_has(path):
    with raises("cannot-read") as refused:
        md.read_problem(path)
    assert "\n" not in str(refused.value)


def test_the_number_of_samples_has_a_bound():
    with raises("not-a-whole-number"):
        discrete_gaussian("2", 10**30)


def test_long_arguments_are_cut_in_messages(capfd):
    from mechdesign.cli.entry_point import run

    assert run(["plan", "--categories", "9" * 5_000]) == 2
    told = capfd.readouterr().err
    assert len(told) < 600
    assert "--categories" in told
    assert json.dumps(told).count("\\n") == 1
