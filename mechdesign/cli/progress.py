"""Progress on standard error, for commands that take more than a second."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.status import Status

from mechdesign.cli.common_options import is_quiet, is_verbose
from mechdesign.cli.terminal import console, is_terminal

_PATIENCE = 1.0
_PAUSE = 5.0


class Progress:
    """A context manager that shows the steps of a command: it is called with one line of text for each longer step.

    On a terminal a spinner shows the current step. Elsewhere each step is printed as a line; a step that differs from
    the last only in its numbers is printed every few seconds. A command that takes less than a second shows nothing.
    With --verbose every step is a line, from the first on; with --quiet nothing is shown.
    """

    def __init__(self) -> None:
        self._quiet, self._verbose = is_quiet(), is_verbose()
        self._console = console(stderr=True)
        self._spins = is_terminal(self._console) and not self._verbose
        self._status: Status | None = None
        self._step = ""
        self._started = time.monotonic()
        self._printed_kind, self._printed_at = "", 0.0
        self._lock = threading.Lock()
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if not self._verbose:
            self._timer.start()
        return self

    def __call__(self, step: str) -> None:
        """Say that a step begins."""
        self._step = step
        if self._verbose or time.monotonic() - self._started >= _PATIENCE:
            self._show()

    def _show(self) -> None:
        with self._lock:
            if not self._step or self._quiet:
                return
            if not self._spins:
                self._print_line()
            elif self._status is None:
                self._status = self._console.status(self._step)
                self._status.start()
            else:
                self._status.update(self._step)

    def _print_line(self) -> None:
        """Print a step; if it equals the last up to the colon, only every few seconds."""
        now, kind = time.monotonic(), self._step.partition(":")[0]
        if self._verbose or kind != self._printed_kind or now - self._printed_at >= _PAUSE:
            self._console.print(f"{now - self._started:6.1f} s  {self._step}", soft_wrap=True)
            self._printed_kind, self._printed_at = kind, now

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._status is not None:
                self._status.stop()
            self._step = ""
