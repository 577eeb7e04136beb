"""How far an empirical distribution may be from the true one: the bound of Weissman et al., both ways.

For n samples over N categories (ED Theorem 2 with phi >= 2),

    P[ ||P - Phat||_1 >= beta ] <= (2^N - 2) exp(-n beta^2 / 2).

Numbers only. Radii are rounded up and failure probabilities are rounded up, so that what is reported
always holds.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

from mechdesign.errors import InputError, shorten
from mechdesign.exact import arb_of, float_up, rational, upper, working_precision

_DECIMALS = 15
_MOST_SAMPLES = 10**15


def _whole(value: object, name: str, least: int) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name} is {shorten(value)}; accepted: a whole number, at least {least}") from None
    if whole < least:
        raise InputError(f"{name} is {whole}; accepted: a whole number, at least {least}")
    return whole


def checked_samples(value: object) -> int:
    """Return a number of samples: a whole number from 1 to 10^15."""
    samples = _whole(value, "the number of samples", 1)
    if samples > _MOST_SAMPLES:
        raise InputError(f"the number of samples is {shorten(samples)}; accepted: a whole number from 1 to 10^15")
    return samples


def checked_delta(value: object) -> Fraction:
    """Return a failure probability in [0, 1) as a fraction."""
    delta = rational(value, "delta")
    if not 0 <= delta < 1:
        raise InputError(f"delta is {shorten(value)}; accepted: a probability of failure in [0, 1)")
    return delta


def _log_subsets(categories: int) -> Any:
    """Return log(2^N - 2) as a ball, without forming 2^N."""
    return categories * arb_of(2).log() + (-(arb_of(2) ** (1 - categories))).log1p()


def weissman_radius_exact(samples: int, categories: int, delta: object) -> Fraction:
    """Return the l1 radius that holds the true distribution with probability 1 - delta, rounded up.

    The result is a multiple of 1e-15, never below ED eq. (37),
    ``sqrt((2/n) (log(2^N - 2) - log delta))``, and capped at 2, where the ball is the whole simplex.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> weissman_radius_exact(48842, 16, "1e-9")
    Fraction(36093136128199, 1000000000000000)
    """
    n = checked_samples(samples)
    N = _whole(categories, "the number of categories", 2)
    probability = checked_delta(delta)
    if probability == 0:
        return Fraction(2)
    with working_precision():
        radius = upper((2 * (_log_subsets(N) - arb_of(probability).log()) / n).sqrt())
    return min(Fraction(2), Fraction(math.ceil(radius * 10**_DECIMALS), 10**_DECIMALS))


def weissman_radius(samples: int, categories: int, delta: object) -> float:
    """Return `weissman_radius_exact` as a float, rounded up (ED eq. 37).

    Examples
    --------
    >>> round(weissman_radius(48842, 16, 1e-9), 10)
    0.0360931361
    >>> weissman_radius(48842, 16, 0)
    2.0
    """
    return float_up(weissman_radius_exact(samples, categories, delta))


def failure_probability(samples: int, categories: int, radius: object) -> float:
    """Return the probability with which the true distribution may lie outside a radius, rounded up.

    This is ED Theorem 2 with phi = 2, capped at 1.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    radius : number or str
        l1 radius, at least 0. No distribution is further than 2.

    Examples
    --------
    >>> failure_probability(48842, 16, weissman_radius_exact(48842, 16, 1e-9)) <= 1.000001e-9
    True
    """
    n = checked_samples(samples)
    N = _whole(categories, "the number of categories", 2)
    beta = checked_radius(radius)
    if beta >= 2:
        return 0.0
    with working_precision():
        bound = upper((_log_subsets(N) - arb_of(n * beta * beta / 2)).exp())
    return float_up(min(Fraction(1), bound))


def required_samples(categories: int, delta: object, radius: object) -> int:
    """Return the least number of samples for which the radius is enough at this failure probability.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in (0, 1).
    radius : number or str
        l1 radius, above 0.

    Examples
    --------
    >>> required_samples(16, 1e-9, weissman_radius_exact(48842, 16, 1e-9))
    48842
    """
    N = _whole(categories, "the number of categories", 2)
    probability, beta = checked_delta(delta), checked_radius(radius)
    if beta >= 2:
        return 1
    if probability == 0 or beta == 0:
        raise InputError(
            f"delta {shorten(delta)} with radius {shorten(radius)}: no number of samples is enough; "
            "give a delta and a radius above 0"
        )
    with working_precision():
        return math.ceil(upper(2 * (_log_subsets(N) - arb_of(probability).log()) / arb_of(beta * beta)))


def checked_radius(value: object) -> Fraction:
    """Return an l1 radius in [0, 2] as a fraction."""
    radius = rational(value, "the radius")
    if not 0 <= radius <= 2:
        raise InputError(f"the radius is {shorten(value)}; accepted: 0 (known prior) to 2 (any prior)")
    return radius
