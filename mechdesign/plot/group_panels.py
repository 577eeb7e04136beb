"""Estimates by groups: a panel for each group, or for dates a series with a ribbon for each category."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.data.group_keys import Key, Keys, in_words
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.grouped import GroupedEstimate
from mechdesign.display.numbers import counted
from mechdesign.errors import shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.plot.drawing import BLACK, BLUE, ORANGE, STYLES, new_figure, start_of_axis, text_of

_MOST_PANELS = 64
_MOST_COLUMNS = 8
_TALLEST = 24.0  # inches of a figure
_ROW, _HEAD = 0.17, 0.55  # inches of a category, and of a panel's title
_MOST_SERIES = 24  # panels of categories
_MOST_LINES = len(STYLES)
_MARKED = 60  # dates of a line whose points are marked
_MONTH = re.compile(r"\d{4}-\d{2}")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([T ].+)?")
_GREY = "#767676"
Truth = Mapping[Any, Mapping[str, float]]
_HOLLOW = "hollow: few reports"


def groups(
    estimate: GroupedEstimate, *, simultaneous: bool = False, shared: bool = True, truth: Truth | None = None
) -> list[Any]:
    """Draw the frequencies in all groups, with their confidence intervals, in a new figure.

    If the values of exactly one group column are dates, each category gets a panel with the series over time, a line
    for each group of the other columns, and a ribbon from the lower to the upper limits. Dates are dates and times in
    the data, and texts if all of them are ISO 8601: a month (2026-05), a day (2026-05-01), or a day and a time.
    Otherwise each group gets a panel, in which a tick shows the frequency in all groups together.

    Groups with few reports have hollow points. A figure holds 64 groups, 24 series and 5 lines in each: of more groups
    and lines those with the most reports are drawn, and of more categories the most frequent ones; the figure says so.

    Parameters
    ----------
    estimate : GroupedEstimate
        The estimate.
    simultaneous : bool
        Whether the intervals that hold at once are drawn too, as thinner lines or a paler ribbon.
    shared : bool
        Whether all series over time have one scale, so that their heights compare. With False each has its own.
    truth : mapping, optional
        True frequencies by category for groups, in experiments where they are known: ``{"north": {"yes": 0.3}}``, with
        tuples for several group columns. They are black crosses.

    Returns
    -------
    list of matplotlib Axes
        ``axes[0].figure`` is the figure.

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    >>> reports, days = ["no", "yes", "no"] * 50, ["2026-05-01", "2026-05-02", "2026-05-03"] * 50
    >>> [axes.get_title() for axes in groups(md.estimate_frequencies(reports, warner, by={"day": days}))]
    ['no', 'yes']
    """
    check_kind(estimate, GroupedEstimate, "what groups draws", "an estimate by groups; frequencies draws one without")
    place, known = date_column(estimate), _known(estimate, truth or {})
    if place is None:
        return _panels(estimate, known, simultaneous=simultaneous)
    return _Series(estimate, place, known).draw(simultaneous=simultaneous, shared=shared)


def _known(estimate: GroupedEstimate, truth: Truth) -> dict[int, dict[int, float]]:
    """Return true frequencies by the positions of groups and of categories."""
    check_kind(truth, Mapping, "truth", "a table from groups to tables from categories to frequencies")
    labels = {label: place for place, label in enumerate(estimate.estimates[0].labels)}
    known: dict[int, dict[int, float]] = {}
    for group, table in truth.items():
        found = estimate[group]
        check_kind(table, Mapping, f"the truth of {shorten(group)}", "a table from categories to frequencies")
        known[next(k for k, each in enumerate(estimate.estimates) if each is found)] = {
            labels[name]: value for name, value in table.items() if name in labels
        }
    return known


def _draw_truth(panel: Any, x: Sequence[Any], y: Sequence[Any]) -> None:
    if len(x):
        panel.plot(x, y, "x", color=BLACK, markersize=4.5, markeredgewidth=1.0, label="truth", zorder=3)


def date_column(estimate: GroupedEstimate) -> int | None:
    """Return the position of the one group column whose values are dates; None if there is none, or several."""
    dated = [
        place
        for place in range(len(estimate.by))
        if any(keys[place] is not None for keys in estimate.groups)
        and all(keys[place] is None or as_date(keys[place]) is not None for keys in estimate.groups)
    ]
    return dated[0] if len(dated) == 1 else None


def as_date(key: Key) -> datetime.datetime | None:
    """Return a date, a time or an ISO 8601 text as a time, without its zone after conversion to UTC; otherwise None.

    Examples
    --------
    >>> as_date("2026-05"), as_date("2026-02-30"), as_date("20260501")
    (datetime.datetime(2026, 5, 1, 0, 0), None, None)
    """
    if isinstance(key, str) and (_MONTH.fullmatch(key) or _DAY.fullmatch(key)):
        try:
            key = datetime.datetime.fromisoformat(f"{key}-01" if _MONTH.fullmatch(key) else key)
        except ValueError:
            return None
    if isinstance(key, datetime.datetime):
        return key if key.tzinfo is None else key.astimezone(datetime.UTC).replace(tzinfo=None)
    return datetime.datetime.combine(key, datetime.time()) if isinstance(key, datetime.date) else None


def _panels(estimate: GroupedEstimate, known: dict[int, dict[int, float]], *, simultaneous: bool) -> list[Any]:
    """Draw a panel for each group."""
    shown = _most_reports(estimate, _MOST_PANELS)
    together, N = _together(estimate), len(estimate.estimates[0].labels)
    columns, rows, most = _layout(len(shown), N)
    picked = _most_frequent(together, most)
    height = rows * (_HEAD + max(1.0, _ROW * len(picked))) + 0.9
    grid = _grid((rows, columns), (1.6 + 1.9 * columns if columns > 1 else 5.0, height), sharey=True)
    axes = _used(grid, len(shown))
    labels = [estimate.estimates[0].labels[i] for i in picked]
    for panel, group in zip(axes, shown, strict=False):
        found = estimate.estimates[group]
        _draw_panel(panel, found, picked, together, simultaneous=simultaneous)
        true = {at: known[group][i] for at, i in enumerate(picked) if i in known.get(group, {})}
        _draw_truth(panel, list(true.values()), list(true))
        few = " (few)" if found.few_reports else ""
        name = text_of(", ".join(map(in_words, estimate.groups[group])), 24 if columns > 1 else 60)
        panel.set_title(f"{name}\n{counted(found.reports, 'report')}{few}", fontsize=8, color=_GREY if few else BLACK)
        panel.grid(visible=True, axis="x", linewidth=0.3)
        panel.tick_params(axis="x", labelsize=7)
    for row in grid:
        row[0].set_yticks(range(len(labels)), [text_of(label) for label in labels], fontsize=7.5)
    axes[0].set_ylim(len(labels) - 0.5, -0.5)
    for panel in axes[-columns:]:
        panel.tick_params(labelbottom=True)
    ends = [getattr(panel.dataLim, end) for panel in axes for end in ("x0", "x1")]
    axes[0].set_xlim(start_of_axis(min(ends), max(ends)), None)
    notes = [f"thinner: for all {estimate.family:,} at once"] if simultaneous else []
    _explain(estimate, axes, [*notes, *_left_out(estimate, len(shown), len(picked))])
    return axes


def _layout(panels: int, categories: int) -> tuple[int, int, int]:
    """Return columns and rows of panels, and how many categories fit into a panel: more columns where that helps."""
    rows = 1 if panels <= 4 else math.ceil(panels / math.ceil(math.sqrt(panels)))
    fewest = math.ceil(panels / _MOST_COLUMNS)
    while rows > fewest and _fitting(rows) < categories:
        rows -= 1
    return math.ceil(panels / rows), rows, _fitting(rows)


def _fitting(rows: int) -> int:
    """Return how many categories fit into a panel, in a figure with so many rows of panels."""
    return int((_TALLEST / rows - _HEAD) / _ROW)


def _draw_panel(
    panel: Any, found: FrequencyEstimate, picked: Sequence[int], together: Floats, *, simultaneous: bool
) -> None:
    places, known = np.array(picked), found.identifiable[list(picked)]
    at = np.arange(len(picked))
    panel.plot(together[places], at, "|", color=_GREY, markersize=7, markeredgewidth=1.2, label="all groups together")
    for chosen, color, marker, label in ((known, BLUE, "o", "estimate"), (~known, ORANGE, "s", "not identifiable")):
        if not chosen.any():
            continue
        if simultaneous:
            panel.hlines(at[chosen], *found.simultaneous_intervals[places[chosen]].T, color=color, linewidth=0.9)
        panel.hlines(at[chosen], *found.intervals[places[chosen]].T, color=color, linewidth=3.5, alpha=0.5)
        face = "white" if found.few_reports else color
        panel.plot(
            found.frequencies[places[chosen]],
            at[chosen],
            marker,
            color=color,
            markerfacecolor=face,
            markersize=4.0,
            label=_HOLLOW if found.few_reports else label,
        )


@dataclass(frozen=True, eq=False)
class _Series:
    """Estimates over time: one group column holds dates."""

    estimate: GroupedEstimate
    place: int
    known: dict[int, dict[int, float]]

    def draw(self, *, simultaneous: bool, shared: bool) -> list[Any]:
        """Draw a panel for each category, with a line for each group of the other columns."""
        estimate = self.estimate
        lines = self._lines()
        longest = sorted(lines, key=lambda name: -self._reports(lines[name]))[:_MOST_LINES]
        names = [name for name in lines if name in longest]
        picked = _most_frequent(_together(estimate), _MOST_SERIES)
        columns = len(picked) if len(picked) <= 3 else min(4, math.ceil(math.sqrt(len(picked))))
        rows = math.ceil(len(picked) / columns)
        grid = _grid((rows, columns), (1.0 + (3.2 * columns if columns > 1 else 6.0), 1.1 + 1.9 * rows), sharey=shared)
        axes = _used(grid, len(picked))
        for panel, category in zip(axes, picked, strict=False):
            for style, name in zip(STYLES, names, strict=False):
                self._draw_line(panel, lines[name], category, (name, style), simultaneous=simultaneous)
            panel.set_title(text_of(estimate.estimates[0].labels[category]), fontsize=9)
            panel.grid(visible=True, linewidth=0.3)
            panel.tick_params(labelsize=7)
        for panel in axes:
            ends = [getattr(each.dataLim, end) for each in (axes if shared else [panel]) for end in ("y0", "y1")]
            panel.set_ylim(start_of_axis(min(ends), max(ends)), None)
        for panel in axes[-columns:]:
            _show_dates(panel)
        notes = [f"paler: for all {estimate.family:,} at once"] if simultaneous else []
        notes += _left_out(estimate, len(estimate.groups), len(picked))
        notes += [f"{len(names)} of {len(lines)} lines: those with the most reports"] if len(names) < len(lines) else []
        undated = sum(estimate.groups[group][self.place] is None for group in range(len(estimate)))
        notes += [f"{undated} group{'s' * (undated > 1)} without a date left out"] if undated else []
        _explain(estimate, axes, notes)
        return axes

    def _lines(self) -> dict[Keys, list[tuple[datetime.datetime, int]]]:
        """Return the dates and the groups of each line, in the order of the dates."""
        lines: dict[Keys, list[tuple[datetime.datetime, int]]] = {}
        for group, keys in enumerate(self.estimate.groups):
            date = as_date(keys[self.place])
            if date is not None:
                lines.setdefault(keys[: self.place] + keys[self.place + 1 :], []).append((date, group))
        return {name: sorted(line) for name, line in lines.items()}

    def _reports(self, line: Sequence[tuple[datetime.datetime, int]]) -> int:
        return sum(self.estimate.estimates[group].reports for _, group in line)

    def _draw_line(
        self,
        panel: Any,
        line: Sequence[tuple[datetime.datetime, int]],
        category: int,
        named: tuple[Keys, dict[str, str]],
        *,
        simultaneous: bool,
    ) -> None:
        name, style = named
        found = [self.estimate.estimates[group] for _, group in line]
        dates, color = [date for date, _ in line], style["color"]
        limits = np.array([each.intervals[category] for each in found]).T
        joint = np.array([each.simultaneous_intervals[category] for each in found]).T
        weight = self._reports(line) / sum(each.reports for each in self.estimate.estimates)  # wide ribbons lie below
        if len(line) == 1:  # a ribbon of one date has no width
            panel.vlines(dates, *limits, color=color, linewidth=1.6)
        for bounds, alpha in ((limits, 0.25), *(((joint, 0.12),) if simultaneous else ())):
            panel.fill_between(dates, *bounds, color=color, alpha=alpha, linewidth=0, zorder=1 + weight)
        frequencies = np.array([each.frequencies[category] for each in found])
        legend = text_of(", ".join(map(in_words, name)), 40) if name else "estimate"
        panel.plot(dates, frequencies, color=color, linewidth=1.2, label=legend)
        few = np.array([each.few_reports for each in found])
        for chosen, face in ((~few, color), (few, "white")):
            if chosen.any() and (len(line) <= _MARKED or face == "white"):
                at = [date for date, here in zip(dates, chosen, strict=True) if here]
                marks = {"marker": style["marker"], "markersize": 4.0, "markerfacecolor": face}
                label = _HOLLOW if face == "white" else None
                panel.plot(at, frequencies[chosen], linestyle="", color=color, label=label, **marks)
        true = {date: self.known[group] for date, group in line if category in self.known.get(group, {})}
        _draw_truth(panel, list(true), [table[category] for table in true.values()])


def _show_dates(panel: Any) -> None:
    from matplotlib import dates

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=2, maxticks=6)
    panel.xaxis.set_major_locator(locator)
    panel.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator))
    panel.xaxis.get_offset_text().set_fontsize(7)
    panel.tick_params(labelbottom=True)


def _together(estimate: GroupedEstimate) -> Floats:
    """Return the frequencies in all groups together: means, each group with the weight of its reports."""
    weights = np.array([found.reports for found in estimate.estimates], dtype=float)
    result: Floats = weights / weights.sum() @ np.array([found.frequencies for found in estimate.estimates])
    return result


def _most_reports(estimate: GroupedEstimate, most: int) -> list[int]:
    """Return the groups with the most reports, in the order of the groups."""
    order = sorted(range(len(estimate)), key=lambda group: -estimate.estimates[group].reports)
    return sorted(order[:most])


def _most_frequent(frequencies: Floats, most: int) -> list[int]:
    """Return the most frequent categories, in their own order."""
    return sorted(np.argsort(-frequencies, kind="stable")[:most].tolist())


def _left_out(estimate: GroupedEstimate, groups_shown: int, categories: int) -> list[str]:
    N, notes = len(estimate.estimates[0].labels), []
    if groups_shown < len(estimate):
        notes.append(f"{groups_shown} of {len(estimate):,} groups: those with the most reports")
    if categories < N:
        notes.append(f"{categories} of {N} categories: the most frequent")
    return notes


def _grid(shape: tuple[int, int], inches: tuple[float, float], *, sharey: bool) -> Any:
    """Return panels in rows and columns, in a new figure of a size."""
    figure = new_figure(1.0, 1.0)
    figure.set_size_inches(*inches)
    figure.get_layout_engine().set(w_pad=0.04, h_pad=0.04)
    return figure.subplots(*shape, sharex=True, sharey=sharey, squeeze=False)


def _used(grid: Any, number: int) -> list[Any]:
    """Return the first panels, after removing the others."""
    axes = list(grid.ravel())
    for unused in axes[number:]:
        unused.remove()
    return axes[:number]


def _explain(estimate: GroupedEstimate, axes: Sequence[Any], notes: Sequence[str]) -> None:
    """Say what is drawn: above the panels, and by a legend below them."""
    first = estimate.estimates[0]
    whose = "in the population" if first.of == "population" else "among the records reported"
    by = text_of(", ".join(map(str, estimate.by)), 60)
    title = f"Frequencies {whose} by {by}, with {100 * first.confidence:g} % intervals"
    figure = axes[0].figure
    figure.suptitle("\n".join([title, *notes]), fontsize=10)
    legend: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            legend.setdefault(label, handle)
    if len(legend) > 1:
        names = sorted(legend, key=lambda label: label == _HOLLOW)  # the remark stands last
        handles = [legend[name] for name in names]
        figure.legend(handles, names, loc="outside lower center", ncols=min(6, len(names)), fontsize=8, frameon=False)
