"""Tasks on executors: results in the order in which they come, errors of tasks, executors that end."""

import contextlib
import os
import signal
import time
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest
from refusals import raises

from mechdesign.engine import SerialExecutor, executor_of, opened_executor, run_tasks
from mechdesign.errors import InputError


def halved(number: int) -> int:
    if number % 2:
        raise InputError(f"the number is {number}; accepted: an even one")
    return number // 2


def killed(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number


@pytest.mark.sampled
@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_each_item_is_answered_once_and_an_error_belongs_to_its_item(jobs: int | None) -> None:
    with opened_executor(jobs) as executor:
        found = {done.item: done for done in run_tasks(halved, range(600), executor)}
    assert sorted(found) == list(range(600))
    assert all(done.result == item // 2 for item, done in found.items() if item % 2 == 0)
    assert all(isinstance(done.error, InputError) for item, done in found.items() if item % 2)


def test_items_are_taken_as_they_are_needed() -> None:
    taken = []

    def items() -> object:
        for item in range(10**9):
            taken.append(item)
            yield 2 * item

    with ThreadPoolExecutor(2) as pool:
        running = run_tasks(halved, items(), pool)
        next(running)
        running.close()
    assert 1 <= len(taken) <= 256
    running = run_tasks(halved, items(), SerialExecutor())
    next(running)
    assert taken[-1] == 0


def slow(number: int) -> int:
    time.sleep(0.3)
    return number


def test_tasks_that_run_are_awaited_when_there_is_enough() -> None:
    found: list[int | None] = []
    with opened_executor(2) as pool:
        for done in run_tasks(slow, range(100), pool, lambda: len(found) >= 2):
            found.append(done.result)
    # Two run at a time, and a pool takes three more than it runs.
    assert 2 <= len(found) <= 7


def blocks_interrupts(_: object) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are those of POSIX")
def test_processes_do_not_see_an_interruption_even_while_they_start() -> None:
    # What is blocked is inherited by the process before it runs its first line.
    with opened_executor(2) as pool:
        assert [done.result for done in run_tasks(blocks_interrupts, range(3), pool)] == [True] * 3
    assert not blocks_interrupts(None)


def test_an_interruption_of_a_pool_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        with opened_executor(2) as pool, contextlib.closing(run_tasks(slow, range(100), pool)) as running:
            next(running)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert capfd.readouterr().err == ""


def test_a_pool_whose_process_is_killed_is_a_limit() -> None:
    with opened_executor(2) as executor, raises("workers-ended"):
        list(run_tasks(killed, range(8), executor))


def threads_of_files(_: object) -> int:
    import pyarrow as pa

    return int(pa.cpu_count())


@pytest.mark.parametrize("jobs", [2, 64])
def test_processes_share_the_cores(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # else they have one thread in any case
    with opened_executor(jobs) as executor:
        (found,) = run_tasks(threads_of_files, [0], executor)
    assert found.result == max(1, (os.cpu_count() or 1) // jobs)


def test_a_pool_that_was_shut_down_is_a_limit() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with raises("workers-ended"):
        list(run_tasks(halved, [2], pool))


def test_an_error_that_nobody_expected_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(lambda number: 1 // number, [0], SerialExecutor()))


def test_what_is_an_executor() -> None:
    pool = ThreadPoolExecutor(1)
    assert executor_of(pool) is pool
    assert isinstance(executor_of(None), Executor)
    with raises("wrong-type"):
        executor_of("tcp://127.0.0.1:8786")


@pytest.mark.parametrize(("jobs", "scheduler"), [(0, None), (-1, None), (2, "tcp://127.0.0.1:1")])
def test_options_that_name_no_executor(jobs: int, scheduler: str | None) -> None:
    with pytest.raises(InputError), opened_executor(jobs, scheduler):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", ""])
def test_a_scheduler_that_is_not_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("mechdesign.engine.executors._SECONDS_TO_CONNECT", 1)
    with raises("cluster-not-ready"), opened_executor(scheduler=address):
        pass
