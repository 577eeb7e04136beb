"""Standard output and error for commands: every text can be printed, and a failed write gives a clear error."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from mechdesign.errors import InputError, MechdesignError

_ASCII_SUPERSET = "iso8859-1"  # the same bytes for ASCII; click would write UTF-8 to a stream that says "ascii"


class _Escaping(io.TextIOWrapper):
    """A text stream over the bytes of another, with escapes in place of letters that its encoding lacks."""

    def __init__(self, stream: Any) -> None:
        self._only_ascii = codecs.lookup(stream.encoding or "utf-8").name == "ascii"
        super().__init__(
            stream.buffer,
            encoding=_ASCII_SUPERSET if self._only_ascii else stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
        )

    def write(self, text: str, /) -> int:
        """Write text, with escapes where they are needed."""
        shown = text.encode("ascii", "backslashreplace").decode() if self._only_ascii else text
        with self._telling():
            super().write(shown)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        with self._telling():
            super().flush()

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.let_go()
            self.failed(error)

    def failed(self, error: OSError) -> None:
        """Say that text could not be written."""
        if isinstance(error, BrokenPipeError):  # the reader went away, which the caller handles
            raise error
        raise InputError.cannot_write(
            f"cannot write to standard output: {error.strerror or error}; direct it to a place with room"
        ) from error

    def let_go(self) -> None:
        """Send what is buffered nowhere, so that the interpreter does not fail on it when it ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


class _EscapingError(_Escaping):
    """Standard error. If writing to it fails, a message cannot be shown, and only the exit status remains."""

    def failed(self, error: OSError) -> None:
        """Say nothing."""


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Let standard output and standard error take any text for as long as a command runs.

    Letters that an encoding lacks, and the bytes of a file name that is not UTF-8, are printed as escapes.

    Raises
    ------
    InputError
        From a write to standard output that fails, other than because its reader went away.
    """
    before = sys.stdout, sys.stderr
    # A closed stream is None, and a stream without bytes is left as it is.
    ours = [
        kind(stream) if isinstance(stream, io.TextIOWrapper) else None
        for kind, stream in zip(_KINDS, before, strict=True)
    ]
    try:
        for name, stream in zip(("stdout", "stderr"), ours, strict=True):
            if stream is not None:
                setattr(sys, name, stream)
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in ours:
            if stream is not None:
                stream.detach()  # otherwise the stream below would be closed with it


_KINDS: tuple[type[_Escaping], type[_Escaping]] = (_Escaping, _EscapingError)


def open_closed_streams() -> None:
    """Open standard streams that are closed on the null device, so that no file takes their place."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def print_error(error: MechdesignError | None) -> int:
    """Print an error in one line on standard error, with its code at the end, and return its exit status; 0 if None."""
    import click

    if error is None:
        return 0
    click.echo(f"Error: {error} [{error.code}]", err=True)
    return error.exit_status
