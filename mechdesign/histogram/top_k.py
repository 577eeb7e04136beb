"""The k largest counts of a histogram with any number of counters (CSH Algorithm 3, Lemma 13, Sections 4 and 6).

The (k+1)-th largest count t is subtracted from all counts, and what falls below 0 becomes 0. At most k counts are left,
and one user changes all of them in one direction, by at most 1: where t stays, counts only follow their own counter;
where t rises by 1, a count stays if its own counter rises too, and falls by 1 if not. So every mechanism for k-sparse
monotonic histograms has the guarantee it has there: `csh_delta`, or `discrete_delta`.

*The count that was subtracted* may be released as well, with noise of its own, and added back. A user changes it by 1
at most, in the other direction than the counts, and *together* with them: of the counts (5, 5, 3) with k = 2 a user of
the third makes t = 4, and (2, 2) becomes (1, 1). For Gaussian noise of deviation ``value_sigma`` the squared distance
of the two releases is the sum of both,

    mu^2 = (k + sqrt(k)) / (4 sigma^2) + 1 / value_sigma^2,

which is attained where ``(k + sqrt(k)) / 2`` is a whole number. With ``value_sigma = sigma`` the sensitivity of CSH
Theorem 11 is ``sqrt((k + sqrt(k)) / 4 + 1)`` in place of ``sqrt(k + sqrt(k)) / 2``. What new counters reveal is added,
as there.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import checked_scale
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.calibration import (
    Sparse,
    checked_epsilon,
    checked_sparsity,
    checked_tau,
    reachable_delta,
    required_tau,
)
from mechdesign.histogram.csh import csh_delta, csh_threshold
from mechdesign.histogram.hockey_stick import gaussian_divergence, rounded_up
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.numerics.arrays import number_array
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, rational
from mechdesign.numerics.outward import Interval

Integers = NDArray[np.int64]


def top_k_counts(counts: Integers, k: int) -> tuple[Integers, int]:
    """Return counts less the (k+1)-th largest, where that is above 0, and that count (CSH Algorithm 3).

    Parameters
    ----------
    counts : int array, shape (N,)
        Not negative. Counters that are not listed are 0.
    k : int
        How many counts are kept at most. With ties at the (k+1)-th largest there are fewer.

    Returns
    -------
    reduced : int array, shape (N,)
        At most k are above 0.
    subtracted : int
        0 where at most k counts are above 0. It is not private.

    Raises
    ------
    InputError
        If the counts are no whole numbers of 0 or more, or k is none above 0.

    Examples
    --------
    >>> top_k_counts(np.array([9, 2, 7, 4]), 2)
    (array([5, 0, 3, 0]), 4)
    """
    kept, values = checked_sparsity(k), number_array(counts, "the list of counts", "a list of whole numbers")
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError(f"the counts are {shorten(counts)}; accepted: a list of whole numbers")
    if values.size and values.min() < 0:
        raise InputError(f"a count is {values.min()}; accepted: a whole number, 0 or more")
    subtracted = 0 if values.size <= kept else int(np.partition(values, values.size - kept - 1)[-kept - 1])
    reduced: Integers = np.maximum(values.astype(np.int64), subtracted) - subtracted
    return reduced, subtracted


def top_k_delta(
    k: int,
    sigma: object,
    tau: object,
    epsilon: object,
    analysis: str = "proved",
    value_sigma: object | None = None,
) -> float:
    """Return delta such that the top k with correlated Gaussian noise are (epsilon, delta)-private (CSH Corollary 14).

    Parameters
    ----------
    k, sigma, tau, epsilon, analysis
        As in `csh_delta`, which this is where the subtracted count is not released.
    value_sigma : number or str, optional
        Deviation of the noise with which the subtracted count is released too. Then the only analysis is ``"proved"``:
        the divergence of the Gaussian noise, and the probability that one of k new counters shows.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InputError
        As `csh_delta`; for another analysis of a released value.

    Examples
    --------
    >>> delta = top_k_delta(10, 30, 120, 0.35)
    >>> delta < top_k_delta(10, 30, 120, 0.35, value_sigma=30)
    True
    """
    if value_sigma is None:
        return csh_delta(k, sigma, tau, epsilon, analysis)
    _check_sum(analysis)
    noise, value = Sparse.of(k, sigma), checked_scale(value_sigma, "value_sigma")
    return _delta(noise, value, checked_tau(tau), checked_epsilon(epsilon))


def top_k_threshold(
    k: int,
    sigma: object,
    epsilon: object,
    delta: object,
    analysis: str = "proved",
    value_sigma: object | None = None,
) -> float:
    """Return the least tau with which `top_k_delta` is not above delta.

    Parameters
    ----------
    k, sigma, epsilon, analysis, value_sigma
        As in `top_k_delta`.
    delta : number or str
        From 5e-324 to 1, exclusive.

    Returns
    -------
    float

    Raises
    ------
    InputError
        As `top_k_delta`, and where no threshold reaches delta.

    Examples
    --------
    >>> top_k_threshold(10, 30, 0.35, 1e-5) < top_k_threshold(10, 30, 0.35, 1e-5, value_sigma=30)
    True
    """
    if value_sigma is None:
        return csh_threshold(k, sigma, epsilon, delta, analysis)
    _check_sum(analysis)
    noise, value = Sparse.of(k, sigma), checked_scale(value_sigma, "value_sigma")
    e, target = checked_epsilon(epsilon), reachable_delta(delta)
    return required_tau(
        lambda tau: _delta(noise, value, checked_tau(tau), e),
        _gaussian_alone(noise, value, e),
        float(noise.sigma.high),
        target,
        "csh_least_sigma, without the released value,",
    )


def _check_sum(analysis: str) -> None:
    if analysis != "proved":
        raise InputError(
            f"the analysis is {shorten(analysis)}; accepted with a released (k+1)-th count: 'proved', the only one"
        )


def _gaussian_alone(noise: Sparse, value: Interval, epsilon: Epsilon) -> float:
    """Return the divergence of the noises, without new counters."""

    def divergence() -> object:
        root = arb_of(noise.k).sqrt()
        squared = (noise.k + root) / (4 * arb_of(noise.sigma.low) ** 2) + 1 / arb_of(value.low) ** 2
        return gaussian_divergence(nats(epsilon), squared.sqrt())

    return rounded_up(divergence)


def _delta(noise: Sparse, value: Interval, tau: Fraction, epsilon: Epsilon) -> float:
    def appears() -> object:
        common = 1 / arb_of(noise.k).sqrt().sqrt()
        return common_release_probability(noise.k, arb_of(tau) / arb_of(noise.sigma.high), common)

    both = Fraction(_gaussian_alone(noise, value, epsilon)) + Fraction(rounded_up(appears))
    return rounded_up(lambda: arb_of(both))


def recentred(low: object, high: object) -> tuple[Fraction, Fraction]:
    """Return the middle of a range and half its width: a sum query, recentred (CSH Section 6).

    A user who is added or removed changes the sum of values in [low, high] by up to ``max(|low|, |high|)``, but the sum
    of ``value - middle`` by no more than half the width. With a private estimate of how many values there are, the
    latter sum plus ``middle`` times that estimate is an estimate of the former. One estimate serves any number of
    sums; its error enters each, times the middle.

    Parameters
    ----------
    low, high : number or str
        Bounds of what one user adds to the sum, ``low <= high``.

    Returns
    -------
    middle, sensitivity : Fraction

    Raises
    ------
    InputError
        If they are no such numbers.

    Examples
    --------
    >>> recentred(0, 10), recentred("0.5", 2)
    ((Fraction(5, 1), Fraction(5, 1)), (Fraction(5, 4), Fraction(3, 4)))
    """
    least, most = rational(low, "low"), rational(high, "high")
    if least > most:
        raise InputError(f"low is {shorten(low)}, above high = {shorten(high)}; accepted: low <= high")
    return (least + most) / 2, (most - least) / 2
