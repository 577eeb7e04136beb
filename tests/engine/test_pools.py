"""Pools of processes: they end with the block that opened them, and an error does not wait for tasks."""

import multiprocessing
import time

import pytest

from mechdesign.engine import opened_executor
from mechdesign.errors import InputError

pytestmark = pytest.mark.slow


def fail_beside_tasks():
    with opened_executor(2) as pool:
        assert pool.submit(abs, -1).result() == 1
        pool.submit(time.sleep, 600)
        pool.submit(time.sleep, 600)
        raise InputError("the disk is full")


def test_an_error_ends_tasks_that_run_at_once():
    others = set(multiprocessing.active_children())
    started = time.monotonic()
    with pytest.raises(InputError, match="disk"):
        fail_beside_tasks()
    assert time.monotonic() - started < 300
    assert set(multiprocessing.active_children()) <= others


def test_tasks_end_before_a_block_that_ends_well():
    with opened_executor(2) as pool:
        running = pool.submit(time.sleep, 0.5)
        assert pool.submit(abs, -1).result() == 1
    assert running.done()
