"""Mechanisms that keep a promise about a secret within limits of the joint distribution, found by a search.

The columns that keep the promise for all joint distributions within limits are a polyhedral cone, but its extreme rays
are not listed. The search holds columns of the cone and improves them:

- rays for the joint distribution of the counts at smaller epsilons, each mixed with the constant column until it lies
  in the cone;
- for sets of symbols, the column that has as much of its mass there as there can be;
- from any column of the cone, the column that is greatest in the linear function that touches ``mu(v) - <lambda, v>``
  there. mu is convex, so no step lowers this reduced cost, and each ends at an extreme ray.

A linear program over the columns held gives a mechanism and the next lambda. The upper bound is the optimum for the
joint distribution of the counts, which is one of those within the limits; between both there may be a true gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.numerics.tolerances import REDUCED_COST
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.deadline import keeps_mechanism, time_is_up
from mechdesign.optimize.master import Master
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.listing import ListedPricing
from mechdesign.optimize.rays import indicator
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty import SecretPromise
from mechdesign.uncertainty.base import Floor
from mechdesign.utility import Utility

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BOUNDED_OUTSIDE = "the bound is for the joint distribution of the counts alone"
"""Why the search ends: its mechanism keeps the limits, and no bound is known that does."""

_SHARES = (1.0, 0.6, 0.3, 0.1)  # of epsilon, at which rays are mixed
_HALVINGS = 50
_MOST_ROUNDS, _MOST_STEPS = 60, 30
_ENOUGH = 1e-7  # of the value: rounds that gain less end the search
_STARTS = 3  # for each symbol,
_FEWEST_STARTS = 60  # or so many where symbols are few
_FLOOR = 1e-9  # of entries, where gradients may be infinite at 0
_EVERY_SET_UP_TO = 6  # symbols
_MOST_RAYS = 4_000  # of one epsilon, mixed


def solve_within_limits(
    known: SecretPromise,
    exp_epsilon: float,
    floor: Floor,
    pricing: ListedPricing,
    deadline: float | None,
    progress: Callable[[str], None],
) -> Solution:
    """Return a mechanism within the limits, with the multipliers of the joint distribution of the counts.

    Parameters
    ----------
    known : SecretPromise
        With limits.
    exp_epsilon : float
        exp(epsilon).
    floor : Floor
        What is asked from below.
    pricing : ListedPricing
        Over the rays for the joint distribution of the counts, which price an upper bound.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    progress : callable
        Called with one line whenever a step begins.

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> from mechdesign.uncertainty.base import NO_FLOOR
    >>> within = SecretPromise([[20, 10], [10, 15]], delta="0.1")
    >>> pricing = ListedPricing(SecretRays(within, 2.0), MutualInformation())
    >>> found = solve_within_limits(within, 2.0, NO_FLOOR, pricing, None, lambda step: None)
    >>> bool((within.excess(found.matrix, 2.0) <= 1e-9).all())
    True
    """
    above = solve_ray_lp(pricing.rays, pricing.utility, progress)
    search = _Search(known, exp_epsilon, floor, pricing.utility)
    search.hold(np.ones((known.size, 1)))
    for share in _SHARES:
        if time_is_up(deadline):
            break
        smaller = SecretRays(known, math.exp(share * math.log(exp_epsilon)))
        for rays in smaller.of_kinds(smaller.kinds):
            search.hold(search.mixed(rays[:, :_MOST_RAYS], deadline))
    search.hold(search.greatest_of_sets(deadline))
    rounds = 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        value = search.value
        search.solve()
        progress(f"searching columns within the limits: {search.columns} columns, value {search.value:.9g}")
        keeps_mechanism(deadline)
        if time_is_up(deadline):
            break
        if not search.improve(deadline) or (search.value - value <= _ENOUGH * abs(search.value) and rounds > 2):
            break
    search.solve()
    return Solution(search.mechanism(), above.multipliers, search.columns, rounds, BOUNDED_OUTSIDE)


class _Search:
    """Columns within the limits, and the linear program over them."""

    def __init__(self, known: SecretPromise, exp_epsilon: float, floor: Floor, utility: Utility) -> None:
        self._known, self._e, self._floor, self._utility = known, exp_epsilon, floor, utility
        self._master = Master(known.size)
        self._rows = self._scaled_rows()

    @property
    def columns(self) -> int:
        return int(self._master.columns.shape[1])

    @property
    def value(self) -> float:
        return float(self._master.value)

    def solve(self) -> None:
        self._master.solve()

    def mechanism(self) -> Floats:
        return self._master.mechanism()

    def hold(self, columns: Floats) -> None:
        """Add columns of the cone with ``<P, v> = 1``."""
        if columns.shape[1]:
            self._master.add(columns, self._utility.mu(columns, self._known.prior))

    def greatest_of_sets(self, deadline: float | None) -> Floats:
        """Return columns of the cone with as much of their mass as there can be on a set of symbols, shape (N, k).

        The sets are all there are of few symbols, and otherwise single symbols and all symbols but one; after the
        deadline there are no more.
        """
        N = self._known.size
        if N <= _EVERY_SET_UP_TO:
            sets = indicator(np.arange(1, (1 << N) - 1), N)
        else:
            sets = np.hstack([np.eye(N), 1 - np.eye(N)])
        P = self._known.prior
        found = [self._greatest(P * inside) for inside in sets.T if not time_is_up(deadline)]
        return np.reshape(found, (len(found), N)).T

    def mixed(self, columns: Floats, deadline: float | None = None) -> Floats:
        """Return columns mixed with the constant one, as little as the promise asks for, or more at the deadline."""
        low, high = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
        for _ in range(_HALVINGS):
            if time_is_up(deadline):
                break
            middle = (low + high) / 2
            kept = self._broken_by(columns + middle * (1 - columns)) <= 0
            low, high = np.where(kept, low, middle), np.where(kept, middle, high)
        inside = self._broken_by(columns) <= 0
        result: Floats = np.where(inside, columns, columns + high * (1 - columns))
        return result

    def _broken_by(self, columns: Floats) -> Floats:
        above = self._known.excess(columns, self._e)
        if self._floor.least_lift == 0:
            return above
        result: Floats = np.maximum(above, self._known.lack(columns, float(self._floor.least_lift)))
        return result

    def improve(self, deadline: float | None) -> bool:
        """Add columns of positive reduced cost, from steps that start at columns held; return if there are any.

        No column is improved after the deadline.
        """
        held = self._master.columns[:, : self._master.weights.size]
        costs = self._utility.mu(held, self._known.prior) - self._master.multipliers @ held
        starts = held[:, np.argsort(-costs)[: max(_STARTS * self._known.size, _FEWEST_STARTS)]]
        found = [self._climbed(column) for column in starts.T if not time_is_up(deadline)]
        better = [column for column in found if self._reduced(column) > REDUCED_COST]
        if better:
            self.hold(np.transpose(better))
        return bool(better)

    def _reduced(self, column: Floats) -> float:
        cost = self._utility.mu(column[:, None], self._known.prior)[0] - self._master.multipliers @ column
        return float(cost)

    def _climbed(self, column: Floats) -> Floats:
        """Return the column at which the steps from a column end."""
        best, reached = column, self._reduced(column)
        for _ in range(_MOST_STEPS):
            slope = self._utility.gradient(np.maximum(best, _FLOOR), self._known.prior) - self._master.multipliers
            following = self._greatest(slope)
            cost = self._reduced(following)
            if not cost > reached + REDUCED_COST:
                break
            best, reached = following, cost
        return best

    def _scaled_rows(self) -> tuple[csr_array, int]:
        """Return the rows of the promise for posteriors ``P o v``, in the form that linear programs take."""
        from scipy.sparse import block_array, csr_array, diags_array

        blocks = self._known.promise_rows(self._e, self._floor)
        scale = diags_array(1 / self._known.prior)
        rows = block_array([[block.columns @ scale, block.auxiliary] for block in blocks])
        return csr_array(-rows), int(blocks[0].auxiliary.shape[1])

    def _greatest(self, slope: Floats) -> Floats:
        """Return the column of the cone with ``<P, v> = 1`` at which a linear function is greatest."""
        rows, auxiliary = self._rows
        N = self._known.size
        found = minimum(
            np.concatenate([-slope / self._known.prior, np.zeros(auxiliary)]),
            at_most=(rows, np.zeros(rows.shape[0])),
            equal=(np.concatenate([np.ones(N), np.zeros(auxiliary)])[None, :], [1.0]),
            free=slice(N, None),
        ).required("a column to improve", "change epsilon a little")
        column: Floats = np.maximum(found.x[:N], 0.0) / self._known.prior
        return column / float(self._known.prior @ column)
