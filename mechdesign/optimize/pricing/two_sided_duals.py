"""Dual solutions that bound gains under a promise on both sides, one for each guess.

With ``c = P g_w - lambda`` for a guess w, ``b = exp(epsilon)`` and ``a = exp(-lower)``, the greatest ``<c, v>`` over
the cone ``{ v : max v <= b h(v), min v >= a H(v) }`` with ``<P, v> = 1`` is the least r for which some ``y, T >= 0``
and priors Q and R in the set have, with ``d_i = c_i - r P_i + y Q_i - a T R_i``,

    sum_i max(0, d_i) <= y / b      and      sum_i d_i <= y / b - T.

Then there are ``s, t >= 0`` with ``sum s = y / b``, ``sum t = T`` and ``d <= s - t``: raise entries of d, those below 0
first, until their sum is ``y / b - T``, and split the result. So for v in the cone

    <c - r P, v> <= <s, v> - y <Q, v> - <t, v> + a T <R, v>
                 <= (y / b) max v - y h(v) - T min v + a T H(v) <= 0.

y, T, Q and R are proposed by a linear program, and r is computed from them: a poor proposal makes the bound weaker, but
never false. With T = 0 it is the bound without a promise from below.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.levels import affordable, level_of
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_set import SupportRows

_EPS = float(np.finfo(float).eps)
_MEMBER = 2e-15  # more than how far `member_near` is from a member
_LEAST_IN_PROGRAM = 1e-9  # a lesser exp(-lower) would be lost in the tolerance of a solver


def two_sided_level(
    uncertainty: UncertaintySet, exp_epsilon: float, least_lift: float, c: Floats, deadline: float | None = None
) -> float:
    """Return a level r for one guess, rounded up.

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon, least_lift : float
        exp(epsilon), above 1, and exp(-lower), below 1.
    c : array, shape (N,)
        The gain of a guess, weighted by P, minus lambda.
    deadline : float or None
        A time of `time.monotonic` after which nothing is proposed, so that the level is that of any column.

    Raises
    ------
    SolverError
        If the linear program cannot be solved.
    """
    P = uncertainty.prior
    y, Q, T, R = 0.0, P, 0.0, P
    if not time_is_up(deadline):
        y, Q, T, R = _proposal(uncertainty, exp_epsilon, max(least_lift, _LEAST_IN_PROGRAM), c)
    # R is within 1e-15 of a member, entry by entry; what it takes from c is rounded down.
    taken = np.maximum(least_lift * T * (R - _MEMBER), 0.0) * (1 - 4 * _EPS)
    left = c - taken + 4 * _EPS * (np.abs(c) + taken)
    y, Q = affordable(left, P, Q, y, exp_epsilon)
    sums = math.fsum([*c.tolist(), y, -y / exp_epsilon, T, -least_lift * T])
    rounding = 8 * _EPS * (float(np.abs(c).sum()) + y + T)
    return max(level_of(left, P, Q, y, exp_epsilon), sums + rounding)


def _proposal(
    uncertainty: UncertaintySet, exp_epsilon: float, least_lift: float, c: Floats
) -> tuple[float, Floats, float, Floats]:
    """Return y, Q, T and R that solve the program above to a solver's tolerance."""
    from scipy.sparse import block_array, coo_array, eye_array

    support = uncertainty.support_rows()
    N, (R, K) = uncertainty.size, support.auxiliary.shape
    P, ones = uncertainty.prior, coo_array(np.ones((1, N)))
    # Variables r, s and t (N each), p and q (R each): minimise r with s - t >= c - r P + columns.T (p - q),
    # sum s <= y / b and sum t >= T, where y = -(auxiliary.T p)_0 and a T = -(auxiliary.T q)_0; the other entries of
    # both vanish.
    first, others = support.auxiliary[:, [0]].T, support.auxiliary[:, 1:].T
    inequalities = block_array(
        [
            [coo_array(-P[:, None]), -eye_array(N), eye_array(N), support.columns.T, -support.columns.T],
            [None, ones, None, first / exp_epsilon, None],
            [None, None, -least_lift * ones, None, -first],
        ]
    )
    objective = np.zeros(1 + 2 * (N + R))
    objective[0] = 1.0
    skipped = coo_array((K - 1, 1 + 2 * N))
    vanishing = block_array([[skipped, others, None], [skipped, None, others]])
    solution = minimum(
        objective,
        at_most=(inequalities, np.append(-c, [0.0, 0.0])),
        equal=(vanishing, np.zeros(2 * (K - 1))),
        free=[0],
    ).required("the price of a guess", "change epsilon or lower a little")
    p, q = solution.x[1 + 2 * N : 1 + 2 * N + R], solution.x[1 + 2 * N + R :]
    (y, Q), (z, member) = (_weighted_member(uncertainty, support, weights) for weights in (p, q))
    return y, Q, z / least_lift, member


def _weighted_member(uncertainty: UncertaintySet, support: SupportRows, weights: Floats) -> tuple[float, Floats]:
    """Return the weight and the member of the set that weights of its rows describe; the weight 0 where it has none."""
    weight = float(-(support.auxiliary[:, [0]].T @ weights)[0])
    if not (math.isfinite(weight) and weight > 0):
        return 0.0, uncertainty.prior
    return weight, uncertainty.member_near(support.columns.T @ weights / weight)
