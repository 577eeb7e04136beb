"""A mechanism as a heat map: its probabilities, or how far a report moves the guess about each category."""

from __future__ import annotations

import textwrap
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
_MOST_ROWS, _MOST_COLUMNS = 100, 160  # beyond, cells could not be told apart,
_SOME_ROWS, _SOME_COLUMNS = 40, 60  # and so many are drawn
_LETTERS = 10  # of a title in an inch of a figure, beside row labels and the scale
_LIGHT = 0.5  # share of the colours below which a number is black


def matrix(mechanism: Mechanism, axes: Any | None = None) -> Any:
    """Draw the probabilities of a mechanism, a row for each category and a column for each report.

    Zeros are white, and crossed where cells are large enough: such a report excludes the category. The blue darkens
    with the square root of the probability, so that small ones differ, for the colour-blind and in grey print too.

    Parameters
    ----------
    mechanism : Mechanism
        Of any size. Of more than 100 categories the 40 most frequent ones are drawn, of more than 160 reports the 60
        that come most often at the estimate; the title says so. Labels that find no room are left out at equal
        distances, and the axis says so.
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
    ('report', 'category')
    """
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, PowerNorm

    check_mechanism(mechanism)
    inputs, outputs, left_out = _drawn(mechanism)
    V = mechanism.matrix[np.ix_(inputs, outputs)]
    shades = ListedColormap(colormaps["Blues"](np.linspace(_PALEST, 1, 256))).with_extremes(bad="white")
    norm = PowerNorm(0.5, 0, float(V.max()))
    axes = _cells(
        axes_or_new(axes, *size_of(mechanism)), V, shades, norm, "probability of the report,\ngiven the category"
    )
    if len(outputs) <= _NUMBERED and len(inputs) <= 2 * _NUMBERED:
        _number_cells(axes, V, norm)
    name_rows(axes, [mechanism.inputs[i] for i in inputs], "category")
    name_columns(axes, [mechanism.outputs[j] for j in outputs], "report")
    text = "white is exactly 0" if not mechanism.matrix.all() else "no zeros"
    size = f"{len(mechanism.inputs)} categories, {len(mechanism.outputs):,} possible reports"
    leaks = f"{text}; leakage at most {text_above(mechanism.leakage, 6)} nats"
    title_above(axes, [size, *left_out, leaks])
    return axes


def guesses(mechanism: Mechanism, axes: Any | None = None) -> Any:
    """Draw how far each report moves the guess about each category, at the estimate.

    The colour of a cell is the logarithm of the probability of the category after the report over that before it, in
    nats: blue where the report makes it likelier, at most by the leakage of the report, red where it makes it less
    likely, and grey where it rules it out. Under a promise about a secret these are the categories of the secret.

    Parameters
    ----------
    mechanism : Mechanism
        Of any size; of a large one as much is drawn as `matrix` draws.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> drawn = guesses(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise))
    >>> drawn.images[0].get_array().round(3).tolist()  # log(3/2) and log(1/2)
    [[0.405, -0.693], [-0.693, 0.405]]
    """
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    check_mechanism(mechanism)
    protected = mechanism.guarantee.uncertainty.protected
    law, rows, outputs, left_out = protected.law, *_drawn(mechanism)
    if len(law) != len(mechanism.inputs):
        rows = list(range(min(len(law), _MOST_ROWS)))
    likelihoods = protected.likelihoods(mechanism.matrix)
    means = law @ likelihoods
    lifts = (likelihoods / np.where(means > 0, means, 1.0))[np.ix_(rows, outputs)]
    moved = np.log(np.where(lifts > 0, lifts, 1.0))
    reach = max(float(moved.max()), 1e-9)
    shades, norm = colormaps["RdBu"].with_extremes(bad="#d0d0d0"), Normalize(-reach, reach)
    label = "log of the probability after the report\nover that before it (nats)"
    place = axes_or_new(axes, *size_of(mechanism))
    axes = _cells(place, np.ma.masked_where(lifts == 0, moved), shades, norm, label)
    name_rows(axes, [protected.values[i] for i in rows], "category" if protected.names is None else protected.names[0])
    name_columns(axes, [mechanism.outputs[j] for j in outputs], "report")
    out = (likelihoods == 0).sum(axis=0)
    ruled = f"{out.min()} to {out.max()}" if out.min() < out.max() else f"{out.min()}"
    title_above(
        axes, ["What each report tells at the estimate", f"it rules out {ruled} of {len(law)} categories", *left_out]
    )
    return axes


def title_above(axes: Any, lines: list[str]) -> None:
    """Put lines above axes, broken where they would leave a narrow figure."""
    width = int(_LETTERS * axes.figure.get_figwidth())
    axes.set_title("\n".join(part for line in lines for part in textwrap.wrap(line, width)), fontsize=10)


def _cells(axes: Any, V: Any, shades: Any, norm: Any, label: str) -> Any:
    """Draw a table as colours, with lines between cells, crosses where it is zero or masked, and a scale."""
    hidden = np.ma.getmaskarray(V) if np.ma.isMaskedArray(V) else V == 0
    shown = np.ma.masked_where(hidden, V)
    image = axes.imshow(shown, cmap=shades, norm=norm, aspect="auto", interpolation="nearest")
    _line_cells(axes, *V.shape)
    _mark_zeros(axes, hidden)
    axes.figure.colorbar(image, ax=axes, label=label, extend="min" if shown.min() < norm.vmin else "neither")
    return axes


def _drawn(mechanism: Mechanism) -> tuple[list[int], list[int], list[str]]:
    """Return the categories and reports that are drawn, in their order, and what is said of those that are not."""
    prior = mechanism.guarantee.uncertainty.prior
    mass, notes = prior @ mechanism.matrix, []
    rows, columns = list(range(prior.size)), list(range(mass.size))
    if prior.size > _MOST_ROWS:
        rows = sorted(np.argsort(-prior, kind="stable")[:_SOME_ROWS].tolist())
        notes.append(f"the {_SOME_ROWS} most frequent categories are drawn: {prior[rows].sum():.0%} of the records")
    if mass.size > _MOST_COLUMNS:
        columns = sorted(np.argsort(-mass, kind="stable")[:_SOME_COLUMNS].tolist())
        notes.append(f"the {_SOME_COLUMNS} most frequent reports are drawn: {mass[columns].sum():.0%} of those sent")
        by_frequency = sorted(rows, key=lambda i: -prior[i])
        columns.sort(key=lambda j: (mechanism.matrix[by_frequency, j] == 0).tolist())
        notes.append("reports are in the order of the categories that they allow, the most frequent category first")
    return rows, columns, notes


def size_of(mechanism: Mechanism) -> tuple[float, float]:
    """Return the inches that a mechanism takes, across and down."""
    N, M = map(len, _drawn(mechanism)[:2])
    return 3.0 + max(size_for(M), 0.55 * M if M <= _NUMBERED else 0), 1.8 + size_for(N)


def _line_cells(axes: Any, rows: int, columns: int) -> None:
    """Draw thin lines between cells, where these are large enough."""
    if max(rows, columns) <= _LINED:
        axes.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, colors="#bbbbbb", linewidth=0.5)
        axes.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, colors="#bbbbbb", linewidth=0.5)


def _mark_zeros(axes: Any, hidden: Any) -> None:
    """Cross cells that have no colour, where these are large enough."""
    if max(hidden.shape) <= _MARKED:
        rows, columns = np.nonzero(hidden)
        size = 20 if max(hidden.shape) <= 20 else 5
        axes.scatter(columns, rows, s=size, marker="x", color="#777777", linewidths=0.7)


def _number_cells(axes: Any, V: Any, norm: Any) -> None:
    for (i, j), value in np.ndenumerate(V):
        if value > 0:
            shown = f"{value:.3f}" if value >= 0.0005 else "<.001"
            color = "black" if float(norm(value)) < _LIGHT else "white"
            axes.text(j, i, shown, ha="center", va="center", fontsize=8, color=color)
