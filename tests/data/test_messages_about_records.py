"""Messages about what looks like records show none of them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mechdesign as md
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.released_counts import checked_histogram

AIRPORTS = ["LGA", "JFK", "EWR"] * 4
DISTANCES = [1400.5, 1416.25, 1089.75] * 4
PEOPLE = [f"person {k}" for k in range(len(AIRPORTS))]
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "series": pd.Series,
    "named": lambda values: pd.Series(values, index=PEOPLE),
    "index": pd.Index,
    "categorical": pd.Categorical,
    "frame": lambda values: pd.DataFrame({"a": values, "b": values}),
    "polars": pl.Series,
    "polars frame": lambda values: pl.DataFrame({"a": values, "b": values}),
    "set": set,
    "arrow": pa.array,
    "arrow table": lambda values: pa.table({"a": values, "b": values}),
    "mapping": lambda values: dict(zip(PEOPLE, values, strict=True)),
}
TAKERS = {
    "ball": lambda given: md.L1Ball.from_counts(given, radius="0"),
    "box": lambda given: md.uncertainty.Box.from_counts(given, "0.1"),
    "relative ball": lambda given: md.uncertainty.RelativeBall.from_counts(given, "0.1"),
    "secret": md.SecretPromise,
    "center": lambda given: md.L1Ball(given, "0.1"),
    "prior": lambda given: md.leakage([[0.5, 0.5], [0.2, 0.8]], given),
    "histogram": checked_histogram,
}


def message(take, given):
    """Return the message of a refusal; empty where the value is taken."""
    with pytest.raises(InputError) as refused:
        take(given)
    return str(refused.value)


@pytest.mark.combined
@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_a_column_of_texts_is_never_shown(taker, container):
    told = message(TAKERS[taker], CONTAINERS[container](AIRPORTS))
    assert not any(shown in told for shown in ("LGA", "JFK", "EWR", "person"))


@pytest.mark.parametrize("taker", ["ball", "box", "relative ball"])
@pytest.mark.parametrize("container", sorted(set(CONTAINERS) - {"list", "tuple", "mapping"}))
def test_a_column_of_numbers_is_never_shown(taker, container):
    told = message(TAKERS[taker], CONTAINERS[container](DISTANCES))
    assert not any(shown in told for shown in ("1400", "1416", "1089", "person"))


@pytest.mark.parametrize("container", ["list", "series", "named", "frame", "mapping"])
def test_who_gives_records_for_counts_is_told_what_counts_them(container):
    told = message(TAKERS["ball"], CONTAINERS[container](AIRPORTS))
    assert "these look like records; use value_counts(), or L1Ball.from_samples" in told


@pytest.mark.parametrize("taker", ["ball", "box", "histogram"])
def test_a_column_of_whole_numbers_is_not_taken_for_counts(taker):
    months = pd.Series([1, 2, 12, 7] * 4)
    told = message(TAKERS[taker], months)
    assert "the counts are <Series of length 16> without labels; these look like records; use value_counts()" in told
    TAKERS[taker](months.value_counts())


def test_an_index_that_names_people_is_not_shown():
    told = message(TAKERS["ball"], pd.Series([3, 1], index=["person 7"] * 2))
    assert "has an entry twice" in told
    assert "person" not in told


def test_what_the_message_names_takes_them():
    column = pd.Series(AIRPORTS)
    counted = md.L1Ball.from_counts(column.value_counts(), delta="0.1")
    sampled = md.L1Ball.from_samples(column, delta="0.1")
    assert counted.radius == sampled.radius
    assert set(counted.labels) == set(sampled.labels) == {"LGA", "JFK", "EWR"}


def test_counts_that_a_person_states_are_shown():
    assert "the count of 'a' is -1" in message(TAKERS["ball"], {"a": -1, "b": 2})
    assert "the count of 'x2' is 1.5" in message(TAKERS["ball"], [1, 1.5])


def test_of_containers_of_data_messages_show_the_type_alone():
    assert shorten(pd.Series(AIRPORTS)) == "<Series of length 12>"
    assert shorten([np.array(DISTANCES)]) == "[<ndarray of length 12>]"
    assert shorten(np.array(3.5)) == "array(3.5)"
    assert shorten(np.str_("LGA")) == "np.str_('LGA')"


@pytest.mark.parametrize("name", ["analyze", "compare"])
def test_a_file_of_records_is_no_matrix_and_is_not_shown(tmp_path, capsys, name):
    from mechdesign.cli.entry_point import run

    (tmp_path / "counts.csv").write_text("label,count\nlow,5\nhigh,3\n")
    given = ["--counts", str(tmp_path / "counts.csv"), "--radius", "0.1"]
    for text in ("person,airport\nAda,LGA\nAda,JFK\n", "person,day,airport\nAda,7,LGA\nBob,8,JFK\n"):
        (tmp_path / "records.csv").write_text(text)
        file = str(tmp_path / "records.csv")
        matrix = [file] if name == "analyze" else ["--with", file, "--epsilon", "1"]
        assert run([name, *matrix, *given]) == 2
        told = capsys.readouterr().err
        assert "is not a number" in told
        assert not any(shown in told for shown in ("Ada", "Bob", "LGA", "JFK"))
