"""Weights of many columns, multiplied until they are nearly the best, while the lightest columns are dropped.

For the best weights ``v'Mv = <lambda, v>`` at every column in use. So each weight is multiplied by a power of
``v'Mv / <lambda, v>``, as in the algorithms for optimal designs of experiments, and all of them are repaired so that
rows sum to 1. A step takes about ``N^2 k`` operations for k columns, and tens of thousands of columns are weighed in
the time that an interior point needs for a few thousand. Powers near 1 converge surely and slowly. A high power is
tried, and halved where the error would rise.

Most columns of a large random set get hardly any weight. Dropping them by fifths, with steps between, leaves columns
that are better than a small random set, and sweeps of exchanges (`exchange`) improve these.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import share_until, sooner, time_is_up
from mechdesign.optimize.estimation.exchange import WHOLE, ErrorOfColumns, Exchanged
from mechdesign.optimize.estimation.interior_point import full_weights
from mechdesign.optimize.estimation.linear_oracle import LinearOracle

MOST_COLUMNS = 12_000  # about; more lower the error further, and take room in files and time in proofs
_AT_ONCE = 0.4  # of these, drawn for a first mechanism
_DRAWING = 0.25  # of the time that is left, for further columns
_POWER, _LEAST_POWER = 8.0, 0.25
_FASTER = 1.2  # the power is multiplied by after a step that gained
_OFF = 0.1  # of what a step gained, relative: how far rows may be from their sum 1
_LEAST, _GREATEST = 0.5, 1.5  # of the ratio that is raised to the power
_LEAST_SHARE = 0.1  # of a weight that is left when rows are repaired
_REPAIRS = 3
_KEPT = 0.8  # of the columns, when the lightest are dropped
_STEPS_AT_FIRST, _STEPS = 3, 2  # before the first columns are dropped, and after each time
_STEPS_OF_SWEEP = 4  # after each sweep
_STALLED = 1e-6  # relative, of a step
_WEIGHABLE = 4_500  # columns by interior points, whose steps take time that grows with their cube
_FOR_EACH = 10  # columns for each symbol that a search for few outputs begins with, where there are more than these


def multiplied(program: ErrorOfColumns, at: Exchanged, steps: int, deadline: float | None = None) -> Exchanged:
    """Return a mechanism of the same columns with better weights; its error is never above the given one.

    Parameters
    ----------
    program : ErrorOfColumns
        Of the workload.
    at : Exchanged
        The mechanism to start from.
    steps : int
        How many times weights are multiplied, at most. It ends sooner where steps gain less than a millionth.
    deadline : float, optional
        A time of `time.monotonic` by which the last step ends, if it takes as long as the one before.

    Examples
    --------
    >>> columns = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> program = ErrorOfColumns(np.eye(2))
    >>> even = program.evaluated(columns, np.array([0.25, 0.25, 0.5]))
    >>> found = multiplied(program, even, 50)
    >>> round(even.value, 6), round(found.value, 6), found.weights.round(4)
    (1.0, 0.5, array([0.5, 0.5, 0. ]))
    """
    power, took = _POWER, 0.0
    for _ in range(steps):
        if time_is_up(sooner(deadline, took)) or power < _LEAST_POWER:
            break
        began = time.monotonic()
        fitted = at.multipliers @ at.columns
        ratio = np.divide(at.costs, fitted, out=np.full_like(fitted, _GREATEST), where=fitted > 0)
        weights = at.weights * np.clip(ratio, _LEAST, _GREATEST) ** power
        found = _evaluated(program, at, weights / weights.sum())
        gained = 0.0 if found is None else at.value - found.value
        if found is None or gained <= 0:
            power /= 2
        else:
            at, power = found, min(_FASTER * power, _POWER)
            if gained <= _STALLED * at.value:
                break
        took = time.monotonic() - began
    return at


def _evaluated(program: ErrorOfColumns, at: Exchanged, weights: Floats) -> Exchanged | None:
    """Return the mechanism of other weights, repaired; None where it has no error below the one at hand."""
    try:
        found = program.evaluated(at.columns, _repaired(at, weights))
    except np.linalg.LinAlgError:
        return None
    if not 0 < found.value < at.value:
        return None
    # Rows that are off by little sum to 1 when they are repaired; those off by more have another error then.
    return found if found.off <= _OFF * (at.value - found.value) / at.value else whole(program, at.columns, weights)


def _repaired(at: Exchanged, weights: Floats) -> Floats:
    """Return weights near some whose rows sum to 1, from the information of weights that are not far from them."""
    for _ in range(_REPAIRS):
        share = np.linalg.solve(at.information, 1 - at.columns @ weights)
        weights = weights * np.maximum(1 + share @ at.columns, _LEAST_SHARE)
    return weights


def whole(program: ErrorOfColumns, columns: Floats, weights: Floats) -> Exchanged | None:
    """Return the mechanism of columns and weights near given ones whose rows sum to 1; None if there are none."""
    try:
        found = program.evaluated(columns, full_weights(columns, weights))
    except np.linalg.LinAlgError:
        return None
    return found if found.off <= WHOLE and found.value > 0 else None


def lightened(program: ErrorOfColumns, at: Exchanged, most: int, deadline: float | None = None) -> Exchanged | None:
    """Return a mechanism of at most so many of the columns, its weights multiplied; None if there is none.

    The lightest columns are dropped by fifths with steps between, and all at once when time is up.
    """
    at = multiplied(program, at, _STEPS_AT_FIRST, deadline)
    took = 0.0
    while at.weights.size > most:
        began = time.monotonic()
        kept = most if time_is_up(sooner(deadline, took)) else max(most, int(_KEPT * at.weights.size))
        heaviest = np.sort(np.argsort(-at.weights, kind="stable")[:kept])
        found = whole(program, at.columns[:, heaviest], at.weights[heaviest])
        if found is None:
            return None
        at = multiplied(program, found, _STEPS, deadline)
        took = time.monotonic() - began
    return at


def of_heaviest(matrix: Floats, prior: Floats, workload: Floats, most: int, deadline: float | None = None) -> Floats:
    """Return a mechanism of the heaviest columns of one that has more than interior points can weigh.

    It keeps a few columns for each symbol, or so many as there may be outputs if that is more. A mechanism of at most
    4,500 columns stays as it is, and so does one whose heaviest columns are no mechanism.

    Parameters
    ----------
    matrix : array, shape (N, k)
        The mechanism.
    prior : array, shape (N,)
        P, positive.
    workload : array, shape (q, N)
        W.
    most : int
        How many outputs there may be.
    deadline : float or None
        A time of `time.monotonic` at which weights are no longer multiplied.
    """
    if matrix.shape[1] <= max(_WEIGHABLE, most):
        return matrix
    weights = prior @ matrix
    program = ErrorOfColumns(workload)
    at = whole(program, matrix / weights, weights)
    fewer = at and lightened(program, at, max(most, _FOR_EACH * len(matrix)), deadline)
    repaired = fewer and whole(program, fewer.columns, fewer.weights)
    return repaired.columns * repaired.weights if repaired else matrix


def sweeps(
    groups: Iterator[Floats],
    workload: Floats,
    oracle: LinearOracle,
    rng: np.random.Generator,
    deadline: float | None,
    most: int = MOST_COLUMNS,
) -> Iterator[Exchanged]:
    """Give a mechanism of the first groups of columns, one of the best of all, and that after each further sweep.

    The error never rises from one to the next. It ends at the deadline, or where the columns give no mechanism.

    Parameters
    ----------
    groups : iterator of array, shape (N, k)
        Columns with ``<P, v> = 1``; as many are drawn as a share of the time allows.
    workload : array, shape (q, N)
        W, of rank N or N - 1.
    oracle : LinearOracle
        Finds columns.
    rng : numpy.random.Generator
        Puts columns into blocks.
    deadline : float or None
        A time of `time.monotonic`.
    most : int
        How many columns a mechanism may have.
    """
    program, count = ErrorOfColumns(workload), 0
    drawn: list[Floats] = []
    for group in groups:
        drawn, count = [*drawn, group], count + group.shape[1]
        if count >= _AT_ONCE * most:
            break
    first = _even(program, drawn)
    if first is None:
        return
    yield first
    until = share_until(deadline, _DRAWING)
    while not time_is_up(until) and (further := next(groups, None)) is not None:
        drawn.append(further)
    everything = _even(program, drawn) or first
    found = lightened(program, everything, most, deadline)
    at = _better(program, found, first)
    yield at
    took = 0.0
    while not time_is_up(sooner(deadline, took)):
        began = time.monotonic()
        try:
            columns = program.swept(at.columns, at.weights, oracle, rng, deadline)
        except (np.linalg.LinAlgError, SolverError):  # no time for a whole sweep
            return
        swept = _better(program, whole(program, columns, at.weights), at)
        at = _better(program, multiplied(program, swept, _STEPS_OF_SWEEP, deadline), swept)
        yield at
        took = time.monotonic() - began


def _even(program: ErrorOfColumns, drawn: list[Floats]) -> Exchanged | None:
    """Return the mechanism of all columns with about equal weights."""
    columns = np.hstack(drawn)
    return whole(program, columns, np.full(columns.shape[1], 1 / columns.shape[1]))


def _better(program: ErrorOfColumns, found: Exchanged | None, least: Exchanged) -> Exchanged:
    """Return a mechanism that was found, its rows repaired, if its error is below another one's."""
    if found is None or found is least:
        return least
    repaired = found if found.off <= WHOLE else whole(program, found.columns, found.weights)
    return repaired if repaired is not None and repaired.value < least.value else least
