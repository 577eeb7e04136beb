"""What commands print: facts and tables for people, one JSON object for programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import click
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mechdesign.cli.common_options import is_quiet
from mechdesign.cli.terminal import color_wanted, console
from mechdesign.errors import printable
from mechdesign.utility import Objective

_TWO_COLUMNS = 60  # columns of a terminal, from which on names and values stand beside each other
_NAMES, _LEAST_NAMES = 30, 16  # columns for the names of rows: before headers are folded, and at least
show_values_option = click.option(
    "--show-values",
    is_flag=True,
    help="Print refused values in error messages. They may be personal data; without this option a message names the "
    "row only.",
)


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line for people, unless the command is to be quiet."""
    if not is_quiet():
        click.echo(text, err=err, color=color_wanted())


def print_facts(facts: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Print names and values, one pair a line; on standard error where standard output holds data.

    On a narrow terminal a value stands below its name.
    """
    if console().width < _TWO_COLUMNS:
        _print_stacked(facts, err=err)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(printable(name)), Text(printable(value)))
    print_rich(table, err=err)


def _print_stacked(facts: Sequence[tuple[str, str]], *, err: bool) -> None:
    table = Table.grid()
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(printable(name), style="bold"))
        table.add_row(Padding(Text(printable(value), overflow="fold"), (0, 0, 0, 2)))
    print_rich(table, err=err)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    err: bool = False,
    texts: Collection[int] = (0,),
    ends: Collection[int] = (),
) -> None:
    """Print a table in which only texts and headers are folded, never a number.

    Parameters
    ----------
    columns, rows : sequences
        The headers, and the cells of each row.
    title : str
        A line above; none if empty.
    err : bool
        Whether to print on standard error.
    texts : collection of int
        The columns that hold texts; the others hold numbers. Where a terminal is narrower than the numbers and sixteen
        letters of each text, it folds the lines itself.
    ends : collection of int
        Rows below which a line is drawn.
    """
    cells = [*columns], *([printable(cell) for cell in row] for row in rows)
    natural = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    least = [max(map(cell_len, [*words.split(), *(row[j] for row in cells[1:])])) for j, words in enumerate(columns)]
    numbers = [j for j in range(len(columns)) if j not in texts]
    room = console().width - 3 * len(columns) - 1
    wide = sum(natural[j] for j in numbers) + sum(min(natural[j], _NAMES) for j in texts) <= room
    widths = natural if wide else least
    left = (room - sum(widths[j] for j in numbers)) // max(1, len(texts))
    table = Table(title=title or None, title_justify="left", highlight=False)
    for j, name in enumerate(columns):
        if j in texts:
            table.add_column(Text(name), overflow="fold", width=min(natural[j], max(_LEAST_NAMES, left)))
        else:
            table.add_column(Text(name), overflow="fold", width=widths[j], justify="right")
    for i, row in enumerate(cells[1:]):
        table.add_row(*map(Text, row), end_section=i in ends)
    needed = sum(column.width or 0 for column in table.columns) + 3 * len(columns) + 1
    print_rich(table, err=err, least=needed)


def print_rich(table: Table, *, err: bool = False, least: int = 0) -> None:
    """Print a table without the spaces that pad its lines, in as many columns as there are, or at least needed."""
    printer = console()
    printer.width = max(printer.width, least)
    with printer.capture() as capture:
        printer.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()), err=err)


def amount(value: float, unit: str) -> str:
    """Return a number with its unit, where it has one."""
    return f"{value:.10g}" + ("" if unit == "1" else f" {unit}")


def bound_in_words(objective: Objective) -> str:
    """Return the name of the bound of an objective."""
    return objective.bound_name.replace("_", " ")
