"""``mechdesign sweep``: tables, statuses, and one line for what goes wrong."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mechdesign as md

GRID = """
title = "Smoking"
epsilon = [0.5, 1]
delta = ["1e-9", "1e-3"]
baselines = ["best-ldp", "randomized-response"]
[[source]]
name = "smoking"
counts = { never = 812, former = 150, current = 38 }
"""
SLOW = """
title = "Long"
epsilon = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
delta = "1e-3"
[[source]]
name = "many"
[source.counts]
""" + "\n".join(f"x{i} = {5000 // (i + 1) + 17 * i}" for i in range(40))


@pytest.fixture
def here(here):
    Path("grid.toml").write_text(GRID)
    return here


def test_the_table_is_written_and_told(command):
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    status, out, err = command("sweep", "grid.toml", "-o", "results", "--plot", "p.svg")
    assert (status, err) == (0, "")
    assert "6 solved, 0 from earlier sweeps" in out
    assert "results/grid.parquet, results/grid.csv" in out
    table = pq.read_table("results/grid.parquet")
    assert pa_csv.read_csv("results/grid.csv").column("value").to_pylist() == table.column("value").to_pylist()
    for place, value in zip(table.column("mechanism").to_pylist(), table.column("value").to_pylist(), strict=True):
        assert md.Mechanism.load(Path("results", place)).optimality.value == value
    assert Path("p.svg").read_text().startswith("<?xml")
    status, again, err = command("sweep", "grid.toml", "-o", "results")
    assert (status, err) == (0, "")
    assert "0 solved, 6 from earlier sweeps" in again
    assert again.splitlines()[5:] == out.splitlines()[5:]
    assert pq.read_table("results/grid.parquet") == table


def test_json_has_a_record_for_each_row(command):
    status, out, _ = command("sweep", "grid.toml", "-o", "results", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["schema"] == "mechdesign/sweep/1"
    assert (told["solved"], told["reused"], told["notes"]) == (6, 0, [])
    assert [row["epsilon"] for row in told["rows"]] == [0.5, 1, 0.5, 1]
    assert all(row["certified"] and row["best_ldp"] < row["value"] for row in told["rows"])


def test_a_failure_is_a_row_and_the_status_is_3(command):
    Path("grid.toml").write_text(GRID.replace("epsilon = [0.5, 1]", 'epsilon = [0, 1]\nutility = "estimation-error"'))
    status, out, err = command("sweep", "grid.toml", "-o", "results", "--json", "--plot", "p.png")
    assert status == 3
    assert err.startswith("Error: 2 of 4 problems have no design; the first, smoking at epsilon = 0: ")
    assert err.count("\n") == 1
    rows = json.loads(out)["rows"]
    assert [row["failure"] is None for row in rows] == [False, True, False, True]
    assert Path("p.png").exists()


IMPOSSIBLE = """
title = "Some points cannot be problems"
epsilon = [1, -1]
radius = [0.25, 2.5]
baselines = ["best-ldp", "randomized-response"]
[[source]]
name = "smoking"
counts = { never = 812, former = 150, current = 38 }
[[source]]
name = "one label"
counts = { a = 5 }
"""


def test_a_point_that_cannot_be_a_problem_is_a_row_and_the_rest_is_solved(command):
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    Path("some.toml").write_text(IMPOSSIBLE)
    status, out, err = command("sweep", "some.toml", "-o", "results", "--plot", "p.svg")
    assert status == 3
    assert err.startswith("Error: 7 of 8 problems have no design; the first, smoking at epsilon = -1: epsilon is '-1'")
    assert err.count("\n") == 1
    assert "8, 1 with a design" in out
    assert "2 solved, 0 from earlier sweeps" in out
    rows = pq.read_table("results/some.parquet").to_pylist()
    assert [row["failure"] is None for row in rows] == [True] + [False] * 7
    assert [row["value"] is None for row in rows] == [False] + [True] * 7
    assert [(row["source"], row["epsilon"], row["radius"], row["symbols"]) for row in rows] == [
        *(("smoking", epsilon, radius, 3) for radius in (0.25, 2.5) for epsilon in (1, -1)),
        *(("one label", epsilon, radius, 1) for radius in (0.25, 2.5) for epsilon in (1, -1)),
    ]
    assert all((row["key"] is None) == (row["failure"] is not None) for row in rows)
    assert pa_csv.read_csv("results/some.csv").column("failure").to_pylist()[1:] == [row["failure"] for row in rows[1:]]
    assert Path("p.svg").exists()
    files = sorted(Path("results").rglob("*.json"))
    assert len(files) == 4
    status, out, _ = command("sweep", "some.toml", "-o", "results", "--json")
    told = json.loads(out)
    assert (status, told["solved"], told["reused"], len(told["rows"])) == (3, 0, 2, 8)
    assert sorted(Path("results").rglob("*.json")) == files


def test_a_grid_of_which_no_point_is_a_problem_is_refused_before_anything_is_written(refused):
    Path("none.toml").write_text(IMPOSSIBLE.replace("[1, -1]", "[-2, -1]"))
    refused("point-refused", "sweep", "none.toml", "-o", "results", shown="smoking at epsilon = -2")


def test_a_design_that_is_not_certified_is_status_3(command):
    Path("slow.toml").write_text(
        SLOW.replace("[[source]]", "time_limit = 0\n[[source]]", 1).replace("[0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]", "1")
    )
    status, out, err = command("sweep", "slow.toml", "-o", "results")
    assert status == 3
    assert "1 of 1 designs are not certified" in err
    assert "no" in out


def test_a_file_that_does_not_prove_is_told_in_one_line(command):
    command("sweep", "grid.toml", "-o", "results")
    broken = sorted(Path("results/mechanisms").iterdir())[0]
    broken.write_text(broken.read_text().replace("1", "2", 1))
    status, _, err = command("sweep", "grid.toml", "-o", "results")
    assert (status, err) == (0, f"{broken} was changed after it was written; solved again\n")


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["absent.toml", "-o", "results"], "cannot-read", "absent.toml"),
        (["grid.toml"], "usage", "Missing option"),
        (["grid.toml", "-o", "absent/results"], "cannot-write", ""),
        (["grid.toml", "-o", "grid.toml"], "cannot-write", ""),
        (["grid.toml", "-o", "/proc/results"], "cannot-write", ""),
        (["grid.toml", "-o", "results", "--plot", "p.txt"], "wrong-file-ending", ""),
        (["grid.toml", "-o", "results", "--plot", "absent/p.png"], "cannot-write", ""),
        (["grid.toml", "-o", "results", "--jobs", "0"], "not-a-whole-number", ""),
        (["grid.toml", "-o", "results", "--jobs", "2", "--scheduler", "tcp://x:1"], "conflicting-arguments", ""),
        (["bad.toml", "-o", "results"], "unknown-key", ""),
    ],
)
def test_bad_input_is_one_line_and_status_2(refused, arguments, code, shown):
    Path("bad.toml").write_text(GRID.replace("delta", "deltas"))
    refused(code, "sweep", *arguments, shown=shown)


def test_a_table_does_not_replace_the_counts_that_it_is_made_from(command, refused):
    Path("grid.csv").write_text("level,count\na,3\nb,2\n")
    Path("grid.toml").write_text('title = "t"\nepsilon = 1\n[[source]]\ncounts = "grid.csv"\n')
    refused("same-file", "sweep", "grid.toml", "-o", ".", shown="grid.csv")
    assert command("sweep", "grid.toml", "-o", "results")[0] == 0


def start(*arguments, **options):
    code = "from mechdesign.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "sweep", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


@pytest.mark.slow
def test_a_disk_that_is_full_is_one_line_and_a_rerun_goes_on(here, command):
    """A limit on the size of files stands for the disk: the system refuses to write as it does on a full one."""
    counts = ", ".join(f"x{i} = {50 + i}" for i in range(14))
    Path("grid.toml").write_text(
        'title = "t"\nepsilon = [1, 3]\n[[source]]\nname = "small"\ncounts = { a = 4, b = 3 }\n'
        f'[[source]]\nname = "large"\ncounts = {{ {counts} }}\n'
    )
    done = start(
        *("grid.toml", "-o", "results"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)),
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # Python would keep bytecode that ends at the limit
    )
    _, err = done.communicate(timeout=600)
    assert done.returncode == 2
    # On a busy machine a line of progress comes before.
    *before, line = err.decode().splitlines()
    assert line.startswith("Error: cannot write ")
    assert all("sweeping: " in other for other in before)
    assert len(list(Path("results/designs").iterdir())) == 2
    assert not [path for path in Path("results").rglob("*") if path.name.startswith(".")]
    status, out, _ = command("sweep", "grid.toml", "-o", "results", "--json")
    assert (status, json.loads(out)["reused"]) == (0, 2)


def finished(folder):
    return len(list(Path(folder, "designs").glob("*.json")))


def wait_for(condition):
    until = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 3), (signal.SIGTERM, 3), (signal.SIGKILL, -9)])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_sweep_that_is_ended_goes_on_from_there(here, command, number, status, jobs):
    Path("slow.toml").write_text(SLOW)
    running = start("slow.toml", "-o", "results", "--jobs", jobs)
    wait_for(lambda: finished("results") >= 2)
    children = [int(text) for text in children_of(running.pid)]
    running.send_signal(number)
    _, err = running.communicate(timeout=600)
    assert running.returncode == status
    if status == 3:
        assert err.decode().splitlines()[-1].endswith("[interrupted]")
        assert "Traceback" not in err.decode()
    wait_for(lambda: not any(map(is_running, children)))
    before = finished("results")
    assert before < 7
    answer, out, _ = command("sweep", "slow.toml", "-o", "results", "--json")
    assert answer == 0
    assert json.loads(out)["reused"] == before


def children_of(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_a_worker_that_is_killed_ends_the_sweep_with_one_line_and_a_rerun_goes_on(here, command):
    Path("slow.toml").write_text(SLOW)
    running = start("slow.toml", "-o", "results", "--jobs", "2")
    wait_for(lambda: finished("results") >= 2)
    workers = [pid for pid in children_of(running.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(int(workers[-1]), signal.SIGKILL)
    _, err = running.communicate(timeout=600)
    assert running.returncode == 3
    assert "the executor ended before its tasks did" in err.decode().splitlines()[-1]
    assert "Traceback" not in err.decode()
    before = finished("results")
    status, out, _ = command("sweep", "slow.toml", "-o", "results", "--json")
    assert (status, json.loads(out)["reused"]) == (0, before)
