"""The command group, and the translation of errors to exit statuses."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

from mechdesign import __version__
from mechdesign.cli.audit import audit_command
from mechdesign.cli.compare import compare_command
from mechdesign.cli.design import design_command
from mechdesign.cli.estimate import estimate_command
from mechdesign.cli.histogram import histogram_command
from mechdesign.cli.plan import plan_command
from mechdesign.cli.privatize import privatize_command
from mechdesign.cli.verify import verify_command
from mechdesign.errors import MechdesignError, printable, shorten

_TRACEBACK = "MECHDESIGN_TRACEBACK"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mechdesign")
def commands() -> None:
    """Design privacy mechanisms under pointwise maximal leakage (PML), and prove what they promise.

    Exit status: 0 done; 1 a claimed guarantee or bound is false; 2 bad input; 3 a solver failed or a limit
    was reached; 70 an internal error.
    """


commands.add_command(design_command)
commands.add_command(verify_command)
commands.add_command(compare_command)
commands.add_command(plan_command)
commands.add_command(privatize_command)
commands.add_command(estimate_command)
commands.add_command(audit_command)
commands.add_command(histogram_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
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
