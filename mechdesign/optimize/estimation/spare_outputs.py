"""Outputs that can be spared without any loss.

The error depends on the information ``J = sum_y w_y v_y v_y'`` alone, and J has N(N+1)/2 entries. So of any mechanism
at most so many columns are needed, with other weights, for the same J (Caratheodory); ``J P = (1,...,1)`` then holds as
before, which says that the columns sum to (1,...,1).
"""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.few_outputs import scaled
from mechdesign.optimize.estimation.interior_point import basis_of_sum_zero, full_weights

_EPS = float(np.finfo(float).eps)
_MOST_MOMENTS = 5_050  # N(N+1)/2 above which elimination takes too long: 100 symbols
_INDEPENDENT = 1e-13  # of the greatest column of moments
_SECONDS_AN_OPERATION = 2e-10  # of elimination, or less
_SHORT = 1.0  # seconds that elimination may take past the deadline


def most_needed(size: int) -> int:
    """Return how many outputs are ever needed for the least error, ``N(N+1)/2``.

    Examples
    --------
    >>> most_needed(16)
    136
    """
    return size * (size + 1) // 2


def seconds_to_spare(size: int, count: int) -> float:
    """Return about how many seconds `without_spare_outputs` takes; infinity where it leaves a mechanism as it is.

    Parameters
    ----------
    size : int
        N.
    count : int
        Outputs of the mechanism.

    Examples
    --------
    >>> seconds_to_spare(16, 200) < 0.01, seconds_to_spare(101, 6_000)
    (True, inf)
    """
    moments = most_needed(size)
    return np.inf if moments > _MOST_MOMENTS else _SECONDS_AN_OPERATION * moments**2 * count


def without_spare_outputs(matrix: Floats, prior: Floats, deadline: float | None = None) -> Floats:
    """Return a mechanism with the same information about the prior and at most ``N(N+1)/2`` outputs.

    Its columns are columns of the mechanism, scaled. Light ones are the first to leave. Where this takes more than a
    second and the deadline comes before its end, more outputs are left.

    Parameters
    ----------
    matrix : array, shape (N, k)
        A mechanism. With more than 100 symbols it stays as it is: elimination would take minutes and gigabytes.
    prior : array, shape (N,)
        P, positive.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.

    Examples
    --------
    >>> matrix = np.array([[0.4, 0.2, 0.3, 0.1], [0.2, 0.4, 0.1, 0.3]])
    >>> lean = without_spare_outputs(matrix, np.array([0.5, 0.5]))
    >>> lean.shape[1] <= 3, lean.sum(axis=1).round(12)
    (True, array([1., 1.]))
    """
    columns, weights = scaled(matrix, prior)
    seconds = seconds_to_spare(prior.size, weights.size)
    end = deadline if seconds > _SHORT else None
    if weights.size <= most_needed(prior.size) or seconds == np.inf or time_is_up(end):
        return matrix
    weights = weights * _eliminated(_moments(columns, weights) * weights, weights, end)
    columns, weights = columns[:, weights > 0], weights[weights > 0]
    result: Floats = columns * full_weights(columns, weights)
    return result


def _moments(columns: Floats, weights: Floats) -> Floats:
    """Return the first and second moments of columns, in coordinates in which their covariance is 1."""
    X = basis_of_sum_zero(len(columns)).T @ columns
    values, vectors = np.linalg.eigh((X * weights) @ X.T)
    kept = values > len(values) * _EPS * values.max(initial=0.0)
    X = (vectors[:, kept] / np.sqrt(values[kept])).T @ X
    above, beside = np.triu_indices(len(X))
    return np.vstack([X[above] * X[beside], X, np.ones(columns.shape[1])])


def _eliminated(moments: Floats, weights: Floats, deadline: float | None) -> Floats:
    """Return factors u >= 0 with ``moments u = moments 1``; as few as moments are positive, but for a deadline.

    Independent columns are chosen, and the others written in terms of them. Each of the others, the lightest first, is
    taken out by moving to the others what it gives; where a chosen column becomes 0 on the way, the two change roles.
    """
    from scipy.linalg import qr, solve_triangular

    R, order = qr(moments, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    rank = int((diagonal > _INDEPENDENT * diagonal[0]).sum())
    chosen, others = order[:rank], order[rank:]
    terms = solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False)
    falling = np.argsort(-weights[others], kind="stable")  # the last one leaves first
    others, terms = others[falling], terms[:, falling]
    factors = np.ones(rank)
    while others.size and not time_is_up(deadline):
        last, terms = terms[:, -1], terms[:, :-1]
        step, leaving = 1.0, -1
        lowered = np.flatnonzero(last < 0)
        if lowered.size:
            reached = -factors[lowered] / last[lowered]
            at = int(np.argmin(reached))
            if reached[at] < 1:
                step, leaving = float(reached[at]), int(lowered[at])
        factors = np.maximum(factors + step * last, 0.0)
        if leaving >= 0:
            row = terms[leaving] / last[leaving]
            terms = terms - np.outer(last, row)
            terms[leaving] = row
            factors[leaving], chosen[leaving] = 1 - step, others[-1]
        others = others[:-1]
    result = np.zeros(weights.size)
    result[chosen], result[others] = factors, 1.0
    return result
