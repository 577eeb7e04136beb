"""Records in every container: labels in, labels out; codes in, codes out; nothing guessed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from containers import CONTAINERS
from refusals import raises

import mechdesign as md

LABELS = ("HS-grad", "naïve ☂", 'a, "b"')


def told(labels=LABELS, outputs=("u", "v", "w")):
    """A mechanism that reports what it is told, so that containers can be compared."""
    numerators = np.diag([4] * len(labels)).astype(np.int64)
    ball = md.L1Ball([1 / len(labels)] * len(labels), labels=labels)
    return md.Mechanism(numerators, 2, md.Guarantee(md.Epsilon.of(f"log({len(labels)})"), ball), outputs)


RECORDS = [LABELS[2], LABELS[0], LABELS[1], LABELS[0]]
REPORTS = ["w", "u", "v", "u"]
CODES, CODES_OUT = [2, 0, 1, 0], [2, 0, 1, 0]


def as_list(answer):
    return answer.to_pylist() if isinstance(answer, pa.Array | pa.ChunkedArray) else list(answer)


@pytest.mark.parametrize("container", CONTAINERS)
def test_labels_in_labels_out(container):
    records = container(RECORDS)
    answer = told().privatize(records)
    assert as_list(answer) == REPORTS
    if not isinstance(records, list | tuple) and hasattr(records, "__len__"):
        assert type(answer).__module__.split(".")[0] == type(records).__module__.split(".")[0]


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        np.array,
        lambda r: np.array(r, dtype=np.uint8),
        lambda r: np.array(r, dtype=object),
        pd.Series,
        lambda r: pd.Series(r, dtype="Int8"),
        pl.Series,
        pa.array,
        lambda r: pa.array(r, type=pa.uint16()),
    ],
)
def test_codes_in_codes_out(container):
    answer = told().privatize(container(CODES))
    assert as_list(answer) == CODES_OUT
    assert all(isinstance(code, int | np.integer) for code in as_list(answer))


def test_series_keep_their_index_and_name():
    answer = told().privatize(pd.Series(RECORDS, index=[7, 8, 9, 10], name="education"))
    assert list(answer.index) == [7, 8, 9, 10]
    assert answer.name == "education"
    assert told().privatize(pl.Series("education", RECORDS)).name == "education"


def test_codes_of_outputs_have_the_integers_of_the_platform():
    codes = np.array([0, 1, 1, 0], dtype=np.uint8)
    assert told().privatize(codes).dtype == np.intp
    assert told().privatize(pd.Series(codes)).dtype == np.intp
    assert told().privatize(pl.Series(codes)).dtype == pl.Int64
    assert told().privatize(pa.array(codes)).type == pa.int64()


@pytest.mark.parametrize("empty", [[], np.array([], dtype=str), np.array([], dtype=int), pa.array([], pa.string())])
def test_no_records_no_reports(empty):
    assert len(told().privatize(empty)) == 0


@pytest.mark.parametrize(
    ("records", "part"),
    [
        (["HS-grad", "Masters"], "records[1] is not among the categories: 'Masters'; accepted: 'HS-grad'"),
        (["HS-grad", "hs-grad"], "records[1] is not among the categories: 'hs-grad'"),
        (["HS-grad", "HS-grad "], "records[1] is not among the categories: 'HS-grad '"),
        (["HS-grad", None], "records[1] is missing"),
        (["HS-grad", ""], "records[1] is missing"),
        (["HS-grad", float("nan")], "records[1] is missing"),
        (["HS-grad", 1.5], "records[1] is a float: 1.5"),
        (["HS-grad", True], "records[1] is a bool: True"),
        (["HS-grad", b"HS-grad"], "records[1] is a bytes: b'HS-grad'"),
        (["HS-grad", ["HS-grad"]], "records[1] is a list: ['HS-grad']"),
        (["HS-grad", 1], "records[0] is a str among integers: 'HS-grad'"),
        ([1, True], "records[1] is a bool among integers: True"),
        ([0, 3], "records[1] is out of range: 3; accepted: codes from 0 to 2"),
        ([0, -1], "records[1] is out of range: -1; accepted: codes from 0 to 2"),
        ([0, 2**70], "accepted: codes from 0 to 2"),
        (np.array([0, 255], dtype=np.uint8), "records[1] is out of range: 255"),
        (np.array([0, 2**63], dtype=np.uint64), "records[1] is out of range: 9223372036854775808"),
        (np.array([0.0]), "of type float64"),
        (np.array([True]), "of type bool"),
        (np.array([b"a"]), "of type |S1"),
        (np.zeros((2, 2), dtype=int), "shape (2, 2)"),
        (pa.array(["HS-grad", None]), "records[1] is missing"),
        (pa.array(["HS-grad", "x"]), "records[1] is not among the categories: 'x'"),
        (pa.array([1.0]), "of type double"),
        (pa.array([None, None]), "records[0] is missing"),
        (pa.array([0, None]), "records[1] is missing"),
        (pd.Series(["HS-grad", None]), "records[1] is missing"),
        (pd.Series([["x"], "HS-grad"]), "mixed values"),
        (pl.Series("x", [0.5]), "of type double"),
        (pd.DataFrame({"x": RECORDS}), "accepted: a list"),
        ("HS-grad", "accepted: a list"),
        ({"HS-grad"}, "accepted: a list"),
        ({"HS-grad": 1}, "accepted: a list"),
        (5, "accepted: a list"),
        (None, "accepted: a list"),
    ],
)
def test_what_is_outside_the_alphabet_is_named_with_its_row(records, part):
    with pytest.raises(md.InputError) as caught:
        told().privatize(records, show_values=True)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("container", [list, pa.array, pd.Series, pl.Series, lambda r: np.array(r, dtype=object)])
def test_unknown_and_missing_values_are_taken_for_the_labels_named(container):
    records = container(["HS-grad", "x", None, "", "y"])
    answer = told().privatize(records, unknown=LABELS[1], missing=LABELS[2])
    assert as_list(answer) == ["u", "v", "w", "w", "v"]
    with raises("missing-value", "records[2]"):
        told().privatize(records, unknown=LABELS[1])
    with raises("unknown-label", "records[1]"):
        told().privatize(records, missing=LABELS[1])


@pytest.mark.parametrize("container", [list, pa.array, pl.Series, lambda r: pd.Series(r, dtype="Int64")])
def test_unknown_and_missing_codes_too(container):
    assert as_list(told().privatize(container([0, 9, None]), unknown=LABELS[1], missing=LABELS[2])) == [0, 1, 2]


def test_a_value_of_another_type_is_never_taken_for_unknown():
    with raises("wrong-record-type"):
        told().privatize(["HS-grad", 1.5], unknown="HS-grad", missing="HS-grad")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (np.ma.array([0, 2, 0], mask=[False, True, False]), [0, 1, 0]),
        (np.ma.array([0, 7, 0], mask=[False, True, False], dtype=np.uint8), [0, 1, 0]),
        (np.ma.array([0, 0, 0]), [0, 0, 0]),
        (np.ma.array(["HS-grad", "HS-grad", "HS-grad"], mask=[False, True, False]), ["u", "v", "u"]),
        (np.ma.array(["HS-grad"] * 3, mask=[False, True, False], dtype=object), ["u", "v", "u"]),
        ([0, np.ma.masked, 0], [0, 1, 0]),
        (["HS-grad", np.ma.masked, "HS-grad"], ["u", "v", "u"]),
        (["HS-grad", pd.NA, "HS-grad"], ["u", "v", "u"]),
        ([0, pd.NaT, 0], [0, 1, 0]),
        ([0, np.float32("nan"), 0], [0, 1, 0]),
        (np.array(["HS-grad", pd.NA, "HS-grad"], dtype=object), ["u", "v", "u"]),
        (pd.Series([0, None, 0], dtype="Int64"), [0, 1, 0]),
        (pd.Series([0, 2, 0], dtype="Int64").mask([False, True, False]), [0, 1, 0]),
        (pd.Series(["HS-grad", pd.NA, "HS-grad"], dtype="string"), ["u", "v", "u"]),
        (pl.Series("x", [0, None, 0]), [0, 1, 0]),
        (pl.Series("x", ["HS-grad", None, "HS-grad"], dtype=pl.Categorical), ["u", "v", "u"]),
        (pa.array([0, 2, 0], mask=np.array([False, True, False])), [0, 1, 0]),
        (pa.array(["HS-grad", None, "HS-grad"]).dictionary_encode(), ["u", "v", "u"]),
    ],
)
def test_what_is_hidden_is_missing_in_every_container(records, expected):
    assert as_list(told().privatize(records, missing=LABELS[1])) == expected
    if expected[1] in (1, "v"):
        with raises("missing-value", "records[1]"):
            told().privatize(records)


def test_masked_integers_that_are_labels_are_missing_too():
    ages = told(("0", "39", "2"))
    masked = np.ma.array([39, 2], mask=[True, False])
    assert as_list(ages.privatize(masked, integers="labels", missing="0")) == ["u", "w"]
    with raises("missing-value", "records[0]"):
        ages.privatize(masked, integers="labels")


@pytest.mark.parametrize("dtype", ["boolean", "Float64"])
def test_nullable_values_of_other_types_are_refused(dtype):
    with raises("wrong-record-type", "records[0]"):
        told().privatize(pd.Series([1, None], dtype=dtype), missing=LABELS[0])


def test_values_are_printed_only_if_asked_for():
    secret = "MYSSN-123"  # noqa: S105
    cases = [[secret], ["HS-grad", secret.encode()], [0, secret], pd.Series([5, secret]), pa.array([secret])]
    for records in cases:
        with pytest.raises(md.InputError) as caught:
            told().privatize(records)
        assert secret not in str(caught.value)
        assert "show_values" in str(caught.value)
        with pytest.raises(md.InputError, match=secret):
            told().privatize(records, show_values=True)
        with pytest.raises(md.InputError) as caught:
            md.estimate_frequencies(records, told())
        assert secret not in str(caught.value)
    with raises("unknown-label", match=secret):
        md.estimate_frequencies([secret], told(), show_values=True)
    for records in (pd.DataFrame({"x": [secret]}), secret, {secret}):
        with raises("wrong-record-type") as caught:
            told().privatize(records)
        assert secret not in str(caught.value)


@pytest.mark.parametrize("option", ["unknown", "missing"])
def test_only_labels_stand_for_other_values(option):
    with raises("unknown-label", match=f"{option} values are to be taken for 'Masters', which is not a label"):
        told().privatize(RECORDS, **{option: "Masters"})


def test_integers_that_could_be_codes_or_labels_are_refused():
    ages = told(("0", "39", "2"))
    with raises("ambiguous-labels"):
        ages.privatize([0, 2])
    assert ages.privatize([0, 2], integers="codes") == [0, 2]
    for records in ([39, 2], np.array([39, 2]), pa.array([39, 2]), pd.Series([39, 2])):
        assert as_list(ages.privatize(records, integers="labels")) == ["v", "w"]
    assert ages.privatize(["39"]) == ["v"]
    with raises("unknown-label", "records[0]"):
        ages.privatize([1], integers="labels")
    with raises("unknown-choice", "'maybe'"):
        ages.privatize([1], integers="maybe")


def test_the_alphabet_is_the_files_and_survives_it(tmp_path):
    told().save(tmp_path / "m.json")
    assert md.Mechanism.load(tmp_path / "m.json").privatize(RECORDS) == REPORTS


def test_a_categorical_series_is_read_by_its_labels():
    """Its codes are in the order of its own categories, which only `set_categories` turns into that of the inputs."""
    categories = [LABELS[1], LABELS[2], LABELS[0]]
    series = pd.Series(RECORDS, dtype=pd.CategoricalDtype(categories, ordered=True))
    assert list(told().privatize(series)) == REPORTS
    assert list(told().privatize(series.cat.codes)) != CODES_OUT
    ours = series.cat.set_categories(told().inputs).cat.codes
    assert list(told().privatize(ours)) == CODES_OUT
    strange = pd.Series([*RECORDS, "Masters"], dtype="category").cat.set_categories(told().inputs).cat.codes
    with raises("unknown-label", "records[4]", "to 2"):
        told().privatize(strange)


def test_the_way_to_make_codes_is_written_down():
    assert "``series.cat.set_categories(mechanism.inputs).cat.codes``" in md.Mechanism.privatize.__doc__
