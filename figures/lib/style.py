"""What the pictures share: colours, an empty figure, a grid."""

from __future__ import annotations

from typing import Any

# The colours of Okabe and Ito, for colour-blind readers; markers and dashes distinguish curves in grey print.
ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"


WEAKER = "PML is the weaker promise: for priors in the set; a report may exclude categories; fresh reports add up"
"""Stands in every picture of errors under PML beside errors under LDP."""


def empty(width: float, height: float, rows: int = 1, columns: int = 1, **shared: Any) -> tuple[Any, Any]:
    """Return a matplotlib figure of a size in inches, and its axes; ``shared`` as for its method ``subplots``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **shared)


def grid(axis: Any, shade: str = "0.9") -> None:
    """Draw a grid behind the curves, of a shade of grey from 0 (black) to 1."""
    axis.grid(color=shade, lw=0.6)
    axis.set_axisbelow(True)
