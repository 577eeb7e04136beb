"""Linear estimators of identifiable sums, their covariance, and confidence limits.

If A u = r, the mean of u over the reports estimates ``r^T theta`` without bias for every theta. Of all such u the one
of least variance at an output distribution p is ``D^-1 A^T F^+ r`` with ``D = diag(p)`` and ``F = A D^-1 A^T``
(Gauss, Markov; F is the Fisher information without the constraint that theta sums to 1). If ``p = A^T theta0``, then
``F theta0 = 1``, so that u = 1 for r = 1: such estimates sum to exactly 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.roots import newton_roots

_Distance = Callable[[Floats, NDArray[np.intp] | slice], tuple[Floats, Floats]]
_LEAST_LOG = -140.0
_LEAST_RADIUS = 2.0**-80  # limits move by 1e-12 at most; a smaller radius would be lost to rounding in the root below
_CLOSE = 1e-11  # of the logarithm that limits follow from
_LEAST_DISTANCE = 2.0**-200  # what rounding may leave of none
_NEAR = 0.05  # the least start of a search for m, in relation to that by variance alone


@dataclass(frozen=True, eq=False)
class LinearEstimator:
    """The linear estimator of every identifiable sum that is efficient at one output distribution, or one at each of G.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    weights : array, shape (M, rank) or (G, M, rank)
        ``weights @ spread.T @ r`` is the u of a sum r.
    spread : array, shape (N, rank) or (G, N, rank)
        ``spread @ spread.T = F^+``.
    """

    matrix: Floats
    weights: Floats
    spread: Floats

    @classmethod
    def efficient_at(cls, matrix: Floats, basis: Floats, outputs: Floats) -> LinearEstimator:
        """Return the estimators of least variance at positive output distributions, shape (M,) or (G, M).

        The basis, shape (N, rank), spans the range of the matrix.
        """
        root = np.sqrt(outputs)[..., None]
        # F is never formed: its condition is the square of that of the matrix.
        q, r = np.linalg.qr((basis.T @ matrix).T / root)
        return cls(matrix, q / root, _transposed(_solved(r, basis.T)))

    def functionals(self, sums: Floats) -> Floats:
        """Return u for each identifiable sum, shapes (N, K) to (M, K), or (G, N, K) to (G, M, K)."""
        result: Floats = self.weights @ (_transposed(self.spread) @ sums)
        return result

    def covariance(self, theta: Floats, *, of_records: bool) -> Floats:
        """Return the covariance of the estimates of one report, shape (N, N): ``r^T C r`` is the variance of a sum r.

        For the population it is ``U^T diag(p) U - theta theta^T`` with ``p = A^T theta``. Given the records, u of a
        report has mean r_x and varies independently, by ``sum_j A_xj u_j^2 - r_x^2`` for a record x; this gives
        ``U^T diag(p) U - diag(theta)``, which is less by ``diag(theta) - theta theta^T``, the covariance of a record.
        For G distributions theta, shape (G, N), it is one for each, shape (G, N, N).
        """
        p = theta @ self.matrix
        inner = (_transposed(self.weights) * p[..., None, :]) @ self.weights
        whole = self.spread @ inner @ _transposed(self.spread)
        known = theta[..., None] * (np.eye(theta.shape[-1]) if of_records else theta[..., None, :])
        result: Floats = whole - known
        return result


def _transposed(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)


def _solved(upper: Floats, right: Floats) -> Floats:
    """Return the x of ``R^T x = right`` for upper triangular R, shapes (..., K, K) and (K, N): row after row."""
    result = np.zeros((*upper.shape[:-1], right.shape[1]))
    for k, row in enumerate(right):
        known = (upper[..., :k, k, None] * result[..., :k, :]).sum(axis=-2)
        result[..., k, :] = (row - known) / upper[..., k, k, None]
    return result


@dataclass(frozen=True, eq=False)
class Seen:
    """What limits of the mean of each of K functions u of the outputs depend on.

    Attributes
    ----------
    top, span : array, shape (K,)
        The greatest u, and how far below it those of the outputs that were seen are at most.
    u : array, shape (K, S)
        Of the outputs that were seen, less the greatest and divided by the span: from -1 to 0.
    w : array, shape (K, S)
        The fractions of reports.
    mean : array, shape (K,)
        Of u.
    """

    top: Floats
    span: Floats
    u: Floats
    w: Floats
    mean: Floats

    @classmethod
    def of(cls, functionals: Floats, fractions: Floats) -> Seen:
        """Return what limits depend on, from u and w of all outputs, a row for each function, shapes (K, M)."""
        seen = fractions.any(axis=0)
        w, u, top = fractions[:, seen], functionals[:, seen], functionals.max(axis=1)
        span = top - np.where(w > 0, u, np.inf).min(axis=1)
        u -= top[:, None]
        u /= np.where(span > 0, span, 1.0)[:, None]
        u[w == 0] = 0.0
        return cls(top, span, u, w, np.einsum("kj,kj->k", w, u))


def greatest_mean(seen: Seen, radius: Floats) -> Floats:
    """Return the greatest mean of each u over the output distributions that are consistent with the reports.

    These are the p with ``sum_j (p_j - w_j)^2 / p_j <= radius``, w being the fractions of reports. With radius z^2 / n
    they are a score region: for two outputs it is Wilson's interval, and where the normal approximation is good the
    limit is z standard errors above the mean of u over the reports. Unlike the normal approximation it also holds for
    rare outputs: one that was never reported may have probability up to about z^2 / n.

    Parameters
    ----------
    seen : Seen
        u and w.
    radius : array, shape (K,)
        Above 0.

    Notes
    -----
    The region is ``sum_j w_j^2 / p_j <= 1 + radius``. The best p is proportional to ``w_j / sqrt(m - u_j)`` for some
    m not below the greatest u. If m is equal to it, the mass that is left goes to the output of greatest u, where w
    is 0.

    Examples
    --------
    >>> seen = Seen.of(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))
    >>> greatest_mean(seen, np.array([0.04])).round(6)
    array([0.598058])

    This is Wilson's ``0.5 + 0.5 sqrt(0.04 / 1.04)``.
    """
    radius = np.maximum(radius, _LEAST_RADIUS)

    def distance(m: Floats, of: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        """Return ``sum w^2 / p - 1`` and its slope, without cancellation where m is large."""
        centre, shares = (m - seen.mean[of])[:, None], seen.w[of]
        root = np.sqrt((m[:, None] - seen.u[of]) / centre)
        y = (seen.mean[of, None] - seen.u[of]) / centre / (1 + root)  # root - 1
        inverse = y / root  # 1 - 1 / root
        y_shares, inverse_shares = y * shares, inverse * shares
        square, rest, second = (
            np.einsum("kj,kj->k", *pair) for pair in ((y_shares, y), (y_shares, inverse), (inverse_shares, inverse))
        )
        third = np.einsum("kj,kj->k", inverse_shares * inverse, inverse)
        mean_inverse, cubes = square / 2 + rest, 3 * second - third
        slope = mean_inverse**2 - rest - cubes + square / 2 * (3 * mean_inverse + cubes)
        return rest - square**2 / 4 - square * rest / 2, slope / (2 * centre[:, 0])

    # The distance is small enough at the m of Kantorovich's inequality.
    ratio = 1 + 2 * radius + 2 * np.sqrt(radius + radius**2)
    m = _solved_for(distance, seen, radius, (4.0, 1.0), (_LEAST_LOG, -np.log(ratio**2 - 1)))
    p = seen.w * np.sqrt((m - seen.mean)[:, None] / (m[:, None] - seen.u))
    mass = (1 + distance(m, slice(None))[0]) / (1 + radius)
    result: Floats = seen.top + seen.span * mass * np.einsum("kj,kj->k", p, seen.u) / p.sum(axis=1)
    return result


def greatest_likely_mean(seen: Seen, radius: Floats) -> Floats:
    """Return the greatest mean of each u over the output distributions whose likelihood is close to the greatest.

    These are the p with ``2 sum_j w_j log(w_j / p_j) <= radius`` (Wilks, 1938; Owen, 1988). Where reports are many this
    is the region of `greatest_mean`. Of few it holds much less of what makes a rare output rarer, and so bounds means
    from below that the other region takes for too large.

    Parameters
    ----------
    seen : Seen
        u and w; w is positive at the greatest u.
    radius : array, shape (K,)
        Above 0.

    Notes
    -----
    The best p is proportional to ``w_j / (m - u_j)`` for some m above the greatest u.

    Examples
    --------
    >>> seen = Seen.of(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]]))
    >>> greatest_likely_mean(seen, np.array([0.04])).round(6)
    array([0.599008])

    There ``-log(4 p (1 - p)) = 0.04``.
    """
    radius = np.maximum(radius, _LEAST_RADIUS)

    def distance(m: Floats, of: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        """Return ``2 sum w log(w / p)`` and its slope, without cancellation where m is large."""
        centre, shares = (m - seen.mean[of])[:, None], seen.w[of]
        y = (seen.u[of] - seen.mean[of, None]) / centre
        parts = y / (1 - y)
        by_parts = shares * parts
        rest = np.einsum("kj,kj->k", by_parts, y)
        third = np.einsum("kj,kj->k", by_parts * parts, y)
        value = 2 * (np.einsum("kj,kj->k", shares, np.log1p(-y) + y) + np.log1p(rest))
        return value, 2 * (rest - (2 * rest + third) / (1 + rest)) / centre[:, 0]

    # The distance is below 1 / (2 m^2).
    m = _solved_for(distance, seen, radius, (1.0, 4 / 3), (_LEAST_LOG / 4, -np.log(2 * radius) / 2))
    p = seen.w / (m[:, None] - seen.u)
    result: Floats = seen.top + seen.span * np.einsum("kj,kj->k", p, seen.u) / p.sum(axis=1)
    return result


def _solved_for(
    distance: _Distance, seen: Seen, radius: Floats, moments: tuple[float, float], log_ends: tuple[float, Floats]
) -> Floats:
    """Return the m at which a distance, which falls in m, is the radius.

    Two moments start the search: where m is great, the distance is ``variance / moments[0] / m^2``, and relatively
    greater by ``moments[1] third / variance / m``.
    """
    d = seen.u - seen.mean[:, None]
    squares = seen.w * d**2
    variance, third = squares.sum(axis=1), np.einsum("kj,kj->k", squares, d)
    first = np.sqrt(np.maximum(variance, _LEAST_DISTANCE) / (moments[0] * radius))
    skewed = moments[1] * third / np.maximum(variance * first, _LEAST_DISTANCE)
    start = np.maximum(first * np.sqrt(np.clip(1 + skewed, 0.25, 4.0)) + seen.mean, _NEAR * first)

    def log_ratio(log_m: Floats, of: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        m = np.exp(log_m)
        value, slope = distance(m, of)
        value = np.maximum(value, _LEAST_DISTANCE)
        return np.log(value / radius[of]), m * slope / value

    low, high = (np.broadcast_to(end, radius.shape) for end in log_ends)
    return np.exp(newton_roots(log_ratio, low, high, np.log(start), _CLOSE))


def half_a_report_towards(functionals: Floats, fractions: Floats, reports: Floats | int) -> Floats:
    """Return the fractions if half a report of the output of least u had been one of greatest u, shape (..., M, K).

    Counts are whole numbers, so that the probability of a count or more is that of half a count less in a distribution
    without steps (Yates, 1934).

    Parameters
    ----------
    functionals : array, shape (..., M, K)
        One u in each column.
    fractions : array, shape (..., M)
        Of the reports.
    reports : int or array, shape (...)
        Their number.

    Examples
    --------
    >>> half_a_report_towards(np.array([[1.0], [0.0]]), np.array([0.0, 1.0]), 10).ravel()
    array([0.05, 0.95])
    """
    moved = np.broadcast_to(fractions[..., None], functionals.shape).copy()
    least = np.where(moved > 0, functionals, np.inf).argmin(axis=-2, keepdims=True)
    greatest = functionals.argmax(axis=-2, keepdims=True)
    half = 0.5 / np.asarray(reports)[..., None, None]
    for places, change in ((least, -half), (greatest, half)):
        np.put_along_axis(moved, places, np.take_along_axis(moved, places, axis=-2) + change, axis=-2)
    return moved
