"""Columns that are found for a mechanism of small estimation error, first ones and better ones.

`generation` tells from which linear functions they come.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import is_limited, seconds_left, share_until, time_is_up
from mechdesign.optimize.estimation.caps import MOST_SYMBOLS_IN_FORMS, best_caps, greatest_entries
from mechdesign.optimize.estimation.cyclic_sets import cyclic_sets
from mechdesign.optimize.estimation.interior_point import ColumnWeights, seconds_of_steps
from mechdesign.optimize.estimation.linear_oracle import LinearOracle
from mechdesign.optimize.estimation.weighted_columns import (
    ErrorOfColumns,
    WeightedColumns,
    moved,
    orthogonal_gaussians,
)
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.master import Master, spread
from mechdesign.optimize.start import start_columns
from mechdesign.uncertainty import L1Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import ChiSquare
from mechdesign.utility.query_variances import variances_of_matrix

_FIRST, _FRESH = 6, 3  # Gaussian columns for each symbol, at first and in each round
_LEAST_FRESH = 100
_GRADIENTS = 8  # random points for each symbol, at which gradients of reduced costs are taken in each round
_FAMILIES, _MOST_SHIFTED = 10, 3_000  # sets that are shifted, and all their shifts
_FAMILIES_AT_ONCE = 3  # likewise, of a mechanism without a search
ENTERING = 4  # columns of greatest reduced cost for each symbol that enter in a round
_NOISE = 0.5
_STARTED, _STARTED_EACH = 4_800, 30  # columns that multiplicative steps begin with, or so many for each symbol
_DRAWING, _FEWEST_GROUPS = 0.5, 4  # of the time that is left, for these; and of N columns each, however little there is
_FEW_HELD_EACH = 100  # columns for each symbol that they hold at most where symbols are few
_HELD, _HELD_EACH = 9_400, 40  # and where they are many: so many, or so many for each symbol where that is more
_ENTERING = 10  # columns of greatest reduced cost for each symbol that enter where weights take multiplicative steps
_STEPS_OF_WEIGHTS, _MOST_STEPS = 10, 100  # between columns that enter, at first and later
_SWEPT = 2  # rounds that exchange columns, too
_AT_ONCE = 1_000  # columns that are tried between looks at the clock
_NEW, _LEAST_NEW = 0.1, 0.01  # share of the weight that new columns are given, at first and later
_WORTH_OF_NEW = 2e-3  # relative progress of a round, over that share: below, the share disturbs more than it brings
_FINER = 1.5  # what the share is then divided by, and the number of steps multiplied by
_LIGHT = 1e-5  # a column of which every row uses less is left out
_MOST_CLIMBS = 40
_SECONDS_AN_ENTRY = 1.2e-6  # of a first linear program, or less
_FEWEST_HELD = 2  # columns for each symbol, however little time there is


Point: TypeAlias = ColumnWeights | WeightedColumns
"""What has an error, the M of its gradient, and lambda."""


@dataclass(frozen=True, eq=False)
class Generated:
    """A mechanism that was found, and the dual of its columns.

    Attributes
    ----------
    matrix : array, shape (N, k)
        The mechanism; rows sum to 1 up to rounding.
    multipliers : array, shape (N,)
        lambda.
    M : array, shape (N, N)
        No column held has a positive ``v'Mv - <lambda, v>``; other columns of the cone may.
    value : float
        The error.
    rounds : int
        Interior points computed.
    stopped : str
        ``"time limit"``, ``"interrupted"``, ``"solver failed"`` or ``"stalled"``; empty if the bound was met.
    """

    matrix: Floats
    multipliers: Floats
    M: Floats
    value: float
    rounds: int
    stopped: str

    def heaviest(self, prior: Floats, most: int) -> Floats:
        """Return no more than so many columns, those of the most likely reports, scaled to ``<P, v> = 1``."""
        masses = prior @ self.matrix
        kept = np.argsort(-masses, kind="stable")[:most]
        result: Floats = self.matrix[:, kept] / masses[kept]
        return result


def _most_in_time(size: int, count: int, seconds: float) -> int:
    """Return how many of some columns the first interior point can hold."""
    least = min(_FEWEST_HELD * size, count)
    return max((k for k in (*range(least, count, size), count) if seconds_of_steps(size, k) <= seconds), default=least)


def _most_held(size: int) -> int:
    """Return how many columns take multiplicative steps at most."""
    return min(_FEW_HELD_EACH * size, max(_HELD, _HELD_EACH * size))


class ColumnSearch:
    """Finds columns of the cone."""

    def __init__(
        self, ball: L1Ball, exp_epsilon: float, workload: Floats, rng: np.random.Generator, floor: Floor = NO_FLOOR
    ) -> None:
        self._ball, self._exp_epsilon, self._rng, self._floor = ball, exp_epsilon, rng, floor
        self._workload, self.basic, self.holds_every_prior = workload, 0, ball.holds_every_prior
        self._oracle = LinearOracle(L1Cone.of(ball, exp_epsilon, floor))

    def first(self, deadline: float | None = None) -> Floats:
        """Return columns of which the first `basic` form a mechanism, and no more than there is time for."""
        N = self._ball.size
        windows = start_columns(self._ball, self._exp_epsilon, ChiSquare(), self._floor)
        gaussian = self._gaussian(self._best_covariance(deadline), max(_FIRST * N, _LEAST_FRESH))
        independent = self._gaussian(np.eye(N), N)  # so that columns span all directions, also for few queries
        found = self._oracle.best(np.hstack([gaussian, independent]))
        families = max(1, min(_FAMILIES, _MOST_SHIFTED // N)) if self.holds_every_prior else 0
        even = self._even_sets(families)
        columns = self._without_copies(np.hstack([windows, found, even / (self._ball.prior @ even)]))
        # Windows alone form a mechanism.
        left = seconds_left(deadline) if is_limited(deadline) else np.inf
        program = Master(N)
        tried = windows.shape[1] if _SECONDS_AN_ENTRY * columns.size > left / 2 else columns.shape[1]
        program.add(spread(columns[:, :tried]), np.zeros(tried))
        program.solve()
        basic = np.append(program.weights > 0, np.zeros(columns.shape[1] - tried, dtype=bool))
        self.basic = int(basic.sum())
        most = _most_in_time(N, columns.shape[1], left) - self.basic
        return np.hstack([columns[:, basic], columns[:, np.flatnonzero(~basic)[-most:]]])

    def multiplied(self, deadline: float | None) -> Iterator[WeightedColumns]:
        """Give mechanisms of more and more columns, whose weights take multiplicative steps.

        Columns enter whose reduced costs are great; light ones are left out. Where a round gains little, new columns
        get a smaller share of the weight from then on, and weights take more steps.

        Raises
        ------
        SolverError
            If columns leave a direction out, or no weights near those held make rows sum to 1.
        """
        program, covariance = ErrorOfColumns(self._workload), self._best_covariance(deadline)
        groups = max(_STARTED_EACH, _STARTED // len(covariance))
        functions = self._functions(orthogonal_gaussians(covariance, groups, self._rng), covariance)
        columns = self._as_time_allows(np.split(functions, groups, axis=1), share_until(deadline, _DRAWING))
        weights = np.full(columns.shape[1], 1 / columns.shape[1])
        share, steps, before = _NEW, _STEPS_OF_WEIGHTS, np.inf
        for rounds in itertools.count():
            held = program.reweighted(*self._merged(columns, weights), steps, deadline)
            yield held
            if before - held.value < _WORTH_OF_NEW * share * held.value:
                share, steps = max(share / _FINER, _LEAST_NEW), min(int(_FINER * steps), _MOST_STEPS)
            before = held.value
            columns, weights = held.heaviest(_most_held(len(columns)))
            used = weights * columns.max(axis=0) > _LIGHT
            columns, weights = columns[:, used], weights[used]
            if rounds < _SWEPT:
                columns, weights = self.moved(columns, weights, deadline)
            new = self._of_great_cost(held)
            columns = np.hstack([columns, new])
            weights = np.append((1 - share) * weights, np.full(new.shape[1], share / max(new.shape[1], 1)))

    def _as_time_allows(self, groups: list[Floats], until: float | None) -> Floats:
        """Return columns that form a mechanism, and the best ones for groups of functions until a time, or for some."""
        columns = [start_columns(self._ball, self._exp_epsilon, ChiSquare(), self._floor)]
        for number, group in enumerate(groups):
            if number >= _FEWEST_GROUPS and time_is_up(until):
                break
            columns.append(self._oracle.best(group))
        return np.hstack(columns)

    def _of_great_cost(self, held: WeightedColumns) -> Floats:
        """Return columns of great reduced cost, from gradients at random points and noise at some of those held."""
        N, weights = self._ball.size, held.weights
        drawn = self._rng.choice(
            weights.size, min(weights.size, _GRADIENTS * N), p=weights / weights.sum(), replace=False
        )
        chosen = held.columns[:, drawn]
        noisy = (chosen + _NOISE * self._rng.standard_normal(chosen.shape)) * self._oracle.masses[:, None]
        columns = self._oracle.best(np.hstack([self.gradients(held.columns, weights, held), noisy]))
        return self._costly(self._climbed(columns, held), held)[:, : _ENTERING * N]

    def moved(self, columns: Floats, weights: Floats, deadline: float | None) -> tuple[Floats, Floats]:
        """Return columns of a mechanism after a sweep of exchanges, and their weights; the `basic` ones stay."""
        return moved(columns, weights, self._workload, self._oracle, self._rng, deadline, self.basic)

    def at_once(self) -> Generated | None:
        """Return a mechanism that needs no search; None where priors of the set have entries below 0.

        It is of cyclic sets, or randomized response, whichever has the lesser error. Both keep epsilon for every prior
        there is, but not for those.
        """
        if not self._ball.within_simplex:
            return None
        N, found = self._ball.size, []
        for columns in (self._even_sets(_FAMILIES_AT_ONCE), 1 + (self._exp_epsilon - 1) * np.eye(N)):
            matrix: Floats = columns / columns[0].sum()  # each row has the same entries
            value = float(variances_of_matrix(matrix, self._ball.prior, self._workload).sum())
            found.append(Generated(matrix, np.zeros(N), np.zeros((N, N)), value, 0, "time limit"))
        return min(found, key=attrgetter("value"))

    def _even_sets(self, families: int) -> Floats:
        """Return columns of sets of about N/(e + 1) symbols, as in subset selection, not scaled."""
        N, e = self._ball.size, self._exp_epsilon
        members = max(1, round(N / (1 + e)))
        sets = cyclic_sets(N, members, families, self._rng) if families else np.empty((N, 0))
        return 1 + (e - 1) * sets

    def entering(self, active: Floats, weights: Floats, point: ColumnWeights) -> Floats:
        """Return columns of positive reduced cost, the best ones first, from the columns in use and their weights."""
        N = self._ball.size
        deviations = (active - 1) * np.sqrt(weights)
        noisy = active + _NOISE * self._rng.standard_normal(active.shape)
        functions = [
            self._gaussian(deviations @ deviations.T, max(_FRESH * N, _LEAST_FRESH)),
            noisy * self._oracle.masses[:, None],
        ]
        if self._floor.for_everyone:
            functions.append(self.gradients(active, weights, point))
        columns = np.hstack([active, self._oracle.best(np.hstack(functions))])
        return self._costly(self._climbed(columns, point), point)[:, : ENTERING * N]

    def gradients(self, active: Floats, weights: Floats, point: Point) -> Floats:
        """Return gradients of reduced costs at random points, whose entries spread as those of the columns in use."""
        size = np.sqrt((active - 1) ** 2 @ weights)[:, None]
        points = 1 + size * self._rng.standard_normal((self._ball.size, _GRADIENTS * self._ball.size))
        result: Floats = 2 * point.M @ points - point.multipliers[:, None]
        return result

    def to_try(self, point: ColumnWeights, wanted: int, *, deadline: float | None = None) -> Floats:
        """Return columns of great reduced cost, found from fresh Gaussian vectors; after the deadline no more."""
        covariance, found = self._best_covariance(deadline), []
        for start in range(0, wanted, _AT_ONCE):
            if time_is_up(deadline):
                break
            drawn = self._gaussian(covariance, min(_AT_ONCE, wanted - start))
            found.append(self._climbed(self._oracle.best(drawn), point, deadline))
        return self._without_copies(np.hstack([np.empty((len(covariance), 0)), *found]))[:, :wanted]

    def _climbed(self, columns: Floats, point: Point, deadline: float | None = None) -> Floats:
        """Return the columns at which the steps from some columns end, or have come to at the deadline."""
        ended = []
        costs = _reduced_costs(columns, point)
        for _ in range(_MOST_CLIMBS):
            further = self._oracle.best(2 * point.M @ columns - point.multipliers[:, None])
            reached = _reduced_costs(further, point)
            better = reached > costs + 1e-9 * point.value
            ended.append(columns[:, ~better])
            columns, costs = further[:, better], reached[better]
            if not costs.size or time_is_up(deadline):
                break
        return np.hstack([*ended, columns])

    def _costly(self, columns: Floats, point: Point) -> Floats:
        """Return the columns of positive reduced cost without copies, the greatest costs first."""
        costs = _reduced_costs(columns, point)
        positive = np.flatnonzero(costs > 1e-9 * point.value)
        return self._without_copies(columns[:, positive[np.argsort(-costs[positive], kind="stable")]])

    def _gaussian(self, covariance: Floats, count: int) -> Floats:
        """Return Gaussian vectors as linear functions, whose ratios to P have variance 1."""
        values, vectors = np.linalg.eigh(covariance)
        drawn = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * self._rng.standard_normal((len(values), count)))
        return self._functions(drawn, covariance)

    def _functions(self, drawn: Floats, covariance: Floats) -> Floats:
        """Return vectors of a covariance as linear functions, whose ratios to P have variance 1."""
        spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12 * max(np.trace(covariance), 1e-300)))
        result: Floats = drawn / spread[:, None] * self._oracle.masses[:, None]
        return result

    def _best_covariance(self, deadline: float | None = None) -> Floats:
        """Return ``F' (F diag(d) F')^(-1/2) F``, the covariance of columns that would attain the bound of `caps`."""
        prior = self._ball.prior
        F = self._workload - (self._workload @ prior)[:, None]
        if prior.size > MOST_SYMBOLS_IN_FORMS:
            return np.eye(prior.size)
        d = best_caps(prior, greatest_entries(prior, self._exp_epsilon, self._floor), self._workload, deadline)
        values, vectors = np.linalg.eigh((F * d) @ F.T)
        kept = values > 1e-12 * values[-1]
        images = vectors[:, kept].T @ F
        result: Floats = (images.T / np.sqrt(values[kept])) @ images
        return result

    def _without_copies(self, columns: Floats) -> Floats:
        """Return columns without those that equal an earlier one up to rounding."""
        first, _ = self._copies(columns)
        return columns[:, np.sort(first)]

    def _merged(self, columns: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return columns without copies, each with the weight of all its copies."""
        first, which = self._copies(columns)
        kept = np.argsort(first)
        return columns[:, first[kept]], np.bincount(which, weights)[kept].astype(float)

    def _copies(self, columns: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first of all columns that are equal up to rounding, and of which of these each is a copy."""
        keys = (self._rng.standard_normal((2, len(columns))) @ columns).round(9)
        _, first, which = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        return first, which.ravel()


def _reduced_costs(columns: Floats, point: Point) -> Floats:
    """Return ``v'Mv - <lambda, v>`` of each column."""
    result: Floats = np.einsum("ik,ik->k", columns, point.M @ columns) - point.multipliers @ columns
    return result
