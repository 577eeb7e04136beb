"""How many seeds are enough: what light strings that fall together by chance add to errors.

Two light strings share a window of one seed more or less often than by chance. If the strings that are not solved for
together have moved by a vector of length D (``|theta - P|``), the estimate of another string is off by a sum of mean 0
and of variance ``D^2 k(c) / M`` over random seeds, with

    k(c) = c^4 (2 a^3 / 3 - a^4) / (c - 1)^2,    a = min(1/c, 1 - 1/c),    c the mean lift of a report:

windows of a share l = 1/c, of which one ends where the next begins, hold two points at distance d of a circle of length
1 together with probability ``(l - d)^+ + (l - 1 + d)^+``; ``c^2`` times that less 1, squared, is integrated over d. The
variance of an estimate from n reports is about ``1/(n (c - 1))``, which does not rise with D.
"""

from __future__ import annotations

import math

from mechdesign.errors import InputError, shorten

PART = 0.1
"""What collisions may add to the variances, as a part of them, before more seeds are advised."""


def collision_factor(lift: float) -> float:
    """Return k(c).

    Parameters
    ----------
    lift : float
        c, the mean lift of a report, above 1.

    Examples
    --------
    >>> round(collision_factor(2.683) * 1.683**2, 3)
    0.789
    """
    a = min(1 / lift, 1 - 1 / lift)
    return lift**4 * (2 * a**3 / 3 - a**4) / (lift - 1) ** 2


def seeds_for(lift: float, reports: int, drift: object, part: float = PART) -> int:
    """Return the least number of seeds for which collisions add at most a part of the variance of a light string.

    Parameters
    ----------
    lift : float
        c, the mean lift of a report, above 1.
    reports : int
        n.
    drift : float
        D, the length of the vector of changes of shares since the sample.
    part : float
        The part.

    Raises
    ------
    InputError
        For a drift that is not a number from 0 to sqrt(2).

    Examples
    --------
    >>> seeds_for(2.683, 10_000_000, 0.01)
    4687
    """
    return max(1, math.ceil(reports * checked_drift(drift) ** 2 * collision_factor(lift) * (lift - 1) / part))


def checked_drift(drift: object) -> float:
    """Return a drift, from 0 to sqrt(2), which is the distance of two populations that share no string."""
    if isinstance(drift, bool) or not isinstance(drift, int | float) or not 0 <= drift <= math.sqrt(2):
        raise InputError.out_of_range(
            f"drift is {shorten(drift)}; accepted: a number from 0 to 1.4142, the length of "
            "the vector of changes of shares"
        )
    return float(drift)
