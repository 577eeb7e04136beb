"""HP Figure 1b: the error of a histogram under PML and under differential privacy, against the number k of bins.

The mean total variation distance (TVD) between released and true histogram, over 10,000 repetitions of the experiment
in ``figures/lib/hp_laplace.py``, with alpha = 0.05 and k from 2 to 20: no more bins can have that probability each.
Beside it is the gain of PML: the difference between the two means. Bars are two standard errors to either side; they
are smaller than the markers.

The text does not name the epsilon. Here they are 0.05, 0.2, 0.5 and 2. With alpha = 0.05 the scale is about 5 % smaller
under PML for small epsilon, and 17 % for epsilon = 2. Run ``python -m figures figure_hp_1b``. Everything is drawn with
a generator of seed 2026, so that the picture can be made again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.hp_laplace import REPETITIONS, draw_data, draw_errors, gap, row
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, PURPLE, VERMILION, empty, grid

ALPHA = 0.05
BINS = (2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20)
EPSILONS = (0.05, 0.2, 0.5, 2.0)
STYLES = ((VERMILION, "o"), (BLUE, "s"), (GREEN, "D"), (PURPLE, "^"))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each k, epsilon and mechanism; quick takes fewer k and repetitions."""
    rng = np.random.default_rng(2026)
    table = []
    for bins in BINS[::5] if quick else BINS:
        counts, noise = draw_data(bins, REPETITIONS // 10 if quick else REPETITIONS, rng)
        table += [row(counts, noise, epsilon, alpha) for epsilon in EPSILONS for alpha in (0.0, ALPHA)]
    return table


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: the error on the left, what PML gains on the right."""
    figure, (errors, gaps) = empty(9, 3.8, 1, 2)
    for epsilon, (colour, marker) in zip(EPSILONS, STYLES, strict=True):
        dp, pml = (
            [line for line in table if (line["epsilon"], line["mechanism"]) == (epsilon, name)]
            for name in ("DP", "PML")
        )
        bins = [line["bins"] for line in dp]
        for rows, name, dashes, fill in ((dp, "DP", ":", "none"), (pml, "PML", "-", colour)):
            style = {"color": colour, "marker": marker, "mfc": fill, "ls": dashes, "ms": 5, "lw": 1.3}
            draw_errors(errors, "bins", rows, label=rf"{name}, $\epsilon$ = {epsilon:g}", **style)
        differences = [gap(one, other) for one, other in zip(dp, pml, strict=True)]
        gaps.plot(bins, differences, color=colour, marker=marker, ms=5, lw=1.3, label=rf"$\epsilon$ = {epsilon:g}")
    errors.set_ylabel("mean TVD")
    gaps.set_ylabel("what PML gains in mean TVD")
    for axis in (errors, gaps):
        axis.set_yscale("log")
        axis.set_xlabel("number of bins $k$")
        axis.set_xticks(range(2, 21, 2))
        grid(axis)
    errors.legend(frameon=False, ncols=2, fontsize=8)
    gaps.legend(frameon=False, fontsize=8)
    return figure
