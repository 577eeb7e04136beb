"""The least estimation error under a promise about a secret within limits of the joint distribution.

The best mechanism for some joint distributions within the limits has an error that none for all of them can be below.
If it keeps the promise within the limits it is the best; otherwise the columns that break the promise give joint
distributions to be added, until there are too many. Then columns that keep the promise are searched: those of the best
mechanism mixed with the constant column, and from any column what is greatest in the linear function that touches
``v'Mv - <lambda, v>`` there. Interior points weigh them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import keeps_mechanism, share_until, time_is_up
from mechdesign.optimize.estimation.interior_point import ColumnWeights, solve
from mechdesign.optimize.estimation.listed import ListedForms, bound_of, solve_listed, weighted
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import RayList
from mechdesign.optimize.secret_search import BOUNDED_OUTSIDE, ColumnsWithin, most_starts, solve_around

_MOST_ROUNDS = 60
_ENOUGH, _WINDOW = 1e-5, 3  # of the error: rounds that gain less end the search
_MOST_HELD = 1_200  # columns
_LEAST_WEIGHT = 1e-7
_SHARE, _SHARE_OF_REST = 0.5, 0.8  # of the time, for the joint distributions, and then for columns


@dataclass(frozen=True, eq=False)
class ErrorWithin:
    """What is asked: the least error of the answers of queries, for columns within limits.

    Attributes
    ----------
    within : ColumnsWithin
        The columns that keep the promise.
    pricing : ListedForms
        Over the rays for the joint distribution of the counts.
    workload : array, shape (q, N)
        W.
    limits : array, shape (N,)
        As from `entry_limits`.
    """

    within: ColumnsWithin
    pricing: ListedForms
    workload: Floats
    limits: Floats

    def solve(
        self, tol: float, deadline: float | None, progress: Callable[[str], None]
    ) -> tuple[Solution, QuadraticForm]:
        """Return a mechanism within the limits with lambda, and the form that bounds the error beside lambda."""
        forms: list[tuple[QuadraticForm, Floats]] = []

        def least(rays: RayList) -> Solution:
            listed = ListedForms(rays, self.pricing.start)
            solution, form = solve_listed(listed, self.workload, self.limits, tol / 10, deadline, progress)
            forms.append((form, solution.multipliers))
            return solution

        rounds, inside = solve_around(self.within, self.pricing.rays, least, share_until(deadline, _SHARE))
        if inside:
            return replace(rounds[-1], price=None), forms[-1][0]
        found, point = self._searched(rounds[-1].matrix, tol, share_until(deadline, _SHARE_OF_REST), progress)
        forms.append((QuadraticForm.of_matrix(point.M), point.multipliers))
        _, (form, lam), price = max((self._proved(*pair, deadline) for pair in forms), key=itemgetter(0))
        return replace(found, multipliers=lam, price=price), form

    def _proved(
        self, form: QuadraticForm, multipliers: Floats, deadline: float | None
    ) -> tuple[float, tuple[QuadraticForm, Floats], Price]:
        """Return the bound that a form and lambda prove by themselves, with both and their price."""
        price = self.pricing.price(form, multipliers, deadline=deadline)
        bound = bound_of(form, multipliers, price, self.pricing.prior, self.workload, self.limits)
        return bound, (form, multipliers), price

    def _searched(
        self, outside: Floats, tol: float, deadline: float | None, progress: Callable[[str], None]
    ) -> tuple[Solution, ColumnWeights]:
        """Return a mechanism within the limits, and the weights of its columns."""
        P, within = self.within.known.prior, self.within
        around = np.hstack([outside / (P @ outside), self.pricing.first(deadline)])
        responses = np.ones((P.size, 0)) if self.pricing.start is None else self.pricing.start
        held = _distinct(np.hstack([responses, *within.first(deadline), within.mixed(around, deadline)]))
        if held.shape[1] > _MOST_HELD:
            held = np.hstack([responses, held[:, np.random.default_rng(0).permutation(held.shape[1])[:_MOST_HELD]]])
        point = solve(held, P, self.workload, tol / 10)
        values = [point.value]
        for _ in range(_MOST_ROUNDS):
            progress(f"searching columns within the limits: {held.shape[1]} columns, error {point.value:.9g}")
            keeps_mechanism(deadline)
            stalled = len(values) > _WINDOW and values[-1 - _WINDOW] - values[-1] <= _ENOUGH * values[-1]
            entering = np.empty((P.size, 0)) if stalled else self._entering(held, point, deadline)
            if entering.shape[1] == 0:
                break
            used = np.argsort(-point.weights)[:_MOST_HELD]
            used = used[point.weights[used] > _LEAST_WEIGHT]
            further = _distinct(np.hstack([held[:, used], entering]))
            try:
                better = solve(further, P, self.workload, tol / 10, deadline=deadline)
            except SolverError:
                break
            held, point = further, better
            values.append(point.value)
        matrix = weighted(held, point.weights)
        stopped = "time limit" if time_is_up(deadline) else BOUNDED_OUTSIDE
        return Solution(matrix, point.multipliers, held.shape[1], len(values), stopped), point

    def _entering(self, held: Floats, point: ColumnWeights, deadline: float | None) -> Floats:
        """Return columns of positive reduced cost, from steps that start at the columns of greatest weight and cost."""

        def value(column: Floats) -> float:
            return float(column @ point.M @ column - point.multipliers @ column)

        def slope(column: Floats) -> Floats:
            result: Floats = 2 * point.M @ column - point.multipliers
            return result

        costs = np.einsum("ik,ik->k", held, point.M @ held) - point.multipliers @ held
        starts = held[:, np.argsort(-costs)[: most_starts(len(held))]]
        climbed = [self.within.climbed(column, value, slope) for column in starts.T if not time_is_up(deadline)]
        better = [column for column in climbed if value(column) > 1e-9 * point.value]
        return np.reshape(better, (len(better), len(held))).T


def _distinct(columns: Floats) -> Floats:
    """Return columns without those that equal an earlier one up to rounding."""
    _, first = np.unique(columns.round(9), axis=1, return_index=True)
    return columns[:, np.sort(first)]
