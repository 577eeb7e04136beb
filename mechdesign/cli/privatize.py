"""``mechdesign privatize``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Hash, Labels, Output, Printed, Promised, Text, Whole, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts, show_values_option
from mechdesign.cli.permanent import Permanent, permanent_options
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import Asked, RecordsPromised, asked_columns, report_names_option
from mechdesign.cli.shared_options import engine_options
from mechdesign.cli.windows_sample import StringsPromised
from mechdesign.data.fields import Number
from mechdesign.data.files import accepted_ending
from mechdesign.data.inputs import readable
from mechdesign.data.labelled import some_labels
from mechdesign.data.parts import has_parts
from mechdesign.deploy.dataset import PrivatizedDataset, privatize_dataset
from mechdesign.deploy.repeated_ids import PrivatizedFile
from mechdesign.deploy.stream import ENDINGS, ReportFile, privatize_file
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


class RecordPrivatizationOutput(RecordsPromised, _Reports):
    """`mechdesign privatize`, by views of whole records; `column` names the columns of reports."""


@click.command("privatize")
@click.argument("file", metavar="FILE")
@click.option("--column", metavar="COLUMN", help="A name, or an index from 0 with --no-header. Views know theirs.")
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
    "report alone, and the column that the mechanism was designed by. An index column of pandas (__index_level_0__) is "
    "copied as any other.",
)
@report_names_option
@permanent_options
@click.option("--unknown", metavar="CATEGORY", help="Replace what is not a category of the mechanism by this one.")
@click.option("--missing", metavar="CATEGORY", help="Replace missing values (nulls, empty fields) by this category.")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace OUT if it exists. Two published runs leak more than one, except permanent reports by the same "
    "mechanism, key, attribute and ids.",
)
@engine_options
@show_values_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@asked_columns
def privatize_command(
    *,
    asked: Asked,
    mechanism_file: str,
    output: str,
    keep: tuple[str, ...],
    permanent: Permanent,
    unknown: str | None,
    missing: str | None,
    overwrite: bool,
    jobs: int | None,
    scheduler: str | None,
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
    each record, in the same order; all other columns are dropped. The categories are the mechanism's:
    another one is an error, unless --unknown names the category that replaces it. The guarantee then holds if it covers
    the distribution of the records after the replacement. Each run draws new reports, and publishing two runs leaks
    more than one; so a file that exists is replaced only with --overwrite.

    With --key-file and --id reports are permanent instead: drawn from the key, the mechanism, the attribute, the id and
    the category alone, so that a run may be repeated, on any machine and in any order; --overwrite then replaces a file
    by the same reports. Whoever lacks the key learns from any number of reports about a category what one report tells.
    That ends where something changes: another category of the same id is another report, and a report that differs
    tells that the category does; another mechanism (redesigned, or with other categories), another key or another
    --attribute draws a second report about the same category. Whoever has the key can undo the reports of known ids.
    The column of ids is written only if --keep names it.

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
    file, target = asked.path, ReportFile(output, keep, overwrite)
    executor: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler}
    standard = _check(file, target, mechanism_file, permanent, executor, as_json=as_json)
    options: dict[str, Any] = {"key": permanent.key(), "ids": permanent.ids, "unknown": unknown, "missing": missing}
    done: PrivatizedFile | PrivatizedDataset
    with Progress() as progress:
        mechanism = load_mechanism(mechanism_file, progress)
        if has_parts(file):
            records = asked.of(mechanism, file)
            with opened_executor(**executor) as opened:
                done = privatize_dataset(records, mechanism, target, opened, **options, progress=progress)
        else:
            with readable(file) as place:
                records = asked.of(mechanism, place)
                done = privatize_file(records, mechanism, target, **options, progress=progress)
    if as_json:
        _print_json(done, mechanism, permanent, output=output, column=records.name, keep=keep)
    else:
        print_facts(_facts(done, mechanism, permanent, "standard output" if standard else output, keep), err=standard)


def _check(
    file: str, output: ReportFile, mechanism_file: str, permanent: Permanent, executor: dict[str, Any], *, as_json: bool
) -> bool:
    """Refuse outputs and options that do not fit the input; return whether reports go to standard output."""
    is_permanent = permanent.key_file is not None
    if has_parts(file):
        if output.overwrite:
            raise click.UsageError(
                f"--overwrite is for a single file: {second_run(permanent=is_permanent)}; leave it out, or give a new "
                "folder"
            )
        return False
    if any(value is not None for value in executor.values()):
        raise click.UsageError("--jobs and --scheduler are for the parts of a folder or a glob; leave them out")
    accepted_ending(output.path, ENDINGS)
    inputs = [file, mechanism_file, permanent.key_file]
    return places.check([str(output.path)], inputs, as_json=as_json, overwrite=output.overwrite, permanent=is_permanent)


def _changed_ids(done: PrivatizedFile | PrivatizedDataset) -> int:
    return done.changed_ids if isinstance(done, PrivatizedDataset) else done.changed


def _print_json(
    done: PrivatizedFile | PrivatizedDataset, mechanism: Deployed, permanent: Permanent, **keys: Any
) -> None:
    """Print the JSON of the reports that were drawn from a mechanism."""
    kinds: dict[str, Any] = {
        "matrix": PrivatizationOutput,
        "windows": StringPrivatizationOutput,
        "prefix-windows": StringPrivatizationOutput,
        "records": RecordPrivatizationOutput,
    }
    if isinstance(done, PrivatizedDataset):
        keys["parts"] = PublishedParts.built_from(done)
    keys |= {"records": done.records, "fingerprint": mechanism.fingerprint}
    about_ids = permanent.keys(mechanism, done.repeated, _changed_ids(done))
    print_output(kinds[mechanism.kind](**keys, **about_ids, **mechanism.promised_keys()))


def _facts(
    done: PrivatizedFile | PrivatizedDataset,
    mechanism: Deployed,
    permanent: Permanent,
    written: str,
    keep: Sequence[str],
) -> list[tuple[str, str]]:
    """Return what people read of the reports that were drawn."""
    facts, apart = [("records", f"{done.records:,}")], []
    if isinstance(done, PrivatizedDataset):
        facts.append(("parts", f"{done.published:,} written, {done.skipped:,} skipped since they were there"))
        if permanent.ids is not None and done.published + done.skipped > 1:
            column = printable(permanent.ids)
            text = f"ids are compared within each part alone; estimate --id {column} compares those of all parts"
            apart.append(("parts apart", f"{text}, if they are kept"))
    facts += [*mechanism.facts(of_report=True), ("written", written)]
    if isinstance(done, PrivatizedDataset) and done.changed:
        text = f"{len(done.changed):,} skipped parts are newer than their reports, such as {done.changed[0]}"
        facts.append(("changed", f"{text}: what changed is not reported"))
    return [*facts, *permanent.facts(mechanism, done.repeated, _changed_ids(done)), *apart, *_kept(mechanism, keep)]


def _kept(mechanism: Any, keep: Sequence[str]) -> list[tuple[str, str]]:
    """Return what people read of the columns that are copied: the one that a design was made by is covered."""
    facts, others, beside = [], list(keep), ""
    known = mechanism.guarantee.uncertainty.union if mechanism.kind == "matrix" and mechanism.provenance else None
    column = "" if known is None else mechanism.provenance.problem.rpartition(", by ")[2]
    if known is not None and column in others:
        groups = f"of the {len(known.names)} groups of the design ({some_labels(known.names)})"
        text = f"{column}: covered for whoever knows which {groups} a record is in; other groups are not"
        facts.append(("kept", text))
        others.remove(column)
        beside = f", alone or with {column}"
    if others:
        text = f"{', '.join(others)}: the guarantee does not cover what these tell about the record{beside}"
        facts.append(("kept", text))
    return facts
