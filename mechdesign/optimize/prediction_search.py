"""Designs for explained variance: an output for each prediction, and predictions that pricing finds.

With finitely many predictions the utility is the gain of the best one, and one linear program over mechanisms has its
optimum and multipliers. Pricing over all predictions (`mechdesign.optimize.pricing.prediction_intervals`) bounds the
optimum and finds predictions that are missing. The multipliers come from an interior point method: amid all that are
optimal, they settle in a few rounds, where those of a vertex would swing. The mechanism is a basic solution over the
columns of the best round, solved once more, which has at most N outputs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT, VALUE_FLOOR
from mechdesign.optimize.column_generation import kept_for_rounding
from mechdesign.optimize.deadline import keeps_mechanism, time_is_up
from mechdesign.optimize.method import DesignOptions, Solution
from mechdesign.optimize.polyhedral import MechanismOptimum, Polytope, solve_program
from mechdesign.optimize.pricing.prediction_intervals import PricedPredictions, price_predictions, value_range
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import Floor
from mechdesign.utility import ExplainedVariance
from mechdesign.utility.explained_variance import Predictions

_FIRST = 128  # predictions
_MOST_ROUNDS = 30
_LIGHT = 1e-7  # an output of less mass says nothing
_APART = 1e-7  # of the range: predictions that are nearer to each other are one to a linear program
_CLOSED = 1e-9  # of the linear program
_KEPT = 30.0  # gaps: predictions whose level is further below 0 leave the program, while that helps
_PULL = 0.3  # the share of the best bound's multipliers in a mixture, where others are worse


def solve_predictions(
    known: UncertaintySet, exp_epsilon: float, floor: Floor, utility: ExplainedVariance, options: DesignOptions
) -> Solution:
    """Return a mechanism whose value is within the tolerance of the bound, or the best one found.

    Parameters
    ----------
    known : UncertaintySet
        Any set of priors.
    exp_epsilon : float
        exp(epsilon), above 1.
    floor : Floor
        What is asked from below.
    utility : ExplainedVariance
        With a value for each symbol.
    options : DesignOptions
        Its tolerance, deadline and progress.
    """
    P, deadline = known.prior, options.deadline
    centered = utility.centered(known.center)
    predictions = np.unique([float(a) for a in centered])
    if predictions.size > _FIRST:
        predictions = np.linspace(*value_range(centered), _FIRST)
    best, value, center, bound = np.ones((P.size, 1)), 0.0, np.zeros(P.size), np.inf
    polytope, stopped, rounds = Polytope(known, exp_epsilon, 1, floor), "stalled", 0
    kept = 1.0
    while rounds < _MOST_ROUNDS and stopped == "stalled":
        rounds += 1
        found = _program(replace(polytope, outputs=predictions.size), utility, predictions, deadline, _CLOSED)
        if found is None:
            stopped = "time limit"
            break
        matrix = found.matrix[:, P @ found.matrix > 0]
        reached = float(utility.mu(matrix, P).sum())
        if reached > value:
            best, value = matrix, reached
        keeps_mechanism(deadline)
        for at in (found.multipliers, found.multipliers + _PULL * (center - found.multipliers)):
            priced = price_predictions(known, exp_epsilon, utility, at, floor, deadline, predictions)
            proved = float(at.sum() + priced.uppers.max())
            if proved < bound:
                bound, center = proved, at
                break
        gap, asked = bound - value, options.tol * max(value, VALUE_FLOOR)
        options.progress(f"{predictions.size} predictions, value {value:.9g}, gap {gap:.1e}")
        if gap <= asked - kept_for_rounding(asked):
            stopped = ""
        elif time_is_up(deadline):
            stopped = "time limit"
        if center is not at:
            kept = np.inf  # predictions that leave the program would come back
        before = np.concatenate([predictions, utility.predictions(matrix[:, P @ matrix > _LIGHT], P)])
        predictions = _next(before, priced, -_KEPT * max(gap, asked), kept)
    if stopped != "time limit":
        best = _solved_once_more(polytope, utility, best, value - asked, deadline)
    return Solution(best, center, best.shape[1], rounds, stopped)


def _solved_once_more(
    polytope: Polytope, utility: ExplainedVariance, best: Floats, enough: float, deadline: float | None
) -> Floats:
    """Return the best mechanism with the predictions of few columns, or of all where these are not worth enough.

    An interior point method leaves rows and promises off by its tolerance, which rounding would multiply. What it
    leaves of an output that is not used breaks the promise once it is scaled, and a basic solution may be of such.
    """
    P = polytope.uncertainty.prior
    heavy = best[:, P @ best > _LIGHT]
    for columns in (_basic(heavy, utility, P), heavy):
        few = utility.predictions(columns, P)
        found = _program(replace(polytope, outputs=few.size), utility, few, deadline)
        if found is None:
            return best
        best = found.matrix
        if float(utility.mu(best[:, P @ best > 0], P).sum()) >= enough:
            break
    return best


def _basic(matrix: Floats, utility: ExplainedVariance, prior: Floats) -> Floats:
    """Return at most N of the columns of a mechanism, which with weights are worth as much as all."""
    columns = matrix / (prior @ matrix)
    found = minimum(-utility.mu(columns, prior), equal=(columns, matrix.sum(axis=1)))
    return columns[:, found.x > NEGLIGIBLE_WEIGHT] if found.optimal else columns


def _program(
    polytope: Polytope,
    utility: ExplainedVariance,
    predictions: Floats,
    deadline: float | None,
    closed: float | None = None,
) -> MechanismOptimum | None:
    """Return the optimum with these predictions alone, and the multipliers of its row sums."""
    import cvxpy as cp

    known = polytope.uncertainty
    linear = Predictions(utility.centered(known.center), predictions).gains(known.size) * known.prior
    scale = float(np.abs(linear).max()) or 1.0  # the mean alone gains nothing
    found = solve_program(
        polytope, lambda matrix: (cp.sum(cp.multiply(linear.T / scale, matrix)), []), deadline, closed=closed
    )
    return None if found is None else found._replace(multipliers=found.multipliers * scale)


def _next(before: Floats, priced: PricedPredictions, least: float, kept: float) -> Floats:
    """Return the predictions whose levels are near 0 or above it, and those where pricing found more."""
    near = before[np.interp(before, priced.predictions, priced.levels) >= kept * least]
    found = np.sort(np.concatenate([near, priced.promising(least)]))
    apart = _APART * (priced.predictions[-1] - priced.predictions[0])
    result: Floats = found[np.diff(found, prepend=-np.inf) > apart]
    return result
