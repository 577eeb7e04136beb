"""Estimated tables of whole records: one-way tables with their intervals, and pairs as heat maps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.deploy.grouped import GroupedEstimate
from mechdesign.plot.drawing import BLUE, name_columns, name_rows, new_figure, size_for, text_of
from mechdesign.records.table_estimates import RecordEstimate, TableEstimate

_ACROSS = 3  # panels
_MOST_PAIRS = 30
_NUMBERED = 8  # columns, up to which each cell has its number


def marginals(estimate: RecordEstimate) -> Any:
    """Draw the tables of one attribute with their intervals, and those of two as heat maps.

    A heat map is darker where a combination is more frequent; impossible combinations are white. An estimate by groups
    is drawn for all groups together. Of more than 30 pairs the first are drawn, and the title says so.

    Parameters
    ----------
    estimate : RecordEstimate or GroupedRecordEstimate
        The tables.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> import mechdesign as md
    >>> from mechdesign.records import RecordMechanism, RecordPart, estimate_records
    >>> fair = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, fair, ["n", "y"])
    >>> parts = [RecordPart(name, (name,), 1, warner) for name in ("smokes", "drinks")]
    >>> reports = {"view": ["smokes", "drinks"] * 50, "report": ["n"] * 60 + ["y"] * 40}
    >>> figure = marginals(estimate_records(reports, RecordMechanism(parts, weight_bits=1)))
    >>> [axes.get_title() for axes in figure.axes]
    ['smokes', 'drinks']
    """
    whole: Any = estimate.whole if isinstance(estimate, GroupedEstimate) else estimate
    check_kind(whole, RecordEstimate, "what marginals draws", "an estimate of estimate_records")
    single = [table for table in whole if len(table.attributes) == 1]
    pairs = [table for table in whole if len(table.attributes) == 2]
    drawn = [*single, *pairs[:_MOST_PAIRS]]
    across = min(_ACROSS, max(len(drawn), 1))
    rows = [drawn[start : start + across] for start in range(0, len(drawn), across)]
    heights = [max(0.9 + size_for(_rows(table)) for table in row) for row in rows] or [2.0]
    figure = new_figure(4.2 * across, 0.5 + sum(heights))
    grid = figure.add_gridspec(max(len(rows), 1), across, height_ratios=heights)
    for place, table in enumerate(drawn):
        axes = figure.add_subplot(grid[divmod(place, across)])
        (_forest if len(table.attributes) == 1 else _map)(axes, table)
        axes.set_title(text_of(table.name), fontsize=10)
    hidden = len(pairs) - _MOST_PAIRS
    rest = f"; {hidden:,} more pairs" if hidden > 0 else ""
    kind = "consistent tables" if whole.consistent else f"{100 * whole.confidence:g} % intervals of each category"
    figure.suptitle(f"{whole.reports:,} reports, {kind}{rest}", fontsize=10)
    return figure


def _rows(table: TableEstimate) -> int:
    return len(dict.fromkeys(cell[0] for cell in table.cells))


def _forest(axes: Any, table: TableEstimate) -> None:
    places = np.arange(len(table.cells))
    if table.intervals is not None:
        axes.hlines(places, *table.intervals.T, color=BLUE, linewidth=1.6)
    axes.plot(table.frequencies, places, "o", color=BLUE, markersize=4)
    name_rows(axes, table.labels, "")
    lowest = np.nanmin([0.0, *(() if table.intervals is None else table.intervals[:, 0])])
    axes.set_xlim(min(0.0, float(lowest)), None)
    axes.set_xlabel("frequency")
    axes.grid(visible=True, axis="x", linewidth=0.3)


def _map(axes: Any, table: TableEstimate) -> None:
    from matplotlib import colormaps

    shares = table.matrix()
    first, second = (list(dict.fromkeys(cell[side] for cell in table.cells)) for side in (0, 1))
    shades = colormaps["Blues"].with_extremes(bad="white")
    top = max(float(np.nanmax(shares)), 0.0) if np.isfinite(shares).any() else 0.0
    image = axes.imshow(np.sqrt(np.maximum(shares, 0)), cmap=shades, aspect="auto", vmin=0, vmax=math.sqrt(top) or 1.0)
    image.set_interpolation("nearest")
    if shares.shape[1] <= _NUMBERED:
        for (row, column), share in np.ndenumerate(shares):
            if np.isfinite(share):
                color = "white" if share > top / 4 else "black"
                axes.text(column, row, f"{share:.3f}", ha="center", va="center", fontsize=7, color=color)
    name_rows(axes, first, table.attributes[0])
    name_columns(axes, second, table.attributes[1])
