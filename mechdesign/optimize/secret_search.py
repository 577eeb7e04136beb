"""Mechanisms that keep a promise about a secret within limits of the joint distribution, found by a search.

The columns that keep the promise for all joint distributions within limits are a polyhedral cone, but its extreme rays
are not listed. The search holds columns of the cone and improves them:

- rays for the joint distribution of the counts at smaller epsilons, each mixed with the constant column until it lies
  in the cone;
- for sets of symbols, the column that has as much of its mass there as there can be;
- from any column of the cone, the column that is greatest in the linear function that touches ``mu(v) - <lambda, v>``
  there. mu is convex, so no step lowers this reduced cost, and each ends at an extreme ray.

A linear program over the columns held gives a mechanism and the next lambda.

The upper bound is the optimum for some of the joint distributions within the limits (`mechdesign.optimize.limit_rays`).
They are chosen so that the best mechanism for these keeps the promise within the limits, which makes it the best of
all. Where that takes too many, the search above gives the mechanism, and between both there may be a true gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.numerics.tolerances import REDUCED_COST
from mechdesign.optimize.column_cone import ColumnCone
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.deadline import keeps_mechanism, time_is_up
from mechdesign.optimize.master import Master
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.listing import ListedPricing
from mechdesign.optimize.rays import RayList, indicator
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty import SecretPromise
from mechdesign.uncertainty.base import Floor
from mechdesign.utility import Utility

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BOUNDED_OUTSIDE = "the bound is for some joint distributions within the limits, not for all"
"""Why the search ends: its mechanism keeps the limits, and no bound is known that does."""

_SHARES = (1.0, 0.6, 0.3, 0.1)  # of epsilon, at which rays are mixed
_MOST_ROUNDS, _MOST_STEPS = 60, 30
_ENOUGH = 1e-7  # of the value: rounds that gain less end the search
_STARTS = 3  # for each symbol,
_FEWEST_STARTS = 60  # or so many where symbols are few
_LEAST_WORTH = 1e-300
_FLOOR = 1e-9  # of entries, where gradients may be infinite at 0
_EVERY_SET_UP_TO = 6  # symbols
_MOST_RAYS = 4_000  # of one epsilon, mixed
_KEEPS = 1e-9  # broken by less, a promise is kept but for rounding
_CUT_TOGETHER = 3  # columns, before the best mechanism is looked for again

Value = Callable[[Floats], Any]
"""A function of a column."""


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
    within = ColumnsWithin(known, exp_epsilon, floor)
    around, inside = solve_around(
        within, pricing.rays, lambda rays: solve_ray_lp(rays, pricing.utility, progress), deadline
    )
    if inside:
        return around[-1]
    search = _Search(within, pricing.utility)
    for columns in within.first(deadline):
        search.hold(columns)
    search.hold(within.mixed(around[-1].matrix / (known.prior @ around[-1].matrix), deadline))
    rounds, master = 0, search.master
    for rounds in range(1, _MOST_ROUNDS + 1):
        value = master.value
        master.solve()
        progress(f"searching columns within the limits: {master.columns.shape[1]} columns, value {master.value:.9g}")
        keeps_mechanism(deadline)
        if time_is_up(deadline):
            break
        if not search.improve(deadline) or (master.value - value <= _ENOUGH * abs(master.value) and rounds > 2):
            break
    master.solve()
    duals = [(found.multipliers, pricing.price(found.multipliers, deadline=deadline)) for found in around]
    lam, price = min(duals, key=lambda dual: float(dual[0].sum()) + dual[1].upper)
    return Solution(master.mechanism(), lam, master.columns.shape[1], rounds, why_stopped(deadline), price=price)


def why_stopped(deadline: float | None) -> str:
    """Return why a search within limits ends whose bound is for joint distributions that may not be all of them."""
    return "time limit" if time_is_up(deadline) else BOUNDED_OUTSIDE


def solve_around(
    within: ColumnsWithin, rays: RayList, solve: Callable[[RayList], Solution], deadline: float | None
) -> tuple[list[Solution], bool]:
    """Return the best mechanisms of rays around the limits, and whether the last keeps the promise within the limits.

    Parameters
    ----------
    within : ColumnsWithin
        The columns that keep the promise within the limits.
    rays : RayList
        With rays to cut: those that the best mechanism uses and that break the promise are cut off until it uses none.
    solve : callable
        Returns the best mechanism of a list of rays.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    """
    cone, found = rays.to_cut(), []
    while True:
        found.append(solve(rays if cone is None else cone))
        masses = rays.prior @ found[-1].matrix
        columns, masses = found[-1].matrix[:, masses > 0] / masses[masses > 0], masses[masses > 0]
        broken = within.broken_by(columns)
        if (broken <= _KEEPS).all():
            return found, True
        most = np.argsort(-broken * masses, kind="stable")[:_CUT_TOGETHER]
        if cone is None or time_is_up(deadline) or sum(cone.cut_off(columns[:, k]) for k in most) == 0:
            return found, False


@dataclass(frozen=True, eq=False)
class ColumnsWithin(ColumnCone):
    """Columns of the cone of a promise about a secret within limits, with ``<P, v> = 1``."""

    known: SecretPromise

    def first(self, deadline: float | None) -> Iterator[Floats]:
        """Yield columns to begin with, in chunks of shape (N, k); after the deadline the constant one alone."""
        yield np.ones((self.known.size, 1))
        for share in _SHARES:
            if time_is_up(deadline):
                return
            smaller = SecretRays(self.known, math.exp(share * math.log(self.exp_epsilon)))
            for rays in smaller.of_kinds(smaller.kinds):
                yield self.mixed(rays[:, :_MOST_RAYS], deadline)
        yield self.greatest_of_sets(deadline)

    def greatest_of_sets(self, deadline: float | None) -> Floats:
        """Return columns of the cone with as much of their mass as there can be on a set of symbols, shape (N, k).

        The sets are all there are of few symbols, and otherwise single symbols and all symbols but one; after the
        deadline there are no more.
        """
        N = self.known.size
        if N <= _EVERY_SET_UP_TO:
            sets = indicator(np.arange(1, (1 << N) - 1), N)
        else:
            sets = np.hstack([np.eye(N), 1 - np.eye(N)])
        P = self.known.prior
        found = [self.greatest(P * inside) for inside in sets.T if not time_is_up(deadline)]
        return np.reshape(found, (len(found), N)).T

    def climbed(self, column: Floats, value: Value, slope: Value) -> Floats:
        """Return the column at which the steps from a column end that maximise a convex function by its slopes."""
        best, reached = column, float(value(column))
        for _ in range(_MOST_STEPS):
            following = self.greatest(slope(np.maximum(best, _FLOOR)))
            cost = float(value(following))
            if not cost > reached + REDUCED_COST:
                break
            best, reached = following, cost
        return best

    @cached_property
    def _rows(self) -> tuple[csr_array, int]:
        """Return the rows of the promise for posteriors ``P o v``, in the form that linear programs take."""
        from scipy.sparse import block_array, csr_array, diags_array

        blocks = self.known.promise_rows(self.exp_epsilon, self.floor)
        scale = diags_array(1 / self.known.prior)
        rows = block_array([[block.columns @ scale, block.auxiliary] for block in blocks])
        return csr_array(-rows), int(blocks[0].auxiliary.shape[1])

    def greatest(self, slope: Floats) -> Floats:
        """Return the column of the cone with ``<P, v> = 1`` at which a linear function is greatest."""
        rows, auxiliary = self._rows
        N, worth = self.known.size, slope / self.known.prior
        worth = worth / max(float(np.abs(worth).max()), _LEAST_WORTH)  # solvers take no costs above 1e20
        found = minimum(
            np.concatenate([-worth, np.zeros(auxiliary)]),
            at_most=(rows, np.zeros(rows.shape[0])),
            equal=(np.concatenate([np.ones(N), np.zeros(auxiliary)])[None, :], [1.0]),
            free=slice(N, None),
        ).required("a column to improve", "change epsilon a little")
        column: Floats = np.maximum(found.x[:N], 0.0) / self.known.prior
        return column / float(self.known.prior @ column)


class _Search:
    """Columns within the limits, and the linear program over them."""

    def __init__(self, within: ColumnsWithin, utility: Utility) -> None:
        self._within, self._prior, self._utility = within, within.known.prior, utility
        self.master = Master(within.known.size)

    def hold(self, columns: Floats) -> None:
        """Add columns of the cone with ``<P, v> = 1``."""
        if columns.shape[1]:
            self.master.add(columns, self._utility.mu(columns, self._prior))

    def improve(self, deadline: float | None) -> bool:
        """Add columns of positive reduced cost, from steps that start at columns held; return if there are any.

        No column is improved after the deadline.
        """
        held = self.master.columns[:, : self.master.weights.size]
        costs = self._utility.mu(held, self._prior) - self.master.multipliers @ held
        starts = held[:, np.argsort(-costs)[: most_starts(self._prior.size)]]
        climbed = (
            self._within.climbed(column, self._reduced, self._slope) for column in starts.T if not time_is_up(deadline)
        )
        better = [column for column in climbed if self._reduced(column) > REDUCED_COST]
        if better:
            self.hold(np.transpose(better))
        return bool(better)

    def _reduced(self, column: Floats) -> float:
        cost = self._utility.mu(column[:, None], self._prior)[0] - self.master.multipliers @ column
        return float(cost)

    def _slope(self, column: Floats) -> Floats:
        slope: Floats = self._utility.gradient(column, self._prior) - self.master.multipliers
        return slope


def most_starts(size: int) -> int:
    """Return how many columns steps start from in a round."""
    return max(_STARTS * size, _FEWEST_STARTS)
