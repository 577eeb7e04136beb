"""Tables from reports in containers and files, with and without groups."""

from functools import cache

import numpy as np
import pytest

from mechdesign.deploy import FirstReports, count_dataset, count_reports
from mechdesign.records import RecordEstimate, RecordEstimation, WholeRecordFile, estimate_records
from tests.helpers.refusals import raises
from tests.records.test_record_estimation import PAIRS, VALUES, mechanism


@cache
def made():
    return mechanism(*PAIRS)


def records(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    return {name: rng.choice(labels, n).tolist() for name, labels in VALUES.items()}


@pytest.fixture(scope="module")
def reports():
    return made().privatize(records(), np.random.default_rng(2))


def counts_of(reports):
    names = [f"{view}: {report}" for view, report in zip(reports["view"], reports["report"], strict=True)]
    return [names.count(output) for output in made().outputs]


def same(one, other):
    for mine, theirs in zip(one, other, strict=True):
        assert mine.frequencies == pytest.approx(theirs.frequencies)
        assert mine.intervals == pytest.approx(theirs.intervals)


def test_reports_in_any_container_are_those_of_their_counts(reports):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    expected = RecordEstimation(made()).of_counts(counts_of(reports))
    for container in (reports, pd.DataFrame(reports), pl.DataFrame(reports), pa.table(reports)):
        same(estimate_records(container, made()), expected)
    same(estimate_records(np.array(counts_of(reports)), made()), expected)


def test_groups_are_estimated_by_themselves_with_intervals_that_hold_at_once(reports):
    region = np.random.default_rng(3).choice(["north", "south"], len(reports["view"])).tolist()
    found = estimate_records(reports, made(), by={"region": region})
    assert found.groups == (("north",), ("south",))
    own = {name: [x for x, at in zip(column, region, strict=True) if at == "north"] for name, column in reports.items()}
    alone = estimate_records(own, made())
    same(found["north"], alone)
    wider = found["north"]["sex+pay"].simultaneous_intervals - alone["sex+pay"].simultaneous_intervals
    assert wider[:, 0].max() <= 0 <= wider[:, 1].min()
    same(found.whole, estimate_records(reports, made()))
    frame = found.to_frame("polars")
    assert frame.columns[:3] == ["region", "table", "label"]
    assert len(frame) == found.family == 2 * sum(len(table.cells) for table in alone)
    assert "2 groups by 'region'" in repr(found)
    assert "north" in found._repr_html_()
    assert not found.fit.impossible


def test_small_groups_are_judged_by_all_reports_together(reports):
    """Groups of three reports, each with the frequencies that explain it best, would add up their errors."""
    few = estimate_records(reports, made(), by={"trio": [place // 3 for place in range(len(reports["view"]))]})
    assert few.fit == few.whole.fit
    many = estimate_records(reports, made(), by={"half": [place % 2 for place in range(len(reports["view"]))]})
    assert many.fit.deviance == pytest.approx(sum(found.fit.deviance for _, found in many))
    assert many.fit != many.whole.fit


def test_a_group_without_reports_about_a_view_lacks_its_table_alone():
    apart = mechanism(("sex",), ("pay",))
    reports = {"view": ["sex", "pay", "sex"], "report": ["says f", "says low", "says m"]}
    found = estimate_records(reports, apart, by={"group": [1, 1, 2]}).only(["pay"])
    frame = found.to_frame("pandas")
    assert frame.group.tolist() == [1, 1, 1]
    assert frame.table.unique().tolist() == ["pay"]
    with raises("not-identifiable", "pay+sex"):
        found.only(["pay+sex"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory, reports):
    path = tmp_path_factory.mktemp("reports")
    rows = list(zip(*reports.values(), strict=True))
    for part, some in (("a", rows[:1000]), ("b", rows[1000:])):
        lines = [f"{part},{place},{view},{report}\n" for place, (view, report) in enumerate(some)]
        (path / f"{part}.csv").write_text("region,person,view,report\n" + "".join(lines))
    return path


def test_files_and_folders_are_counted_by_view_and_report(folder, reports):
    expected = RecordEstimation(made()).of_counts(counts_of(reports))
    counted = count_dataset(WholeRecordFile.of(folder, ("view", "report")), made())
    same(estimate_records(counted.counts, made()), expected)
    groups = count_dataset(WholeRecordFile.of(folder, ("view", "report")), made(), by=["region"]).groups
    found = estimate_records(groups, made())
    assert found.groups == (("a",), ("b",))
    assert [estimate.reports for estimate in found.estimates] == [1000, 2000]
    same(found.whole, expected)


def test_permanent_reports_about_an_id_count_once(folder, tmp_path):
    text = (folder / "a.csv").read_text()
    (tmp_path / "twice.csv").write_text(text + text.split("\n", 1)[1])
    first = FirstReports("person")
    whole = WholeRecordFile.of(tmp_path / "twice.csv", ("view", "report"))
    counted = count_reports(whole, made(), first=first)
    assert counted.sum() == first.seen.repeated == 1000


def test_reports_of_other_views_or_mechanisms_are_refused(reports):
    with raises("unknown-label", "reports[0]"):
        estimate_records({"view": ["height"], "report": ["says f"]}, made())
    with raises("unknown-label", "reports[1]"):
        estimate_records({"view": ["sex+pay"] * 2, "report": ["says f & low", "says low & no"]}, made())
    with raises("unknown-label", "height"):
        estimate_records({"view": ["height"], "report": ["says f"]}, made(), show_values=True)
    with raises("unknown-column", "view"):
        estimate_records({"report": ["says f & low"]}, made())
    with raises("wrong-record-type", "list"):
        estimate_records([("sex+pay", "says f & low")], made())
    groups = estimate_records(reports, made(), by={"half": [0, 1] * 1500})
    with raises("column-twice", "label"):
        estimate_records(reports, made(), by={"label": [0, 1] * 1500}).columns()
    assert isinstance(groups[0], RecordEstimate)
    with raises("wrong-size", "2,999", "3,000"):
        estimate_records(reports, made(), by=["x"] * 2999)


def test_counts_take_no_groups_and_those_by_groups_are_of_this_mechanism(folder, reports):
    with raises("conflicting-arguments"):
        estimate_records(np.array(counts_of(reports)), made(), by=["x"])
    groups = count_dataset(WholeRecordFile.of(folder, ("view", "report")), made(), by=["region"]).groups
    with raises("needless-argument"):
        estimate_records(groups, made(), by=["x"])
    with raises("unknown-label", "pay+smokes"):
        estimate_records(groups, mechanism(("sex",), ("pay",)))
