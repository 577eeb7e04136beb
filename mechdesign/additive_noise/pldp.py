"""Gaussian noise under probabilistic local differential privacy, the baseline of ED Section VI-C2.

The densities of Y = X + N(0, sigma^2) given X = 1 and X = -1 have the ratio ``exp(2 |y| / sigma^2)`` or its inverse,
so the ratio exceeds ``exp(epsilon)`` where ``|y| > m = sigma^2 epsilon / 2``. That has the same probability under
either input:

    delta = P[N > m - 1] + P[N > m + 1],   N of variance sigma^2.

ED eq. (70) with sensitivity 2 amounts to ``2 P[N > m - 1]``: both tails are counted as the nearer one. This bound is
valid, but up to twice as large as delta.
"""

from __future__ import annotations

from typing import Any

from mechdesign.data.checks import checked_scale, reachable_epsilon
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import nats
from mechdesign.numerics.exact import arb_of, rational, working_precision
from mechdesign.numerics.outward import float_above, printed_above


def pldp_sigma(epsilon: object, delta: object) -> float:
    """Return the standard deviation that ED eq. (70) asks for (epsilon, delta)-probabilistic LDP, X in {-1, 1}.

    ``sigma = sqrt(2) (f + sqrt(f^2 + epsilon)) / epsilon`` with ``f = inverfc(delta)``.

    Parameters
    ----------
    epsilon : number or str
        A decimal above 0, at most 700, or ``"log(9/8)"``; nats.
    delta : number or str
        Probability of failure, in (0, 1).

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InputError
        For a value outside these ranges, or an epsilon so small that its scale is too large for a float.

    Examples
    --------
    >>> round(pldp_sigma(1.0, 1e-6), 6)
    9.983605
    """
    target, probability = reachable_epsilon(epsilon), rational(delta, "delta")
    if not 0 < probability < 1:
        raise InputError.delta_out_of_range(f"delta is {shorten(delta)}; accepted: a probability of failure in (0, 1)")
    with working_precision():
        f, e = arb_of(probability).erfcinv(), nats(target)
        found = arb_of(2).sqrt() * (f + (f**2 + e).sqrt()) / e
        sigma = printed_above(found)
    if sigma == float("inf"):
        raise InputError.epsilon_out_of_range(
            f"epsilon is {shorten(epsilon)}, whose scale is too large for a float; give a larger epsilon"
        )
    return sigma


def _tails(epsilon: object, sigma: object) -> tuple[Any, Any]:
    """Return the probabilities of the nearer and the farther tail as Arb balls."""
    e, held = nats(reachable_epsilon(epsilon)), checked_scale(sigma, "sigma")
    # The nearer tail falls with sigma, so the smallest value in the interval of sigma is the worst.
    least, any_reading = arb_of(held.low), held.ball()
    nearer = (least * e / 2 - 1 / least) / arb_of(2).sqrt()
    farther = (any_reading * e / 2 + 1 / any_reading) / arb_of(2).sqrt()
    return nearer.erfc() / 2, farther.erfc() / 2


def pldp_delta(epsilon: object, sigma: object) -> float:
    """Return the delta for which ED eq. (70) gives sigma: ``erfc((sigma^2 epsilon / 2 - 1) / (sqrt(2) sigma))``.

    Parameters
    ----------
    epsilon
        As for `pldp_sigma`.
    sigma : number or str
        Standard deviation of the noise, above 0.

    Returns
    -------
    float
        Rounded up, and at most 1; at 1 nothing is guaranteed.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(pldp_delta(1.0, 1.5), 6)
    0.933586
    """
    with working_precision():
        return min(1.0, float_above(2 * _tails(epsilon, sigma)[0]))


def pldp_delta_exact(epsilon: object, sigma: object) -> float:
    """Return the probability that the densities of an output differ by more than ``exp(epsilon)`` (ED eq. 69).

    ``P[N > m - 1] + P[N > m + 1]`` with ``m = sigma^2 epsilon / 2``, the same for every prior of X in {-1, 1}. It is at
    most `pldp_delta`, at least half of it, and rounded up.

    Parameters
    ----------
    epsilon, sigma
        As for `pldp_delta`.

    Raises
    ------
    InputError
        As for `pldp_delta`.

    Examples
    --------
    >>> round(pldp_delta_exact(1.0, 1.5), 6)
    0.545083
    """
    with working_precision():
        nearer, farther = _tails(epsilon, sigma)
        return min(1.0, float_above(nearer + farther))
