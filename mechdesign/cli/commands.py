"""The command group: what commands there are, each imported when it is asked for."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from importlib import import_module

import click

from mechdesign.cli.common_options import CheckedGroup, common_options, with_common_options
from mechdesign.version import __version__

_WIDEST = 110  # columns of a help text


# A new command is a module `mechdesign.cli.NAME` with a `NAME_command`, and a line here: its name and what it does. The
# order is that of a first use.
_SUMMARIES = {
    "design": "Design the best mechanism for an estimate, and prove it.",
    "table": "Design the table that publishes a column with the same categories (PRAM).",
    "methods": "Show which methods of design cover a problem, and why others do not.",
    "verify": "Prove the claims of a mechanism file again.",
    "compare": "Show the design beside randomized response and LDP.",
    "sweep": "Solve a grid of problems, in processes or on a cluster.",
    "analyze": "Show what any mechanism leaks, and what is possible at its leakage.",
    "plan": "Compute samples, epsilon, epsilon' or delta; or how many reports are enough.",
    "key": "Make the key of permanent reports.",
    "privatize": "Replace a column of records by private reports.",
    "estimate": "Estimate the frequencies behind reports.",
    "heavy-hitters": "Find frequent strings from reports about prefixes, without a list of candidates.",
    "export": "Write the matrix of a table for another program.",
    "audit": "Draw reports, and compute a lower bound on their leakage.",
    "histogram": "Release a histogram: counts with noise, and their guarantee.",
    "report": "Write a page for people about a mechanism, or about a released histogram.",
    "schema": "Print the JSON Schema of a file or of an output.",
}
_ELSEWHERE = {"heavy-hitters": "windows_heavy_hitters", "table": "table_command", "export": "table_export"}


class _Imported(UserDict[str, click.Command]):
    """Commands by name, each imported when it is asked for, so that none waits for what the others import."""

    def __missing__(self, name: str) -> click.Command:
        if name not in _SUMMARIES:
            raise KeyError(name)
        module = import_module(f"mechdesign.cli.{_ELSEWHERE.get(name, name)}")
        made: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
        self[name] = with_common_options(made, __version__)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in _SUMMARIES

    def __iter__(self) -> Iterator[str]:
        return iter(_SUMMARIES)

    def __len__(self) -> int:
        return len(_SUMMARIES)


class _InOrder(CheckedGroup):
    """A group that lists its commands in their order, and without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of the commands."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - likewise
        """Write the list of the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_SUMMARIES.items()))


@click.group(
    cls=_InOrder,
    commands=_Imported(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST},
)
def commands() -> None:
    """Design privacy mechanisms under pointwise maximal leakage (PML), and prove their guarantees.

    \b
    From counts of categories to private reports, and to estimates from them:
      mechdesign design --counts counts.csv --epsilon 1 --delta 1e-9 -o m.json
      mechdesign verify m.json
      mechdesign privatize records.csv --column answer --mechanism m.json -o r.csv
      mechdesign estimate r.csv --column answer --mechanism m.json

    `mechdesign COMMAND --help` tells what a command takes. Every command takes --json, -q and --verbose; the file name
    - is standard input or output. With --json a command that fails prints its error as one JSON object too.

    \b
    Exit status:
      0   done
      1   a claimed guarantee or bound is false
      2   bad input, or a file or standard output that cannot be written
      3   a solver failed, a limit was reached, memory ran out, or the
          command was interrupted (Ctrl-C or a signal to end)
      70  an internal error
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped


commands.params += common_options(__version__)
