"""What commands print: facts and tables for people, one JSON object for programs."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mechdesign.errors import printable
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.optimize import Comparison, Design

_SHOWN_GROUPS, _SHOWN_ALIKE = 6, 8  # of symbols that share a row
_LEAST_WIDTH = 60  # columns of a terminal; where it says fewer, the terminal folds lines, and no text is left out
show_values_option = click.option(
    "--show-values",
    is_flag=True,
    help="Print refused values in error messages. They may be personal data; without this option a message names the "
    "row only.",
)


def print_json(schema: str, record: dict[str, Any]) -> None:
    """Print one JSON object."""
    whole = {"schema": schema, **record}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1)
    click.echo(text if _is_utf8(text) else json.dumps(whole, allow_nan=False, indent=1))


def _is_utf8(text: str) -> bool:
    """Return whether standard output writes a text as UTF-8; a file name that is not UTF-8 cannot be written so."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return codecs.lookup(encoding).name == "utf-8"


def print_facts(facts: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Print names and values, one pair a line; on standard error where standard output holds data."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(printable(name)), Text(printable(value)))
    print_rich(table, err=err)


def print_rich(table: Table, *, err: bool = False) -> None:
    """Print a table without the spaces that pad its lines."""
    console = Console(highlight=False)
    console.width = max(console.width, _LEAST_WIDTH)
    with console.capture() as capture:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in capture.get().splitlines()), err=err)


def amount(value: float, unit: str) -> str:
    """Return a number with its unit, where it has one."""
    return f"{value:.10g}" + ("" if unit == "1" else f" {unit}")


def promise(guarantee: Guarantee) -> str:
    """Return a guarantee in words."""
    return f"PML with epsilon = {guarantee.epsilon} for {guarantee.uncertainty.in_words()}"


def design_record(design: Design) -> dict[str, Any]:
    """Return the JSON of a design."""
    mechanism, form = design.mechanism, design.closed_form
    return {
        "value": design.value,
        "upper_bound": design.upper_bound,
        "gap": design.gap,
        "certified": design.certified,
        "unit": design.unit,
        "utility": design.problem.utility.name,
        **guarantee_record(mechanism),
        "method": design.method,
        "iterations": design.iterations,
        "columns": design.columns,
        "seconds": design.seconds,
        "stopped": design.stopped or None,
        "merged": [list(group) for group in design.merged] or None,
        "closed_form": None
        if form is None
        else {"theorem": form.theorem, "value": form.value, "difference": form.difference, "optimal": form.optimal},
    }


def guarantee_record(mechanism: Mechanism) -> dict[str, Any]:
    """Return the JSON of a guarantee, with the proved leakage of the mechanism."""
    delta = mechanism.guarantee.uncertainty.delta
    return {
        "epsilon": float(mechanism.guarantee.epsilon),
        "delta": None if delta is None else float(delta),
        "radius": mechanism.radius,
        "inputs": list(mechanism.inputs),
        "outputs": list(mechanism.outputs),
        "bits": mechanism.bits,
        "leakage": mechanism.leakage,
    }


def design_facts(design: Design, title: str) -> list[tuple[str, str]]:
    """Return the facts of a design that people read."""
    mechanism, unit, form = design.mechanism, design.unit, design.closed_form
    facts = [
        ("problem", title),
        *guarantee_facts(mechanism),
        (design.problem.utility.name, amount(design.value, unit)),
        ("upper bound", f"{amount(design.upper_bound, unit)}, gap {design.gap:.1e}, {_verdict(design)}"),
    ]
    if form is not None:
        claim = "optimal" if form.optimal else "feasible"
        facts.append(
            ("closed form", f"{amount(form.value, unit)} ({claim}: {form.theorem}), difference {form.difference:.1e}")
        )
    if design.merged:
        facts.append(("merged", _merged(design)))
    facts.append(("method", f"{design.method}, {design.columns} columns, {design.seconds:.1f} s"))
    return facts


def _merged(design: Design) -> str:
    """Return which symbols share a row, as far as a few lines hold them."""
    groups, inputs = design.merged, len(design.mechanism.inputs)
    rows = inputs - sum(len(group) - 1 for group in groups)
    shown = [_some(group, _SHOWN_ALIKE, ", ") for group in groups]
    told = _some(shown, _SHOWN_GROUPS, "; ", "groups ")
    return (
        f"{inputs} symbols share {rows} rows, and reports do not tell symbols with the same row apart (--json lists "
        f"them all, --no-merge gives each its own row); the same: {told}"
    )


def _some(items: Sequence[str], most: int, mark: str, what: str = "") -> str:
    """Return items, or the first of them and how many there are besides."""
    left = len(items) - most
    return mark.join(items) if left <= 0 else mark.join(items[:most]) + f" and {left} {what}more"


def _verdict(design: Design) -> str:
    return "optimal (certified)" if design.certified else f"NOT certified at tol {design.tol:g}"


def guarantee_facts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return the facts of a guarantee that people read."""
    facts = [("guarantee", promise(mechanism.guarantee))]
    known = mechanism.guarantee.uncertainty
    if known.delta is not None:
        facts.append(("delta", f"{float(known.delta):g}: {known.delta_in_words()}"))
    N, M = mechanism.numerators.shape
    facts.append(("leakage", f"at most {mechanism.leakage:.15g} nats, proved in exact arithmetic"))
    facts.append(("mechanism", f"{N} inputs, {M} output{'s' if M > 1 else ''}, probabilities over 2^{mechanism.bits}"))
    return facts


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON of a comparison."""
    best = comparison.best_ldp
    return {
        "value": comparison.design.value,
        "k_ary_randomized_response": comparison.k_ary_randomized_response,
        "best_ldp": None if best is None else best.value,
        "best_ldp_upper_bound": None if best is None else best.upper_bound,
        "best_ldp_certified": None if best is None else best.certified,
        "best_ldp_missing": comparison.best_ldp_missing or None,
        "unit": comparison.design.unit,
    }


def print_comparison(comparison: Comparison, *, err: bool = False) -> None:
    """Print three mechanisms beside each other."""
    design, best = comparison.design, comparison.best_ldp
    name = design.problem.utility.name + ("" if design.unit == "1" else f" ({design.unit})")
    table = Table(title=f"At epsilon = {design.problem.epsilon}", title_justify="left", highlight=False)
    table.add_column("mechanism", overflow="fold")
    table.add_column(name, justify="right", overflow="fold")
    table.add_column("of the design's", justify="right", overflow="fold")

    def row(label: str, value: float | None) -> None:
        share = "" if value is None or design.value <= 0 else f"{value / design.value:.1%}"
        table.add_row(Text(label), "not computed" if value is None else f"{value:.6g}", share)

    row("this design" + (" (certified)" if design.certified else " (NOT certified)"), design.value)
    row(
        "best LDP mechanism" + (" (certified)" if best is not None and best.certified else ""),
        None if best is None else best.value,
    )
    row("k-ary randomized response", comparison.k_ary_randomized_response)
    print_rich(table, err=err)
    if comparison.best_ldp_missing:
        click.echo(f"best LDP mechanism: {comparison.best_ldp_missing}", err=err)
