"""What all drawings share: axes, labels, colours, curves and files.

Figures are made without pyplot, so that its figures, its backend and the settings of matplotlib stay as they are.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.checks import check_kind
from mechdesign.data.files import accepted_ending
from mechdesign.errors import printable

ENDINGS = (".png", ".svg", ".pdf")
# Okabe and Ito's colours, with markers, so that the curves differ in grey print too; dashes are for levels.
STYLES = (
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
    {"color": "#009E73", "marker": "^"},
    {"color": "#000000", "marker": "D"},
    {"color": "#CC79A7", "marker": "v"},
)
BLUE, ORANGE, GREEN, BLACK, PINK = (style["color"] for style in STYLES)
PALE_BLUE = "#9ecae1"  # of bars, beside or behind what is blue
_LONGEST_LABEL = 28  # characters
_LETTER = 0.62  # width of a letter, as a share of the size of its font
_LINE = 1.25  # height of a line, likewise
_LARGEST_FONT, _SMALLEST_FONT = 9.0, 6.0  # points
_POINTS = 72  # points in an inch
_LARGEST = 17.0  # inches of a figure
_PAD = 0.1  # inches around what is drawn


@dataclass(frozen=True)
class DrawnCurve:
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


def draw_curve(axis: Any, curve: DrawnCurve, index: int, width: float = 1.3) -> None:
    """Draw a curve in the style of its index. Markers are spread along the visible length."""
    style = STYLES[index % len(STYLES)]
    axis.plot(curve.x, curve.y, label=curve.label, linewidth=width, markersize=4.5, markevery=0.12, **style)


def ring(index: int) -> dict[str, Any]:
    """Return a mark that shows where it lies on earlier ones: the first is filled, later ones are wider rings."""
    return {"markersize": 4.0 + 3.0 * (index % 4), "markerfacecolor": "none" if index else None}


def axes_or_new(axes: Any | None, width: float, height: float) -> Any:
    """Return the axes that are given, or those of a new figure of a size in inches, cut to what a page holds."""
    if axes is not None:
        from matplotlib.axes import Axes

        check_kind(axes, Axes, "axes", "axes of matplotlib, such as plt.gca(), or none")
        return axes
    return new_figure(width, height).subplots()


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure that belongs to no window."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=_PAD, h_pad=_PAD)
    return Figure(figsize=(min(width, _LARGEST), min(height, _LARGEST)), layout=layout)


def size_for(labels: int) -> float:
    """Return how many inches labels take that stand below each other, 2 at least."""
    return max(2.0, labels * max(_LINE * _SMALLEST_FONT / _POINTS * 1.3, min(0.3, 6.0 / labels)))


def start_of_axis(low: float, high: float) -> float:
    """Return where an axis of points begins: a little below 0, unless 0 took more than half of its length.

    Examples
    --------
    >>> [round(start_of_axis(*ends), 3) for ends in ((0.0, 0.3), (0.4, 0.5), (-0.1, 0.3))]
    [-0.006, 0.398, -0.108]
    """
    return (min(low, 0.0) if low <= high - low else low) - 0.02 * (high - low)


def text_of(label: str, length: int = _LONGEST_LABEL) -> str:
    r"""Return a label as matplotlib prints it: a long one without its middle, and no part of it read as a formula.

    Examples
    --------
    >>> print(text_of("$a$"), text_of("a" * 40))
    \$a\$ aaaaaaaaaaaaa...aaaaaaaaaaaa
    """
    shown = printable(label)
    if len(shown) > length:
        half = (length - 3) // 2
        shown = f"{shown[: length - 3 - half]}...{shown[-half:]}"
    return shown.replace("$", r"\$")


def name_rows(axes: Any, labels: Sequence[str], what: str) -> None:
    """Put labels beside the rows of axes, from the top, and their meaning; only each k-th where there is no room."""
    size, step = _fitting(len(labels), _inches(axes)[1] / (_LINE / _POINTS))
    shown = range(0, len(labels), step)
    axes.set_yticks(list(shown), [text_of(labels[i]) for i in shown], fontsize=size)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_ylabel(_meaning(what, step))


def name_columns(axes: Any, labels: Sequence[str], what: str) -> None:
    """Put labels below the columns of axes, and their meaning: upright, turned, or only each k-th, as there is room."""
    texts = [text_of(label) for label in labels]
    width = _inches(axes)[0]
    longest = max(map(len, texts), default=1) + 1
    upright = len(texts) * longest * _LETTER * _LARGEST_FONT / _POINTS <= width
    size, step = (_LARGEST_FONT, 1) if upright else _fitting(len(texts), width / (_LINE / _POINTS))
    shown = range(0, len(texts), step)
    turned = {} if upright else {"rotation": 90}
    axes.set_xticks(list(shown), [texts[i] for i in shown], fontsize=size, **turned)
    axes.set_xlim(-0.5, len(texts) - 0.5)
    axes.set_xlabel(_meaning(what, step))


def _meaning(what: str, step: int) -> str:
    return what if step == 1 else f"{what} (1 in {step} labels is shown)"


def _fitting(labels: int, room: float) -> tuple[float, int]:
    """Return the size of a font, and which k-th labels are shown, for labels in so many heights of a point."""
    size = min(_LARGEST_FONT, room / max(labels, 1))
    if size >= _SMALLEST_FONT:
        return size, 1
    return _SMALLEST_FONT, math.ceil(labels * _SMALLEST_FONT / room)


def _inches(axes: Any) -> tuple[float, float]:
    """Return the size of axes in inches, before labels are laid out."""
    place, figure = axes.get_position(), axes.figure
    whole = figure.get_size_inches() if hasattr(figure, "get_size_inches") else figure.figure.get_size_inches()
    return float(place.width * whole[0]), float(place.height * whole[1])


def explain(axes: Any, *, below: bool, columns: int = 1) -> None:
    """Add a legend: below the axes in a figure of its own, and inside axes that were given."""
    handles, labels = axes.get_legend_handles_labels()
    if below:
        axes.figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    else:
        axes.legend(loc="best", fontsize=8, framealpha=0.9)


def picture(figure: Any, path: str) -> bytes:
    """Return a matplotlib figure as the content of a file, of the kind that the ending of its name says."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        # A letter that the fonts lack is drawn as a box, which a person sees.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(content, format=accepted_ending(path, ENDINGS)[1:], dpi=130)
    return content.getvalue()
