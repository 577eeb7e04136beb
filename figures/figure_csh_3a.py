"""CSH Figure 3a: threshold against noise for k = 51,914 counters, epsilon = 0.349, delta = 1e-5.

``figures/lib/gshm_csh.py`` says what the curves are. Run ``python -m figures figure_csh_3a``.
"""

from __future__ import annotations

from typing import Any

from figures.lib import gshm_csh
from figures.lib.output import Row

COUNTERS = 51_914


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each point of each curve; quick takes fewer points."""
    return gshm_csh.compute(COUNTERS, quick=quick)


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a curve for each mechanism and analysis."""
    return gshm_csh.draw(table, r"$k$ = 51,914, $\varepsilon$ = 0.349, $\delta$ = 1e-5")
