"""Estimates that are drawn toward the shares among the samples, by as much as the reports allow.

The samples tell the shares of their own population far better than reports do; reports tell what has changed. Let x be
the estimate from reports with the standard error s, p the share among the samples, and ``z = (x - p)/s``. In a group of
k strings the shrunken estimate is

    x - s * clip(w z, -l, l),      w = min(1, (k - 2) / sum of z^2),      w = 0 for fewer than three strings.

**Theorem.** Let the x be independent and normal of mean theta and known s, whatever theta and p are. (1) With l
infinite the sum of ``E (shrunken - theta)^2 / s^2`` is at most k, that of the x themselves. (2) With any l the root of
the mean square of the error of each string is at most s (1 + l). (3) An interval ``x +- c s`` with c >= l, which is not
shrunken, holds theta as often as before, and holds the shrunken estimate always.

*Proof.* (1) is James and Stein's theorem (1961) with the positive part (Baranchik 1970), for z of mean (theta - p)/s.
(2) The shrunken estimate is at most l s from x (Minkowski). (3) follows from that.

The samples' own noise does not matter: all holds given p. Independence holds up to collisions.

Shares are from 0 on, and of strings that are only some of all they sum to 1 at most. The nearest such numbers to the
estimates, by the sum of squares of distances in standard errors, are ``max(0, x - l s^2)`` with the least l >= 0 for
which the sum is at most 1 (Karush, Kuhn and Tucker). A projection to a convex set that holds the truth brings every
estimate nearer to it, by this sum, or leaves it where it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats

_LEAST = 3  # strings of a group that is shrunken


def shrunken(estimates: Floats, errors: Floats, toward: Floats, groups: NDArray[np.str_], limit: float) -> Floats:
    """Return estimates that are drawn toward other values, group by group.

    Parameters
    ----------
    estimates, errors, toward : ndarray, shape (n,)
        x, s and p.
    groups : ndarray of str, shape (n,)
        The group of each.
    limit : float
        l, at least 0; infinity for no limit.

    Raises
    ------
    InputError
        For a limit below 0, or not a number.

    Examples
    --------
    >>> x, zero = np.array([0.5, -0.5, 0.5, 1.5]), np.zeros(4)
    >>> shrunken(x, np.ones(4), zero, np.array(["all"] * 4), 1.0).round(3).tolist()
    [0.167, -0.167, 0.167, 0.5]
    """
    if not limit >= 0:
        raise InputError.out_of_range(f"limit is {shorten(limit)}; accepted: a number of standard errors from 0 on")
    z = (estimates - toward) / errors
    found = estimates.copy()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if members.size >= _LEAST:
            w = min(1.0, (members.size - 2) / max(float(z[members] @ z[members]), math.ulp(0.0)))
            found[members] -= errors[members] * np.clip(w * z[members], -limit, limit)
    return found


def projected(estimates: Floats, errors: Floats) -> Floats:
    """Return the nearest numbers to estimates that are from 0 on and have a sum of 1 at most.

    Parameters
    ----------
    estimates, errors : ndarray, shape (n,)
        x and s; distances are measured in units of s.

    Examples
    --------
    >>> projected(np.array([0.5, -0.25, 0.75]), np.ones(3)).tolist()
    [0.375, 0.0, 0.625]
    """
    found = np.maximum(estimates, 0)
    if found.sum() <= 1:
        return found
    variances = errors**2
    at = estimates / variances  # the l at which a number becomes 0
    order = np.argsort(-at, kind="stable")
    lowered = (np.cumsum(estimates[order]) - 1) / np.cumsum(variances[order])
    last = int(np.flatnonzero(at[order] > lowered)[-1])
    return np.asarray(np.maximum(estimates - lowered[last] * variances, 0))
