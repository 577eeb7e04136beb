"""Mechanisms from matrices of floats: as they are, repaired, or as a solver left them.

A user's matrix is accepted if it keeps the guarantee up to the errors of its floats; rounding to integers is then its
only change. A matrix that does not keep the guarantee is refused, unless the user asks for a repair, which returns how
far it moved the matrix. A solver's matrix keeps its constraints to a tolerance only. It is always repaired, and the
loss shows in the value of the integers, beside the certified bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.data.labelled import Labels, order, own_labels, table
from mechdesign.data.labels import canonical_labels
from mechdesign.display.html import facts
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.proof import Guarantee, Integers, checked_bits
from mechdesign.mechanism.rounding import GROWTH, by_falling_mass, distinct, round_or_give_up, share_for_rounding
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import log_up, over_common_denominator
from mechdesign.numerics.tolerances import FLOAT_LEAKAGE, FLOAT_MOVE, WEIGHT_SUM

if TYPE_CHECKING:
    from mechdesign.mechanism.mechanism import Mechanism

_SHARE = 2.0**-40  # accuracy of the share in the mixture of a repair


def from_matrix(matrix: ArrayLike, guarantee: Guarantee, *, bits: int, outputs: Sequence[object] | None) -> Parts:
    """Return the parts of `Mechanism.from_matrix`."""
    floats, names = _given(matrix, guarantee, bits, outputs)
    _check_leakage(floats, names, guarantee)
    integers = round_or_give_up(floats, bits, guarantee)
    moved, explained = _moved(floats, integers, bits), most_moved_by_rounding(floats.shape[1], bits, guarantee)
    if moved > explained:
        raise GuaranteeError.rounding_moves_too_far(
            f"integers over 2^{bits} that keep {guarantee.sides.in_words} move a probability by {moved:.3g}, which "
            f"rounding does not explain (at most {explained:.3g}); give more bits, or use Mechanism.repaired"
        )
    return _finished(integers, bits, guarantee, names)


def repaired(
    matrix: ArrayLike, guarantee: Guarantee, *, bits: int, outputs: Sequence[object] | None
) -> tuple[Parts, float]:
    """Return the parts of `Mechanism.repaired`, and the greatest change of any probability."""
    floats, names = _given(matrix, guarantee, bits, outputs)
    integers = round_or_give_up(floats, bits, guarantee)
    if _moved(floats, integers, bits) > most_moved_by_rounding(floats.shape[1], bits, guarantee):
        integers = round_or_give_up(_halfway(floats, integers / 2.0**bits, guarantee), bits, guarantee)
    return _finished(integers, bits, guarantee, names), _moved(floats, integers, bits)


def from_own_floats(
    matrix: Floats, guarantee: Guarantee, *, bits: int, outputs: tuple[str, ...] | None = None
) -> Parts:
    """Return the parts of a mechanism close to a solver's matrix.

    A solver keeps signs, row sums and the guarantee to a tolerance only. Its errors are always repaired, and the result
    does not say how far that moved the matrix. So this is for matrices whose utility is measured afterwards; a user's
    matrix goes to `from_matrix` or `repaired`.

    Raises
    ------
    SolverError
        If the matrix is not a mechanism even up to a solver's errors.
    InputError
        If labels are given and the guarantee can only be kept by merging outputs.
    """
    return _finished(round_or_give_up(matrix, bits, guarantee), bits, guarantee, outputs)


def most_moved_by_rounding(outputs: int, bits: int, guarantee: Guarantee) -> float:
    """Return how far rounding may move a probability of a matrix that keeps its guarantee up to the errors of floats.

    Scaling takes at most 2 M units of 2^-bits from a row, rounding down the greatest entries at most M more, and all
    that a row then lacks may be given to one entry, which was rounded up by one already.

    Where columns are mixed with constant ones, each is off by a unit at most, which needs a share of ``(2 + r) / r``
    units for the room r above or below the lift of a constant. The share grows by a factor that may overshoot.
    """
    room = guarantee.room
    each = 3.0 if guarantee.kept_by_raising or room == 0 else 1 + GROWTH * share_for_rounding(guarantee)
    return (each * outputs + 1) / 2.0**bits + FLOAT_MOVE


def with_outputs(
    matrix: Floats, columns: Labels | None, outputs: Sequence[object] | None, name: str
) -> tuple[Floats, tuple[str, ...] | None]:
    """Return a matrix in the order of its outputs, and their labels: those given, or those of its columns, or None."""
    if outputs is None:
        own = own_labels(columns)
        return matrix, None if own is None else tuple(own)
    names = canonical_labels(outputs, matrix.shape[1])
    places = order(columns, names, f"columns of {name}")
    return matrix if places is None else matrix[:, places], names


def row_stochastic(matrix: Floats, name: str) -> Floats:
    """Return a matrix of probabilities, each row over its sum.

    Raises
    ------
    InputError
        If an entry is negative or not finite, or a row misses 1 by more than 1e-9.
    """
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        j, k = (int(index) for index in np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0])
        raise InputError.not_probabilities(
            f"{name} has {matrix[j, k]:g} in row {j + 1}, column {k + 1}; accepted: probabilities"
        )
    sums = matrix.sum(axis=1)
    wrong = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[wrong] - 1) > WEIGHT_SUM:
        raise InputError.wrong_sum(
            f"row {wrong + 1} of {name} sums to {sums[wrong]:.12g}; accepted: 1, give or take {WEIGHT_SUM:g}"
        )
    result: Floats = matrix / sums[:, None]
    return result


def _given(
    matrix: ArrayLike, guarantee: Guarantee, bits: int, outputs: Sequence[object] | None
) -> tuple[Floats, tuple[str, ...] | None]:
    """Return a user's matrix, checked, and the labels of its outputs: by default those of its columns."""
    bits = checked_bits(bits)
    check_kind(guarantee, Guarantee, "the guarantee", "a Guarantee(epsilon, uncertainty)")
    floats = guarantee.uncertainty.as_matrix(matrix)
    if floats.shape[1] == 0:
        raise InputError.wrong_size(f"the matrix has shape {floats.shape}; accepted: one output or more")
    columns = table(matrix, "the matrix").columns
    ordered, names = with_outputs(floats, columns, outputs, "the matrix")
    return row_stochastic(ordered, "the matrix"), names


def _check_leakage(matrix: Floats, names: tuple[str, ...] | None, guarantee: Guarantee) -> None:
    """Refuse a matrix of floats that breaks the guarantee, each float taken as the rational that it is."""
    exact_set = guarantee.uncertainty.exact_set
    allowed = guarantee.epsilon.exp_down * (1 + Fraction(FLOAT_LEAKAGE))
    for j, column in enumerate(matrix.T.tolist()):
        if not any(column):
            continue
        numerators, _ = over_common_denominator(map(Fraction, column))
        ratio = exact_set.exact_ratio(numerators)
        if ratio is None or ratio > allowed:
            which = f"column {j + 1} of the matrix" if names is None else f"the output {shorten(names[j])}"
            leaks = math.inf if ratio is None else log_up(ratio)
            raise GuaranteeError.guarantee_false(
                f"the guarantee is false: {which} leaks up to {leaks:.9g} nats, above epsilon = {guarantee.epsilon}; "
                "give a larger epsilon, or use Mechanism.repaired, which says how far it moves the matrix"
            )
        if guarantee.sides.below is None:
            continue
        lift = guarantee.exact_least_lift(numerators)
        if lift * (1 + Fraction(FLOAT_LEAKAGE)) < guarantee.least_lift:
            which = f"column {j + 1} of the matrix" if names is None else f"the output {shorten(names[j])}"
            lowers = math.inf if lift == 0 else log_up(1 / lift)
            raise GuaranteeError.guarantee_false(
                f"the guarantee is false: {which} lowers the probability of a category by up to {lowers:.9g} nats, "
                f"above {guarantee.sides.below_name} = {guarantee.sides.below}; give a larger one, or use "
                "Mechanism.repaired, which says how far it moves the matrix"
            )
    greatest = _sum_of_greatest(matrix)
    if not guarantee.allows_sum(greatest / (1 + Fraction(FLOAT_LEAKAGE))):
        raise GuaranteeError.guarantee_false(
            f"the guarantee is false: the maximal leakage is {log_up(greatest):.9g} nats, above "
            f"{guarantee.maximal_leakage} as promised; give a larger one, or use Mechanism.repaired, which says how "
            "far it moves the matrix"
        )


def _halfway(matrix: Floats, within: Floats, guarantee: Guarantee) -> Floats:
    """Return the mixture of a matrix with one that keeps the guarantee: the nearest to the matrix that keeps it too.

    The columns that keep it are a convex cone, so the mixtures that keep the guarantee form an interval.
    """

    def mixture(share: float) -> Floats:
        return matrix + share * (within - matrix)

    def keeps(share: float) -> bool:
        if not guarantee.allows_sum(_sum_of_greatest(mixture(share))):
            return False
        if guarantee.sides.below is None:
            e = float(guarantee.epsilon.exp_down)
            return bool((guarantee.uncertainty.exact_set.excess(mixture(share), e) <= 0).all())
        columns = (over_common_denominator(map(Fraction, column))[0] for column in mixture(share).T.tolist())
        return all(map(guarantee.is_kept_by, columns))

    too_little, enough = 0.0, 1.0
    while enough - too_little > _SHARE:
        middle = (too_little + enough) / 2
        too_little, enough = (too_little, middle) if keeps(middle) else (middle, enough)
    return mixture(enough)


def _sum_of_greatest(matrix: Floats) -> Fraction:
    return sum(map(Fraction, matrix.max(axis=0).tolist()), Fraction(0))


def _moved(matrix: Floats, integers: Integers, bits: int) -> float:
    return float(np.abs(integers / 2.0**bits - matrix).max())


def _finished(integers: Integers, bits: int, guarantee: Guarantee, outputs: tuple[str, ...] | None) -> Parts:
    merged = distinct(integers)
    if outputs is None:
        return Parts(by_falling_mass(merged, guarantee.uncertainty), bits, guarantee)
    if merged.shape != integers.shape:
        raise InputError.needless_argument(
            f"{integers.shape[1]} outputs had to be merged to {merged.shape[1]}; leave the labels of outputs out"
        )
    return Parts(merged, bits, guarantee, outputs)


@dataclass(frozen=True, eq=False)
class Repair:
    """A mechanism near a matrix that does not keep the guarantee; `moved` is the greatest change of any probability."""

    mechanism: Mechanism
    moved: float

    def _repr_html_(self) -> str:
        return facts([("greatest change of any probability", self.moved)], "Repair") + self.mechanism._repr_html_()
