"""``mechdesign table``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Promised, Text, Titled, print_output
from mechdesign.cli.output import amount, print_facts, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import WHOLE
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_sample import decorated
from mechdesign.data.compound import count_cells
from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.csv_blocks import field_count_error, rows
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending
from mechdesign.data.inputs import readable
from mechdesign.data.labels import canonical_label
from mechdesign.data.reading import check_regular
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.exact import rational
from mechdesign.optimize import TableDesign, TableProblem
from mechdesign.optimize.tables.table_design import solve_table
from mechdesign.uncertainty import L1Ball

_MOST_LOSS = 1 << 24  # bytes


class TableOutput(Promised, Titled):
    """`mechdesign table`."""

    carries = "mechdesign/table/1"

    objective: str
    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    gap: Number
    certified: bool
    unchanged: Sequence[Number]
    seconds: Number
    output: Text | None


@dataclass(frozen=True)
class TableCounts:
    """The options that say which column is published, and what its counts are."""

    counts: str | None
    data: str | None
    column: str | None
    columns: str | None
    no_header: bool
    show_values: bool

    def read(self) -> tuple[dict[str, int], tuple[str, ...], str]:
        """Return the counts, the columns that are published together, and a title."""
        if (self.counts is None) == (self.data is None):
            raise click.UsageError("give one of --counts FILE and --data FILE with --column or --columns")
        shown: dict[str, Any] = {"header": not self.no_header, "show_values": self.show_values}
        if self.data is None:
            if self.column is not None or self.columns is not None:
                raise click.UsageError("--column and --columns belong to --data; a file of counts has its own two")
            with readable(self.counts or "") as place:
                return dict(read_counts(place, **shown)), (), str(place)
        if (self.column is None) == (self.columns is None):
            raise click.UsageError("--data needs one of --column, and --columns for several published together")
        with readable(self.data) as place:
            if self.column is not None:
                return count_column(place, self.column, **shown), (), f"{place}, column {self.column}"
            names = tuple((self.columns or "").split(","))
            if len(names) < 2:
                raise click.UsageError("--columns needs several names with commas between them; for one give --column")
            return count_cells(place, names, **shown), names, f"{place}, columns {self.columns}"


_COUNT_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--counts", metavar="FILE", help="A CSV of two columns, category and count: the counts of the file."),
    click.option("--data", metavar="FILE", help="The file itself: CSV or Parquet, or a folder of such files."),
    click.option("--column", metavar="COLUMN", help="With --data: a name, or an index from 0 with --no-header."),
    click.option(
        "--columns",
        metavar="A,B,...",
        help="With --data: publish these columns together, by one table for their combinations that occur. Tables for "
        "single columns leak more together than the sum of their epsilons.",
    ),
    click.option("--no-header", is_flag=True, help="The CSV file has no line of column names."),
    show_values_option,
)


def _count_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `TableCounts`, which it receives as ``source``."""

    def wrapped(**values: Any) -> Any:
        source = TableCounts(**{name: values.pop(name) for name in TableCounts.__dataclass_fields__})
        return command(source=source, **values)

    return decorated(wrapped, command, *_COUNT_OPTIONS)


@click.command("table")
@_count_options
@click.option("--epsilon", metavar="E", required=True, help='Privacy parameter in nats: a decimal, or "log(9/8)".')
@click.option("--delta", metavar="D", help="The counts are a sample: how likely they mislead, in [0, 1).")
@click.option("--radius", metavar="R", help="l1 radius in [0, 2] around the counts, instead of --delta.")
@click.option("--known", is_flag=True, help="Instead of --delta: the counts are the distribution itself.")
@click.option("--cap", metavar="C", help="Keep local differential privacy with C too, whatever anybody knows.")
@click.option("--free", is_flag=True, help="Do not ask for invariance: expected counts may change.")
@click.option("--floor", metavar="SHARE", help="At least this share of the records of each category stays unchanged.")
@click.option(
    "--floor-of",
    nargs=2,
    metavar="CATEGORY SHARE",
    multiple=True,
    help="The same for one category, instead of --floor for all; may be repeated.",
)
@click.option(
    "--forbid",
    nargs=2,
    metavar="FROM TO",
    multiple=True,
    help="Never publish the first category as the second one; may be repeated.",
)
@click.option(
    "--loss",
    metavar="FILE",
    help="Make the mean of this loss as small as possible: a CSV with a row for each category, its name first, and "
    "a column for each category, as the header says. By default as many records as possible stay unchanged.",
)
@click.option("--bits", type=WHOLE, default=52, show_default=True, help="Probabilities are multiples of 2^-BITS.")
@click.option("-o", "--output", metavar="FILE", help="Write the table: .json or .npz; - is JSON on standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def table_command(
    *,
    source: TableCounts,
    epsilon: str,
    delta: str | None,
    radius: str | None,
    known: bool,
    cap: str | None,
    free: bool,
    floor: str | None,
    floor_of: Sequence[tuple[str, str]],
    forbid: Sequence[tuple[str, str]],
    loss: str | None,
    bits: int,
    output: str | None,
    as_json: bool,
) -> int:
    """Publish a column with the same categories: design the table that changes the fewest records (PRAM).

    \b
    Examples:
      mechdesign table --counts counts.csv --epsilon 1 --known -o table.json
      mechdesign table --data adult.csv --column education \\
                       --epsilon 1 --delta 1e-9 -o education.json
      mechdesign table --data adult.csv --columns relationship,sex \\
                       --epsilon 2 --known -o both.json
      mechdesign table --counts marital.csv --epsilon 1 --known \\
                       --floor-of Widowed 0.1 \\
                       --forbid Never-married Widowed -o marital.json
      mechdesign privatize adult.csv --column education \\
                       --mechanism education.json -o published.csv

    A table replaces a category by another one at random, so that the published column has the same categories. It is
    invariant: the expected counts of the published file are those of the file, exactly in whole numbers; --free leaves
    that out. The promise, invariance, floors and forbidden pairs are proved in exact arithmetic, and no table that
    keeps them is better than the bound in the file; `mechdesign verify` checks all of it again.

    An invariant matrix discloses the counts, and what is promised is conditional on them. Margins stay true on average;
    tables that cross the published column with others do not, unless they are corrected by the inverse of the matrix,
    if it has one.

    Where floors or pairs cannot be kept, the message names the least epsilon at which they can.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if output is not None:
        accepted_ending(output, (".json", ".npz"))
    standard = places.check([output], [source.counts, source.data, loss], as_json=as_json)
    if floor is not None and floor_of:
        raise click.UsageError("--floor is for all categories and --floor-of for some; give one of them")
    with Progress() as progress:
        progress("reading counts")
        counts, columns, title = source.read()
        problem = TableProblem(
            L1Ball.from_counts(counts, delta=delta, radius=radius, known=known),
            epsilon,
            invariant=not free,
            floors=floor if floor is not None else _floors(floor_of),
            forbidden=forbid,
            loss=None if loss is None else _loss(loss, list(counts)),
            cap=cap,
        )
        found = solve_table(problem, bits=bits, title=title, progress=progress, columns=columns)
    if output is not None:
        found.mechanism.save(output)
    error = None if found.certified else _uncertified(found)
    if as_json:
        print_output(_printed(found, title, output), error)
    else:
        print_facts(_facts(found, title, output), err=standard)
    return print_error(error)


def _loss(path: str, labels: Sequence[str]) -> list[list[str]]:
    """Return the rows of a CSV of losses, in the order of labels."""
    check_regular(path, "a CSV file of losses", _MOST_LOSS)
    lines = [record for record in rows(path) if any(record.fields)]
    if not lines:
        raise InputError.nothing_given(f"{path} is empty; give a line for each category, below one of all categories")
    for record in lines:
        if len(record.fields) != len(lines[0].fields):
            raise field_count_error(path, record, len(lines[0].fields))
    names, starts = lines[0].fields[1:], [record.fields[0] for record in lines[1:]]
    if sorted(names) != sorted(labels) or sorted(starts) != sorted(labels):
        raise InputError.labels_differ(
            f"{path} has the rows {shorten(starts)} and the columns {shorten(names)}; give each of the {len(labels)} "
            "labels one row and one column"
        )
    table = {record.fields[0]: dict(zip(names, record.fields[1:], strict=True)) for record in lines[1:]}
    return [[table[x][y] for y in labels] for x in labels]


def _floors(given: Sequence[tuple[str, str]]) -> dict[str, Fraction]:
    """Return the floors of single categories."""
    labels = [canonical_label(label) for label, _ in given]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        shares = ", ".join(share for label, (_, share) in zip(labels, given, strict=True) if label == twice)
        raise InputError.label_twice(f"--floor-of {shorten(twice)} is given more than once ({shares}); give it once")
    return {label: rational(share, f"the floor of {label}") for label, (_, share) in zip(labels, given, strict=True)}


def _uncertified(found: TableDesign) -> LimitError:
    return LimitError.not_certified(
        f"the gap {found.gap:.1e} is not within 1e-6 of the value; promise and constraints hold all the same; what "
        "helps: more --bits, or merging rare categories"
    )


def _printed(found: TableDesign, title: str, output: str | None) -> TableOutput:
    keys: dict[str, Any] = {found.objective.bound_name: found.bound, **found.mechanism.promised_keys()}
    unchanged = found.mechanism.matrix.diagonal().tolist()
    return TableOutput.built_from(
        found, title=title, objective=found.objective.name, unchanged=unchanged, output=output, **keys
    )


def _facts(found: TableDesign, title: str, output: str | None) -> list[tuple[str, str]]:
    kept, labels = found.mechanism.matrix.diagonal(), found.mechanism.inputs
    least, verdict = int(kept.argmin()), "optimal (certified)" if found.certified else "not certified"
    words = {"unchanged-share": "unchanged", "expected-loss": "expected loss"}[found.objective.name]
    bound = f"{amount(found.bound, '1')}, gap {found.gap:.1e}, {verdict}"
    facts = [
        ("file", title),
        *found.mechanism.facts(),
        (words, amount(found.value, "1") + (" of the records" if words == "unchanged" else "")),
        (found.objective.bound_name.replace("_", " "), bound),
        ("least unchanged", f"{kept[least]:.6g} of {labels[least]}"),
    ]
    if output is not None:
        facts.append(("written", "standard output" if output == STANDARD else output))
    return facts
