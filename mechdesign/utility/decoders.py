"""The least gain of a mechanism over a set of priors: a decoder of its reports that is good for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up, over_common_denominator
from mechdesign.numerics.linear_program import minimum
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.utility.gain import PolyhedralUtility

_SHARES = 40  # binary places of the probabilities of a decoder


def greatest_least_gain(
    utility: PolyhedralUtility, matrix: Floats, known: UncertaintySet
) -> tuple[float, tuple[Fraction, ...]]:
    """Return the least gain that some decoder has over all priors of a set, and a prior where it has it.

    A decoder guesses at random, given the report. The gain of the best guesses, which may depend on the prior, is a
    maximum over decoders of ``<Q, u>``, with ``u_i`` the mean gain for the category i; so its least value over the set
    is the greatest ``h(u)`` of any decoder. The decoder comes from a linear program, and its ``h(u)`` is computed in
    rationals and rounded down: a proved lower bound.

    Parameters
    ----------
    utility : PolyhedralUtility
        The gain of each guess at each category.
    matrix : array, shape (N, M)
        A mechanism of floats, read as the numbers that they are.
    known : UncertaintySet
        Any set of priors.

    Raises
    ------
    SolverError
        If the linear program cannot be solved.

    Examples
    --------
    >>> from mechdesign import HammingAccuracy, L1Ball
    >>> greatest_least_gain(HammingAccuracy(), np.array([[1.0, 0.0], [0.5, 0.5]]), L1Ball([0.5, 0.5], "0.2"))
    (0.7, (Fraction(2, 5), Fraction(3, 5)))
    """
    shares = _decoder(utility.gains(known.size), matrix, known)
    exact = utility.exact_gains(known.size)
    guesses = [[(w, share) for w, share in enumerate(row) if share] for row in shares]
    gains = []
    for x, row in enumerate(matrix.tolist()):
        seen = {w: exact(w, x) for w in {w for line in guesses for w, _ in line}}
        parts = (Fraction(p) * _sum(share * seen[w] for w, share in line) for p, line in zip(row, guesses, strict=True))
        gains.append(_sum(parts) / 2**_SHARES)
    least = min(gains)
    integers, common = over_common_denominator(gain - least for gain in gains)
    support, prior = known.exact_worst_mean(integers)
    return _float_down(support / common + least), prior


def _sum(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def _float_down(x: Fraction) -> float:
    try:
        return 0.0 - float_up(-x)
    except OverflowError:
        return -sys.float_info.max if x < 0 else sys.float_info.max


def _decoder(gains: Floats, matrix: Floats, known: UncertaintySet) -> list[list[int]]:
    """Return the probability of each guess after each report, in units of 2^-40, rows that sum to 1."""
    from scipy.sparse import block_array, coo_array, eye_array, kron

    (N, M), W = matrix.shape, len(gains)
    lowest = float(gains.min())
    scale = max(float(gains.max() - lowest), sys.float_info.min)
    linear = (gains - lowest) / scale
    support = known.support_rows()
    K = support.auxiliary.shape[1]
    # u = means @ D, with the entries of D row by row.
    means = (matrix[:, :, None] * linear.T[:, None, :]).reshape(N, M * W)
    objective = np.zeros(M * W + K)
    objective[M * W] = -1.0
    sums = block_array([[kron(eye_array(M), coo_array(np.ones((1, W)))), coo_array((M, K))]], format="csr")
    solution = minimum(
        objective,
        at_most=(block_array([[-(support.columns @ means), -support.auxiliary]]), np.zeros(support.columns.shape[0])),
        equal=(sums, np.ones(M)),
        free=slice(M * W, None),
    )
    D = solution.required("a decoder of reports", "change epsilon a little").x[: M * W].reshape(M, W)
    D[D < NEGLIGIBLE_WEIGHT] = 0.0
    shares = np.floor(D / D.sum(axis=1, keepdims=True) * 2.0**_SHARES).astype(np.int64)
    shares[np.arange(M), D.argmax(axis=1)] += 2**_SHARES - shares.sum(axis=1)
    result: list[list[int]] = shares.tolist()
    return result
