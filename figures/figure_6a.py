"""ED Figure 6a: (epsilon*, delta*) of the binary Gaussian mechanism, estimate (0.5, 0.5), sigma = 1.5.

The curves are for m = 100, 1,000, 10,000 and 100,000 samples, with delta_2 = 1e-6, and for probabilistic LDP with the
same sigma. ``figures/lib/gaussian_curves.py`` says how they are computed, and what the dashed ones are. The caption
names m = 100 alone; the other m, the range of epsilon* and its logarithmic axis are chosen here. Run
``python -m figures figure_6a``.
"""

from __future__ import annotations

from typing import Any

from figures.lib import gaussian_curves
from figures.lib.output import Row

SIGMA, P_MIN = 1.5, 0.5


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each point of each curve; quick takes fewer points."""
    return gaussian_curves.compute(SIGMA, P_MIN, quick=quick)


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a curve for each number of samples, and probabilistic LDP."""
    return gaussian_curves.draw(table, r"Gaussian noise, $\sigma$ = 1.5, estimate (0.5, 0.5)")
