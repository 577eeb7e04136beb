"""``mechdesign analyze``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from mechdesign.cli import places
from mechdesign.cli.given_mechanisms import read_given
from mechdesign.cli.json_output import (
    Finite,
    Labels,
    Nearest,
    Output,
    Printed,
    Reason,
    Text,
    Whole,
    finite,
    print_output,
)
from mechdesign.cli.mechanism_kinds import by_kind
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import time_limit_option
from mechdesign.cli.source import Source
from mechdesign.cli.source_options import source_options
from mechdesign.cli.streams import print_error
from mechdesign.comparison import Analysis, analyze
from mechdesign.comparison.analysis_words import facts
from mechdesign.comparison.given import kept, least_lift
from mechdesign.comparison.row import missed_in_words
from mechdesign.data.fields import Number
from mechdesign.display.numbers import text_above, text_near
from mechdesign.errors import InputError, LimitError, printable
from mechdesign.optimize import Design
from mechdesign.problem import DesignProblem

_SHOWN = 12  # rows of a table for people
_REPORTS = 10_000  # for which standard errors are shown


class GivenMatrix(Printed):
    """The matrix that was read."""

    name: Text
    inputs: Labels
    numbers: str
    off: Nearest


class Optimum(Printed):
    """The best mechanism of the same leakage."""

    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    certified: bool
    stopped: Reason
    seconds: Number


class AnalysedOutput(Printed):
    """What an output leaks; null where it is infinite."""

    output: Text
    probability: Number
    leakage: Finite
    lower_leakage: Finite


class AnalysedSymbol(Printed):
    """What reports tell of the frequency of a category."""

    symbol: Text
    probability: Number
    variance: Finite
    group: Whole


class KeptPromise(Printed):
    """Whether the matrix keeps a promise."""

    epsilon: Number
    lower: Number | None
    cap: Number | None = None
    maximal_leakage: Number | None = None
    keeps: bool
    missed: Finite


class AnalysisOutput(Output):
    """`mechdesign analyze`."""

    carries = "mechdesign/analysis/1"

    title: Text
    matrix: GivenMatrix
    leakage: Finite
    worst_output: Text
    worst_prior: Labels | None
    lower_leakage: Finite
    ldp_level: Finite
    utility: str
    unit: str
    value: Finite
    share: Number | None
    least_share: Number | None
    optimum: Optimum | None
    optimum_missing: Reason
    utilities: dict[str, Finite]
    outputs: list[AnalysedOutput]
    symbols: list[AnalysedSymbol]
    groups: Sequence[Labels]
    promise: KeptPromise | None


@click.command("analyze")
@click.argument("matrix_file", metavar="MATRIX")
@click.option("--optimum/--no-optimum", default=True, help="Design the best mechanism of the same leakage, or do not.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@time_limit_option
@source_options
@by_kind("analyze", "matrix_file")
def analyze_command(*, source: Source, matrix_file: str, optimum: bool, time_limit: float | None, as_json: bool) -> int:
    """Show what a mechanism of any tool leaks over a set of priors, what it is worth, and the optimum of its leakage.

    \b
    Examples:
      mechdesign analyze matrix.csv --counts counts.csv --delta 1e-9
      mechdesign analyze theirs.npz problem.toml --time-limit 60
      mechdesign analyze mechanism.json

    MATRIX is a CSV file of probabilities, a row for each category (with names, or in the order of the counts), an NPY
    or NPZ file, or a mechanism file, whose own priors are taken if no others are given; - is standard input. It may
    leak anything: leakage is computed exactly, and the best mechanism that leaks no more stands beside it.

    Views of whole records are analysed one by one, with what they tell those who know an attribute of the person: from
    --data, records with all columns, or from the tables of the views.

    --epsilon is not needed. With it, or with a problem file, the summary says whether the matrix keeps that promise.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    places.check([], [matrix_file, *source.inputs()], as_json=as_json)
    given = source.priors()
    file = read_given(matrix_file, "analyze")
    known, title = (file.uncertainty, matrix_file) if given is None else given
    if known is None:
        raise click.UsageError("give the priors: PROBLEM.toml, --counts FILE, or --data FILE --column COLUMN")
    promised, utility = source.promise_and_utility(known)
    with Progress() as progress:
        try:
            found = analyze(
                file.matrix,
                known,
                utility,
                optimum=optimum,
                time_limit=time_limit,
                name=printable(matrix_file),
                progress=progress,
            )
        except InputError as error:
            raise error.reworded(f"{printable(matrix_file)}: {error}") from None
    kept = None if promised is None else _promise(found, promised)
    uncertified = None if found.best is None or found.best.certified else _uncertified(found.best)
    if as_json:
        print_output(_output(found, title, kept), uncertified)
    else:
        _print(found, [("source", title), *source.default_in_words()], promised, kept)
    return print_error(uncertified)


def _uncertified(best: Design) -> LimitError:
    """Return the error that says that the gap of the optimum is too large."""
    return LimitError.not_certified(
        f"the optimum is not certified: the gap {best.gap:.1e} is not within tol {best.tol:g}; what helps: a larger "
        "--time-limit"
    )


def _output(found: Analysis, title: str, kept: KeptPromise | None) -> AnalysisOutput:
    """Return an analysis as it is printed as JSON."""
    best = found.best
    return AnalysisOutput.built_from(
        found,
        title=title,
        matrix=GivenMatrix.built_from(found.matrix, inputs=found.inputs),
        worst_prior=None if found.worst_prior is None else [str(q) for q in found.worst_prior],
        utility=found.utility.name,
        unit=found.utility.unit,
        optimum=None if best is None else Optimum.built_from(best, **{found.utility.bound_name: best.bound}),
        optimum_missing=found.best_missing,
        utilities=dict(found.utilities),
        outputs=_rows(found, "outputs"),
        symbols=_rows(found, "symbols"),
        promise=kept,
    )


def _rows(found: Analysis, of: str) -> list[dict[str, Any]]:
    """Return the rows of a table of an analysis."""
    columns = found.table(of)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _promise(found: Analysis, promised: DesignProblem) -> KeptPromise:
    """Return whether a mechanism keeps a promise."""
    least = least_lift(found.matrix, promised.sides, found.uncertainty)
    greatest = found.matrix.sum_of_greatest
    keeps, missed = kept(found.greatest_ratio, least, promised, rounded=found.matrix.rounded, greatest=greatest)
    lower = None if promised.lower is None else float(promised.lower)
    beside = {name: float(number) for name, number in promised.sides.beside.items() if name != "lower"}
    return KeptPromise(epsilon=float(promised.epsilon), lower=lower, keeps=keeps, missed=missed, **beside)


def _print(
    found: Analysis, asked: list[tuple[str, str]], promised: DesignProblem | None, kept: KeptPromise | None
) -> None:
    """Print an analysis for people."""
    lines = [*asked, *facts(found)]
    if promised is not None and kept is not None:
        verdict = "NOT kept" if not kept.keeps else missed_in_words(kept.missed) if kept.missed else "kept"
        lines.append(("promise", f"{promised.sides.in_words}: {verdict}"))
    print_facts(lines)
    say()
    _print_utilities(found)
    _print_outputs(found)
    _print_symbols(found)


def _print_utilities(found: Analysis) -> None:
    rows = [[name, text_near(value, 6)] for name, value in found.utilities.items()]
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
    heads = ["category", "probability", f"standard error at {_REPORTS:,} reports"]
    print_table(heads, rows, title="Estimates of frequencies")
    _print_rest(len(found.inputs), "categories")


def _print_rest(size: int, what: str) -> None:
    if size > _SHOWN:
        say(f"and {size - _SHOWN} more {what} (--json lists them all)")
