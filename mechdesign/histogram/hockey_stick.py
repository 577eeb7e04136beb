"""Tails and hockey-stick divergences of Gaussian noise, in ball arithmetic (Arb, through python-flint).

All functions take and return balls, inside `working_precision`; only `rounded_up` leaves them. Nothing here is lost to
underflow or cancellation: tails are computed as tails, and `rounded_up` repeats a computation with more bits until its
ball is narrow.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from flint import arb, ctx

from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.numerics.outward import printed_above

Ball: TypeAlias = Any
SplitBound: TypeAlias = Callable[[int, int], float]

_PRECISIONS = (128, 256, 1024, 4096)  # bits; cancellation needs more where the noise is huge
_ACCURATE = 64  # bits of a result that are enough
_VANISHING = arb(2) ** -1100  # far below the least float, to which smaller values are rounded up
_TIGHTER = 20  # evaluations for which a tighter bound counts
_CLOSE = 1 + 2.0**-40  # a bound this close to an attained value is not refined


def rounded_up(compute: Callable[[], Ball]) -> float:
    """Return a float that is at least a probability, both as a double and as the decimal that it prints.

    Parameters
    ----------
    compute : function
        Returns the probability as a ball, at the precision that is set when it is called.

    Examples
    --------
    >>> rounded_up(lambda: arb_of(1) / 4), rounded_up(lambda: arb_of(2))
    (0.25, 1.0)
    """
    ball = None
    for bits in _PRECISIONS:
        with working_precision(), ctx.workprec(bits):
            ball = compute()
            narrow = ball.is_finite() and (ball.rel_accuracy_bits() >= _ACCURATE or abs(ball) < _VANISHING)
        if narrow:
            break
    if ball is None or not ball.is_finite() or ball > 1:
        return 1.0
    if ball <= 0:
        return 0.0
    if abs(ball) < _VANISHING:  # its exponent may be too long to be written as a ratio
        return math.ulp(0.0)
    with working_precision():
        return min(1.0, printed_above(ball))


def normal_tail(x: Ball) -> Ball:
    """Return ``1 - Phi(x)``, the probability that a standard normal variate exceeds x.

    Examples
    --------
    >>> with working_precision():
    ...     round(float(normal_tail(arb_of(2)).mid()), 9)
    0.022750132
    """
    return (x / arb_of(2).sqrt()).erfc() / 2


def log_survival(count: int, x: Ball) -> Ball:
    """Return ``count log Phi(x)``: that of ``count`` independent variates none exceeds x.

    Examples
    --------
    >>> with working_precision():
    ...     round(float(log_survival(3, arb_of(0)).exp().mid()), 9)
    0.125
    """
    if x < 0:  # a tail close to 1 would leave nothing of its complement
        return count * normal_tail(-x).log()
    return count * (-normal_tail(x)).log1p()


def release_probability(count: int, x: Ball) -> Ball:
    """Return ``1 - Phi(x)^count``: that of ``count`` independent variates at least one exceeds x.

    Examples
    --------
    >>> with working_precision():
    ...     round(float(release_probability(3, arb_of(0)).mid()), 9)
    0.875
    """
    return -log_survival(count, x).expm1()


def gaussian_divergence(epsilon: Ball, mu: Ball) -> Ball:
    """Return the hockey-stick divergence of N(mu, 1) from N(0, 1), a ball around it (CSH Lemma 5).

    ``G(epsilon, mu) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)``, the least delta for which the
    Gaussian mechanism with sensitivity mu and noise of deviation 1 is (epsilon, delta)-private. It rises with mu and
    falls with epsilon, which may be negative. ``G(epsilon, 0) = max(0, 1 - exp(epsilon))``.

    Examples
    --------
    >>> with working_precision():
    ...     round(float(gaussian_divergence(arb_of(1), arb_of(1)).mid()), 9)
    0.126936738
    """
    if mu == 0:
        return (-epsilon.expm1()).max(arb_of(0))
    ratio = epsilon / mu
    return normal_tail(ratio - mu / 2) - epsilon.exp() * normal_tail(ratio + mu / 2)


def greatest_over_splits(k: int, ends: float, bounds: Sequence[SplitBound], steps: int) -> float:
    """Return an upper bound on the greatest value over all ways to split k counters into new and shared ones.

    Best first: the pairs of neighbours with ``a <= new <= b`` are bounded together by ``bounds[0](b, k - a)``, since
    every bound rises with either number. A range with the greatest bound is halved, and a single split passes from one
    bound to the next, tighter one, until the last bound of a split, or ``ends``, is greatest.

    Parameters
    ----------
    k : int
        Number of counters.
    ends : float
        The value of the two splits without new or without shared counters.
    bounds : sequence of functions
        Each takes the numbers of new and of shared counters. The first must not fall in either of them; each is at
        least the value of every split up to them. A tighter one follows.
    steps : int
        After so many evaluations of bounds the bound reached is returned; it holds too. A tighter bound counts for 20.

    Examples
    --------
    >>> greatest_over_splits(10, 10.0, [lambda new, shared: new * shared], 100)
    25.0
    """
    if k < 2:
        return ends
    # (negative bound, first and last number of new counters, which bound it is)
    heap = [(-bounds[0](k - 1, k - 1), 1, k - 1, 0)]
    best = ends
    left = steps
    while left > 0 and heap:
        bound, first, last, level = heap[0]
        if -bound <= best * _CLOSE:
            break
        left -= 1
        heapq.heappop(heap)
        if first < last:
            middle = (first + last) // 2
            for a, b in ((first, middle), (middle + 1, last)):
                heapq.heappush(heap, (max(bound, -bounds[0](b, k - a)), a, b, 0))
        elif level + 1 < len(bounds):
            left -= _TIGHTER
            value = min(-bound, bounds[level + 1](first, k - first))
            heapq.heappush(heap, (-value, first, last, level + 1))
        else:
            best = max(best, -bound)
    return float(max(best, -heap[0][0])) if heap else float(best)
