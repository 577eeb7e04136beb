"""The translation of errors to exit statuses.

What takes long to import is imported inside, so that an interruption meanwhile ends as any other.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_TRACEBACK = "MECHDESIGN_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        with _interruptible():
            return _run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("Error: interrupted\n")
        return 3


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals to end, also of a terminal that closes, interrupt as Ctrl-C does, so that half a file is removed.

    A program that has other plans for these signals keeps them.
    """
    is_main = threading.current_thread() is threading.main_thread()  # others may not say what signals do
    found = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")) if is_main else ()
    taken = [number for number in found if number is not None and signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _run(arguments: Sequence[str] | None) -> int:
    import click

    from mechdesign.cli.commands import commands
    from mechdesign.errors import MechdesignError, printable, shorten

    try:
        status = commands.main(args=arguments, prog_name="mechdesign", standalone_mode=False)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = "" if context is None else f" (see {context.command_path} --help)"
        click.echo(f"Error: {error.format_message()}{hint}", err=True)
        return error.exit_code
    except MechdesignError as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        return error.exit_status
    except (click.Abort, KeyboardInterrupt):
        click.echo("Error: interrupted", err=True)
        return 3
    except SystemExit as left:
        if left.code != 1:
            raise
        # So click and rich leave when the reader of standard output went away.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the outermost frame: an internal error has a status of its own
        if os.environ.get(_TRACEBACK):
            traceback.print_exc()
        message = shorten(str(error), 200)[1:-1]
        click.echo(
            f"Error: internal error ({type(error).__name__}: {message}); set {_TRACEBACK}=1 to see the traceback "
            "and please report it",
            err=True,
        )
        return 70
    return status if isinstance(status, int) else 0
