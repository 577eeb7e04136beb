"""Time limits and interrupts: both end a search alike, with the best mechanism so far and its true gap."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from clocks import Clock
from refusals import raises

import mechdesign as md
from mechdesign.optimize import column_generation, designer
from mechdesign.optimize.deadline import (
    Deadline,
    deadline_of,
    keeps_mechanism,
    share_until,
    sooner,
    time_is_up,
    with_time_for,
)
from mechdesign.optimize.method import Solution

COUNTS = [round(40_000 / k) + 50 for k in range(1, 18)]
BALL = md.L1Ball.from_counts(COUNTS, delta="1e-9")
LISTED = md.L1Ball.from_counts(COUNTS[:11], delta="1e-9")
# Too many rays to list, of an l1 ball and of a hull.
LONG = md.L1Ball.from_counts([round(40_000 / k) + 50 for k in range(1, 26)], delta="1e-9")
HULL = md.ConvexHull([[f"{k}/351" for k in range(1, 27)], [f"{27 - k}/351" for k in range(1, 27)], ["1/26"] * 26])

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals are those of POSIX")


def interrupted_at(start, number=signal.SIGINT):
    """A callback that sends this process a signal at the first line with a start, and when it did."""
    sent = []

    def progress(line):
        if not sent and line.startswith(start):
            sent.append(time.process_time())
            os.kill(os.getpid(), number)

    return progress, sent


@pytest.mark.parametrize(
    ("known", "objective", "start"),
    [
        (BALL, md.EstimationError(), "search round 1:"),
        (BALL, md.EstimationError(), "round 2"),
        (BALL, md.EstimationError(), "proving"),
        (BALL, md.EstimationError(), "computing"),
        (LISTED, md.EstimationError(), "interior points"),
        (LONG, md.MutualInformation(), "column generation"),
        (LONG, md.MutualInformation(), "computing"),
        (BALL, md.HammingAccuracy(), "proving"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "name", getattr(value, "kind", None)),
)
def test_an_interrupt_keeps_the_mechanism_and_its_true_gap(known, objective, start):
    problem = md.DesignProblem(known, 1, objective)
    progress, sent = interrupted_at(start)
    found = md.design(problem, progress=progress)
    assert sent
    assert time.process_time() - sent[0] < 10  # under 1 on a quiet machine
    assert found.stopped == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    md.verify(found.mechanism)
    sign = -1 if problem.utility.minimised else 1
    assert sign * found.value <= sign * found.bound * (1 + 1e-12 * sign)


def test_an_interrupt_inside_the_first_pricing_keeps_the_mechanism(monkeypatch):
    """The first prices of a hull of many symbols take a minute."""
    sent, before = [], time.process_time()

    def soon(deadline):
        keeps_mechanism(deadline)
        if not sent:
            sent.append(threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)))
            sent[0].start()

    monkeypatch.setattr(column_generation, "keeps_mechanism", soon)
    found = md.design(md.DesignProblem(HULL, 1, md.MutualInformation()))
    assert found.stopped == "interrupted"
    assert time.process_time() - before < 20
    assert found.value <= found.bound


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_that_interrupt_do_the_same(number):
    before = signal.signal(number, signal.default_int_handler)
    try:
        progress, sent = interrupted_at("proving", number)
        assert md.design(md.DesignProblem(LISTED, 1, md.EstimationError()), progress=progress).stopped == "interrupted"
        assert sent
    finally:
        signal.signal(number, before)


def test_an_interrupt_before_the_first_mechanism_raises():
    progress, sent = interrupted_at("bounding the error")
    with pytest.raises(KeyboardInterrupt):
        md.design(md.DesignProblem(BALL, 1, md.EstimationError()), progress=progress)
    assert sent
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_raises():
    def progress(line):
        if line.startswith("proving"):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        md.design(md.DesignProblem(LISTED, 1, md.EstimationError()), progress=progress)


def test_a_handler_of_the_program_stays():
    called = []
    before = signal.signal(signal.SIGINT, lambda *_: called.append(1))
    try:
        progress, _ = interrupted_at("proving")
        found = md.design(md.DesignProblem(LISTED, 1, md.EstimationError()), progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called
    assert found.stopped == ""


def test_other_threads_design_without_signals():
    found = []
    thread = threading.Thread(target=lambda: found.append(md.design(md.DesignProblem(LISTED, 1))))
    thread.start()
    thread.join()
    assert found[0].certified


def test_parts_of_a_deadline_are_moved_by_the_same_interrupt(monkeypatch):
    monkeypatch.setattr(time, "monotonic", Clock(0))
    whole = Deadline.after(1000)
    part, before = share_until(whole, 0.5), sooner(whole, 10)
    assert part - time.monotonic() == 500
    assert whole - before == pytest.approx(10)
    assert with_time_for(whole, 1) is whole
    assert not any(map(time_is_up, (whole, part, before)))
    whole.has_mechanism = True
    with part.moved_by_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert time_is_up(whole)
    assert time_is_up(part)
    assert time_is_up(before)
    assert with_time_for(part, 1) - time.monotonic() == 1  # which the interrupt that came does not move


RUN = """
import os, signal, sys
from mechdesign.cli import design as command
solve, start = command.design, sys.argv.pop(1)
def interrupted(problem, **options):
    told = options.pop("progress")
    def progress(line):
        told(line)
        if line.startswith(start):
            os.kill(os.getpid(), signal.SIGINT)
    return solve(problem, progress=progress, **options)
command.design = interrupted
from mechdesign.cli import entry_point
entry_point.main()
"""


@pytest.mark.parametrize("start", ["search round 2:", pytest.param("round 1:", marks=pytest.mark.slow)])
def test_the_command_writes_what_an_interrupt_leaves(start, tmp_path):
    counts = "".join(f"level {k},{count}\n" for k, count in enumerate(COUNTS))
    (tmp_path / "counts.csv").write_text("level,count\n" + counts)
    promise = ["--epsilon", "1", "--delta", "1e-9", "--utility", "estimation-error"]
    arguments = ["design", "--counts", "counts.csv", *promise, "--tol", "1e-6", "-o", "m.json"]
    done = subprocess.run(
        [sys.executable, "-c", RUN, start, *arguments],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 3, done.stderr
    assert "(interrupted)" in done.stderr
    assert "m.json was written all the same" in done.stderr
    assert "Traceback" not in done.stderr
    md.verify(md.Mechanism.load(tmp_path / "m.json"))


@pytest.fixture(scope="module")
def stopped():
    """Designs that were stopped, whose bounds are searched by boxes and by tables."""
    boxes = md.design(md.DesignProblem(HULL, 1), time_limit=0.5)
    tables = md.design(md.DesignProblem(BALL, 1, md.EstimationError()), time_limit=0.5)
    return boxes.mechanism, tables.mechanism


@pytest.mark.sampled
@pytest.mark.parametrize("which", [0, 1], ids=["boxes", "tables"])
def test_a_check_of_a_bound_ends_at_its_limit_undecided(stopped, which):
    start = time.process_time()
    with raises("bound-not-recomputed", "neither confirmed nor refuted"):
        md.verify(stopped[which], time_limit=0)
    assert time.process_time() - start < 10  # under 1 on a quiet machine
    assert md.verify(stopped[which], time_limit=600).certificate.bound == pytest.approx(stopped[which].optimality.bound)


def test_a_false_guarantee_is_false_however_short_the_time_is():
    mechanism = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1)).mechanism
    object.__setattr__(mechanism, "guarantee", md.Guarantee("0.9", mechanism.guarantee.uncertainty))
    with raises("guarantee-false"):
        md.verify(mechanism, time_limit=0)


def test_a_false_bound_is_refuted_where_there_is_time():
    mechanism = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1)).mechanism
    claim = mechanism.optimality
    forged = replace(mechanism, optimality=replace(claim, bound=claim.bound - 1e-6))
    for limit in (None, 600):
        with raises("optimality-false", "the stored upper bound"):
            md.verify(forged, time_limit=limit)
    with raises("bound-not-recomputed"):
        md.verify(forged, time_limit=0)


def test_a_limit_above_all_floats_is_no_limit():
    assert deadline_of(10**400) == math.inf


def test_a_limit_that_is_no_time_is_refused(stopped):
    for limit in (-(10**400), -1, "1", True, float("nan")):
        with raises("out-of-range", "time_limit"):
            md.verify(stopped[0], time_limit=limit)


def test_a_bound_that_had_no_time_is_told():
    """The search may have ended before, and its certificate not."""
    solution = Solution(np.ones((2, 1)), np.zeros(2), 1, 1)
    assert designer._why_stopped(solution, Deadline(0.0), closed=False) == "time limit"
    assert designer._why_stopped(solution, Deadline(0.0), closed=True) == ""
    assert designer._why_stopped(solution, Deadline(math.inf), closed=False) == ""
    assert designer._why_stopped(replace(solution, stopped="stalled"), Deadline(0.0), closed=False) == "stalled"
