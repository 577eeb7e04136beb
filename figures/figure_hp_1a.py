"""HP Figure 1a: the error of a histogram under PML and under differential privacy, against epsilon.

The mean total variation distance (TVD) between released and true histogram, over 10,000 repetitions of the experiment
in ``figures/lib/hp_laplace.py``, for several numbers k of bins and several alpha. Below it is the gain of PML: the
difference between the two means. Bars are two standard errors to either side; they are smaller than the markers.

The text names neither k nor alpha nor epsilon. Here k is 2, 5 and 20, alpha is 1/k (the greatest that k bins allow),
1/(2 k) and 1/(5 k), and epsilon runs from 0.01 to 2. The paper says that the gap becomes pronounced when epsilon is
very small. As epsilon falls from 0.5, the difference grows until the noise is as large as a count (b = 2/epsilon near
n/k); then clipping dominates, both histograms are mostly noise, and the gap closes again. As a share of the scale the
gap is about alpha for small epsilon, and grows with epsilon: from epsilon = log(1/alpha) on PML needs no noise. Run
``python -m figures figure_hp_1a``. Everything is drawn with a generator of seed 2026, so that the picture can be made
again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.hp_laplace import REPETITIONS, draw_data, draw_errors, gap, row
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, VERMILION, empty, grid

ALPHAS = {2: (0.5, 0.25, 0.1), 5: (0.2, 0.1, 0.04), 20: (0.05, 0.025, 0.01)}
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)
STYLES = ((VERMILION, "o", "-"), (BLUE, "s", "--"), (GREEN, "D", "-."))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each k, alpha (0 is DP) and epsilon; quick takes fewer epsilon and repetitions."""
    rng = np.random.default_rng(2026)
    table = []
    for bins, alphas in ALPHAS.items():
        counts, noise = draw_data(bins, REPETITIONS // 10 if quick else REPETITIONS, rng)
        table += [
            row(counts, noise, epsilon, alpha)
            for alpha in (0.0, *alphas)
            for epsilon in (EPSILONS[1::3] if quick else EPSILONS)
        ]
    return table


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a column for each k, the error above and what PML gains below."""
    figure, (errors, gaps) = empty(8.6, 5, 2, len(ALPHAS), sharex=True, sharey="row")
    for above, below, bins in zip(errors, gaps, ALPHAS, strict=True):
        lines = [
            [line for line in table if (line["bins"], line["alpha"]) == (bins, alpha)] for alpha in (0.0, *ALPHAS[bins])
        ]
        for rows, (colour, marker, dashes) in zip(lines, (("black", "v", "-"), *STYLES), strict=True):
            epsilons, alpha = [line["epsilon"] for line in rows], rows[0]["alpha"]
            style = {"color": colour, "marker": marker, "ls": dashes, "ms": 4.5, "lw": 1.3}
            label = rf"PML, $\alpha$ = {alpha:g}" if alpha > 0 else "DP"
            draw_errors(above, "epsilon", rows, label=label, **style)
            if alpha > 0:
                below.plot(epsilons, [gap(dp, pml) for dp, pml in zip(lines[0], rows, strict=True)], **style)
        above.set_title(f"k = {bins}")
        above.legend(frameon=False, fontsize=8)
        below.set_xscale("log")
        below.set_xlabel(r"$\epsilon$ (nats)")
        below.set_yscale("log")
        for axis in (above, below):
            grid(axis)
    errors[0].set_ylim(0, None)
    errors[0].set_ylabel("mean TVD")
    gaps[0].set_ylabel("what PML gains in mean TVD")
    return figure
