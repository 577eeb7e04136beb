"""Pictures of several panels."""

from __future__ import annotations

from typing import Any

from mechdesign.mechanism import Mechanism
from mechdesign.plot.drawing import explain, new_figure
from mechdesign.plot.heat_map import matrix, size_of
from mechdesign.plot.leakages import leakage

_BELOW = 3.6  # inches of the panel of leakage


def mechanism_figure(mechanism: Mechanism) -> Any:
    """Return a figure of a mechanism: its matrix, and the leakage of each output below.

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> drawn = mechanism_figure(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise))
    >>> [axes.get_ylabel() for axes in drawn.axes[:2]]
    ['input', 'leakage (nats)']
    """
    width, height = size_of(mechanism)
    figure = new_figure(max(width, 6.5), height + _BELOW)
    above, below = figure.subplots(2, 1, height_ratios=[height, _BELOW])
    matrix(mechanism, above)
    leakage(mechanism, below).get_legend().remove()
    explain(below, below=True, columns=3)
    return figure
