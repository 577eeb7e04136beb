"""What designs are worth, against epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError
from mechdesign.optimize import Design
from mechdesign.plot.drawing import STYLES, axes_or_new, text_of


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
    curves = {name: list(of) for name, of in (designs if isinstance(designs, Mapping) else {"": designs}).items()}
    every = [solved for of in curves.values() for solved in of]
    for solved in every:
        check_kind(solved, Design, "one of the designs", "a Design")
    units = {solved.unit for solved in every}
    if len(units) != 1:
        raise InputError(f"the designs have {len(units)} units; give designs of one unit, at least one")
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
    axes.plot(x, y, label=text_of(name) or None, linewidth=1.3, markersize=4.5, **style)
    axes.vlines(x, y, [solved.bound for solved in ordered], color=style["color"], linewidth=0.8, linestyle=":")
