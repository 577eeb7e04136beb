"""Where tasks run: in this process, in a pool of processes, on a cluster, or on any `concurrent.futures.Executor`."""

from mechdesign.engine.executors import SerialExecutor, executor_of, opened_executor
from mechdesign.engine.tasks import Finished, run_tasks

__all__ = ["Finished", "SerialExecutor", "executor_of", "opened_executor", "run_tasks"]


def __dir__() -> list[str]:
    return __all__
