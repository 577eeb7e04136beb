"""Real processes that are killed, stopped and lost sight of: each record is reported once all the same.

A report that was published and drawn again would differ from itself, so the bytes of published parts are compared
before and after each kill.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from datasets import check_reported_once, leftovers, noisy, published, read_rows, told, write_part, write_parts

import mechdesign as md
from mechdesign.deploy.dataset import privatize_dataset
from mechdesign.deploy.stream import RecordFile, ReportFile
from mechdesign.engine import executor_of

pytestmark = pytest.mark.slow
KILLS = 20


def run(folder, mechanism, executor=None):
    return privatize_dataset(
        RecordFile(folder / "records", "kind"), mechanism, ReportFile(folder / "out", ["id"]), executor
    )


def names(folder):
    """The parts that are published, without reading them."""
    return {path for path in folder.rglob("part-*") if path.is_file()}


class Killer(threading.Thread):
    """Kills one of the processes that work each time so many more parts are published, and keeps what it saw then."""

    def __init__(self, folder, workers, *, kills, parts=200, pause=0.0):
        super().__init__(daemon=True)
        self.folder, self.workers, self.left, self.pause = folder, workers, kills, pause
        self.done = 0
        self.step = 2 * parts // (3 * kills)
        self.seen, self.stopped = {}, threading.Event()
        self.moments = np.random.default_rng(7)

    def run(self):
        goal = self.step
        while self.left and not self.stopped.wait(0.02):
            if len(names(self.folder)) < goal:
                continue
            time.sleep(self.moments.uniform(0, 0.02))  # anywhere in a part
            alive = self.workers()
            if not alive:
                continue
            self.seen |= published(self.folder)
            with contextlib.suppress(ProcessLookupError):
                os.kill(alive[0], signal.SIGKILL)
                self.left -= 1
                self.done += 1
                goal = min(len(names(self.folder)) + self.step, (self.done + 2) * self.step)
                time.sleep(self.pause)

    def finish(self):
        self.stopped.set()
        self.join()
        assert self.left == 0, f"{self.left} kills did not happen"


class Paced(Executor):
    """Lets no more parts begin than two kills need, so that all kills happen however fast the machine is."""

    def __init__(self, executor, killer):
        self.executor, self.killer, self.flying = executor, killer, set()

    def submit(self, fn, /, *args, **kwargs):
        killer = self.killer
        while killer.left and len(names(killer.folder)) + len(self.flying) >= (killer.done + 2) * killer.step:
            time.sleep(0.005)
        future = self.executor.submit(fn, *args, **kwargs)
        self.flying.add(future)
        future.add_done_callback(self.flying.discard)
        return future


def fast_start():
    """Have new processes be copies of one that has imported everything."""
    imported = ["distributed", "distributed.nanny", "distributed.worker", "mechdesign.deploy.dataset"]
    imported += [f"pyarrow.{name}" for name in ("csv", "parquet", "compute")]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(imported)
    return context


def test_a_pool_that_is_killed_twenty_times_reports_each_record_once(tmp_path):
    write_parts(tmp_path / "records", 200, 300)
    runs, records, workers = 0, 0, []
    killer = Killer(tmp_path / "out", lambda: list(workers), kills=KILLS)
    killer.start()
    while True:
        runs += 1
        with ProcessPoolExecutor(2, mp_context=fast_start()) as pool:
            list(pool.map(abs, range(4)))
            workers[:] = list(pool._processes)
            try:
                records += run(tmp_path, noisy(), Paced(pool, killer)).records
                break
            except md.LimitError as error:
                assert "a process was killed" in str(error)  # noqa: PT017 - the run that ends is another one
            finally:
                workers.clear()
    killer.finish()
    assert KILLS / 2 < runs <= KILLS + 1  # two kills may end one run
    after = published(tmp_path / "out")
    assert killer.seen.items() <= after.items()
    assert len(killer.seen) >= 100
    numbers = [row[0] for name in sorted(after) for row in read_rows(tmp_path / "out" / name)]
    assert numbers == list(range(60_000))
    assert leftovers(tmp_path / "out") == []


def pids(client):
    """The processes of workers that the scheduler knows."""
    nannies, known = list(client.cluster.workers.values()), set(client.cluster.scheduler.workers)
    return [nanny.pid for nanny in nannies if nanny.worker_address in known and nanny.pid]


@contextlib.contextmanager
def cluster_of(workers, **config):
    import dask
    from distributed import Client, LocalCluster

    # A worker that is killed while it runs a task is forgiven: here it is not the task that kills it.
    settings = {
        "distributed.scheduler.allowed-failures": 100,
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    fast_start()
    with (
        dask.config.set({**settings, **config}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("default")
def test_a_cluster_whose_workers_are_killed_twenty_times_reports_each_record_once(tmp_path):
    source = write_parts(tmp_path / "records", 200, 300)
    with cluster_of(3) as client:
        killer = Killer(tmp_path / "out", lambda: pids(client), kills=KILLS, pause=0.2)
        killer.start()
        done = run(tmp_path, told(), Paced(executor_of(client), killer))
        killer.finish()
    assert (done.records, done.published) == (60_000, 200)
    assert killer.seen.items() <= published(tmp_path / "out").items()
    check_reported_once(source, tmp_path / "out")


@pytest.mark.filterwarnings("default")
def test_a_worker_that_was_only_thought_dead_does_not_publish_a_second_time(tmp_path):
    """It is stopped in the middle of a part, which another worker publishes, and then goes on."""
    write_part(tmp_path / "records/part-0.csv", range(1_000_000))
    with cluster_of(2, **{"distributed.scheduler.worker-ttl": "2s"}) as client:
        running = threading.Thread(target=run, args=(tmp_path, noisy(), client))
        running.start()
        while not (writing := [pid for pid in pids(client) if writes(pid, tmp_path / "out")]):
            assert running.is_alive()
        stopped = writing[0]
        os.kill(stopped, signal.SIGSTOP)
        running.join(600)
        assert not running.is_alive()
        first = published(tmp_path / "out")
        assert list(first) == ["part-0.csv"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(stopped, signal.SIGCONT)
        time.sleep(3)
    assert published(tmp_path / "out") == first
    assert leftovers(tmp_path / "out") == []


def writes(pid, folder):
    """Whether a process has a file of a folder open that is not published."""
    with contextlib.suppress(OSError):
        opened = map(os.path.realpath, Path(f"/proc/{pid}/fd").iterdir())
        return any(path.startswith(f"{folder}/.") and path.endswith(".tmp") for path in opened)
    return False


def test_two_commands_at_once_in_one_folder(tmp_path):
    source = write_parts(tmp_path / "records", 30, 2_000)
    told().save(tmp_path / "m.json")
    command = [sys.executable, "-m", "mechdesign", "privatize", "records", "--column", "kind", "--keep", "id"]
    command += ["--mechanism", "m.json", "-o", "out", "--json"]
    both = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    ends = [process.communicate(timeout=600) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    check_reported_once(source, tmp_path / "out")


@pytest.mark.parametrize("moment", ["os.link", "mechdesign.deploy.manifest.write_atomically"])
def test_a_command_that_is_killed_anywhere_leaves_what_a_rerun_goes_on_with(tmp_path, moment):
    """Also between the publication of a part and the manifest, which then does not know of it."""
    source = write_parts(tmp_path / "records", 12, 20)
    noisy().save(tmp_path / "m.json")
    script = """
import importlib, os, signal, sys
import mechdesign as md
from mechdesign.deploy import RecordFile, ReportFile, dataset, privatize_dataset
dataset._SECONDS = 0.0
home, _, name = sys.argv[2].rpartition(".")
home = importlib.import_module(home)
plain, calls = getattr(home, name), []
def killing(*arguments, **options):
    calls.append(0)
    if len(calls) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(*arguments, **options)
setattr(home, name, killing)
print(privatize_dataset(RecordFile("records", "kind"), md.Mechanism.load("m.json"), ReportFile("out", ["id"])).skipped)
"""
    seen = {}
    for kill in (2, 5, 0):
        arguments = [sys.executable, "-c", script, str(kill), moment]
        ended = subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False)
        after = published(tmp_path / "out")
        assert seen.items() <= after.items()
        assert ended.returncode == (-9 if kill else 0), ended.stderr
        if not kill:
            assert int(ended.stdout) == len(seen) > 0
        seen = after
    assert len(seen) == 12
    assert sorted(source.rglob("*.csv"))
    assert leftovers(tmp_path / "out") == []
