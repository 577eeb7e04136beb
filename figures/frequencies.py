"""True frequencies of the 16 education levels of Adult beside estimates from private reports, and the price of a cap.

Every one of the 48,842 records is reported once, with epsilon = 1, through three mechanisms: the one of least
estimation error, certified, for every prior in the l1 ball of delta = 1e-9 (PML), the most informative one for the same
priors, and k-ary randomized response (LDP, the stronger promise). Lines are 95 % confidence intervals for the
frequencies among these records. The small picture shows what it costs to keep local differential privacy with a cap
too: how many times the respondents, for equal errors, from a cap of epsilon (LDP) on. Run
``python -m figures frequencies``. Reports are drawn with a seeded generator, so that the picture can be made again; a
real release must never be seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mechdesign as md
from figures.lib.adult import adult_counts, adult_problem
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, VERMILION, WEAKER, empty
from mechdesign.comparison import price_caps
from mechdesign.comparison.rivals import Rivals

NAMES = ("least error (PML)", "most information (PML)", "randomized response (LDP, a stronger promise)")
CAPPED = "least error, with a cap (PML and LDP)"
CAPS = (1, "1.25", "1.5", 2, "2.5", 3, 4)
STYLES = ((-0.26, BLUE, "o"), (0.0, GREEN, "^"), (0.26, VERMILION, "s"))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each mechanism and level; quick takes the 6 levels of relationship instead."""
    column = "relationship" if quick else "education"
    problem, labelled = adult_problem(column), adult_counts(column)
    counts = np.array(list(labelled.values()))
    records = np.repeat(np.arange(counts.size), counts)
    least = md.DesignProblem(problem.uncertainty, problem.epsilon, md.EstimationError())
    prices = price_caps(least, CAPS)
    mechanisms = (
        prices.without.mechanism,
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
                    "cap": "",
                    "respondents": "",
                }
            )
    nothing = dict.fromkeys(("level", "true", "estimate", "lower", "upper"), "")
    for each in prices.designs:
        many = each.value / prices.without.value
        rows.append({**nothing, "mechanism": CAPPED, "cap": float(each.problem.cap or 0), "respondents": many})
    return rows


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: estimates with their intervals, and the truth."""
    figure, axis = empty(11, 5)
    levels = list(dict.fromkeys(row["level"] for row in table if row["level"]))
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
    _draw_price(axis.inset_axes((0.56, 0.33, 0.4, 0.33)), [row for row in table if row["mechanism"] == CAPPED])
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    return figure


def _draw_price(axis: Any, rows: list[Row]) -> None:
    """Draw how many times the respondents a cap takes."""
    caps, many = ([float(row[name]) for row in rows] for name in ("cap", "respondents"))
    axis.plot(caps, many, "o-", color=BLUE, ms=4, lw=1.3)
    axis.axhline(1, color="0.6", lw=1, ls="--")
    axis.annotate("no cap", (caps[-1], 1), xytext=(0, -10), textcoords="offset points", ha="right", fontsize=8)
    axis.annotate("LDP", (caps[0], many[0]), xytext=(6, -3), textcoords="offset points", fontsize=8)
    axis.set_ylim(0, None)
    axis.set_title("Price of a cap for everyone: respondents, times those without a cap", fontsize=8.5)
    axis.set_xlabel("cap: level of LDP that is kept besides (nats)", fontsize=8)
    axis.tick_params(labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
