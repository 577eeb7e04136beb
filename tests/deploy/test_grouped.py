import copy
import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matrices import mechanism_of, randomized_response
from numpy.testing import assert_allclose, assert_array_equal
from refusals import raises

import mechdesign as md
from mechdesign.deploy import GroupCounts, RecordFile, count_reports
from mechdesign.deploy.dataset_counts import count_dataset
from mechdesign.deploy.estimation import Estimation
from mechdesign.deploy.report_counts import MOST_GROUPS, GroupCounter

REPORTS = ["y0", "y1", "y0", "y0", "y1", "y1", "y0"]
REGION = ["n", "s", "n", "", "s", None, "n"]
YEAR = [2025, 2025, 2026, 2025, 2025, 2026, 2025]
COUNTS = {("n",): [3, 0], ("s",): [0, 2], (None,): [1, 1]}


def warner():
    return mechanism_of(randomized_response(2, 3.0))


def counted(found):
    return {keys: list(row) for keys, row in zip(found.groups, found.counts.tolist(), strict=True)}


# Containers


@pytest.mark.sampled
@pytest.mark.parametrize(
    "by",
    [
        REGION,
        tuple(REGION),
        iter(REGION),
        np.array(REGION, dtype=object),
        np.ma.masked_array(["n", "s", "n", "x", "s", "x", "n"], mask=[0, 0, 0, 1, 0, 1, 0]),
        pd.Series(REGION),
        pd.Series(REGION, dtype="category"),
        pl.Series(REGION),
        pa.array(REGION),
        pa.chunked_array([REGION[:3], REGION[3:]]),
        {"region": REGION},
        pd.DataFrame({"region": REGION}),
        pl.DataFrame({"region": REGION}),
        pa.table({"region": REGION}),
    ],
    ids=lambda by: f"{type(by).__module__}.{type(by).__name__}",
)
def test_groups_come_in_many_containers(by):
    found = md.estimate_frequencies(REPORTS, warner(), by=by)
    assert found.groups == (("n",), ("s",), (None,))  # in order, missing values last
    for keys, estimate in found:
        alone = md.estimate_frequencies(dict(zip(("y0", "y1"), COUNTS[keys], strict=True)), warner())
        assert estimate.reports == sum(COUNTS[keys])
        assert_array_equal(estimate.frequencies, alone.frequencies)
        assert_array_equal(estimate.intervals, alone.intervals)


def test_several_columns_and_their_names():
    found = md.estimate_frequencies(REPORTS, warner(), by={"year": YEAR, "region": REGION})
    assert found.by == ("year", "region")
    assert found.groups[0] == (2025, "n")
    assert found[2026, None].reports == 1
    assert len(found) == 5
    assert found.reports == 7
    assert md.estimate_frequencies(REPORTS, warner(), by=pd.Series(REGION, name="here")).by == ("here",)
    assert md.estimate_frequencies(REPORTS, warner(), by=REGION).by == ("group",)
    with raises("unknown-group", "group 'w'", "2025, n"):
        found["w"]


def test_the_table_is_tidy():
    found = md.estimate_frequencies(REPORTS, warner(), by={"region": REGION, "year": YEAR})
    for library in ("pandas", "polars"):
        frame = found.to_frame(library)
        assert list(frame.columns) == [
            "region", "year", "label", "frequency", "standard_error", "lower", "upper", "simultaneous_lower",
            "simultaneous_upper", "identifiable", "reports", "few_reports",
        ]  # fmt: skip
        assert len(frame) == 2 * len(found)
        assert (frame["simultaneous_lower"] <= frame["lower"]).all()
        assert sum(frame["reports"]) == 14
    with raises("column-twice", "'reports'"):
        md.estimate_frequencies(REPORTS, warner(), by={"reports": REGION}).to_frame()


def test_a_notebook_shows_groups_escaped():
    shown = md.estimate_frequencies(["y0", "y1"], warner(), by={"<i>": ["<b>\x1b", None]})._repr_html_()
    assert "&lt;i&gt;" in shown
    assert "&lt;b&gt;\\x1b" in shown
    assert "(missing)" in shown
    assert "1 (few)" in shown
    assert "<b>" not in shown
    assert "\x1b" not in shown


def test_a_standard_error_that_does_not_exist_is_missing():
    mechanism = mechanism_of(randomized_response(2, 3.0)[[0, 1, 1]])
    columns = md.estimate_frequencies(REPORTS, mechanism, by=REGION).columns()
    assert columns["standard_error"][1:3] == [None, None]
    assert columns["identifiable"][:3] == [True, False, False]


def test_one_report_is_a_group():
    found = md.estimate_frequencies(["y0"], warner(), by=["a"], of="records")
    assert found["a"].few_reports
    assert repr(found) == (
        "GroupedEstimate(1 groups by 'group', 2 categories, 1 reports, maximum-likelihood of records, 1 group with "
        "few reports)"
    )


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(again):
    found = again(md.estimate_frequencies(REPORTS, warner(), by=REGION))
    assert found["n"].reports == 3
    with pytest.raises(AttributeError):
        found.by = ()
    counts = again(GroupCounts(("g",), (pa.string(),), (("a",),), ("y0",), np.array([[3]])))
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0] = 1


def test_few_reports_are_those_that_skewness_spoils():
    mechanism = mechanism_of(np.eye(2))
    # A category of probability p has skewness (1 - 2 p) / sqrt(p (1 - p)); 95 % needs (1.96 / 0.6)^2 times its square.
    for rare, reports in ((10, 1000), (11, 1000), (20, 1000), (50, 100)):
        found = md.estimate_frequencies({"y0": rare, "y1": reports - rare}, mechanism)
        p = (rare + 0.5) / (reports + 1)
        needed = (1.959964 / 0.6) ** 2 * (1 - 2 * p) ** 2 / (p * (1 - p))
        assert found.reports_needed == max(1, np.ceil(needed - 1e-9))
        assert found.few_reports == (reports < found.reports_needed)
    assert not md.estimate_frequencies(
        {"y0": 5, "y1": 5}, mechanism_of(np.ones((2, 1))[[0, 1]]) if False else mechanism
    ).few_reports


@pytest.mark.parametrize(
    ("by", "code"),
    [
        (REGION[:6], "wrong-size"),
        ({"a": REGION, "b": YEAR[:1]}, "wrong-size"),
        ([0.5] * 7, "wrong-column-type"),
        ([float("nan")] * 6 + [1.0], "wrong-column-type"),
        (pd.Series([1, None, 2, 3, 4, 5, 6]), "wrong-column-type"),
        ([1, "a", 2, 3, 4, 5, 6], "wrong-record-type"),
        ("nsnnsn", "wrong-type"),
        ({}, "wrong-type"),
        ({"a": "region"}, "wrong-record-type"),
        ({1: REGION}, "wrong-type"),
        (np.zeros((7, 2), dtype=int), "wrong-record-type"),
        (pd.DataFrame([[1, 2]] * 7, columns=["a", "a"]), "column-twice"),
        (7, "wrong-record-type"),
        ([["n"]] * 7, "wrong-column-type"),
    ],
)
def test_bad_groups(by, code):
    with raises(code):
        md.estimate_frequencies(REPORTS, warner(), by=by)


def test_bad_reports_with_groups():
    with raises("conflicting-arguments"):
        md.estimate_frequencies({"y0": 3}, warner(), by=["a"])
    with raises("nothing-given"):
        md.estimate_frequencies([], warner(), by=[])
    counts = GroupCounter(["g"], [pa.string()], ("y0", "other")).counted()
    with raises("unknown-label"):
        md.estimate_frequencies(counts, warner())
    with raises("needless-argument"):
        md.estimate_frequencies(counts, warner(), by=["a"])
    with raises("nothing-given"):
        md.estimate_frequencies(GroupCounter(["g"], [pa.string()], ("y0", "y1")).counted(), warner())


def test_rows_of_another_order_are_not_matched_by_position():
    frame = pd.DataFrame({"report": REPORTS, "region": REGION})
    with raises("labels-differ", "'region'"):
        md.estimate_frequencies(frame["report"], warner(), by=frame["region"].sort_values())
    mixed = frame.sample(frac=1, random_state=1)
    found = md.estimate_frequencies(mixed["report"], warner(), by=mixed["region"])
    assert found["n"].reports == 3


def test_a_column_of_identities_is_a_limit():
    reports, names = np.zeros(10**6, dtype=int), np.arange(10**6)
    with raises("too-much-work", "20,000", "'id'"):
        md.estimate_frequencies(reports, warner(), by={"id": names})
    counter = GroupCounter(["a", "b"], [pa.int64()] * 2, ("y0", "y1"))
    counter.add(np.zeros(MOST_GROUPS, dtype=int), [pa.array(range(MOST_GROUPS)), pa.array([0] * MOST_GROUPS)])
    assert len(counter.counted().groups) == MOST_GROUPS
    with raises("too-much-work"):
        counter.add(np.zeros(1, dtype=int), [pa.array([0]), pa.array([1])])
    many = [pa.array(range(2000))] * 6  # 2000^6 combinations are more than a word can number
    with raises("too-much-work"):
        GroupCounter(list("abcdef"), [pa.int64()] * 6, ("y0",)).add(np.zeros(2000, dtype=int), many)


# Files


def write(path, columns):
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path, row_group_size=3)
    else:
        pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_a_file_is_counted_in_one_pass(tmp_path, name):
    path = write(tmp_path / name, {"region": REGION, "year": YEAR, "answer": REPORTS})
    lines = []
    found = count_reports(RecordFile(path, "answer"), ("y0", "y1"), by=["region"], progress=lines.append)
    assert counted(found) == COUNTS
    assert lines[-1] == "counting: 7 reports"
    assert repr(found) == "GroupCounts(3 groups by 'region', 7 reports)"
    year = 2025 if name == "r.parquet" else "2025"
    both = count_reports(RecordFile(path, "answer"), ("y0", "y1"), by=["year", "region"])
    assert counted(both)[year, "n"] == [2, 0]
    assert_array_equal(count_reports(RecordFile(path, "answer"), ("y0", "y1")), both.counts.sum(axis=0))
    estimated = md.estimate_frequencies(found, warner())
    assert estimated["s"].reports == 2


def test_many_groups_in_many_batches_are_what_a_table_says(tmp_path):
    rng = np.random.default_rng(2)
    size = 200_000
    frame = pd.DataFrame(
        {"g": rng.integers(0, 4000, size), "h": rng.integers(0, 4, size), "y": rng.choice(["y0", "y1"], size)}
    )
    frame.to_parquet(tmp_path / "r.parquet")
    found = count_reports(RecordFile(tmp_path / "r.parquet", "y"), ("y0", "y1"), by=["g", "h"])
    expected = frame.groupby(["g", "h"])["y"].value_counts().unstack(fill_value=0)
    assert found.groups == tuple((int(g), int(h)) for g, h in expected.index)
    assert_array_equal(found.counts, expected[["y0", "y1"]].to_numpy())


def test_without_a_header_group_columns_are_indices(tmp_path):
    (tmp_path / "r.csv").write_text("n,y0\ns,y1\n")
    file = RecordFile(tmp_path / "r.csv", "1", header=False)
    assert count_reports(file, ("y0", "y1"), by=["00"]).by == ("0",)
    for wrong, message in (
        (["region"], "give its index"),
        (["01"], "is the column of reports"),
        (["0", "00"], "twice"),
    ):
        with pytest.raises(md.InputError, match=message):
            count_reports(file, ("y0", "y1"), by=wrong)


@pytest.mark.parametrize(
    ("by", "code"),
    [
        (["nothing"], "unknown-column"),
        (["answer"], "column-twice"),
        (["region", "region"], "column-twice"),
        (["share"], "wrong-column-type"),
        ("region", "wrong-type"),
    ],
)
def test_bad_group_columns_of_files(tmp_path, by, code):
    path = write(tmp_path / "r.parquet", {"region": REGION, "share": [0.5] * 7, "answer": REPORTS})
    with raises(code):
        count_reports(RecordFile(path, "answer"), ("y0", "y1"), by=by)


# Folders


def test_parts_are_counted_by_groups_and_by_the_keys_of_partitions(tmp_path):
    for year in ("2025", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"d/year={year}").mkdir(parents=True)
        write(tmp_path / f"d/year={year}/a.parquet", {"region": REGION, "y": REPORTS})
    write(tmp_path / "d/year=2025/b.parquet", {"region": ["n"], "y": ["y1"]})
    file = RecordFile(tmp_path / "d", "y")
    found = count_dataset(file, warner(), by=["region", "year"])
    assert found.groups.by == ("region", "year")
    assert counted(found.groups) == {
        ("n", "2025"): [3, 1], ("n", None): [3, 0], ("s", "2025"): [0, 2], ("s", None): [0, 2],
        (None, "2025"): [1, 1], (None, None): [1, 1],
    }  # fmt: skip
    assert counted(count_dataset(file, warner(), by=["year"]).groups) == {("2025",): [4, 4], (None,): [4, 3]}
    assert found.counts.tolist() == [8, 7]
    assert count_dataset(file, warner()).groups is None
    for wrong in (["y"], ["year", "year"], ["nothing"]):
        with pytest.raises(md.InputError):
            count_dataset(file, warner(), by=wrong)


def test_a_part_that_contradicts_its_folder_is_refused(tmp_path):
    for year, held in (("2025", 2025), ("2026", 2025)):
        (tmp_path / f"d/year={year}").mkdir(parents=True)
        write(tmp_path / f"d/year={year}/a.parquet", {"year": [held], "y": ["y0"]})
    file = RecordFile(tmp_path / "d", "y")
    assert count_dataset(file, warner()).counts.tolist() == [2, 0]
    with raises("conflicting-arguments", "year=2026", "record 1", "'year'", "'2026'"):
        count_dataset(file, warner(), by=["year"])


def test_parts_that_disagree_on_the_type_of_a_group(tmp_path):
    write(tmp_path / "a.parquet", {"g": [1], "y": ["y0"]})
    write(tmp_path / "b.parquet", {"g": [datetime.date(2026, 5, 1)], "y": ["y0"]})
    with raises("parts-differ", "column g", "date32[day]", "int64"):
        count_dataset(RecordFile(tmp_path, "y"), warner(), by=["g"])


def test_groups_that_are_integers_come_as_numbers():
    months = [str(month) for month in range(12, 0, -1)]
    found = md.estimate_frequencies(["y0"] * 12, mechanism_of(randomized_response(2, 3.0)), by={"month": months})
    assert found.groups == tuple((str(month),) for month in range(1, 13))


def test_a_name_in_place_of_groups_is_refused_with_what_to_give():
    with raises("wrong-type", "'month'"):
        md.estimate_frequencies(["y0"], mechanism_of(randomized_response(2, 3.0)), by="month")


def test_reports_and_mechanism_in_the_wrong_order_are_refused():
    with raises("wrong-type", "the mechanism", "list"):
        md.estimate_frequencies(mechanism_of(randomized_response(2, 3.0)), ["y0"])


@pytest.mark.slow
def test_twenty_thousand_groups_are_estimated():
    mechanism = mechanism_of(randomized_response(10, 2.718))
    rng = np.random.default_rng(0)
    tables = rng.multinomial(17, np.full(10, 0.1), size=MOST_GROUPS)
    found = list(Estimation(mechanism, "maximum-likelihood", "population", 0.95).of_groups(tables.tolist()))
    assert len(found) == MOST_GROUPS


@pytest.mark.parametrize("outputs", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_estimates_of_groups_are_those_of_each_alone(outputs):
    mechanism = mechanism_of(np.random.default_rng(1).dirichlet(np.ones(outputs), 4))
    tables = np.random.default_rng(2).multinomial(40, np.full(outputs, 1 / outputs), size=300).tolist()
    for of in ("population", "records"):
        estimation = Estimation(mechanism, "maximum-likelihood", of, 0.95)
        for counts, found in zip(tables[::20], list(estimation.of_groups(tables))[::20], strict=True):
            alone = estimation.of_counts(counts)
            assert_allclose(found.frequencies, alone.frequencies, atol=1e-9)
            assert_allclose(found.intervals, alone.intervals, atol=1e-7)
            assert_allclose(found.standard_errors, alone.standard_errors, rtol=1e-7)
            assert found.fit.p == pytest.approx(alone.fit.p, rel=1e-7)


def test_the_difference_of_two_groups_has_an_interval_that_covers():
    """The two distributions are known: 19 of 20 intervals hold the true difference, as many as for one group."""
    mechanism = mechanism_of(randomized_response(3, 6.0))
    rng, truth, times = np.random.default_rng(5), np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3]]), 150
    reports, pairs, sides = [], [], []
    for pair in range(times):
        for side, (n, p) in enumerate(zip((300, 500), truth, strict=True)):
            reports += np.repeat(mechanism.outputs, rng.multinomial(n, p @ mechanism.matrix)).tolist()
            pairs += [pair] * n
            sides += [side] * n
    found = md.estimate_frequencies(reports, mechanism, by={"pair": pairs, "side": sides})
    shown = [found.difference((pair, 0), (pair, 1)) for pair in range(times)]
    lower, upper = (np.array([each[name] for each in shown]) for name in ("lower", "upper"))
    expected = truth[0] - truth[1]
    assert 0.92 <= np.mean((lower <= expected) & (expected <= upper)) <= 0.98
    errors = np.hypot(found[3, 0].standard_errors, found[3, 1].standard_errors)
    assert_allclose(shown[3]["standard_error"], errors)
    assert_allclose(np.negative(found.difference((3, 1), (3, 0))["difference"]), shown[3]["difference"])
    with raises("unknown-group"):
        found.difference((0, 0), (0, 2))


def test_the_difference_of_what_is_not_identifiable_is_open():
    mechanism = mechanism_of(randomized_response(2, 3.0)[[0, 1, 1]])
    given = {"by": ["a", "b"] * 20, "confidence": 1 - 2.0**-53}  # (1 + confidence) / 2 rounds to 1
    found = md.estimate_frequencies(["y0", "y1"] * 20, mechanism, **given).difference("a", "b")
    assert (found["lower"][1], found["upper"][1]) == (-1, 1)
