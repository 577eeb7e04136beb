"""``mechdesign analyze``."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from mechdesign.analysis import Analysis, analyze
from mechdesign.analysis.words import facts
from mechdesign.cli import places
from mechdesign.cli.comparison_output import finite
from mechdesign.cli.given_mechanisms import read_given
from mechdesign.cli.output import print_facts, print_json, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.source import Source, source_options, time_limit_option
from mechdesign.display.text import text_above
from mechdesign.errors import InputError, LimitError, printable
from mechdesign.optimize.beside import keeps_promise, missed_by, missed_in_words
from mechdesign.problem import DesignProblem

_SHOWN = 12  # rows of a table for people
_REPORTS = 10_000  # for which standard errors are shown


@click.command("analyze", short_help="Show what any mechanism leaks, and what is possible at its leakage.")
@click.argument("matrix_file", metavar="MATRIX")
@click.option("--optimum/--no-optimum", default=True, help="Design the best mechanism of the same leakage, or do not.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@time_limit_option
@source_options
def analyze_command(*, source: Source, matrix_file: str, optimum: bool, time_limit: float | None, as_json: bool) -> int:
    """Show what a mechanism of any tool leaks over a set of priors, what it is worth, and the optimum of its leakage.

    \b
    Examples:
      mechdesign analyze matrix.csv --counts counts.csv --delta 1e-9
      mechdesign analyze theirs.npz problem.toml --time-limit 60
      mechdesign analyze mechanism.json

    MATRIX is a CSV file of probabilities, a row for each value (with labels, or in the order of the counts), an NPY or
    NPZ file, or a mechanism file, whose own priors are taken if no others are given; - is standard input. It may leak
    anything: leakage is computed exactly, and the best mechanism that leaks no more stands beside it.

    --epsilon is not needed. With it, or with a problem file, the summary says whether the matrix keeps that promise.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    places.check([], [matrix_file, *source.inputs()], as_json=as_json)
    given = source.priors()
    file = read_given(matrix_file)
    known, title = (file.uncertainty, matrix_file) if given is None else given
    if known is None:
        raise click.UsageError("give the priors: PROBLEM.toml, --counts FILE, or --data FILE --column COLUMN")
    promised, utility = source.promise_and_utility(known)
    with Progress() as report:
        try:
            found = analyze(
                file.matrix,
                known,
                utility,
                optimum=optimum,
                time_limit=time_limit,
                name=printable(matrix_file),
                report=report,
            )
        except InputError as error:
            raise InputError(f"{printable(matrix_file)}: {error}") from None
    kept = None if promised is None else _promise(found, promised)
    if as_json:
        print_json("mechdesign/analysis/1", {"title": title, **analysis_record(found), "promise": kept})
    else:
        _print(found, title, promised, kept)
    best = found.best
    if best is not None and not best.certified:
        said = f"the optimum is not certified: the gap {best.gap:.1e} is not within tol {best.tol:g}"
        say(f"Error: {said}; what helps: a larger --time-limit", err=True)
        return LimitError.exit_status
    return 0


def analysis_record(found: Analysis) -> dict[str, Any]:
    """Return the JSON of an analysis."""
    best = found.best
    return {
        "matrix": {
            "name": found.matrix.name,
            "inputs": list(found.inputs),
            "numbers": found.matrix.numbers,
            "off": float(found.matrix.off),
        },
        "leakage": finite(found.leakage),
        "worst_output": found.worst_output,
        "worst_prior": None if found.worst_prior is None else [str(q) for q in found.worst_prior],
        "lower_leakage": finite(found.lower_leakage),
        "ldp_level": finite(found.ldp_level),
        "utility": found.utility.name,
        "unit": found.utility.unit,
        "value": finite(found.value),
        "share": found.share,
        "least_share": found.least_share,
        "optimum": None
        if best is None
        else {
            "value": best.value,
            found.utility.bound_name: best.bound,
            "certified": best.certified,
            "stopped": best.stopped or None,
            "seconds": best.seconds,
        },
        "optimum_missing": found.best_missing or None,
        "utilities": {name: finite(value) for name, value in found.utilities.items()},
        "outputs": _records(found, "outputs"),
        "symbols": _records(found, "symbols"),
        "groups": [list(group) for group in found.groups],
    }


def _records(found: Analysis, of: str) -> list[dict[str, Any]]:
    """Return a table of an analysis as a list of records; None stands for infinity."""
    columns = found.table(of)
    return [
        {name: finite(value) if isinstance(value, float) else value for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]


def _promise(found: Analysis, promised: DesignProblem) -> dict[str, Any]:
    """Return whether a mechanism keeps a promise."""
    lifts = found.greatest_ratio, min(found.least_lifts)
    return {
        "epsilon": float(promised.epsilon),
        "lower": None if promised.lower is None else float(promised.lower),
        "keeps": keeps_promise(*lifts, promised, rounded=found.matrix.rounded),
        "missed": finite(missed_by(*lifts, promised)),
    }


def _print(found: Analysis, title: str, promised: DesignProblem | None, kept: dict[str, Any] | None) -> None:
    """Print an analysis for people."""
    told = [("source", title), *facts(found)]
    if promised is not None and kept is not None:
        sides = f"epsilon = {promised.epsilon}" + ("" if promised.lower is None else f", lower = {promised.lower}")
        missed = kept["missed"]
        said = "NOT kept" if not kept["keeps"] else missed_in_words(missed) if missed else "kept"
        told.append(("promise", f"{sides}: {said}"))
    print_facts(told)
    say()
    _print_utilities(found)
    _print_outputs(found)
    _print_symbols(found)


def _print_utilities(found: Analysis) -> None:
    rows = [
        [name, f"{value:.6g}" if finite(value) is not None else "infinite"] for name, value in found.utilities.items()
    ]
    print_table(["utility", "value"], rows, title="Utilities at the estimate")


def _print_outputs(found: Analysis) -> None:
    columns = found.table("outputs")
    rows = []
    for j in np.argsort(-found.leakages, kind="stable")[:_SHOWN]:
        label, mass, leaks, lower = (column[j] for column in columns.values())
        rows.append([label, f"{mass:.5g}", text_above(leaks, 6), text_above(lower, 6)])
    heads = ["output", "probability", "leakage, nats", "from below"]
    print_table(heads, rows, title="Outputs, those that leak most first")
    _print_rest(len(found.outputs), "outputs")


def _print_symbols(found: Analysis) -> None:
    rows = []
    for label, mass, variance, _ in list(zip(*found.table("symbols").values(), strict=True))[:_SHOWN]:
        error = f"{(variance / _REPORTS) ** 0.5:.3g}" if finite(variance) is not None else "not determined"
        rows.append([label, f"{mass:.5g}", error])
    heads = ["symbol", "probability", f"standard error at {_REPORTS:,} reports"]
    print_table(heads, rows, title="Estimates of frequencies")
    _print_rest(len(found.inputs), "symbols")


def _print_rest(size: int, what: str) -> None:
    if size > _SHOWN:
        say(f"and {size - _SHOWN} more {what} (--json lists them all)")
