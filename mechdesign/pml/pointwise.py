"""Leakage of every output of a mechanism, at one prior or at many (ED Theorem 1, eq. 7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.labelled import aligned_rows, together
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.exact import over_common_denominator, rational
from mechdesign.numerics.tolerances import ROW_SUMS, WEIGHT_SUM
from mechdesign.uncertainty.prior_set import check_one_size, exact_prior


def checked_mechanism(matrix: ArrayLike) -> Floats:
    """Return a matrix of conditional probabilities, or of numerators over one denominator, as floats.

    Raises
    ------
    InputError
        If it is not a matrix, an entry is negative or not finite, or the rows have different sums.
    """
    V = real_array(
        aligned_rows(matrix, None, "the matrix"), "the matrix", "numbers, inputs by outputs, such as mechanism.matrix"
    )
    if V.ndim != 2 or 0 in V.shape:
        raise InputError.wrong_size(f"the matrix has shape {V.shape}; accepted: (N, M), inputs by outputs")
    if (V < 0).any() or not np.isfinite(V).all():
        raise InputError.not_probabilities(
            "the matrix has negative or non-finite entries; accepted: conditional probabilities"
        )
    sums = V.sum(axis=1)
    if not sums[0] > 0 or np.abs(sums - sums[0]).max() > ROW_SUMS * sums[0]:
        raise InputError.wrong_sum(
            f"rows of the matrix sum to {sums.min():.6g} and {sums.max():.6g}; accepted: the same sum in every row"
        )
    return V


def check_shapes(matrix: tuple[int, ...], prior: tuple[int, ...]) -> None:
    """Check that a matrix has one row for each probability of a prior, or of each of many priors."""
    if matrix[0] != prior[-1]:
        accepted = "(N,)" if len(prior) == 1 else "(K, N)"
        raise InputError.wrong_size(
            f"a matrix of shape {matrix} and a prior of shape {prior}; accepted: (N, M) and {accepted}"
        )


def exact_columns(matrix: ArrayLike) -> list[tuple[list[int], int]]:
    """Return each column of a matrix as integers and their common denominator.

    Floats are read as the decimals that they print as. The columns of ``Mechanism.matrix`` are therefore wrong in the
    last digit; give its ``numerators`` instead.

    Raises
    ------
    InputError
        As `checked_mechanism`.

    Examples
    --------
    >>> exact_columns([[0.75, 0.25], [0.25, 0.75]])
    [([3, 1], 4), ([1, 3], 4)]
    """
    checked_mechanism(matrix)
    columns = np.asarray(matrix, dtype=object).T.tolist()
    return [over_common_denominator(rational(entry, "an entry of the matrix") for entry in v) for v in columns]


def _is_list_of_priors(prior: Any) -> bool:
    if isinstance(prior, np.ndarray):
        return prior.ndim > 1
    return isinstance(prior, list | tuple) and bool(prior) and isinstance(prior[0], list | tuple | np.ndarray)


def _checked_priors(prior: Any) -> Floats:
    """Return one prior, shape (N,), or many, shape (K, N), each divided by its sum."""
    if not _is_list_of_priors(prior):
        return np.array([float(q) for q in exact_prior(prior)])
    if isinstance(prior, np.ndarray) and prior.dtype.kind == "f" and prior.ndim == 2:
        # Thousands of sampled priors are checked at once; those that look wrong are checked again one by one, exactly.
        rows = prior.astype(float)
        with np.errstate(invalid="ignore", over="ignore"):
            sums = rows.sum(axis=1, keepdims=True)
        fine = (rows >= 0).all(axis=1) & (np.abs(sums[:, 0] - 1) <= WEIGHT_SUM / 2) & (rows.shape[1] > 1)
        for k in np.flatnonzero(~fine):
            exact_prior(rows[k].tolist(), f"prior {k + 1}")
        normalised: Floats = rows / sums
        return normalised
    priors = [exact_prior(row, f"prior {k + 1}") for k, row in enumerate(prior)]
    check_one_size(priors)
    return np.array([[float(q) for q in row] for row in priors])


def log_ratios(matrix: Floats, means: Floats) -> Floats:
    """Return ``log(max v / mean)`` for each column v and its means, shape (..., M); 0 for a column of zeros."""
    largest = matrix.max(axis=0)
    with np.errstate(divide="ignore"):
        # An output that never occurs leaks nothing.
        return np.where(largest > 0, np.log(np.where(largest > 0, largest, 1.0)) - np.log(np.maximum(means, 0.0)), 0.0)


def _matrix_and_means(matrix: ArrayLike, prior: ArrayLike) -> tuple[Floats, Floats]:
    matrix, prior, _ = together(matrix, prior)
    V, Q = checked_mechanism(matrix), _checked_priors(prior)
    check_shapes(V.shape, Q.shape)
    return V, Q @ V


def leakage(matrix: ArrayLike, prior: ArrayLike) -> Floats:
    """Return the pointwise maximal leakage of every output, in nats (ED Theorem 1).

    ``l(y) = log( max_i p(y|i) / sum_i Q_i p(y|i) )``, with the maximum over *all* categories: it is infinite
    where an output has probability 0 under Q and yet some category can cause it. ED takes the maximum over
    the support of Q only, which is smaller where Q has zeros. An output that never occurs has leakage 0.

    Parameters
    ----------
    matrix : array or pandas DataFrame, shape (N, M)
        A mechanism: row i is the distribution of the output when the category is i.
    prior : array, shape (N,) or (K, N); pandas Series or DataFrame, mapping from label to probability
        The prior Q, or K of them. If matrix and prior both have labels, they are aligned by label, here and in every
        function that takes a matrix and a prior.

    Returns
    -------
    array, shape (M,) or (K, M)

    Raises
    ------
    InputError
        If the shapes or the labels do not fit, an entry is negative, the rows have different sums, or the prior is not
        a distribution.

    Examples
    --------
    >>> leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(6)
    array([0.405465, 0.405465])
    >>> leakage([[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.9, 0.1]]).round(6)
    array([[0.405465, 0.405465],
           [0.068993, 0.916291]])
    """
    return log_ratios(*_matrix_and_means(matrix, prior))


def lower_leakage(matrix: ArrayLike, prior: ArrayLike) -> Floats:
    """Return by how much every output lowers the probability of a category at most, in nats.

    ``-log( min_i p(y|i) / sum_i Q_i p(y|i) )``, with the minimum over all categories: minus the least
    `information_density` of the output. A mechanism is (lower, epsilon)-locally information private at Q where no
    output has more than lower, nor more `leakage` than epsilon. It is infinite where the output rules a category out,
    and 0 for an output that never occurs.

    Arguments and errors are those of `leakage`.

    Returns
    -------
    array, shape (M,) or (K, M)

    Examples
    --------
    >>> lower_leakage([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(6)
    array([0.693147, 0.693147])
    """
    least: Floats = np.maximum(-information_density(matrix, prior).min(axis=-2), 0.0)
    return least


def epsilon_min(matrix: ArrayLike, prior: ArrayLike) -> float | NDArray[np.float64]:
    """Return the least epsilon for which a mechanism is epsilon-PML at a prior, in nats (ED eq. 7).

    It is the greatest leakage of any output, and convex in the prior (ED Proposition 1).

    Parameters
    ----------
    matrix, prior
        As for `leakage`.

    Returns
    -------
    float, or array of shape (K,)

    Examples
    --------
    >>> round(epsilon_min([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 6)
    0.405465
    >>> epsilon_min([[0.75, 0.25], [0.25, 0.75]], [[0.5, 0.5], [0.9, 0.1]]).round(6)
    array([0.405465, 0.916291])
    """
    greatest = leakage(matrix, prior).max(axis=-1)
    return float(greatest) if greatest.ndim == 0 else greatest


def information_density(matrix: ArrayLike, prior: ArrayLike) -> Floats:
    """Return ``i(x; y) = log( p(y|x) / P_Y(y) )`` of every category and output, in nats (ED, proof of Proposition 1).

    Its greatest value over the categories is the leakage of the output; its mean over categories and outputs is the
    mutual information. It is minus infinity where the category cannot cause the output, and 0 for an output that never
    occurs.

    Arguments and errors are those of `leakage`.

    Returns
    -------
    array, shape (N, M) or (K, N, M)

    Examples
    --------
    >>> information_density([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]).round(6)
    array([[ 0.405465, -0.693147],
           [-0.693147,  0.405465]])
    """
    V, means = _matrix_and_means(matrix, prior)
    with np.errstate(divide="ignore"):
        ratios = np.log(np.where(V > 0, V, 1.0)) - np.log(means)[..., None, :]
    return np.where(V > 0, ratios, np.where(V.any(axis=0), -np.inf, 0.0))
