"""The exit status of a command, and the line that describes an error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from mechdesign.cli.commands import commands
from mechdesign.cli.streams import print_error
from mechdesign.errors import InputError, LimitError, MechdesignError, printable, shorten

_TRACEBACK = "MECHDESIGN_TRACEBACK"
_HALF = 200  # characters at either end of a long message
_OPTIONS = {
    "header=False": "--no-header",
    "the records (records=)": "--data",
    "(show_values": "(--show-values",
    "taken for (unknown)": "taken for (--unknown)",
    "taken for (missing)": "taken for (--missing)",
    "overwrite=True": "--overwrite",
    "probabilities=True": "--probabilities",
}


def status_of(arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit status, after printing an error in one line on standard error.

    With ``--json`` the error is printed as an object on standard output too, where the object of a result would be.
    """
    try:
        _check_nul(arguments or ())
        status = commands.main(args=arguments, prog_name="mechdesign", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of standard output went away
        return 0
    except SystemExit as left:
        if left.code != 1:
            raise
        return 0  # click and rich exit with 1 when the reader of standard output went away
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(f"Error: {error.format_message()}", err=True)
        return InputError.exit_status
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outermost frame: internal errors have a status
        described = _described(error)
        # The error may be that the arguments cannot be read.
        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            _print_json(described)
        return print_error(described)
    return status if isinstance(status, int) else 0


def _check_nul(arguments: Sequence[str]) -> None:
    """Refuse a NUL, which no system passes to a program, so that it comes from a program that calls `run`."""
    for argument in arguments:
        if "\0" in argument:
            raise InputError.usage(
                f"the argument {shorten(argument)} has a NUL at position {argument.index(chr(0)) + 1}; "
                "give text without it"
            )


def _print_json(error: MechdesignError) -> None:
    """Print an error as JSON on standard output; not where that cannot be written, or where packages are missing."""
    with suppress(ImportError, InputError, OSError):
        from mechdesign.cli.json_output import ErrorOutput, Failure, print_output

        print_output(ErrorOutput(error=Failure(code=error.code, message=str(error))))


def _described(error: BaseException) -> MechdesignError:
    """Return the error that the command line shows for any error."""
    known: MechdesignError
    if isinstance(error, MechdesignError):
        known = error.reworded(_in_options(printable(str(error))))
    elif isinstance(error, click.ClickException):
        known = InputError.usage(_usage(error))
    elif isinstance(error, click.Abort | KeyboardInterrupt):
        known = LimitError.interrupted("stopped by a signal; run the command again")
    elif isinstance(error, MemoryError):
        known = LimitError.out_of_memory("out of memory; give smaller inputs, or run where there is more")
    elif isinstance(error, OSError):
        known = _refusal(error)
    elif isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("mechdesign"):
        message = f"the package {error.name} is not installed, which this command needs"
        known = LimitError.incomplete_installation(f"{message}; pip install mechdesign installs all packages")
    else:
        if os.environ.get(_TRACEBACK):
            traceback.print_exception(error)
        text = shorten(str(error), 200)[1:-1]
        message = f"internal error ({type(error).__name__}: {text}); set {_TRACEBACK}=1 to see the traceback"
        known = MechdesignError.internal_error(f"{message} and please report it")
    return known


def _usage(error: click.ClickException) -> str:
    """Return what is wrong with the arguments."""
    message, context = error.format_message(), getattr(error, "ctx", None)
    return printable(_cut(message)).rstrip(".") + ("" if context is None else f"; see {context.command_path} --help")


def _cut(message: str) -> str:
    """Return a message of click, which holds values at full length, without its middle where it is long."""
    return message if len(message) <= 2 * _HALF else f"{message[:_HALF]} ... {message[-_HALF:]}"


def _in_options(message: str) -> str:
    """Return a message with the options of the command line instead of the parameters of Python."""
    for parameter, option in _OPTIONS.items():
        message = message.replace(parameter, option)
    return message


def _refusal(error: OSError) -> InputError:
    """Return the error for one of the operating system that no command handles itself."""
    try:
        Path.cwd()
    except OSError as gone:
        return InputError.cannot_read(f"cannot use the working folder: {gone.strerror}; change to a folder that exists")
    where = "a file" if error.filename is None else printable(str(error.filename))
    return InputError.cannot_read(
        f"cannot use {where}: {error.strerror or error}; give paths that can be read and written"
    )
