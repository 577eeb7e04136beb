"""From a float matrix to integers whose columns lie exactly in the span of queries.

Reports determine the answer of a query just if it is in the span of the columns. Where there are fewer outputs than
categories, entries rounded one by one leave that span. So the coefficients of the columns are rounded instead: for
queries in whole numbers, sums of whole multiples of these are whole numbers too. A column that breaks the promise is
then mixed with a constant one, which is in the span as well.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanism.proof import Guarantee, Integers
from mechdesign.mechanism.rounding import GROWTH
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.numerics.tolerances import RANK

WholeNumbers = NDArray[np.object_]
"""Integers of any size."""

_MOST_ENTRY = 2**20  # of a query in whole numbers; coefficients keep the other bits
_IN_SPAN = 1e-9  # how far an entry may be from the span


def integers_in_span(matrix: Floats, queries: Floats, bits: int, guarantee: Guarantee) -> Integers | None:
    """Return numerators over 2^bits that keep a guarantee, close to a matrix, with columns in the span of queries.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism with columns in the span of (1,...,1) and the queries, up to rounding.
    queries : array, shape (q, N)
        Each float the rational that it is.
    bits : int
        1 to 52.
    guarantee : Guarantee
        The guarantee that must hold exactly.

    Returns
    -------
    int64 array, shape (N, M), or None
        None if a query is not a multiple of whole numbers up to 2^20, if the matrix is not in the span, or if only a
        constant mechanism keeps the guarantee.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> queries = np.array([[1.0, 2.0, 3.0]])
    >>> matrix = np.array([[0.41, 0.59], [0.5, 0.5], [0.59, 0.41]])
    >>> integers_in_span(matrix, queries, 8, Guarantee(1, L1Ball([0.25, 0.25, 0.5], "0.1"))).tolist()
    [[105, 151], [128, 128], [151, 105]]
    """
    basis = _whole_basis(queries)
    if basis is None:
        return None
    coefficients = np.linalg.lstsq(basis.T.astype(float), matrix, rcond=None)[0]
    if np.abs(basis.T.astype(float) @ coefficients - matrix).max() > _IN_SPAN:
        return None
    constant = np.zeros(coefficients.shape)
    constant[0] = guarantee.uncertainty.prior @ matrix
    share = 0.0
    while share < 1:  # it grows by a factor
        found = _combined(basis, coefficients + share * (constant - coefficients), bits)
        if _keeps(guarantee, found, bits):
            return found.astype(np.int64)
        share = max(2.0**-bits, GROWTH * share)
    return None


def _whole_basis(queries: Floats) -> WholeNumbers | None:
    """Return (1,...,1), and independent queries as whole numbers, shape (r + 1, N); None if some are too large."""
    rows = []
    for query in queries.tolist():
        numerators, _ = over_common_denominator([Fraction(x) for x in query])
        least = min(numerators)
        unit = gcd(*(n - least for n in numerators)) or 1
        rows.append([(n - least) // unit for n in numerators])
    if max(map(max, rows)) > _MOST_ENTRY:
        return None
    whole = np.array(rows, dtype=object)
    return np.vstack([np.ones((1, whole.shape[1]), dtype=object), whole[_independent(whole.astype(float))]])


def _independent(rows: Floats) -> list[int]:
    """Return the places of rows of which, with (1,...,1), all others are sums."""
    from scipy.linalg import qr

    centered = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centered, axis=1)
    R, order = qr((centered / np.where(lengths > 0, lengths, 1.0)[:, None]).T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    places: list[int] = order[: int((diagonal > RANK * diagonal[0]).sum())].tolist()
    return places


def _combined(basis: WholeNumbers, coefficients: Floats, bits: int) -> WholeNumbers:
    """Return sums of whole multiples of a basis, whose rows sum to 2^bits."""
    whole = np.array([[round(c) for c in row] for row in (coefficients * 2.0**bits).tolist()], dtype=object)
    lacking = -whole.sum(axis=1)
    lacking[0] += 2**bits
    whole[:, int(np.argmax(coefficients[0]))] += lacking
    result: WholeNumbers = basis.T @ whole
    return result


def _keeps(guarantee: Guarantee, integers: WholeNumbers, bits: int) -> bool:
    """Return whether whole numbers are a mechanism that keeps a guarantee."""
    if integers.min() < 0 or not integers.any(axis=0).all():
        return False
    on_average = guarantee.allows_sum(Fraction(sum(integers.max(axis=0).tolist()), 2**bits))
    return on_average and all(guarantee.is_kept_by(column) for column in integers.T.tolist())
