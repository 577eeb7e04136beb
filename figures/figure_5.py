"""ED Figure 5: what the probability of failure costs, for Laplace noise on a binary attribute of Adult.

The empirical mutual information of records and reports (ED eq. 67) against the number m of samples, for several delta:
means over 100 iterations of the experiment in ``figures/lib/binary_laplace.py``, with epsilon = log 2. Bars are two
standard errors to either side. With delta = 0 the scale is 2/epsilon, which is LDP (ED Remark 4).

The caption names neither the feature nor delta nor m. Here both features are shown, delta is 1e-3, 1e-9, 1e-30 and 0,
and m runs from 100 to all 48,842 records. An empirical mutual information is greater than that of the mechanism by
about 1/(2 m) on average, so that LDP seems to lose from 100 to 1,000 samples. The mutual information of the mechanism
is in the table. Run ``python -m figures figure_5``. Everything is drawn with a generator of seed 2026, so that the
picture can be made again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.binary_laplace import FEATURES, ITERATIONS, first_records, row, simulate, two_counts
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, VERMILION, empty, grid

EPSILON = "log(2)"
DELTAS = ("1e-3", "1e-9", "1e-30", "0")
SAMPLES = (100, 200, 300, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 48_842)
STYLES = ((VERMILION, "o", "-"), (BLUE, "s", "--"), (GREEN, "D", "-."), ("black", "v", "-"))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each feature, m and delta; quick takes fewer m."""
    rng = np.random.default_rng(2026)
    table = []
    for feature in FEATURES:
        counts = two_counts(feature)
        for samples in SAMPLES[::5] if quick else SAMPLES:
            first = first_records(counts, samples, ITERATIONS, rng)
            for delta in DELTAS:
                table.append(row(feature, "PML", simulate(first, samples, EPSILON, delta, rng)))
    return table


def _label(delta: str) -> str:
    return r"$\delta$ = 0 (LDP)" if delta == "0" else rf"$\delta$ = {delta}"


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a panel for each feature, a line for each delta."""
    figure, panels = empty(9, 4, 1, len(FEATURES), sharey=True)
    for axis, feature in zip(panels, FEATURES, strict=True):
        for delta, (colour, marker, dashes) in zip(DELTAS, STYLES, strict=True):
            rows = [line for line in table if (line["feature"], line["delta"]) == (feature, delta)]
            axis.errorbar(
                [line["samples"] for line in rows],
                [line["empirical_information"] for line in rows],
                [2 * line["standard_error"] for line in rows],
                color=colour,
                marker=marker,
                ls=dashes,
                ms=5,
                lw=1.4,
                label=_label(delta),
            )
        axis.set_xscale("log")
        axis.set_title(feature)
        axis.set_xlabel("number of samples $m$")
        grid(axis)
    panels[0].set_ylim(0, None)
    panels[0].set_ylabel("empirical mutual information (nats)")
    panels[0].legend(frameon=False, loc="upper left")
    return figure
