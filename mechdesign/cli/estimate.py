"""``mechdesign estimate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from mechdesign.cli import places
from mechdesign.cli.common_options import is_quiet
from mechdesign.cli.estimate_output import WRITERS, EstimatePrinter, sources
from mechdesign.cli.json_output import given, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import say, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import Asked, asked_columns, report_names_option
from mechdesign.cli.record_tables import TableOptions, table_options
from mechdesign.cli.shared_options import NUMBER, check_plot, engine_options, write_plot
from mechdesign.cli.windows_estimate import Candidates, check_candidates, string_options, tell_candidates
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.data.parts import has_parts
from mechdesign.deploy.dataset_counts import DatasetCounts, count_dataset
from mechdesign.deploy.estimation import METHODS, TARGETS, Estimation
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.grouped import GroupedEstimate, check_names, estimate_groups
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.deploy.report_counts import GroupCounts, count_reports, group_columns
from mechdesign.deploy.stream import RecordFile
from mechdesign.engine import opened_executor
from mechdesign.mechanism.reporting import Deployed


@click.command("estimate")
@click.argument("file", metavar="FILE")
@click.option("--column", metavar="COLUMN", help="A name, or an index from 0 with --no-header. Views have two.")
@click.option(
    "--mechanism", "mechanism_file", metavar="M.json", required=True, help="The mechanism that made the reports."
)
@click.option(
    "-o", "--output", metavar="OUT", help="Also write the table: .csv, .parquet or .json; - is CSV on standard output."
)
@click.option(
    "--by",
    metavar="COLUMN",
    multiple=True,
    help="Estimate in each group of rows that agree in this column; may be repeated. Missing values are a group.",
)
@click.option(
    "--id",
    "ids",
    metavar="COLUMN",
    help="Count only the first report about each id in this column (in each group). Permanent reports about a value "
    "that does not change are one report, however often they are written.",
)
@click.option(
    "--simultaneous", is_flag=True, help="Also give wider intervals that hold for all categories and groups at once."
)
@click.option("--no-header", is_flag=True, help="The CSV file has no line of column names.")
@click.option(
    "--method",
    metavar="NAME",
    type=click.Choice(METHODS),
    default=METHODS[0],
    show_default=True,
    help="maximum-likelihood: estimates are a distribution; least-squares: they are unbiased and may be negative.",
)
@click.option(
    "--of",
    type=click.Choice(TARGETS),
    default=TARGETS[0],
    show_default=True,
    help="population: frequencies in the distribution that records are drawn from; records: frequencies among the "
    "records that were reported.",
)
@click.option(
    "--confidence",
    type=NUMBER,
    default=0.95,
    show_default=True,
    help="Level of each interval, strictly between 0 and 1.",
)
@click.option(
    "--plot",
    metavar="FILE",
    help="Also draw the frequencies with their intervals: .png, .svg or .pdf; - is PNG on standard output. With --by a "
    "panel for each group, or for dates a series for each category.",
)
@report_names_option
@table_options
@string_options
@engine_options
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@asked_columns
def estimate_command(
    *,
    asked: Asked,
    records: TableOptions,
    mechanism_file: str,
    output: str | None,
    by: tuple[str, ...],
    ids: str | None,
    simultaneous: bool,
    method: str,
    of: str,
    confidence: float,
    plot: str | None,
    strings: Candidates,
    jobs: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Estimate how frequent each true category is, from a column of reports in FILE (CSV or Parquet).

    \b
    Examples:
      mechdesign estimate reports.csv --column level --mechanism education.json
      mechdesign estimate reports.csv --column level --mechanism education.json \\
                          --by region --simultaneous -o table.csv --plot table.png

    Each frequency comes with its standard error and a confidence interval. They take reports for independent: of
    permanent reports count each id once. Where a mechanism cannot tell categories apart, the table says so: only the
    total of such categories can be estimated.

    With --by there is an estimate for each group of rows, and groups with fewer reports than the normal approximation
    needs are marked. A column by which the reports are grouped stands beside them openly: the guarantee covers
    whoever knows the group only if the distribution within it is in the set of priors.

    Each report counts as one about a record of its own. Where --id names a column, the first report about each id
    counts: reports of several days about the same persons are not independent, and with all of them the errors
    would be too small. A folder of permanent reports without --id says so.

    Reports about views of whole records give the table of each attribute, of each pair in a view and of each view;
    --marginal chooses some, and --consistent makes them those of one joint law. Views that share attributes are
    combined by least squares. No --column is needed.

    Views of windows have a table of the strings of --candidates.

    Reports of windows are estimated for the strings of --candidates, best with --reference, the counts of the sample
    that proves; other methods are for matrices.

    FILE or the mechanism may be -, for standard input. With -o - the CSV goes to standard output, and the summary to
    standard error. FILE may also be a folder, or a glob in quotes, of parts that are all CSV or all Parquet; --jobs
    processes or a --scheduler count them. If the manifest of a folder names parts that are not there yet, the estimate
    is from those that are, and says so.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    _check(asked.path, output, plot, in_parts=jobs is not None or scheduler is not None)
    standard = places.check([output, plot], [asked.path, mechanism_file], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(mechanism_file, progress, command="estimate")
        check_candidates(mechanism, strings)
        records.check(mechanism)
        estimation = Estimation(mechanism, method, of, confidence) if mechanism.kind == "matrix" else None
        first = None if ids is None else FirstReports(ids)
        with readable(asked.path) as place:
            reports = asked.of(mechanism, place, of_reports=True)
            counted, parts = counted_reports(reports, mechanism, by, first, jobs, scheduler, progress)
        if mechanism.kind == "windows":
            about = output, plot, parts, first
            tell_candidates(counted, mechanism, strings, confidence, *about, simultaneous=simultaneous, as_json=as_json)
            return
        if estimation is None:
            printer = records.printer(counted, mechanism, strings, confidence, progress, (simultaneous, parts, first))
        else:
            printer = EstimatePrinter(_estimate(counted, estimation, progress), simultaneous, parts, first)
    _write(printer, output, plot)
    if as_json or is_quiet():
        printer.warn()
    if as_json:
        print_output(printer.json(**sources(parts, first), output=output, **given(plot=plot)))
        return
    printer.print(mechanism.guarantee, err=standard)
    _say_written(output, plot, err=standard)


def _say_written(*paths: str | None, err: bool) -> None:
    if written := ["standard output" if path == STANDARD else path for path in paths if path is not None]:
        say(f"\nwritten  {', '.join(written)}", err=err)


def _check(file: str, output: str | None, plot: str | None, *, in_parts: bool) -> None:
    if output is not None:
        accepted_ending(output, WRITERS)
    check_plot(plot)
    if in_parts and not has_parts(file):
        raise click.UsageError("--jobs and --scheduler are for the parts of a folder or a glob; leave them out")


def counted_reports(
    reports: RecordFile,
    mechanism: Deployed,
    by: tuple[str, ...],
    first: FirstReports | None,
    jobs: int | None,
    scheduler: str | None,
    progress: Callable[[str], None],
) -> tuple[NDArray[np.int64] | GroupCounts, DatasetCounts | None]:
    """Return the counts of a file or of all parts, with or without groups, and what is known of the parts."""
    if by:
        check_names(group_columns(by, reports))
    if not has_parts(reports.path):
        return count_reports(reports, mechanism, by=by, first=first, progress=progress), None
    with opened_executor(jobs, scheduler) as executor:
        parts = count_dataset(reports, mechanism, executor, by=by, first=first, progress=progress)
    return (parts.counts if parts.groups is None else parts.groups), parts


def _write(printer: EstimatePrinter, output: str | None, plot: str | None) -> None:
    """Write the table and the picture of an estimate, where there are paths."""
    if output is not None:
        write_atomically(output, printer.content(accepted_ending(output, WRITERS)))
    write_plot(plot, printer.figure)


def _estimate(
    counted: NDArray[np.int64] | GroupCounts, estimation: Estimation, progress: Callable[[str], None]
) -> FrequencyEstimate | GroupedEstimate:
    """Return the estimate from counts, with or without groups."""
    progress("estimating")
    if isinstance(counted, GroupCounts):
        return estimate_groups(counted, estimation, progress)
    return estimation.of_counts(counted.tolist())
