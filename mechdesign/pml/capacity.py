"""The greatest leakage over a set of priors, and the prior at which it occurs (ED Definition 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import aligned_rows
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.numerics.exact import log_up
from mechdesign.pml.pointwise import checked_mechanism, exact_columns, log_ratios
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_about_data, check_set


def columns_over(matrix: ArrayLike, uncertainty: UncertaintySet) -> list[list[int]]:
    """Return the columns of a mechanism on the categories of a set as integers, each up to a factor of its own.

    Labelled rows are put in the order of the set's labels.
    """
    aligned, _ = aligned_mechanism(matrix, uncertainty)
    return [v for v, _ in exact_columns(aligned)]


def aligned_mechanism(matrix: ArrayLike, uncertainty: UncertaintySet) -> tuple[ArrayLike, Floats]:
    """Return the rows of a mechanism in the order of the set's labels, as they were given and as floats, checked."""
    check_set(uncertainty)
    check_about_data(uncertainty, "the leakage of a mechanism over a set")
    aligned = aligned_rows(matrix, uncertainty.labels, "the matrix")
    return aligned, uncertainty.as_matrix(checked_mechanism(aligned))


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The greatest value of a quantity over the outputs of a mechanism and the priors of a set, and where it occurs.

    Attributes
    ----------
    value : float
        In nats, rounded up; infinite where the worst prior gives the output probability 0.
    output : int
        Index of the output, from 0.
    witness : tuple of Fraction
        The prior as exact fractions. For a ball as printed (``within_simplex=False``) it may have negative entries.
    """

    value: float
    output: int
    witness: tuple[Fraction, ...]

    @classmethod
    def of_ratio(cls, ratio: Fraction | None, output: int, witness: tuple[Fraction, ...]) -> WorstCase:
        """Return the case whose value is the logarithm of a ratio, infinite for None."""
        return cls(math.inf if ratio is None else log_up(ratio), output, witness)

    @cached_property
    def prior(self) -> Floats:
        """The prior as floats, shape (N,), read-only."""
        return frozen(np.array([float(q) for q in self.witness]))


def worst_case(
    columns: Sequence[Sequence[int]], numerators: Sequence[Fraction | int], uncertainty: UncertaintySet
) -> tuple[Fraction | None, int, tuple[Fraction, ...]]:
    """Return the greatest ``numerator / h(v)`` of any column v, its index, and a prior that attains ``h(v)``.

    The ratio is None where h(v) = 0. Columns of zeros never occur and are skipped.
    """
    worst: Fraction | None = Fraction(-1)
    output = -1
    for j, (v, numerator) in enumerate(zip(columns, numerators, strict=True)):
        if not any(v):
            continue
        support = uncertainty.exact_support(v)
        if support <= 0:
            worst, output = None, j
            break
        if worst is not None and numerator / support > worst:
            worst, output = Fraction(numerator) / support, j
    return worst, output, uncertainty.exact_worst_mean(columns[output])[1]


def worst_case_leakage(matrix: ArrayLike, uncertainty: UncertaintySet) -> WorstCase:
    """Return the leakage capacity of a mechanism over a set of priors, with the output and prior that attain it.

    ``C = sup over Q in B of epsilon_min(Q) = max_y log( max v / h(v) )``, ``h(v) = min over Q in B of <Q, v>`` (ED
    Definition 5). It is computed in rational arithmetic; floats in the matrix are read as the decimals that they print
    as. For the set of its own guarantee, a `Mechanism` has this value as `Mechanism.leakage`, and the ratio of every
    output in `Mechanism.proof`; for another set give its ``numerators`` as the matrix.

    Over all priors, ``L1Ball(center, radius=2)``, it is ``max_y log(max v / min v)``: the least epsilon of local
    differential privacy, and the leakage capacity without a set (ED Remark 1).

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism.
    uncertainty : UncertaintySet
        A ball, a hull of priors or a product of sets.

    Returns
    -------
    WorstCase

    Raises
    ------
    InputError
        If the matrix is not a mechanism on the categories of the set.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> worst = worst_case_leakage([[0.75, 0.25], [0.25, 0.75]], L1Ball([0.6, 0.4], radius="0.2"))
    >>> round(worst.value, 6), worst.output, worst.prior
    (0.628609, 1, array([0.7, 0.3]))
    """
    columns = columns_over(matrix, uncertainty)
    return WorstCase.of_ratio(*worst_case(columns, [max(v) for v in columns], uncertainty))


def leakage_capacity(matrix: ArrayLike, uncertainty: UncertaintySet) -> float:
    """Return the greatest leakage of a mechanism over all priors in a set, in nats (ED Definition 5).

    It is computed in floats, to within a few units in the last place. `worst_case_leakage` is exact, rounds up, and
    returns where the greatest leakage occurs.

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
    _, V = aligned_mechanism(matrix, uncertainty)
    return float(log_ratios(V, uncertainty.support(V)).max())
