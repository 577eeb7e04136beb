"""Linear estimators of identifiable sums, their covariance, and confidence limits.

If A u = r, the mean of u over the reports estimates ``r^T theta`` without bias for every theta. Of all such u the one
of least variance at an output distribution p is ``D^-1 A^T F^+ r`` with ``D = diag(p)`` and ``F = A D^-1 A^T``
(Gauss, Markov; F is the Fisher information without the constraint that theta sums to 1). If ``p = A^T theta0``, then
``F theta0 = 1``, so that u = 1 for r = 1: such estimates sum to exactly 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats

_LEAST_LOG = -140.0
_LEAST_RADIUS = 2.0**-80  # limits move by 1e-12 at most; a smaller radius would be lost to rounding in the root below
_HALVINGS = 40  # of an interval of length about 140: 1e-10 is left


@dataclass(frozen=True, eq=False)
class LinearEstimator:
    """The linear estimator of every identifiable sum that is efficient at one output distribution.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    weights : array, shape (M, rank)
        ``weights @ spread.T @ r`` is the u of a sum r.
    spread : array, shape (N, rank)
        ``spread @ spread.T = F^+``.
    """

    matrix: Floats
    weights: Floats
    spread: Floats

    @classmethod
    def efficient_at(cls, matrix: Floats, basis: Floats, outputs: Floats) -> LinearEstimator:
        """Return the estimator of least variance at a positive output distribution, shape (M,).

        The basis, shape (N, rank), spans the range of the matrix.
        """
        from scipy.linalg import solve_triangular

        root = np.sqrt(outputs)
        # F is never formed: its condition is the square of that of the matrix.
        q, r = np.linalg.qr((basis.T @ matrix / root).T)
        return cls(matrix, q / root[:, None], solve_triangular(r, basis.T, trans="T").T)

    def functionals(self, sums: Floats) -> Floats:
        """Return u for each identifiable sum, shapes (N, K) to (M, K)."""
        result: Floats = self.weights @ (self.spread.T @ sums)
        return result

    def covariance(self, theta: Floats, *, of_records: bool) -> Floats:
        """Return the covariance of the estimates of one report, shape (N, N): ``r^T C r`` is the variance of a sum r.

        For the population it is ``U^T diag(p) U - theta theta^T`` with ``p = A^T theta``. Given the records, u of a
        report has mean r_x and varies independently, by ``sum_j A_xj u_j^2 - r_x^2`` for a record x; this gives
        ``U^T diag(p) U - diag(theta)``, which is less by ``diag(theta) - theta theta^T``, the covariance of a record.
        """
        p = theta @ self.matrix
        whole = self.spread @ ((self.weights.T * p) @ self.weights) @ self.spread.T
        result: Floats = whole - (np.diag(theta) if of_records else np.outer(theta, theta))
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

    def tilt_and_distance(m: Floats) -> tuple[Floats, Floats]:
        """Return p / w up to a factor, and ``sum w^2 / p - 1``, without cancellation where m is large."""
        centre = m - mean
        root = np.sqrt((m - u) / centre)
        y = (mean - u) / centre / (1 + root)  # root - 1
        square, rest = (w * y**2).sum(axis=0), (w * y**2 / root).sum(axis=0)
        return 1 / root, rest - square**2 / 4 - square * rest / 2

    # The distance falls in m, and is small enough at the m of Kantorovich's inequality.
    ratio = 1 + 2 * radius + 2 * np.sqrt(radius + radius**2)
    low, high = np.full(len(top), _LEAST_LOG), -np.log(ratio**2 - 1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        far = tilt_and_distance(np.exp(middle))[1] > radius
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    tilt, distance = tilt_and_distance(np.exp(high))
    p = w * tilt
    result: Floats = top + span * (1 + distance) / (1 + radius) * (p * u).sum(axis=0) / p.sum(axis=0)
    return result
