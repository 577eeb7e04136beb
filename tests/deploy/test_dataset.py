"""Folders in, folders out: each record reported once, whatever was refused, stopped or run twice in between."""

import csv
import errno
import json
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import LABELS, check_reported_once, leftovers, noisy, published, read_rows, told, write_part, write_parts
from refusals import raises

import mechdesign as md
from mechdesign.data import files
from mechdesign.deploy import part_tasks, stream
from mechdesign.deploy.dataset import privatize_dataset
from mechdesign.deploy.dataset_counts import count_dataset
from mechdesign.deploy.manifest import NAME, read_manifest
from mechdesign.deploy.part_tasks import Saved, _proved
from mechdesign.deploy.report_counts import count_reports
from mechdesign.deploy.stream import RecordFile, ReportFile
from mechdesign.engine import SerialExecutor, opened_executor


def run(folder, mechanism=None, source="records", executor=None, keep=("id",), column="kind", **options):
    records = RecordFile(folder / source, column, show_values=options.pop("show_values", False))
    return privatize_dataset(records, mechanism or told(), ReportFile(folder / "out", keep), executor, **options)


@pytest.mark.combined
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("threads", [None, 3])
def test_each_part_becomes_a_part_of_reports(tmp_path, ending, threads):
    source = write_parts(tmp_path / "records", 8, 5, ending=ending)
    (source / "_SUCCESS").touch()
    executor = threads and ThreadPoolExecutor(threads)
    done = run(tmp_path, executor=executor)
    assert (done.records, done.published, done.skipped, done.changed) == (40, 8, 0, ())
    assert done.guarantee.epsilon == md.Epsilon.of("log(3)")
    check_reported_once(source, tmp_path / "out")
    before = published(tmp_path / "out")
    done = run(tmp_path, executor=executor)
    assert (done.records, done.published, done.skipped) == (0, 0, 8)
    assert published(tmp_path / "out") == before
    manifest = json.loads((tmp_path / "out" / NAME).read_text())
    assert manifest["complete"]
    assert manifest["parts"][0] == {"source": f"half=0/part-0000{ending}", "reports": f"half=0/part-0000{ending}"} | {
        "published": True
    }


def test_endings_say_the_format_of_the_reports(tmp_path):
    write_part(tmp_path / "records/a.csv", range(3))
    os.system(f"gzip -k {tmp_path}/records/a.csv && mv {tmp_path}/records/a.csv.gz {tmp_path}/records/b.CSV.gz")  # noqa: S605
    (tmp_path / "records/a.csv").rename(tmp_path / "records/c.CSV")
    run(tmp_path)
    assert sorted(published(tmp_path / "out")) == ["b.csv", "c.csv"]
    write_part(tmp_path / "records/b.csv", range(3))
    with raises("same-file", "b.CSV.gz", "b.csv"):
        run(tmp_path)


def test_one_file_is_a_data_set_of_one_part(tmp_path):
    write_part(tmp_path / "adult.data", range(4))
    assert run(tmp_path, source="adult.data").published == 1
    assert list(published(tmp_path / "out")) == ["adult.data.csv"]


def test_a_name_that_a_manifest_does_not_hold_is_refused(tmp_path):
    write_part(os.fsdecode(os.fsencode(tmp_path) + b"/records/part-\xff.csv"), range(3))
    with raises("not-utf8", "part-\\udcff.csv"):
        run(tmp_path)
    assert not (tmp_path / "out").exists()
    write_part(tmp_path / "others/Teil ü ☂\n.csv", range(3))
    assert run(tmp_path, source="others").published == run(tmp_path, source="others").skipped == 1


def test_a_part_that_is_refused_is_named_with_its_row_and_the_others_go_on(tmp_path):
    source = write_parts(tmp_path / "records", 8, 5)
    write_part(source / "half=1/part-0005.csv", range(25, 30), labels=("a", "b", "secret"))
    with raises("unknown-label") as caught:
        run(tmp_path)
    told_ = str(caught.value)
    assert f"{source}/half=1/part-0005.csv, record 2 is not among the categories" in told_
    assert "secret" not in told_
    assert "what is published stays; mend this in its place, and the same call goes on with the rest" in told_
    assert "\n" not in told_
    assert len(published(tmp_path / "out")) == 7
    with raises("unknown-label", "'secret'"):
        run(tmp_path, show_values=True)
    manifest = read_manifest(tmp_path / "out")
    assert len(manifest.published) == 7
    assert not manifest.complete
    before = published(tmp_path / "out")
    write_part(source / "half=1/part-0005.csv", range(25, 30))
    done = run(tmp_path)
    assert (done.records, done.published, done.skipped) == (5, 1, 7)
    assert before.items() <= published(tmp_path / "out").items()
    check_reported_once(source, tmp_path / "out")


def test_a_replacement_may_be_named_later(tmp_path):
    """What is published had no value to be replaced, so that going on changes nothing of it."""
    source = write_parts(tmp_path / "records", 4, 3)
    write_part(source / "half=1/part-0003.csv", range(9, 12), labels=("a", "b", "?"))
    with raises("unknown-label", "record 3"):
        run(tmp_path)
    assert run(tmp_path, unknown="c").published == 1
    check_reported_once(source, tmp_path / "out")
    for other in (None, "b"):
        with raises("second-report", "another unknown: 'c' there"):
            run(tmp_path, unknown=other)


def test_a_task_refuses_another_mechanism_than_that_of_its_run(tmp_path):
    """The file that tasks read may be replaced by somebody who writes in the folder."""
    noisy().save(tmp_path / "m.json")
    assert (
        _proved(Saved(str(tmp_path / "m.json"), noisy().fingerprint, type(noisy()))).fingerprint == noisy().fingerprint
    )
    with raises("damaged-file"):
        _proved(Saved(str(tmp_path / "m.json"), told().fingerprint, type(told())))


def refused_parts(folder, number):
    for part in range(number):
        write_part(folder / f"records/{part:03}.csv", range(5), labels=("a", "?"))


def test_no_other_part_begins_after_a_hundred_have_failed(tmp_path, monkeypatch):
    refused_parts(tmp_path, 130)
    tried = []
    plain = stream.open_columns
    monkeypatch.setattr(stream, "open_columns", lambda path, *a, **k: tried.append(str(path)) or plain(path, *a, **k))
    with raises("unknown-label", "records/000.csv, record 2", "; 99 more parts failed, and"):
        run(tmp_path)
    assert len(set(tried)) == 100


def test_up_to_twenty_parts_that_failed_are_named_in_the_message(tmp_path):
    refused_parts(tmp_path, 20)
    with raises("unknown-label", "; 19 more parts failed: 001", "csv, 002", ", 019"):
        run(tmp_path)
    assert not list(tmp_path.glob("*.failed*"))


def test_more_parts_that_failed_are_listed_with_their_reasons_in_a_file_beside_the_output(tmp_path):
    refused_parts(tmp_path, 21)
    for name in ("out.failed.csv", "out.failed-2.csv"):
        with raises("unknown-label", match=f"; 20 more parts failed, and .*/{name} lists all with their reasons"):
            run(tmp_path)
        header, *rows = csv.reader((tmp_path / name).read_text().splitlines())
        assert header == ["part", "reason"]
        assert [part for part, _ in rows] == [f"{part:03}.csv" for part in range(21)]
        assert all(f"records/{part}, record 2 " in reason for part, reason in rows)
    assert leftovers(tmp_path) == []


def test_if_the_list_of_failures_cannot_be_written_the_message_names_the_first(tmp_path, monkeypatch):
    refused_parts(tmp_path, 23)

    def full(path, *_, **__):
        raise md.InputError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(part_tasks, "write_atomically", full)
    with raises("unknown-label", "; 22 more parts failed: 001", ", 019", "csv and 3 others; what is"):
        run(tmp_path)
    assert not list(tmp_path.glob("*.failed*"))


def test_no_half_file_outlives_a_run_that_is_refused(tmp_path):
    # One process is at a long part while the other one meets parts that are refused.
    refused_parts(tmp_path, 14)
    write_part(tmp_path / "records/000.csv", range(300_000))
    with raises("unknown-label"), opened_executor(2) as pool:
        run(tmp_path, executor=pool)
    assert leftovers(tmp_path / "out") == []
    assert [len(read_rows(tmp_path / "out" / name)) for name in published(tmp_path / "out")] == [300_000]


def test_no_half_file_outlives_a_run_that_is_interrupted(tmp_path):
    write_part(tmp_path / "records/0.csv", range(20_000))
    for large in (1, 2):  # two processes have at least one of them to do when the first line comes
        write_part(tmp_path / f"records/{large}.csv", range(600_000))
    left = []

    def interrupt(_line):
        for _ in range(20_000):  # a process may only begin now
            left.extend(name for name in leftovers(tmp_path / "out") if name.endswith(".tmp"))
            if left:
                break
            time.sleep(0.001)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), opened_executor(2) as pool:
        run(tmp_path, executor=pool, progress=interrupt)
    assert left  # a process was at work
    assert leftovers(tmp_path / "out") == []
    assert 1 <= len(published(tmp_path / "out")) <= 2
    assert not json.loads((tmp_path / "out" / NAME).read_text())["complete"]


@pytest.mark.parametrize(
    ("change", "told_"),
    [
        ({"mechanism": noisy}, "another mechanism"),
        ({"column": "note"}, "another column"),
        ({"keep": ()}, "another keep"),
        ({"missing": "a"}, ""),
        (
            {"source": "others"},
            r"'half=1/part-0002.csv' \(and 1 more\) is only there, .*'half=0/part-0002.csv' .* here",
        ),
        ({"source": "records/half=0"}, r"'half=0/part-0000.csv' \(and 3 more\) is only there, 'part-0000.csv' .* here"),
    ],
)
def test_a_run_that_differs_is_refused(tmp_path, change, told_):
    write_parts(tmp_path / "records", 4, 3)
    write_parts(tmp_path / "others", 10, 3)
    run(tmp_path)
    before = published(tmp_path / "out")
    change = {name: value() if callable(value) else value for name, value in change.items()}
    if told_:
        with raises("second-report", match=told_):
            run(tmp_path, **change)
    else:
        run(tmp_path, **change)
    assert published(tmp_path / "out") == before


def test_reports_that_were_published_and_are_gone_are_not_drawn_again(tmp_path):
    write_parts(tmp_path / "records", 4, 3)
    run(tmp_path)
    (tmp_path / "out/half=0/part-0001.csv").unlink()
    with raises("second-report", "part-0001.csv"):
        run(tmp_path)
    assert not (tmp_path / "out/half=0/part-0001.csv").exists()


def test_what_is_there_is_published_even_if_the_manifest_does_not_know(tmp_path):
    """A process that was killed between the two leaves this."""
    source = write_parts(tmp_path / "records", 4, 3)
    run(tmp_path, noisy())
    before = published(tmp_path / "out")
    path = tmp_path / "out" / NAME
    manifest = json.loads(path.read_text())
    for part in manifest["parts"]:
        part["published"] = False
    path.write_text(json.dumps(manifest | {"complete": False}))
    (tmp_path / "out/half=0/.0123456789abcdef.tmp").write_text("id,kind\n0")
    (tmp_path / "out/.0123456789abcdef.json").touch()
    (tmp_path / "out/.profile").touch()
    assert run(tmp_path, noisy()).skipped == 4
    assert published(tmp_path / "out") == before
    assert read_manifest(tmp_path / "out").complete
    assert leftovers(tmp_path / "out") == [".profile"]
    assert sorted(source.rglob("*.csv"))


class ReadsTheManifest(SerialExecutor):
    """Keeps what the manifest said when each task began, which is what a kill would leave."""

    def __init__(self, folder):
        self.folder, self.said = folder, []

    def submit(self, fn, /, *args, **kwargs):
        self.said.append(read_manifest(self.folder).published)
        return super().submit(fn, *args, **kwargs)


def test_a_run_begins_by_writing_down_what_a_killed_one_published(tmp_path):
    write_parts(tmp_path / "records", 4, 3)
    run(tmp_path)
    path, gone = tmp_path / "out" / NAME, tmp_path / "out/half=1/part-0003.csv"
    path.write_text(path.read_text().replace("true", "false").replace('"header": false', '"header": true'))
    gone.unlink()
    executor = ReadsTheManifest(tmp_path / "out")
    assert run(tmp_path, executor=executor).published == 1
    assert [len(said) for said in executor.said] == [3]


def test_leftovers_stay_while_others_may_write_them_and_go_when_they_are_old(tmp_path):
    source = write_parts(tmp_path / "records", 4, 3)
    write_part(source / "half=1/part-0003.csv", range(9, 12), labels=("?",))
    (tmp_path / "out").mkdir()
    young, old = (tmp_path / f"out/.{number:016x}.tmp" for number in (1, 2))
    young.touch()
    old.touch()
    os.utime(old, (1e9, 1e9))
    with raises("unknown-label", "record 1"):
        run(tmp_path)
    assert leftovers(tmp_path / "out") == [young.name]


def test_parts_that_changed_after_their_reports_are_told(tmp_path):
    source = write_parts(tmp_path / "records", 4, 3)
    run(tmp_path)
    path = source / "half=1/part-0002.csv"
    os.utime(path, (2e9, 2e9))
    assert run(tmp_path).changed == ("half=1/part-0002.csv",)


@pytest.mark.parametrize("threads", [None, 2])
def test_parquet_parts_that_differ_are_refused_before_anything_is_drawn(tmp_path, threads):
    source = write_parts(tmp_path / "records", 70, 2, ending=".parquet")
    other = source / "half=1/part-0067.parquet"
    pq.write_table(pa.table({"id": ["0", "1"], "kind": ["a", "b"]}), other)
    executor = threads and ThreadPoolExecutor(threads)
    with raises("parts-differ", "part-0067.parquet has the columns", "id (int64)"):
        run(tmp_path, executor=executor)
    assert not (tmp_path / "out").exists()
    pq.write_table(pa.table({"id": [134, 135], "sort": ["a", "b"]}), other)
    with raises("unknown-column", "part-0067.parquet: the column 'kind' is missing"):
        run(tmp_path, executor=executor)
    other.write_bytes(b"PAR1 and no more")
    with raises("malformed-table", "part-0067.parquet is malformed"):
        run(tmp_path, executor=executor)
    assert not (tmp_path / "out").exists()
    # The type of the records does not matter: their reports are text.
    kinds = pa.array([LABELS[number % 3] for number in (134, 135)]).dictionary_encode()
    pq.write_table(pa.table({"note": ["n"] * 2, "kind": kinds, "id": [134, 135]}), other)
    with raises("parts-differ", "kind, id (int64)", "id (int64), kind"):
        run(tmp_path, executor=executor)
    pq.write_table(pa.table({"id": [134, 135], "kind": kinds}), other)
    run(tmp_path, executor=executor)
    check_reported_once(source, tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "told_"),
    [
        ("id,note\n0,n\n", "the column 'kind' is missing in the first line"),
        ("9,n,a\n10,n,b\n", "the column 'kind' is missing in the first line"),
        ("kind,id\na,9\n", "has the columns .*kind, id.*same order"),
        ("", "is empty"),
        ("id,note,kind\n9,n\n", "line 2"),
    ],
)
def test_csv_parts_that_differ_are_refused(tmp_path, content, told_):
    source = write_parts(tmp_path / "records", 4, 3)
    (source / "half=1/part-0003.csv").write_text(content)
    with pytest.raises(md.InputError, match=rf"part-0003\.csv.*{told_}"):
        run(tmp_path)
    assert len(published(tmp_path / "out")) == 3
    write_part(source / "half=1/part-0003.csv", range(9, 12))
    run(tmp_path)
    check_reported_once(source, tmp_path / "out")


@pytest.mark.parametrize(
    ("source", "out", "told_"),
    [
        ("r", "r", "is the input, or lies in it"),
        ("r", "r/out", "is the input, or lies in it"),
        ("r", "r/_out", "is the input, or lies in it"),
        ("r", "r/k=1/out", "is the input, or lies in it"),
        ("r", "link", "is the input, or lies in it"),
        ("r", "link/out", "is the input, or lies in it"),
        ("link", "r", "is the input, or lies in it"),
        ("r/k=1", "r", "lies in the output"),
        ("r/k=1/*.csv", "r", "lies in the output"),
        ("r/*", "r/out", "is the input, or lies in it"),
        ("link/k=1/a.csv", "r", "lies in the output"),
        ("r", "a.csv", "not a folder"),
        ("r", "no/out", "No such file"),
        ("r", "full", "holds 'x' and no manifest"),
        ("r", "-", "are files"),
        ("r", "a\0b", "null"),
        ("no", "out", "No such file"),
        ("empty", "out", "no file in"),
    ],
)
def test_places_that_are_refused(tmp_path, monkeypatch, source, out, told_):
    monkeypatch.chdir(tmp_path)
    write_part("r/k=1/a.csv", range(3))
    Path("link").symlink_to("r")
    Path("full").mkdir()
    Path("empty").mkdir()
    for name in ("full/x", "a.csv"):
        Path(name).touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(md.InputError, match=told_):
        privatize_dataset(RecordFile(source, "kind"), told(), out)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_output_that_a_glob_does_not_find_may_lie_beside_the_parts(tmp_path, monkeypatch):
    write_part(tmp_path / "a.csv", range(3))
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        privatize_dataset(RecordFile("*.csv", "kind"), told(), ReportFile("out", ["id"]))
    assert list(published("out")) == ["a.csv"]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"column": "half"}, "unknown-column"),
        ({"keep": ("half",)}, "unknown-column"),
        ({"unknown": "d"}, "unknown-label"),
        ({"executor": 3}, "wrong-type"),
    ],
)
def test_bad_requests_are_refused(tmp_path, request_, code):
    write_parts(tmp_path / "records", 2, 3)
    with raises(code):
        run(tmp_path, **request_)
    assert not (tmp_path / "out").exists()
    with raises("second-report"):
        privatize_dataset(RecordFile(tmp_path, "kind"), told(), ReportFile(tmp_path / "out", overwrite=True))


@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 10**5, '{"schema": "mechdesign/dataset/1"}', "\xff", "null"])
def test_a_malformed_manifest_is_refused(tmp_path, content):
    write_parts(tmp_path / "records", 2, 3)
    run(tmp_path)
    (tmp_path / "out" / NAME).write_text(content, encoding="latin-1")
    for ask in (run, lambda folder: count_dataset(RecordFile(folder / "out", "kind"), told())):
        with pytest.raises(md.InputError, match=NAME) as caught:
            ask(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_full_disk_is_one_line_and_finished_parts_stay(tmp_path, monkeypatch):
    source = write_parts(tmp_path / "records", 17, 3)
    plain, room = stream.written_atomically, [7]

    def full(path, **options):
        room[0] -= 1
        if room[0] < 0:
            raise md.InputError(f"cannot write {path}: {os.strerror(errno.ENOSPC)}")
        return plain(path, **options)

    monkeypatch.setattr(stream, "written_atomically", full)
    with raises("input", "9 more parts failed:"):
        run(tmp_path)
    before = published(tmp_path / "out")
    assert len(before) == 7
    monkeypatch.undo()
    run(tmp_path)
    assert before.items() <= published(tmp_path / "out").items()
    check_reported_once(source, tmp_path / "out")


def test_two_runs_at_once_publish_each_part_once(tmp_path, monkeypatch):
    source = write_parts(tmp_path / "records", 6, 3)
    both = threading.Barrier(2, timeout=300)
    plain, placed = files._place_new, []

    def together(beside, target):
        if target.name != NAME:
            both.wait()  # both have drawn
        plain(beside, target)
        placed.append(target.name)

    monkeypatch.setattr(files, "_place_new", together)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run, tmp_path, noisy()) for _ in range(2)]
        done = [each.result(600) for each in runs]
    assert len(placed) == len(set(placed)) == 7
    assert [each.records for each in done] == [18, 18]
    numbers = [
        number for name in sorted(published(tmp_path / "out")) for number, _ in read_rows(tmp_path / "out" / name)
    ]
    assert numbers == list(range(18))
    assert leftovers(tmp_path / "out") == []
    assert sorted(source.rglob("*.csv"))


def test_counts_are_those_of_one_file(tmp_path):
    write_parts(tmp_path / "records", 9, 41, ending=".parquet")
    run(tmp_path, noisy())
    tables = [pq.read_table(path, partitioning=None) for path in sorted((tmp_path / "out").rglob("*.parquet"))]
    pq.write_table(pa.concat_tables(tables), tmp_path / "whole.parquet")
    (tmp_path / "out/half=0/.0123456789abcdef.tmp").write_text("left")
    one = count_reports(RecordFile(tmp_path / "whole.parquet", "kind"), noisy().outputs)
    told_ = []
    for executor in (None, ThreadPoolExecutor(3)):
        found = count_dataset(RecordFile(tmp_path / "out", "kind"), noisy(), executor, progress=told_.append)
        assert np.array_equal(found.counts, one)
        assert found.counts.dtype == one.dtype
        assert (found.parts, found.planned) == (9, 9)
        assert not found.counts.flags.writeable
    assert told_[-1] == f"counting: 9 of 9 parts, {9 * 41} reports"
    part = count_dataset(RecordFile(tmp_path / "out/half=1", "kind"), noisy())
    assert (part.parts, part.planned) == (4, 4)


def test_counts_tell_what_is_missing_and_refuse_what_is_foreign(tmp_path):
    source = write_parts(tmp_path / "records", 9, 4)
    write_part(source / "half=1/part-0008.csv", range(32, 36), labels=("?",))
    with raises("unknown-label", "record 1"):
        run(tmp_path)
    reports = RecordFile(tmp_path / "out", "kind")
    found = count_dataset(reports, told())
    assert (found.parts, found.planned, found.counts.sum()) == (8, 9, 32)
    with raises("wrong-mechanism"):
        count_dataset(reports, noisy())
    write_part(tmp_path / "out/half=1/part-0009.csv", range(32, 36))
    with raises("stray-file", "part-0009.csv"):
        count_dataset(reports, told())
    (tmp_path / "out/half=1/part-0009.csv").unlink()
    (tmp_path / "out/half=0/part-0001.csv").write_text("id,kind\n4,?\n")
    with raises("unknown-label", "part-0001.csv, record 1"):
        count_dataset(reports, told())


def test_permanent_reports_are_the_same_in_every_folder_and_of_one_key(tmp_path):
    write_parts(tmp_path / "records", 4, 50)
    key = md.mechanism.Key.generate()
    key.write(tmp_path / "key")
    run(tmp_path, noisy(), key=tmp_path / "key", ids="id")
    first = published(tmp_path / "out")
    manifest = (tmp_path / "out" / NAME).read_text()
    assert key.secret.hex() not in manifest
    assert key.fingerprint in manifest
    assert run(tmp_path, noisy(), key=key, ids="id").skipped == 4
    for other in ({}, {"key": md.mechanism.Key.generate(), "ids": "id"}, {"key": key, "ids": "note"}):
        with raises("second-report"):
            run(tmp_path, noisy(), **other)
    (tmp_path / "out").rename(tmp_path / "first")
    run(tmp_path, noisy(), key=tmp_path / "key", ids="id", executor=ThreadPoolExecutor(2))
    assert published(tmp_path / "out") == first
    (tmp_path / "out").rename(tmp_path / "second")
    run(tmp_path, noisy())
    fresh = published(tmp_path / "out")
    with raises("second-report", "another column of ids: none there, 'id' here"):
        run(tmp_path, noisy(), key=key, ids="id")
    assert published(tmp_path / "out") == fresh
    with raises("missing-argument"):
        run(tmp_path, noisy(), key=key)


def test_a_key_itself_is_not_given_to_an_executor(tmp_path):
    write_parts(tmp_path / "records", 2, 5)
    key = md.mechanism.Key.generate()
    for executor in (ThreadPoolExecutor(1), ProcessPoolExecutor(1)):
        with executor, raises("key-exposed") as refused:
            run(tmp_path, noisy(), key=key, ids="id", executor=executor)
        assert str(refused.value).startswith("a Key is given beside an executor, and a key does not leave its process")
        assert "give the path of its file" in str(refused.value)
        assert not (tmp_path / "out").exists()
    assert run(tmp_path, noisy(), key=key, ids="id", executor=SerialExecutor()).published == 2


def test_permanent_reports_that_are_gone_are_drawn_again_and_are_the_same(tmp_path):
    write_parts(tmp_path / "records", 4, 50)
    key = md.mechanism.Key.generate()
    run(tmp_path, noisy(), key=key, ids="id")
    first = published(tmp_path / "out")
    (tmp_path / "out/half=0/part-0001.csv").unlink()
    assert run(tmp_path, noisy(), key=key, ids="id").published == 1
    assert published(tmp_path / "out") == first


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (None, "two published runs leak more than one; leave out"),
        (
            md.mechanism.Key(bytes(32)),
            "with the same mechanism, key, attribute and ids a value gets the same report again, and otherwise a sec",
        ),
    ],
)
def test_a_folder_of_reports_is_not_replaced_and_the_reason_is_true(tmp_path, key, why):
    write_parts(tmp_path / "records", 2, 5)
    records, output = RecordFile(tmp_path / "records", "kind"), ReportFile(tmp_path / "out", overwrite=True)
    with raises("second-report", match=f"the reports of a data set are not replaced: {why}"):
        privatize_dataset(records, noisy(), output, key=key, ids=key and "id")


def test_an_id_that_is_refused_is_named_with_its_part(tmp_path):
    source = write_parts(tmp_path / "records", 3, 3)
    (source / "half=1/part-0002.csv").write_text("id,note,kind\n6,n,a\n7,,b\n8,n,c\n")
    with raises("missing-value", "part-0002.csv, record 2: the id is missing"):
        run(tmp_path, key=md.mechanism.Key.generate(), ids="note")
