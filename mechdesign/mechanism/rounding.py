"""From a float matrix to integers that the proof accepts.

Two moves keep a column inside the column cone ``max v <= e h(v)``: scaling it, and raising entries that are
below its greatest, because h never falls when an entry rises. So every column is scaled down a little, its
greatest entries are rounded down and its others up, and what a row then lacks is added to entries of that
row that are not the greatest of their column. Zeros are touched last. The loss of utility is of the order of
a few units of rounding, however rare an output is.

A solver's matrix may also be outside the cone by the solver's tolerance. Before rounding, each column is
therefore raised towards its greatest entry, ``v + s (max v - v)`` on a set of categories T, which gives it slack
``s max v (e h(1_T) - 1)``. T is the support of v where that has slack enough, so that zeros stay zeros, and
all categories elsewhere. The share s of each column starts at zero and grows until the exact proof accepts it.

Promises about something else than categories are not kept by raising an entry. The columns that keep such a promise are
a convex cone that has (1,...,1) inside, whatever the promise is. So entries are rounded to neighbours, and a column
that then breaks the promise is mixed with a constant column, whose share grows likewise. What it costs is of the order
of a few units of rounding over epsilon, however rare an output is.

A promise of maximal leakage is about all columns together. Where it is broken the whole matrix is mixed with constant
columns, whose share grows likewise: the sum of the greatest entries is then nearer to 1.
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.mechanism.proof import Guarantee, Integers, checked_bits
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty import UncertaintySet

_SOLVER_NEGATIVE = 1e-6
_ROW_SUM = 1e-3
_FIRST_SHARE, GROWTH = 1.0, 4.0  # of a constant column that is mixed in: units of rounding, and from round to round
_LEAST_SLACK = 0.01  # of exp(epsilon) - 1, below which a support has too little slack


def round_to_integers(matrix: Floats, bits: int, guarantee: Guarantee) -> Integers:
    """Return numerators over 2^bits, close to a float matrix, for which the guarantee is proved.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism up to a solver's errors.
    bits : int
        1 to 52.
    guarantee : Guarantee
        The guarantee that must hold exactly.

    Returns
    -------
    int64 array, shape (N, M'), M' <= M
        Columns too rare for the bits are dropped, and proportional columns are merged. At epsilon = 0, or if no other
        rounding keeps the guarantee, the mechanism has one output.

    Raises
    ------
    SolverError
        If the matrix is not a mechanism, even up to a solver's errors.
    """
    return distinct(round_or_give_up(matrix, bits, guarantee))


def round_or_give_up(matrix: Floats, bits: int, guarantee: Guarantee) -> Integers:
    """Return what `round_columns` returns; if that is None, a mechanism whose outputs do not depend on the input.

    The probability of each output is then that at the reference prior. All columns are proportional, so that merged
    they are the mechanism with one output.
    """
    columns = round_columns(matrix, bits, guarantee)
    if columns is not None:
        return columns
    total = 2**bits
    shares = guarantee.uncertainty.prior @ _stochastic(matrix)
    row = np.floor(shares * total).astype(np.int64)
    row[int(np.argmax(row))] += total - int(row.sum())
    return np.repeat(row[None, :], matrix.shape[0], axis=0)


def round_columns(matrix: Floats, bits: int, guarantee: Guarantee) -> Integers | None:
    """Return the integers of `round_to_integers` with every column in its place; columns too rare are zero.

    None if only the mechanism with one output keeps the guarantee.
    """
    checked_bits(bits)
    cleaned = _stochastic(matrix)
    occurring = cleaned.any(axis=0)
    found = _on_average(cleaned[:, occurring], bits, guarantee)
    if found is None:
        return None
    integers = np.zeros(matrix.shape, dtype=np.int64)
    integers[:, occurring] = found
    return integers


def _on_average(cleaned: Floats, bits: int, guarantee: Guarantee) -> Integers | None:
    """Return integers whose columns keep the guarantee, mixed with constant columns as far as all together need."""
    constant, share = guarantee.uncertainty.prior @ cleaned, 0.0
    while share < 1:  # it grows by a factor
        found = _rounded(cleaned + share * (constant - cleaned), bits, guarantee)
        if found is None or guarantee.allows_sum(Fraction(sum(found.max(axis=0).tolist()), 2**bits)):
            return found
        share = max(_FIRST_SHARE * cleaned.shape[1] / 2**bits, GROWTH * share)
    return None


def _rounded(cleaned: Floats, bits: int, guarantee: Guarantee) -> Integers | None:
    proofs = _Proofs(guarantee, cleaned.shape)
    plain = np.rint(cleaned * 2.0**bits).astype(np.int64)
    if (plain.sum(axis=1) == 2**bits).all() and not proofs.violating(plain).any():
        return plain
    if guarantee.room == 0:
        return None
    if not guarantee.kept_by_raising:
        return _mixed(cleaned, bits, proofs)
    shares, targets = _shares(cleaned, guarantee.uncertainty.exact_set, float(guarantee.room))
    strengths = np.zeros(cleaned.shape[1])
    while True:  # strengths grow by a factor of 4, and no share is 0
        raised = cleaned + np.minimum(strengths * shares, 1.0) * (targets - cleaned)
        integers = _rounded_safely(raised, bits)
        if integers is None:
            return None
        violating = proofs.violating(integers)
        if not violating.any():
            return integers
        if (strengths * shares)[violating].max() >= 1.0:
            return None
        strengths[violating] = np.maximum(1.0, 4.0 * strengths[violating])


def _mixed(cleaned: Floats, bits: int, proofs: _Proofs) -> Integers | None:
    """Return neighbours of a matrix mixed with constant columns, as little as the proof asks for.

    Another share changes the last places of all columns, and some that kept the promise before may then break it. So
    the shares of all columns that ever broke it grow together, up to the one that makes up for rounding. A column that
    never broke it stays as it is, with its zeros.

    None if only constant columns are left.
    """
    added = np.zeros(cleaned.shape[1])
    enough = share_for_rounding(proofs.guarantee) / 2**bits
    while True:  # what is added to a violating column grows by a factor
        integers = neighbours((cleaned + added) / (1 + added.sum()), bits)
        violating = proofs.violating(integers)
        if not violating.any():
            return integers
        if added[violating].max() >= 1.0:
            return None
        added[violating] = np.maximum(_FIRST_SHARE / 2**bits, GROWTH * added[violating])
        shared = min(float(added.max()), enough)
        added[added > 0] = np.maximum(shared, added[added > 0])


def share_for_rounding(guarantee: Guarantee) -> float:
    """Return a share of a constant column, in units of 2^-bits, that makes up for rounding.

    Rounding moves each entry of a column by less than a unit. A column that keeps the guarantee, mixed with this share
    of the constant column, keeps it for all such moves.
    """
    return float((2 + guarantee.room) / guarantee.room)


def neighbours(matrix: Floats, bits: int) -> Integers:
    """Return integers of which each row sums to 2^bits, and each entry is a neighbour of the scaled one.

    Entries are rounded down, and those with the greatest remainders up, so that zeros stay zeros. Errors of the sums of
    floats, if there are any, go to the greatest entry of the row.
    """
    scaled = matrix * 2.0**bits
    integers = np.floor(scaled).astype(np.int64)
    remainders = scaled - integers
    for i, lacking in enumerate((2**bits - integers.sum(axis=1)).tolist()):
        raised = np.argsort(-remainders[i], kind="stable")[: max(lacking, 0)]
        raised = raised[remainders[i, raised] > 0]
        integers[i, raised] += 1
        integers[i, int(np.argmax(scaled[i]))] += lacking - raised.size
    return integers


def _stochastic(matrix: Floats) -> Floats:
    """Return the matrix without a solver's errors in signs and row sums."""
    sums = matrix.sum(axis=1)
    if not np.isfinite(matrix).all() or (matrix < -_SOLVER_NEGATIVE).any() or (np.abs(sums - 1) > _ROW_SUM).any():
        raise SolverError.solver_failed(
            "the solver returned a matrix that is far from row-stochastic; try another tol or epsilon"
        )
    clipped = np.clip(matrix, 0.0, None)
    result: Floats = clipped / clipped.sum(axis=1, keepdims=True)
    return result


def _shares(matrix: Floats, exact_set: UncertaintySet, room: float) -> tuple[Floats, Floats]:
    """Return the share of each column that repairs its errors to first order, and the column it is raised towards."""
    greatest = matrix.max(axis=0)
    inside = (matrix > 0).astype(float)
    slack = (1 + room) * exact_set.support(inside) - 1
    everywhere = slack < _LEAST_SLACK * room
    inside[:, everywhere], slack[everywhere] = 1.0, room
    violation = np.maximum(greatest - (1 + room) * exact_set.support(matrix), 0.0)
    shares: Floats = (violation / greatest + 8 * np.finfo(float).eps) / slack
    return shares, inside * greatest


def _rounded_safely(matrix: Floats, bits: int) -> Integers | None:
    """Return integers whose columns are at least the scaled columns relative to their greatest entry.

    Rows sum to 2^bits. None if every column is too rare for the bits.
    """
    total = 2**bits
    scale = total / float(matrix.sum(axis=1).max())
    while True:  # the scale falls by at least 2^-52 of itself, which floats tell apart, and soon by what is too much
        scaled = matrix * scale
        greatest = np.floor(scaled.max(axis=0))
        integers = np.minimum(np.ceil(scaled), greatest).astype(np.int64)
        lacking = total - integers.sum(axis=1)
        if lacking.min() >= 0:
            break
        scale *= max(1 + min(float(lacking.min()), -1.0) / total, 0.5)
    tops = greatest.astype(np.int64)
    for i, missing in enumerate(lacking.tolist()):
        lack = missing
        room = tops - integers[i]
        # Positive entries come before zeros, and entries with more room before those with less.
        for j in np.lexsort((-room, matrix[i] <= 0)):
            added = min(lack, int(room[j]))
            integers[i, j] += added
            lack -= added
            if lack == 0:
                break
        if lack > 0:
            # The row has the greatest entry of every column: the likeliest output takes the rest, and must have slack.
            integers[i, int(np.argmax(tops))] += lack
    return integers if tops.any() else None


class _Proofs:
    """Says which columns break the guarantee, in exact arithmetic, for one matrix after another.

    Only the columns that differ from those of the matrix before are proved.
    """

    def __init__(self, guarantee: Guarantee, shape: tuple[int, ...]) -> None:
        self.guarantee = guarantee
        # A column of zeros does not break it.
        self._last, self._breaks = np.zeros(shape, dtype=np.int64), np.zeros(shape[1], dtype=np.bool_)

    def violating(self, integers: Integers) -> NDArray[np.bool_]:
        """Return which columns break the guarantee, shape (M,)."""
        for column in np.flatnonzero((integers != self._last).any(axis=0)).tolist():
            self._breaks[column] = not self.guarantee.is_kept_by(integers[:, column].tolist())
        self._last = integers
        return self._breaks.copy()


def distinct(integers: Integers) -> Integers:
    """Return the nonzero columns, with exactly proportional ones added up.

    Proportional columns carry the same information, so leakage and utility stay the same.
    """
    columns = integers[:, integers.any(axis=0)]
    directions = columns // np.gcd.reduce(columns, axis=0)
    _, first, group = np.unique(directions, axis=1, return_index=True, return_inverse=True)
    merged = np.zeros((len(columns), len(first)), dtype=np.int64)
    np.add.at(merged.T, group.ravel(), columns.T)
    return np.ascontiguousarray(merged[:, np.argsort(first)])


def by_falling_mass(integers: Integers, uncertainty: UncertaintySet) -> Integers:
    """Return the columns by falling mass at the reference prior, ties by falling numerators."""
    weights, _ = over_common_denominator(uncertainty.center)
    columns = integers.T.tolist()
    order = sorted(range(len(columns)), key=lambda j: (sum(map(mul, weights, columns[j])), columns[j]), reverse=True)
    return np.ascontiguousarray(integers[:, order])
