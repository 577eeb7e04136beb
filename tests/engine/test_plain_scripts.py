"""Scripts without a guard: nothing starts a process unasked, and a pool that cannot start ends with one line."""

import multiprocessing.process
import subprocess
import sys

import pytest

import mechdesign as md
from mechdesign.deploy import RecordFile, ReportFile, count_dataset, privatize_dataset

GUARD = 'if __name__ == "__main__":'
OWN = "from mechdesign.engine import opened_executor as pool"
GIVEN = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
def pool(jobs):
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"))
"""
SCRIPT = """
from mechdesign.engine import run_tasks
{}
{}
    with pool(2) as executor:
        print(sorted(done.result for done in run_tasks(abs, [-1, 2], executor)))
"""


@pytest.fixture
def no_processes(monkeypatch):
    def start(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    monkeypatch.setattr(subprocess.Popen, "__init__", start)


def test_processes_start_only_where_an_executor_is_given(no_processes, tmp_path):
    ball = md.L1Ball.from_counts({"never": 812, "former": 150, "current": 38}, delta=1e-9)
    problems = [md.DesignProblem(ball, epsilon, md.MutualInformation()) for epsilon in (1, 2)]
    mechanism = md.sweep(problems).rows[0].mechanism
    truth = ["never", "former", "current", "never", "never"] * 4000
    months = [f"month {person % 20}" for person in range(20_000)]
    found = md.estimate_frequencies(mechanism.privatize(truth), mechanism, by=months)
    assert [estimate.reports for _, estimate in found] == [1000] * 20
    folder = tmp_path / "records"
    folder.mkdir()
    for part in "ab":
        (folder / f"{part}.csv").write_text("answer\nnever\nformer\n")
    privatize_dataset(RecordFile(folder, "answer"), mechanism, ReportFile(tmp_path / "reports"))
    counted = count_dataset(RecordFile(tmp_path / "reports", "answer"), mechanism)
    assert counted.counts.sum() == 4


@pytest.mark.parametrize("pool", [OWN, GIVEN])
def test_a_pool_in_a_script_without_a_guard_ends_with_one_line_a_process(pool, tmp_path):
    def run(guard):
        script = tmp_path / "script.py"
        script.write_text(SCRIPT.format(pool, guard))
        return subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600, check=False)

    bad = run("if True:")
    lines = bad.stderr.splitlines()
    assert bad.returncode
    said = " ".join(set(lines[: lines.index("Traceback (most recent call last):")]))
    assert said == (
        "mechdesign: each new process imports the script, which would start processes again; put what the script runs "
        f"under {GUARD}"
    )
    # Under load Python's resource tracker may warn after it, as processes ended that held semaphores.
    (error,) = [line for line in lines if line.startswith("mechdesign.errors.")]
    assert error.startswith("mechdesign.errors.LimitError: the executor ended")
    assert "bootstrapping" not in bad.stderr
    good = run(GUARD)
    assert (good.stdout, good.stderr) == ("[1, 2]\n", "")
