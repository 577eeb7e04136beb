"""Values over epsilon: many designs in panels, with the mechanisms that they are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.errors import InputError
from mechdesign.plot.drawing import STYLES, new_figure, text_of

MOST_PANELS = 30
_ACROSS = 3
_WIDTH, _HEIGHT = 4.8, 3.9  # inches of a panel
_MOST_IN_LEGEND = 12
_LONGEST = 44  # characters of a name
_MOST_TICKS = 8
_WIDE = 6  # times; beyond, an axis is logarithmic
_DASHES = ("-", "--", "-.", ":")
_GREYS = (
    {"color": "#000000", "marker": "D", "linestyle": "--"},
    {"color": "#707070", "marker": "x", "linestyle": ":"},
    {"color": "#A0A0A0", "marker": "+", "linestyle": "-."},
)


@dataclass(frozen=True)
class Line:
    """A line of values over epsilon.

    Attributes
    ----------
    label : str
        For the legend.
    x, y : list of float
        Epsilon and values, sorted by epsilon.
    bounds : list of float
        The bound of each value; empty without one.
    baseline : bool
        Whether designs are compared with it.
    """

    label: str
    x: list[float]
    y: list[float]
    bounds: list[float] | tuple[()] = ()
    baseline: bool = False


@dataclass(frozen=True)
class Panel:
    """The lines of one source and one utility.

    Attributes
    ----------
    title : str
        The source.
    facts : str
        What all designs have in common.
    ylabel : str
        The utility and its unit.
    lines : tuple of Line
        Designs first.
    """

    title: str
    facts: str
    ylabel: str
    lines: tuple[Line, ...]


def draw(panels: Sequence[Panel], axes: Sequence[Any] | None = None) -> tuple[Any, ...]:
    """Draw panels into axes, those of a new figure by default, and return the axes.

    A thin line from a value leads to its bound, where the two differ enough to be seen.

    Raises
    ------
    InputError
        If the number of axes is another one.
    """
    if axes is not None and len(axes) != len(panels):
        raise InputError(f"{len(axes)} axes are given for {len(panels)} panels; give as many")
    places = tuple(_new_axes(len(panels)) if axes is None else axes)
    for place, panel in zip(places, panels, strict=True):
        _draw_panel(place, panel)
    return places


def _new_axes(count: int) -> list[Any]:
    across = min(count, _ACROSS)
    down = math.ceil(count / across)
    grid = new_figure(_WIDTH * across, _HEIGHT * down).subplots(down, across, squeeze=False)
    every = [axis for row in grid for axis in row]
    for axis in every[count:]:
        axis.remove()
    return every[:count]


def _draw_panel(axis: Any, panel: Panel) -> None:
    designs = [line for line in panel.lines if not line.baseline]
    others = [line for line in panel.lines if line.baseline]
    for k, line in enumerate(designs):
        style = {**STYLES[k % len(STYLES)], "linestyle": _DASHES[k // len(STYLES) % len(_DASHES)]}
        axis.plot(line.x, line.y, label=text_of(line.label, _LONGEST), linewidth=1.4, markersize=4, zorder=3, **style)
        axis.vlines(line.x, line.y, line.bounds, color=style["color"], linewidth=0.8)
    for line, style in zip(others, _GREYS, strict=False):
        axis.plot(line.x, line.y, label=text_of(line.label, _LONGEST), linewidth=1.1, markersize=4, **style)
    axis.set_xlabel("epsilon (nats)", fontsize=9)
    axis.set_ylabel(text_of(panel.ylabel, _LONGEST), fontsize=9)
    axis.set_title(text_of(panel.title, _LONGEST), fontsize=10)
    if panel.facts:
        axis.annotate(
            text_of(panel.facts, 70),
            (0.5, 1.0),
            xycoords="axes fraction",
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7,
        )
        axis.set_title(text_of(panel.title, _LONGEST), fontsize=10, pad=14)
    axis.grid(visible=True, linewidth=0.3)
    _scale(axis, panel)
    if len(panel.lines) <= _MOST_IN_LEGEND:
        axis.legend(fontsize=7, framealpha=0.85)
    else:
        axis.text(0.02, 0.98, f"{len(designs)} lines of designs", transform=axis.transAxes, va="top", fontsize=7)


def _scale(axis: Any, panel: Panel) -> None:
    """Make an axis logarithmic where its numbers are positive and far apart, with ticks at the epsilons of designs."""
    epsilons = sorted({x for line in panel.lines for x in line.x})
    values = [y for line in panel.lines for y in line.y]
    if min(values) > 0 and max(values) >= _WIDE * min(values):
        axis.set_yscale("log")
    if epsilons[0] > 0 and epsilons[-1] >= _WIDE * epsilons[0]:
        axis.set_xscale("log")
        shown = epsilons[:: math.ceil(len(epsilons) / _MOST_TICKS)]
        axis.set_xticks(shown, [f"{x:.3g}" for x in shown])
        axis.set_xticks([], minor=True)
    axis.tick_params(labelsize=8)
