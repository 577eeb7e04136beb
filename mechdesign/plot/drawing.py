"""Curves and their files: what all drawings share."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

from mechdesign.data.files import accepted_ending

ENDINGS = (".png", ".svg", ".pdf")
# Okabe and Ito's colours, with markers, so that the curves differ in grey print too; dashes are for levels.
STYLES = (
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
    {"color": "#009E73", "marker": "^"},
    {"color": "#000000", "marker": "D"},
    {"color": "#CC79A7", "marker": "v"},
)


@dataclass(frozen=True)
class Curve:
    """A curve of a drawing.

    Attributes
    ----------
    label : str
        For the legend.
    x, y : list of float
        The points that are drawn.
    level : float or None
        A value of y that is marked by a dashed line.
    """

    label: str
    x: list[float]
    y: list[float]
    level: float | None = None


def draw_curve(axis: Any, curve: Curve, index: int, width: float = 1.3) -> None:
    """Draw a curve in the style of its index. Markers are spread along the visible length."""
    style = STYLES[index % len(STYLES)]
    axis.plot(curve.x, curve.y, label=curve.label, linewidth=width, markersize=4.5, markevery=0.12, **style)


def picture(figure: Any, path: str) -> bytes:
    """Return a matplotlib figure as the content of a file, of the kind that the ending of its name says."""
    content = io.BytesIO()
    figure.savefig(content, format=accepted_ending(path, ENDINGS)[1:], dpi=130)
    return content.getvalue()
