"""Information about a column of Adult against epsilon: PML of the whole column beside PML of sex alone.

For occupation and for relationship the figure shows the greatest mutual information of reports on the column under four
promises: epsilon-PML of sex alone, where the joint distribution of sex and the column is that of the 32,561 records of
the training part; the same within limits that hold it with probability 1 - 1e-9; the same on both sides (ALIP, lower =
epsilon); and epsilon-PML of the column itself, which is protected as a whole, its distribution being known. All are
certified optima but for the limits, where the mechanism is proved and no better one was found. The dotted line is what
the column itself tells. Run ``python -m figures figure_secret``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, SKY, VERMILION, empty, grid

COLUMNS = ("occupation", "relationship")
DELTA = "1e-9"
EPSILONS = ("0.02", "0.03", "0.05", "0.07", "0.1", "0.15", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2")
SECRET, BOTH, LIMITS, WHOLE = "sex alone", "sex alone, both sides", "sex alone, within limits", "the whole column"
ENTROPY = "the column itself"
_PROBLEMS = Path(__file__).parent.parent / "problems"


def promise(column: str) -> md.SecretPromise:
    """Return the promise about sex for a column, whose joint counts a problem file holds."""
    known = md.read_problem(_PROBLEMS / f"adult-secret-sex-{column}.toml").problem.uncertainty.secret_promise
    if known is None:
        raise md.InputError(f"adult-secret-sex-{column} is not about a secret; give a problem file with joint counts")
    return known


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each column, promise and epsilon; quick takes relationship and three epsilons."""
    columns, epsilons = (COLUMNS[1:], ("0.1", "0.5", "1")) if quick else (COLUMNS, EPSILONS)
    return [row for column in columns for row in _column(column, epsilons)]


def _column(column: str, epsilons: tuple[str, ...]) -> list[Row]:
    known = promise(column)
    within = md.SecretPromise(known.joint, secret=known.secret, useful=known.useful, delta=DELTA)
    whole = md.L1Ball(known.center, 0, known.labels)
    entropy = float(-np.sum(known.prior * np.log(known.prior)))
    rows: list[Row] = [_row(column, ENTROPY, "", entropy, entropy, certified=True)]
    for epsilon in epsilons:
        problems = {
            SECRET: md.DesignProblem(known, epsilon),
            BOTH: md.DesignProblem(known, epsilon, lower=epsilon),
            LIMITS: md.DesignProblem(within, epsilon),
            WHOLE: md.DesignProblem(whole, epsilon),
        }
        for name, problem in problems.items():
            found = md.design(problem)
            rows.append(_row(column, name, epsilon, found.value, found.bound, certified=found.certified))
    return rows


def _row(column: str, promised: str, epsilon: str, value: float, bound: float, *, certified: bool) -> Row:
    return {
        "column": column,
        "protected": promised,
        "epsilon": epsilon,
        "mutual_information": value,
        "upper_bound": bound,
        "certified": str(certified),
    }


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a panel for each column."""
    columns = list(dict.fromkeys(row["column"] for row in table))
    figure, panels = empty(9.6, 4.0, 1, len(columns), squeeze=False)
    for axis, column in zip(panels[0], columns, strict=True):
        _panel(axis, [row for row in table if row["column"] == column])
        axis.set_title(f"reports on {column}")
        axis.set_xlabel("epsilon (nats)")
    panels[0][0].set_ylabel("I(X; Y) (nats)")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def _panel(axis: Any, rows: list[Row]) -> None:
    looks = {
        SECRET: (BLUE, "o", "-", "sex alone (optimum)"),
        BOTH: (SKY, "^", "--", "sex alone, both sides (optimum)"),
        LIMITS: (GREEN, "s", "-", "sex alone, limits of delta = 1e-9 (reached)"),
        WHOLE: (VERMILION, "D", "-.", "the whole column: PML (optimum)"),
    }
    for name, (colour, marker, dashes, label) in looks.items():
        found = [row for row in rows if row["protected"] == name]
        axis.plot(
            [float(row["epsilon"]) for row in found],
            [row["mutual_information"] for row in found],
            color=colour,
            marker=marker,
            ms=3.5,
            lw=1.5,
            ls=dashes,
            label=label,
        )
    (entropy,) = [row["mutual_information"] for row in rows if row["protected"] == ENTROPY]
    axis.axhline(entropy, color="#000000", ls=":", lw=1.4, label="nothing protected, H(X)")
    axis.set_xscale("log")
    axis.set_ylim(0, None)
    grid(axis, "0.92")
