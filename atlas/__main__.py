"""``python -m atlas``: print the numbers of others beside ours, or write the page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from atlas import channels, estimates, histograms
from atlas.numbers import Family, Number, Ours, numbers

FAMILIES = {family.name: family for module in (channels, histograms, estimates) for family in module.FAMILIES}
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "atlas.md"
_HEAD = """# An atlas of numbers that others print

Each row is a kind of number that tests, texts or code of a public project give, and that this package computes again:
{count} numbers of {sources} sources. `python -m atlas` in a checkout computes them, and `python -m atlas --family
NAME` prints the single numbers. *Asserted* numbers stand in the tests of the source, *printed* ones in a text of it,
and *run* ones came out of its own code. A number agrees if ours is within the source's own tolerance, or within 1e-9
of it where the source has none. "Not below ours" stands where the source rounds up, or where ours is the certified
bound for all mechanisms and the source's number is the error of one.
Errors in papers stand among the [errata](../explanation/errata.md).
"""


@dataclass(frozen=True)
class Compared:
    """A number of others, and ours."""

    number: Number
    ours: Ours
    agrees: bool


def compared(chosen: str | None = None) -> list[Compared]:
    """Compute the numbers of all families, or of one."""
    found = []
    for number in numbers():
        family = FAMILIES[number.family]
        if chosen in (None, family.name):
            ours = family.ours(**number.inputs)
            found.append(Compared(number, ours, number.agrees(ours, not_below=family.not_below)))
    return found


def _verdict(family: Family, rows: Iterable[Compared]) -> str:
    rows = list(rows)
    agreeing = sum(row.agrees for row in rows)
    word = "not below ours" if family.not_below else "agree"
    differing = len(rows) - agreeing
    return f"{agreeing} {word}" + (f", {differing} differ" if differing else "")


def page(rows: list[Compared]) -> str:
    """Return the page of the documentation."""
    sources = dict.fromkeys(row.number.source for row in rows)
    text = [_HEAD.format(count=len(rows), sources=len(sources))]
    for source, of_source in groupby(rows, key=lambda row: row.number.source):
        text += [
            f"## {source}\n",
            "| number | from | verdict |",
            "|---|---|---|",
        ]
        reasons = []
        for name, of_family in groupby(of_source, key=lambda row: row.number.family):
            members, family = list(of_family), FAMILIES[name]
            text.append(f"| {family.what} (`{name}`) | {members[0].number.provenance} | {_verdict(family, members)} |")
            if family.differs:
                reasons.append(f"*{family.what[0].upper()}{family.what[1:]}*: {family.differs}.\n")
        text += ["", *reasons]
    return "\n".join(text).rstrip() + "\n"


@click.command()
@click.option(
    "--family", type=click.Choice(sorted(FAMILIES)), help="Print each number of this kind, as JSON, a line each."
)
@click.option("--write", is_flag=True, help="Write the page of the documentation.")
def atlas(*, family: str | None, write: bool) -> None:
    """Print numbers of other projects beside ours."""
    rows = compared(family)
    if write:
        PAGE.write_text(page(compared() if family else rows), encoding="utf-8")
        return
    if family:
        for row in rows:
            click.echo(json.dumps({**asdict(row.number), **asdict(row.ours), "agrees": row.agrees}))
        return
    table = Table("source", "number", "verdict")
    for (source, name), members in groupby(rows, key=lambda row: (row.number.source, row.number.family)):
        table.add_row(source, FAMILIES[name].what, _verdict(FAMILIES[name], members))
    Console().print(table)


if __name__ == "__main__":
    atlas()
