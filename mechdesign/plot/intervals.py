"""Estimated frequencies with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.plot.drawing import BLACK, BLUE, ORANGE, axes_or_new, explain, name_rows, size_for, start_of_axis

_WHOSE = {"population": "in the population", "records": "among the records reported"}


def frequencies(
    estimate: FrequencyEstimate, axes: Any | None = None, *, truth: Mapping[str, float] | None = None
) -> Any:
    """Draw estimated frequencies with their confidence intervals, a row for each category.

    Categories that reports do not tell apart are squares: only totals of them are estimated, and their intervals reach
    over all that the reports leave open.

    Parameters
    ----------
    estimate : FrequencyEstimate
        Of any size.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.
    truth : mapping, optional
        True frequencies by category, in experiments where they are known.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    >>> drawn = frequencies(md.estimate_frequencies({"no": 600, "yes": 400}, warner))
    >>> drawn.get_title(), [label.get_text() for label in drawn.get_yticklabels()]
    ('1,000 reports, 95 % intervals of each category', ['no', 'yes'])
    """
    wanted = "an estimate without groups; groups draws one by groups"
    check_kind(estimate, FrequencyEstimate, "what frequencies draws", wanted)
    N = len(estimate.labels)
    own, axes = axes is None, axes_or_new(axes, 6.6, 1.5 + size_for(N))
    rows, known = np.arange(N), estimate.identifiable
    width = 1.6 if N <= 50 else 1.1
    for chosen, color, marker, text in (
        (known, BLUE, "o", "estimate"),
        (~known, ORANGE, "s", "not identifiable"),
    ):
        if chosen.any():
            lower, upper = estimate.intervals[chosen].T
            axes.hlines(rows[chosen], lower, upper, color=color, linewidth=width)
            axes.plot(estimate.frequencies[chosen], rows[chosen], marker, color=color, markersize=_dot(N), label=text)
    if truth is not None:
        there = [i for i, label in enumerate(estimate.labels) if label in truth]
        axes.plot([truth[estimate.labels[i]] for i in there], there, "|", color=BLACK, markersize=9, label="truth")
    name_rows(axes, estimate.labels, "category")
    axes.set_xlabel(f"frequency {_WHOSE[estimate.of]}")
    axes.set_title(
        f"{estimate.reports:,} reports, {100 * estimate.confidence:g} % intervals of each category", fontsize=10
    )
    axes.set_xlim(start_of_axis(axes.dataLim.x0, axes.dataLim.x1), None)
    axes.grid(visible=True, axis="x", linewidth=0.3)
    if truth is not None or not known.all():
        explain(axes, below=own, columns=3)
    return axes


def _dot(count: int) -> float:
    return 5.0 if count <= 50 else 3.0
