"""``python -m challenges``: list the instances, judge a solution, prove what is known, write the page."""

from __future__ import annotations

import json
import sys

import click
from rich.console import Console
from rich.table import Table

import mechdesign as md
from challenges.instances import instance, instances
from challenges.judge import judged
from challenges.known import FILE, known_of, read_known, write_known
from challenges.page import PAGE, page
from challenges.solutions import read_solution
from mechdesign.display.numbers import text_above
from mechdesign.errors import MechdesignError, printable
from mechdesign.mechanism import ExactMatrix, Guarantee


class _OneLine(click.Group):
    """Commands whose errors are one line and an exit status."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except MechdesignError as error:
            click.echo(f"Error: {printable(str(error))}", err=True)
            sys.exit(error.exit_status)


@click.group(cls=_OneLine)
def challenges() -> None:
    """Instances of mechanism design, the best that is known of each, and a judge of solutions."""


@challenges.command("list")
def list_command() -> None:
    """Print the name of each instance, with its size, set, promise and objective."""
    for each in instances():
        click.echo(f"{each.name:46} {each.in_words()}")


@challenges.command()
@click.argument("name")
def show(name: str) -> None:
    """Print the problem file of an instance."""
    click.echo(instance(name).path.read_text(encoding="utf-8"), nl=False)


@challenges.command()
@click.argument("name")
@click.argument("solution")
@click.option("--repair", "repaired", metavar="FILE", help="Move the matrix until the promise holds, and write it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(*, name: str, solution: str, repaired: str | None, as_json: bool) -> None:
    """Prove that a solution keeps the promise of an instance, and say what it is worth.

    Exit status: 0 it keeps the promise; 1 it does not; 2 it is no matrix for this instance.
    """
    chosen = instance(name)
    exact = read_solution(solution, chosen.problem.uncertainty)
    if repaired is not None:
        guarantee = Guarantee(chosen.problem.sides, chosen.problem.uncertainty.exact_set)
        found = md.Mechanism.repaired(exact.matrix, guarantee, bits=52, outputs=exact.outputs)
        found.mechanism.save(repaired)
        exact = ExactMatrix.of(found.mechanism)
        click.echo(f"{repaired}: no entry moved by more than {text_above(found.moved, 3)}", err=True)
    result = judged(chosen, exact, read_known()[name])
    if as_json:
        click.echo(json.dumps(result.keys(), allow_nan=False))
        return
    for key, text in result.lines():
        click.echo(f"{key:12} {text}")


@challenges.command("table")
@click.option("--write", is_flag=True, help="Write the page of the documentation.")
def table_command(*, write: bool) -> None:
    """Print the best value, bound and gap that are known of each instance."""
    known = read_known()
    if write:
        PAGE.write_text(page(known), encoding="utf-8")
        return
    table = Table("instance", "value", "bound", "gap", "status")
    for each in instances():
        found = known[each.name]
        table.add_row(
            each.name, f"{found.value.low:.10g}", f"{found.bound:.10g}", text_above(found.gap, 2), found.status
        )
    Console().print(table)


@challenges.command("prove")
@click.argument("names", nargs=-1)
@click.option("--write", is_flag=True, help="Write down what the files show, for the table.")
def prove_command(*, names: tuple[str, ...], write: bool) -> None:
    """Prove the files of all instances, or of some, and compare what they show with what is written down."""
    written = read_known() if FILE.exists() else {}
    different = []
    for each in map(instance, names) if names else instances():
        found = known_of(each)
        different += [each.name] if written.get(each.name) != found else []
        written[each.name] = found
        click.echo(f"{each.name:46} {found.value.low:.12g}  {found.bound:.12g}  {found.status}")
    if write:
        write_known(written[each.name] for each in instances() if each.name in written)
    elif different:
        click.echo(f"Error: known.json says otherwise of {', '.join(different)}; prove --write writes it", err=True)
        sys.exit(1)


if __name__ == "__main__":
    challenges()
