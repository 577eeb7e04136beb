"""A mechanism of small estimation error for many symbols: columns are found, weighted and found again.

The first columns come from Gaussian vectors z with the covariance that the bound of `caps` is attained by: the symbols
of greatest z form a set, whose column is taken. Under local differential privacy sets in which every two symbols are
together about equally often are taken too, and are nearly as good as subset selection. Then the interior point gives
weights and a matrix M, and columns of positive reduced cost ``v'Mv - <lambda, v>`` are looked for. It is convex in v,
so from any column v the column that is greatest in the linear function ``2Mv - lambda`` costs at least as much
(concave-convex procedure). Such steps start at the columns in use, at these with some noise, and at fresh Gaussian
ones. A certificate is computed beside the mechanism, from its columns on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import is_limited, keeps_mechanism, seconds_left, share_until, sooner, time_is_up
from mechdesign.optimize.estimation.caps import MOST_SYMBOLS_IN_FORMS, best_caps, bound_of_caps, greatest_entries
from mechdesign.optimize.estimation.cyclic_sets import cyclic_sets
from mechdesign.optimize.estimation.interior_point import ColumnWeights, full_weights, solve
from mechdesign.optimize.estimation.linear_oracle import LinearOracle
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_certificate import SeparableCertificate, certificate_for_many
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.master import Master, spread
from mechdesign.optimize.method import Solution
from mechdesign.optimize.start import start_columns
from mechdesign.uncertainty import L1Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import ChiSquare
from mechdesign.utility.query_variances import variances_of_matrix

_FIRST, _FRESH = 6, 3  # Gaussian columns for each symbol, at first and in each round
_LEAST_FRESH = 100
_FAMILIES, _MOST_SHIFTED = 10, 3_000  # sets that are shifted, and all their shifts
_FAMILIES_AT_ONCE = 3  # likewise, of a mechanism without a search
_ENTERING = 4  # columns of greatest reduced cost for each symbol that enter in a round
_NOISE = 0.5
_MOST_CLIMBS = 40
_PRECISION, _COARSE = 1e-4, 1e-2  # relative tolerances of weights; 1e-6 near the end gave no better designs
_FEW = 60  # symbols up to which steps are quick: coarse weights or fewer columns held gave worse designs, by up to 2 %
_OF_PROGRESS = 0.2  # of what the last round gained: the tolerance of the next weights
_MOST_HELD = 4_500  # columns: a step of the interior point takes time that grows with their cube
_USED = 1e-5  # a mechanism goes without columns of which every row uses less
_HELD = 3e-5  # likewise, between rounds: steps take less time; from 1e-4 on, light columns are missed that are needed
_STALLED, _WINDOW = 5e-5, 3  # relative progress over so many rounds at which to stop
_SLOW = 5e-3  # relative progress of a round from which on a better bound is worth its time
_MOST_ROUNDS = 200
_WHOLE = 1e-12  # how far rows may be from their sum 1
_FINE = 1e-3  # of the gap asked for: the search for columns and forms goes on while it is worth more
_LONG = 40  # symbols from which on the search takes so long that an early bound is worth its time
_SHARE = 0.7  # of the time that is left, for the mechanism
_EARLY_SHARE = 0.25  # of the time that is left for the mechanism, for an early bound
_SECONDS_AN_ENTRY = 1.2e-6  # of a first linear program, or less
_SECONDS_AN_OPERATION, _STEPS = 5e-11, 10  # of a step of the interior point, or less; and how many steps to expect
_FEWEST_HELD = 2  # columns for each symbol, however little time there is


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


@dataclass(frozen=True)
class Goal:
    """What an error is held against while columns are searched.

    Attributes
    ----------
    bound : float
        A lower bound of the error.
    tolerance : float
        The search stops when the error is above the bound by at most this share of itself.
    closed : float
        The relative gap from which on reports say that the mechanism is certified.
    bounded : callable, optional
        Returns a better lower bound from the columns in use and the error. It is called once, when rounds begin to gain
        little, so that reports show a true gap.
    """

    bound: float = 0.0
    tolerance: float = 1e-4
    closed: float = 0.0
    bounded: Callable[[Floats, float], float] | None = None


def generate(
    ball: L1Ball,
    exp_epsilon: float,
    workload: Floats,
    rng: np.random.Generator,
    *,
    floor: Floor = NO_FLOOR,
    goal: Goal | None = None,
    deadline: float | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Generated:
    """Return a mechanism of small estimation error for a ball.

    Parameters
    ----------
    ball : L1Ball
        The set of priors.
    exp_epsilon : float
        exp(epsilon), above 1.
    workload : array, shape (q, N)
        W.
    rng : numpy.random.Generator
        All randomness there is.
    floor : Floor
        A cap for everyone, if there is one.
    goal : Goal, optional
        The bounds that the error is held against.
    deadline : float or None
        When to stop, as a time of `time.monotonic`. If no weights are found by then, the mechanism is one of sets of
        equally many symbols, shifted, which is private for every two symbols.
    progress : callable
        Called with one line for each round.

    Raises
    ------
    SolverError
        If no mechanism determines the answers of the queries, or the first interior point fails.

    Examples
    --------
    >>> found = generate(L1Ball([0.25] * 4), 2.0, np.eye(4), np.random.default_rng(0))
    >>> round(found.value, 6), found.matrix.sum(axis=1).round(12)
    (2.25, array([1., 1., 1., 1.]))
    """
    goal, search = goal or Goal(), ColumnSearch(ball, exp_epsilon, workload, rng, floor)
    try:
        held = search.first(deadline)
        point = solve(held, ball.prior, workload, _precision([], ball.size), deadline=deadline, unfinished=True)
    except SolverError:
        if not is_limited(deadline):
            raise
        return search.at_once()
    keeps_mechanism(deadline)
    values, stopped, best, began = [point.value], None, (point, held), time.monotonic()
    try:
        while True:
            if goal.bounded is not None and _progress(values) < _SLOW:
                bound = goal.bounded(held[:, point.weights > 0], point.value)
                goal = replace(goal, bound=max(bound, goal.bound), bounded=None)
            progress(_line(values, held.shape[1], goal, deadline))
            took, began = time.monotonic() - began, time.monotonic()
            stopped = _why_stop(values, goal, sooner(deadline, took))
            if stopped is not None:
                break
            used = _kept(held, point.weights, search.basic)
            entering = search.entering(held[:, used], point.weights[used], point)
            start = np.concatenate([point.weights[used], np.zeros(entering.shape[1])])
            further = np.hstack([held[:, used], entering])
            point, held = solve(further, ball.prior, workload, _precision(values, ball.size), start, deadline), further
            values.append(point.value)
            best = min(best, (point, held), key=lambda found: found[0].value)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except SolverError:  # the interior point stops where its next step would pass the deadline
        stopped = "time limit" if time_is_up(sooner(deadline, time.monotonic() - began)) else "solver failed"
    point, matrix = best[0], _mechanism(best[1], best[0].weights)
    found = Generated(matrix, point.multipliers, point.M, point.value, len(values), stopped)
    return min(found, search.at_once(), key=attrgetter("value")) if stopped == "time limit" else found


def _mechanism(columns: Floats, weights: Floats) -> Floats:
    """Return columns times weights whose sum is (1,...,1) up to rounding: those in use, or all if these do not do."""
    used = weights * columns.max(axis=0) > _USED
    for kept in (used, np.ones_like(used)):
        matrix: Floats = columns[:, kept] * full_weights(columns[:, kept], weights[kept])
        if np.abs(matrix.sum(axis=1) - 1).max() <= _WHOLE:
            break
    return matrix


def _why_stop(values: list[float], goal: Goal, deadline: float | None) -> str | None:
    """Return why to stop, an empty text if the bound is met, and None to go on."""
    last = values[-1]
    if last - goal.bound <= goal.tolerance * last:
        return ""
    if time_is_up(deadline):
        return "time limit"
    stalls = len(values) > _WINDOW and values[-1 - _WINDOW] - last <= _STALLED * last
    return "stalled" if stalls or len(values) >= _MOST_ROUNDS else None


def _progress(values: list[float]) -> float:
    """Return by how much the last round lowered the error, relative to it."""
    return (values[-2] - values[-1]) / values[-1] if len(values) > 1 else 1.0


def _precision(values: list[float], size: int) -> float:
    """Return the tolerance of the next weights: a share of what the last round gained."""
    return _PRECISION if size <= _FEW else min(max(_OF_PROGRESS * _progress(values), _PRECISION), _COARSE)


def _line(values: list[float], columns: int, goal: Goal, deadline: float | None) -> str:
    """Return what a round has come to."""
    number, value = len(values), min(values)
    gap = (value - goal.bound) / value
    if gap > goal.closed:
        return f"interior point {number}: {columns} columns, error {value:.9g}, gap {100 * gap:.3g} %"
    left = np.inf if deadline is None else seconds_left(deadline)
    until = f"for at most {left:.0f} s more" if left < np.inf else "until rounds gain little"
    return (
        f"improving {until}, Ctrl-C keeps it: certified within {100 * gap:.3g} %, interior point {number}, "
        f"{columns} columns, error {value:.9g}"
    )


def _kept(columns: Floats, weights: Floats, basic: int) -> NDArray[np.int64]:
    """Return which columns stay: those that some row uses, but no more than leave room for others.

    The first ones form a mechanism, and always stay.
    """
    size = len(columns)
    shares = weights * columns.max(axis=0)
    room = max(_MOST_HELD - _ENTERING * size, size) - basic
    heaviest = np.argsort(-shares, kind="stable")[: max(room, 0)]
    return np.union1d(np.arange(basic), heaviest[shares[heaviest] > (_USED if size <= _FEW else _HELD)])


def _most_in_time(size: int, count: int, seconds: float) -> int:
    """Return how many of some columns the first interior point can hold; steps take about as many operations."""
    operations = seconds / (_SECONDS_AN_OPERATION * _STEPS) - 60 * size**3
    least = min(_FEWEST_HELD * size, count)
    return max(
        (k for k in (*range(least, count, size), count) if k**3 / 3 + 4 * k**2 * size <= operations), default=least
    )


class ColumnSearch:
    """Finds columns of the cone."""

    def __init__(
        self, ball: L1Ball, exp_epsilon: float, workload: Floats, rng: np.random.Generator, floor: Floor = NO_FLOOR
    ) -> None:
        self._ball, self._exp_epsilon, self._rng, self._floor = ball, exp_epsilon, rng, floor
        self._workload, self.basic = workload, 0
        self._oracle = LinearOracle(L1Cone.of(ball, exp_epsilon, floor))

    def first(self, deadline: float | None = None) -> Floats:
        """Return columns of which the first `basic` form a mechanism, and no more than there is time for."""
        N = self._ball.size
        windows = start_columns(self._ball, self._exp_epsilon, ChiSquare(), self._floor)
        gaussian = self._gaussian(self._best_covariance(deadline), max(_FIRST * N, _LEAST_FRESH))
        independent = self._gaussian(np.eye(N), N)  # so that columns span all directions, also for few queries
        found = self._oracle.best(np.hstack([gaussian, independent]))
        families = max(1, min(_FAMILIES, _MOST_SHIFTED // N)) if self._ball.holds_every_prior else 0
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

    def at_once(self) -> Generated:
        """Return a mechanism of cyclic sets, which needs no search."""
        ball, N = self._ball, self._ball.size
        columns = self._even_sets(_FAMILIES_AT_ONCE)
        matrix: Floats = columns / columns[0].sum()  # each row has the same entries
        value = float(variances_of_matrix(matrix, ball.prior, self._workload).sum())
        return Generated(matrix, np.zeros(N), np.zeros((N, N)), value, 0, "time limit")

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
        columns = np.hstack([active, self._oracle.best(np.hstack(functions))])
        columns = self._climbed(columns, point)
        costs = _reduced_costs(columns, point)
        positive = np.flatnonzero(costs > 1e-9 * point.value)
        columns = columns[:, positive[np.argsort(-costs[positive], kind="stable")]]
        return self._without_copies(columns)[:, : _ENTERING * N]

    def to_try(self, point: ColumnWeights, wanted: int) -> Floats:
        """Return columns of great reduced cost, found from fresh Gaussian vectors."""
        columns = self._climbed(self._oracle.best(self._gaussian(self._best_covariance(), wanted)), point)
        return self._without_copies(columns)[:, :wanted]

    def _climbed(self, columns: Floats, point: ColumnWeights) -> Floats:
        """Return the columns at which the steps from some columns end."""
        ended = []
        costs = _reduced_costs(columns, point)
        for _ in range(_MOST_CLIMBS):
            further = self._oracle.best(2 * point.M @ columns - point.multipliers[:, None])
            reached = _reduced_costs(further, point)
            better = reached > costs + 1e-9 * point.value
            ended.append(columns[:, ~better])
            columns, costs = further[:, better], reached[better]
            if not costs.size:
                break
        return np.hstack([*ended, columns])

    def _gaussian(self, covariance: Floats, count: int) -> Floats:
        """Return Gaussian vectors as linear functions, whose ratios to P have variance 1."""
        values, vectors = np.linalg.eigh(covariance)
        drawn = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * self._rng.standard_normal((len(values), count)))
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
        keys = (self._rng.standard_normal((2, len(columns))) @ columns).round(9)
        _, first = np.unique(keys, axis=1, return_index=True)
        return columns[:, np.sort(first)]


def _reduced_costs(columns: Floats, point: ColumnWeights) -> Floats:
    """Return ``v'Mv - <lambda, v>`` of each column."""
    result: Floats = np.einsum("ik,ik->k", columns, point.M @ columns) - point.multipliers @ columns
    return result


def solve_generated(
    pricing: SeparablePricing,
    workload: Floats,
    tol: float,
    deadline: float | None,
    progress: Callable[[str], None],
) -> tuple[Solution, QuadraticForm]:
    """Return a mechanism of small error with lambda, and the form that proves how small it can be beside lambda.

    The mechanism is found by a search from random columns, with a seed that never changes. Its columns begin the search
    for the certificate.

    Parameters
    ----------
    pricing : SeparablePricing
        Of the problem.
    workload : array, shape (q, N)
        W.
    tol : float
        The relative gap that counts as closed.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    progress : callable
        Called with one line for each round.

    Raises
    ------
    SolverError
        If no mechanism determines the queries.
    """
    prior, limits = pricing.ball.prior, pricing.limits
    progress("bounding the error from the greatest entries of columns")
    bound = bound_of_caps(best_caps(prior, limits, workload, deadline), prior, limits, workload)
    certify = partial(certificate_for_many, pricing, workload, progress=progress)
    early: list[SeparableCertificate] = []

    def bounded(held: Floats, error: float) -> float:
        early.append(certify(held, share_until(searching, _EARLY_SHARE), enough=0.0, error=error))
        return early[0].lower_bound

    searching = share_until(deadline, _SHARE)
    found = generate(
        pricing.ball,
        pricing.exp_epsilon,
        workload,
        np.random.default_rng(0),
        floor=pricing.floor,
        goal=Goal(bound, _FINE * tol, tol, bounded if prior.size > _LONG else None),
        deadline=searching,
        progress=progress,
    )
    columns = found.matrix / (prior @ found.matrix)
    held = np.hstack([columns, *(certificate.held for certificate in early)])
    proved = certify(held, deadline, enough=(1 - tol) * found.value, error=found.value)
    proved = max([proved, *early], key=lambda certificate: certificate.lower_bound)
    closed = found.value - proved.lower_bound <= tol * found.value
    stopped = "" if closed else "time limit" if time_is_up(deadline) else "stalled"
    return (
        Solution(
            found.matrix,
            proved.multipliers,
            columns.shape[1] + proved.held.shape[1],
            found.rounds,
            stopped,
            price=proved.price,
        ),
        proved.form,
    )
