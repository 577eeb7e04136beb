"""``mechdesign heavy-hitters``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import click
from pydantic import Field

from mechdesign.cli import places
from mechdesign.cli.estimate import counted_reports
from mechdesign.cli.estimate_output import ComparedIds, CountedParts, source_facts, sources
from mechdesign.cli.json_output import Labels, Output, Text, Whole, given, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts, print_table, say, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import NUMBER, WHOLE, engine_options
from mechdesign.cli.windows_sample import csv_table, reference_shares
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.deploy.stream import RecordFile

if TYPE_CHECKING:
    from mechdesign.windows import HeavyHitters

_MOST_ROWS = 100  # of a table on a terminal
_HEADER = ("string", "share", "standard_error", "lower", "upper", "sample_share")


class HeavyHittersOutput(Output):
    """`mechdesign heavy-hitters`, and the file of its option -o."""

    carries = "mechdesign/heavy-hitters/1"

    strings: Labels
    shares: Sequence[Number]
    standard_errors: Sequence[Number]
    simultaneous_intervals: Sequence[Annotated[Sequence[Number], Field(min_length=2, max_length=2)]]
    sample_shares: Sequence[Number] | None = None
    searched: Whole
    false: Number
    reports: Whole
    confidence: Number
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None


@click.command("heavy-hitters")
@click.argument("file", metavar="FILE")
@click.option("--column", metavar="COLUMN", required=True, help="A name, or an index from 0 with --no-header.")
@click.option(
    "--mechanism", "mechanism_file", metavar="M.json", required=True, help="The mechanism that made the reports."
)
@click.option(
    "--reference",
    metavar="FILE",
    help="Counts of the sample that proves, string and count (CSV), as `design --evidence` writes them. Without it "
    "errors are greater, and --characters is needed: shares come from the lengths of windows alone.",
)
@click.option(
    "--characters", metavar="TEXT", help="The characters that strings may have. [default: those of the reference]"
)
@click.option("--kept", type=WHOLE, metavar="K", help="How many prefixes of each length are extended. [default: 250]")
@click.option(
    "--false",
    type=NUMBER,
    default=1.0,
    show_default=True,
    help="How many found strings may be such as nobody has, on average at most.",
)
@click.option("--confidence", type=NUMBER, default=0.95, show_default=True, help="That of all intervals at once.")
@click.option("-o", "--output", metavar="OUT", help="Also write the table: .csv or .json; - is CSV on standard output.")
@click.option("--id", "ids", metavar="COLUMN", help="Count only the first report about each id in this column.")
@click.option("--no-header", is_flag=True, help="The CSV file has no line of column names.")
@engine_options
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def heavy_hitters_command(
    *,
    file: str,
    column: str,
    mechanism_file: str,
    reference: str | None,
    characters: str | None,
    kept: int | None,
    false: float,
    confidence: float,
    output: str | None,
    ids: str | None,
    no_header: bool,
    jobs: int | None,
    scheduler: str | None,
    show_values: bool,
    as_json: bool,
) -> None:
    """Find the frequent strings behind reports about prefixes in FILE (CSV or Parquet), without a list of candidates.

    \b
    Example:
      mechdesign design --data sample.csv --column word --windows \\
                        --prefixes 2,4,6,8,10 --epsilon 1 --delta 1e-9 \\
                        --split 1/10 --evidence evidence.csv -o m.json
      mechdesign privatize people.csv --column word --mechanism m.json \\
                        -o reports.csv
      mechdesign heavy-hitters reports.csv --column word --mechanism m.json \\
                        --reference evidence.csv

    Each report is about the prefix of one length. The most frequent prefixes of each length are extended to those of
    the next one. A string is found if its share is above 0 by so many standard errors that among all the strings that
    were looked for at most --false are found that nobody has, on average. The intervals hold for all found strings at
    once. A string that ends with an ellipsis is the prefix of longer ones.

    FILE may be -, a folder or a glob, as for estimate. Finding takes up to minutes: about a second for each 10,000
    candidates, 1,000 seeds and length.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    ending = None if output is None else accepted_ending(output, (".csv", ".json"))
    places.check([output], [file, mechanism_file, reference], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(mechanism_file, progress)
        if mechanism.kind != "prefix-windows":
            raise click.UsageError("the mechanism reports no prefixes; design one with --windows --prefixes 2,4,6,8,10")
        first = None if ids is None else FirstReports(ids)
        with readable(file) as place:
            reports = RecordFile(place, column, header=not no_header, show_values=show_values)
            counted: Any
            counted, parts = counted_reports(reports, mechanism, (), first, jobs, scheduler, progress)
        from mechdesign.windows.prefix_search import heavy_hitters_of_counts

        options = given(characters=characters, kept=kept)
        shares = None if reference is None else reference_shares(reference, mechanism)
        progress("searching")
        found = heavy_hitters_of_counts(counted, mechanism, shares, false=false, **options)
    printed = _output(found, confidence, **sources(parts, first))
    if output is not None:
        content = json.dumps(printed.dump(), ensure_ascii=False, indent=1).encode() + b"\n"
        header = _HEADER[:-1] if found.by_lengths else _HEADER
        write_atomically(output, csv_table(header, _rows(printed, "{!r}")) if ending == ".csv" else content)
    if as_json:
        print_output(printed.model_copy(update=given(output=output)))
        return
    _tell(found, printed, [*source_facts(parts, first)], confidence, output)


def _output(found: HeavyHitters, confidence: float, **keys: Any) -> HeavyHittersOutput:
    return HeavyHittersOutput(
        strings=found.strings,
        shares=found.shares.tolist(),
        standard_errors=found.standard_errors.tolist(),
        simultaneous_intervals=found.intervals(confidence).tolist(),
        searched=found.candidates,
        false=found.false,
        reports=found.reports,
        confidence=confidence,
        **given(sample_shares=None if found.by_lengths else found.sample_shares.tolist()),
        **keys,
    )


def _rows(found: HeavyHittersOutput, form: str) -> list[list[str]]:
    own = [[]] * len(found.strings) if found.sample_shares is None else [[x] for x in found.sample_shares]
    numbers = zip(found.shares, found.standard_errors, found.simultaneous_intervals, own, strict=True)
    return [
        [name, *(form.format(float(x)) for x in (share, error, *interval, *known))]
        for name, (share, error, interval, known) in zip(found.strings, numbers, strict=True)
    ]


def _tell(
    found: HeavyHitters,
    printed: HeavyHittersOutput,
    sources_told: list[tuple[str, str]],
    confidence: float,
    output: str | None,
) -> None:
    standard = output == STANDARD
    facts = [("reports", f"{found.reports:,}"), *sources_told]
    facts.append(("searched", f"{found.candidates:,} strings, of which {len(found.strings):,} were found"))
    facts.append(("false", f"at most {found.false:g} of the found strings has nobody, on average"))
    if found.by_lengths:
        facts.append(("no reference", "shares from the lengths of windows alone; --reference makes errors smaller"))
    print_facts(facts, err=standard)
    rows = _rows(printed, "{:.6f}")
    percent = f"{100 * confidence:g} % for all at once from"
    if rows:
        columns = ["string", "share", "standard error", percent, "to"]
        columns += [] if found.by_lengths else ["in the sample"]
        print_table(columns, rows[:_MOST_ROWS], err=standard)
    if len(rows) > _MOST_ROWS:
        say(f"{len(rows) - _MOST_ROWS:,} more are not shown; -o FILE writes all.", err=standard)
    if output is not None:
        say(f"\nwritten  {'standard output' if output == STANDARD else output}", err=standard)
