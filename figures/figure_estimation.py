"""What a promise costs in respondents: the error of estimated frequencies against epsilon, and against samples.

n times the mean squared error of all frequencies, from n reports, for relationship in Adult. Left: against epsilon, the
certified least error for a known prior, for every prior in the l1 ball of delta = 1e-9 (PML) and for every prior (LDP),
beside subset selection, randomized response, the most informative mechanism for the same ball (where its reports
determine the frequencies), the bound that needs no design, and the laws ``(N - 1)^2 / (N epsilon)`` and
``4 (N - 1)^2 / (N epsilon^2)``. Right: at epsilon = 1, against the number of samples behind the estimate, whose
proportions are kept. The promise under PML is the weaker one. The paper has no such figure. Run
``python -m figures figure_estimation``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.adult import adult_counts
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, WEAKER, empty, grid
from mechdesign.comparison.rivals import Rivals

COLUMNS = ("relationship",)
EPSILONS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
SAMPLES = tuple(round(10 ** (k / 3)) for k in range(5, 22))
DELTA = "1e-9"
RECORDS = 48_842
KRR, SUBSETS, LDP = "randomized response (LDP)", "subset selection (LDP)", "least error, any prior (LDP)"
INFORMATIVE, BALL, KNOWN = "most information (PML, ball)", "least error (PML, ball)", "least error (PML, known prior)"
BOUND = "bound without a design"
STYLES = {
    KRR: ("#000000", ":", "s"),
    SUBSETS: (ORANGE, "--", "v"),
    LDP: (VERMILION, "-", "D"),
    INFORMATIVE: (PURPLE, "none", "^"),
    BALL: (BLUE, "-", "o"),
    KNOWN: (GREEN, "--", "x"),
    BOUND: (SKY, "-.", None),
}


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each column, mechanism, epsilon and number of samples; quick takes few of relationship."""
    columns = COLUMNS[:1] if quick else COLUMNS
    epsilons = (0.1, 1.0, 2.0) if quick else EPSILONS
    samples = (100, 10_000, 1_000_000) if quick else SAMPLES
    rows: list[Row] = []
    for column in columns:
        for epsilon in epsilons:
            rows += _at_epsilon(column, epsilon)
        rows += [_of_ball(column, 1.0, size) for size in samples]
    return rows


def _at_epsilon(column: str, epsilon: float) -> list[Row]:
    counts = adult_counts(column)
    known, everything = md.L1Ball.from_counts(counts, known=True), md.L1Ball.from_counts(counts, radius=2)
    ball = md.L1Ball.from_counts(counts, delta=DELTA)
    error = md.EstimationError()
    ldp = md.DesignProblem(everything, epsilon, error)
    informative = md.design(md.DesignProblem(ball, epsilon)).mechanism.matrix
    values = {
        KRR: Rivals(ldp).randomized_response().value,
        SUBSETS: Rivals(ldp).subset_selection().value,
        INFORMATIVE: error.value(informative, known.center),
        BOUND: md.estimation_bound(known, epsilon),
    }
    rows = [_row(column, name, epsilon, value) for name, value in values.items()]
    for name, problem in ((LDP, ldp), (KNOWN, md.DesignProblem(known, epsilon, error))):
        solved = md.design(problem)
        rows.append(_row(column, name, epsilon, solved.value, lower_bound=solved.lower_bound))
    rows.append(_of_ball(column, epsilon, RECORDS))
    return rows


def _of_ball(column: str, epsilon: float, samples: int) -> Row:
    known = md.L1Ball.from_counts(adult_counts(column), known=True)
    ball = md.L1Ball.from_probabilities(known.center, samples=samples, delta=DELTA, labels=known.labels)
    solved = md.design(md.DesignProblem(ball, epsilon, md.EstimationError()))
    return _row(column, BALL, epsilon, solved.value, samples=samples, lower_bound=solved.lower_bound)


def _row(
    column: str,
    mechanism: str,
    epsilon: float,
    error: float,
    *,
    samples: int | None = None,
    lower_bound: float | None = None,
) -> Row:
    return {
        "column": column,
        "mechanism": mechanism,
        "epsilon": epsilon,
        "samples": samples,
        "error": error if np.isfinite(error) else None,
        "lower_bound": lower_bound,
    }


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a row of two panels for each column."""
    columns = list(dict.fromkeys(row["column"] for row in table))
    figure, axes = empty(8.6, 3.5 * len(columns) + 1.0, len(columns), 2, squeeze=False)
    for (left, right), column in zip(axes, columns, strict=True):
        rows = [row for row in table if row["column"] == column and row["error"] is not None]
        _against_epsilon(left, rows, len(adult_counts(column)))
        left.set_title(f"{column}: {RECORDS:,} samples behind the estimate")
        _against_samples(right, rows)
        right.set_title(f"{column}: epsilon = 1")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=3,
        frameon=False,
        title=WEAKER,
    )
    return figure


def _against_epsilon(axis: Any, rows: list[Row], size: int) -> None:
    for name, (colour, line, marker) in STYLES.items():
        points = [
            (r["epsilon"], r["error"]) for r in rows if r["mechanism"] == name and r["samples"] in (None, RECORDS)
        ]
        if points:
            axis.plot(
                *zip(*sorted(set(points)), strict=True), color=colour, ls=line, marker=marker, ms=4, lw=1.4, label=name
            )
    e = np.geomspace(0.05, 1, 20)
    axis.plot(e, (size - 1) ** 2 / (size * e), color="0.6", lw=0.8, label="(N - 1)^2 / (N epsilon)")
    axis.plot(
        e, 4 * (size - 1) ** 2 / (size * e**2), color="0.6", lw=0.8, ls=(0, (1, 2)), label="4 (N - 1)^2 / (N epsilon^2)"
    )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("epsilon")
    axis.set_ylabel("n times the mean squared error")
    grid(axis)


def _against_samples(axis: Any, rows: list[Row]) -> None:
    at_one = [row for row in rows if row["epsilon"] == 1.0]
    ball = sorted({(row["samples"], row["error"]) for row in at_one if row["mechanism"] == BALL})
    colour, line, marker = STYLES[BALL]
    axis.plot(*zip(*ball, strict=True), color=colour, ls=line, marker=marker, ms=4, lw=1.4)
    for name in (LDP, KNOWN, KRR, SUBSETS):
        colour, line, _ = STYLES[name]
        axis.axhline(next(row["error"] for row in at_one if row["mechanism"] == name), color=colour, ls=line, lw=1.4)
    axis.set_xscale("log")
    axis.set_ylim(0, None)
    axis.set_xlabel("samples behind the estimate")
    grid(axis)
