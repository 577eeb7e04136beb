"""What commands print: facts and tables for people, one JSON object for programs."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Collection, Sequence
from typing import Any

import click
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mechdesign.cli.common_options import is_quiet
from mechdesign.cli.estimation_words import error_of_frequencies, estimation_facts, least_error
from mechdesign.cli.terminal import color_wanted, console
from mechdesign.display.text import text_above
from mechdesign.errors import printable
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.mechanism.words import promise
from mechdesign.numerics.exact import printed_up
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize import Design
from mechdesign.utility import Objective

_SHOWN_GROUPS, _SHOWN_ALIKE = 6, 8  # of symbols that share a row
_NO_LOSS = 1e-9  # relative
_TWO_COLUMNS = 60  # columns of a terminal, from which on names and values stand beside each other
_NAMES, _LEAST_NAMES = 30, 16  # columns for the names of rows: before headers are folded, and at least
show_values_option = click.option(
    "--show-values",
    is_flag=True,
    help="Print refused values in error messages. They may be personal data; without this option a message names the "
    "row only.",
)


def print_json(schema: str, record: dict[str, Any]) -> None:
    """Print one JSON object, with the name of its schema."""
    print_object({"schema": schema, **record})


def print_object(whole: dict[str, Any]) -> None:
    """Print one JSON object as it is."""
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


def say(text: str = "", *, err: bool = False) -> None:
    """Print a line for people, unless the command is to be quiet."""
    if not is_quiet():
        click.echo(text, err=err, color=color_wanted())


def print_facts(facts: Sequence[tuple[str, str]], *, err: bool = False) -> None:
    """Print names and values, one pair a line; on standard error where standard output holds data.

    On a narrow terminal a value stands below its name.
    """
    if console().width < _TWO_COLUMNS:
        _print_stacked(facts, err=err)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(printable(name)), Text(printable(value)))
    print_rich(table, err=err)


def _print_stacked(facts: Sequence[tuple[str, str]], *, err: bool) -> None:
    table = Table.grid()
    table.add_column(overflow="fold")
    for name, value in facts:
        table.add_row(Text(printable(name), style="bold"))
        table.add_row(Padding(Text(printable(value), overflow="fold"), (0, 0, 0, 2)))
    print_rich(table, err=err)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    err: bool = False,
    texts: Collection[int] = (0,),
    ends: Collection[int] = (),
) -> None:
    """Print a table in which only texts and headers are folded, never a number.

    Parameters
    ----------
    columns, rows : sequences
        The headers, and the cells of each row.
    title : str
        A line above; none if empty.
    err : bool
        Whether to print on standard error.
    texts : collection of int
        The columns that hold texts; the others hold numbers. Where a terminal is narrower than the numbers and sixteen
        letters of each text, it folds the lines itself.
    ends : collection of int
        Rows below which a line is drawn.
    """
    cells = [*columns], *([printable(cell) for cell in row] for row in rows)
    natural = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    least = [
        max(map(cell_len, [*words.split(), *column]))
        for words, column in zip(columns, zip(*cells[1:], strict=True), strict=True)
    ]
    numbers = [j for j in range(len(columns)) if j not in texts]
    room = console().width - 3 * len(columns) - 1
    wide = sum(natural[j] for j in numbers) + sum(min(natural[j], _NAMES) for j in texts) <= room
    widths = natural if wide else least
    left = (room - sum(widths[j] for j in numbers)) // max(1, len(texts))
    table = Table(title=title or None, title_justify="left", highlight=False)
    for j, name in enumerate(columns):
        if j in texts:
            table.add_column(Text(name), overflow="fold", width=min(natural[j], max(_LEAST_NAMES, left)))
        else:
            table.add_column(Text(name), overflow="fold", width=widths[j], justify="right")
    for i, row in enumerate(cells[1:]):
        table.add_row(*map(Text, row), end_section=i in ends)
    needed = sum(column.width or 0 for column in table.columns) + 3 * len(columns) + 1
    print_rich(table, err=err, least=needed)


def print_rich(table: Table, *, err: bool = False, least: int = 0) -> None:
    """Print a table without the spaces that pad its lines, in as many columns as there are, or at least needed."""
    printer = console()
    printer.width = max(printer.width, least)
    with printer.capture() as capture:
        printer.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()), err=err)


def amount(value: float, unit: str) -> str:
    """Return a number with its unit, where it has one."""
    return f"{value:.10g}" + ("" if unit == "1" else f" {unit}")


def design_record(design: Design) -> dict[str, Any]:
    """Return the JSON of a design."""
    mechanism, form = design.mechanism, design.closed_form
    return {
        "value": design.value,
        design.problem.utility.bound_name: design.bound,
        "gap": design.gap,
        "certified": design.certified,
        "unit": design.unit,
        "utility": design.problem.utility.name,
        **_workload(design),
        **guarantee_record(mechanism),
        "method": design.method,
        "iterations": design.iterations,
        "columns": design.columns,
        "seconds": design.seconds,
        "stopped": design.stopped or None,
        "estimation_error": error_of_frequencies(design),
        **_closed_form_bound(design),
        **_worst_case_record(design),
        **_limit_record(design),
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
        "delta": None if delta is None else printed_up(delta),
        "radius": mechanism.radius,
        "inputs": list(mechanism.inputs),
        "outputs": list(mechanism.outputs),
        "bits": mechanism.bits,
        "leakage": mechanism.leakage,
        **_secret(mechanism.guarantee),
        **_lower_record(mechanism),
    }


def _secret(guarantee: Guarantee) -> dict[str, Any]:
    """Return the JSON of what a promise about a secret protects and does not protect; empty for other promises."""
    known = guarantee.uncertainty.secret_promise
    if known is None:
        return {}
    return {"secret": known.secret, "useful": known.useful, "not_protected": known.not_protected_in_words()}


def _lower_record(mechanism: Mechanism) -> dict[str, Any]:
    """Return the JSON of the promise from below; empty without one."""
    lower = mechanism.guarantee.lower
    return {} if lower is None else {"lower": float(lower), "lower_leakage": mechanism.lower_leakage}


def design_facts(design: Design, title: str) -> list[tuple[str, str]]:
    """Return the facts of a design that people read."""
    mechanism, unit, form = design.mechanism, design.unit, design.closed_form
    facts = [
        ("problem", title),
        *guarantee_facts(mechanism),
        *_queries(design.problem.utility),
        (design.problem.utility.name, amount(design.value, unit)),
        (bound_in_words(design.problem.utility), f"{amount(design.bound, unit)}, {_gap(design)}, {_verdict(design)}"),
    ]
    facts += _worst_case_facts(design)
    if design.most_outputs is not None:
        facts.append(("outputs", _limit_in_words(design)))
    if form is not None:
        claim = "optimal" if form.optimal else "feasible"
        facts.append(
            ("closed form", f"{amount(form.value, unit)} ({claim}: {form.theorem}), difference {form.difference:.1e}")
        )
    facts += estimation_facts(design)
    if design.merged:
        facts.append(("merged", _merged(design)))
    facts.append(("method", f"{design.method}, {design.columns} columns, {design.seconds:.1f} s"))
    return facts


def _workload(design: Design) -> dict[str, Any]:
    """Return the JSON of the workload; nothing where it is the default or the objective has none."""
    table = design.problem.utility.workload_table()
    return {} if table is None else {"workload": table}


def _closed_form_bound(design: Design) -> dict[str, Any]:
    """Return the JSON of the bound on an estimation error that needs no design; empty for other objectives."""
    estimated = design.problem.utility.estimation is not None
    return {"closed_form_bound": least_error(design.problem)} if estimated else {}


def _worst_case_record(design: Design) -> dict[str, Any]:
    """Return the JSON of what is told of a least utility alone, empty for other objectives."""
    mixture = design.certificate.mixture
    if mixture is None:
        return {}
    priors = [[str(q) for q in prior] for prior in mixture.priors]
    weights = [str(weight) for weight in mixture.weights]
    return {"value_at_estimate": design.value_at_estimate, "worst_case": {"priors": priors, "weights": weights}}


def _worst_case_facts(design: Design) -> list[tuple[str, str]]:
    """Return what people read of a least utility: the utility at the estimate, and why the least may be 0."""
    worst, mixture = design.problem.utility.worst_case, design.certificate.mixture
    if worst is None or mixture is None:
        return []
    facts = [("at the estimate", amount(design.value_at_estimate, design.unit))]
    if worst.utility.polyhedral is None and all(1 in prior for prior in mixture.priors):
        told = (
            "under some prior of the set one symbol is certain, so that reports inform about nothing: the least is 0 "
            "for every mechanism; this one is the best for the estimate"
        )
        facts.append(("why 0", told))
    return facts


def _limit_record(design: Design) -> dict[str, Any]:
    """Return the JSON of a limit of outputs, empty without one."""
    if design.most_outputs is None:
        return {}
    return {"most_outputs": design.most_outputs, "unrestricted_value": design.unrestricted_value}


def _limit_in_words(design: Design) -> str:
    """Return what a limit of outputs cost."""
    least, outputs = design.unrestricted_value, design.mechanism.numerators.shape[1]
    loss = 0.0 if least is None else max(0.0, design.value / least - 1)
    said = "as good as" if loss < _NO_LOSS else f"{100 * loss:.2g} % above"
    return f"{outputs} of at most {design.most_outputs}, {said} the least found without the limit"


def bound_in_words(objective: Objective) -> str:
    """Return the name of the bound of an objective."""
    return objective.bound_name.replace("_", " ")


def _queries(objective: Objective) -> list[tuple[str, str]]:
    """Return what an estimation error is about."""
    return [] if objective.estimation is None else [("queries", objective.estimation.workload.in_words())]


def _gap(design: Design) -> str:
    return f"gap {design.gap:.1e}" + (
        f" ({design.gap / design.value:.2g} of it)" if design.problem.utility.minimised else ""
    )


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
    if not design.certified and design.reached:
        return f"for any number of outputs (without the limit: within {design.tol:g} of it)"
    if not design.certified:
        return f"NOT certified at tol {design.tol:g}"
    return "optimal (certified)" if design.tol <= GAP else f"within {design.tol:g} of the optimum (certified)"


def guarantee_facts(mechanism: Mechanism) -> list[tuple[str, str]]:
    """Return the facts of a guarantee that people read."""
    facts = [("guarantee", promise(mechanism.guarantee))]
    known = mechanism.guarantee.uncertainty
    if known.not_protected_in_words():
        facts.append(("not protected", known.not_protected_in_words()))
    if known.delta is not None:
        facts.append(("delta", f"{printed_up(known.delta)}: {known.delta_in_words()}"))
    N, M = mechanism.numerators.shape
    facts.append(("leakage", f"at most {text_above(mechanism.leakage, 15)} nats, proved in exact arithmetic"))
    if mechanism.lower_leakage is not None:
        facts.append(("from below", f"at most {text_above(mechanism.lower_leakage, 15)} nats, proved likewise"))
    facts.append(("mechanism", f"{N} inputs, {M} output{'s' if M > 1 else ''}, probabilities over 2^{mechanism.bits}"))
    return facts
