"""Leakage of each report: proved, at the estimate, shown by an audit, and below the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.deploy.leakage_audit import Audit
from mechdesign.display.numbers import text_above
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.plot.drawing import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PALE_BLUE,
    axes_or_new,
    explain,
    name_columns,
    new_figure,
    size_for,
)
from mechdesign.plot.heat_map import guesses, matrix, size_of, title_above
from mechdesign.pml import leakage as leakage_at

_FEW = 12  # bars, of which equal ones are drawn too
_SAME = 1e-3  # share of a leakage, up to which bars look equal
_OPEN = "left open by the reports"
_BELOW = 3.6  # inches of the panel of leakage


def leakage(mechanism: Mechanism, axes: Any | None = None) -> Any:
    """Draw the leakage of each report beside the epsilon of the guarantee.

    Of an optimal design all reports often leak the same. Of more than 12 equal bars, which show nothing, what differs
    is drawn instead, by `guesses`: which categories each report rules out, and how far it moves the guess about others.

    Bars are the greatest leakage over the set of priors, proved and rounded up; dots the leakage at the estimate. Where
    the guarantee promises something from below, triangles are how far a report lowers a probability at most.

    Parameters
    ----------
    mechanism : Mechanism
        Of any size.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> drawn = leakage(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise))
    >>> drawn.get_ylabel(), [round(float(bar.get_height()), 4) for bar in drawn.patches]
    ('leakage (nats)', [1.0986, 1.0986])
    """
    check_mechanism(mechanism)
    bars = np.array(mechanism.proof.leakages)
    if bars.size > _FEW and np.ptp(bars) <= _SAME * bars.max() and not mechanism.proof.least_lifts:
        axes = guesses(mechanism, axes)
        title_above(
            axes, [f"All {bars.size:,} reports leak {text_above(bars.max(), 3)} nats", *axes.get_title().split("\n")]
        )
        return axes
    own, axes = axes is None, _bars(mechanism, axes, "over all priors of the set, proved")
    known, M = mechanism.guarantee.uncertainty, len(mechanism.outputs)
    here = leakage_at(known.protected.likelihoods(mechanism.matrix), known.protected.law)
    axes.plot(range(M), here, "o", clip_on=False, color=ORANGE, markersize=_dot(M), label="at the estimate")
    if mechanism.proof.least_lifts:
        below, sides = mechanism.proof.lower_leakages, mechanism.guarantee.sides
        limit = float(sides.below or 0)
        axes.plot(range(M), below, "v", color=GREEN, markersize=_dot(M), label="from below, proved")
        axes.axhline(limit, linestyle=":", color=GREEN, label=f"{sides.below_name} = {limit:.6g} nats")
    return _finished(axes, f"Leakage{known.protected_in_words()} of {M} possible reports", own=own)


def audit(found: Audit, mechanism: Mechanism, axes: Any | None = None) -> Any:
    """Draw the leakage that the reports of a sampler show about each report, beside what is proved.

    A diamond is the least leakage that agrees with the reports, and the line above it reaches to what they leave open.
    Of reports that come rarely they leave nearly everything open: a low diamond alone does not say that little leaks.

    Parameters
    ----------
    found : Audit
        What the reports show.
    mechanism : Mechanism
        The mechanism that the sampler claims to be.
    axes : matplotlib Axes, optional
        Where to draw; by default in a new figure, ``axes.figure``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise)
    >>> found = md.deploy.audit_counts(warner, [[75_000, 25_000], [25_000, 75_000]])
    >>> audit(found, warner).get_title().splitlines()[0]
    'The reports fit the mechanism'
    """
    check_mechanism(mechanism)
    check_kind(found, Audit, "what audit draws", "an Audit, which deploy.audit(mechanism, samples) returns")
    own, axes = axes is None, _bars(mechanism, axes, "proved: a true sampler does not show more")
    M = len(mechanism.outputs)
    axes.plot(
        range(M),
        found.bounds,
        "D",
        clip_on=False,
        color=BLACK,
        markersize=_dot(M),
        label="shown by the reports, at least",
    )
    most, means = found.upper.max(axis=0), mechanism.guarantee.uncertainty.exact_set.support(found.lower)
    left_open = np.log(np.divide(most, means, out=np.full(M, np.inf), where=means > 0))
    seen = max(found.epsilon, found.leakage, found.lower_bound)
    top = min(1.05 * max(seen, left_open.max()), 2.5 * seen)
    axes.vlines(range(M), found.bounds, np.minimum(left_open, 2 * top), color=BLACK, linewidth=0.8, label=_OPEN)
    fit = "fit" if found.consistent else "do NOT fit"
    note = f"{found.counts.sum():,} reports, failure probability {found.failure:g}"
    return _finished(axes, f"The reports {fit} the mechanism\n{note}", own=own, top=top)


def _bars(mechanism: Mechanism, axes: Any | None, note: str) -> Any:
    M = len(mechanism.outputs)
    axes = axes_or_new(axes, max(6.5, 2.0 + size_for(M)), 4.4)
    axes.bar(range(M), mechanism.proof.leakages, color=PALE_BLUE, edgecolor=BLUE, linewidth=0.5, label=note)
    limit = float(mechanism.guarantee.epsilon)
    axes.axhline(limit, linestyle="--", color=BLUE, linewidth=1, label=f"epsilon = {limit:.6g} nats")
    name_columns(axes, mechanism.outputs, "report")
    return axes


def _finished(axes: Any, title: str, *, own: bool, top: float | None = None) -> Any:
    axes.set_ylabel("leakage (nats)")
    axes.set_title(title, fontsize=10)
    axes.set_ylim(0, top)
    explain(axes, below=own, columns=2)
    return axes


def _dot(count: int) -> float:
    return 5.0 if count <= 50 else 3.0


def mechanism_figure(mechanism: Mechanism) -> Any:
    """Return a figure of a mechanism: its matrix, and the leakage of each report below.

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> drawn = mechanism_figure(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise))
    >>> [axes.get_ylabel() for axes in drawn.axes[:2]]
    ['category', 'leakage (nats)']
    """
    width, height = size_of(mechanism)
    figure = new_figure(max(width, 6.5), height + max(height, _BELOW))
    above, below = figure.subplots(2, 1, height_ratios=[height, max(height, _BELOW)])
    matrix(mechanism, above)
    if (legend := leakage(mechanism, below).get_legend()) is not None:
        legend.remove()
        explain(below, below=True, columns=3)
    return figure
