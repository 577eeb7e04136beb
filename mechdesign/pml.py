"""Pointwise maximal leakage of a mechanism, at one prior and over a set of priors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.tolerances import ROW_SUMS
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import exact_prior


def _mechanism(matrix: ArrayLike) -> NDArray[np.float64]:
    """Return a matrix of conditional probabilities, or of numerators over one denominator, as floats."""
    try:
        V = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"the matrix is {shorten(matrix)}; accepted: numbers, inputs by outputs") from None
    if V.ndim != 2 or 0 in V.shape:
        raise InputError(f"the matrix has shape {V.shape}; accepted: (N, M), inputs by outputs")
    if (V < 0).any() or not np.isfinite(V).all():
        raise InputError("the matrix has negative or non-finite entries; accepted: conditional probabilities")
    sums = V.sum(axis=1)
    if not sums[0] > 0 or np.abs(sums - sums[0]).max() > ROW_SUMS * sums[0]:
        raise InputError(
            f"rows of the matrix sum to {sums.min():.6g} and {sums.max():.6g}; accepted: the same sum in every row"
        )
    return V


def _log_ratios(matrix: NDArray[np.float64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = matrix.max(axis=0)
    with np.errstate(divide="ignore"):
        # An output that never occurs leaks nothing.
        return np.where(largest > 0, np.log(np.where(largest > 0, largest, 1.0)) - np.log(np.maximum(means, 0.0)), 0.0)


def leakage(matrix: ArrayLike, prior: ArrayLike) -> NDArray[np.float64]:
    """Return the pointwise maximal leakage of every output, in nats (ED Theorem 1).

    ``l(y) = log( max_i p(y|i) / sum_i Q_i p(y|i) )``, with the maximum over *all* symbols: it is infinite
    where an output has probability 0 under Q and yet some symbol can cause it. ED takes the maximum over
    the support of Q only, which is smaller where Q has zeros. An output that never occurs has leakage 0.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism: row i is the distribution of the output when the symbol is i.
    prior : array, shape (N,)
        The prior Q.

    Returns
    -------
    array, shape (M,)

    Raises
    ------
    InputError
        If the shapes do not fit, an entry is negative, rows differ in their sums, or the prior is none.

    Examples
    --------
    >>> leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(6)
    array([0.405465, 0.405465])
    """
    V = _mechanism(matrix)
    Q = np.array([float(q) for q in exact_prior(prior)])  # type: ignore[arg-type]
    if V.shape[0] != Q.size:
        raise InputError(f"a matrix of shape {V.shape} and a prior of shape {Q.shape}; accepted: (N, M) and (N,)")
    return _log_ratios(V, Q @ V)


def epsilon_min(matrix: ArrayLike, prior: ArrayLike) -> float:
    """Return the least epsilon for which a mechanism is epsilon-PML at a prior, in nats (ED eq. 7).

    Examples
    --------
    >>> round(epsilon_min([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 6)
    0.405465
    """
    return float(leakage(matrix, prior).max())


def leakage_capacity(matrix: ArrayLike, uncertainty: UncertaintySet) -> float:
    """Return the greatest leakage of a mechanism over all priors in a set, in nats (ED Definition 5).

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism.
    uncertainty : UncertaintySet
        An l1 ball or a hull of priors.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> round(leakage_capacity([[0.75, 0.25], [0.25, 0.75]], L1Ball([0.5, 0.5], radius=2)), 6)
    1.098612
    """
    if not isinstance(uncertainty, UncertaintySet):
        raise InputError(f"the uncertainty is {shorten(uncertainty)}; give an L1Ball or a ConvexHull")
    V = uncertainty.as_matrix(_mechanism(matrix))
    return float(_log_ratios(V, uncertainty.support(V)).max())
