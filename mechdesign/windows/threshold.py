"""How many samples must fall into a window, so that it is proved to hold a share ``exp(-epsilon)`` of the population.

Fix m independent samples and an event of probability p < p0. It is seen at least k times with probability at most
``P[Bin(m, p0) >= k]``. With a union bound over E events, fixed beforehand, every event that is seen at least k* times
has a probability of at least p0, all at once with probability 1 - delta, where k* is the least k with

    P[Bin(m, p0) >= k] <= delta / E.

Where a sample counts in part (a heavy string of which only some units lie in the window), the count is a sum of m
independent numbers in [0, 1], and Hoeffding's inequality in its Kullback-Leibler form takes the place of the binomial
tail: T is the least t > m p0 with ``m KL(t/m || p0) >= log(E / delta)``. Both are decided in ball arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.uncertainty.binomial_tail import bits_for, log_tail

SHARE_BITS = 60  # of the least share of a window
UNITS_PER_SAMPLE = 1 << 20  # in which samples that count in part are counted
MOST_WHOLE = 1 << 62
"""The most units of all samples, twice as many of which are still whole numbers of 64 bits."""


def least_share(epsilon: Epsilon) -> Fraction:
    """Return the share p0 of the population that a window must hold: ``exp(-epsilon)``, rounded up to 60 bits.

    Examples
    --------
    >>> least_share(Epsilon.of("1")) == Fraction(212068059414652665, 2**59)
    True
    >>> least_share(Epsilon.of("log(4)"))
    Fraction(1, 4)
    """
    inverse = 1 / epsilon.exp_down
    return Fraction(math.ceil(inverse * (1 << SHARE_BITS)), 1 << SHARE_BITS)


def arcs(seeds: int, buckets: int) -> int:
    """Return how many events the union bound covers: every arc of 1 to q - 1 buckets of every seed."""
    return seeds * buckets * (buckets - 1)


def least_count(samples: int, share: Fraction, level: Fraction) -> int | None:
    """Return k*, the least count that an event of a smaller probability than a share reaches so seldom.

    Parameters
    ----------
    samples : int
        m, at least 1.
    share : Fraction
        p0 in (0, 1).
    level : Fraction
        The probability of one event, in (0, 1): delta over the number of events.

    Returns
    -------
    int or None
        None if even m of m samples do not do.

    Examples
    --------
    >>> least_count(200, least_share(Epsilon.of("0.5")), Fraction(1, 10**6))
    154
    """
    with working_precision(bits_for(samples)):
        p, most = arb_of(share), arb_of(level).log()
        return _least(lambda k: bool(log_tail(samples, k, p) <= most), math.floor(samples * share), samples)


def least_units(samples: int, share: Fraction, level: Fraction) -> int | None:
    """Return T in units of 2^-20 sample: the least sum of parts of samples that is proved to be so rare.

    Parameters and returned value are those of `least_count`.

    Examples
    --------
    >>> from mechdesign.windows.threshold import arcs
    >>> level = Fraction(1, 10**9) / arcs(1000, 1024)
    >>> least_units(10**6, least_share(Epsilon.of("1")), level)
    390359681036
    """
    whole = samples * UNITS_PER_SAMPLE
    with working_precision(bits_for(whole)):
        p, least = arb_of(share), -arb_of(level).log()

        def is_rare(units: int) -> bool:
            return bool(samples * _divergence(Fraction(units, whole), p) >= least)

        return _least(is_rare, math.floor(whole * share), whole)


def _divergence(part: Fraction, p: Any) -> Any:
    """Return ``KL(part || p)`` in nats as a ball."""
    found = arb_of(part) * (arb_of(part) / p).log()
    return found if part == 1 else found + arb_of(1 - part) * (arb_of(1 - part) / (1 - p)).log()


def _least(passes: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return a number above ``low`` that passes while the one below it does not, or is ``low``; None if there is none.

    At most log2(high - low) numbers are tried.
    """
    if high <= low or not passes(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
