"""Column generation: certified optima, also where there are too many extreme rays to list.

A linear program holds the columns found so far. Columns are priced exactly at its multipliers: those with a positive
reduced cost enter, and the greatest reduced cost gives an upper bound. Column generation ends when the bound is within
the tolerance of the value.

Where there are few, all rays are listed, and ``max sum_k theta_k mu(v_k)  subject to  sum_k theta_k v_k = (1,...,1),
theta >= 0`` is solved over them, for any sub-convex utility. A basic solution has at most N columns. Kinds of rays that
`RayList.held_kinds` leaves out are not held at first but priced with the duals, in chunks, and enter where they would
improve the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT, REDUCED_COST, VALUE_FLOOR
from mechdesign.optimize.deadline import keeps_mechanism, time_is_up
from mechdesign.optimize.master import Master, with_weights
from mechdesign.optimize.method import Solution
from mechdesign.optimize.orbits import Orbits
from mechdesign.optimize.pricing.listing import entering_columns, first_columns
from mechdesign.optimize.pricing.price import Price, Pricing
from mechdesign.optimize.rays import RayList
from mechdesign.optimize.result import within
from mechdesign.problem import DesignProblem
from mechdesign.utility import Utility
from mechdesign.utility.objective import as_utility

_PULL = 0.3  # the share of the best bound's multipliers in a mixture, which keeps multipliers from oscillating
_KEPT_SHARE, _KEPT = 0.5, 1e-6  # of the gap asked for, kept for rounding to integers; squared Hellinger needs most
_WORTHWHILE = 0.1  # of the gap asked for: above this reduced cost the slower pricing is not needed yet
_MOST_ROUNDS = 100


def kept_for_rounding(asked: float) -> float:
    """Return how much of the gap asked for is kept for rounding to integers."""
    return min(_KEPT_SHARE * asked, _KEPT)


class ColumnGeneration:
    """The solution of one problem by column generation.

    Parameters
    ----------
    problem : DesignProblem
        With epsilon above 0.
    pricing : Pricing
        Exact for the problem.
    progress : callable
        Called with one line whenever a step begins.
    rows : Orbits, optional
        The groups of symbols that share a row; by default those that are interchangeable.
    start : array, shape (N, k), optional
        The first columns; by default those of the pricing.
    """

    def __init__(
        self,
        problem: DesignProblem,
        pricing: Pricing,
        progress: Callable[[str], None],
        *,
        rows: Orbits | None = None,
        start: Floats | None = None,
    ) -> None:
        self._problem, self._pricing, self._progress = problem, pricing, progress
        self._orbits = Orbits.of(problem) if rows is None else rows
        self._master = Master(len(self._orbits.groups))
        self.columns: Floats = np.empty((problem.uncertainty.size, 0))
        self.bound, self.center = np.inf, np.zeros(problem.uncertainty.size)
        self.price: Price | None = None
        self._iterations, self._start = 0, start

    @property
    def value(self) -> float:
        """The value of the last linear program."""
        return self._master.value

    def solve(self, tol: float, deadline: float | None) -> Solution:
        """Return a mechanism whose value is within a tolerance of the bound, or the best one at the deadline.

        Parameters
        ----------
        tol : float
            As for `mechdesign.design`.
        deadline : float or None
            When to stop, as a time of `time.monotonic`.
        """
        stopped = ""
        try:
            self.begin(self._pricing.centers(), deadline)
            stopped = self.run(tol, deadline)
        except KeyboardInterrupt:
            stopped = "interrupted"
        except SolverError:
            if self._master.weights.size == 0:
                raise
            stopped = "solver failed"
        return self.solution(stopped)

    def begin(self, centers: Iterable[Floats], deadline: float | None) -> None:
        """Solve the first linear program, and price multipliers that may give good bounds."""
        if self.columns.size == 0:
            self._hold(self._pricing.start(deadline) if self._start is None else self._start)
        self._master.solve()
        keeps_mechanism(deadline)
        for center in centers:
            if self.bound < np.inf and time_is_up(deadline):
                break
            self._enter(self._price(center, thorough=False, deadline=deadline))

    def take_bound(self, bound: float, center: Floats, price: Price | None = None) -> None:
        """Take a bound, with its multipliers and what their pricing returned, if it is better."""
        if bound < self.bound:
            self.bound, self.center, self.price = bound, center, price
        elif price is not None and price.whole and np.array_equal(center, self.center):
            self.price = price

    def run(self, tol: float, deadline: float | None, until: Callable[[], str] = lambda: "") -> str:
        """Return why column generation ended; empty if the tolerance is reached, or no column enters.

        It can be run again, with another tolerance, and continues where it stopped.

        Parameters
        ----------
        tol, deadline
            As for `solve`.
        until : callable, optional
            Called after every linear program; column generation stops where it returns a reason, which is not empty.
        """
        # Ends: there are finitely many rays, and a held one has a reduced cost within the solver's tolerance, so it
        # does not enter again.
        while True:
            self._master.solve()
            self._iterations += 1
            value = self._master.value
            gap = self.bound - value
            self._progress(f"column generation: {self.columns.shape[1]} columns, value {value:.9g}, gap {gap:.1e}")
            asked = tol * max(value, VALUE_FLOOR)
            if gap <= asked - kept_for_rounding(asked):
                return ""
            if reason := until():
                return reason
            if time_is_up(deadline):
                return "time limit"
            multipliers = self._orbits.spread(self._master.multipliers)
            mixed = multipliers + _PULL * (self.center - multipliers)
            worthwhile = _WORTHWHILE * asked
            if not (
                self._enter(self._pricing.guess(multipliers, deadline)) > worthwhile
                or self._enter(self._price(mixed, thorough=False, deadline=deadline)) > worthwhile
                or self._enter(self._price(multipliers, thorough=False, deadline=deadline)) > worthwhile
                or self._enter(self._price(multipliers, thorough=True, deadline=deadline)) > worthwhile
            ):
                if within(self.bound - value, value, tol):
                    return ""
                return "time limit" if time_is_up(deadline) else "stalled"

    def tighten(self, deadline: float | None) -> None:
        """Price the multipliers of the last linear program thoroughly, for a better bound."""
        self._enter(self._price(self._orbits.spread(self._master.multipliers), thorough=True, deadline=deadline))

    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Floats:
        """Return the columns that pricing finds, and keep the bound if it is the best so far."""
        price: Price = self._pricing.price(multipliers, thorough=thorough, deadline=deadline)
        bound = float(multipliers.sum()) + price.upper
        # The columns are not kept with the bound.
        self.take_bound(bound, multipliers, replace(price, best=np.empty((0, 0))))
        return price.best

    def _enter(self, columns: Floats) -> float:
        """Add the columns of positive reduced cost; return the greatest reduced cost, or 0 where no column entered."""
        if columns.size == 0:
            return 0.0
        costs = self._gains(columns) - self._master.multipliers @ self._orbits.fold(columns)
        entering = costs > REDUCED_COST
        if not entering.any():
            return 0.0
        self._hold(columns[:, entering])
        return float(costs.max())

    def _hold(self, columns: Floats) -> None:
        self.columns = np.hstack([self.columns, columns])
        self._master.add(self._orbits.fold(columns), self._gains(columns))

    def _gains(self, columns: Floats) -> Floats:
        return as_utility(self._problem.utility).mu(columns, self._problem.uncertainty.prior)

    def solution(self, stopped: str) -> Solution:
        """Return the mechanism of the last linear program, and the multipliers of the best bound."""
        count = self.columns.shape[1]
        if self._master.weights.size == 0:
            ones = np.ones((len(self.columns), 1))
            return Solution(ones, self.center, count, self._iterations, stopped, price=self.price)
        used = self._master.weights > NEGLIGIBLE_WEIGHT
        columns, weights = self.columns[:, : used.size][:, used], self._master.weights[used]
        matrix = with_weights(columns, weights) if self._orbits.trivial else self._without_orbits(columns, weights)
        return Solution(matrix, self.center, count, self._iterations, stopped, price=self.price)

    def _without_orbits(self, columns: Floats, weights: Floats) -> Floats:
        """Return a mechanism of the same value with at most N columns and rows that sum to 1 symbol by symbol."""
        turned = self._orbits.turned(columns * weights)
        turned = turned / (self._problem.uncertainty.prior @ turned)
        program = Master(self._problem.uncertainty.size)
        program.add(turned, self._gains(turned))
        program.solve()
        return program.mechanism()


def solve_ray_lp(rays: RayList, utility: Utility, progress: Callable[[str], None]) -> Solution:
    """Return a basic optimal mechanism over all extreme rays.

    Parameters
    ----------
    rays : RayList
        Checked by `check_listable`.
    utility : Utility
        Any sub-convex utility.
    progress : callable
        Called with one line whenever a step begins.

    Raises
    ------
    SolverError
        If HiGHS fails.
    """
    program = Master(rays.prior.size)
    for columns in first_columns(rays):
        program.add(columns, utility.mu(columns, rays.prior))
    for iteration in range(1, _MOST_ROUNDS + 1):
        progress(f"solving a linear program over {program.columns.shape[1]} extreme rays")
        program.solve()
        progress("pricing all extreme rays")
        entering, priced = entering_columns(rays, utility, program.multipliers)
        if entering.shape[1] == 0 or iteration == _MOST_ROUNDS:
            break
        program.add(entering, utility.mu(entering, rays.prior))
    return Solution(program.mechanism(), program.multipliers, priced, iteration, "stalled" if entering.shape[1] else "")
