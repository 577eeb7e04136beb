"""Linear estimators of identifiable sums, their covariance, and confidence limits.

If A u = r, the mean of u over the reports estimates ``r^T theta`` without bias for every theta. Of all such u the one
of least variance at an output distribution p is ``D^-1 A^T F^+ r`` with ``D = diag(p)`` and ``F = A D^-1 A^T``
(Gauss, Markov; F is the Fisher information without the constraint that theta sums to 1). If ``p = A^T theta0``, then
``F theta0 = 1``, so that u = 1 for r = 1: such estimates sum to exactly 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.roots import bracketed_roots

_LEAST_LOG = -140.0
_LEAST_RADIUS = 2.0**-80  # limits move by 1e-12 at most; a smaller radius would be lost to rounding in the root below
_CLOSE = 1e-11  # of the logarithm that limits follow from
_LEAST_DISTANCE = 2.0**-200  # what rounding may leave of none


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


def greatest_mean(functionals: Floats, fractions: Floats, radius: Floats) -> Floats:
    """Return the greatest mean of each u over the output distributions that are consistent with the reports.

    These are the p with ``sum_j (p_j - w_j)^2 / p_j <= radius``, w being the fractions of reports. With radius z^2 / n
    they are a score region: for two outputs it is Wilson's interval, and where the normal approximation is good the
    limit is z standard errors above the mean of u over the reports. Unlike the normal approximation it also holds for
    rare outputs: one that was never reported may have probability up to about z^2 / n.

    Parameters
    ----------
    functionals : array, shape (M, K)
        One u in each column.
    fractions : array, shape (M,) or (M, K)
        w, summing to 1, for all u or one for each.
    radius : array, shape (K,)
        Above 0.

    Notes
    -----
    The region is ``sum_j w_j^2 / p_j <= 1 + radius``. The best p is proportional to ``w_j / sqrt(m - u_j)`` for some
    m not below the greatest u. If m is equal to it, the mass that is left goes to the output of greatest u, where w
    is 0.

    Examples
    --------
    >>> greatest_mean(np.array([[1.0], [0.0]]), np.array([0.5, 0.5]), np.array([0.04])).round(6)
    array([0.598058])

    This is Wilson's ``0.5 + 0.5 sqrt(0.04 / 1.04)``.
    """
    radius = np.maximum(radius, _LEAST_RADIUS)
    weights = fractions if fractions.ndim == 2 else fractions[:, None]
    seen = weights.any(axis=1)
    w, top = weights[seen], functionals.max(axis=0)
    span = top - np.where(w > 0, functionals[seen], np.inf).min(axis=0)
    u = np.where(w > 0, (functionals[seen] - top) / np.where(span > 0, span, 1.0), 0.0)  # from -1 to 0
    mean = (w * u).sum(axis=0)

    def tilt_and_distance(m: Floats, of: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        """Return p / w up to a factor, and ``sum w^2 / p - 1``, without cancellation where m is large."""
        centre, values, shares = m - mean[of], u[:, of], w[:, of if w.shape[1] > 1 else slice(None)]
        root = np.sqrt((m - values) / centre)
        y = (mean[of] - values) / centre / (1 + root)  # root - 1
        parts = shares * y**2
        square, rest = parts.sum(axis=0), (parts / root).sum(axis=0)
        return 1 / root, rest - square**2 / 4 - square * rest / 2

    def too_far(log_m: Floats, of: NDArray[np.intp]) -> Floats:
        return _log_ratio(tilt_and_distance(np.exp(log_m), of)[1], radius[of])

    # The distance falls in m, and is small enough at the m of Kantorovich's inequality.
    ratio = 1 + 2 * radius + 2 * np.sqrt(radius + radius**2)
    log_m = bracketed_roots(too_far, np.full(len(top), _LEAST_LOG), -np.log(ratio**2 - 1), _CLOSE)
    tilt, distance = tilt_and_distance(np.exp(log_m), slice(None))
    p = w * tilt
    result: Floats = top + span * (1 + distance) / (1 + radius) * (p * u).sum(axis=0) / p.sum(axis=0)
    return result


def greatest_likely_mean(functionals: Floats, fractions: Floats, radius: Floats) -> Floats:
    """Return the greatest mean of each u over the output distributions whose likelihood is close to the greatest.

    These are the p with ``2 sum_j w_j log(w_j / p_j) <= radius`` (Wilks, 1938; Owen, 1988). Where reports are many this
    is the region of `greatest_mean`. Of few it holds much less of what makes a rare output rarer, and so bounds means
    from below that the other region takes for too large.

    Parameters
    ----------
    functionals : array, shape (M, K)
        One u in each column.
    fractions : array, shape (M, K)
        w, summing to 1 for each u, and positive at its greatest value.
    radius : array, shape (K,)
        Above 0.

    Notes
    -----
    The best p is proportional to ``w_j / (m - u_j)`` for some m above the greatest u.

    Examples
    --------
    >>> greatest_likely_mean(np.array([[1.0], [0.0]]), np.array([[0.5], [0.5]]), np.array([0.04])).round(6)
    array([0.599008])

    There ``-log(4 p (1 - p)) = 0.04``.
    """
    radius = np.maximum(radius, _LEAST_RADIUS)
    top = functionals.max(axis=0)
    span = top - np.where(fractions > 0, functionals, np.inf).min(axis=0)
    u = np.where(fractions > 0, (functionals - top) / np.where(span > 0, span, 1.0), 0.0)  # from -1 to 0
    mean = (fractions * u).sum(axis=0)

    def share_and_distance(m: Floats, of: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        """Return p up to a factor, and ``2 sum w log(w / p)``, without cancellation where m is large."""
        w = fractions[:, of]
        y = (u[:, of] - mean[of]) / (m - mean[of])
        odds = 1 / (1 - y)
        rest = np.log1p((w * y**2 * odds).sum(axis=0))
        return w * odds, 2 * ((w * (np.log1p(-y) + y)).sum(axis=0) + rest)

    def too_far(log_m: Floats, of: NDArray[np.intp]) -> Floats:
        return _log_ratio(share_and_distance(np.exp(log_m), of)[1], radius[of])

    high = -np.log(2 * radius) / 2  # the distance is below 1 / (2 m^2)
    log_m = bracketed_roots(too_far, np.full(len(top), _LEAST_LOG / 4), high, _CLOSE)
    p, _ = share_and_distance(np.exp(log_m), slice(None))
    result: Floats = top + span * (p * u).sum(axis=0) / p.sum(axis=0)
    return result


def _log_ratio(distance: Floats, radius: Floats) -> Floats:
    """Return the logarithm of a distance over a radius; distances are nearly powers of what they depend on."""
    result: Floats = np.log(np.maximum(distance, _LEAST_DISTANCE) / radius)
    return result


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
