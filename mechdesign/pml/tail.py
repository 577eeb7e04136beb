"""The tail of the leakage: guarantees that may fail with probability delta over the outputs (ED Definition 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from operator import mul
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.labelled import together
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up, log_up, over_common_denominator, rational
from mechdesign.pml.pointwise import check_shapes, exact_columns
from mechdesign.uncertainty.prior_set import exact_prior

EpsilonLike = float | str | Fraction | Decimal | Epsilon


def _ratios_and_masses(matrix: ArrayLike, prior: Sequence[object]) -> list[tuple[Fraction, Fraction]]:
    """Return exp(leakage) and probability of every output that occurs, exactly."""
    matrix, prior, _ = together(matrix, prior)
    columns, P = exact_columns(matrix), exact_prior(prior)
    check_shapes((len(columns[0][0]), len(columns)), (len(P),))
    weights, total = over_common_denominator(P)
    found = []
    for v, denominator in columns:
        mean = sum(map(mul, weights, v))
        if mean > 0:
            found.append((Fraction(max(v) * total, mean), Fraction(mean, denominator)))
    # Rows may be numerators, or sum to 1 up to rounding only: the masses are divided by their sum.
    everything = sum((mass for _, mass in found), Fraction(0))
    return [(ratio, mass / everything) for ratio, mass in found]


@overload
def leakage_tail(matrix: ArrayLike, prior: Sequence[object], epsilon: EpsilonLike) -> float: ...


@overload
def leakage_tail(
    matrix: ArrayLike, prior: Sequence[object], epsilon: list[Any] | tuple[Any, ...] | NDArray[Any]
) -> Floats: ...


def leakage_tail(matrix: ArrayLike, prior: Sequence[object], epsilon: Any) -> float | Floats:
    """Return ``P_Y{ l(X -> Y) > epsilon }``: the least delta for which a mechanism is (epsilon, delta)-PML.

    This delta is a probability over the outputs: that the report leaks more than epsilon (ED Definition 3, eq. 36). The
    comparison is exact, because an optimal mechanism leaks exactly epsilon in every output (ED eq. 12), where rounding
    errors would decide a comparison of floats. Outputs of probability 0 are not counted.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism; floats are read as the decimals that they print as. Give the ``numerators`` of a `Mechanism`.
    prior : sequence of N numbers
        The prior that gives the outputs their probabilities.
    epsilon : number or str, or a list of them
        In nats: a decimal or ``"log(9/8)"``.

    Returns
    -------
    float, or array of shape (K,) for K values of epsilon
        Rounded up.

    Raises
    ------
    InputError
        If the shapes do not fit, or the mechanism, the prior or epsilon is not accepted.

    Examples
    --------
    >>> erasure = [[0.25, 0, 0.75], [0, 0.25, 0.75]]
    >>> leakage_tail(erasure, [0.5, 0.5], "log(2)")
    0.0
    >>> leakage_tail(erasure, [0.5, 0.5], [0, 0.5, 1])
    array([0.25, 0.25, 0.  ])
    """
    outputs = _ratios_and_masses(matrix, prior)

    def tail(value: object) -> float:
        allowed = Epsilon.of(value).exp_down
        return float_up(sum((mass for ratio, mass in outputs if ratio > allowed), Fraction(0)))

    if isinstance(epsilon, list | tuple) or (isinstance(epsilon, np.ndarray) and epsilon.ndim == 1):
        return np.array([tail(value) for value in epsilon])
    return tail(epsilon)


def epsilon_at(matrix: ArrayLike, prior: Sequence[object], delta: object) -> float:
    """Return the least epsilon for which a mechanism is (epsilon, delta)-PML at a prior, in nats (ED Definition 3).

    It is the leakage of an output, or 0. For delta = 0 it is `epsilon_min`, except that outputs of probability 0 are
    not counted; for delta = 1 it is 0.

    Parameters
    ----------
    matrix, prior
        As for `leakage_tail`.
    delta : number or str
        Probability, in [0, 1], that the output leaks more than epsilon.

    Returns
    -------
    float
        Rounded up, so that `leakage_tail` of it is at most delta.

    Raises
    ------
    InputError
        As for `leakage_tail`, and for a delta outside [0, 1].

    Examples
    --------
    >>> erasure = [[0.25, 0, 0.75], [0, 0.25, 0.75]]
    >>> epsilon_at(erasure, [0.5, 0.5], 0.25), round(epsilon_at(erasure, [0.5, 0.5], 0.2), 6)
    (0.0, 0.693147)
    """
    allowed = checked_probability(delta)
    exceeding = Fraction(0)
    for ratio, mass in sorted(_ratios_and_masses(matrix, prior), reverse=True):
        exceeding += mass
        if exceeding > allowed:
            return covering(ratio)
    return 0.0


def checked_probability(delta: object) -> Fraction:
    """Return a delta as an exact fraction, after checking that it is a probability.

    Raises
    ------
    InputError
        If it is outside [0, 1].

    Examples
    --------
    >>> checked_probability(0.25)
    Fraction(1, 4)
    """
    allowed = rational(delta, "delta")
    if not 0 <= allowed <= 1:
        raise InputError.delta_out_of_range(f"delta is {shorten(delta)}; accepted: a probability in [0, 1]")
    return allowed


def covering(ratio: Fraction) -> float:
    """Return a float that is not below ``log(ratio)``, nor is the decimal that it prints as.

    Examples
    --------
    >>> covering(Fraction(1)), covering(Fraction(9, 8))
    (0.0, 0.11778303565638346)
    """
    found = log_up(ratio)
    # Some units in the last place, by which `exp_down` is below exp.
    while Epsilon.of(found).exp_down < ratio:
        found = math.nextafter(found, math.inf)
    return found
