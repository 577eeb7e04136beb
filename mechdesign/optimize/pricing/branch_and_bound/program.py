"""The linear program that bounds G over a box, and the proof of its bound from dual values."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import highspy
import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import SOLVER
from mechdesign.uncertainty import UncertaintySet

EPS = float(np.finfo(float).eps)
OUTSIDE = 1e-9
"""The greatest violation of the cone with which a solution still counts as a column."""
_PENALTIES = (1e4, 1e7, 1e10)  # on leaving X or the interval of q, for costs of about 1


@dataclass(frozen=True, eq=False)
class Linear:
    """An upper bound of G: ``constant + <slopes, x> + slope_of_q q - bend q^2``; size bounds all terms of its sums."""

    constant: float
    slopes: Floats
    slope_of_q: float
    bend: float
    size: float


@dataclass(frozen=True, eq=False)
class Box:
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

    def __init__(self, uncertainty: UncertaintySet, exp_epsilon: float) -> None:
        from scipy.sparse import block_array, coo_array, csr_array

        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.prior = uncertainty.prior
        self.least_h = math.nextafter(1 / exp_epsilon, 0.0)
        support = uncertainty.support_rows()
        self.columns, self.first = support.columns.T.tocsr(), support.auxiliary[:, [0]].toarray()[:, 0]
        N, (R, W) = uncertainty.size, support.auxiliary.shape
        # Columns: x, auxiliary variables (the first is h), q, -q^2, too little q, too much q.
        self.size, self.rows, self.h, self.q = N, R, N, N + W
        tangents = coo_array(np.c_[np.zeros((3, 1)), np.ones((3, 1)), np.zeros((3, 2))])
        matrix = csr_array(
            block_array(
                [
                    [support.columns, support.auxiliary, None],
                    [coo_array(self.prior[None, :]), None, coo_array(np.array([[-1.0, 0.0, 1.0, -1.0]]))],
                    [None, coo_array((3, W)), tangents],
                ]
            )
        )
        infinity = highspy.kHighsInf
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = N + W + 4, R + 4
        model.col_cost_ = np.zeros(N + W + 4)
        model.col_lower_ = np.r_[np.zeros(N), np.full(W, -infinity), 0.0, -infinity, 0.0, 0.0]
        model.col_upper_ = np.r_[np.ones(N), self.least_h, np.full(W - 1, infinity), 1.0, 0.0, infinity, infinity]
        model.row_lower_ = np.r_[np.zeros(R), 0.0, np.full(3, -infinity)]
        model.row_upper_ = np.r_[np.full(R, infinity), np.zeros(4)]
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.highs = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": SOLVER,
            "dual_feasibility_tolerance": SOLVER,
        }.items():
            self.highs.setOptionValue(option, value)
        self.highs.passModel(model)
        self.changing = np.r_[np.arange(N), self.h, self.q, self.q + 1, self.q + 2, self.q + 3].astype(np.int32)
        self.bounded = np.r_[np.arange(N), self.q].astype(np.int32)

    def maximum(self, linear: Linear, box: Box, deadline: float | None = None) -> tuple[float, Floats]:
        """Return a proved upper bound over the box, infinite if there is none, and a point near the maximiser.

        A program that is not solved by the deadline, a time of `time.monotonic`, has no bound.
        """
        tangents = np.array([box.least, (box.least + box.most) / 2, box.most])
        infinity = highspy.kHighsInf
        for row, at in enumerate(tangents.tolist(), start=self.rows + 1):
            # -q^2 <= at^2 - 2 at q
            self.highs.changeCoeff(row, self.q, 2 * at)
            self.highs.changeRowBounds(row, -infinity, at * at)
        self.highs.changeColsBounds(
            self.bounded.size, self.bounded, np.r_[box.lower, box.least], np.r_[box.upper, box.most]
        )
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
            self.highs.changeColsCost(self.changing.size, self.changing, costs)
            if deadline is not None:  # HiGHS counts the time of all runs
                left = max(0.0, deadline - time.monotonic())
                self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left)
            self.highs.run()
            if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                break
            solution = self.highs.getSolution()
            values, duals = np.array(solution.col_value), np.array(solution.row_dual) * scale
            point = np.clip(values[: self.size], box.lower, box.upper)
            bound = min(bound, self._proved(linear, box, tangents, duals))
            if values[self.h] >= self.least_h - OUTSIDE and values[-2:].max() <= OUTSIDE:
                break
        return bound, point

    def _proved(self, linear: Linear, box: Box, tangents: Floats, duals: Floats) -> float:
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


def whole_box(program: BoxProgram) -> Box:
    """Return the box around every ray, scaled to greatest entry 1."""
    # Some entry is 1, and q is h at least.
    least = max(program.least_h, float(program.prior.min()) * (1 - 4 * EPS))
    ones = np.ones(program.size)
    return Box(np.zeros(program.size), ones, least, 1 + 2 * program.size * EPS, ones)
