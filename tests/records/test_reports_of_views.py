"""Reports about views: how often each is drawn, what is refused whichever is drawn, and reports from a key."""

import collections
import csv
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mechdesign import Key
from mechdesign.deploy import privatize_dataset, privatize_file
from mechdesign.deploy.report_counts import count_reports
from mechdesign.deploy.stream import ReportFile
from mechdesign.records import RecordMechanism
from mechdesign.records.drawn_views import DrawnViews
from mechdesign.records.record_files import REPORTS, WholeRecordFile
from tests.records.made import PEOPLE, both, raises, survey

KEY = Key(bytes(range(32)))


def many(n, seed=1):
    rng = np.random.default_rng(seed)
    drivers = rng.integers(0, 3, n)
    return {
        "smokes": rng.choice(["no", "yes", "unsaid"], n).tolist(),
        "age": rng.integers(0, 99, n).tolist(),
        "sex": np.array(["f", "f", "m"])[drivers].tolist(),
        "driver": np.array(["no", "yes", "yes"])[drivers].tolist(),
    }


def symbol(record, view):
    if view == "age":
        return "under 18" if record["age"] < 18 else "18 to under 65" if record["age"] < 65 else "65 or more"
    return record["smokes"] if view == "smokes" else f"{record['sex']} & {record['driver']}"


def test_every_integer_draws_the_view_of_the_cumulated_weights():
    made = survey()
    views = DrawnViews(made.parts, made.weight_bits, made.tables).views(np.arange(16))
    assert np.bincount(views).tolist() == [3, 4, 9]


@pytest.mark.parametrize("bits", [3, 16, 17, 32, 45])
def test_the_first_bits_draw_the_views_that_all_bits_draw(bits):
    """At the integers around each cumulated weight, and at random ones, the view is the first whose weight exceeds."""
    rng = np.random.default_rng(bits)
    made = both()
    cuts = np.sort(rng.choice(np.arange(1, min(1 << bits, 1 << 20)), 4, replace=False)) * ((1 << bits) >> min(bits, 20))
    weights = np.diff([0, *cuts.tolist(), 1 << bits])
    parts = [replace(made.parts[0], name=f"v{place}", weight=int(weight)) for place, weight in enumerate(weights)]
    near = np.concatenate([cuts + away for away in (-1, 0, 1)])
    integers = np.clip(np.concatenate([near, rng.integers(0, 1 << bits, 500)]), 0, (1 << bits) - 1)
    ends = np.cumsum(weights)
    expected = [next(view for view, end in enumerate(ends) if integer < end) for integer in integers.tolist()]
    assert DrawnViews(parts, bits, made.tables).views(integers).tolist() == expected


def test_reports_come_from_the_rows_of_their_views_with_the_stated_probabilities():
    made, n = survey(), 60_000
    records = many(n)
    found = made.privatize(records, np.random.default_rng(2))
    counts = collections.Counter()
    for place in range(n):
        record = {name: values[place] for name, values in records.items()}
        view = found["view"][place]
        counts[view, symbol(record, view), found["report"][place]] += 1
    for part, share in zip(made.parts, made.shares, strict=True):
        total = sum(count for (view, _, _), count in counts.items() if view == part.name)
        assert abs(total - n * share) < 5 * np.sqrt(n * share)
        for row, label in enumerate(part.mechanism.inputs):
            of_label = [counts[part.name, label, output] for output in part.mechanism.outputs]
            expected = sum(of_label) * part.mechanism.matrix[row]
            assert (np.abs(of_label - expected) < 5 * np.sqrt(expected + 1)).all()


def test_the_view_does_not_depend_on_the_record_whatever_the_source_of_randomness():
    """With the same bytes, records that differ in every attribute are asked for the same views."""
    made, one = survey(), many(500)
    other = {name: values[::-1] for name, values in one.items()}
    views = [made.privatize(records, np.random.default_rng(3), names=("v", "r"))["v"] for records in (one, other)]
    integers = np.frombuffer(np.random.default_rng(3).bytes(2 * 500), "<u2") >> 12
    expected = [["smokes", "age", "sex+driver"][place] for place in np.searchsorted([3, 7, 16], integers, side="right")]
    assert views[0] == views[1] == expected


def test_records_come_in_frames_tables_and_mappings_and_reports_go_back_in_the_same():
    made = survey()
    for records in (pd.DataFrame(PEOPLE, index=list("wxyz")), pl.DataFrame(PEOPLE), pa.table(PEOPLE), PEOPLE):
        found = made.privatize(records, key=KEY, ids=PEOPLE["name"])
        assert type(found) is type(records)
        columns = found.to_pydict() if isinstance(found, pa.Table) else found
        listed = {name: list(columns[name]) for name in REPORTS}
        assert listed == made.privatize(PEOPLE, key=KEY, ids=PEOPLE["name"])
    assert made.privatize(pd.DataFrame(PEOPLE, index=list("wxyz"))).index.tolist() == list("wxyz")
    with raises("unknown-column"):
        made.privatize({"smokes": ["no"]})
    with raises("wrong-record-type"):
        made.privatize([["no"]])
    with raises("wrong-size"):
        made.privatize(PEOPLE, names=("view", "view"))


def test_columns_and_ids_that_do_not_belong_together_are_refused():
    made, frame = survey(), pd.DataFrame(PEOPLE)
    with raises("labels-differ"):
        made.privatize(frame, key=KEY, ids=frame["name"][::-1])
    with raises("labels-differ"):
        made.privatize({name: frame[name] if name == "age" else frame[name][::-1] for name in frame})
    with raises("wrong-size"):
        made.privatize({**PEOPLE, "age": [17]})
    with raises("wrong-size"):
        made.privatize(PEOPLE, key=KEY, ids=["ann"])
    with raises("unknown-column"):
        made.privatize(pa.table([[1], [2], ["f"], ["no"], ["no"]], names=["age", "age", "sex", "driver", "smokes"]))
    with raises("unknown-column"):
        made.privatize(pd.concat([frame, frame], axis=1))
    assert made.privatize(frame[::-1], key=KEY, ids=frame["name"][::-1]).index.tolist() == [3, 2, 1, 0]


def test_a_permanent_view_is_drawn_from_key_file_and_id_alone():
    made, n = survey(), 400
    ids = [f"p{place}" for place in range(n)]
    one, other = many(n, 1), many(n, 2)
    first, again = (made.privatize(records, key=KEY, ids=ids) for records in (one, other))
    assert first["view"] == again["view"]  # whatever the records are
    assert first["report"] != again["report"]
    backwards = {name: values[::-1] for name, values in one.items()}
    assert [*made.privatize(backwards, key=KEY, ids=ids[::-1])["report"]] == first["report"][::-1]
    same = [symbol({k: v[i] for k, v in one.items()}, first["view"][i]) for i in range(n)]
    then = [symbol({k: v[i] for k, v in other.items()}, first["view"][i]) for i in range(n)]
    assert all(a == b for a, b, x, y in zip(first["report"], again["report"], same, then, strict=True) if x == y)
    for change in (
        made.privatize(one, key=KEY.for_attribute("again"), ids=ids),
        made.privatize(one, key=Key(bytes(32)), ids=ids),
        replace(made, parts=made.parts[::-1]).privatize(one, key=KEY, ids=ids),
    ):
        assert change["view"] != first["view"]
    wider = replace(made, parts=tuple(replace(p, weight=2 * p.weight) for p in made.parts), weight_bits=5)
    anew = wider.privatize(one, key=KEY, ids=ids)["view"]  # a file of equal shares draws views as if it had another key
    kept = sum(a == b for a, b in zip(anew, first["view"], strict=True)) / n
    assert abs(kept - sum(share**2 for share in made.shares)) < 5 * np.sqrt(0.25 / n)
    counted = collections.Counter(made.privatize(many(20_000), key=KEY, ids=list(range(20_000)))["view"])
    for part, share in zip(made.parts, made.shares, strict=True):
        assert abs(counted[part.name] - 20_000 * share) < 5 * np.sqrt(20_000 * share)


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({"smokes": "rarely"}, "unknown-label", "'smokes'"),
        ({"smokes": None}, "missing-value", "'smokes'"),
        ({"sex": "m", "driver": "no"}, "unknown-label", "sex+driver"),
        ({"age": None}, "missing-value", "'age'"),
        ({"age": "old"}, "unknown-label", "'age'"),
    ],
)
def test_what_a_view_does_not_know_is_refused_whichever_view_is_drawn(change, code, says):
    """The weight of the view that refuses is 3/16 or so; twenty draws all refuse."""
    made, records = survey(), {name: [*values] for name, values in PEOPLE.items()}
    for name, value in change.items():
        records[name] = [*map(str, records[name])] if isinstance(value, str) else records[name]
        records[name][2] = value
    for seed in range(20):
        with raises(code) as error:
            made.privatize(records, np.random.default_rng(seed))
        assert "records[2]" in str(error.value)
        assert says in str(error.value)
        assert "rarely" not in str(error.value)


def test_missing_and_unknown_values_become_labels_of_the_attributes_that_have_them():
    made, records = survey(), {**PEOPLE, "smokes": ["no", None, "rarely", "yes"]}
    assert len(made.privatize(records, missing="unsaid", unknown="unsaid")["view"]) == 4
    with raises("missing-value"):
        made.privatize({**records, "age": [1, None, 3, 4]}, missing="unsaid", unknown="unsaid")
    with raises("unknown-label"):
        made.privatize(records, missing="nothing")


def written(path, records):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([records, *zip(*records.values(), strict=True)])


def test_files_and_folders_of_records_become_files_of_views_and_reports(tmp_path):
    made, records = survey(), {**many(300), "name": [f"p{place}" for place in range(300)]}
    source, output = tmp_path / "records.csv", tmp_path / "reports.csv"
    written(source, records)
    given = WholeRecordFile.of(source, made.attributes)
    done = privatize_file(given, made, ReportFile(output, keep=["name"]), key=KEY, ids="name")
    assert (done.records, done.repeated) == (300, 0)
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["name", "view", "report"]
    expected = made.privatize(records, key=KEY, ids=records["name"])
    assert [row["view"] for row in rows] == expected["view"]
    assert [row["report"] for row in rows] == expected["report"]
    parquet = tmp_path / "reports.parquet"
    privatize_file(given, made, parquet, key=KEY, ids="name")
    reports = WholeRecordFile.of(parquet, REPORTS)
    counts = count_reports(reports, made)
    assert counts.sum() == 300
    assert sum(made.counts_of_views(counts)["age"]) == expected["view"].count("age")
    other = replace(made, parts=made.parts[::-1])
    with raises("wrong-mechanism"):
        count_reports(reports, other)
    kept = ReportFile(tmp_path / "other.csv", ["name"])
    with raises("column-twice"):
        privatize_file(WholeRecordFile.of(source, made.attributes, ("name", "report")), made, kept)


def test_a_report_of_a_view_that_the_file_lacks_is_refused(tmp_path):
    path = tmp_path / "reports.csv"
    path.write_text("view,report\nweight,y1\n")
    with raises("unknown-label") as error:
        count_reports(WholeRecordFile.of(path, REPORTS), survey())
    assert "record 1: the view" in str(error.value)


def test_nothing_is_written_when_a_late_record_is_refused(tmp_path):
    records = many(2_000)
    records["smokes"][1_999] = "rarely"
    source, output = tmp_path / "records.csv", tmp_path / "reports.csv"
    written(source, records)
    with raises("unknown-label"):
        privatize_file(WholeRecordFile.of(source, survey().attributes), survey(), output)
    assert not output.exists()


@pytest.mark.parametrize("processes", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_folder_is_reported_part_by_part_in_processes_and_goes_on(tmp_path, processes):
    made, folder, output = survey(), tmp_path / "records", tmp_path / "reports"
    folder.mkdir()
    for part in range(3):
        written(folder / f"{part}.csv", many(50, part))
    given = WholeRecordFile.of(folder, made.attributes)
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn")) if processes else nullcontext()
    with pool as executor:
        done = privatize_dataset(given, made, output, executor)
    assert (done.records, done.published) == (150, 3)
    assert privatize_dataset(given, made, output).skipped == 3
    assert count_reports(WholeRecordFile.of(output / "1.csv", REPORTS), made).sum() == 50


def test_bins_are_part_of_what_reports_depend_on(tmp_path):
    made = survey()
    made.save(tmp_path / "records.json")
    found = RecordMechanism.load(tmp_path / "records.json")
    assert found.bins == made.bins
    assert found.fingerprint == made.fingerprint != replace(made, bins={}).fingerprint
    with raises("labels-differ"):
        replace(made, bins={"age": [18, 66]})
