"""A comparison for people and for programs: utilities as shares of the design's, errors in respondents."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context
from typing import Any

from mechdesign.cli.estimation_words import undetermined
from mechdesign.cli.output import print_table, say
from mechdesign.display.text import text_above, text_below
from mechdesign.optimize import Comparison
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
                "missed": finite(other.missed),
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
        say(f"{name}: {why}", err=err)


def _print_utilities(comparison: Comparison, *, err: bool) -> None:
    design = comparison.design
    rows = []
    for row in comparison.rows:
        share = "" if row.value is None or design.value <= 0 else f"{row.value / design.value:.1%}"
        rows.append([_named(comparison, row), row.told, share, leakage_in_words(row)])
    value = "value" if design.unit == "1" else f"value ({design.unit})"
    _print_rows(comparison, [value, "of the design's"], rows, err=err)
    if comparison.estimate is not None:
        print_missing("best for the estimate", comparison.estimate.missing, err=err)
    print_missing("best LDP mechanism", comparison.best_ldp_missing, err=err)
    if comparison.promise is not None:
        say(comparison.promise, err=err)


def _title(problem: DesignProblem) -> str:
    """Return the promises that are compared."""
    if problem.lower is None:
        return f"At epsilon = {problem.epsilon}"
    return (
        f"At epsilon = {problem.epsilon} and lower = {problem.lower}, beside local differential privacy with "
        f"{problem.local_epsilon}, which implies both"
    )


def _print_rows(comparison: Comparison, columns: list[str], rows: list[list[str]], *, err: bool) -> None:
    """Print rows of a comparison, with what is compared above them."""
    problem = comparison.design.problem
    title = f"{_title(problem)}: {problem.utility.name}"
    names = ["mechanism", *columns, *(["leakage, nats"] if comparison.others else [])]
    print_table(names, [row[: len(names)] for row in rows], title=title, err=err)
    told = broken_in_words(comparison)
    if told:
        say(told, err=err)


def _named(comparison: Comparison, row: Compared) -> str:
    """Return a mechanism in words, with what is proved of it."""
    if row.certified is None:
        return row.name
    if row.certified:
        return f"{row.name} (certified)"
    side = "the least is at least" if comparison.design.problem.utility.minimised else "the greatest is at most"
    rounded = text_below if comparison.design.problem.utility.minimised else text_above
    shown = "" if row.bound is None else rounded(row.bound, 6)
    told = "" if row.name == "this design" or row.bound is None else f": {side} {shown}"
    return f"{row.name} (NOT certified{told})"


def given(comparison: Comparison) -> list[Compared]:
    """Return the rows of the mechanisms that the user gave."""
    return [row for row in comparison.rows if row.leakage is not None]


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
    rows = []
    for row in comparison.rows:
        if row.value is None or row.name == "this design":
            needed = ""
        elif math.isinf(row.value):
            needed = "no number is enough"
        else:
            times = f"{comparison.respondents(row.value):.3g}"
            needed = "as many" if times == "1" else f"{times} times as many"
        rows.append([_named(comparison, row), row.told, needed, leakage_in_words(row)])
    _print_rows(comparison, ["value", "respondents for the same error"], rows, err=err)
    print_missing("best LDP mechanism", comparison.best_ldp_missing, err=err)
    print_missing("subset selection", errors.subset_selection_missing, err=err)
    print_missing("best for mutual information", _why_not_informative(errors), err=err)
    fewer = _fewer_respondents(comparison, errors)
    if fewer:
        say(fewer, err=err)
    if comparison.promise is not None:
        say(comparison.promise, err=err)


def _fewer_respondents(comparison: Comparison, errors: ErrorsBeside) -> str:
    """Return in one sentence how many times fewer respondents the design needs for the same error."""
    times = []
    if errors.subset_selection is not None:
        times.append((comparison.respondents(errors.subset_selection.value), "subset selection"))
    if comparison.best_ldp is not None:
        least = comparison.best_ldp.bound
        times.append(
            (comparison.respondents(least), f"any LDP mechanism (error at least {text_below(least, 6)}, certified)")
        )
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
