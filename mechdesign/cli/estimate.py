"""``mechdesign estimate``."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from mechdesign.cli import places
from mechdesign.cli.engine_options import engine_options
from mechdesign.cli.output import print_facts, print_json, print_rich, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.data.parts import has_parts
from mechdesign.deploy.dataset_counts import DatasetCounts, count_dataset
from mechdesign.deploy.estimate import estimate_frequencies
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.stream import RecordFile, count_reports
from mechdesign.engine import opened_executor
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.words import promise

_COLUMNS = ("label", "frequency", "standard_error", "lower", "upper", "identifiable")
_SCHEMA = "mechdesign/estimate/1"


@click.command("estimate", short_help="Estimate the frequencies behind reports.")
@click.argument("file", metavar="FILE")
@click.option("--column", metavar="COLUMN", required=True, help="A name, or an index from 0 with --no-header.")
@click.option(
    "--mechanism", "mechanism_file", metavar="M.json", required=True, help="The mechanism that made the reports."
)
@click.option(
    "-o", "--output", metavar="OUT", help="Also write the table: .csv, .parquet or .json; - is CSV on standard output."
)
@click.option("--no-header", is_flag=True, help="The CSV file has no line of column names.")
@click.option(
    "--method",
    type=click.Choice(["maximum-likelihood", "least-squares"]),
    default="maximum-likelihood",
    show_default=True,
    help="maximum-likelihood: estimates are a distribution; least-squares: they are unbiased and may be negative.",
)
@click.option(
    "--of",
    type=click.Choice(["population", "records"]),
    default="population",
    show_default=True,
    help="population: frequencies in the distribution that records are drawn from; records: frequencies among the "
    "records that were reported.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Level of each interval, strictly between 0 and 1.",
)
@engine_options
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def estimate_command(
    *,
    file: str,
    column: str,
    mechanism_file: str,
    output: str | None,
    no_header: bool,
    method: str,
    of: str,
    confidence: float,
    jobs: int | None,
    scheduler: str | None,
    show_values: bool,
    as_json: bool,
) -> None:
    """Estimate how frequent each true category is, from a column of reports in FILE (CSV or Parquet).

    \b
    Example:
      mechdesign estimate reports.csv --column education --mechanism education.json

    Each frequency comes with its standard error and a confidence interval. Where a mechanism cannot tell
    categories apart, the table says so: only the total of such a group can be estimated.

    FILE or the mechanism may be -, for standard input. With -o - the CSV goes to standard output, and the summary to
    standard error. FILE may also be a folder, or a glob in quotes, of parts that are all CSV or all Parquet; --jobs
    processes or a --scheduler count them. If the manifest of a folder names parts that are not there yet, the estimate
    is from those that are, and says so.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if output is not None:
        accepted_ending(output, _WRITERS)
    if not has_parts(file) and (jobs is not None or scheduler is not None):
        raise click.UsageError("--jobs and --scheduler are for the parts of a folder or a glob; leave them out")
    standard = places.check([output], [file, mechanism_file], as_json=as_json)
    with Progress() as report:
        mechanism = places.load_mechanism(mechanism_file, report)
        with readable(file) as place:
            reports = RecordFile(place, column, header=not no_header, show_values=show_values)
            parts: DatasetCounts | None = None
            if has_parts(file):
                with opened_executor(jobs, scheduler) as executor:
                    parts = count_dataset(reports, mechanism, executor, report=report)
            counts = count_reports(reports, mechanism.outputs, report=report) if parts is None else parts.counts
        report("estimating")
        found = estimate_frequencies(
            dict(zip(mechanism.outputs, counts.tolist(), strict=True)),
            mechanism,
            method=method,
            of=of,
            confidence=confidence,
        )
    if output is not None:
        write_atomically(output, _WRITERS[accepted_ending(output, _WRITERS)](found))
    if as_json:
        told = {} if parts is None else {"parts": {"counted": parts.parts, "planned": parts.planned}}
        print_json(_SCHEMA, {**_record(found), **told, "output": output})
        return
    _print(found, mechanism, parts, err=standard)
    if output is not None:
        click.echo(f"\nwritten  {'standard output' if standard else output}", err=standard)


def _record(found: FrequencyEstimate) -> dict[str, Any]:
    errors = [error if np.isfinite(error) else None for error in found.standard_errors.tolist()]
    return {
        "labels": list(found.labels),
        "frequencies": found.frequencies.tolist(),
        "standard_errors": errors,
        "intervals": found.intervals.tolist(),
        "identifiable": found.identifiable.tolist(),
        "identified": found.identified.tolist(),
        "groups": [list(group) for group in found.groups],
        "reports": found.reports,
        "method": found.method,
        "of": found.of,
        "confidence": found.confidence,
    }


def _csv(found: FrequencyEstimate) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for label, frequency, error, (lower, upper), known in _rows(found):
        writer.writerow([label, frequency, error if np.isfinite(error) else "", lower, upper, str(known).lower()])
    return text.getvalue().encode()


def _parquet(found: FrequencyEstimate) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    bounds = ((error if np.isfinite(error) else None, *interval) for _, _, error, interval, _ in _rows(found))
    errors, lower, upper = zip(*bounds, strict=True)
    columns = [found.labels, found.frequencies.tolist(), errors, lower, upper, found.identifiable.tolist()]
    types = [pa.string(), *[pa.float64()] * 4, pa.bool_()]
    content = io.BytesIO()
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    parquet.write_table(pa.table(arrays, names=_COLUMNS), content)
    return content.getvalue()


def _json(found: FrequencyEstimate) -> bytes:
    record = {"schema": _SCHEMA, **_record(found)}
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


_WRITERS = {".csv": _csv, ".parquet": _parquet, ".json": _json}


def _rows(found: FrequencyEstimate) -> Any:
    return zip(
        found.labels,
        found.frequencies.tolist(),
        found.standard_errors.tolist(),
        found.intervals.tolist(),
        found.identifiable.tolist(),
        strict=True,
    )


def _in_words(parts: DatasetCounts) -> str:
    if parts.parts == parts.planned:
        return f"{parts.parts:,}"
    return f"{parts.parts:,} of {parts.planned:,}: THE OTHERS ARE NOT REPORTED YET, and the estimate is without them"


def _print(found: FrequencyEstimate, mechanism: Mechanism, parts: DatasetCounts | None, *, err: bool) -> None:
    whose = "the population" if found.of == "population" else "the records reported"
    print_facts(
        [
            ("reports", f"{found.reports:,}"),
            *([] if parts is None else [("parts", _in_words(parts))]),
            ("guarantee", promise(mechanism.guarantee)),
            ("estimate", f"{found.method}, of the frequencies in {whose}"),
        ],
        err=err,
    )
    click.echo(err=err)
    table = Table(highlight=False)
    table.add_column("category", overflow="fold")
    for name in ("frequency", "standard error", f"{100 * found.confidence:g} % interval"):
        table.add_column(name, justify="right", overflow="fold")
    for label, frequency, error, (lower, upper), known in _rows(found):
        told = f"{error:.5f}" if known else "not identifiable"
        table.add_row(Text(label), f"{frequency:.5f}", told, f"{lower:.5f} to {upper:.5f}")
    print_rich(table, err=err)
    for group in found.groups:
        if len(group) > 1:
            click.echo(f"Only the total of these can be estimated: {', '.join(group)}.", err=err)
