"""Tasks on executors: results in the order in which they come, errors of tasks, executors that end."""

import os
import signal
import time
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from mechdesign.engine import SerialExecutor, executor_of, opened_executor, run_tasks
from mechdesign.errors import InputError, LimitError


def halved(number: int) -> int:
    if number % 2:
        raise InputError(f"the number is {number}; accepted: an even one")
    return number // 2


def killed(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number


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


def test_a_pool_whose_process_is_killed_is_a_limit() -> None:
    with opened_executor(2) as executor, pytest.raises(LimitError, match="what is finished stays"):
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
    with pytest.raises(LimitError, match="executor ended"):
        list(run_tasks(halved, [2], pool))


def test_an_error_that_nobody_expected_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(lambda number: 1 // number, [0], SerialExecutor()))


def test_what_is_an_executor() -> None:
    pool = ThreadPoolExecutor(1)
    assert executor_of(pool) is pool
    assert isinstance(executor_of(None), Executor)
    with pytest.raises(InputError, match="accepted: None, a concurrent"):
        executor_of("tcp://127.0.0.1:8786")


@pytest.mark.parametrize(("jobs", "scheduler"), [(0, None), (-1, None), (2, "tcp://127.0.0.1:1")])
def test_options_that_name_no_executor(jobs: int, scheduler: str | None) -> None:
    with pytest.raises(InputError), opened_executor(jobs, scheduler):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", ""])
def test_a_scheduler_that_is_not_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("mechdesign.engine.executors._SECONDS_TO_CONNECT", 1)
    with pytest.raises(InputError, match="there is no scheduler at"), opened_executor(scheduler=address):
        pass
