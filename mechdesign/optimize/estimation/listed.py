"""Least estimation errors where all extreme rays are listed: interior points over few of them, all of them priced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import keeps_mechanism, sooner, time_is_up
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps, multipliers_of_caps
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.interior_point import full_weights, solve
from mechdesign.optimize.master import Master, spread
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.listing import CUT
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import RayList

_EPS = float(np.finfo(float).eps)
_MOST_ROUNDS = 60
_FIRST, _ENTERING = 10, 6  # rays for each symbol, at first and in each round
_DROPPED = 1e-6  # a ray of less weight than this leaves the program
_OF_A_ROW = 1e-4  # unless it makes up more than this of some row
_A_SECOND, _OVER = 8e6, 2.0  # entries of rays that are priced in a second, and seconds after the deadline for it
_MOST_HELD = 2**28  # bytes of rays that are kept rather than listed again
_PRICED_AT_ONCE = 1 << 14  # rays whose arrays fit into caches: a third of the time


class ExactForms(Protocol):
    """A method that prices a quadratic form on all rays of a cone.

    Attributes
    ----------
    method : str
        Its name.
    """

    method: str

    @property
    def prior(self) -> Floats:
        """The reference prior P, shape (N,)."""

    def price(self, form: QuadraticForm, multipliers: Floats, wanted: int = 0) -> Price:
        """Return the greatest ``(v - 1)' Theta (v - 1) - <lambda, v>``, rounded outward, and the best rays."""

    def first(self, deadline: float | None = None) -> Floats:
        """Return some rays that form a mechanism, and others, shape (N, k); fewer of these once time is up."""


@dataclass(frozen=True, eq=False)
class ListedForms:
    """Prices a quadratic form on every extreme ray of a list.

    Attributes
    ----------
    rays : RayList
        All rays of the cone.
    start : array, shape (N, k), optional
        Columns of the cone that form a mechanism, where some are known without a search.
    """

    rays: RayList
    start: Floats | None = None

    method = "every extreme ray"

    @property
    def prior(self) -> Floats:
        """The reference prior P, shape (N,)."""
        return self.rays.prior

    @cached_property
    def _held(self) -> list[tuple[Floats, Floats]] | None:
        """The rays with their errors, if memory holds them."""
        if self.rays.count(self.rays.kinds) * self.rays.prior.size * 16 > _MOST_HELD:
            return None
        return list(self.rays.with_errors(self.rays.kinds))

    def chunks(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield all rays, each chunk with how far its entries may be from those of its rays."""
        yield from self.rays.with_errors(self.rays.kinds) if self._held is None else self._held

    def _blocks(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield all rays with their errors, so many at once as are priced fast."""
        for columns, errors in self.chunks():
            for first in range(0, columns.shape[1], _PRICED_AT_ONCE):
                cut = slice(first, first + _PRICED_AT_ONCE)
                yield columns[:, cut], errors[:, cut]

    def price(
        self,
        form: QuadraticForm,
        multipliers: Floats,
        wanted: int = 0,
        *,
        deadline: float | None = None,
    ) -> Price:
        """Return the greatest ``(v - 1)' Theta (v - 1) - <lambda, v>`` over all rays, rounded outward.

        The price comes with as many rays of the greatest reduced cost as are wanted. Rays of a wider cone are cut off
        where their reduced cost is the greatest and they break the promise, up to the deadline.
        """
        sizes = np.abs(multipliers)
        of_sums = (self.rays.prior.size + 8) * _EPS

        def upper_of(columns: Floats, errors: Floats) -> Floats:
            upper = form.values_up(columns - 1, errors + _EPS * (1 + columns)) - multipliers @ columns
            return as_bound(upper + sizes @ (errors + of_sums * columns))

        greatest, looked_at = -np.inf, 0
        best, costs = np.empty((self.rays.prior.size, 0)), np.empty(0)
        cone = self.rays.to_cut()
        with np.errstate(over="ignore", invalid="ignore"):
            if cone is not None:
                cone.greatest(upper_of, deadline)
            for columns, errors in self._blocks() if cone is None else cone.with_errors(cone.kinds):
                upper = upper_of(columns, errors)
                greatest = max(greatest, float(upper.max(initial=-np.inf)))
                looked_at += columns.shape[1]
                if wanted:
                    kept = np.argpartition(-upper, wanted)[:wanted] if upper.size > wanted else np.arange(upper.size)
                    best, costs = np.hstack([best, columns[:, kept]]), np.append(costs, upper[kept])
        kept = np.argsort(-costs, kind="stable")[:wanted]
        return Price(greatest, self.method if cone is None else CUT, looked_at, best[:, kept])

    def first(self, deadline: float | None = None) -> Floats:
        """Return some rays that form a mechanism, and others of all kinds, shape (N, k).

        With a start no more rays are drawn from the deadline on.
        """
        N = self.rays.prior.size
        rng = np.random.default_rng(0)
        start = np.empty((N, 0)) if self.start is None else self.start
        share = 1.0
        total = max(1, self.rays.count(self.rays.kinds))
        count, least = 5 * _FIRST * N, 2 * _FIRST * N
        while True:  # until all rays are drawn
            share = min(1.0, count / total)
            some = [start]
            for columns, _ in self.chunks():
                some.append(columns[:, rng.random(columns.shape[1]) < share])
                if self.start is not None and time_is_up(deadline):
                    break
            drawn = np.hstack(some)
            if drawn.shape[1] < least and share < 1.0:  # there are fewer rays than were counted
                count *= 8
                continue
            try:
                program = Master(N)
                program.add(spread(drawn), np.zeros(drawn.shape[1]))
                program.solve()
            except SolverError:
                if share == 1.0:
                    raise
                count *= 8
                continue
            basic = drawn[:, program.weights > 0]
            others = drawn[:, rng.permutation(drawn.shape[1])[: _FIRST * N]]
            return np.hstack([basic, others])


def solve_listed(
    pricing: ExactForms,
    workload: Floats,
    limits: Floats,
    tol: float,
    deadline: float | None,
    progress: Callable[[str], None],
) -> tuple[Solution, QuadraticForm]:
    """Return the mechanism of least error over listed rays with lambda, and with the form that proves it beside lambda.

    Parameters
    ----------
    pricing : ExactForms
        Of all rays.
    workload : array, shape (q, N)
        W.
    limits : array, shape (N,)
        As from `greatest_entries`.
    tol : float
        The relative gap at which to stop.
    deadline : float or None
        When to stop, as a time of `time.monotonic`; the first mechanism is finished, whatever the time.
    progress : callable
        Called with one line for each round.

    Raises
    ------
    SolverError
        If rays keep entering, or no mechanism determines the queries.
    """
    prior, N = pricing.prior, pricing.prior.size
    held, bound, dropped = pricing.first(deadline), -np.inf, _dropped(workload)
    price = unpriced = Price(np.inf, pricing.method, held.shape[1], held[:, :0])
    stopped, further, last = "stalled", held, _last_pass(pricing, deadline)
    for iteration in range(1, _MOST_ROUNDS + 1):
        try:
            point = solve(further, prior, workload, tol / 10, deadline=deadline if iteration > 1 else None)
            held = further
        except SolverError:
            if iteration > 1:
                stopped = "time limit" if time_is_up(deadline) else "solver failed"
                break
            held = np.hstack([held, _far_from_constant(pricing)])
            point = solve(held, prior, workload, tol / 10)
        keeps_mechanism(deadline)
        if time_is_up(last):
            stopped = "time limit"
            break
        form = QuadraticForm.of_matrix(point.M)
        price = pricing.price(form, point.multipliers, _ENTERING * N)
        found = bound_of(form, point.multipliers, price, prior, workload, limits)
        if found > bound:
            best, bound = (form, point.multipliers, price), found
        progress(f"interior points: {held.shape[1]} rays, error {point.value:.9g}, gap {point.value - bound:.1e}")
        if point.value - bound <= tol / 2 * point.value:
            stopped = ""
            break
        if time_is_up(deadline):
            stopped = "time limit"
            break
        further = np.hstack([held[:, _needed(held, point.weights, dropped)], price.best])
    if stopped:
        caps = best_caps(prior, limits, workload, deadline)
        if bound_of_caps(caps, prior, limits, workload) > bound:
            form, lam = QuadraticForm(caps), multipliers_of_caps(caps, limits)
            best = form, lam, unpriced if time_is_up(last) else pricing.price(form, lam)
    return Solution(weighted(held, point.weights), best[1], price.columns, iteration, stopped, price=best[2]), best[0]


def _far_from_constant(pricing: ExactForms) -> Floats:
    """Return rays far from the constant column, which have all directions where those that are drawn leave one out."""
    N = pricing.prior.size
    return pricing.price(QuadraticForm(np.ones(N)), np.zeros(N), _ENTERING * N).best


def _dropped(workload: Floats) -> float:
    """Return the weight of rays that leave the program.

    Directions that no query asks for have columns of hardly any weight, without which the program is singular.
    """
    N = workload.shape[1]
    every_direction = np.linalg.matrix_rank(workload - workload.mean(axis=1, keepdims=True)) == N - 1
    return _DROPPED if every_direction else 0.0


def _needed(held: Floats, weights: Floats, least: float) -> NDArray[np.bool_]:
    """Return which rays have more than the least weight, or make up much of a row.

    Rays of symbols of probability 0 have entries up to exp(epsilon), and hardly any weight.
    """
    needed: NDArray[np.bool_] = (weights > least) | (weights * held.max(axis=0) > _OF_A_ROW)
    return needed


def _last_pass(pricing: ExactForms, deadline: float | None) -> float | None:
    """Return the time from which on all rays are not priced soon after the deadline."""
    entries = pricing.prior.size * pricing.rays.count(pricing.rays.kinds) if isinstance(pricing, ListedForms) else 0
    return sooner(deadline, entries / _A_SECOND - _OVER)


def bound_of(
    form: QuadraticForm, multipliers: Floats, price: Price, prior: Floats, workload: Floats, limits: Floats
) -> float:
    """Return the bound that a form proves with lambda, once it has a price.

    Examples
    --------
    >>> form, price = QuadraticForm(np.ones(2)), Price(0.5, "guess", 1)
    >>> round(bound_of(form, np.zeros(2), price, np.full(2, 0.5), np.eye(2), np.full(2, 2.0)), 9)
    2.0
    """
    root, eta = root_trace_down(form, prior, workload)
    return lower_bound(root, total_up(multipliers, price.upper, eta, limits))


def weighted(held: Floats, weights: Floats) -> Floats:
    """Return the mechanism of weighted rays; it has other weights, as other rows would put columns outside the cone."""
    used = _needed(held, weights, _DROPPED * 1e-3)
    whole: Floats = held[:, used] * full_weights(held[:, used], weights[used])
    return whole
