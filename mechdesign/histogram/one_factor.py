"""The probability that one of several noisy zeros with a common noise exceeds a threshold, with a proved error.

With the common term Z ~ N(0, c^2), in units of the own noise, it is an integral over one variable,

    R(n) = E[ 1 - Phi(t - c Z)^n ],        t = tau / sigma,

which the trapezoidal rule computes to any accuracy. The integrand f(z) = phi(z) (1 - Phi(t - c z)^n) is entire. For
real x and y, ``|1 - Phi(x + iy)| <= exp(y^2/2) (1 - Phi(x))``, since ``|phi(x + iy)| = exp(y^2/2) phi(x)``, and the
same of Phi. As ``1 - Phi^n = (1 - Phi) (1 + Phi + ... + Phi^(n-1))``, for ``|y| <= a``

    integral of |f(x + iy)| dx  <=  M = exp((1 + n c^2) a^2 / 2) U,      U = n (1 - Phi(t / sqrt(1 + c^2))),

and the rule with step h errs by at most ``2 M / (exp(2 pi a / h) - 1)`` (Trefethen and Weideman, *The exponentially
convergent trapezoidal rule*, SIAM Review 56, 2014, Theorem 5.1). Here a is ``2 pi / (h (1 + n c^2))``. What is cut off
is bounded by a geometric series: ``phi(z) min(1, n (1 - Phi(t - c z)))`` is log-concave and not below f.
"""

from __future__ import annotations

import math

from flint import arb

from mechdesign.histogram.hockey_stick import Ball, log_survival, normal_tail
from mechdesign.numerics.exact import arb_of

_BITS_KEPT = 72  # the error of the rule, and what is cut off at each end, over U or 1
_MOST_TERMS = 2**21  # on one side, beyond which U is the bound; seen: 6e5 for a million zeros and c = 30
_VANISHING = arb(2) ** -4000  # below this U itself is the bound; no float tells them apart


def common_release_probability(count: int, t: Ball, c: Ball) -> Ball:
    """Return ``E[1 - Phi(t - c Z)^count]`` for a standard normal Z, as a ball that holds it.

    Where the sum would take millions of terms, or the balls t and c are too wide to bound what is cut off, the ball is
    that of all numbers up to the union bound.

    Parameters
    ----------
    count : int
        Number of noisy zeros, at least 0.
    t : ball
        The threshold tau in units of the own noise sigma.
    c : ball
        Deviation of the common noise in units of sigma, above 0.

    Examples
    --------
    >>> from mechdesign.numerics.exact import working_precision
    >>> with working_precision():
    ...     alone = common_release_probability(1, arb_of(2), arb_of(1))
    ...     round(float(alone.mid()), 9), alone.overlaps(normal_tail(arb_of(2).sqrt()))
    (0.078649604, True)
    """
    if count == 0:
        return arb_of(0)
    union = count * normal_tail(t / (1 + c * c).sqrt())
    if not union > _VANISHING:
        return arb_of(0).union(union)
    exponent = 1 + count * c * c
    bits = _BITS_KEPT + math.log2(max(1.0, float(union)))
    # With a = 2 pi / (h exponent) the error is 2 exp(-2 pi^2 / (h^2 exponent)) U.
    step = arb(math.pi * math.sqrt(2 / (float(exponent) * (bits + 2) * math.log(2))))
    a = 2 * arb.pi() / (step * exponent)
    error = 2 * (exponent * a * a / 2).exp() * union / (2 * arb.pi() * a / step).expm1()
    spread = float(c)
    start = arb(float(t) * spread / (1 + spread**2))  # near the peak where few are released
    negligible = union.min(arb_of(1)) * arb(2.0**-_BITS_KEPT)
    terms = _term(count, t, c, start)[0]
    for towards in (step, -step):
        side = _side(count, t, c, start, towards, negligible)
        if side is None:
            return arb_of(0).union(union).min(arb_of(1))
        terms += side
    found = step * terms / (2 * arb.pi()).sqrt()
    return (found + (-error).union(error)).min(arb_of(1))


def _term(count: int, t: Ball, c: Ball, z: Ball) -> tuple[Ball, Ball]:
    """Return ``exp(-z^2/2)`` times the probability of a release given z, and times a log-concave bound on it."""
    density = (-z * z / 2).exp()
    own = t - c * z
    bound = (count * normal_tail(own)).min(arb_of(1))
    return density * -log_survival(count, own).expm1(), density * bound


def _side(count: int, t: Ball, c: Ball, start: Ball, step: Ball, negligible: Ball) -> Ball | None:
    """Return the sum of all terms on one side of the start, with a ball for those that are cut off.

    None if so many terms do not prove that the rest is negligible.
    """
    total, previous = arb_of(0), None
    for n in range(1, _MOST_TERMS + 1):
        term, bound = _term(count, t, c, start + n * step)
        total += term
        if previous is not None and bound < previous:
            ratio = bound / previous
            rest = bound * ratio / (1 - ratio)
            if rest < negligible:
                return total + arb_of(0).union(rest)
        previous = bound
    return None
