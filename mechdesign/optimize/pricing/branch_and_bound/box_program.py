"""The linear program that bounds G over a box, with the proof of its bound, and the columns that it finds."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import DUAL, LinearProgram
from mechdesign.optimize.deadline import seconds_left, time_is_up
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import FInformation

EPS = float(np.finfo(float).eps)
OUTSIDE = 1e-9
"""The greatest violation of the cone with which a solution still counts as a column."""
_PENALTIES = (1e4, 1e7, 1e10)  # on leaving X or the interval of q, for costs of about 1
CLOSE = 2e-10
"""The least difference of reduced costs that matters to the search."""
_MOST_STEPS = 12
_MOST_KEPT = 60
_FLATTEST = 1e-6  # slopes are computed at this distance from zero at least, because they may be infinite at zero


@dataclass(frozen=True, eq=False)
class Linear:
    """An upper bound of G: ``constant + <slopes, x> + slope_of_q q - bend q^2``; size bounds all terms of its sums."""

    constant: float
    slopes: Floats
    slope_of_q: float
    bend: float
    size: float


@dataclass(frozen=True, eq=False)
class ColumnBox:
    """``lower <= x <= upper``, ``least <= q <= most``, and the point at which its parent's program was solved."""

    lower: Floats
    upper: Floats
    least: float
    most: float
    point: Floats


class BoxProgram:
    """``max constant + <slopes, x> + slope_of_q q - bend q^2`` over a box in X, as a linear program that is kept.

    Leaving X or the interval of q is allowed at a price, so that every program has a solution. q^2 is replaced
    by its tangents at both ends and in the middle.
    """

    def __init__(self, uncertainty: UncertaintySet, exp_epsilon: float, least: float = 0.0) -> None:
        from scipy.sparse import coo_array, hstack

        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.least = least
        self.prior = uncertainty.prior
        self.least_h = math.nextafter(1 / exp_epsilon, 0.0)
        support = uncertainty.support_rows()
        self.columns, self.first = support.columns.T.tocsr(), support.auxiliary[:, [0]].toarray()[:, 0]
        N, (R, W) = uncertainty.size, support.auxiliary.shape
        # Columns: x, auxiliary variables (the first is h), q, -q^2, too little q, too much q.
        self.size, self.rows, self.h, self.q = N, R, N, N + W
        infinity = math.inf
        self.program = LinearProgram(method=DUAL)
        self.program.add_columns(
            np.zeros(N + W + 4),
            np.r_[np.zeros(N), np.full(W, -infinity), 0.0, -infinity, 0.0, 0.0],
            np.r_[np.ones(N), self.least_h, np.full(W - 1, infinity), 1.0, 0.0, infinity, infinity],
        )
        cone, slack = [support.columns, support.auxiliary, coo_array((R, 4))], np.array([[-1.0, 0.0, 1.0, -1.0]])
        self.program.add_rows(hstack(cone), 0.0, infinity)
        self.program.add_rows(np.c_[self.prior[None, :], np.zeros((1, W)), slack], 0.0, 0.0)
        tangents = np.c_[np.zeros((3, N + W + 1)), np.ones((3, 1)), np.zeros((3, 2))]
        self.program.add_rows(tangents, -infinity, 0.0)
        self.changing = np.r_[np.arange(N), self.h, self.q, self.q + 1, self.q + 2, self.q + 3].astype(np.int32)
        self.bounded = np.r_[np.arange(N), self.q].astype(np.int32)

    def maximum(
        self, linear: Linear, box: ColumnBox, deadline: float | None = None, *, proves: bool = True
    ) -> tuple[float, Floats]:
        """Return a proved upper bound over the box, infinite if there is none, and a point near the maximiser.

        A program that is not solved by the deadline, a time of `time.monotonic`, has no bound; nor has one that need
        not prove any, which takes less time.
        """
        tangents = np.array([box.least, (box.least + box.most) / 2, box.most])
        for row, at in enumerate(tangents.tolist(), start=self.rows + 1):
            self.program.change_row(row, self.q, 2 * at, at * at)  # -q^2 <= at^2 - 2 at q
        self.program.change_limits(self.bounded, np.r_[box.lower, box.least], np.r_[box.upper, box.most])
        scale = float(max(np.abs(linear.slopes).max(), abs(linear.slope_of_q), linear.bend))
        if not scale < math.inf:
            return math.inf, box.point
        # A power of two changes no digit; solvers want numbers of about 1.
        scale = math.ldexp(1.0, math.frexp(scale)[1] - 1) if scale > 0 else 1.0
        bound, point = math.inf, box.point
        for penalty in _PENALTIES:
            # HiGHS minimises.
            costs = np.r_[-linear.slopes, 0.0, -linear.slope_of_q, -linear.bend, 0.0, 0.0] / scale
            costs[self.size], costs[-2:] = -penalty, penalty
            self.program.change_costs(self.changing, costs)
            found = self.program.solved(seconds=None if deadline is None else seconds_left(deadline))
            if not found.optimal:
                break
            values, duals = found.x, found.prices * scale
            point = np.clip(values[: self.size], box.lower, box.upper)
            bound = min(bound, self._proved(linear, box, tangents, duals)) if proves else bound
            if values[self.h] >= self.least_h - OUTSIDE and values[-2:].max() <= OUTSIDE:
                break
        return bound, point

    def _proved(self, linear: Linear, box: ColumnBox, tangents: Floats, duals: Floats) -> float:
        """Return the bound that dual values prove; any dual values prove some bound."""
        z, rho, omega = np.maximum(duals[: self.rows], 0.0), float(duals[self.rows]), np.maximum(-duals[-3:], 0.0)
        y = max(0.0, -float(self.first @ z))
        Q = self.uncertainty.member_near(self.columns @ z / y) if y > 0 else self.prior
        # Weights on the tangents must sum to the bend.
        omega = omega * (linear.bend / omega.sum()) if omega.sum() > 0 else np.array([0.0, linear.bend, 0.0])
        of_x = linear.slopes + y * Q + rho * self.prior
        of_q = linear.slope_of_q - rho - 2 * float(omega @ tangents)
        greatest = float(np.maximum(of_x * box.lower, of_x * box.upper).sum()) + max(of_q * box.least, of_q * box.most)
        fixed = linear.constant + float(omega @ tangents**2) - y * self.least_h
        size = float((np.abs(linear.slopes) + y * np.abs(Q) + abs(rho) * self.prior) @ box.upper)
        size += (abs(linear.slope_of_q) + abs(rho) + 3 * linear.bend) * box.most + y * self.least_h
        # Q is within 1e-15 of a prior of the set.
        bound = greatest + fixed + rounding(self.size) * (linear.size + size) + 2e-15 * y * float(box.upper.sum())
        return math.inf if math.isnan(bound) else bound


def rounding(size: int) -> float:
    """Return the error of a sum over a column of a size, relative to its terms."""
    return 8 * (size + 16) * EPS


def whole_box(program: BoxProgram) -> ColumnBox:
    """Return the box around every ray, scaled to greatest entry 1."""
    # Some entry is 1, and q is h at least.
    least = max(program.least_h, float(program.prior.min()) * (1 - 4 * EPS))
    ones = np.ones(program.size)
    return ColumnBox(program.least * ones, ones, least, 1 + 2 * program.size * EPS, ones)


@dataclass(eq=False)
class FoundColumns:
    """Columns of the cone with their reduced costs."""

    uncertainty: UncertaintySet
    exp_epsilon: float
    utility: FInformation
    multipliers: Floats
    least: float = 0.0
    greatest: float = -math.inf
    found: list[tuple[float, tuple[float, ...]]] = field(default_factory=list)

    def keep(self, x: Floats) -> tuple[float, Floats] | None:
        """Return the reduced cost and the column of a point of X, and keep it; None for one outside of X."""
        prior, most = self.uncertainty.prior, float(x.max())
        q = float(prior @ x)
        if not q > 0 or self.exp_epsilon * float(self.uncertainty.support(x[:, None])[0]) < most * (1 - OUTSIDE):
            return None
        if x.min() < self.least * most * (1 - OUTSIDE):
            return None
        column = x / q
        cost = float(self.utility.mu(column[:, None], prior)[0] - self.multipliers @ column)
        if math.isnan(cost):
            return None
        self.greatest = max(self.greatest, cost)
        kept = (cost, tuple(column.tolist()))
        if kept not in self.found:
            heapq.heappush(self.found, kept)
            if len(self.found) > _MOST_KEPT:
                heapq.heappop(self.found)
        return cost, column

    def best(self) -> Floats:
        """Return the columns kept, best first, shape (N, k)."""
        ordered = sorted(self.found, reverse=True)
        return np.array([column for _, column in ordered]).T.reshape(self.uncertainty.size, len(ordered))


def climb(program: BoxProgram, found: FoundColumns, deadline: float | None = None) -> None:
    """Improve columns by maximising the tangent of mu at them, from several starts."""
    N, P = program.size, program.prior
    whole = whole_box(program)
    order = np.argsort(found.multipliers / np.maximum(P, _FLATTEST), kind="stable")
    starts = [np.ones(N)]
    for place, symbol in enumerate(order):
        prefix = np.full(N, program.least)
        prefix[order[: place + 1]] = 1.0
        starts.append(prefix)
        alone = np.full(N, program.least)
        alone[symbol] = 1.0
        starts.append(alone)
    seen: set[bytes] = set()
    for start in starts:
        # A start outside of X gives only a direction, in which the program finds a point of X.
        x, level = start, -math.inf
        for _ in range(_MOST_STEPS):
            kept = found.keep(x)
            if kept is None:
                slopes, cost = _tangent(found.utility, x / float(P @ x) if P @ x > 0 else x, P), 0.0
            else:
                cost, column = kept
                key = column.round(9).tobytes()
                if key in seen or cost <= level + CLOSE:
                    break
                seen.add(key)
                level = cost
                slopes = _tangent(found.utility, column, P)
            linear = Linear(0.0, slopes - found.multipliers - cost * P, 0.0, 0.0, 0.0)
            _, x = program.maximum(linear, whole, deadline, proves=False)
            if time_is_up(deadline):
                return
            if not x.max() > 0:
                break
            x = x / x.max()


def _tangent(utility: FInformation, column: Floats, prior: Floats) -> Floats:
    """Return about the gradient of mu at a column with ``<P, v> = 1``, shape (N,)."""
    u = np.maximum(column, _FLATTEST)
    step = _FLATTEST * u
    f = np.asarray(utility.f(u), dtype=float)
    if utility.derivative is None:
        slopes = (np.asarray(utility.f(u + step), dtype=float) - f) / step
    else:
        slopes = np.asarray(utility.derivative(u), dtype=float)
    gradient: Floats = prior * (float(prior @ f) - float(prior @ (u * slopes)) + slopes)
    return np.nan_to_num(np.where(prior > 0, gradient, 0.0))
