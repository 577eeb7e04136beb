"""``mechdesign privatize``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Hash, Labels, Output, Printed, Promised, Text, Whole, print_output
from mechdesign.cli.output import print_facts, show_values_option
from mechdesign.cli.permanent import Permanent, permanent_options
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import engine_options
from mechdesign.cli.windows_or_matrix import StringsPromised, load_mechanism
from mechdesign.data.fields import Number
from mechdesign.data.files import accepted_ending
from mechdesign.data.inputs import readable
from mechdesign.data.parts import has_parts
from mechdesign.deploy.dataset import privatize_dataset
from mechdesign.deploy.stream import ENDINGS, RecordFile, ReportFile, privatize_file
from mechdesign.engine import opened_executor
from mechdesign.errors import printable
from mechdesign.mechanism.reporting import Deployed
from mechdesign.mechanism.words import second_run


class PublishedParts(Printed):
    """The parts of a folder: how many were written, which were there, and which of these changed since."""

    published: Whole
    skipped: Whole
    changed: Labels


class _Reports(Output):
    carries = "mechdesign/privatization/1"

    records: Whole
    parts: PublishedParts | None = None
    output: Text
    column: Text
    keep: Labels
    fingerprint: Hash
    permanent: Literal[True] | None = None
    id: Text | None = None
    attribute: Text | None = None
    leakage_of_two_values: Number | None = None
    repeated_ids: Whole | None = None
    changed_ids: Whole | None = None


class PrivatizationOutput(Promised, _Reports):
    """`mechdesign privatize`."""


class StringPrivatizationOutput(StringsPromised, _Reports):
    """`mechdesign privatize`, by windows."""


@click.command("privatize")
@click.argument("file", metavar="FILE")
@click.option("--column", metavar="COLUMN", required=True, help="A name, or an index from 0 with --no-header.")
@click.option(
    "--mechanism", "mechanism_file", metavar="M.json", required=True, help="The mechanism; it is proved again first."
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    required=True,
    help="The file of reports: .csv or .parquet; - is CSV on standard output. For a folder or a glob: a folder.",
)
@click.option("--no-header", is_flag=True, help="The CSV file has no line of column names, and the output gets none.")
@click.option(
    "--keep",
    metavar="COLUMN",
    multiple=True,
    help="Also copy this column; may be repeated. A copied column can undo the privacy: the guarantee covers the "
    "report alone. An index column of pandas (__index_level_0__) is copied as any other.",
)
@permanent_options
@click.option("--unknown", metavar="LABEL", help="Replace values outside the alphabet by this input.")
@click.option("--missing", metavar="LABEL", help="Replace missing values (nulls, empty fields) by this input.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace OUT if it exists. Two published runs leak more than one, except permanent reports by the same "
    "mechanism, key, attribute and ids.",
)
@engine_options
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def privatize_command(
    *,
    file: str,
    column: str,
    mechanism_file: str,
    output: str,
    no_header: bool,
    keep: tuple[str, ...],
    permanent: Permanent,
    unknown: str | None,
    missing: str | None,
    overwrite: bool,
    jobs: int | None,
    scheduler: str | None,
    show_values: bool,
    as_json: bool,
) -> None:
    """Replace a column of FILE (CSV or Parquet, of any size; or a folder of them) by reports drawn from a mechanism.

    \b
    Examples:
      mechdesign privatize records.csv --column education \\
                           --mechanism education.json -o reports.csv
      mechdesign privatize adult.data --no-header --column 3 \\
                           --mechanism education.json -o reports.csv
      mechdesign privatize records.csv --column education --id person \\
                           --key-file survey.key --attribute education \\
                           --mechanism education.json -o reports.csv
      zcat records.csv.gz | mechdesign privatize - --column education \\
                           --mechanism education.json -o - | gzip > reports.csv.gz
      mechdesign privatize records/ --column education --jobs 4 \\
                           --mechanism education.json -o reports/

    Reports are drawn exactly from the proved integers with the operating system's secure randomness, one for
    each record, in the same order; all other columns are dropped. The alphabet is the mechanism's: a value
    outside it is an error, unless --unknown names the input that replaces it. The guarantee then holds if it covers
    the distribution of the records after the replacement. Each run draws new reports, and publishing two runs leaks
    more than one; so a file that exists is replaced only with --overwrite.

    With --key-file and --id reports are permanent instead: drawn from the key, the mechanism, the attribute, the id and
    the value alone, so that a run may be repeated, on any machine and in any order; --overwrite then replaces a file by
    the same reports. Whoever lacks the key learns from any number of reports about a value what one report tells. That
    ends where something changes: another value of the same id is another report, and a report that differs tells that
    the value does; another mechanism (redesigned, or with other labels), another key or another --attribute draws a
    second report about the same value. Whoever has the key can undo the reports of known ids. The column of ids is
    written only if --keep names it.

    FILE or the mechanism may be -, for standard input, which is kept in a temporary file while the command runs. With
    -o - the summary goes to standard error. An output file is written whole or not at all; standard
    output may be incomplete if the exit status is not 0.

    FILE may be a folder, or a glob in quotes ('records/*.parquet'), of parts that are all CSV or all Parquet; OUT is
    then another folder, with the same folders and names in it. Names that begin with . or _ are skipped. Each part is
    written whole or not at all, in --jobs processes or by a --scheduler. If a part is refused or the command ends,
    run it again: parts that are there are skipped, so that no record is reported twice, and --unknown and --missing
    may be added. A manifest in OUT fixes the rest, also the key. The names of folders such as year=2024 are kept as
    columns named by --keep are, and can undo the privacy as these can.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    records = RecordFile(file, column, header=not no_header, show_values=show_values)
    reports = ReportFile(output, keep, overwrite)
    replaced = {"unknown": unknown, "missing": missing}
    if has_parts(file):
        executor = {"jobs": jobs, "scheduler": scheduler}
        _privatize_parts(records, reports, mechanism_file, permanent, replaced, executor=executor, as_json=as_json)
        return
    if jobs is not None or scheduler is not None:
        raise click.UsageError("--jobs and --scheduler are for the parts of a folder or a glob; leave them out")
    _privatize_file(records, reports, mechanism_file, permanent, replaced, as_json=as_json)


def _privatize_file(
    records: RecordFile,
    output: ReportFile,
    mechanism_file: str,
    permanent: Permanent,
    replaced: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    accepted_ending(output.path, ENDINGS)
    source, target = str(records.path), str(output.path)
    standard = places.check(
        [target],
        [source, mechanism_file, permanent.key_file],
        as_json=as_json,
        overwrite=output.overwrite,
        permanent=permanent.key_file is not None,
    )
    key = permanent.key()
    with Progress() as progress:
        mechanism = load_mechanism(mechanism_file, progress)
        with readable(source) as place:
            given = replace(records, path=place)
            done = privatize_file(given, mechanism, output, key=key, ids=permanent.ids, **replaced, progress=progress)
    if as_json:
        about_ids = permanent.keys(mechanism, done.repeated, done.changed)
        about_columns = {"column": records.column, "keep": output.keep}
        _print_json(mechanism, records=done.records, output=target, **about_columns, **about_ids)
        return
    written = ("written", "standard output" if standard else target)
    facts = [("records", f"{done.records:,}"), *mechanism.facts(of_report=True), written]
    facts += [*permanent.facts(mechanism, done.repeated, done.changed), *_kept(output.keep)]
    print_facts(facts, err=standard)


def _privatize_parts(
    records: RecordFile,
    output: ReportFile,
    mechanism_file: str,
    permanent: Permanent,
    replaced: dict[str, Any],
    *,
    executor: dict[str, Any],
    as_json: bool,
) -> None:
    if output.overwrite:
        raise click.UsageError(
            "--overwrite is for a single file: "
            f"{second_run(permanent=permanent.key_file is not None)}; leave it out, or give a new folder"
        )
    key = permanent.key()
    with Progress() as progress:
        mechanism = load_mechanism(mechanism_file, progress)
        with opened_executor(**executor) as opened:
            done = privatize_dataset(
                records, mechanism, output, opened, key=key, ids=permanent.ids, **replaced, progress=progress
            )
    if as_json:
        about_ids = permanent.keys(mechanism, done.repeated, done.changed_ids)
        about_parts = {"parts": PublishedParts.built_from(done), "column": records.column, "keep": output.keep}
        _print_json(mechanism, records=done.records, output=str(output.path), **about_parts, **about_ids)
        return
    parts = f"{done.published:,} written, {done.skipped:,} skipped since they were there"
    facts = [("records", f"{done.records:,}"), ("parts", parts), *mechanism.facts(of_report=True)]
    facts.append(("written", str(output.path)))
    if done.changed:
        text = f"{len(done.changed):,} skipped parts are newer than their reports, such as {done.changed[0]}"
        facts.append(("changed", f"{text}: what changed is not reported"))
    facts += permanent.facts(mechanism, done.repeated, done.changed_ids)
    if permanent.ids is not None and done.published + done.skipped > 1:
        column = printable(permanent.ids)
        text = f"ids are compared within each part alone; estimate --id {column} compares those of all parts"
        facts.append(("parts apart", f"{text}, if they are kept"))
    print_facts([*facts, *_kept(output.keep)])


def _print_json(mechanism: Deployed, **keys: Any) -> None:
    """Print the JSON of the reports that were drawn from a mechanism."""
    printed = mechanism.promised_keys()
    kind = PrivatizationOutput if "bits" in printed else StringPrivatizationOutput
    print_output(kind(fingerprint=mechanism.fingerprint, **keys, **printed))


def _kept(keep: Sequence[str]) -> list[tuple[str, str]]:
    if not keep:
        return []
    return [("kept", f"{', '.join(keep)}: the guarantee does not cover what these tell about the record")]
