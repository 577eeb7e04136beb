"""A mechanism of small estimation error for many symbols: columns are found, weighted and found again.

The first columns come from Gaussian vectors z with the covariance that the bound of `caps` is attained by: the symbols
of greatest z form a set, whose column is taken. Under local differential privacy sets in which every two symbols are
together about equally often are taken too, and are nearly as good as subset selection. Then the interior point gives
weights and a matrix M, and columns of positive reduced cost ``v'Mv - <lambda, v>`` are looked for. It is convex in v,
so from any column v the column that is greatest in the linear function ``2Mv - lambda`` costs at least as much
(concave-convex procedure). Such steps start at the columns in use, at these with some noise, and at fresh Gaussian
ones. With a cap they also start with the gradients ``2Mv - lambda`` in random points v, from where columns of far
greater reduced cost are reached. A certificate is computed beside the mechanism, from its columns on.

Where the queries tell all directions, and not under local differential privacy, weights take multiplicative steps
instead (`weighted_columns`), which take much less time: thousands of columns are held, and for a hundred symbols new
ones enter three times a second. Steps to these start at gradients and at columns with noise. At the end light columns
are left out, and the others get the best weights (`lean_columns`).
"""

from __future__ import annotations

import math
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
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps
from mechdesign.optimize.estimation.column_search import ENTERING, ColumnSearch, Generated
from mechdesign.optimize.estimation.few_outputs import Finder
from mechdesign.optimize.estimation.interior_point import basis_of_sum_zero, full_weights, solve
from mechdesign.optimize.estimation.lean_columns import lean, seconds_to_weigh
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_certificate import SeparableCertificate, certificate_for_many
from mechdesign.optimize.estimation.weighted_columns import FEW_SYMBOLS, WeightedColumns
from mechdesign.optimize.method import Solution
from mechdesign.uncertainty import L1Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor

_PRECISION, _COARSE = 1e-4, 1e-2  # relative tolerances of weights; 1e-6 near the end gave no better designs
_OF_PROGRESS = 0.2  # of what the last round gained: the tolerance of the next weights
_MOST_HELD = 4_500  # columns: a step of the interior point takes time that grows with their cube
_USED = 1e-5  # a mechanism goes without columns of which every row uses less
_HELD = 3e-5  # likewise, between rounds: steps take less time; from 1e-4 on, light columns are missed that are needed
_STALLED, _WINDOW = 5e-5, 3  # relative progress over so many rounds at which to stop
_WINDOW_MULTIPLIED = 8  # likewise, of rounds in which weights take multiplicative steps
_BEGUN_EACH = 15  # columns for each symbol that a certificate begins with
_TO_CUT = 2.0  # times as long as a round: until few columns are kept
_OF_SEARCH, _CLOSE = 0.5, 1e-3  # of the time of the search, for their best weights; gap up to which they take any time
_SLOW = 5e-3  # relative progress of a round from which on a better bound is worth its time
_MOST_ROUNDS = 200
_WHOLE = 1e-12  # how far rows may be from their sum 1
_FINE = 1e-3  # of the gap asked for: the search for columns and forms goes on while it is worth more
_LONG = range(
    41, 151
)  # symbols for which the search takes so long, and a bound so short, that an early one is worth its time
_SHARE, _SHARE_MULTIPLIED = 0.85, 0.6  # of the time that is left, for the mechanism
_EARLY_SHARE = 0.5  # of the time that is left for the mechanism, for an early bound


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
    found = (
        _multiplied(search, ball.prior, workload, goal, deadline, progress) if _is_multiplied(ball, workload) else None
    )
    return found or _weighted(search, ball.prior, workload, goal, deadline, progress)


def _weighted(
    search: ColumnSearch,
    prior: Floats,
    workload: Floats,
    goal: Goal,
    deadline: float | None,
    progress: Callable[[str], None],
) -> Generated:
    """Return a mechanism of columns whose weights are the best by interior points, and to which others are added."""
    try:
        held = search.first(deadline)
        point = solve(held, prior, workload, _precision([], prior.size), deadline=deadline, unfinished=True)
    except SolverError:
        at_once = search.at_once()
        if at_once is None or not is_limited(deadline):
            raise
        return at_once
    keeps_mechanism(deadline)
    values, stopped, best, began = [point.value], None, (point, held), time.monotonic()
    try:
        while True:
            took = time.monotonic() - began
            goal = _better_bounded(goal, values, held[:, point.weights > 0])
            progress(_line(values, held.shape[1], goal, deadline))
            began = time.monotonic()
            stopped = _why_stop(values, goal, sooner(deadline, took))
            if stopped is not None:
                break
            kept = _kept(held, point.weights, search.basic)
            columns, weights = held[:, kept], point.weights[kept]
            entering = search.entering(columns, weights, point)
            if prior.size > FEW_SYMBOLS:
                columns, weights = search.moved(columns, weights, deadline)
            start = np.concatenate([weights, np.zeros(entering.shape[1])])
            further = np.hstack([columns, entering])
            point, held = solve(further, prior, workload, _precision(values, prior.size), start, deadline), further
            values.append(point.value)
            best = min(best, (point, held), key=lambda found: found[0].value)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except SolverError:  # the next step would pass the deadline
        stopped = "time limit" if time_is_up(sooner(deadline, time.monotonic() - began)) else "solver failed"
    point, matrix = best[0], _mechanism(best[1], best[0].weights)
    found = Generated(matrix, point.multipliers, point.M, point.value, len(values), stopped)
    return _or_at_once(found, search)


def _is_multiplied(ball: L1Ball, workload: Floats) -> bool:
    """Return whether weights take multiplicative steps.

    Interior points do better for sets of all priors, and workloads that leave directions out.
    """
    if ball.holds_every_prior:
        return False
    return bool(np.linalg.matrix_rank(workload @ basis_of_sum_zero(ball.size)) == ball.size - 1)


def _multiplied(
    search: ColumnSearch,
    prior: Floats,
    workload: Floats,
    goal: Goal,
    deadline: float | None,
    progress: Callable[[str], None],
) -> Generated | None:
    """Return a mechanism of columns whose weights take multiplicative steps; None if there is none in time."""
    best: WeightedColumns | None = None
    values: list[float] = []
    stopped, start = None, time.monotonic()
    whole = seconds_left(deadline) if is_limited(deadline) else np.inf
    weighing, began = seconds_to_weigh(prior.size), start
    kept_for_it = weighing if weighing <= _OF_SEARCH * whole else 0.0
    try:
        for held in search.multiplied(deadline):
            took = time.monotonic() - began
            best = held if best is None or held.value < best.value else best
            values.append(best.value)
            keeps_mechanism(deadline)
            goal = _better_bounded(goal, values, held.heaviest(_BEGUN_EACH * len(held.columns))[0])
            progress(_line(values, held.weights.size, goal, deadline, "search round"))
            stopped = _why_stop(values, goal, sooner(deadline, _TO_CUT * took + kept_for_it), _WINDOW_MULTIPLIED)
            if stopped is not None:
                break
            began = time.monotonic()
    except KeyboardInterrupt:
        if best is None:
            raise
        stopped = "interrupted"
    except SolverError:  # columns leave a direction out, or rows cannot be made to sum to 1
        stopped = "solver failed"
    if best is None:
        return None
    is_close = best.value - goal.bound <= _CLOSE * best.value
    worth = np.inf if is_close else _OF_SEARCH * (time.monotonic() - start)
    best = lean(best, workload, prior, worth, deadline, progress)
    matrix: Floats = best.columns * best.weights
    result = Generated(matrix, best.multipliers, best.M, best.value, len(values), stopped or "")
    return _or_at_once(result, search)


def _or_at_once(found: Generated, search: ColumnSearch) -> Generated:
    """Return what was found, or the mechanism that needs no search if its error is less."""
    return min(found, search.at_once() or found, key=attrgetter("value"))


def _better_bounded(goal: Goal, values: list[float], columns: Floats) -> Goal:
    """Return a goal with a better bound, where rounds have begun to gain little and one can be computed."""
    if goal.bounded is None or _progress(values) >= _SLOW:
        return goal
    return replace(goal, bound=max(goal.bounded(columns, values[-1]), goal.bound), bounded=None)


def _mechanism(columns: Floats, weights: Floats) -> Floats:
    """Return columns times weights whose sum is (1,...,1) up to rounding: those in use, or all if these do not do."""
    used = weights * columns.max(axis=0) > _USED
    for kept in (used, np.ones_like(used)):
        matrix: Floats = columns[:, kept] * full_weights(columns[:, kept], weights[kept])
        if np.abs(matrix.sum(axis=1) - 1).max() <= _WHOLE:
            break
    return matrix


def _why_stop(values: list[float], goal: Goal, deadline: float | None, window: int = _WINDOW) -> str | None:
    """Return why to stop, an empty text if the bound is met, and None to go on."""
    last = values[-1]
    if last - goal.bound <= goal.tolerance * last:
        return ""
    if time_is_up(deadline):
        return "time limit"
    stalls = len(values) > window and values[-1 - window] - last <= _STALLED * last
    return "stalled" if stalls or len(values) >= _MOST_ROUNDS else None


def _progress(values: list[float]) -> float:
    """Return by how much the last round lowered the error, relative to it."""
    return (values[-2] - values[-1]) / values[-1] if len(values) > 1 else 1.0


def _precision(values: list[float], size: int) -> float:
    """Return the tolerance of the next weights: a share of what the last round gained."""
    return _PRECISION if size <= FEW_SYMBOLS else min(max(_OF_PROGRESS * _progress(values), _PRECISION), _COARSE)


def _line(values: list[float], columns: int, goal: Goal, deadline: float | None, step: str = "interior point") -> str:
    """Return what a round has come to."""
    number, value = len(values), min(values)
    gap = (value - goal.bound) / value
    if gap > goal.closed:
        return f"{step} {number}: {columns} columns, error {value:.9g}, gap {100 * gap:.3g} %"
    left = np.inf if deadline is None else seconds_left(deadline)
    until = f"for at most {left:.0f} s more" if left < np.inf else "until rounds gain little"
    return (
        f"improving {until}, Ctrl-C keeps it: certified within {100 * gap:.3g} %, {step} {number}, "
        f"{columns} columns, error {value:.9g}"
    )


def _kept(columns: Floats, weights: Floats, basic: int) -> NDArray[np.int64]:
    """Return which columns stay: those that some row uses, but no more than leave room for others.

    The first ones form a mechanism, and always stay.
    """
    size = len(columns)
    shares = weights * columns.max(axis=0)
    room = max(_MOST_HELD - ENTERING * size, size) - basic
    heaviest = np.argsort(-shares, kind="stable")[: max(room, 0)]
    return np.union1d(np.arange(basic), heaviest[shares[heaviest] > (_USED if size <= FEW_SYMBOLS else _HELD)])


def _near_one(workload: Floats, progress: Callable[[str], None]) -> Floats:
    """Return queries over a power of 2, such that the greatest coefficient is from 1/2 to 1.

    A form and lambda prove as much for queries in any unit.
    """
    power = math.frexp(np.nextafter(np.abs(workload).max(), 0))[1]
    if power:
        progress(f"errors until the end are in units of {math.ldexp(1.0, 2 * power):g}, as queries are far from 1")
    result: Floats = np.ldexp(workload, -power)
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
    prior, limits, workload = pricing.ball.prior, pricing.limits, _near_one(workload, progress)
    progress("bounding the error from the greatest entries of columns")
    bound = bound_of_caps(best_caps(prior, limits, workload, deadline), prior, limits, workload)
    certify = partial(certificate_for_many, pricing, workload, progress=progress)
    early: list[SeparableCertificate] = []

    def bounded(held: Floats, error: float) -> float:
        early.append(certify(held, share_until(searching, _EARLY_SHARE), enough=0.0, error=error))
        return early[0].lower_bound

    searching = share_until(deadline, _SHARE_MULTIPLIED if _is_multiplied(pricing.ball, workload) else _SHARE)
    found = generate(
        pricing.ball,
        pricing.exp_epsilon,
        workload,
        np.random.default_rng(0),
        floor=pricing.floor,
        goal=Goal(bound, _FINE * tol, tol, bounded if prior.size in _LONG else None),
        deadline=searching,
        progress=progress,
    )
    columns = found.heaviest(prior, _BEGUN_EACH * prior.size)
    begin = replace(early[0], held=np.hstack([columns, early[0].held])) if early else columns
    proved = certify(begin, deadline, enough=(1 - tol) * found.value, error=found.value)
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


def columns_to_try(pricing: SeparablePricing, workload: Floats, deadline: float | None) -> Finder:
    """Return what finds columns of great reduced cost for a mechanism, until a deadline."""
    search = ColumnSearch(pricing.ball, pricing.exp_epsilon, workload, np.random.default_rng(0), pricing.floor)
    return partial(search.to_try, deadline=deadline)
