"""What CSH Figures 3a and 3b share: the least threshold against the noise of a count, for each mechanism and analysis.

GSHM is the Gaussian sparse histogram with independent noise, by the sum of its two deltas (CSH Lemma 6) and exactly
(Lemma 7). CSH is the correlated stability histogram, by Theorems 11 and 12, and by the bound that is proved in
``mechdesign/histogram/csh.py``. The dashed curve is the threshold that the two extreme pairs of neighbours need, a
lower bound for every analysis. It coincides with the proved bound at every point, so both are the exact curve. epsilon
= 0.349 and delta = 1e-5 are those of Wilkins et al.: their script has 0.349, where captions say 0.35.

The noise of a count is its total standard deviation: sigma for GSHM, and ``sigma sqrt(1 + 1/sqrt(k))`` for CSH, where a
common term is added. Every curve starts at the least noise for which a threshold exists.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, ORANGE, VERMILION, empty, grid
from mechdesign.histogram.csh import csh_best, csh_least_sigma, csh_threshold
from mechdesign.histogram.gshm import gshm_best, gshm_least_sigma, gshm_threshold

EPSILON, DELTA = "0.349", "1e-5"
EXTREMES = "exact-extremes-unproved"
CURVES = {
    "GSHM, add the deltas": ("gshm", "add-the-deltas", "#999999", "v", "-"),
    "GSHM, exact": ("gshm", "exact", "black", "s", "-"),
    "CSH, Theorem 11": ("csh", "theorem-11", ORANGE, "^", "-"),
    "CSH, Theorem 12": ("csh", "theorem-12", BLUE, "D", "-"),
    "CSH, proved bound": ("csh", "proved", VERMILION, "o", "-"),
    "CSH, exact": ("csh", EXTREMES, GREEN, "x", (0, (4, 2))),
}


def compute(k: int, *, quick: bool) -> list[Row]:
    """Return one row for each point of each curve; ``least`` is true for the point of the least threshold."""
    rows: list[Row] = []
    widest = 1.4 * gshm_least_sigma(k, EPSILON, DELTA)
    for curve, (mechanism, analysis, *_) in CURVES.items():
        if mechanism == "gshm":
            total, least = 1.0, gshm_least_sigma(k, EPSILON, DELTA)
            threshold, best = gshm_threshold, gshm_best(k, EPSILON, DELTA, analysis)
        else:
            total, least = math.sqrt(1 + 1 / math.sqrt(k)), csh_least_sigma(k, EPSILON, DELTA, analysis)
            threshold, best = csh_threshold, csh_best(k, EPSILON, DELTA, analysis)
        # Close together near the least sigma, where the thresholds from sums of two deltas rise again.
        sigmas = least + (widest / total - least) * np.linspace(0.002 ** (1 / 3), 1, 4 if quick else 24) ** 3
        points = [(float(f"{sigma:.6g}"), None, False) for sigma in sigmas if abs(sigma - best[0]) > 1e-4 * sigma]
        for sigma, tau, lowest in sorted([*points, (best[0], best[1], True)], key=lambda point: point[0]):
            found = threshold(k, sigma, EPSILON, DELTA, analysis) if tau is None else tau
            row = {"curve": curve, "k": k, "sigma": sigma, "deviation": sigma * total, "tau": found, "least": lowest}
            rows.append(row)
    return rows


def least_thresholds(table: list[Row]) -> dict[str, float]:
    """Return the least threshold of each curve."""
    return {row["curve"]: row["tau"] for row in table if row["least"]}


def draw(table: list[Row], title: str) -> Any:
    """Return a matplotlib figure: a curve for each analysis, its least threshold marked."""
    figure, axis = empty(7.2, 4.8)
    for curve, (_, _, colour, marker, dashes) in CURVES.items():
        rows = [row for row in table if row["curve"] == curve]
        x, y = [row["deviation"] for row in rows], [row["tau"] for row in rows]
        # Where curves coincide, the lower one has the larger markers.
        size = 7 if marker in "so" else 4.5
        axis.plot(x, y, color=colour, marker=marker, ls=dashes, ms=size, lw=1.4, markevery=2, mfc="none", label=curve)
        axis.axvline(min(x), color=colour, lw=0.8, ls=(0, (1, 2)))
        best = min(rows, key=lambda row: row["tau"])
        axis.plot(best["deviation"], best["tau"], color=colour, marker="*", ms=11, ls="none", mec="white", mew=0.5)
    axis.plot([], [], color="0.4", marker="*", ms=10, ls="none", label=r"least $\tau$")
    axis.set_xlabel(r"standard deviation of the noise of a count")
    axis.set_ylabel(r"threshold $\tau$")
    axis.set_title(title)
    grid(axis)
    axis.legend(frameon=False, loc="best")
    return figure
