"""How far an empirical distribution may be from the true one: the bound of Weissman et al., both ways.

For n samples over N categories (ED Theorem 2),

    P[ ||P - Phat||_1 >= beta ] <= (2^N - 2) exp(-n phi beta^2 / 4),

where ``phi = phi(kappa(P)) >= 2`` depends on the true prior P. Where P is not known, the bound holds with phi = 2.

This module computes numbers only. Radii and failure probabilities are rounded up, so that every reported number is
valid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.data.checks import MOST_SAMPLES, checked_categories, checked_delta, checked_radius, checked_samples
from mechdesign.data.counts import checked_counts
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, float_up, rounded_text, upper, working_precision
from mechdesign.numerics.outward import printed_above
from mechdesign.uncertainty.balance import Kappa, kappa, phi_ball

RADIUS_STEPS = 10**15
"""Radii are multiples of 1/RADIUS_STEPS."""
_LEAST_LOG = -750  # of a positive float


def _checked_kappa(prior: Sequence[object] | Kappa | None, categories: int) -> Fraction:
    """Return kappa of the true prior, or an upper bound of it: 1/2 where nothing is known of the prior."""
    if prior is None:
        return Fraction(1, 2)
    if isinstance(prior, Kappa):
        return prior.value
    found = kappa(prior).value
    if len(prior) != categories:
        raise InputError(f"the prior has {len(prior)} probabilities; accepted: {categories}, one for each category")
    return found


# The bound, and its solutions for the radius and for the samples, as balls at the working precision.


def log_subsets(categories: int) -> Any:
    """Return log(2^N - 2) as a ball, without forming 2^N."""
    return categories * arb_of(2).log() + (-(arb_of(2) ** (1 - categories))).log1p()


def log_failure_ball(samples: int, categories: int, radius: Any, factor: Any) -> Any:
    """Return the logarithm of the bound of ED eq. (17); the factor is phi."""
    return log_subsets(categories) - samples * factor * radius**2 / 4


def radius_ball(samples: int, categories: int, delta: Fraction, factor: Any) -> Any:
    """Return the radius of ED eq. (20), without a cap."""
    return (4 * (log_subsets(categories) - arb_of(delta).log()) / (samples * factor)).sqrt()


def samples_ball(categories: int, delta: Fraction, radius: Any, factor: Any) -> Any:
    """Return the number of samples at which ED eq. (20) is this radius."""
    return 4 * (log_subsets(categories) - arb_of(delta).log()) / (factor * radius**2)


def probability_above(log_probability: Any) -> float:
    """Return the exponential of a ball as a probability, rounded up: at most 1, and never 0."""
    if log_probability < _LEAST_LOG:
        # The exact exponential could have more digits than fit in memory.
        return math.nextafter(0.0, 1.0)
    if not log_probability < 0:
        return 1.0
    return min(1.0, printed_above(upper(log_probability.exp())))


def least_whole(samples: Any) -> int:
    """Return the least number of samples that is not below a ball.

    Raises
    ------
    InputError
        If it is above 10^15.
    """
    if not samples <= MOST_SAMPLES:
        raise InputError(
            f"it would take about {rounded_text(upper(samples))} samples; accepted: at most 10^15; "
            "ask for less, or give a larger delta"
        )
    return max(1, math.ceil(upper(samples)))


def weissman_radius_exact(
    samples: int, categories: int, delta: object, prior: Sequence[object] | Kappa | None = None
) -> Fraction:
    """Return the radius of the l1 ball that holds the true distribution with probability 1 - delta, rounded up.

    The result is a multiple of 1e-15, never below ED eq. (20), which without a prior is ED eq. (37),
    ``sqrt((2/n) (log(2^N - 2) - log delta))``, and capped at 2, where the ball is the whole simplex.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.
    prior : sequence of N numbers or Kappa, optional
        The *true* prior, or its kappa, or an upper bound of its kappa. Do not give the estimate instead: the radius may
        then be too small (see `refined_radius`). Without a prior the radius holds for every true prior.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> weissman_radius_exact(48842, 16, "1e-9")
    Fraction(36093136128199, 1000000000000000)
    """
    n, N = checked_samples(samples), checked_categories(categories)
    probability = checked_delta(delta)
    return _radius(n, N, probability, _checked_kappa(prior, N))


def _radius(samples: int, categories: int, delta: Fraction, mass: Fraction) -> Fraction:
    if delta == 0:
        return Fraction(2)
    if mass == 0:
        return Fraction(0)  # every sample is the only symbol of positive probability
    with working_precision():
        radius = upper(radius_ball(samples, categories, delta, phi_ball(mass)))
    return min(Fraction(2), Fraction(math.ceil(radius * RADIUS_STEPS), RADIUS_STEPS))


def weissman_radius(
    samples: int, categories: int, delta: object, prior: Sequence[object] | Kappa | None = None
) -> float:
    """Return `weissman_radius_exact` as a float, rounded up (ED eq. 20; without a prior eq. 37).

    Examples
    --------
    >>> round(weissman_radius(48842, 16, 1e-9), 10)
    0.0360931361
    >>> weissman_radius(48842, 16, 0)
    2.0
    >>> round(weissman_radius(1000, 3, 1e-9, prior=[0.9, 0.06, 0.04]), 10)
    0.1810814589
    """
    return float_up(weissman_radius_exact(samples, categories, delta, prior))


def refined_radius(counts: Mapping[Any, Any] | Sequence[object], delta: object) -> float:
    """Return an l1 radius that depends on how uneven the estimate is, rounded up.

    Its ball holds the true prior with probability 1 - delta, like that of `weissman_radius`, and is never larger. ED
    eq. (20) needs kappa of the true prior P. With probability 1 - delta the distance r of P and the estimate is below
    the radius beta of eq. (20) for that kappa, which is at most ``kappa(Phat) + r/2``. So on this event
    ``r < beta(kappa(Phat) + r/2)``, and a bound of r gives a smaller one. The iteration starts at the radius for
    phi = 2 and ends when the bound no longer falls. It uses no further part of delta.

    Parameters
    ----------
    counts : mapping from label to count, or sequence of counts
        How often each of the N categories, fixed beforehand, was seen in independent samples.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.

    Raises
    ------
    InputError
        For counts that are not accepted, or a delta outside [0, 1).

    Examples
    --------
    >>> round(refined_radius([900, 60, 40], 1e-9), 10), round(weissman_radius(1000, 3, 1e-9), 10)
    (0.197271545, 0.2122028525)
    """
    _, checked = checked_counts(counts)
    n, N, probability = checked_samples(sum(checked)), len(checked), checked_delta(delta)
    center = kappa([Fraction(count, n) for count in checked])
    radius = _radius(n, N, probability, Fraction(1, 2))
    # Each step is a multiple of 1e-15, and the steps shrink geometrically.
    while (smaller := _radius(n, N, probability, center.within(radius).value)) < radius:
        radius = smaller
    return float_up(radius)


def failure_probability(
    samples: int, categories: int, radius: object, prior: Sequence[object] | Kappa | None = None
) -> float:
    """Return the probability with which the true distribution may lie outside a radius, rounded up.

    This is ED Theorem 2 (eq. 17), capped at 1; without a prior, with phi = 2.

    Parameters
    ----------
    samples, categories
        As for `weissman_radius_exact`.
    radius : number or str
        l1 radius, at least 0. The distance of two distributions is at most 2.
    prior : sequence of N numbers or Kappa, optional
        The true prior, as in `weissman_radius_exact`.

    Examples
    --------
    >>> failure_probability(48842, 16, weissman_radius_exact(48842, 16, 1e-9)) <= 1.000001e-9
    True
    """
    n, N, beta = checked_samples(samples), checked_categories(categories), checked_radius(radius)
    mass = _checked_kappa(prior, N)
    if beta >= 2 or (mass == 0 and beta > 0):
        return 0.0
    if beta == 0:
        return 1.0
    with working_precision():
        return probability_above(log_failure_ball(n, N, arb_of(beta), phi_ball(mass)))


def required_samples(
    categories: int, delta: object, radius: object, prior: Sequence[object] | Kappa | None = None
) -> int:
    """Return the least number of samples for which the radius holds with this failure probability.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in (0, 1).
    radius : number or str
        l1 radius, above 0.
    prior : sequence of N numbers or Kappa, optional
        The true prior, as in `weissman_radius_exact`.

    Raises
    ------
    InputError
        For a value outside these ranges, or if it would take more than 10^15 samples.

    Examples
    --------
    >>> required_samples(16, 1e-9, weissman_radius_exact(48842, 16, 1e-9))
    48842
    """
    N, probability, beta = checked_categories(categories), checked_delta(delta), checked_radius(radius)
    mass = _checked_kappa(prior, N)
    if beta >= 2:
        return 1
    if probability == 0 or beta == 0:
        raise InputError(
            f"delta {shorten(delta)} with radius {shorten(radius)}: no number of samples is enough; "
            "give a delta and a radius above 0"
        )
    if mass == 0:
        return 1
    with working_precision():
        return least_whole(samples_ball(N, probability, arb_of(beta), phi_ball(mass)))
