"""A comparison for people and for programs: utilities as shares of the design's, errors in respondents."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from mechdesign.cli.estimation_words import undetermined
from mechdesign.cli.output import print_rich
from mechdesign.errors import printable
from mechdesign.optimize import Comparison, Design
from mechdesign.optimize.comparison import ErrorsBeside
from mechdesign.optimize.comparison_rows import Compared, broken_in_words, leakage_in_words
from mechdesign.problem import DesignProblem

_DIGITS = 3
_SAME = 1.01  # fewer times fewer respondents than this are not worth a sentence


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """Return the JSON of a comparison."""
    best = comparison.best_ldp
    record: dict[str, Any] = {
        "value": comparison.design.value,
        "k_ary_randomized_response": finite(comparison.k_ary_randomized_response),
        "best_ldp": None if best is None else best.value,
        f"best_ldp_{comparison.design.problem.utility.bound_name}": None if best is None else best.bound,
        "best_ldp_certified": None if best is None else best.certified,
        "best_ldp_missing": comparison.best_ldp_missing or None,
        "unit": comparison.design.unit,
    }
    if comparison.design.problem.lower is not None:
        record["local_epsilon"] = float(comparison.design.problem.local_epsilon)
    if comparison.others:
        record["others"] = [
            {
                "name": other.name,
                "value": finite(other.value),
                "leakage": finite(other.leakage),
                "lower_leakage": finite(other.lower_leakage),
                "keeps": other.keeps,
            }
            for other in comparison.others
        ]
    if comparison.estimate is not None:
        at_estimate = comparison.estimate.best_at_estimate
        record["best_at_estimate"] = {
            "value": comparison.estimate.least,
            "value_at_estimate": None if at_estimate is None else at_estimate.value,
            "missing": comparison.estimate.missing or None,
        }
    if comparison.errors is None:
        return record if comparison.promise is None else {**record, "promise": comparison.promise}
    return {**record, **_errors_record(comparison, comparison.errors)}


def finite(number: float | None) -> float | None:
    """Return a number as JSON can hold it: None where it is infinite."""
    return number if number is not None and math.isfinite(number) else None


def print_comparison(comparison: Comparison, *, err: bool = False) -> None:
    """Print mechanisms beside each other."""
    if comparison.errors is None:
        _print_utilities(comparison, err=err)
    else:
        _print_errors(comparison, comparison.errors, err=err)


def print_missing(name: str, why: str, *, err: bool) -> None:
    """Print why a mechanism is not computed, if it is not."""
    if why:
        click.echo(f"{name}: {why}", err=err)


def _print_utilities(comparison: Comparison, *, err: bool) -> None:
    design, best = comparison.design, comparison.best_ldp
    name = design.problem.utility.name + ("" if design.unit == "1" else f" ({design.unit})")
    table = _table(comparison, name, "of the design's")

    def row(label: str, value: float | None, leaks: str = "") -> None:
        share = "" if value is None or design.value <= 0 else f"{value / design.value:.1%}"
        _add(table, label, "not computed" if value is None else f"{value:.6g}", share, leaks)

    row(_this_design(comparison), design.value)
    if comparison.estimate is not None:
        row("best for the estimate, same guarantee", comparison.estimate.least)
    row(
        "best LDP mechanism" + (" (certified)" if best is not None and best.certified else ""),
        None if best is None else best.value,
    )
    row("k-ary randomized response", comparison.k_ary_randomized_response)
    for other in given(comparison):
        row(other.name, other.value, leakage_in_words(other))
    print_rich(table, err=err)
    _print_broken(comparison, err=err)
    if comparison.estimate is not None:
        print_missing("best for the estimate", comparison.estimate.missing, err=err)
    print_missing("best LDP mechanism", comparison.best_ldp_missing, err=err)
    if comparison.promise is not None:
        click.echo(comparison.promise, err=err)


def _title(problem: DesignProblem) -> str:
    """Return the promises that are compared."""
    if problem.lower is None:
        return f"At epsilon = {problem.epsilon}"
    return (
        f"At epsilon = {problem.epsilon} and lower = {problem.lower}, beside local differential privacy with "
        f"{problem.local_epsilon}, which implies both"
    )


def _table(comparison: Comparison, *columns: str) -> Table:
    """Return an empty table with a column of mechanisms and others of numbers."""
    table = Table(title=_title(comparison.design.problem), title_justify="left", highlight=False)
    table.add_column("mechanism", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    if comparison.others:
        table.add_column("leakage, nats", justify="right")
    return table


def _add(table: Table, label: str, *cells: str) -> None:
    """Add a row, but for cells that the table has no column for."""
    table.add_row(Text(printable(label)), *cells[: len(table.columns) - 1])


def _print_broken(comparison: Comparison, *, err: bool) -> None:
    """Print what the mark of a mechanism means that breaks the promise."""
    told = broken_in_words(comparison)
    if told:
        click.echo(told, err=err)


def given(comparison: Comparison) -> list[Compared]:
    """Return the rows of the mechanisms that the user gave."""
    return [row for row in comparison.rows if row.leakage is not None]


def _this_design(comparison: Comparison) -> str:
    return "this design" + (" (certified)" if comparison.design.certified else " (NOT certified)")


def _errors_record(comparison: Comparison, errors: ErrorsBeside) -> dict[str, Any]:
    """Return what the JSON of a comparison holds for estimation errors alone."""
    subsets = errors.subset_selection
    found = {
        "best_ldp": None if comparison.best_ldp is None else comparison.best_ldp.value,
        "subset_selection": None if subsets is None else subsets.value,
        "k_ary_randomized_response": finite(comparison.k_ary_randomized_response),
        "best_for_information": finite(errors.best_for_information_error),
    }
    return {
        "subset_selection": found["subset_selection"],
        "subset_selection_members": None if subsets is None else subsets.members,
        "subset_selection_missing": errors.subset_selection_missing or None,
        "best_for_information": found["best_for_information"],
        "best_for_information_missing": _why_not_informative(errors) or None,
        "respondents": {
            name: None if error is None else finite(comparison.respondents(error)) for name, error in found.items()
        },
        "promise": comparison.promise,
    }


def _why_not_informative(errors: ErrorsBeside) -> str:
    """Return why the best mechanism for information has no finite error; empty if it has one."""
    design, error = errors.best_for_information, errors.best_for_information_error
    if design is None or error is None or math.isfinite(error):
        return errors.best_for_information_missing
    return undetermined(design.mechanism.matrix)


def _print_errors(comparison: Comparison, errors: ErrorsBeside, *, err: bool) -> None:
    best, subsets = comparison.best_ldp, errors.subset_selection
    table = _table(comparison, comparison.design.problem.utility.name, "respondents for the same error")

    def row(label: str, error: float | None, leaks: str = "") -> None:
        if error is None:
            _add(table, label, "not computed", "", leaks)
        elif math.isinf(error):
            _add(table, label, "infinite", "no number is enough", leaks)
        else:
            times = f"{comparison.respondents(error):.3g}"
            _add(table, label, f"{error:.6g}", "as many" if times == "1" else f"{times} times as many", leaks)

    _add(table, _this_design(comparison), f"{comparison.design.value:.6g}", "", "")
    row(f"best LDP mechanism{_proved(best)}", None if best is None else best.value)
    name = "subset selection" if subsets is None else subsets.name
    row(f"{name} (LDP)", None if subsets is None else subsets.value)
    row("k-ary randomized response (LDP)", comparison.k_ary_randomized_response)
    row("best for mutual information, same guarantee", errors.best_for_information_error)
    for other in given(comparison):
        row(other.name, other.value, leakage_in_words(other))
    print_rich(table, err=err)
    _print_broken(comparison, err=err)
    print_missing("best LDP mechanism", comparison.best_ldp_missing, err=err)
    print_missing("subset selection", errors.subset_selection_missing, err=err)
    print_missing("best for mutual information", _why_not_informative(errors), err=err)
    fewer = _fewer_respondents(comparison, errors)
    if fewer:
        click.echo(fewer, err=err)
    if comparison.promise is not None:
        click.echo(comparison.promise, err=err)


def _proved(best: Design | None) -> str:
    """Return what is proved of the best LDP mechanism that was found."""
    if best is None:
        return ""
    return " (certified)" if best.certified else f" (NOT certified: the least is at least {best.bound:.6g})"


def _fewer_respondents(comparison: Comparison, errors: ErrorsBeside) -> str:
    """Return in one sentence how many times fewer respondents the design needs for the same error."""
    times = []
    if errors.subset_selection is not None:
        times.append((comparison.respondents(errors.subset_selection.value), "subset selection"))
    if comparison.best_ldp is not None:
        least = comparison.best_ldp.bound
        times.append((comparison.respondents(least), f"any LDP mechanism (error at least {least:.6g}, certified)"))
    told = [f"{times_fewer(ratio)} than {others}" for ratio, others in times if ratio >= _SAME]
    return f"The same error from {', and '.join(told)}." if told else ""


def times_fewer(ratio: float) -> str:
    """Return how many times fewer respondents are needed, rounded down.

    Examples
    --------
    >>> times_fewer(4.758)
    '4.75 times fewer respondents'
    """
    return f"{Context(prec=_DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(ratio):f} times fewer respondents"
