"""The trade-off between samples, epsilon, epsilon' and delta as curves and as a drawing, after ED Figure 3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.data.checks import MOST_SAMPLES
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.planning import Plan, delta_min, guaranteed_epsilon
from mechdesign.plot.drawing import STYLES, DrawnCurve, draw_curve
from mechdesign.uncertainty.radii import Bound

_POINTS = 81
_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
_LARGER = (1.0, 4.0, 16.0, 64.0, 256.0)  # where the plan is vacuous
_SHARES = (0.25, 0.5, 1.0)
_LEAST_DELTA = 1e-300
_LARGEST_EPSILON = 700.0


@dataclass(frozen=True)
class TradeOff:
    """The curves around a plan.

    Attributes
    ----------
    plan : Plan
        The plan.
    failure : tuple of Curve
        delta against epsilon', a curve for each number of samples.
    leakage : tuple of Curve
        epsilon' against samples, a curve for each epsilon, which is its level.
    delta : float
        The delta of `leakage`: that of the plan, or 1e-6 where the plan's delta is 0 or 1.
    floor : float
        The least delta of `failure` that is drawn.
    """

    plan: Plan
    failure: tuple[DrawnCurve, ...]
    leakage: tuple[DrawnCurve, ...]
    delta: float
    floor: float

    @property
    def shows_plan(self) -> bool:
        """Whether the plan itself is a point of both panels."""
        return not self.plan.vacuous and self.plan.delta >= self.floor


def trade_off(plan: Plan) -> TradeOff:
    """Return the curves around a plan: ED eq. (39) for several n, and eq. (38) for several epsilon."""
    delta = max(_LEAST_DELTA, plan.delta) if 0 < plan.delta < 1 else 1e-6
    floor = max(_LEAST_DELTA, min(1e-12, delta**2))
    return TradeOff(plan, _failure(plan, floor), _leakage(plan, delta), delta, floor)


def _failure(plan: Plan, floor: float) -> tuple[DrawnCurve, ...]:
    factors = _LARGER if plan.vacuous else _FACTORS
    sizes = sorted({min(MOST_SAMPLES, max(1, round(plan.samples * factor))) for factor in factors})
    # The axis ends where the curve of the second smallest sample size reaches the floor; if it never does, at two nats.
    reach = guaranteed_epsilon(plan.epsilon, floor, sizes[min(1, len(sizes) - 1)], plan.categories, bound=plan.bound)
    here = plan.guaranteed_epsilon if not plan.vacuous else plan.epsilon
    widest = max(0.0, here - plan.epsilon) * 1.5
    width = max(widest, min(reach - plan.epsilon, max(2.0, widest)))
    start = min(plan.epsilon, _LARGEST_EPSILON - 1.0)
    grid = [float(x) for x in np.linspace(start, min(_LARGEST_EPSILON, start + width), _POINTS)]
    return tuple(failure_curve(plan.epsilon, size, plan.categories, grid, plan.bound) for size in sizes)


def _leakage(plan: Plan, delta: float) -> tuple[DrawnCurve, ...]:
    levels = sorted({share * plan.epsilon for share in _SHARES})
    middle = math.log10(plan.samples)
    sizes = sorted({min(MOST_SAMPLES, max(1, round(10**x))) for x in np.linspace(middle - 1.5, middle + 2, _POINTS)})
    return tuple(leakage_curve(level, delta, sizes, plan.categories, plan.bound) for level in levels)


def failure_curve(
    epsilon: object, samples: int, categories: int, guaranteed: Sequence[float], bound: Bound
) -> DrawnCurve:
    """Return delta against epsilon' for a number of samples (ED eq. 39, Figure 3a)."""
    deltas = [delta_min(epsilon, x, samples, categories, bound=bound) for x in guaranteed]
    return DrawnCurve(f"n = {samples:,}", list(guaranteed), deltas)


def leakage_curve(epsilon: object, delta: object, sizes: Iterable[int], categories: int, bound: Bound) -> DrawnCurve:
    """Return epsilon' against samples where it is finite, with epsilon as the level (ED eq. 38, Figure 3b)."""
    points = [(float(size), guaranteed_epsilon(epsilon, delta, size, categories, bound=bound)) for size in sizes]
    finite = [(size, value) for size, value in points if math.isfinite(value)]
    level = float(Epsilon.of(epsilon))
    return DrawnCurve(f"epsilon = {level:.4g}", [size for size, _ in finite], [value for _, value in finite], level)


def draw_failure(axis: Any, curves: Iterable[DrawnCurve], floor: float, *, bold: str = "") -> None:
    """Draw delta against epsilon', down to a floor on a logarithmic axis, and one of the curves bold."""
    for k, curve in enumerate(curves):
        draw_curve(axis, curve, k, 2.2 if curve.label == bold else 1.3)
    axis.set_yscale("log")
    axis.set_ylim(floor, 3)
    axis.set_xlabel("guaranteed epsilon' (nats)")
    axis.set_ylabel("delta, at most")
    axis.grid(visible=True, linewidth=0.3)


def draw_leakage(axis: Any, curves: Iterable[DrawnCurve]) -> None:
    """Draw epsilon' against samples, with the level of each curve dashed."""
    for k, curve in enumerate(curves):
        draw_curve(axis, curve, k)
        if curve.level is not None:
            axis.axhline(curve.level, linestyle="--", linewidth=0.8, color=STYLES[k % len(STYLES)]["color"])
    axis.set_xscale("log")
    axis.set_xlabel("samples n")
    axis.set_ylabel("guaranteed epsilon' (nats)")
    axis.grid(visible=True, linewidth=0.3)


def draw(found: TradeOff) -> Any:
    """Return a matplotlib figure of two panels, with the plan itself as a dot where it is not vacuous."""
    from matplotlib.figure import Figure

    plan = found.plan
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_failure(left, found.failure, found.floor, bold=f"n = {plan.samples:,}")
    left.set_xlim(found.failure[0].x[0], found.failure[0].x[-1])
    left.set_title(f"N = {plan.categories:,}, epsilon = {plan.epsilon:.4g}")
    left.legend(title="samples", loc="upper left", bbox_to_anchor=(1, 1))

    draw_leakage(right, found.leakage)
    highest = max(curve.level or 0.0 for curve in found.leakage)
    shown = plan.guaranteed_epsilon if found.shows_plan else 0.0
    right.set_ylim(0, max(highest * 2, highest + 1, shown * 1.15))
    right.set_title(f"N = {plan.categories:,}, delta = {found.delta:.3g}; dashed: epsilon")
    right.legend(title="designed for", loc="upper left", bbox_to_anchor=(1, 1))
    right.axvline(plan.samples, linestyle=":", linewidth=1, color="grey")
    if found.shows_plan:
        left.plot([plan.guaranteed_epsilon], [plan.delta], "ko", markersize=8, zorder=5)
        right.plot([plan.samples], [plan.guaranteed_epsilon], "ko", markersize=8, zorder=5)
    return figure
