"""``mechdesign methods``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mechdesign.cli import places
from mechdesign.cli.json_output import Labels, Output, Printed, Text, print_output
from mechdesign.cli.output import print_facts
from mechdesign.cli.source import Source
from mechdesign.cli.source_options import source_options
from mechdesign.optimize import methods


class MethodRecord(Printed):
    """One method of design, and why it does not cover the problem; empty where it does."""

    name: str
    does: str
    closes: bool
    why_not: str


class MethodsOutput(Output):
    """Which methods of design cover a problem, and which one is taken; empty if none is."""

    carries = "mechdesign/methods/1"

    title: Text
    taken: str
    reductions: Labels
    methods: Sequence[MethodRecord]


@click.command("methods")
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def methods_command(*, source: Source, as_json: bool) -> int:
    """Show which methods of design cover a problem, which one is taken, and why the others do not cover it.

    \b
    Examples:
      mechdesign methods problems/adult-education.toml
      mechdesign methods --counts counts.csv --epsilon 1 --delta 1e-9

    Nothing is designed. `mechdesign design --method NAME` takes another method that covers the problem; each one proves
    the guarantee and a bound. If no method covers the problem, the exit status is 2.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    places.check([], source.inputs(), as_json=as_json)
    problem, title = source.problem()
    found = methods(problem)
    if as_json:
        print_output(MethodsOutput.built_from(found, title=title, methods=found.rows))
    else:
        facts = [("problem", title)] if title else []
        facts += [("solved as another problem", why) for why in found.reductions]
        for row in sorted(found, key=lambda row: (not row.covers, row.name != found.taken)):
            does = f": {row.does}{'' if row.closes else '; may end with a gap'}" if row.covers else ""
            facts.append((row.name, f"{found.verdict(row)}{does}"))
        print_facts(facts)
    return 0 if found.taken else 2
