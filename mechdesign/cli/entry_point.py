"""The entry point of the command line.

Slow imports are inside functions, so that an interruption during an import ends as any other does.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_INTERRUPTED = 3


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    from mechdesign.cli.streams import open_closed_streams

    open_closed_streams()
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        with _interruptible():
            from mechdesign.cli.status import status_of
            from mechdesign.cli.streams import standard_streams

            with standard_streams():
                return status_of(arguments)
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("Error: stopped by a signal; run the command again [interrupted]\n")
        return _INTERRUPTED


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP (of a terminal that closes) interrupt as Ctrl-C does, so that half a file is removed.

    A signal for which the program has set a handler keeps it.
    """
    is_main = threading.current_thread() is threading.main_thread()  # other threads may not set handlers
    found = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")) if is_main else ()
    taken = [number for number in found if number is not None and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
