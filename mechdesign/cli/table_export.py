"""``mechdesign export``."""

from __future__ import annotations

import csv
import io
from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Output, Text, Whole, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.errors import InputError, printable


class ExportOutput(Output):
    """`mechdesign export`."""

    carries = "mechdesign/export/1"

    format: Text
    categories: Whole
    output: Text


@click.command("export")
@click.argument("file", metavar="MECHANISM.json")
@click.option(
    "--sdcmicro", is_flag=True, help="The transition matrix of a table, as pram of the R package sdcMicro reads."
)
@click.option("-o", "--output", metavar="FILE", required=True, help="A .csv file; - is standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export_command(*, file: str, sdcmicro: bool, output: str, as_json: bool) -> None:
    """Write the matrix of a table for another program.

    \b
    Example:
      mechdesign export education.json --sdcmicro -o education.csv

    In R:

    \b
      pd <- as.matrix(read.csv("education.csv", row.names = 1,
                              check.names = FALSE))
      education <- factor(file$education, levels = rownames(pd))
      published <- sdcMicro::pram(education, pd = pd)$x_pram

    The CSV has a row and a column for each category. Its numbers are the shortest decimals that are read as the same
    doubles, and each row of these sums to exactly 1, in any order of addition. The guarantee is about exact draws from
    the whole numbers of the file; another program draws from doubles by its own generator.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if not sdcmicro:
        raise click.UsageError("say for which program: --sdcmicro")
    accepted_ending(output, (".csv",))
    standard = places.check([output], [file], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(file, progress, command="export")
    if mechanism.kind != "matrix" or mechanism.outputs != mechanism.inputs:
        raise InputError.wrong_file_format(
            f"{printable(file)} has other outputs than inputs; give a table, from mechdesign table"
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *mechanism.outputs])
    for label, row in zip(mechanism.inputs, mechanism.matrix.tolist(), strict=True):
        writer.writerow([label, *row])
    write_atomically(output, text.getvalue().encode())
    if as_json:
        print_output(ExportOutput(format="sdcmicro", categories=len(mechanism.inputs), output=output))
    else:
        written = "standard output" if output == STANDARD else output
        print_facts([("table", f"{len(mechanism.inputs)} categories"), ("written", written)], err=standard)
