"""Tasks in flight: a function on many items, with each result as it comes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from mechdesign.engine.executors import OwnPool, SerialExecutor, is_of_dask
from mechdesign.errors import LimitError, MechdesignError, shorten

Item = TypeVar("Item")
Result = TypeVar("Result")

_MOST_IN_FLIGHT = 256  # keeps many workers busy, and a scheduler of millions of tasks small


@dataclass(frozen=True)
class Finished(Generic[Item, Result]):
    """A task that ended.

    Attributes
    ----------
    item : object
        What the task was about.
    result : object or None
        What the function returned; None if the task failed.
    error : MechdesignError or None
        Why it failed.
    """

    item: Item
    result: Result | None
    error: MechdesignError | None


def run_tasks(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    executor: Executor,
    enough: Callable[[], bool] = lambda: False,
) -> Generator[Finished[Item, Result], None, None]:
    """Yield what becomes of a function on each item, in the order in which tasks end.

    At most 256 tasks are in flight, so that items may be many and are taken as they are needed. If the caller stops,
    what has not begun is cancelled.

    Parameters
    ----------
    function : callable
        Of a module, since processes exchange it by name.
    items : iterable
        One task each.
    executor : concurrent.futures.Executor
        As `executor_of` returns it.
    enough : callable
        Whether no other task is to begin. Those that run are awaited all the same, so that nothing is cut off.

    Raises
    ------
    LimitError
        If the executor itself ends: a pool whose process was killed, a cluster whose scheduler is gone.

    Examples
    --------
    >>> [done.result for done in run_tasks(abs, [-1, 2], SerialExecutor())]
    [1, 2]
    """
    waiting = iter(items)
    most = 1 if isinstance(executor, SerialExecutor) else _MOST_IN_FLIGHT
    flying: dict[Future[Result], Item] = {}
    try:
        while True:
            if enough():
                flying = {future: item for future, item in flying.items() if not future.cancel()}
                waiting = iter(())
            for item in islice(waiting, most - len(flying)):
                flying[_submitted(executor, function, item)] = item
            if not flying:
                return
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield _finished(flying.pop(future), future)
    finally:
        # A pool that is ended while it has futures that others cancelled prints a traceback (Python 3.11).
        for future in () if isinstance(executor, OwnPool) else flying:
            future.cancel()


def _submitted(executor: Executor, function: Callable[[Item], Result], item: Item) -> Future[Result]:
    try:
        return executor.submit(function, item)
    except Exception as error:
        if isinstance(error, RuntimeError) and _is_importing_the_script():
            # What started this process says the rest. An error would print a traceback for each process. The line is
            # written at once, as other processes write theirs: SystemExit would write its end by itself.
            sys.stderr.write(
                "mechdesign: each new process imports the script, which would start processes again; put what the "
                'script runs under if __name__ == "__main__":\n'
            )
            raise SystemExit(1) from None
        if isinstance(error, RuntimeError) or is_of_dask(error):  # a pool or a client that is broken or shut down
            raise _ended(error) from error
        raise


def _is_importing_the_script() -> bool:
    """Return whether this process was started by another one, and still imports the script that the other one runs.

    While `multiprocessing` imports it, it has the name ``__mp_main__`` alone; afterwards it is ``__main__`` too.
    """
    script = sys.modules.get("__mp_main__")
    return script is not None and script is not sys.modules.get("__main__")


def _finished(item: Item, future: Future[Result]) -> Finished[Item, Result]:
    try:
        return Finished(item, future.result(), None)
    except MechdesignError as error:
        return Finished(item, None, error)
    except (BrokenExecutor, CancelledError) as error:
        raise _ended(error) from error
    except Exception as error:
        if _is_of_killed_workers(error):
            ended = LimitError.workers_ended(
                f"the workers that ran {shorten(item)} were killed one by one; give them memory"
            )
            return Finished(item, None, ended)
        raise


def _ended(error: BaseException) -> LimitError:
    reason = shorten(str(error) or type(error).__name__, 120)
    return LimitError.workers_ended(
        f"the executor ended before its tasks did ({reason}): a process was killed or ended with a message of its own, "
        "or a scheduler went away; what is finished stays, and the same command goes on from there"
    )


def _is_of_killed_workers(error: Exception) -> bool:
    """Return whether Dask gave a task up because several workers died while they ran it."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(error, distributed.KilledWorker)
