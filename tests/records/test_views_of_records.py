"""Views from records: counts, bins, groups, pairs, side knowledge, impossible combinations; designs of them."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mechdesign as md
from mechdesign.records import views_of, views_of_tables
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.side_knowledge import side_leakages
from tests.helpers.refusals import raises

RNG = np.random.default_rng(1)
N = 3000
SEX = RNG.choice(["f", "m"], N)
WIFE = np.where((SEX == "f") & (RNG.random(N) < 0.3), "y", "n")
AGE = RNG.integers(18, 80, N)
TOWN = RNG.choice(["a", "b", "c"], N, p=[0.6, 0.3, 0.1])
RECORDS = {"sex": SEX, "wife": WIFE, "age": AGE, "town": TOWN}
NO_WIFE = [{"sex": "m", "wife": "y"}]


@pytest.mark.parametrize(
    "container",
    [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda records: pd.DataFrame(records).astype({"town": "category"})],
)
def test_counts_are_those_of_the_records_in_any_container(container):
    found = views_of(container(RECORDS), bins={"age": [40, 60]})
    assert [view.name for view in found] == ["sex", "wife", "age", "town"]
    assert found[0].prior == {label: int((label == SEX).sum()) for label in found[0].prior}
    assert list(found[2].prior.values()) == np.bincount(np.digitize(AGE, [40, 60])).tolist()
    assert found.bins == {"age": NumberBins([40, 60])}
    assert found.ruled_out == {}


def test_groups_leave_out_what_is_impossible_and_nothing_else():
    found = views_of(RECORDS, ["sex", "wife", "town"], groups=["sex+wife"], impossible=NO_WIFE)
    group, town = found
    assert (group.name, town.name) == ("sex+wife", "town")
    assert sum(group.prior.values()) == N
    assert set(group.prior) == {"f & y", "f & n", "m & n"}
    assert found.ruled_out == {"sex+wife": ("m & y",)}
    queries = group.workload.queries(3)
    shares = np.array(list(group.prior.values())) / N
    assert sorted((queries @ shares).round(9)) == pytest.approx(
        sorted([(SEX == "f").mean(), (SEX == "m").mean(), (WIFE == "y").mean(), (WIFE == "n").mean()])
    )
    seen = views_of(RECORDS, groups=[("sex", "wife")], bins={"age": 3}, unseen="impossible")
    assert seen[0].prior == group.prior
    kept = views_of(RECORDS, ["sex", "wife"], groups=["sex+wife"])
    assert kept[0].prior["m & y"] == 0
    assert kept[0].workload == md.Workload.marginals([2, 2])


def test_a_design_of_groups_says_what_it_takes_as_impossible():
    views = views_of(RECORDS, groups=["sex+wife"], bins={"age": 4}, impossible=NO_WIFE, workloads={"age": "prefix"})
    found = md.design_records(views, 1, delta="1e-9")
    assert found.mechanism.ruled_out == {"sex+wife": ("m & y",)}
    assert "taken as impossible in sex+wife: m & y" in str(found)
    assert any(name == "impossible in sex+wife" for name, _ in found.mechanism.facts())
    assert found.mechanism.bins == views.bins
    assert found.bound < found.error
    reports = found.mechanism.privatize(RECORDS, rng=np.random.default_rng(1))
    assert len(reports["view"]) == N
    with raises("unknown-label"):
        found.mechanism.privatize({"sex": ["m"], "wife": ["y"], "age": [30], "town": ["a"]})


def test_pairs_are_tables_of_two_columns():
    found = views_of(RECORDS, ["sex", "wife", "town"], pairs=True)
    assert [view.name for view in found] == ["sex+wife", "sex+town", "wife+town"]
    assert found[1].workload is None
    assert found[1].prior["f & a"] == ((SEX == "f") & (TOWN == "a")).sum()


def test_means_are_those_of_the_records_in_each_bin():
    (view,) = views_of(RECORDS, ["age"], bins={"age": 5}, workloads={"age": "mean"}, values={"age": 0.5})
    shares = np.array(list(view.prior.values())) / N
    assert view.workload.queries(5) @ shares == pytest.approx(AGE.mean())
    assert view.value == 0.5
    (empty,) = views_of({"age": [1, 2]}, bins={"age": [0, 3, 9]}, workloads={"age": "mean"})
    assert empty.workload.queries(4).tolist() == [[0, 1.5, 3, 9]]


@pytest.mark.parametrize("side", [["sex"], ["sex", "town"]])
def test_side_knowledge_makes_counts_by_group(side):
    views = views_of(RECORDS, ["wife", "age"], bins={"age": 3}, side=side)
    assert [view.name for view in views] == ["wife", "age"]
    assert views[1].prior["sex f"] == {
        label: int(((np.digitize(AGE, views.bins["age"].edges) == place) & (SEX == "f")).sum())
        for place, label in enumerate(views.bins["age"].labels)
    }
    own = views_of(RECORDS, ["sex", "age"], bins={"age": 3}, side=["sex"])
    assert set(own[0].prior) == {"f", "m"}  # whoever knows sex learns nothing of it
    found = md.design_records(views, 1, delta="1e-9")
    assert found.mechanism.guarantee.delta == md.Epsilon.of("1e-9").exponent


def test_what_views_cannot_be_made_from_is_refused():
    with raises("unknown-column", "height"):
        views_of(RECORDS, ["height"])
    with raises("unknown-column"):
        views_of(RECORDS, ["sex"], bins={"age": 3})
    with raises("missing-value", "town"):
        views_of({"town": ["a", None]})
    with raises("not-a-number", "town"):
        views_of(RECORDS, bins={"town": 3})
    for values in ([1.5, 2.5], [True, False]):
        with raises("wrong-column-type", "height"):
            views_of({"height": values})
    with raises("unknown-label", "town"):
        views_of(RECORDS, ["town"], alphabets={"town": ["a", "b"]})
    with raises("evidence-contradicts"):
        views_of(RECORDS, ["sex", "town"], groups=["sex+town"], impossible=[{"sex": "f", "town": "a"}])
    with raises("wrong-type"):
        views_of(RECORDS, ["sex"], impossible=[{"sex": "f"}])
    with raises("unknown-label"):
        views_of(RECORDS, ["sex", "town"], impossible=[{"sex": "f", "town": "x"}])
    with raises("column-twice"):
        views_of(RECORDS, groups=["sex+wife", "sex+town"], bins={"age": 3})
    with raises("conflicting-arguments"):
        views_of(RECORDS, ["sex", "wife"], groups=["sex+wife"], pairs=True)
    with raises("conflicting-arguments"):
        views_of(RECORDS, ["town"], groups=["sex+wife"], side=["sex"])
    with raises("unknown-choice"):
        views_of(RECORDS, ["sex"], workloads={"town": "prefix"})
    with raises("unknown-choice"):
        views_of(RECORDS, ["sex"], unseen="drop")
    with raises("bad-workload"):
        views_of(RECORDS, ["sex"], workloads={"sex": "mean"})
    with raises("wrong-record-type"):
        views_of([1, 2])
    with raises("too-much-work", "62,500"):
        many = [str(number) for number in range(250)]
        views_of({"x": many, "y": many}, groups=["x+y"])


ADULT = Path(__file__).parent.parent.parent.parent / "shared" / "data" / "adult.data"
NAMES = {"workclass": 1, "education": 3, "marital-status": 5, "relationship": 7, "race": 8, "sex": 9, "salary": 14}


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="the records of Adult are not here")
def test_groups_of_adult():
    """Least errors of groups at epsilon 1, and their bounds by the entries of columns alone."""
    with ADULT.open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    records = {name: [row[place] for row in rows] for name, place in NAMES.items()}
    groups = {"sex+salary": 2.001, "marital-status+relationship": 12.858, "workclass+race": 16.743}
    for group, error in groups.items():
        (view,) = views_of(records, [], groups=[group], unseen="impossible")
        found = md.design_records([view], 1, known=True)
        assert found.error == pytest.approx(error, abs=6e-4)
        assert found.bound < found.error


def test_labels_among_numbers_in_bins_stand_after_the_bins():
    records = {"age": ["17", "?", "65", "-1e0", "none", "?"], "sex": ["f"] * 3 + ["m"] * 3}
    found = views_of(records, bins={"age": [18]})
    assert found[0].prior == {"under 18": 2, "18 or more": 1, "?": 2, "none": 1}
    made = md.design_records(found, 1, known=True).mechanism
    reports = made.privatize({**records, "age": ["?", "70", "none", "3", "17.5", "18"]}, np.random.default_rng(1))
    assert len(reports["view"]) == 6
    with raises("unknown-label"):
        made.privatize({"age": ["refused"], "sex": ["f"]})
    assert len(side_leakages(made, {"age": [17, 65, 3, 80], "sex": ["f", "m", "m", "f"]})) == 2
    with raises("unknown-label"):
        side_leakages(made, {"age": ["17", "refused"], "sex": ["f", "m"]})
    with raises("bad-workload"):
        views_of(records, bins={"age": [18]}, workloads={"age": "mean"})


@pytest.mark.parametrize("value", ["1,5", " 5", "4O", "inf", "nan", "-Infinity", "1e400"])
def test_texts_that_may_be_meant_as_numbers_are_no_labels_of_bins(value):
    with raises("not-a-number"):
        views_of({"age": ["17", "65", value]}, bins={"age": [18]})


def test_a_column_without_numbers_has_no_bins():
    with raises("not-a-number"):
        views_of({"age": ["?", "none"]}, bins={"age": [18]})


def test_tables_of_counts_give_the_views_of_their_records():
    rng = np.random.default_rng(3)
    records = {"a": rng.choice([*"xyz"], 900, p=[0.6, 0.3, 0.1]).tolist(), "b": rng.choice([*"uv"], 900).tolist()}
    both = Counter(zip(records["a"], records["b"], strict=True))
    columns = dict(zip("ab", map(list, zip(*both, strict=True)), strict=True))
    table = {**columns, "count": list(both.values())}
    for options in ({}, {"groups": ["a+b"]}, {"pairs": True}, {"side": ["b"], "columns": ["a"]}):
        assert views_of(table, counts="count", **options) == views_of(records, **options)
    assert views_of_tables([table]).views == views_of(records, groups=["a+b"]).views


def test_bins_of_a_table_are_numbers_or_their_labels():
    numbers = {"age": [10, 20, 70, 30], "count": [1, 2, 4, 8]}
    labels = {"age": ["under 18", "18 to under 65", "65 or more", "?"], "count": [1, 10, 4, 5]}
    by_number, by_label = (views_of_tables([table], bins={"age": [18, 65]})[0].prior for table in (numbers, labels))
    assert by_number == {"under 18": 1, "18 to under 65": 10, "65 or more": 4}
    assert by_label == {**by_number, "?": 5}


@pytest.mark.parametrize(
    ("column", "code"),
    [([1, -1], "not-counts"), ([1, None], "not-counts"), (["a", "1"], "not-counts"), ([10**15, 1], "not-counts")],
)
def test_columns_of_counts_hold_counts(column, code):
    with raises(code):
        views_of({"a": ["x", "y"], "count": column}, counts="count")
