"""The process that runs inputs one after the other, with real file descriptors and under limits; run by `room`.

It stands on nothing but the package, so that it can be started by its path.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS = 20  # of one input; SIGPROF then ends the process, wherever it is
MEMORY_BYTES = 4 * 2**30  # of addresses, of which libraries reserve more than they use


def main() -> None:
    """Answer requests from the descriptors named on the command line until they are closed."""
    requests, answers = Connection(int(sys.argv[1]), writable=False), Connection(int(sys.argv[2]), readable=False)
    sys.path.insert(0, str(ROOT))
    from mechdesign.cli.entry_point import run

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    os.environ.update(NO_COLOR="1", COLUMNS="200")
    os.environ.pop("MECHDESIGN_TRACEBACK", None)
    _warn()
    while True:
        try:
            kind, argument, folder, streams = requests.recv()
        except EOFError:
            return
        os.chdir(folder)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        status, escaped = None, ""
        with _standard_streams(*streams):
            try:
                status = run(argument) if kind == "command" else _surface(*argument)
            except SystemExit as left:
                status = left.code
            except BaseException:  # noqa: BLE001 - whatever leaves the command line is what is looked for
                escaped = traceback.format_exc()
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.chdir("/")
        answers.send((status, escaped, time.process_time() - before))


def _warn() -> None:
    """Make warnings errors, as the tests of the package do."""
    warnings.simplefilter("error")
    for category in (DeprecationWarning, PendingDeprecationWarning):
        warnings.simplefilter("ignore", category)


def _surface(name: str, seed: str) -> int:
    sys.path.insert(0, str(Path(__file__).parent))
    import surface

    return surface.attack(name, seed)


@contextlib.contextmanager
def _standard_streams(stdin: str, stdout: str, stderr: str):
    """Put files in place of the standard streams: the descriptors, and Python's objects over them."""
    kept = [os.dup(number) for number in range(3)]
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, (path, flag) in enumerate(zip((stdin, stdout, stderr), flags, strict=True)):
        opened = os.open(path, flag, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    python = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = python
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


if __name__ == "__main__":
    main()
