"""``mechdesign privatize``."""

from __future__ import annotations

from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.output import guarantee_record, print_facts, print_json, show_values_option
from mechdesign.cli.progress import Progress
from mechdesign.data.files import accepted_ending
from mechdesign.data.inputs import readable
from mechdesign.deploy.stream import ENDINGS, RecordFile, ReportFile, privatize_file
from mechdesign.deploy.values import leakage_of_values
from mechdesign.mechanism import Key, Mechanism
from mechdesign.mechanism.words import promise


@click.command("privatize", short_help="Replace a column of records by private reports.")
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
    help="The file of reports: .csv or .parquet; - is CSV on standard output.",
)
@click.option("--no-header", is_flag=True, help="The CSV file has no line of column names, and the output gets none.")
@click.option(
    "--keep",
    metavar="COLUMN",
    multiple=True,
    help="Also copy this column; may be repeated. A copied column can undo the privacy: the guarantee covers the "
    "report alone. An index column of pandas (__index_level_0__) is copied as any other.",
)
@click.option(
    "--key-file",
    metavar="KEY",
    help="Draw permanent reports from this key, which `mechdesign key` makes: the same id and value always get the "
    "same report. Needs --id.",
)
@click.option(
    "--id",
    "ids",
    metavar="COLUMN",
    help="The column that says whom a record is about, for --key-file: text or integers, taken as they are. It is "
    "written only if --keep names it; reports of one id, on several days or attributes, can then be linked.",
)
@click.option(
    "--attribute",
    metavar="NAME",
    help="What the records say, for --key-file: any text, always the same for the same attribute. Needed where several "
    "columns are reported by one mechanism under one key; without it they share their randomness.",
)
@click.option("--unknown", metavar="LABEL", help="Replace values outside the alphabet by this input.")
@click.option("--missing", metavar="LABEL", help="Replace missing values (nulls, empty fields) by this input.")
@click.option("--overwrite", is_flag=True, help="Replace OUT if it exists. Two published runs leak more than one.")
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
    key_file: str | None,
    ids: str | None,
    attribute: str | None,
    unknown: str | None,
    missing: str | None,
    overwrite: bool,
    show_values: bool,
    as_json: bool,
) -> None:
    """Replace a column of FILE (CSV or Parquet, of any size) by reports drawn from a mechanism.

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

    Reports are drawn exactly from the proved integers with the operating system's secure randomness, one for
    each record, in the same order; all other columns are dropped. The alphabet is the mechanism's: a value
    outside it is an error, unless --unknown names the input that replaces it. The guarantee then holds if it covers
    the distribution of the records after the replacement. Each run draws new reports, and publishing two runs leaks
    more than one; so a file that exists is replaced only with --overwrite.

    With --key-file and --id reports are permanent instead: drawn from the key, the mechanism, the attribute, the id and
    the value alone, so that a run may be repeated, on any machine and in any order. Whoever lacks the key learns from
    any number of reports about a value what one report tells. That ends where something changes: another value of the
    same id is another report, and a report that differs tells that the value does; another mechanism (redesigned, or
    with other labels), another key or another --attribute draws a second report about the same value. Whoever has the
    key can undo the reports of known ids. The column of ids is written only if --keep names it.

    FILE or the mechanism may be -, for standard input, which is kept in a temporary file while the command runs. With
    -o - the summary goes to standard error. An output file is written whole or not at all; standard
    output may be incomplete if the exit status is not 0.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    accepted_ending(output, ENDINGS)
    key = _key(key_file, ids, attribute)
    standard = places.check([output], [file, mechanism_file, key_file], as_json=as_json, overwrite=overwrite)
    with Progress() as report:
        mechanism = places.load_mechanism(mechanism_file, report)
        with readable(file) as place:
            done = privatize_file(
                RecordFile(place, column, header=not no_header, show_values=show_values),
                ReportFile(output, keep, overwrite),
                mechanism,
                key=key,
                ids=ids,
                unknown=unknown,
                missing=missing,
                report=report,
            )
    if as_json:
        print_json(
            "mechdesign/privatization/1",
            {
                "records": done,
                "output": output,
                "column": column,
                "keep": list(keep),
                "fingerprint": mechanism.fingerprint,
                **({} if key is None else _permanent_record(mechanism, ids, key)),
                **guarantee_record(mechanism),
            },
        )
        return
    facts = [
        ("records", f"{done:,}"),
        ("guarantee", promise(mechanism.guarantee)),
        ("leakage", f"at most {mechanism.leakage:.15g} nats a report, proved in exact arithmetic"),
        ("written", "standard output" if standard else output),
    ]
    if key is not None:
        facts += _permanent_facts(mechanism, key)
    if keep:
        facts.append(("kept", f"{', '.join(keep)}: the guarantee does not cover what these tell about the record"))
    print_facts(facts, err=standard)


def _key(key_file: str | None, ids: str | None, attribute: str | None) -> Key | None:
    """Return the key of permanent reports; None for fresh ones."""
    if key_file is None:
        for option, value in (("--id", ids), ("--attribute", attribute)):
            if value is not None:
                raise click.UsageError(f"{option} belongs to --key-file, the key of permanent reports; give both")
        return None
    if ids is None:
        raise click.UsageError("--key-file needs --id, the column that says whom a record is about")
    key = Key.read(key_file)
    return key if attribute is None else key.for_attribute(attribute)


def _permanent_facts(mechanism: Mechanism, key: Key) -> list[tuple[str, str]]:
    """Return what people read of permanent reports."""
    name = key.attribute or "none given; another column reported by this mechanism under this key needs --attribute"
    return [
        ("permanent", "the same id and value always get the same report, under this key, mechanism and attribute"),
        ("attribute", name),
        ("fingerprint", mechanism.fingerprint),
        ("if values change", _several_values(mechanism)),
    ]


def _several_values(mechanism: Mechanism) -> str:
    """Return what reports about different values of one id leak."""
    if len(mechanism.inputs) < 2:
        return "there is one input alone"
    two = leakage_of_values(mechanism, 2)
    told = "a report that differs tells that the value does, and"
    if two is None:
        return f"{told} there is no bound on the leakage of two values: some outputs rule values out"
    return f"{told} the reports about T values leak at most T x {two / 2:.10g} nats, whatever the distribution"


def _permanent_record(mechanism: Mechanism, ids: str | None, key: Key) -> dict[str, Any]:
    """Return the JSON of permanent reports."""
    two = None if len(mechanism.inputs) < 2 else leakage_of_values(mechanism, 2)
    return {"permanent": True, "id": ids, "attribute": key.attribute, "leakage_of_two_values": two}
