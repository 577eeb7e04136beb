"""Samples of strings as commands are given them, and what all commands for windows share."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mechdesign.cli.json_output import Nearest, Printed, Whole
from mechdesign.cli.shared_options import NUMBER
from mechdesign.data.counts import read_counts
from mechdesign.data.fields import Number
from mechdesign.data.inputs import readable
from mechdesign.errors import InputError

if TYPE_CHECKING:
    from mechdesign.windows.strings import Form


class StringsPromised(Printed):
    """What windows promise, and the leakage that is proved of them."""

    epsilon: Nearest
    delta: Number | None
    cap: Nearest | None = None
    samples: Whole
    seeds: Whole
    buckets: Whole
    windows: Whole
    threshold: Whole | None = None
    leakage: Number
    prefixes: Sequence[Whole] | None = None


@dataclass(frozen=True)
class Sample:
    """Where strings are counted: a column of records, or a table of counts."""

    data: str | None
    table: str | None
    column: str | None
    header: bool

    def __post_init__(self) -> None:
        if self.data is not None and self.table is not None:
            raise click.UsageError("--data and --counts are both given; give one")
        if (self.data is None) != (self.column is None):
            raise click.UsageError("--data FILE and --column COLUMN belong together")

    @property
    def given(self) -> bool:
        """Whether there is one."""
        return self.data is not None or self.table is not None

    @property
    def title(self) -> str:
        """What it is called in a summary."""
        return self.table or f"{self.data}, column {self.column}"

    def counts(self, form: Form = "nfc") -> dict[str, int]:
        """Return the counts by string."""
        from mechdesign.windows.columns_of_strings import count_strings

        if self.data is not None and self.column is not None:
            with readable(self.data) as place:
                return count_strings(place, self.column, form, header=self.header)
        with readable(self.table or "") as place:
            return string_counts(place, header=self.header)


def string_counts(path: Any, *, header: bool = True) -> dict[str, int]:
    """Return the counts of a CSV file by string, which may be longer than labels, and hold line ends."""
    from mechdesign.windows.strings import as_given

    return read_counts(path, header=header, label=as_given)


reference_option = click.option(
    "--reference",
    metavar="FILE",
    help="For windows: counts of the sample that proves, string and count (CSV), as `design --evidence` writes them.",
)
drift_option = click.option(
    "--drift",
    type=NUMBER,
    metavar="D",
    help="For windows: the length of the vector of changes of shares since the sample, from which collisions follow.",
)


def sample_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Sample`, which it receives as ``sample``."""

    def wrapped(*, data: str | None, counts: str | None, column: str | None, no_header: bool, **values: Any) -> Any:
        return command(sample=Sample(data, counts, column, not no_header), **values)

    return decorated(
        wrapped,
        command,
        click.option(
            "--data", metavar="FILE", help="For windows: the records of the sample, counted anew; or a folder."
        ),
        click.option("--counts", metavar="FILE", help="For windows: the counts of the sample, string and count."),
        click.option("--column", metavar="COLUMN", help="The column of --data."),
        click.option("--no-header", is_flag=True, help="The file of the sample has no line of column names."),
    )


def decorated(
    wrapped: Callable[..., Any], command: Callable[..., Any], *options: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Return a command with options, of which the function around it makes one argument."""
    if wrapped is not command:
        wrapped.__doc__ = command.__doc__
        wrapped.__dict__.update(vars(command))  # the options that stand below
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def refuse_others(accepted: set[str], what: str) -> None:
    """Refuse options of the command that are given and mean nothing here."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if (
            name not in accepted
            and parameter.expose_value
            and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        ):
            given = parameter.secondary_opts if context.params[name] is False else parameter.opts
            raise click.UsageError(f"{given[0]}: not accepted beside {what}; leave it out")


def refuse_given(names: set[str], why: str) -> None:
    """Refuse options of these names that are given."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name in names and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]}: {why}")


def reference_shares(path: str, mechanism: Any) -> dict[str, float]:
    """Return the shares of strings among the samples that prove, from the file of their counts."""
    from mechdesign.windows.strings import counted

    shares: dict[str, float] = mechanism.reference_of(counted(string_counts(path), mechanism.form), path)
    return shares


def csv_table(header: Sequence[str], rows: Any) -> bytes:
    """Return a table as CSV in UTF-8, which is read back as it is.

    Raises
    ------
    InputError
        For a NUL character, which no CSV file holds.
    """
    lines = io.StringIO(newline="")
    plain = csv.writer(lines, lineterminator="\n")
    quoted = csv.writer(lines, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a writer leaves CR without quotes
    for row in (header, *rows):
        (quoted if any("\r" in str(field) for field in row) else plain).writerow(row)
    if "\0" in (table := lines.getvalue()):
        raise InputError.bad_label(
            "a string holds a NUL character, which no CSV file holds; take it out of the records"
        )
    return table.encode()
