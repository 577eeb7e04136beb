"""Exact pricing of explained variance: one number, the prediction, is searched.

``s^2 / q = max over w of 2 w s - w^2 q``, so the greatest reduced cost is the greatest ``L(w) = rho(w) - w^2`` over
all predictions w, where ``rho(w) = max over v of <2 w P c - lambda, v>`` is convex. L(w) is a level of a gain
(`mechdesign.optimize.pricing.gain_duals`). Between two predictions u < w a distance d apart rho is at most its chord,
so that at ``u + theta d``

    L  <=  (1 - theta) L(u) + theta L(w) + theta (1 - theta) d^2,

whose greatest value over theta in [0, 1] is known. Levels are rounded up, and so is this. The best prediction for a
column is a mean of the values: none outside of their range has to be looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.gain_duals import levels_by_guess
from mechdesign.optimize.pricing.price import Price, beyond_floats
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import ExplainedVariance
from mechdesign.utility.explained_variance import Predictions

_EPS = float(np.finfo(float).eps)
_FIRST = 33  # predictions, at equal distances
_TIGHT = 1e-8  # of the bound of the utility, by which intervals may be too loose
_MOST_HALVINGS = 60
_NONE: Floats = np.empty(0)


@dataclass(frozen=True, eq=False)
class PricedPredictions:
    """The levels of some predictions, and what follows between them.

    Attributes
    ----------
    predictions, levels : array, shape (W,)
        w in rising order, and L(w), rounded up.
    uppers, peaks : array, shape (W - 1,)
        The greatest bound on each interval, and where it is attained.
    """

    predictions: Floats
    levels: Floats
    uppers: Floats
    peaks: Floats

    @classmethod
    def of(cls, predictions: Floats, levels: Floats) -> PricedPredictions:
        """Return the bounds between neighbours.

        Examples
        --------
        >>> PricedPredictions.of(np.array([0.0, 2.0]), np.array([0.0, 0.0])).peaks
        array([1.])
        """
        order = np.argsort(predictions)
        w, levels = predictions[order], levels[order]
        d, rise = np.diff(w), np.diff(levels)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            theta = np.nan_to_num(np.clip(0.5 + rise / (2 * d * d), 0.0, 1.0), nan=0.5)
            uppers = levels[:-1] + theta * rise + theta * (1 - theta) * d * d
            # The parabola is flat at its top: a rounded theta costs the square of its error.
            rounding = 16 * _EPS * (np.abs(levels[:-1]) + np.abs(levels[1:]) + d * d)
        uppers = np.fmax(uppers + rounding, np.maximum(levels[:-1], levels[1:]))
        return cls(w, levels, uppers, w[:-1] + theta * d)

    def promising(self, least: float) -> Floats:
        """Return the predictions of the intervals whose bound is at least a number and that of their neighbours."""
        around = np.concatenate([[-np.inf], self.uppers, [-np.inf]])
        top = (self.uppers >= np.maximum(around[:-2], around[2:])) & (self.uppers >= least)
        result: Floats = self.peaks[top]
        return result


def price_predictions(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: ExplainedVariance,
    multipliers: Floats,
    floor: Floor = NO_FLOOR,
    deadline: float | None = None,
    near: Floats = _NONE,
) -> PricedPredictions:
    """Return levels of predictions near enough to each other that the intervals between them are tight.

    Parameters
    ----------
    uncertainty, exp_epsilon, multipliers, floor, deadline
        As for `price_by_guess`; after the deadline no interval is halved.
    utility : ExplainedVariance
        With a value for each symbol.
    near : array, optional
        Predictions that are priced too.
    """
    center = uncertainty.center
    centered = utility.centered(center)

    def levels(predictions: Floats) -> Floats:
        gains = Predictions(centered, predictions)
        return np.array(levels_by_guess(uncertainty, exp_epsilon, gains, multipliers, center, floor, deadline=deadline))

    least, greatest = value_range(centered)
    found = np.unique(np.append(np.linspace(least, greatest, _FIRST), np.clip(near, least, greatest)))
    priced = PricedPredictions.of(found, levels(found))
    for _ in range(_MOST_HALVINGS):
        best, total = float(priced.levels.max()), float(multipliers.sum())
        # Looser by what rounding may be in each level, intervals would be halved for nothing.
        rounding = 64 * multipliers.size * _EPS * float(np.abs(multipliers).sum())
        loose = priced.uppers > best + max(_TIGHT * abs(total + best), rounding)
        between = priced.peaks[loose]
        d, first = np.diff(priced.predictions)[loose], priced.predictions[:-1][loose]
        between = np.clip(between, first + d / 8, first + 7 * d / 8)
        if between.size == 0 or not np.isfinite(best) or time_is_up(deadline):
            break
        priced = PricedPredictions.of(np.append(priced.predictions, between), np.append(priced.levels, levels(between)))
    return priced


def price_by_prediction(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: ExplainedVariance,
    multipliers: Floats,
    floor: Floor = NO_FLOOR,
    deadline: float | None = None,
) -> Price:
    """Return the greatest reduced cost of any column with ``<P, v> = 1``, rounded up, as `price_predictions` bounds it.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> price = price_by_prediction(L1Ball([0.5, 0.5]), 1.5, ExplainedVariance([0, 1]), np.zeros(2))
    >>> round(price.upper, 7)
    0.0625
    """
    if beyond_floats(multipliers, exp_epsilon):
        return Price(math.inf, "multipliers beyond floats", 0)
    priced = price_predictions(uncertainty, exp_epsilon, utility, multipliers, floor, deadline)
    return Price(float(priced.uppers.max()), "a dual solution for every prediction", priced.predictions.size)


def value_range(centered: Sequence[Fraction]) -> tuple[float, float]:
    """Return the least and the greatest value, rounded outward."""
    return -float_up(-min(centered)), float_up(max(centered))
