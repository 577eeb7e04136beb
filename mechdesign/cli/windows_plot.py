"""Pictures of estimated shares of strings: a row for each candidate, and a panel for each group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.data.group_keys import in_words
from mechdesign.plot.drawing import BLUE, name_rows, new_figure, size_for, text_of

if TYPE_CHECKING:
    from mechdesign.windows import GroupedStrings

_MOST_STRINGS = 60
_MOST_PANELS = 12
_COLUMNS = 4


def drawn(found: GroupedStrings, tables: Sequence[Any], by: Sequence[str], confidence: float) -> Any:
    """Return a figure of shares with their intervals.

    Parameters
    ----------
    found : GroupedStrings
        The estimates. Of many groups those with the most reports are drawn, and none with few reports if others are
        there; of many strings those that have the greatest shares.
    tables : sequence
        The shares and the intervals of each group.
    by : sequence of str
        The group columns; empty without groups.
    confidence : float
        Of the intervals.
    """
    clear = [at for at, few in enumerate(found.few_reports) if not few] or list(range(len(tables)))
    panels = sorted(sorted(clear, key=lambda at: -tables[at].reports)[:_MOST_PANELS])
    mean = np.mean([tables[at].shares for at in panels], axis=0)
    rows = np.sort(np.argsort(-mean, kind="stable")[:_MOST_STRINGS])
    columns = min(_COLUMNS, len(panels))
    lines = math.ceil(len(panels) / columns)
    height = lines * (0.9 + size_for(len(rows))) + 0.6
    figure = new_figure(6.6 if columns == 1 else 1.6 + 2.4 * columns, height)
    grid = figure.subplots(lines, columns, squeeze=False, sharex=True).ravel()
    for axes, at in zip(grid, panels, strict=False):
        intervals = np.asarray(tables[at].intervals)[rows]
        axes.hlines(np.arange(len(rows)), *intervals.T, color=BLUE, linewidth=1.4)
        axes.plot(np.asarray(tables[at].shares)[rows], np.arange(len(rows)), "o", color=BLUE, markersize=4)
        name_rows(axes, [found.estimates[0].candidates[row] for row in rows], "string")
        group = ", ".join(map(in_words, found.groups[at])) if by else ""
        axes.set_title(text_of(f"{group}: {tables[at].reports:,} reports" if by else ""), fontsize=9)
        if at != panels[0]:
            axes.set_ylabel("")
        axes.axvline(0, color="black", linewidth=0.4)
        axes.grid(visible=True, axis="x", linewidth=0.3)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    reports = sum(table.reports for table in tables)
    left = f", {len(panels)} of {len(tables)} groups" if len(panels) < len(tables) else ""
    figure.suptitle(f"{reports:,} reports{left}, {100 * confidence:g} % intervals of each string", fontsize=10)
    figure.supxlabel("share of the population that reported", fontsize=9)
    return figure
