"""True frequencies of the 16 education levels of Adult beside those estimated from private reports.

Every one of the 48,842 records is reported once, with epsilon = 1, through three mechanisms: the one of least
estimation error, certified, for every prior in the l1 ball of delta = 1e-9 (PML), the most informative one for the same
priors, and k-ary randomized response (LDP, the stronger promise). Lines are 95 % confidence intervals for the
frequencies among these records. Run ``python -m figures frequencies``. Reports are drawn with a seeded generator, so
that the picture can be made again; a real release must never be seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.adult import adult_counts, adult_problem
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, VERMILION, WEAKER, empty
from mechdesign.comparison.rivals import Rivals

NAMES = ("least error (PML)", "most information (PML)", "randomized response (LDP, a stronger promise)")
STYLES = ((-0.26, BLUE, "o"), (0.0, GREEN, "^"), (0.26, VERMILION, "s"))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each mechanism and level; quick takes the 6 levels of relationship instead."""
    column = "relationship" if quick else "education"
    problem, labelled = adult_problem(column), adult_counts(column)
    counts = np.array(list(labelled.values()))
    records = np.repeat(np.arange(counts.size), counts)
    least = md.DesignProblem(problem.uncertainty, problem.epsilon, md.EstimationError())
    mechanisms = (
        md.design(least).mechanism,
        md.design(problem).mechanism,
        Rivals(problem).randomized_response().mechanism,
    )
    rows = []
    for label, mechanism in zip(NAMES, mechanisms, strict=True):
        reports = mechanism.privatize(records, np.random.default_rng(2026))
        found = md.estimate_frequencies(reports, mechanism, of="records")
        for level, true, frequency, (lower, upper) in zip(
            found.labels, counts / counts.sum(), found.frequencies, found.intervals, strict=True
        ):
            rows.append(
                {
                    "mechanism": label,
                    "level": level,
                    "true": float(true),
                    "estimate": float(frequency),
                    "lower": float(lower),
                    "upper": float(upper),
                }
            )
    return rows


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: estimates with their intervals, and the truth."""
    figure, axis = empty(11, 4.4)
    levels = list(dict.fromkeys(row["level"] for row in table))
    places = np.arange(len(levels))
    truth = [row["true"] for row in table[: len(levels)]]
    axis.bar(places, truth, width=0.85, color="0.85", label="true frequency", zorder=1)
    # Okabe and Ito's colours, with different markers, so that grey print tells them apart.
    for name, (shift, colour, marker) in zip(NAMES, STYLES, strict=True):
        rows = [row for row in table if row["mechanism"] == name]
        middle = np.array([row["estimate"] for row in rows])
        ends = np.array([[row["estimate"] - row["lower"], row["upper"] - row["estimate"]] for row in rows]).T
        axis.errorbar(places + shift, middle, ends, fmt=marker, color=colour, capsize=2.5, ms=4.5, lw=1.3, label=name)
    axis.set_xticks(places, levels, rotation=35, ha="right", rotation_mode="anchor")
    axis.set_xlim(-0.6, len(levels) - 0.4)
    axis.set_ylim(0, None)
    axis.set_ylabel("relative frequency")
    axis.legend(frameon=False, title=WEAKER)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return figure
