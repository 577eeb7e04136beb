"""The proof of a guarantee in exact arithmetic. An auditor needs to read this file only.

A mechanism is an integer matrix whose rows sum to 2^bits. It is epsilon-PML for every prior in a set B
exactly when each of its columns v satisfies ``max v <= exp(epsilon) h(v)`` with
``h(v) = min over Q in B of <Q, v>``. Here h is a rational number, computed by `exact_support` of the set
(`mechdesign.uncertainty.L1Ball`), from which `exact_ratio` of the set has the greatest lift of an output, and
exp(epsilon) is replaced by a rational that is proven not to exceed it
(`mechdesign.numerics.epsilon.Epsilon.exp_down`). No float and no tolerance is used. Shape, signs and row sums are
checked first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import log_up
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set

Integers = NDArray[np.int64]
MOST_BITS = 52  # numerators and their sums are then exact in float64, and so in JavaScript


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a mechanism: epsilon-PML for every prior in a set.

    Parameters
    ----------
    epsilon : number or str
        Privacy parameter in nats: a number, a decimal as text, or ``"log(9/8)"``.
    uncertainty : UncertaintySet
        The priors for which it holds; a ball always stands for its part inside the simplex.

    Raises
    ------
    InputError
        If epsilon is negative or not finite, or the uncertainty is not a set of priors.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> Guarantee(0.5, L1Ball([0.5, 0.5])).epsilon.text
    '0.5'
    """

    epsilon: Epsilon
    uncertainty: UncertaintySet

    def __init__(self, epsilon: object, uncertainty: UncertaintySet) -> None:
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        check_set(uncertainty)
        object.__setattr__(self, "uncertainty", uncertainty)


@dataclass(frozen=True)
class Proof:
    """The result of a proof in exact arithmetic.

    Attributes
    ----------
    ratios : tuple of Fraction or None
        The greatest lift of each output over the set, ``max v / h(v)``; None where the leakage is infinite.
    exp_down : Fraction
        A rational that is at most exp(epsilon). The guarantee holds if no ratio exceeds it.
    """

    ratios: tuple[Fraction | None, ...]
    exp_down: Fraction

    @property
    def violated(self) -> tuple[int, ...]:
        """Indices of the outputs that break the guarantee."""
        return tuple(j for j, ratio in enumerate(self.ratios) if ratio is None or ratio > self.exp_down)

    @property
    def holds(self) -> bool:
        """Whether every output keeps the guarantee."""
        return not self.violated

    @property
    def leakage(self) -> float:
        """The greatest leakage of any output over the set, in nats, rounded up."""
        worst = Fraction(1)
        for ratio in self.ratios:
            if ratio is None:
                return math.inf
            worst = max(worst, ratio)
        return log_up(worst)


def checked_bits(bits: int) -> int:
    """Return the number of bits, after checking that it is a whole number from 1 to 52."""
    if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= MOST_BITS:
        raise InputError(f"bits is {shorten(bits)}; accepted: a whole number from 1 to {MOST_BITS}")
    return bits


def check_integers(numerators: Integers, bits: int) -> None:
    """Check that integers are a row-stochastic matrix over 2^bits, every output of which can occur.

    Raises
    ------
    InputError
        For a wrong type or shape, bits outside 1 to 52, a negative entry, a row that does not sum to
        2^bits, or a column of zeros.
    """
    checked_bits(bits)
    if numerators.dtype != np.int64 or numerators.ndim != 2 or 0 in numerators.shape:
        raise InputError(
            f"the numerators are {numerators.dtype} of shape {numerators.shape}; accepted: int64 of shape (N, M)"
        )
    if (numerators < 0).any():
        i, j = (int(k) for k in np.argwhere(numerators < 0)[0])
        raise InputError(f"the numerator in row {i + 1}, column {j + 1} is {numerators[i, j]}; accepted: 0 or more")
    too_large = numerators > 2**bits
    if too_large.any():
        i, j = (int(k) for k in np.argwhere(too_large)[0])
        raise InputError(
            f"the numerator in row {i + 1}, column {j + 1} is {numerators[i, j]}; accepted: at most 2^{bits}"
        )
    for i, row in enumerate(numerators):
        total = sum(row.tolist())  # of Python's integers, which do not wrap
        if total != 2**bits:
            raise InputError(f"row {i + 1} of the numerators sums to {total}; accepted: 2^{bits} = {2**bits}")
    empty = np.flatnonzero(~numerators.any(axis=0))
    if empty.size:
        raise InputError(f"column {int(empty[0]) + 1} of the numerators is zero; leave out outputs that never occur")


def prove(numerators: Integers, bits: int, guarantee: Guarantee) -> Proof:
    """Compute the leakage of every output over the set, in exact arithmetic.

    Parameters
    ----------
    numerators : int64 array, shape (N, M)
        Rows sum to 2^bits.
    bits : int
        1 to 52.
    guarantee : Guarantee
        The guarantee to prove.

    Returns
    -------
    Proof
        `Proof.holds` says whether the guarantee is true.

    Raises
    ------
    InputError
        If the integers are not a mechanism on the alphabet of the guarantee.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2))
    >>> prove(np.array([[3, 1], [1, 3]]), 2, promise).holds
    True
    >>> prove(np.array([[4, 0], [1, 3]]), 2, promise).violated
    (0, 1)
    """
    check_integers(numerators, bits)
    size = guarantee.uncertainty.size
    if numerators.shape[0] != size:
        raise InputError(f"the numerators have {numerators.shape[0]} rows for {size} symbols; give one a symbol")
    exact_set = guarantee.uncertainty.exact_set
    ratios = tuple(exact_set.exact_ratio(column.tolist()) for column in numerators.T)
    return Proof(ratios, guarantee.epsilon.exp_down)
