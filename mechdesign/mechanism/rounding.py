"""From a float matrix to integers that the proof accepts.

A solver's matrix violates its constraints by its tolerance. Mixing it with the constant mechanism
``1 q^T``, where q is its distribution of outputs, gives every column slack ``q_j (exp(epsilon) - 1)`` per
unit of weight, so a little weight makes room for the errors of solver and rounding. The weight starts at
zero and grows until the exact proof holds.
"""

from __future__ import annotations

import math
from operator import mul

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.exact import over_common_denominator
from mechdesign.mechanism.proof import Guarantee, Integers, checked_bits, exact_ratio
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import Floats

_SOLVER_NEGATIVE = 1e-6
_ROW_SUM = 1e-3


def round_to_integers(matrix: Floats, bits: int, guarantee: Guarantee) -> Integers:
    """Return numerators over 2^bits, close to a float matrix, for which the guarantee is proved.

    Columns of negligible mass are merged into the column nearest in direction, which never raises leakage.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism up to a solver's errors.
    bits : int
        1 to 52.
    guarantee : Guarantee
        What must hold exactly.

    Returns
    -------
    int64 array, shape (N, M'), M' <= M
        At epsilon = 0, or where no mixture will do, the mechanism with one output.

    Raises
    ------
    SolverError
        If the matrix is no mechanism even up to a solver's errors.
    """
    checked_bits(bits)
    exact_set, exp_down = guarantee.uncertainty.exact_set, guarantee.epsilon.exp_down
    constant = np.full((matrix.shape[0], 1), 2**bits, dtype=np.int64)
    if exp_down == 1:
        return constant
    unit, room = 2.0**-bits, float(exp_down - 1)
    # Keeping a column of mass q costs a weight of about unit/q, merging it costs about q.
    merged = _merge_negligible(_stochastic(matrix), exact_set.prior, math.sqrt(unit * (2 + room) / room))
    weight = 0.0
    while weight < 1.0:
        integers = _round_rows(_mix(merged, exact_set.prior, weight), bits)
        integers = np.ascontiguousarray(integers[:, integers.any(axis=0)])
        if _accepted(integers, guarantee):
            return integers
        weight = max(2 * weight, _estimated_weight(merged, exact_set, room, unit))
    return constant


def _stochastic(matrix: Floats) -> Floats:
    """Return the matrix without a solver's errors in signs and row sums."""
    sums = matrix.sum(axis=1)
    if not np.isfinite(matrix).all() or (matrix < -_SOLVER_NEGATIVE).any() or (np.abs(sums - 1) > _ROW_SUM).any():
        raise SolverError("the solver returned a matrix that is far from row-stochastic; try another tol or epsilon")
    clipped = np.clip(matrix, 0.0, None)
    clipped = clipped[:, clipped.any(axis=0)]
    result: Floats = clipped / clipped.sum(axis=1, keepdims=True)
    return result


def _merge_negligible(matrix: Floats, prior: Floats, threshold: float) -> Floats:
    """Add each column of mass below the threshold to the kept column whose direction is nearest."""
    masses = prior @ matrix
    kept = np.flatnonzero(masses >= min(threshold, masses.max()))
    directions = matrix / masses
    result = matrix[:, kept].copy()
    for j in np.flatnonzero(masses < min(threshold, masses.max())):
        distances = prior @ np.abs(directions[:, kept] - directions[:, [j]])
        result[:, int(np.argmin(distances))] += matrix[:, j]
    return result


def _mix(matrix: Floats, prior: Floats, weight: float) -> Floats:
    return matrix if weight == 0 else (1 - weight) * matrix + weight * (prior @ matrix)


def _estimated_weight(matrix: Floats, exact_set: UncertaintySet, room: float, unit: float) -> float:
    """Return a weight that repairs the violations seen in floats and those of rounding, to first order."""
    violations = np.maximum(matrix.max(axis=0) - (1 + room) * exact_set.support(matrix), 0.0)
    return float(((violations + unit * (2 + room) / 4) / (exact_set.prior @ matrix * room)).max())


def _round_rows(matrix: Floats, bits: int) -> Integers:
    """Round each row to integers that sum to 2^bits: down, then up where the remainder is largest."""
    scaled = matrix * 2.0**bits
    integers = np.floor(scaled).astype(np.int64)
    missing = 2**bits - integers.sum(axis=1)
    rank = np.argsort(np.argsort(integers - scaled, axis=1, kind="stable"), axis=1, kind="stable")
    M = matrix.shape[1]
    # After a division by row sums the floor may miss or exceed the total by a few units of every column.
    integers += missing[:, None] // M + (rank < missing[:, None] % M)
    short = integers.min(axis=1) < 0
    for i in np.flatnonzero(short):
        lack = -int(np.minimum(integers[i], 0).sum())
        integers[i] = np.maximum(integers[i], 0)
        integers[i, int(np.argmax(integers[i]))] -= lack
    return integers


def _accepted(integers: Integers, guarantee: Guarantee) -> bool:
    exact_set, exp_down = guarantee.uncertainty.exact_set, guarantee.epsilon.exp_down
    for column in integers.T.tolist():
        ratio = exact_ratio(column, exact_set)
        if ratio is None or ratio > exp_down:
            return False
    return True


def by_falling_mass(integers: Integers, uncertainty: UncertaintySet) -> Integers:
    """Return the columns by falling mass at the reference prior, ties by falling numerators."""
    weights, _ = over_common_denominator(uncertainty.center)
    columns = integers.T.tolist()
    order = sorted(range(len(columns)), key=lambda j: (sum(map(mul, weights, columns[j])), columns[j]), reverse=True)
    return np.ascontiguousarray(integers[:, order])
