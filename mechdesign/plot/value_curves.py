"""What designs are worth, against epsilon: one curve each, or many in panels for each source and utility."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError
from mechdesign.plot.drawing import STYLES, axes_or_new, new_figure, ring, text_of

if TYPE_CHECKING:
    from mechdesign.optimize import Design

MOST_PANELS = 30
_ACROSS = 3
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


def values(designs: Iterable[Design] | Mapping[str, Iterable[Design]], axes: Any | None = None) -> Any:
    """Draw the values of designs against epsilon, a curve for each list of them.

    A vertical line from a point leads to the certified bound, where the two differ enough to be seen.

    Parameters
    ----------
    designs : iterable of Design, or mapping from names to such
        Designs of one curve, in any order; or of several curves, whose names the legend shows.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InputError
        If there is no design, or the designs have several units.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball([0.5, 0.3, 0.2], radius="0.1")
    >>> drawn = values([md.design(md.DesignProblem(ball, epsilon)) for epsilon in (0.5, 1)])
    >>> drawn.get_xlabel(), drawn.get_ylabel()
    ('epsilon (nats)', 'mutual-information (nats)')
    """
    from mechdesign.optimize import Design

    given = designs if isinstance(designs, Mapping) else {"": designs}
    for of in given.values():
        check_kind(of, Iterable, "what values draws", "a list of designs, or a table of such lists by name")
    curves = {name: list(of) for name, of in given.items()}
    every = [solved for of in curves.values() for solved in of]
    for solved in every:
        check_kind(solved, Design, "one of the designs", "a Design")
    units = {solved.unit for solved in every}
    if len(units) != 1:
        raise InputError.wrong_objective(f"the designs have {len(units)} units; give designs of one unit, at least one")
    axes = axes_or_new(axes, 6.4, 4.4)
    for k, (name, of) in enumerate(curves.items()):
        _draw(axes, name, of, k)
    names = {solved.problem.utility.name for solved in every}
    what, unit = names.pop() if len(names) == 1 else "value", units.pop()
    axes.set_xlabel("epsilon (nats)")
    axes.set_ylabel(what if unit == "1" else f"{what} ({unit})")
    axes.set_title("Designs against epsilon", fontsize=10)
    axes.grid(visible=True, linewidth=0.3)
    if any(curves):
        axes.legend(fontsize=8)
    return axes


def _draw(axes: Any, name: str, designs: list[Design], index: int) -> None:
    ordered = sorted(designs, key=lambda solved: float(solved.problem.epsilon))
    x = [float(solved.problem.epsilon) for solved in ordered]
    y = [solved.value for solved in ordered]
    style = STYLES[index % len(STYLES)]
    axes.plot(x, y, label=text_of(name) or None, linewidth=1.3, **style, **ring(index))
    axes.vlines(x, y, [solved.bound for solved in ordered], color=style["color"], linewidth=0.8, linestyle=":")


_WIDTH, _HEIGHT = 4.8, 3.9  # inches of a panel


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
        raise InputError.wrong_size(f"{len(axes)} axes are given for {len(panels)} panels; give as many")
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
        axis.plot(line.x, line.y, label=text_of(line.label, _LONGEST), linewidth=1.4, zorder=3, **style, **ring(k))
        axis.vlines(line.x, line.y, line.bounds, color=style["color"], linewidth=0.8)
    for k, (line, style) in enumerate(zip(others, _GREYS, strict=False), 1):
        axis.plot(line.x, line.y, label=text_of(line.label, _LONGEST), linewidth=1.1, **style, **ring(k))
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
