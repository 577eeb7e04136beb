"""What is measured of data in parts is the same work both ways, and what is computed from it stands in the table."""

import doctest
import re
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks import fleet, measure, report


def row(work, way, seconds, counts=(6, 4), **more):
    found = {"records": 10, "counts": list(counts), "seconds": seconds, "sent": 1_000, "read": 10**7, "written": 10**6}
    return found | {"work": work, "way": str(way), "parts": 2, "peaks": [2 * 10**8] * max(way.workers, 1)} | more


NOTHING = {"work": "nothing", "way": str(fleet.CLUSTER), "tasks": 100, "seconds": 0.2}


def test_examples():
    found = doctest.testmod(fleet)
    assert found.attempted
    assert not found.failed


def test_a_part_has_as_many_records_as_it_should_and_other_parts_have_others(tmp_path):
    for first in (0, 1_000):
        fleet.write_part(tmp_path / f"{first}.parquet", first, 1_000)
    one, other = (pq.read_table(tmp_path / f"{first}.parquet") for first in (0, 1_000))
    assert len(one) == len(other) == 1_000
    assert set(one["person"].to_pylist()).isdisjoint(other["person"].to_pylist())
    assert one["education"] != other["education"]


@pytest.mark.parametrize(
    ("work", "counts", "message"),
    [
        ("count", (5, 5), "different counts of the same reports"),
        ("privatize with a key", (5, 5), "different counts of the same reports"),
        ("privatize", (5, 4), r"privatize took 10 records of 10, with counts \[5, 4\]"),
    ],
)
def test_works_that_differ_are_not_reported(monkeypatch, tmp_path, work, counts, message):
    monkeypatch.setattr(
        fleet,
        "in_own_process",
        lambda folder, work, way: row(work, way, 1.0, counts if way == fleet.CLUSTER else (6, 4)),
    )
    with pytest.raises(AssertionError, match=message):
        list(fleet.beside_one_process(tmp_path, work, 2, 10))


def test_medians_are_shown_and_ratios_are_those_within_rounds(monkeypatch, tmp_path):
    seconds = {fleet.ALONE: [4.0, 3.0, 5.0, 4.0, 4.0], fleet.PLAIN: [2.0] * 5, fleet.CLUSTER: [1.0, 3.0, 2.0, 5.0, 4.0]}
    monkeypatch.setattr(fleet, "in_own_process", lambda folder, work, way: row(work, way, seconds[way].pop(0)))
    shown = list(fleet.beside_one_process(tmp_path, "privatize", 2, 10))
    assert [found["seconds"] for found in shown] == [4.0, 2.0, 3.0]
    assert [found.get("ratio") for found in shown] == [None, 2.0, 1.0]


def test_without_room_or_a_cluster_there_is_a_reason(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000})())
        (found,) = fleet.fleet(measure.QUICK)
        assert "has no room" in found["skipped"]
    monkeypatch.setitem(sys.modules, "distributed", None)
    rows = list(fleet.fleet(measure.QUICK))
    assert "Left out: " in report.WRITERS["fleet"](rows)


def test_the_settings_are_those_that_the_documentation_advises():
    page = Path(__file__).parents[2].joinpath("docs", "engines.md").read_text()
    (settings,) = re.findall(r"dask\.config\.set\(\n(.*?)\n\)\n", page, flags=re.DOTALL)
    assert eval(settings) == fleet.TUNED  # noqa: S307 - our own page


def test_goals_and_a_plan_stand_beside_what_was_measured():
    rows = [row("privatize", fleet.ALONE, 3.1), row("privatize", fleet.CLUSTER, 2.0, ratio=1.55), NOTHING]
    text = report.WRITERS["fleet"](rows)
    assert f"| privatize, {fleet.CLUSTER}: records a second | at least 1.6 times one process | 1.55 | **no** |" in text
    assert f"| privatize, {fleet.CLUSTER}: memory of a worker | under 1,000 MB | 200 MB | yes |" in text
    assert "100 tasks that do nothing took 2 ms" in " ".join(text.split())
    planned = fleet.plan(rows)
    assert [found["parts"] for found in planned] == [10**5, 10**4]
    # 2.5 records a second and core; 10^6 bytes read for each record; 500 bytes and 2 ms a part.
    assert planned[0]["core_hours"] == pytest.approx(10**11 / 2.5 / 3600)
    assert planned[0]["read"] == 10**17
    assert planned[1]["sent"] == 5 * 10**6
    assert planned[0]["scheduler_seconds"] == pytest.approx(200)


def test_a_worker_that_takes_more_memory_than_it_may_stands_out():
    rows = [
        row("privatize", fleet.ALONE, 3.4),
        row("privatize", fleet.CLUSTER, 2.0, ratio=1.7, peaks=[10**9, 10**8]),
        NOTHING,
    ]
    text = report.WRITERS["fleet"](rows)
    assert "| 1.70 | yes |" in text
    assert "| under 1,000 MB | 1,000 MB | **no** |" in text
