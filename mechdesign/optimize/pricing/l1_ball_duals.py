"""Dual solutions for every guess over an l1 ball, without a linear program.

For a fixed level r and weight y the best Q moves mass y t from symbols whose terms are positive to symbols
whose terms are zero. The condition of `mechdesign.optimize.pricing.gain_duals` then becomes bounds on y, with
``G(s) = sum_i max(0, a_i - s P_i)``:

    G(r) <= y / e,    y (1 - 1/e) <= r - sum_i a_i,    G(r - y) <= (t + 1/e) y,

the first of them only for the ball cut with the simplex, where at most P_i is taken from symbol i. The third is
slackest where the mass of ``{i : a_i > (r - y) P_i}`` crosses t + 1/e. This holds for every r, so r is found by
bisection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty import L1Ball

_EPS = float(np.finfo(float).eps)
_LEEWAY = 1e-11
_MOST_STEPS = 1100  # of doubling or halving: floats have no more powers of two


def ball_duals(ball: L1Ball, exp_epsilon: float, linear: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the least level for every row of a matrix, with the y and Q that attain it.

    The numbers have rounding errors and are not a proof; a level that overflows is infinite.

    Parameters
    ----------
    ball : L1Ball
        Cut with the simplex or as printed.
    exp_epsilon : float
        exp(epsilon).
    linear : array, shape (W, N)
        The vectors a, with entries of about 1.

    Returns
    -------
    levels : array, shape (W,)
        The least r, which is the greatest ``<a, v>`` over the cone with ``<P, v> = 1``.
    weights : array, shape (W,)
        y.
    priors : array, shape (W, N)
        Q, in the ball up to rounding.

    Examples
    --------
    >>> known = L1Ball([0.5, 0.5])
    >>> levels, weights, priors = ball_duals(known, 1.5, np.array([[0.5, 0.0], [0.25, -0.25]]))
    >>> np.round(levels, 12), priors[0]
    (array([0.75, 0.25]), array([0.5, 0.5]))
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        conditions = _Conditions.of(ball, exp_epsilon, linear)
        levels = _least(conditions)
        weights, _ = conditions.weights(levels)
        if not ball.within_simplex and (ball.prior <= 0).any():
            # If symbols without mass use all mass that can be moved, a member slightly inside the ball needs more.
            weights = weights * (1 + _LEEWAY)
        return levels, weights, _priors(ball, linear, levels, weights)


@dataclass(frozen=True)
class _Conditions:
    """The conditions on r and y for all rows at once.

    Attributes
    ----------
    linear, prior : arrays, shapes (W, N) and (N,)
        a and P.
    rate, moved : float
        1/e and t.
    within_simplex : bool
        Whether the first condition applies.
    total, steepest, room : arrays, shape (W,)
        The sum of a; the s at which the third condition is slackest; and, where it grows slacker without end, the least
        y that symbols without mass allow.
    """

    linear: Floats
    prior: Floats
    rate: float
    moved: float
    within_simplex: bool
    total: Floats
    steepest: Floats
    room: Floats

    @classmethod
    def of(cls, ball: L1Ball, exp_epsilon: float, linear: Floats) -> _Conditions:
        """Return the conditions for each row of a linear cost."""
        P, rate, t = ball.prior, 1 / exp_epsilon, float(ball.half_radius)
        free = P > 0
        breaks = linear[:, free] / P[free]
        order = np.argsort(-breaks, axis=1)
        masses = np.cumsum(P[free][order], axis=1)
        unbounded = t + rate >= 1
        crossing = np.full(len(linear), breaks.shape[1] - 1) if unbounded else np.argmax(masses >= t + rate, axis=1)
        steepest = np.take_along_axis(breaks, np.take_along_axis(order, crossing[:, None], axis=1), axis=1)[:, 0]
        lacking = np.maximum(-linear[:, ~free], 0.0).sum(axis=1)
        room = lacking / t if unbounded and t > 0 else np.zeros(len(linear))
        return cls(linear, P, rate, t, ball.within_simplex, linear.sum(axis=1), steepest, room)

    def positive(self, levels: Floats) -> Floats:
        """Return G at one level for each row, shape (W,)."""
        result: Floats = np.maximum(self.linear - levels[:, None] * self.prior, 0.0).sum(axis=1)
        return result

    def weights(self, levels: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return for each row the best y at a level, and whether it satisfies the conditions."""
        least = self.positive(levels) / self.rate if self.within_simplex else np.zeros_like(levels)
        over, loss = levels - self.total, 1 - self.rate
        # Near epsilon = 0 the second condition allows any y.
        greatest = np.where(over >= 0, over / loss if loss > 0 else np.inf, -1.0)
        y = np.maximum(np.minimum(np.maximum(levels - self.steepest, self.room), greatest), least)
        satisfied = (y <= greatest) & (self.positive(levels - y) <= (self.moved + self.rate) * y)
        return y, satisfied & np.isfinite(y)


def _least(conditions: _Conditions) -> Floats:
    """Return the least levels that satisfy the conditions, from above, by doubling and bisection."""
    total = conditions.total
    sizes = np.abs(conditions.linear).sum(axis=1) + np.finfo(float).tiny
    # The constant column has <a, v> = sum a, so no level is below this sum.
    low, step = total - _EPS * sizes, sizes.copy()
    high: Floats = total + step
    for _ in range(_MOST_STEPS):
        violated = ~conditions.weights(high)[1] & np.isfinite(high)
        if not violated.any():
            break
        low = np.where(violated, high, low)
        step = np.where(violated, 2 * step, step)
        high = np.where(violated, total + step, high)
    for _ in range(_MOST_STEPS):
        open_ = np.isfinite(high) & (high - low > _EPS * np.maximum(np.abs(high), sizes))
        if not open_.any():
            break
        middle = low + (high - low) / 2
        satisfied = conditions.weights(middle)[1]
        high = np.where(open_ & satisfied, middle, high)
        low = np.where(open_ & ~satisfied, middle, low)
    return high


def _priors(ball: L1Ball, linear: Floats, levels: Floats, weights: Floats) -> Floats:
    """Return the best Q at r and y for each row; P where nothing can be moved."""
    y, at_center = weights[:, None], weights[:, None] * ball.prior
    costs = linear - levels[:, None] * ball.prior + at_center
    taken = np.maximum(np.minimum(costs, at_center) if ball.within_simplex else costs, 0.0)
    given = np.maximum(-costs, 0.0)
    # Mass is moved to symbols without mass first, because their terms do not fall when the level rises.
    first = np.where(ball.prior > 0, 0.0, taken)
    others = taken - first
    from_first, from_others, to_all = (part.sum(axis=1, keepdims=True) for part in (first, others, given))
    most = float(ball.half_radius) * y
    moved = np.minimum(np.maximum(np.minimum(from_first + from_others, to_all), from_first), most)
    of_first, to_given = np.minimum(moved, from_first), np.minimum(moved, to_all)
    lost = first * _ratio(of_first, from_first) + others * _ratio(moved - of_first, from_others)
    won = given * _ratio(to_given, to_all) + ball.prior * (moved - to_given)
    step = (won - lost) / y
    possible = (moved > 0) & np.isfinite(step).all(axis=1, keepdims=True)
    result: Floats = ball.prior + np.where(possible, step, 0.0)
    return result


def _ratio(part: Floats, whole: Floats) -> Floats:
    result: Floats = np.where(whole > 0, part / whole, 0.0)
    return result
