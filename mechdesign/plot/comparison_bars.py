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
    ('mutual-information in nats', 'The same epsilon = 1, 3 symbols')
    """
    from mechdesign.comparison import Comparison

    check_kind(found, Comparison, "what comparison draws", "a Comparison, which compare(problem) returns")
    rows = found.rows
    axes = axes_or_new(axes, 8.0, 1.4 + 0.5 * len(rows))
    finite = [row.value if row.value is not None and math.isfinite(row.value) else 0.0 for row in rows]
    colors = [BLUE if row.key == "design" else PALE_BLUE for row in rows]
    axes.barh(range(len(rows)), finite, color=colors, edgecolor=BLUE, linewidth=0.5)
    for i, row in enumerate(rows):
        axes.annotate(
            row.value_in_words, (finite[i], i), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9
        )
    names = [text_of(row.name, 48) + ("" if row.keeps else "\n(does NOT keep the promise)") for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.margins(x=0.3)
    axes.set_xlim(0 if min(finite) >= 0 else None, None)
    from mechdesign.comparison.table import what_is_compared

    axes.set_xlabel(what_is_compared(found))
    problem = found.design.problem
    axes.set_title(f"The same epsilon = {problem.epsilon}, {problem.uncertainty.size} symbols", fontsize=10)
    return axes
