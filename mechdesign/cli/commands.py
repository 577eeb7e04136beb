"""The command group."""

from __future__ import annotations

import click

from mechdesign import __version__
from mechdesign.cli.analyze import analyze_command
from mechdesign.cli.audit import audit_command
from mechdesign.cli.common_options import with_common_options
from mechdesign.cli.compare import compare_command
from mechdesign.cli.design import design_command
from mechdesign.cli.estimate import estimate_command
from mechdesign.cli.histogram import histogram_command
from mechdesign.cli.key import key_command
from mechdesign.cli.plan import plan_command
from mechdesign.cli.privatize import privatize_command
from mechdesign.cli.report import report_command
from mechdesign.cli.schema import schema_command
from mechdesign.cli.sweep import sweep_command
from mechdesign.cli.verify import verify_command

_WIDEST = 110  # columns of a help text


class _InOrder(click.Group):
    """A group that lists its commands in the order in which they were added: that of a first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of the commands."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST})
def commands() -> None:
    """Design privacy mechanisms under pointwise maximal leakage (PML), and prove their guarantees.

    \b
    From counts of labels to private reports, and to estimates from them:
      mechdesign design --counts counts.csv --epsilon 1 --delta 1e-9 -o m.json
      mechdesign verify m.json
      mechdesign privatize records.csv --column answer --mechanism m.json -o reports.csv
      mechdesign estimate reports.csv --column answer --mechanism m.json

    `mechdesign COMMAND --help` tells what a command takes. Every command takes --json, -q and --verbose; the file name
    - is standard input or output.

    \b
    Exit status:
      0   done
      1   a claimed guarantee or bound is false
      2   bad input, or a file or standard output that cannot be written
      3   a solver failed, a limit was reached, memory ran out, or the
          command was interrupted (Ctrl-C or a signal to end)
      70  an internal error
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped


commands.add_command(design_command)
commands.add_command(verify_command)
commands.add_command(compare_command)
commands.add_command(sweep_command)
commands.add_command(analyze_command)
commands.add_command(plan_command)
commands.add_command(key_command)
commands.add_command(privatize_command)
commands.add_command(estimate_command)
commands.add_command(audit_command)
commands.add_command(histogram_command)
commands.add_command(report_command)
commands.add_command(schema_command)
with_common_options(commands, __version__)
