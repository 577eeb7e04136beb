"""A comparison of mechanisms as bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mechdesign.data.checks import check_kind
from mechdesign.plot.drawing import BLUE, PALE_BLUE, axes_or_new, text_of

if TYPE_CHECKING:
    from mechdesign.comparison import Comparison


def comparison(found: Comparison, axes: Any | None = None) -> Any:
    """Draw the values of a comparison, a bar for each mechanism, with its number.

    A bar without an end is infinite: no number of reports is enough. What is not computed has no bar. Mechanisms that
    do not keep the promise are hatched: their values are not for the same privacy.

    Parameters
    ----------
    found : Comparison
        Of `mechdesign.compare`.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> drawn = comparison(md.compare(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1)))
    >>> drawn.get_xlabel(), drawn.get_title()
    ('mutual-information in nats; more is better', 'The same epsilon = 1, 3 categories')
    """
    from mechdesign.comparison import Comparison

    check_kind(found, Comparison, "what comparison draws", "a Comparison, which compare(problem) returns")
    rows = found.rows
    axes = axes_or_new(axes, 8.0, 1.4 + 0.5 * len(rows))
    given = [0.0 if row.value is None else row.value for row in rows]
    finite = [value for value in given if math.isfinite(value)]
    end = 1.3 * max([abs(value) for value in finite if value] or [1.0])
    colors = [BLUE if row.key == "design" else PALE_BLUE for row in rows]
    hatches = ["" if row.keeps else "///" for row in rows]
    axes.barh(
        range(len(rows)),
        [min(value, 2 * end) for value in given],
        color=colors,
        edgecolor=BLUE,
        linewidth=0.5,
        hatch=hatches,
    )
    for i, row in enumerate(rows):
        at, words, shift, side = given[i], row.value_in_words, 4, "left"
        if math.isinf(at):
            at, words, shift, side = end, "infinite: no number of reports is enough \u2192", -4, "right"
        axes.annotate(words, (at, i), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=9)
    names = [text_of(row.name, 48) + ("" if row.keeps else "\n(does NOT keep the promise)") for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0 if min(given) >= 0 else 1.3 * min(finite), end if max(given) > 0 else 0.0)
    from mechdesign.comparison.table import what_is_compared

    problem = found.design.problem
    axes.set_xlabel(f"{what_is_compared(found)}; {'less' if problem.utility.minimised else 'more'} is better")
    axes.set_title(f"The same epsilon = {problem.epsilon}, {problem.uncertainty.size} categories", fontsize=10)
    return axes
