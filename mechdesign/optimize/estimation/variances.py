"""How well reports answer each query of a workload: the variance of each estimate."""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK
from mechdesign.utility.estimation_error import centered


def variances_of_matrix(matrix: Floats, prior: Floats, workload: Floats) -> Floats:
    """Return n times the variance of the estimated answer of each query from n reports, shape (q,).

    It is the diagonal of ``W (J^-1 - P P') W'``, whose sum is the estimation error; infinite where the reports do not
    determine the answer, judged by singular values as `EstimationError` does.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    prior : array, shape (N,)
        P.
    workload : array, shape (q, N)
        W.

    Examples
    --------
    The second and third symbol have equal rows, so that only the first frequency is determined:

    >>> matrix = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    >>> variances_of_matrix(matrix, np.array([0.5, 0.25, 0.25]), np.eye(3)).round(9)
    array([ 1., inf, inf])
    """
    masses = prior @ matrix
    used = masses > 0
    left, values, _ = np.linalg.svd(matrix[:, used] / np.sqrt(masses[used]), full_matrices=False)
    rank = int((values > RANK * values[0]).sum())
    F = centered(workload, prior)
    images = F @ left[:, :rank]
    missing = np.linalg.norm(F - images @ left[:, :rank].T, axis=1)
    lengths = np.linalg.norm(F, axis=1)
    result: Floats = np.where(missing > RANK * lengths, np.inf, ((images / values[:rank]) ** 2).sum(axis=1))
    return result


def variances_of_covariance(covariance: Floats, workload: Floats) -> Floats:
    """Return the variance of each query, shape (q,), from the covariance of the frequencies, shape (N, N).

    Examples
    --------
    >>> variances_of_covariance(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([1., 0.])
    """
    result: Floats = np.maximum(((workload @ covariance) * workload).sum(axis=1), 0.0)
    return result
