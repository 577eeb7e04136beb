"""Lower and upper limits of Clopper and Pearson for a probability.

An event that was seen k times in n independent samples has at least the probability q with ``P[Bin(n, q) >= k] = a``,
except with probability a. The tail is ``I_q(k, n - k + 1)``, the regularized incomplete beta function, computed as a
ball: a limit is taken only where the tail is proved not to exceed a. Limits are multiples of 1e-15, rounded outward.

A count k need not be whole: where the sample size is not the total of the counts, k is n times the proportion. The
limits then lie between those of the whole numbers beside it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from mechdesign.numerics.exact import arb_of, working_precision

_UNIT = 10**15
_MOST_LOST = 500  # bits that a complement may lose and still be sooner at any q above a half
_NEAR_1 = 1 - Fraction(1, 10**4)  # above which it is sooner if it loses more, up to
_MOST_LOST_NEAR_1 = 1_500
_STEPS = (1e-14, 1e-12, 1e-10, 1e-8)  # by which a limit in floats is lowered until it is proved


def event_level(delta: Fraction, categories: int) -> Fraction:
    """Return the probability of failure of each event: that of all events but the empty and the certain one is delta.

    Examples
    --------
    >>> event_level(Fraction(7, 5), 4)
    Fraction(1, 10)
    """
    return delta / Fraction(2**categories - 2)


def lower_limit(samples: int, seen: Fraction | int, level: Fraction) -> Fraction:
    """Return a probability q with ``P[Bin(n, q) >= k] <= level``, the greatest to about 1e-15.

    Parameters
    ----------
    samples : int
        n, at least 1.
    seen : Fraction or int
        k, from 0 to n.
    level : Fraction
        From 0 to 1; 0 gives the limit 0.

    Examples
    --------
    >>> round(float(lower_limit(100, 40, Fraction(1, 8000))), 8)
    0.23138448
    """
    if seen == 0 or level <= 0:
        return Fraction(0)
    with working_precision():
        return _lower_limit(samples, Fraction(seen), level)


def upper_limit(samples: int, seen: Fraction | int, level: Fraction) -> Fraction:
    """Return a probability q with ``P[Bin(n, q) <= k] <= level``, the least to about 1e-15.

    Examples
    --------
    >>> round(float(upper_limit(2, 0, Fraction(1, 4))), 12)
    0.5
    """
    return 1 - lower_limit(samples, samples - seen, level)


def is_limit(samples: int, seen: Fraction | int, q: Fraction, level: Fraction) -> bool:
    """Return whether ``P[Bin(n, q) >= k]`` is proved not to exceed the level.

    Examples
    --------
    >>> is_limit(2, 2, Fraction(2, 5), Fraction(1, 4)), is_limit(2, 2, Fraction(3, 5), Fraction(1, 4))
    (True, False)
    """
    with working_precision():
        return _proved(samples, Fraction(seen), q, level)


def _lower_limit(samples: int, seen: Fraction, level: Fraction) -> Fraction:
    guess = _in_floats(samples, float(seen), float(level))
    if guess > 0:
        for step in _STEPS:
            place = math.floor(guess * (1 - step) * _UNIT)
            if _proved(samples, seen, Fraction(place, _UNIT), level):
                return Fraction(place, _UNIT)
    low, high = 0, math.floor(Fraction(seen, samples) * _UNIT)
    while high - low > 1:
        middle = (low + high) // 2
        if _proved(samples, seen, Fraction(middle, _UNIT), level):
            low = middle
        else:
            high = middle
    return Fraction(low, _UNIT)


def _in_floats(samples: int, seen: float, level: float) -> float:
    """Return about the limit; 0 where floats do not give it."""
    from scipy.special import betaincinv

    with np.errstate(all="ignore"):
        found = float(betaincinv(seen, samples - seen + 1, level)) if level > 0 else 0.0
    return found if 0 < found < 1 else 0.0


def _proved(samples: int, seen: Fraction, q: Fraction, level: Fraction) -> bool:
    """Return whether ``P[Bin(n, q) >= k]`` is proved not to exceed the level, at the working precision or above it."""
    if q <= 0 or level <= 0:
        return q <= 0
    if q * samples > seen:  # where the tail is a half or more, and Arb takes seconds near 1
        return False
    return bool(_tail(samples, seen, q, level) <= arb_of(level))


def _tail(samples: int, seen: Fraction, q: Fraction, level: Fraction) -> arb:
    """Return the tail to digits below the level; near 1 as the complement, which Arb has a hundred times sooner."""
    a, b = seen, samples - seen + 1
    lost = level.denominator.bit_length() - level.numerator.bit_length()
    if lost > _MOST_LOST_NEAR_1 or q <= (Fraction(1, 2) if lost <= _MOST_LOST else _NEAR_1):
        return arb_of(q).beta_lower(arb_of(a), arb_of(b), 1)
    with ctx.workprec(ctx.prec + max(lost, 0)):
        return 1 - arb_of(1 - q).beta_lower(arb_of(b), arb_of(a), 1)
