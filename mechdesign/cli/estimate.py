"""``mechdesign estimate``."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import click
import numpy as np

from mechdesign.cli import places
from mechdesign.cli.output import print_facts, print_json, print_table, say, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.deploy.estimate import estimate_frequencies
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.stream import RecordFile, count_reports
from mechdesign.errors import printable
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
    standard error.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if output is not None:
        accepted_ending(output, _WRITERS)
    standard = places.check([output], [file, mechanism_file], as_json=as_json)
    with Progress() as report:
        mechanism = places.load_mechanism(mechanism_file, report)
        with readable(file) as place:
            counts = count_reports(
                RecordFile(place, column, header=not no_header, show_values=show_values),
                mechanism.outputs,
                report=report,
            )
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
        print_json(_SCHEMA, {**_record(found), "output": output})
        return
    _print(found, mechanism, err=standard)
    if output is not None:
        say(f"\nwritten  {'standard output' if standard else output}", err=standard)


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


def _print(found: FrequencyEstimate, mechanism: Mechanism, *, err: bool) -> None:
    whose = "the population" if found.of == "population" else "the records reported"
    print_facts(
        [
            ("reports", f"{found.reports:,}"),
            ("guarantee", promise(mechanism.guarantee)),
            ("estimate", f"{found.method}, of the frequencies in {whose}"),
        ],
        err=err,
    )
    say(err=err)
    rows = []
    for label, frequency, error, (lower, upper), known in _rows(found):
        told = f"{error:.5f}" if known else "not identifiable"
        rows.append([printable(label), f"{frequency:.5f}", told, f"{lower:.5f} to {upper:.5f}"])
    columns = ["category", "frequency", "standard error", f"{100 * found.confidence:g} % interval"]
    print_table(columns, rows, err=err)
    for group in found.groups:
        if len(group) > 1:
            say(f"Only the total of these can be estimated: {', '.join(group)}.", err=err)
