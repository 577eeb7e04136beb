"""Sweeps on real engines: the same bits everywhere, workers that are killed, schedulers that go away."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.engine import opened_executor
from mechdesign.errors import InputError

pytestmark = pytest.mark.slow
distributed = pytest.importorskip("distributed")

COUNTS = {f"x{i}": 5000 // (i + 1) + 17 * i for i in range(11)}
WANTED = ["best-ldp", "randomized-response", "subset-selection"]


def problems():
    few = dict(list(COUNTS.items())[:5])
    known = [md.L1Ball.from_counts(COUNTS, delta="1e-3"), md.L1Ball.from_counts(few, delta="1e-9")]
    made = [md.DesignProblem(ball, epsilon) for ball in known for epsilon in ("0.5", "1", "log(3)")]
    made.append(md.DesignProblem(known[1], 1, md.EstimationError()))
    made.append(md.DesignProblem(known[1], 1, md.WorstCaseUtility(md.HammingAccuracy())))
    made.append(md.DesignProblem(md.L1Ball.from_counts(few, known=True), 0, md.EstimationError()))  # which fails
    return made


def exactly(found):
    """All that a sweep found, except how long it took; integers by the content of their files."""
    columns = {name: cells for name, cells in found.columns().items() if name not in {"seconds", "mechanism"}}
    integers = [None if row.mechanism is None else row.mechanism.numerators.tolist() for row in found]
    return columns, integers


@pytest.fixture(scope="module")
def client():
    """Two workers on this machine, with a real scheduler."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    return md.sweep(problems(), cache=tmp_path_factory.mktemp("serial"), baselines=WANTED)


def test_a_cluster_finds_the_same_to_the_bit(serial, client, tmp_path):
    assert len(serial.failures) == 1
    found = md.sweep(problems(), client, tmp_path, baselines=WANTED)
    assert exactly(found) == exactly(serial)
    assert found.columns()["mechanism"] == serial.columns()["mechanism"]  # names of files are hashes of their content
    assert exactly(md.sweep(problems(), client.get_executor(), tmp_path, baselines=WANTED)) == exactly(serial)


def test_other_processes_find_the_same_to_the_bit(serial, tmp_path):
    with opened_executor(2) as pool:
        found = md.sweep(problems(), pool, tmp_path, baselines=WANTED)
    assert exactly(found) == exactly(serial)
    assert found.columns()["mechanism"] == serial.columns()["mechanism"]


def test_threads_of_linear_algebra_do_not_change_a_bit(serial, tmp_path):
    code = (
        "import sys, mechdesign as md; sys.path.insert(0, sys.argv[1]); import test_engines as own; "
        "print(*md.sweep(own.problems(), cache=sys.argv[2]).columns()['mechanism'])"
    )
    threads = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    arguments = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)]
    done = subprocess.run(arguments, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(place) for place in serial.columns()["mechanism"]]


def test_workers_that_are_killed_cost_no_result(serial, client, tmp_path):
    killed = []

    def kill_one(step):
        if "sweeping" in step and len(killed) < 2:
            pids = list(client.run(os.getpid).values())
            os.kill(pids[len(killed) % len(pids)], signal.SIGKILL)
            killed.append(step)

    found = md.sweep(problems(), client, tmp_path, kill_one, baselines=WANTED)
    assert killed
    assert exactly(found) == exactly(serial)


def test_a_cluster_with_another_version_or_none_is_refused(client, monkeypatch, tmp_path):
    with monkeypatch.context() as patched:
        patched.setattr("mechdesign.engine.executors.__version__", "99.0")
        with pytest.raises(InputError, match=r"the scheduler has mechdesign '.*'; install mechdesign 99.0 there"):
            md.sweep(problems(), client, tmp_path)
    monkeypatch.setattr("mechdesign.engine.executors._PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(InputError, match="the scheduler does not have a_package"):
        md.sweep(problems(), client, tmp_path)


def test_a_client_that_is_closed_is_refused(client):
    other = distributed.Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(InputError, match="the scheduler does not answer"):
        md.sweep(problems(), other)


def dask(part, *arguments):
    return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{part}", *arguments, "--no-dashboard"])


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and a worker as processes of their own."""
    file = tmp_path / "scheduler.json"
    scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
    worker = None
    try:
        until = time.monotonic() + 600
        while not file.exists() or not file.read_text().endswith("}"):
            assert time.monotonic() < until
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        worker = dask("worker", address, "--nthreads", "1", "--local-directory", str(tmp_path))
        yield address, scheduler
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.terminate()
                process.wait(300)


def test_a_scheduler_that_goes_away_is_one_line_and_a_rerun_goes_on(cluster, tmp_path, monkeypatch, capfd):
    address, scheduler = cluster
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(f"{label} = {count}" for label, count in COUNTS.items())
    epsilons = [k / 10 for k in range(1, 17)]
    Path("grid.toml").write_text(
        f'title = "t"\nepsilon = {epsilons}\ndelta = 0.001\n[[source]]\nname = "s"\n[source.counts]\n{lines}\n'
    )
    code = "from mechdesign.cli import main; main()"
    arguments = [sys.executable, "-c", code, "sweep", "grid.toml", "-o", "results", "--scheduler", address]
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 600
    while len(list(Path("results", "designs").glob("*"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    scheduler.kill()
    _, err = running.communicate(timeout=600)
    assert running.returncode == 3
    last = err.decode().splitlines()[-1]
    assert last.startswith("Error: the executor ended before its tasks did")
    assert "Traceback" not in err.decode()
    before = len(list(Path("results", "designs").glob("*.json")))
    assert 2 <= before < 16
    assert run(["sweep", "grid.toml", "-o", "results", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["reused"] == before
    monkeypatch.setattr("mechdesign.engine.executors._SECONDS_TO_CONNECT", 1)
    assert run(["sweep", "grid.toml", "-o", "results", "--scheduler", address]) == 2
    assert capfd.readouterr().err.splitlines()[-1].startswith(f"Error: there is no scheduler at '{address}'")
