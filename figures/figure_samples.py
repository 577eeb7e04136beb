"""Mutual information against the number of samples behind the estimate, for four columns of Adult.

epsilon = 1. For each number of samples the figure shows the certified optimum for every prior in the l1 ball of delta =
1e-9 (PML). This lies between two certified optima that do not depend on samples: for a known prior, and for any prior
(LDP). k-ary randomized response is shown too. The estimate is the same throughout: the proportions of all 48,842
records are kept, so that only the radius changes, ED eq. (37). Utility is measured at the estimate. The paper has no
such figure. Run ``python -m figures figure_samples``.
"""

from __future__ import annotations

from typing import Any

import mechdesign as md
from figures.lib.adult import adult_counts
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, VERMILION, empty, grid
from mechdesign.comparison.rivals import Rivals

COLUMNS = ("education", "occupation", "relationship", "race")
EPSILON = 1
DELTA = "1e-9"
RECORDS = 48_842
# Four in each decade; the number of records replaces the value nearest to it.
SAMPLES = tuple(RECORDS if k == 19 else round(10 ** (k / 4)) for k in range(4, 29))
BALL, KNOWN, LDP, KRR = "ball of delta = 1e-9", "known prior", "any prior (LDP)", "k-ary randomized response"


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each column and mechanism; quick takes race and relationship and five numbers of samples."""
    columns = COLUMNS[2:] if quick else COLUMNS
    samples = (10, 100, 1_000, RECORDS, 10_000_000) if quick else SAMPLES
    return [row for column in columns for row in _column(column, samples)]


def _column(column: str, samples: tuple[int, ...]) -> list[Row]:
    counts = adult_counts(column)
    known, everything = md.L1Ball.from_counts(counts, known=True), md.L1Ball.from_counts(counts, radius=2)
    problem = md.DesignProblem(known, EPSILON)
    rows = [
        _row(column, KNOWN, known, md.design(problem)),
        _row(column, LDP, everything, md.design(md.DesignProblem(everything, EPSILON))),
        _row(column, KRR, everything, Rivals(problem).randomized_response().value),
    ]
    for size in samples:
        ball = md.L1Ball.from_probabilities(
            known.center, samples=size, delta=DELTA, bound="weissman", labels=known.labels
        )
        rows.append(_row(column, BALL, ball, md.design(md.DesignProblem(ball, EPSILON)), size))
    return rows


def _row(column: str, mechanism: str, ball: md.L1Ball, found: md.Design | float, samples: int | None = None) -> Row:
    solved = isinstance(found, md.Design)
    return {
        "column": column,
        "mechanism": mechanism,
        "samples": samples,
        "radius": float(ball.radius),
        "mutual_information": found.value if solved else found,
        "upper_bound": found.upper_bound if solved else None,
        "certified": found.certified if solved else None,
    }


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a panel for each column."""
    columns = list(dict.fromkeys(row["column"] for row in table))
    lines = (len(columns) + 1) // 2
    figure, panels = empty(9.6, 3.4 * lines, lines, 2, sharex=True)
    axes = panels.ravel()
    for axis, column in zip(axes, columns, strict=False):
        rows = [row for row in table if row["column"] == column]
        _panel(axis, rows)
        axis.set_title(column)
    for axis in axes[-2:]:
        axis.set_xlabel("samples behind the estimate")
    for axis in axes[::2]:
        axis.set_ylabel("I(X; Y) (nats)")
    # Okabe and Ito's colours; line styles and markers tell them apart in grey print.
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _panel(axis: Any, rows: list[Row]) -> None:
    ball = [row for row in rows if row["mechanism"] == BALL]
    level = {row["mechanism"]: row["mutual_information"] for row in rows if row["mechanism"] != BALL}
    axis.axhline(level[KNOWN], color=GREEN, ls="--", lw=1.4, label=KNOWN)
    axis.plot(
        [row["samples"] for row in ball],
        [row["mutual_information"] for row in ball],
        color=BLUE,
        marker="o",
        ms=3.5,
        lw=1.6,
        label=BALL,
    )
    axis.axhline(level[LDP], color=VERMILION, ls="-.", lw=1.4, label=LDP)
    axis.axhline(level[KRR], color="#000000", ls=":", lw=1.6, label=KRR)
    axis.axvline(RECORDS, color="0.6", lw=0.8, label=f"{RECORDS:,} records")
    axis.set_xscale("log")
    axis.set_ylim(0, None)
    grid(axis, "0.92")
