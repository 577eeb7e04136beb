"""A mechanism as a heat map."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.plot.drawing import axes_or_new, name_columns, name_rows, size_for

_NUMBERED = 12  # columns, up to which each cell has its number
_MARKED = 60  # rows and columns, up to which zeros are crossed
_LINED = 60
_PALEST = 0.16  # share of the colour scale that is left out, so that the least probability is not white
_LIGHT = 0.5  # share of the colours below which a number is black


def matrix(mechanism: Mechanism, axes: Any | None = None) -> Any:
    """Draw the probabilities of a mechanism, a row for each input and a column for each output.

    Zeros are white, and crossed where cells are large enough: such an output excludes the input. The blue darkens with
    the square root of the probability, so that small ones differ, for the colour-blind and in grey print too.

    Parameters
    ----------
    mechanism : Mechanism
        Of any size. Labels that find no room are left out at equal distances, and the axis says so.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, whose size fits the mechanism. It is ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> drawn = matrix(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise))
    >>> drawn.get_xlabel(), drawn.get_ylabel()
    ('output', 'input')
    """
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, PowerNorm

    check_mechanism(mechanism)
    V = mechanism.matrix
    N, M = V.shape
    axes = axes_or_new(axes, *size_of(mechanism))
    shades = ListedColormap(colormaps["Blues"](np.linspace(_PALEST, 1, 256))).with_extremes(bad="white")
    norm = PowerNorm(0.5, 0, float(V.max()))
    image = axes.imshow(np.ma.masked_equal(V, 0), cmap=shades, norm=norm, aspect="auto", interpolation="nearest")
    _line_cells(axes, N, M)
    _mark_zeros(axes, V)
    if M <= _NUMBERED and N <= 2 * _NUMBERED:
        _number_cells(axes, V, norm)
    name_rows(axes, mechanism.inputs, "input")
    name_columns(axes, mechanism.outputs, "output")
    text = "no zeros" if V.all() else "white is exactly 0"
    axes.set_title(
        f"{N} inputs, {M} outputs; {text}\nleakage at most {text_above(mechanism.leakage, 6)} nats", fontsize=10
    )
    axes.figure.colorbar(image, ax=axes, label="probability of the output,\ngiven the input")
    return axes


def size_of(mechanism: Mechanism) -> tuple[float, float]:
    """Return the inches that a mechanism takes, across and down."""
    N, M = mechanism.matrix.shape
    return 3.0 + max(size_for(M), 0.55 * M if M <= _NUMBERED else 0), 1.8 + size_for(N)


def _line_cells(axes: Any, rows: int, columns: int) -> None:
    """Draw thin lines between cells, where these are large enough."""
    if max(rows, columns) <= _LINED:
        axes.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, colors="#bbbbbb", linewidth=0.5)
        axes.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, colors="#bbbbbb", linewidth=0.5)


def _mark_zeros(axes: Any, V: Any) -> None:
    """Cross cells that are exactly zero, where these are large enough."""
    if max(V.shape) <= _MARKED:
        rows, columns = np.nonzero(V == 0)
        size = 20 if max(V.shape) <= 20 else 5
        axes.scatter(columns, rows, s=size, marker="x", color="#777777", linewidths=0.7)


def _number_cells(axes: Any, V: Any, norm: Any) -> None:
    for (i, j), value in np.ndenumerate(V):
        if value > 0:
            shown = f"{value:.3f}" if value >= 0.0005 else "<.001"
            color = "black" if float(norm(value)) < _LIGHT else "white"
            axes.text(j, i, shown, ha="center", va="center", fontsize=8, color=color)
