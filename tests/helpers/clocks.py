"""Clocks for tests of time limits: a busy machine does not change them."""

import time

import numpy as np

_QUIET = 0.034  # processor seconds of `_work` on the two quiet cores on which limits in seconds were measured


class Clock:
    """Shows so many seconds more whenever it is read.

    Parameters
    ----------
    step : float
        The seconds; with 0 it stands still.
    """

    def __init__(self, step=1.0):
        self.now, self.step = 1000.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def limit_work(monkeypatch):
    """Let time limits count processor time, whatever else the machine does."""
    monkeypatch.setattr(time, "monotonic", time.process_time)


def slowness():
    """Return how many times as long as where limits were measured this machine takes for one piece of work, 1 or more.

    Processor time too grows where others share caches and cores: a limit in seconds is multiplied by this.
    """
    return max(1.0, max(_work() for _ in range(3)) / _QUIET)


def _work():
    """Return the processor seconds of some linear algebra and some loops."""
    started = time.process_time()
    matrix = np.arange(90_000.0).reshape(300, 300) % 7 + 50 * np.eye(300)
    for _ in range(6):
        np.linalg.solve(matrix, matrix)
    sum(k * k % 7 for k in range(200_000))
    return time.process_time() - started
