"""ED Figure 3a: the epsilon' that a mechanism designed for an estimate guarantees, and with what probability.

N = 20, epsilon = log 5 at the estimate (Corollary 3). The bound (39) on the probability delta that the leakage exceeds
epsilon' is drawn over epsilon', for several numbers m of samples. Where it is above one it is vacuous, and delta is 1.
The text does not name the numbers: here they are 250, 500, 1,000, 2,000 and 5,000. With fewer than 174 the bound is
vacuous for every epsilon'. Run ``python -m figures figure_3a``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from figures.lib.output import Row
from figures.lib.style import empty
from mechdesign.plot.drawing import DrawnCurve
from mechdesign.plot.trade_off import draw_failure, failure_curve

CATEGORIES = 20
EPSILON = "log(5)"
SAMPLES = (250, 500, 1_000, 2_000, 5_000)
FLOOR = 1e-12


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each number of samples and epsilon'; quick takes every tenth epsilon'."""
    grid = np.linspace(math.log(5), 4.0, 25 if quick else 241)
    return [
        {"samples": samples, "guaranteed_epsilon": x, "delta": y}
        for samples in SAMPLES
        for curve in [failure_curve(EPSILON, samples, CATEGORIES, grid.tolist(), "weissman")]
        for x, y in zip(curve.x, curve.y, strict=True)
    ]


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a curve for each number of samples."""
    figure, axis = empty(6.4, 4.4)
    curves = []
    for samples in dict.fromkeys(row["samples"] for row in table):
        rows = [row for row in table if row["samples"] == samples]
        curves.append(
            DrawnCurve(f"m = {samples:,}", [row["guaranteed_epsilon"] for row in rows], [row["delta"] for row in rows])
        )
    draw_failure(axis, curves, FLOOR)
    axis.set_xlim(curves[0].x[0], curves[0].x[-1])
    axis.set_xlabel(r"guaranteed $\varepsilon'$ (nats)")
    axis.set_ylabel(r"bound on $\delta_{\min}(\varepsilon')$")
    axis.set_title(rf"$N = {CATEGORIES}$, $\varepsilon = \log 5 \approx {math.log(5):.3f}$")
    axis.legend(title="samples", frameon=False, loc="lower left", bbox_to_anchor=(0.57, 0.0))
    return figure
