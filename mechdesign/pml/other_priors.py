"""Bounds on leakage at another prior that need little knowledge of the mechanism (ED Theorems 3 and 4, Corollary 2).

All are rounded up: exp(epsilon) is replaced by a rational not below it, the rest is rational arithmetic, and the
logarithm is rounded up. Where the formula gives no bound, the result is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from numpy.typing import ArrayLike

from mechdesign.data.checks import checked_radius
from mechdesign.data.labelled import vector
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, float_up, log_up, rational, upper, working_precision
from mechdesign.pml.capacity import columns_over, worst_case
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_set import exact_prior


def lipschitz_bound(matrix: ArrayLike, uncertainty: UncertaintySet) -> float:
    """Return ``exp(C)``: a Lipschitz constant of the leakage over a set of priors (ED Theorem 3).

    ``|epsilon_min(P) - epsilon_min(Q)| <= exp(C) ||P - Q||_1`` for all P and Q in the set, with the leakage capacity C
    over it. Half of it is a Lipschitz constant too: P - Q sums to 0, so ``|<P - Q, v>|`` is at most half of
    ``||P - Q||_1 (max v - min v)``, and ``max_y (max v - min v) / (2 h(v))`` is a Lipschitz constant. Over a ball of
    positive radius no constant is below ``exp(C) / 2`` if one output alone leaks C and its column has a zero.

    Parameters
    ----------
    matrix, uncertainty
        As for `worst_case_leakage`.

    Returns
    -------
    float
        At least 1, rounded up; infinite where the capacity is infinite.

    Raises
    ------
    InputError
        As for `worst_case_leakage`.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> lipschitz_bound([[0.75, 0.25], [0.25, 0.75]], L1Ball([0.5, 0.5], radius=2))
    3.0
    """
    columns = columns_over(matrix, uncertainty)
    ratio, _, _ = worst_case(columns, [max(v) for v in columns], uncertainty)
    return math.inf if ratio is None else float_up(ratio)


def _log_of_growth(lost: Fraction) -> float:
    """Return ``-log(1 - lost)``, rounded up; infinite where this logarithm does not exist."""
    return log_up(1 / (1 - lost)) if lost < 1 else math.inf


def _lost_first_region(e: Fraction, radius: Fraction, p_min: Fraction) -> Fraction:
    return radius / 2 * (e - 1) / p_min


def sensitivity_bound_first_region(epsilon: object, radius: object, p_min: object) -> float:
    """Return ``-log(1 - (radius/2) (e^epsilon - 1) / p_min)``, in nats (ED Theorem 4, k = 1).

    It bounds `output_sensitivity` and so `leakage_sensitivity` of every mechanism that is epsilon-PML at P, over the l1
    ball of the radius around P. A column v of mean 1 has ``max v <= e^epsilon`` and
    ``min v >= (1 - e^epsilon (1 - p_min)) / p_min``, and the ball lowers its mean by at most ``radius/2`` times the
    difference.

    ED states it for ``radius < 2 p_min`` and epsilon in the first privacy region. Neither is needed: the bound holds
    wherever the logarithm exists. Above the first region `sensitivity_bound_any_region` is smaller. In the first
    region the mechanism of GSO Theorem 3, the extremal mechanism that leaks exactly epsilon in every output, attains
    the bound for every ``radius <= 2 (1 - p_min)``.

    Parameters
    ----------
    epsilon : number or str
        What the mechanism guarantees at P, in nats: a decimal or ``"log(9/8)"``.
    radius : number or str
        l1 radius of the ball around P, in [0, 2].
    p_min : number or str
        Least probability of P, in (0, 1/2].

    Returns
    -------
    float
        Rounded up; infinite where the logarithm does not exist.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(sensitivity_bound_first_region("log(9/8)", "0.2", "0.2"), 6)
    0.064539
    """
    p = rational(p_min, "p_min")
    if not 0 < p <= Fraction(1, 2):
        raise InputError.out_of_range(
            f"p_min is {shorten(p_min)}; accepted: the least of two or more probabilities, in (0, 1/2]"
        )
    return _log_of_growth(_lost_first_region(Epsilon.of(epsilon).exp_up, checked_radius(radius), p))


def sensitivity_bound_any_region(epsilon: object, radius: object) -> float:
    """Return ``-log(1 - (radius/2) e^epsilon)``, in nats (ED Theorem 4, k > 1).

    It bounds `output_sensitivity` and so `leakage_sensitivity` of every mechanism that is epsilon-PML at P, over the l1
    ball of the radius around P, for all priors P: a column v of mean 1 has ``max v - min v <= e^epsilon``. ED states it
    for ``radius < 2 p_min``, which is not needed.

    Both sensitivities equal the bound for ``radius <= 2 p_min`` if *epsilon is the least for which the mechanism is
    epsilon-PML at P* and an output that leaks epsilon has a zero in its column. ED requires the zeros only; if epsilon
    is larger than the least one, the zeros are not enough.

    Parameters
    ----------
    epsilon, radius
        As for `sensitivity_bound_first_region`; rounding, infinite values and errors too.

    Examples
    --------
    >>> round(sensitivity_bound_any_region("log(5)", "0.1"), 6)
    0.287682
    """
    return _log_of_growth(checked_radius(radius) / 2 * Epsilon.of(epsilon).exp_up)


def sensitivity_bound(epsilon: object, radius: object, prior: Sequence[object]) -> float:
    """Return the bound on the leakage sensitivity of an epsilon-PML mechanism over an l1 ball, in nats (ED Theorem 4).

    The smaller of `sensitivity_bound_first_region` and `sensitivity_bound_any_region`: that is the former in the first
    privacy region and the latter above it, as ``(e^epsilon - 1) / p_min <= e^epsilon`` says precisely that epsilon is
    at most ``-log(1 - p_min)``. An epsilon above `epsilon_max` is replaced by `epsilon_max`, which no mechanism
    exceeds; so for ``radius < 2 p_min`` the bound is always finite. The leakage over the ball is at most the sum of
    epsilon, or `epsilon_max` if that is smaller, and the bound.

    Parameters
    ----------
    epsilon, radius
        As for `sensitivity_bound_first_region`; rounding, infinite values and errors too.
    prior : sequence of N numbers
        The reference prior P, a distribution. If it has zeros, only the bound for any region applies.

    Examples
    --------
    >>> P = [0.4, 0.2, 0.2, 0.2]
    >>> round(sensitivity_bound("log(9/8)", "0.2", P), 6), round(sensitivity_bound(1, "0.2", P), 6)
    (0.064539, 0.317218)
    """
    p_min, half = min(exact_prior(vector(prior, "the prior").values)), checked_radius(radius) / 2
    e = Epsilon.of(epsilon).exp_up
    if p_min == 0:
        return _log_of_growth(half * e)
    e = min(e, 1 / p_min)
    return _log_of_growth(min(half * e, _lost_first_region(e, 2 * half, p_min)))


def leakage_bound_elsewhere(epsilon: object, distance: object) -> float:
    """Return ``epsilon - log(1 - e^epsilon ||P - Q||_1 / 2)``, in nats (ED Corollary 2, eq. 33).

    A mechanism that is epsilon-PML at a prior P leaks at most this at every prior Q within that l1 distance of P. With
    `weissman_radius` as the distance it is ED eq. (38). At distance 0 the bound is epsilon.

    Parameters
    ----------
    epsilon
        As for `sensitivity_bound_first_region`.
    distance : number or str
        ``||P - Q||_1``, in [0, 2].

    Returns
    -------
    float
        Rounded up; infinite where the distance is ``2 e^-epsilon`` or more, because the formula then gives no bound.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(leakage_bound_elsewhere("log(5)", "0.1"), 6), leakage_bound_elsewhere("log(5)", "0.4")
    (1.89712, inf)
    """
    known, shift = Epsilon.of(epsilon), rational(distance, "the distance")
    if not 0 <= shift <= 2:
        raise InputError.out_of_range(
            f"the distance is {shorten(distance)}; accepted: an l1 distance of two priors, in [0, 2]"
        )
    lost = shift / 2 * known.exp_up
    if lost >= 1:
        return math.inf
    if known.power is not None:
        return log_up(known.power / (1 - lost))
    with working_precision():
        return float_up(upper(arb_of(known.exponent or 0) - arb_of(1 - lost).log()))
