"""What commands print: facts and tables for people, one JSON object for programs."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mechdesign.errors import printable
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.optimize import Comparison, Design
from mechdesign.uncertainty import L1Ball, ProductSet, UncertaintySet

_LEAST_WIDTH = 60  # columns of a terminal; where it says fewer, the terminal folds lines, and no text is left out
show_values_option = click.option(
    "--show-values",
    is_flag=True,
    help="Let messages print values that are refused, which may be somebody's; they name the row alone otherwise.",
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
    """Print names and values below each other; on standard error where standard output has something else to hold."""
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
    text, known = f"PML with epsilon = {guarantee.epsilon}", guarantee.uncertainty
    if _everything(known):
        return f"{text} for every prior, which is local differential privacy"
    if isinstance(known, ProductSet):
        return f"{text} for every joint prior {_factors(known)}"
    if not isinstance(known, L1Ball):
        return f"{text} for every mixture of {len(getattr(known, 'priors', ()))} priors"
    if known.radius == 0:
        return f"{text} for the prior itself, taken as known"
    return f"{text} for every prior within l1 distance {float(known.radius):.6g} of the estimate"


def _everything(known: UncertaintySet) -> bool:
    """Return whether a set is known to hold every prior."""
    if isinstance(known, ProductSet):
        return _everything(known.first) and _everything(known.second)
    return isinstance(known, L1Ball) and known.radius == 2


def _factors(known: ProductSet) -> str:
    first, second = _member(known.first), _member(known.second)
    return f"whose first attribute has {first}, and whose second has {second}, whatever the first is"


def _member(known: UncertaintySet) -> str:
    """Return what one attribute is known to have."""
    if _everything(known):
        return "any prior"
    if isinstance(known, ProductSet):
        return f"a joint prior ({_factors(known)})"
    if not isinstance(known, L1Ball):
        return f"a mixture of {len(getattr(known, 'priors', ()))} priors"
    if known.radius == 0:
        return "its estimated prior, taken as known"
    return f"a prior within l1 distance {float(known.radius):.6g} of its estimate"


def delta_of(guarantee: Guarantee) -> float | None:
    """Return the probability with which the true prior may lie outside the set, where it is known.

    For a product set it is the sum over its factors, and speaks of attributes that are independent.
    """
    delta = _delta(guarantee.uncertainty)
    return None if delta is None else float(min(delta, Fraction(1)))


def _delta(known: UncertaintySet) -> Fraction | None:
    if isinstance(known, ProductSet):
        # Nothing lies outside a set of all priors.
        deltas = [_delta(factor) for factor in (known.first, known.second) if not _everything(factor)]
        stated = [delta for delta in deltas if delta is not None]
        return sum(stated, Fraction(0)) if stated and len(stated) == len(deltas) else None
    return known.evidence.delta if isinstance(known, L1Ball) and known.evidence is not None else None


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
        "closed_form": None
        if form is None
        else {"theorem": form.theorem, "value": form.value, "difference": form.difference, "optimal": form.optimal},
    }


def guarantee_record(mechanism: Mechanism) -> dict[str, Any]:
    """Return the JSON of what a mechanism promises, with the leakage proved of it."""
    return {
        "epsilon": float(mechanism.guarantee.epsilon),
        "delta": delta_of(mechanism.guarantee),
        "radius": mechanism.radius,
        "inputs": list(mechanism.inputs),
        "outputs": list(mechanism.outputs),
        "bits": mechanism.bits,
        "leakage": mechanism.leakage,
    }


def design_facts(design: Design, title: str) -> list[tuple[str, str]]:
    """Return what a person wants to know of a design."""
    mechanism, unit, form = design.mechanism, design.unit, design.closed_form
    facts = [
        ("problem", title),
        *guarantee_facts(mechanism),
        (design.problem.utility.name, amount(design.value, unit)),
        ("upper bound", f"{amount(design.upper_bound or 0, unit)}, gap {design.gap:.1e}, {_verdict(design)}"),
    ]
    if form is not None:
        claim = "optimal" if form.optimal else "feasible"
        facts.append(
            ("closed form", f"{amount(form.value, unit)} ({claim}: {form.theorem}), difference {form.difference:.1e}")
        )
    facts.append(("method", f"{design.method}, {design.columns} columns, {design.seconds:.1f} s"))
    return facts


def _verdict(design: Design) -> str:
    return "optimal (certified)" if design.certified else f"NOT certified at tol {design.tol:g}"


def guarantee_facts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return what a person wants to know of a guarantee."""
    facts = [("guarantee", promise(mechanism.guarantee))]
    delta, known = delta_of(mechanism.guarantee), mechanism.guarantee.uncertainty
    if delta is not None and isinstance(known, ProductSet):
        facts.append(
            (
                "delta",
                f"{delta:g}: the true prior, if attributes are independent, lies outside with at most this probability",
            )
        )
    elif delta is not None:
        evidence = known.evidence  # type: ignore[attr-defined]
        total = sum(evidence.counts)
        told = f"{evidence.samples} samples" + ("" if total == evidence.samples else f", counts of {total} records")
        facts.append(("delta", f"{delta:g}: the true prior lies outside with at most this probability ({told})"))
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
