"""ED Figure 3b: how the guaranteed leakage falls to that of the design as the samples grow (eq. 38).

N = 20, delta = 1e-5. For several epsilon at the estimate, dashed, the epsilon' that holds for the true distribution
with probability 1 - delta is drawn over the number m of samples, where it is finite. The text does not name the
epsilon: here they are 1/2, 1, log 5 and 5/2. Run ``python -m figures figure_3b``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.lib.output import Row
from figures.lib.style import empty
from mechdesign.plot.drawing import DrawnCurve
from mechdesign.plot.trade_off import draw_leakage, leakage_curve

CATEGORIES = 20
DELTA = "1e-5"
# As text, and as the legend prints it.
EPSILONS = {"0.5": r"$\varepsilon = 0.5$", "1": r"$\varepsilon = 1$"}
EPSILONS |= {"log(5)": r"$\varepsilon = \log 5$", "2.5": r"$\varepsilon = 2.5$"}


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each epsilon and number of samples with a finite epsilon'; quick takes every tenth number."""
    sizes = sorted({round(10**x) for x in np.linspace(1.5, 6, 19 if quick else 181)})
    return [
        {"epsilon": epsilon, "nats": curve.level, "samples": round(x), "guaranteed_epsilon": y}
        for epsilon in EPSILONS
        for curve in [leakage_curve(epsilon, DELTA, sizes, CATEGORIES, "weissman")]
        for x, y in zip(curve.x, curve.y, strict=True)
    ]


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a curve for each epsilon, and epsilon itself dashed."""
    figure, axis = empty(6.4, 4.4)
    curves = []
    for epsilon in dict.fromkeys(row["epsilon"] for row in table):
        rows = [row for row in table if row["epsilon"] == epsilon]
        x, y = [row["samples"] for row in rows], [row["guaranteed_epsilon"] for row in rows]
        curves.append(DrawnCurve(EPSILONS[epsilon], x, y, rows[0]["nats"]))
    draw_leakage(axis, curves)
    axis.set_xlim(min(row["samples"] for row in table), max(row["samples"] for row in table))
    axis.set_ylim(0, 5)
    axis.set_xlabel(r"samples $m$")
    axis.set_ylabel(r"guaranteed $\varepsilon'$ (nats)")
    axis.set_title(rf"$N = {CATEGORIES}$, $\delta = 10^{{-5}}$")
    axis.legend(title="at the estimate (dashed)", frameon=False, loc="upper right")
    return figure
