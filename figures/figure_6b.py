"""ED Figure 6b: (epsilon*, delta*) of the binary Gaussian mechanism, estimate (0.5, 0.5), sigma = 2.

As Figure 6a, with more noise. Run ``python -m figures figure_6b``.
"""

from __future__ import annotations

from typing import Any

from figures.lib import gaussian_curves
from figures.lib.output import Row

SIGMA, P_MIN = 2.0, 0.5


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each point of each curve; quick takes fewer points."""
    return gaussian_curves.compute(SIGMA, P_MIN, quick=quick)


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a curve for each number of samples, and probabilistic LDP."""
    return gaussian_curves.draw(table, r"Gaussian noise, $\sigma$ = 2, estimate (0.5, 0.5)")
