"""ED Figure 4: Laplace noise on income and on sex of Adult, under PML and under LDP.

The empirical mutual information of records and reports (ED eq. 67) against epsilon, for several numbers m of samples:
means over 100 iterations of the experiment in ``figures/lib/binary_laplace.py``, with delta = 1e-9. LDP takes the scale
2/epsilon. The picture shows it for m = 48,842 only; for other m its means, which are in the table, differ by chance and
by their bias of about 1/(2 m).

The paper's text leaves m and epsilon open. Here m is 1,000, 3,000, 10,000 and all 48,842 records, and epsilon runs from
0.2 to 1.5. Below about 200 records (income) and 100 (sex) the ball reaches the border of the simplex, and PML is LDP.
The dotted line is the entropy of the feature. It is reached where epsilon is so large that no noise is needed: then
every record is reported unchanged. Run ``python -m figures figure_4``. Everything is drawn with a generator of seed
2026, so that the picture can be made again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.binary_laplace import FEATURES, ITERATIONS, entropy, first_records, row, simulate, two_counts
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, ORANGE, VERMILION, empty, grid

DELTA = "1e-9"
SAMPLES = (1_000, 3_000, 10_000, 48_842)
EPSILONS = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0", "1.1", "1.2", "1.3", "1.4", "1.5")
# Okabe and Ito's colours, each with a marker and a line style of its own.
STYLES = ((ORANGE, "^", ":"), (GREEN, "D", "-."), (BLUE, "s", "--"), (VERMILION, "o", "-"))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each feature, m, epsilon and mechanism; quick takes fewer m and epsilon."""
    rng = np.random.default_rng(2026)
    table = []
    for feature in FEATURES:
        counts = two_counts(feature)
        for samples in SAMPLES[::3] if quick else SAMPLES:
            # As in the paper, the same records of an iteration are used for every epsilon and for both mechanisms.
            first = first_records(counts, samples, ITERATIONS, rng)
            for epsilon in EPSILONS[::4] if quick else EPSILONS:
                for mechanism, delta in (("PML", DELTA), ("LDP", "0")):
                    table.append(row(feature, mechanism, simulate(first, samples, epsilon, delta, rng)))
    return table


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a panel for each feature, a line for each m, and LDP."""
    figure, panels = empty(9, 4, 1, len(FEATURES), sharey=True)
    samples = sorted({line["samples"] for line in table})
    for axis, feature in zip(panels, FEATURES, strict=True):
        axis.axhline(entropy(feature), color="0.5", lw=1, ls=(0, (1, 2)))
        axis.annotate(
            f"entropy of {feature}, {entropy(feature):.3f} nats",
            (0.02, entropy(feature)),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            color="0.35",
        )
        drawn = [("PML", m, *style) for m, style in zip(samples[::-1], STYLES[::-1], strict=False)]
        for mechanism, m, colour, marker, dashes in [*drawn, ("LDP", samples[-1], "black", "x", "-")]:
            rows = [
                line
                for line in table
                if (line["feature"], line["mechanism"], line["samples"]) == (feature, mechanism, m)
            ]
            axis.plot(
                [line["epsilon"] for line in rows],
                [line["empirical_information"] for line in rows],
                color=colour,
                marker=marker,
                ls=dashes,
                ms=5,
                lw=1.4,
                label=f"PML, $m$ = {m:,}" if mechanism == "PML" else "LDP",
            )
        axis.set_yscale("log")
        axis.set_title(feature)
        axis.set_xlabel(r"$\varepsilon$ (nats)")
        grid(axis)
    panels[0].set_ylim(None, 1.0)
    panels[0].set_ylabel("empirical mutual information (nats)")
    panels[0].legend(frameon=False, loc="lower right")
    return figure
