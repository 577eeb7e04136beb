"""Folders on the command line: what is printed, what is refused, and with which status."""

import json
import os
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_options import replaced
from datasets import check_reported_once, noisy, published, told, write_part, write_parts


@pytest.fixture
def here(here):
    told().save(here / "told.json")
    noisy().save(here / "noisy.json")
    write_parts(here / "records", 4, 6)
    return here


PRIVATIZE = ("privatize", "records", "--column", "kind", "--keep", "id", "--mechanism", "told.json", "-o", "out")


def test_a_folder_is_privatized_and_a_second_run_skips_it(here, command):
    status, out, err = command(*PRIVATIZE)
    assert (status, err) == (0, "")
    words = " ".join(out.split())
    for part in ("records 24", "parts 4 written, 0 skipped", "guarantee PML with", "written out", "kept id: the"):
        assert part in words
    check_reported_once(here / "records", here / "out")
    os.utime(here / "records/half=1/part-0003.csv", (2e9, 2e9))
    status, out, err = command(*PRIVATIZE)
    assert status == 0
    words = " ".join(out.split())
    assert "records 0 parts 0 written, 4 skipped since they were there" in words
    assert "changed 1 skipped parts are newer than their reports, such as half=1/part-0003.csv" in words
    record = json.loads(command(*PRIVATIZE, "--json")[1])
    assert record["schema"] == "mechdesign/privatization/1"
    assert record["parts"] == {"published": 0, "skipped": 4, "changed": ["half=1/part-0003.csv"]}
    assert (record["output"], record["column"], record["keep"]) == ("out", "kind", ["id"])


def test_globs_and_files_without_a_header(here, command):
    for part in sorted(here.glob("records/*/*.csv")):
        part.write_text("".join(part.read_text().splitlines(keepends=True)[1:]))
    arguments = ("--column", 2, "--no-header", "--mechanism", "told.json", "-o", "out")
    assert command("privatize", "records/half=*/*.csv", *arguments)[0] == 0
    assert command("estimate", "out", "--column", 0, "--no-header", "--mechanism", "told.json")[0] == 0
    assert len(published(here / "out")) == 4


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (
            ("--overwrite",),
            "usage",
            "--overwrite is for a single file: two published runs leak more than one; leave it out",
        ),
        (("--jobs", "0"), "not-a-whole-number", ""),
        (("--jobs", "2", "--scheduler", "tcp://127.0.0.1:1"), "conflicting-arguments", ""),
        (("-o", "records/out"), "same-file", ""),
        (("-o", "-"), "cannot-write", ""),
        (("--column", "half"), "unknown-column", ""),
        (("--unknown", "d"), "unknown-label", ""),
        (("--no-header",), "unknown-column", ""),
    ],
)
def test_what_is_refused_has_status_2(refused, arguments, code, shown):
    refused(code, *replaced(PRIVATIZE, arguments), shown=shown)


def test_jobs_are_for_parts(here, refused):
    write_part(here / "one.csv", range(3))
    for name in ("privatize", "estimate"):
        arguments = (name, "one.csv", "--column", "kind", "--mechanism", "told.json", "--jobs", 2, "-o", "o.csv")
        refused("usage", *arguments, shown="--jobs")


def test_a_part_that_is_refused_is_named_with_its_row(here, command):
    write_part(here / "records/half=1/part-0002.csv", range(12, 18), labels=("a", "secret"))
    status, out, err = command(*PRIVATIZE)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "records/half=1/part-0002.csv, record 2 is not among the categories" in err
    assert "secret" not in err
    assert "'secret'" in command(*PRIVATIZE, "--show-values")[2]
    status, out, err = command("estimate", "out", "--column", "kind", "--mechanism", "told.json")
    assert status == 0
    assert "parts 3 of 4: THE OTHERS ARE NOT REPORTED YET" in " ".join(out.split())
    record = json.loads(command("estimate", "out", "--column", "kind", "--mechanism", "told.json", "--json")[1])
    assert record["parts"] == {"counted": 3, "planned": 4}
    status, _, err = command("estimate", "out", "--column", "kind", "--mechanism", "noisy.json")
    assert status == 2
    assert "give the mechanism that made the reports" in err
    write_part(here / "records/half=1/part-0002.csv", range(12, 18))
    assert command(*PRIVATIZE)[0] == 0
    check_reported_once(here / "records", here / "out")


def test_the_estimate_of_a_folder_is_that_of_one_file(here, command):
    write_parts(here / "many", 5, 31, ending=".parquet")
    command("privatize", "many", "--column", "kind", "--mechanism", "noisy.json", "-o", "out")
    tables = [pq.read_table(path, partitioning=None) for path in sorted((here / "out").rglob("*.parquet"))]
    pq.write_table(pa.concat_tables(tables), here / "whole.parquet")
    records = []
    for source in ("whole.parquet", "out", "out/**/*.parquet", "out/*"):
        status, out, _ = command("estimate", source, "--column", "kind", "--mechanism", "noisy.json", "--json")
        assert status == 0
        record = json.loads(out)
        assert record.pop("parts", {"counted": 5, "planned": 5}) == {"counted": 5, "planned": 5}
        records.append(record)
    assert records[1:] == records[:1] * 3


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_command_with_status_3_and_a_rerun_goes_on(here):
    write_parts(here / "large", 12, 20_000)
    arguments = ["large" if argument == "records" else argument for argument in PRIVATIZE]
    line = [sys.executable, "-m", "mechdesign", *arguments, "--jobs", "2"]
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (seen := published(here / "out") if (here / "out").exists() else {}):
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.001)
    children = subprocess.run(["pgrep", "-P", str(running.pid), "-f", "spawn_main"], capture_output=True, check=True)
    os.kill(int(children.stdout.split()[-1]), signal.SIGKILL)
    _, err = running.communicate(timeout=600)
    assert running.returncode == 3, err
    told_ = err.splitlines()[-1]
    assert "a process was killed" in told_
    assert "the same command goes on from there" in told_
    again = subprocess.run(line, capture_output=True, check=False)
    assert again.returncode == 0, again.stderr
    assert seen.items() <= published(here / "out").items()
    check_reported_once(here / "large", here / "out")
