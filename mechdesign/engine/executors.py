"""Executors: what runs tasks, given as an object or named on the command line."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, ParamSpec, TypeVar

from mechdesign.errors import InputError, shorten
from mechdesign.version import __version__

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS_TO_CONNECT = 10
_PACKAGE = "mechdesign"
_ACCEPTED = "None, a concurrent.futures.Executor, or a dask.distributed.Client"


class SerialExecutor(Executor):
    """Runs each task in this process, when it is submitted.

    Examples
    --------
    >>> SerialExecutor().submit(pow, 2, 5).result()
    32
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a task, and return its result or its error as a future."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - a future carries the error of its task, whatever it is
            future.set_exception(error)
        return future


def executor_of(given: Any) -> Executor:
    """Return the executor that an argument ``executor`` means.

    Parameters
    ----------
    given : None, concurrent.futures.Executor or dask.distributed.Client
        None runs tasks in this process, one after the other. A pool of threads gains nothing where Python computes.

    Raises
    ------
    InputError
        For anything else, and for a cluster that does not have this version of mechdesign.

    Examples
    --------
    >>> type(executor_of(None)).__name__
    'SerialExecutor'
    """
    if given is None:
        return SerialExecutor()
    if isinstance(given, Executor):
        return given
    if _is_client(given):
        _check_versions(given)
        # Every task is its own, even if another one has the same function and the same arguments.
        executor: Executor = given.get_executor(pure=False)
        return executor
    raise InputError.wrong_type(f"the executor is {shorten(given)}; accepted: {_ACCEPTED}")


@contextlib.contextmanager
def opened_executor(jobs: int | None = None, scheduler: str | None = None) -> Iterator[Executor]:
    """Open the executor that the options of a command name, and close it at the end.

    Parameters
    ----------
    jobs : int, optional
        Number of processes on this machine; 1 is this process.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``.

    Raises
    ------
    InputError
        If both are given, if there is no such scheduler, or if Dask is not installed.
    """
    if jobs is not None and scheduler is not None:
        raise InputError.conflicting_arguments("both jobs and a scheduler are given; give one of them")
    if scheduler is not None:
        with _connected(scheduler) as client:
            yield executor_of(client)
    elif jobs is None or jobs == 1:
        yield SerialExecutor()
    elif jobs < 1:
        raise InputError.not_a_whole_number(f"the number of jobs is {jobs}; accepted: 1 or more")
    else:
        with _pool(jobs) as pool:
            yield pool


class _Process(SpawnProcess):
    """A process that does not see Ctrl-C, not even before it has begun: the one that opened it ends it."""

    def start(self) -> None:
        """Start the process, which inherits what signals are blocked."""
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            super().start()
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Context(SpawnContext):
    """Spawns processes: one that is forked while threads run may wait forever."""

    Process = _Process


class OwnPool(ProcessPoolExecutor):
    """A pool of `opened_executor`, which ends its processes at an error, and cancels at its end what has not begun."""

    def __init__(self, jobs: int) -> None:
        self._others = set(multiprocessing.active_children())
        super().__init__(jobs, mp_context=_Context(), initializer=_begin_process, initargs=(jobs,))

    def end(self) -> None:
        """End all processes at once, whatever they are doing, and wait until they are gone."""
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()
        self.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _pool(jobs: int) -> Iterator[Executor]:
    """Open a pool of processes, which end at once if the block ends with an error or an interruption."""
    pool = OwnPool(jobs)
    try:
        yield pool
    except BaseException:
        pool.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_process(jobs: int) -> None:
    """Let a process of a pool end with the one that opened it, which alone answers to Ctrl-C.

    It takes its share of the cores for files, as a worker of Dask does: with all of them two processes on two cores
    took a sixth more processor time for the same Parquet files.
    """
    import pyarrow as pa

    pa.set_cpu_count(max(1, (os.cpu_count() or 1) // jobs))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler for as long as the block runs."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError.missing_package(
            'a scheduler needs Dask, which is not installed; install it by pip install "mechdesign[distributed]"'
        ) from None
    with _silent():
        try:
            client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError, ImportError) as error:  # no answer; an address that cannot be read
            reason = shorten(str(error) or type(error).__name__, 120)
            raise InputError.cluster_not_ready(
                f"there is no scheduler at {shorten(address)} ({reason}); give the address that dask scheduler prints"
            ) from None
        with client:
            yield client


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Keep the loggers of Dask from printing tracebacks when a scheduler goes away, which an error says in one line.

    After an error they stay silent, since the threads of Dask may still have something to say then.
    """
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in {"distributed", "tornado"}]
    loggers = [logger for logger in map(logging.getLogger, names) if not logger.disabled]
    for logger in loggers:
        logger.disabled = True
    yield
    for logger in loggers:
        logger.disabled = False


def _check_versions(client: Any) -> None:
    """Refuse a cluster whose scheduler or workers have another version of this package, or none.

    Workers that join later are not looked at.
    """
    try:
        found = client.get_versions(packages=[_PACKAGE])
    except Exception as error:
        if isinstance(error, OSError | RuntimeError) or is_of_dask(error):
            raise InputError.cluster_not_ready(
                f"the scheduler does not answer ({shorten(str(error) or type(error).__name__, 120)}); start it, or "
                "give another address"
            ) from error
        raise
    for place, installed in (("the scheduler", found["scheduler"]), *found["workers"].items()):
        version = ((installed or {}).get("packages") or {}).get(_PACKAGE)
        if version != __version__:
            where = place if place == "the scheduler" else f"the worker {place}"
            has = f"does not have {_PACKAGE}" if version is None else f"has {_PACKAGE} {shorten(version)}"
            raise InputError.cluster_not_ready(f"{where} {has}; install {_PACKAGE} {__version__} there, as here")


def is_of_dask(error: BaseException) -> bool:
    """Return whether Dask raised an error about itself, such as a connection that is closed."""
    return type(error).__module__.partition(".")[0] == "distributed"


def _is_client(given: Any) -> bool:
    """Return whether an object is a Dask client. Dask is imported already if it is."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(given, distributed.Client)
