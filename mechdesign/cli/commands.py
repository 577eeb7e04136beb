"""The command group."""

from __future__ import annotations

import click

from mechdesign import __version__
from mechdesign.cli.analyze import analyze_command
from mechdesign.cli.audit import audit_command
from mechdesign.cli.compare import compare_command
from mechdesign.cli.design import design_command
from mechdesign.cli.estimate import estimate_command
from mechdesign.cli.histogram import histogram_command
from mechdesign.cli.key import key_command
from mechdesign.cli.plan import plan_command
from mechdesign.cli.privatize import privatize_command
from mechdesign.cli.report import report_command
from mechdesign.cli.sweep import sweep_command
from mechdesign.cli.verify import verify_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mechdesign")
def commands() -> None:
    """Design privacy mechanisms under pointwise maximal leakage (PML), and prove their guarantees.

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
