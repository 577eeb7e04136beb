"""Fewer outputs at a small loss, by a search.

The lightest columns are dropped, some at a time, and the others weighted anew. Then rounds follow, in
each of which columns of positive reduced cost enter and the lightest ones are dropped again; what is better is kept.
Searches end at different mechanisms, and further ones start from the columns of two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.deadline import sooner, time_is_up, with_time_for
from mechdesign.optimize.estimation.interior_point import ColumnWeights, basis_of_sum_zero, full_weights, solve
from mechdesign.optimize.estimation.weighted_columns import cut_to, lightened

_SHARE = 0.13  # of the columns that is dropped at a time
_STARTS, _JOINED, _ROUNDS = 3, 6, 150
_IDLE = 60  # rounds without anything better after which a search ends
_SPREAD = 0.5  # of the logarithms of weights, at the second start
_POOL, _REFRESHED = 150, 10  # columns to try for each symbol, and the rounds after which they are looked for again
_ENTERING = (1.0, 0.5, 0.25)  # columns for each symbol that enter in a round, in turn
_MERGES = 50  # pairs of columns that are tried, where none can be dropped
_NEAREST = 4  # columns that enter near a held one
_FINE, _TOLERANCE, _COARSE = 1e-8, 1e-6, 1e-3  # of weights: in the end, of columns few enough, on the way there
_LEAST_SECONDS = 3.0  # for a first search, where another mechanism is known
_BETTER = 1e-6
_USED = 1e-9
_EVIDENT = 0.1  # least factor of weights of which no better ones are looked for
_LEFT = 1e-3  # least factor of weights that a column keeps when others are dropped
_FLAT = 1e-12  # of the greatest curvature
_WHOLE = 1e-9


class Finder(Protocol):
    """What finds columns to try."""

    def __call__(self, point: ColumnWeights, wanted: int, /) -> Floats:
        """Return columns of great ``v'Mv - <lambda, v>`` with ``<P, v> = 1``, shape (N, at most wanted)."""


def scaled(matrix: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the columns of a mechanism, scaled to ``<P, v> = 1``, and their weights."""
    weights = prior @ matrix
    return matrix[:, weights > 0] / weights[weights > 0], weights[weights > 0]


def least_outputs(workload: Floats) -> int:
    """Return the fewest outputs whose reports can determine every query.

    The columns must span the queries, and their sum is (1,...,1).

    Examples
    --------
    >>> least_outputs(np.eye(5)), least_outputs(np.array([[1.0, 1.0, 0.0, 0.0]]))
    (5, 2)
    """
    return int(np.linalg.matrix_rank(np.vstack([workload, np.ones(workload.shape[1])])))


def with_few_outputs(
    matrix: Floats,
    most: int,
    prior: Floats,
    workload: Floats,
    finder: Finder,
    known: Sequence[Floats] = (),
    *,
    deadline: float | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> Floats:
    """Return a mechanism of small error with at most so many outputs.

    It is the best one that a search finds; nothing is proved about other mechanisms with so few outputs.

    Parameters
    ----------
    matrix : array, shape (N, k)
        The mechanism to start from.
    most : int
        How many outputs there may be.
    prior : array, shape (N,)
        P, positive.
    workload : array, shape (q, N)
        W.
    finder : callable
        Finds columns to try.
    known : sequence of arrays, shape (N, k)
        Mechanisms with few enough outputs; a search begins from the best if others have found no better one.
    deadline : float or None
        When to stop, as a time of `time.monotonic`; if none is known a first one is found nevertheless.
    progress : callable
        Called with one line for each search.

    Raises
    ------
    SolverError
        If the search finds no mechanism with so few outputs from which the queries can be estimated.

    Examples
    --------
    >>> finder = lambda point, wanted: np.empty((2, 0))
    >>> matrix = np.array([[0.4, 0.2, 0.4], [0.2, 0.4, 0.4]])
    >>> with_few_outputs(matrix, 2, np.array([0.5, 0.5]), np.eye(2), finder).round(4)
    array([[0.6667, 0.3333],
           [0.3333, 0.6667]])
    """
    columns, weights = scaled(matrix, prior)
    if columns.shape[1] <= most:
        return matrix
    columns, weights = lightened(columns, weights, workload, most)
    program, cut = _Limited(prior, workload, most), cut_to(columns, weights, workload, most)
    mechanisms = [scaled(one, prior) for one in known] + ([] if cut is None else [cut])
    starts = [(held, program.weighted(held, masses, _TOLERANCE)) for held, masses in mechanisms]
    best = min(starts, key=lambda pair: pair[1].value, default=None)
    late = cut is not None and time_is_up(sooner(deadline, -_LEAST_SECONDS))
    found = [best] if best is not None and late else _found(program, columns, weights, best, finder, deadline, progress)
    if not found:
        raise SolverError.no_mechanism_found(
            f"the search found no mechanism with at most {most} outputs that determines every query; allow more outputs"
        )
    held, point = min(found, key=lambda pair: pair[1].value)
    result: Floats = held * full_weights(held, program.weighted(held, point.weights, _FINE).weights)
    return result


Held = tuple[Floats, ColumnWeights]


def _found(
    program: _Limited,
    columns: Floats,
    weights: Floats,
    best: Held | None,
    finder: Finder,
    deadline: float | None,
    progress: Callable[[str], None],
) -> list[Held]:
    """Return what searches find from all columns, from the best mechanism that is known, and from two of these."""
    whole = program.weighted(columns, weights, _TOLERANCE)
    until = None if best is None else with_time_for(deadline, _LEAST_SECONDS)
    program = replace(program, enough=whole.value * (1 + _TOLERANCE), until=until)

    @cache
    def pool() -> Floats:
        return finder(whole, _POOL * len(columns))

    found = list(_searches(program, columns, whole, pool, finder, deadline, progress))
    if best is not None and best[1].value < min((pair[1].value for pair in found), default=np.inf):
        found.append(_searched(program, best, pool(), finder, np.random.default_rng(_STARTS), deadline))
    for number in range(_JOINED if len(found) > 1 else 0):
        found.sort(key=lambda pair: pair[1].value)
        joined = None if time_is_up(deadline) else program.joined(found[0], found[1 + number % (len(found) - 1)])
        if found[0][1].value <= program.enough or joined is None:
            continue
        found.append(_searched(program, joined, pool(), finder, np.random.default_rng(_STARTS + number), deadline))
        progress(f"at most {program.most} outputs, from two mechanisms: error {found[-1][1].value:.9g}")
    return found


def _searches(
    program: _Limited,
    columns: Floats,
    whole: ColumnWeights,
    pool: Callable[[], Floats],
    finder: Finder,
    deadline: float | None,
    progress: Callable[[str], None],
) -> Iterator[Held]:
    """Yield what searches find that begin with all columns, each with other weights, until one finds enough."""
    looked = False
    for start in range(_STARTS):
        if looked and time_is_up(deadline):
            return
        rng = np.random.default_rng(start)
        spread = np.exp(_SPREAD * start * rng.standard_normal(columns.shape[1]))
        first = program.pruned(columns, replace(whole, weights=whole.weights * spread), np.inf)
        if first is None or first[0].shape[1] > program.most:
            continue
        looked, found = True, _searched(program, first, pool(), finder, rng, deadline)
        progress(f"at most {program.most} outputs, search {start + 1}: error {found[1].value:.9g}")
        yield found
        if found[1].value <= program.enough:
            return


def _searched(
    program: _Limited, first: Held, pool: Floats, finder: Finder, rng: np.random.Generator, deadline: float | None
) -> Held:
    """Return what rounds of entering and dropping columns lead to."""
    held, point = first
    last = 0
    for number in range(_ROUNDS):
        if number - last > _IDLE:
            break
        if number and number % _REFRESHED == 0:
            pool = finder(point, _POOL * len(held))
        if point.value <= program.enough or not pool.size or time_is_up(deadline):
            break
        count = max(1, int(_ENTERING[number % len(_ENTERING)] * len(held)))
        if number % 2 == 0:
            entering = _near(pool, held, point.M, rng.permutation(held.shape[1])[: -(-count // _NEAREST)])
        else:
            entering = pool[:, np.sort(rng.permutation(pool.shape[1])[:count])]
        tried = program.tried(held, point, entering)
        if tried is not None:
            held, point = tried
            last = number
    return held, point


def _near(pool: Floats, held: Floats, M: Floats, around: NDArray[np.int64]) -> Floats:
    """Return the columns of a pool that are nearest to some held ones, but not these, in the norm of M."""
    images = M @ pool
    near = held[:, around]
    squares = np.einsum("ik,ik->k", pool, images)[:, None] - 2 * images.T @ near
    squares += np.einsum("ik,ik->k", near, M @ near)
    squares[squares < 1e-9 * np.abs(squares).max(initial=1.0)] = np.inf
    nearest: Floats = pool[:, np.unique(np.argsort(squares, axis=0, kind="stable")[:_NEAREST])]
    return nearest


@dataclass(frozen=True)
class _Limited:
    """The least error of columns of which at most so many have weight.

    Attributes
    ----------
    prior : array, shape (N,)
        P.
    workload : array, shape (q, N)
        W.
    most : int
        How many columns may have weight.
    enough : float
        An error at which to look no further.
    until : float or None
        When to give up dropping columns, as a time of `time.monotonic`.
    """

    prior: Floats
    workload: Floats
    most: int
    enough: float = 0.0
    until: float | None = None

    def weighted(self, columns: Floats, start: Floats, tolerance: float) -> ColumnWeights:
        """Return the best weights of columns."""
        return solve(columns, self.prior, self.workload, tolerance, start)

    def tried(self, held: Floats, point: ColumnWeights, entering: Floats) -> Held | None:
        """Return the columns that are left after some entered, if they have less error than without these."""
        columns = np.hstack([held, entering])
        wide = self._reweighted(columns, np.append(point.weights, np.zeros(entering.shape[1])))
        if wide is None:
            return None
        found = self.pruned(*wide, point.value * (1 - _BETTER))
        if found is None or found[0].shape[1] > self.most or found[1].value >= point.value * (1 - _BETTER):
            return None
        return found

    def joined(self, one: Held, other: Held) -> Held | None:
        """Return the best of the columns of two mechanisms; None if one has those of the other, or too many stay."""
        columns, weights = np.hstack([one[0], other[0]]), np.append(one[1].weights, other[1].weights)
        once = np.unique(columns.round(9), axis=1, return_index=True)[1]
        wide = None if once.size == one[0].shape[1] else self._reweighted(columns[:, once], weights[once] / 2)
        found = None if wide is None else self.pruned(*wide, np.inf)
        return None if found is None or found[0].shape[1] > self.most else found

    def pruned(self, columns: Floats, point: ColumnWeights, limit: float) -> Held | None:
        """Return columns and weights when no more are left than allowed, or when none can be dropped.

        None as soon as the error is above a limit, as it never falls when columns are dropped, or the time is up.
        """
        while True:  # each time there is a column less
            used = point.weights > _USED
            columns, point = columns[:, used], replace(point, weights=point.weights[used])
            if columns.shape[1] <= self.most:
                return columns, point
            lighter = self._without_the_lightest(columns, point) or self._with_two_merged(columns, point)
            if lighter is None:
                return columns, point
            columns, point = lighter
            if point.value * (1 - max(point.gap, 0.0)) > limit or time_is_up(self.until):
                return None

    def _without_the_lightest(self, columns: Floats, point: ColumnWeights) -> Held | None:
        """Return what is left when the lightest columns are dropped: fewer, or another one, where others need them."""
        weights = point.weights
        order = np.argsort(weights, kind="stable")
        many = max(1, min(weights.size - self.most, int(_SHARE * weights.size)))
        for halved in range(many.bit_length()):
            kept = np.sort(order[many >> halved :])
            found = self._reweighted(columns[:, kept], _weights_of_rest(columns[:, kept], weights[kept]))
            if found is not None:
                return found
        start = _one_dropped(columns, point)
        return None if start is None else self._reweighted(columns[:, start > 0], start[start > 0])

    def _reweighted(self, columns: Floats, start: Floats | None) -> Held | None:
        """Return columns with their best weights; None if they are not a mechanism that determines every query."""
        if start is None:
            return None
        try:
            return columns, self.weighted(columns, start, _COARSE if start.size > self.most else _TOLERANCE)
        except (SolverError, np.linalg.LinAlgError):
            return None

    def _with_two_merged(self, columns: Floats, point: ColumnWeights) -> Held | None:
        """Return what is left when two columns, as near as possible, become one: their weighted mean."""
        weights = point.weights
        squares = np.einsum("ik,ik->k", columns, point.M @ columns)
        losses = squares[:, None] + squares - 2 * columns.T @ (point.M @ columns)
        losses *= weights * weights[:, None] / (weights + weights[:, None])
        first, second = np.triu_indices(weights.size, 1)
        for at in np.argsort(losses[first, second], kind="stable")[:_MERGES]:
            pair = [first[at], second[at]]
            mean = columns[:, pair] @ weights[pair] / weights[pair].sum()
            rest = np.column_stack([np.delete(columns, pair, axis=1), mean])
            start = np.append(np.delete(weights, pair), weights[pair].sum())
            found = self._reweighted(rest, start)
            if found is not None:
                return found
        return None


def _weights_of_rest(columns: Floats, weights: Floats) -> Floats | None:
    """Return positive weights, near some, that give the sum (1,...,1); None if no weights far from 0 do."""
    scaled = columns * weights
    share = np.linalg.lstsq(scaled @ columns.T, 1 - scaled.sum(axis=1), rcond=None)[0]
    factors = 1 + columns.T @ share
    if factors.min() < _EVIDENT or np.abs(scaled @ factors - 1).max() > _WHOLE:
        # The last unknown is the least factor t, made as great as possible, the others what the factors exceed it by.
        rows = np.hstack([scaled, scaled.sum(axis=1, keepdims=True)])
        costs = np.append(np.zeros(weights.size), -1.0)
        found = minimum(costs, equal=(rows, np.ones(len(rows))))
        if not found.optimal or found.x[-1] < _LEFT:
            return None
        factors = found.x[:-1] + found.x[-1]
    result: Floats = weights * factors
    return result


def _one_dropped(columns: Floats, point: ColumnWeights) -> Floats | None:
    """Return weights of the same sum of columns with one of them 0 or more; None if no other weights give the sum.

    For each column there is a change of weights that takes it out at the least loss in the second order. Of the changes
    on which no other column becomes 0 before, the one of least loss is made, and if there are none such, the one that
    goes farthest.
    """
    from scipy.linalg import null_space

    weights = point.weights
    basis = null_space(columns * weights)  # changes that leave the sum of columns as it is
    if not basis.shape[1]:
        return None
    U = basis_of_sum_zero(len(columns))
    X = U.T @ columns
    inverse = np.linalg.pinv((X * weights) @ X.T, hermitian=True)
    curvature = (X.T @ inverse @ X) * (columns.T @ point.M @ columns) * weights * weights[:, None]
    values, vectors = np.linalg.eigh(basis.T @ curvature @ basis)
    half = basis @ (vectors / np.sqrt(np.maximum(values, _FLAT * max(float(values[-1]), _FLAT))))
    spread = np.einsum("kr,kr->k", half, half)
    movable = np.flatnonzero(spread > _FLAT * spread.max())
    changes = -(half @ half[movable].T) / spread[movable]  # in shares of each weight; -1 for the column itself
    with np.errstate(divide="ignore"):
        reached = np.where(changes < 0, -1 / changes, np.inf)
    steps = reached.min(axis=0)
    whole = np.flatnonzero(steps > 1 - _WHOLE)
    best = whole[int(np.argmax(spread[movable[whole]]))] if whole.size else int(np.argmax(steps))
    factors = np.maximum(1 + steps[best] * changes[:, best], 0.0)
    factors[int(np.argmin(reached[:, best]))] = 0.0
    result: Floats = weights * factors
    return result
