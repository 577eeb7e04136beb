"""Run pytest in a process that is forked from one that has imported what takes long."""

import multiprocessing
import os
import sys
import time

NO_TESTS = 5  # the status of pytest for a module without doctests
SLOW_TO_IMPORT = ["pytest", "hypothesis", "numpy", "scipy.stats", "scipy.optimize", "mpmath", "flint"]


def _session(arguments):
    import pytest

    sys.dont_write_bytecode = True  # changes may come faster than the clock of files ticks
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    imported = "ignore::pytest.PytestAssertRewriteWarning"  # its plugins are, before it starts
    sys.exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-W", imported, *arguments])))


def forks():
    """Return the context of multiprocessing that `passes` needs; its server starts in the folder of the first call."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SLOW_TO_IMPORT)
    return context


def passes(context, files, most):
    """Return whether the tests of files pass within a number of seconds, and how many they took."""
    start = time.monotonic()
    process = context.Process(target=_session, args=([str(file) for file in files],))
    process.start()
    process.join(most)
    if process.is_alive():
        process.kill()
        process.join()
    return process.exitcode in (0, NO_TESTS), time.monotonic() - start
