"""Dual solutions that bound gains under a promise on both sides, one for each guess.

With ``c = P g_w - lambda`` for a guess w, ``b = exp(epsilon)`` and ``a = exp(-lower)``, the greatest ``<c, v>`` over
the cone ``{ v : max v <= b h(v), min v >= a H(v) }`` with ``<P, v> = 1`` is the least r for which some ``y, T >= 0``,
a prior Q of the set and a prior R of those that H is about (`priors_below`) have, with
``d_i = c_i - r P_i + y Q_i - a T R_i``,

    sum_i max(0, d_i) <= y / b      and      sum_i d_i <= y / b - T.

Then there are ``s, t >= 0`` with ``sum s = y / b``, ``sum t = T`` and ``d <= s - t``: raise entries of d, those below 0
first, until their sum is ``y / b - T``, and split the result. So for v in the cone

    <c - r P, v> <= <s, v> - y <Q, v> - <t, v> + a T <R, v>
                 <= (y / b) max v - y h(v) - T min v + a T H(v) <= 0.

y, T, Q and R are proposed by a linear program, and r is computed from them: a poor proposal makes the bound weaker, but
never false. With T = 0 it is the bound without a promise from below.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_down
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS
from mechdesign.optimize.pricing.levels import affordable, level_of
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import Floor
from mechdesign.uncertainty.prior_set import SupportRows
from mechdesign.uncertainty.sides import priors_below

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_EPS = float(np.finfo(float).eps)
_MEMBER = 2e-15  # more than how far `member_near` is from a member
_LEAST_IN_PROGRAM = 1e-9  # a lesser exp(-lower) would be lost in the tolerance of a solver


def two_sided_levels(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    floor: Floor,
    linear: Iterable[Floats],
    deadline: float | None = None,
) -> Iterator[float]:
    """Yield a level r for each guess, rounded up.

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon : float
        exp(epsilon), above 1.
    floor : Floor
        What is asked from below; a is below 1.
    linear : iterable of array, shape (N,)
        The gains c of each guess, weighted by P, minus lambda.
    deadline : float or None
        A time of `time.monotonic` after which nothing is proposed, so that levels are those of any column.
    """
    P, least_lift = uncertainty.prior, float_down(floor.least_lift)
    program = None
    for c in linear:
        y, Q, T, R = 0.0, P, 0.0, P
        if not time_is_up(deadline):
            if program is None:
                program = TwoMembersProgram.of(uncertainty, floor, exp_epsilon, max(least_lift, _LEAST_IN_PROGRAM))
            with contextlib.suppress(SolverError):  # no proposal proves a weaker bound
                y, Q, T, R = program.proposed(c)
        # R is within 1e-15 of a member, entry by entry; what it takes from c is rounded down.
        taken = np.maximum(least_lift * T * (R - _MEMBER), 0.0) * (1 - 4 * _EPS)
        left = c - taken + 4 * _EPS * (np.abs(c) + taken)
        y, Q = affordable(left, P, Q, y, exp_epsilon)
        sums = math.fsum([*c.tolist(), y, -y / exp_epsilon, T, -least_lift * T])
        rounding = 8 * _EPS * (float(np.abs(c).sum()) + y + T)
        yield max(level_of(left, P, Q, y, exp_epsilon), sums + rounding)


@dataclass(frozen=True, eq=False)
class TwoMembersProgram:
    """The linear program that proposes y, Q, T and R; its rows are the same for every guess.

    Variables are r, s and t (N of each), and p and q, a number for each row of either support function: minimise r with
    ``s - t >= c - r P + columns.T p - columns.T q``, ``sum s <= y / b`` and ``sum t >= T``, where
    ``y = -(auxiliary.T p)_0`` and ``a T = -(auxiliary.T q)_0``; the other entries of both vanish.
    """

    sets: tuple[UncertaintySet, UncertaintySet]
    supports: tuple[SupportRows, SupportRows]
    least_lift: float
    at_most: csr_array
    vanishing: csr_array

    @classmethod
    def of(cls, uncertainty: UncertaintySet, floor: Floor, exp_epsilon: float, least_lift: float) -> TwoMembersProgram:
        """Return the program for a set and what is asked on both sides."""
        from scipy.sparse import block_array, coo_array, csr_array, eye_array

        below = priors_below(floor, uncertainty)
        of_Q, of_R = uncertainty.support_rows(), below.support_rows()
        N, K, L = uncertainty.size, of_Q.auxiliary.shape[1], of_R.auxiliary.shape[1]
        ones = coo_array(np.ones((1, N)))
        at_most = block_array(
            [
                [coo_array(-uncertainty.prior[:, None]), -eye_array(N), eye_array(N), of_Q.columns.T, -of_R.columns.T],
                [None, ones, None, of_Q.auxiliary[:, [0]].T / min(exp_epsilon, MOST_IN_PROGRAMS), None],
                [None, None, -least_lift * ones, None, -of_R.auxiliary[:, [0]].T],
            ]
        )
        skipped = [coo_array((count - 1, 1 + 2 * N)) for count in (K, L)]
        vanishing = block_array(
            [[skipped[0], of_Q.auxiliary[:, 1:].T, None], [skipped[1], None, of_R.auxiliary[:, 1:].T]]
        )
        return cls((uncertainty, below), (of_Q, of_R), least_lift, csr_array(at_most), csr_array(vanishing))

    def proposed(self, c: Floats) -> tuple[float, Floats, float, Floats]:
        """Return y, Q, T and R that are best for a guess, to a solver's tolerance."""
        objective = np.zeros(self.at_most.shape[1])
        objective[0] = 1.0
        solution = minimum(
            objective,
            at_most=(self.at_most, np.append(-c, [0.0, 0.0])),
            equal=(self.vanishing, np.zeros(self.vanishing.shape[0])),
            free=[0],
        ).required("the price of a guess", "change epsilon, lower or cap a little")
        both = np.split(solution.x[1 + 2 * c.size :], [self.supports[0].columns.shape[0]])
        (y, Q), (z, R) = map(_weighted_member, self.sets, self.supports, both)
        return y, Q, z / self.least_lift, R


def _weighted_member(uncertainty: UncertaintySet, support: SupportRows, weights: Floats) -> tuple[float, Floats]:
    """Return the weight and the member of the set that weights of its rows describe; the weight 0 where it has none."""
    weight = float(-(support.auxiliary[:, [0]].T @ weights)[0])
    if not (math.isfinite(weight) and weight > 0):
        return 0.0, uncertainty.prior
    return weight, uncertainty.member_near(support.columns.T @ weights / weight)
