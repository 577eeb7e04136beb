"""The error of estimates against the number of reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.plot.drawing import STYLES, axes_or_new, ring, text_of

if TYPE_CHECKING:
    from mechdesign.comparison import ReportPlan

_REACH = 30.0  # times fewer and times more reports than planned
_LONGEST = 60  # characters of a name
_USUAL = 10_000  # reports, where a plan names no number that is enough


def errors(plan: ReportPlan, axes: Any | None = None) -> Any:
    """Draw the largest standard error of a frequency against the number of reports, a curve for each mechanism.

    Parameters
    ----------
    plan : ReportPlan
        Of `mechdesign.plan_reports`. What it was asked for is a dotted line.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError())
    >>> drawn = errors(md.plan_reports(problem, standard_error=0.01))
    >>> drawn.get_xlabel(), drawn.get_xscale(), drawn.get_yscale()
    ('reports', 'log', 'log')
    """
    from mechdesign.comparison import ReportPlan

    check_kind(plan, ReportPlan, "what errors draws", "a ReportPlan, which plan_reports returns")
    axes = axes_or_new(axes, 7.2, 4.8)
    needed = [plan.reports or plan.needed(row.largest) for row in plan.mechanisms]
    there = [count for count in needed if count is not None] or [_USUAL]
    sizes = np.geomspace(max(1.0, min(there) / _REACH), max(there) * _REACH, 41)
    for k, row in enumerate(plan.mechanisms):
        style = STYLES[k % len(STYLES)]
        if row.largest is None or math.isinf(row.largest):
            text = "not computed" if row.largest is None else "no number is enough"
            axes.plot([], [], color=style["color"], linestyle="", label=f"{text_of(row.name, _LONGEST)}: {text}")
            continue
        how = {"label": text_of(row.name, _LONGEST), "linewidth": 1.3, "markevery": 8, **style, **ring(k)}
        axes.plot(sizes, np.sqrt(row.largest / sizes), **how)
    if plan.reports is not None:
        axes.axvline(plan.reports, linestyle=":", color="grey", label=f"{plan.reports:,} reports")
    elif plan.wanted is not None:
        axes.axhline(float(plan.wanted), linestyle=":", color="grey", label=f"standard error {float(plan.wanted):.4g}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("reports")
    objective = plan.problem.utility.estimation
    query = "frequency" if objective is None or objective.is_plain else "query"
    axes.set_ylabel(f"largest standard error of a {query}")
    axes.set_title(f"epsilon = {plan.problem.epsilon} nats, {plan.problem.uncertainty.size} categories", fontsize=10)
    axes.grid(visible=True, which="both", linewidth=0.3)
    axes.legend(fontsize=8)
    return axes
