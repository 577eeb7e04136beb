"""The proof of a guarantee in exact arithmetic. An auditor needs to read this file only.

A mechanism is an integer matrix whose rows sum to 2^bits. It is epsilon-PML for every prior in a set B
exactly when each of its columns v satisfies ``max v <= exp(epsilon) h(v)`` with
``h(v) = min over Q in B of <Q, v>``. Here h is a rational number, computed by `exact_support` of the set
(`mechdesign.uncertainty.L1Ball`), from which `exact_ratio` of the set has the greatest lift of an output, and
exp(epsilon) is replaced by a rational that is proven not to exceed it
(`mechdesign.numerics.epsilon.Epsilon.exp_down`). No float and no tolerance is used. Shape, signs and row sums are
checked first.

A two-sided guarantee (local information privacy) also says that every column satisfies ``min v >= exp(-lower) H(v)``
with ``H(v) = max over Q in B of <Q, v>``, the *greatest* mean: no report makes any category less likely by a factor
below exp(-lower), for any prior in B. exp(-lower) is replaced by a rational that is proven not to be below it. A
guarantee with a cap says ``min v >= exp(-cap) max v``: local differential privacy with the cap, whatever the prior is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import log_up
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.uncertainty.sides import Sides, priors_below

Integers = NDArray[np.int64]
MOST_BITS = 52  # numerators and their sums are then exact in float64, and so in JavaScript


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a mechanism: epsilon-PML for every prior in a set, and perhaps a bound from below.

    The *lift* of a category by an output is the probability of the category after the output over that before.
    Epsilon-PML says that no lift is above exp(epsilon). With ``lower`` none is below exp(-lower) either, so that no
    report rules anything out: (lower, epsilon)-local information privacy. With ``cap`` the mechanism is also cap-LDP:
    no lift is above exp(cap) or below exp(-cap) for any prior whatever, also one outside of the set. With
    ``maximal_leakage`` the sum over outputs of the greatest p(y given x) is at most exp of it, so that for any prior
    whatever all reports together make no guess likelier by more.

    Parameters
    ----------
    epsilon : number, str or Sides
        Privacy parameter in nats: a number, a decimal as text, or ``"log(9/8)"``. Or the sides of another promise,
        with its lower and cap.
    uncertainty : UncertaintySet
        The priors for which it holds; a ball always stands for its part inside the simplex.
    lower : number or str, optional
        The promise from below, written as epsilon is. Without it lifts may be as low as 0.
    cap : number or str, optional
        The level of local differential privacy that everybody is promised, whatever the prior; instead of lower.
    maximal_leakage : number or str, optional
        The promise on average, whatever the prior; instead of lower and cap.

    Raises
    ------
    InputError
        If a number is negative or not finite, two are given beside epsilon, or the uncertainty is not a set of priors.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> Guarantee(0.5, L1Ball([0.5, 0.5])).epsilon.text
    '0.5'
    >>> Guarantee(1, L1Ball([0.5, 0.5]), lower="log(2)").least_lift
    Fraction(1, 2)
    """

    sides: Sides
    uncertainty: UncertaintySet

    def __init__(
        self,
        epsilon: object,
        uncertainty: UncertaintySet,
        lower: object = None,
        cap: object = None,
        maximal_leakage: object = None,
    ) -> None:
        object.__setattr__(self, "sides", Sides(epsilon, lower, cap, maximal_leakage))
        check_set(uncertainty)
        object.__setattr__(self, "uncertainty", uncertainty)

    @property
    def epsilon(self) -> Epsilon:
        """The promise from above."""
        return self.sides.epsilon

    @property
    def lower(self) -> Epsilon | None:
        """The promise from below over the set, or None."""
        return self.sides.lower

    @property
    def cap(self) -> Epsilon | None:
        """The promise for every prior, or None."""
        return self.sides.cap

    @property
    def maximal_leakage(self) -> Epsilon | None:
        """The promise on average, for every prior, or None."""
        return self.sides.maximal_leakage

    @property
    def delta(self) -> Fraction | None:
        """The probability that the true prior lies outside of the set; None where nothing is learnt from samples."""
        return self.uncertainty.delta

    @property
    def holds_every_prior(self) -> bool:
        """Whether it is for all priors, which is local differential privacy."""
        return self.uncertainty.holds_every_prior

    @property
    def secret(self) -> str | None:
        """The attribute that it is about, where that is not the data themselves."""
        names = self.uncertainty.protected.names
        return None if names is None else names[0]

    @property
    def asserts_samples(self) -> bool:
        """Whether delta rests on samples that are asserted."""
        return self.uncertainty.asserts_samples

    @property
    def least_lift(self) -> Fraction:
        """A rational that no lift may be below: at least exp(-lower) or exp(-cap); 0 without a promise from below."""
        return self.sides.floor_up.least_lift

    @property
    def room(self) -> Fraction:
        """How far the lifts of a constant column, which are 1, are from the nearest that is not allowed."""
        above = self.epsilon.exp_down - 1
        return above if self.sides.below is None else min(above, 1 - self.least_lift)

    @property
    def kept_by_raising(self) -> bool:
        """Whether a column keeps the guarantee when an entry below its greatest rises."""
        return self.sides.below is None and self.uncertainty.limits_entries

    @cached_property
    def _priors_below(self) -> UncertaintySet:
        """The priors of the promise from below."""
        return priors_below(self.sides.floor_up, self.uncertainty.exact_set)

    def exact_least_lift(self, column: Sequence[int]) -> Fraction:
        """Return the least lift of any category by an output, over the priors of the promise from below."""
        return self._priors_below.exact_least_lift(column)

    def is_kept_by(self, column: Sequence[int]) -> bool:
        """Return whether a column of integers keeps the guarantee, in rational arithmetic.

        A column of zeros does: its output never occurs.
        """
        if not any(column):
            return True
        ratio = self.uncertainty.exact_set.exact_ratio(column)
        if ratio is None or ratio > self.epsilon.exp_down:
            return False
        return self.sides.below is None or self.exact_least_lift(column) >= self.least_lift

    def allows_sum(self, greatest: Fraction) -> bool:
        """Return whether the greatest probabilities of all outputs may have a sum: at most exp(maximal_leakage)."""
        return self.maximal_leakage is None or greatest <= self.maximal_leakage.exp_down


@dataclass(frozen=True)
class Proof:
    """The result of a proof in exact arithmetic.

    Attributes
    ----------
    ratios : tuple of Fraction or None
        The greatest lift of each output over the set, ``max v / h(v)``; None where the leakage is infinite.
    exp_down : Fraction
        A rational that is at most exp(epsilon). The guarantee needs every ratio to be at most this.
    least_lifts : tuple of Fraction
        ``min v / H(v)`` of each output, with a cap ``min v / max v``; empty if the guarantee does not promise anything
        from below.
    lift_floor : Fraction
        A rational that is at least exp(-lower) or exp(-cap), and 0 without these. The guarantee needs every least lift
        to be at least this.
    sum_of_greatest : Fraction
        ``sum_y max_x p(y|x)``, whose logarithm is the maximal leakage.
    sum_allowed : Fraction or None
        A rational that is at most exp(maximal_leakage), which the guarantee needs that sum to be at most; None if it
        does not promise it.
    """

    ratios: tuple[Fraction | None, ...]
    exp_down: Fraction
    least_lifts: tuple[Fraction, ...] = ()
    lift_floor: Fraction = Fraction(0)
    sum_of_greatest: Fraction = field(default=Fraction(1), kw_only=True)
    sum_allowed: Fraction | None = field(default=None, kw_only=True)

    @property
    def violated_above(self) -> tuple[int, ...]:
        """Indices of the outputs that leak more than epsilon."""
        return tuple(j for j, ratio in enumerate(self.ratios) if ratio is None or ratio > self.exp_down)

    @property
    def violated_below(self) -> tuple[int, ...]:
        """Indices of the outputs with a lift below exp(-lower) or exp(-cap)."""
        return tuple(j for j, lift in enumerate(self.least_lifts) if lift < self.lift_floor)

    @property
    def violated(self) -> tuple[int, ...]:
        """Indices of the outputs that break the guarantee on either side."""
        return tuple(sorted({*self.violated_above, *self.violated_below}))

    @property
    def holds(self) -> bool:
        """Whether every output keeps the guarantee, and all together do."""
        return not self.violated and not self.leaks_on_average

    @property
    def leaks_on_average(self) -> bool:
        """Whether the maximal leakage is above that of the guarantee."""
        return self.sum_allowed is not None and self.sum_of_greatest > self.sum_allowed

    @property
    def maximal_leakage(self) -> float:
        """The logarithm of ``sum_y max_x p(y|x)``, in nats, rounded up; it bounds what all reports tell, for any prior.

        Where the promise is about the data it is never above `leakage`.
        """
        return log_up(self.sum_of_greatest)

    @property
    def leakages(self) -> tuple[float, ...]:
        """The leakage of each output over the set, in nats, rounded up; infinite where its ratio is None."""
        return tuple(math.inf if ratio is None else log_up(max(Fraction(1), ratio)) for ratio in self.ratios)

    @property
    def leakage(self) -> float:
        """The greatest leakage of any output over the set, in nats, rounded up."""
        worst = Fraction(1)
        for ratio in self.ratios:
            if ratio is None:
                return math.inf
            worst = max(worst, ratio)
        return log_up(worst)

    @property
    def lower_leakage(self) -> float | None:
        """Minus the logarithm of the least lift of any output over the set, in nats, rounded up.

        None if the guarantee does not promise anything from below.
        """
        if not self.least_lifts:
            return None
        least = min(self.least_lifts)
        return log_up(1 / least) if least > 0 else math.inf

    @property
    def lower_leakages(self) -> tuple[float, ...]:
        """Minus the logarithm of the least lift of each output, in nats, rounded up; empty without a promise."""
        return tuple(log_up(1 / lift) if lift > 0 else math.inf for lift in self.least_lifts)

    def why_false(self, names: Sequence[str], guarantee: Guarantee) -> str:
        """Return in words how the outputs break the guarantee; empty if it holds."""
        claims = []
        if self.violated_above:
            which = _some(names, self.violated_above, "leak")
            claims.append(f"{which} up to {self.leakage:.9g} nats, above epsilon = {guarantee.epsilon}")
        if self.violated_below:
            which, sides = _some(names, self.violated_below, "lower"), guarantee.sides
            claims.append(
                f"{which} the probability of a category{' for some prior' * (sides.cap is not None)} by up to "
                f"{self.lower_leakage:.9g} nats, above {sides.below_name} = {sides.below}"
            )
        if self.leaks_on_average:
            claims.append(
                f"the maximal leakage is {self.maximal_leakage:.9g} nats, above {guarantee.maximal_leakage} as promised"
            )
        return "; ".join(claims)


def _some(names: Sequence[str], which: Sequence[int], verb: str) -> str:
    """Return the first of some outputs, how many others there are, and what they do."""
    others = len(which) - 1
    return f"output {shorten(names[which[0]])} " + (f"and {others} more {verb}" if others else f"{verb}s")


def checked_bits(bits: object) -> int:
    """Return the number of bits, after checking that it is a whole number from 1 to 52."""
    if isinstance(bits, bool) or not isinstance(bits, Integral) or not 1 <= int(bits) <= MOST_BITS:
        raise InputError.not_a_whole_number(f"bits is {shorten(bits)}; accepted: a whole number from 1 to {MOST_BITS}")
    return int(bits)


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
        raise InputError.wrong_size(
            f"the numerators are {numerators.dtype} of shape {numerators.shape}; accepted: int64 of shape (N, M)"
        )
    if (numerators < 0).any():
        i, j = (int(k) for k in np.argwhere(numerators < 0)[0])
        raise InputError.not_probabilities(
            f"the numerator in row {i + 1}, column {j + 1} is {numerators[i, j]}; accepted: 0 or more"
        )
    too_large = numerators > 2**bits
    if too_large.any():
        i, j = (int(k) for k in np.argwhere(too_large)[0])
        raise InputError.not_probabilities(
            f"the numerator in row {i + 1}, column {j + 1} is {numerators[i, j]}; accepted: at most 2^{bits}"
        )
    for i, row in enumerate(numerators):
        total = sum(row.tolist())  # of Python's integers, which do not wrap
        if total != 2**bits:
            raise InputError.wrong_sum(f"row {i + 1} of the numerators sums to {total}; accepted: 2^{bits} = {2**bits}")
    empty = np.flatnonzero(~numerators.any(axis=0))
    if empty.size:
        raise InputError.never_occurs(
            f"column {int(empty[0]) + 1} of the numerators is zero; leave out outputs that never occur"
        )


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
        If the integers are not a mechanism on the categories of the guarantee.

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
        raise InputError.wrong_size(
            f"the numerators have {numerators.shape[0]} rows for {size} categories; give one a category"
        )
    exact_set, columns = guarantee.uncertainty.exact_set, numerators.T.tolist()
    ratios = tuple(exact_set.exact_ratio(column) for column in columns)
    most = guarantee.maximal_leakage
    least_lifts = () if guarantee.sides.below is None else tuple(map(guarantee.exact_least_lift, columns))
    return Proof(
        ratios,
        guarantee.epsilon.exp_down,
        least_lifts,
        guarantee.least_lift,
        sum_of_greatest=Fraction(sum(map(max, columns)), 2**bits),
        sum_allowed=None if most is None else most.exp_down,
    )
