"""Confidence limits of frequencies among the very records that were reported, where only the mechanism draws.

Given the records the reports are independent, and u of a report on a record x has a known mean, variance and third
moment. The mean of u over the reports estimates the share t of one category. Whether a share is in the interval is
decided with the moments at that very share (a score interval), in three steps:

* ``w = (estimate - t) / deviation`` is made standard normal but for terms of order 1/n: a gamma variable of the same
  three moments takes the place of the noise, and its cube root is nearly normal (Wilson and Hilferty, 1931).
* Estimates are ordered by their likelihood at t in relation to that at the best share in [0, 1] (Feldman and Cousins,
  1998). So a share of exactly 0 is missed as often as any other, and no interval is a point because the estimate lies
  outside of [0, 1].
* t is in the interval if estimates of no greater ratio have a probability of at least 1 - confidence at t.

Moments describe few rare errors badly: at a confidence of 99 % and more, limits from them miss far too often. So there
are also limits from the whole law of the noise. With ``K(h)`` the mean over the records of
``log sum_j A_xj exp(h u_j)``, the chance that the mean of u over n reports is x or more is at most
``exp(-n (h x - K(h)))`` for every h > 0 (Chernoff, 1952). At the best h twice the exponent is nearly the square of a
standard normal variable. If a share t of the records is of a category, K is ``(1 - t) K_rest + t K_own``: linear in t,
so that each h has a limit in closed form, and the best h has the limit. As K is convex, those of a limit of t or more
are an interval: limits rise with h and then fall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.roots import bracketed_roots

_EXACT = 1e-13  # a variance of u, in relation to its greatest mean square, that rounding errors explain
_EQUAL = 1e-9  # a relative difference of variances that rounding errors explain
_ROUNDING = 1e-12  # a standard deviation of estimates that rounding errors may have
_GREATEST_SKEWNESS = 3.0  # that of an event expected 1/9 times; of rarer ones reports mostly show that none happened
_PARTS, _STEPS = 8, 3  # the place of a limit in [0, 1] is narrowed to one of the parts in each step
_NEVER = 1e-300  # a probability
_NEAR = 2e-13  # how closely a limit is then found
_LEAST = 0.3  # of the tilt for the greatest variance
_RARE = 30.0  # the tilt for noise that hardly ever happens
_SAME = 1e-13  # a difference of exponents that rounding errors explain


@dataclass(frozen=True, eq=False)
class Noise:
    """The moments of what a report adds to each estimate, given its record.

    Attributes
    ----------
    others : array, shape (3, ..., N)
        Mean, variance and third central moment, on average over the records that are of another category than the one
        that is estimated.
    own : array, shape (3, ..., N)
        Of a record of that category.
    span : array, shape (..., N)
        What one report adds to the sum at most, less what it adds at least; 0 where it adds no noise.
    """

    others: Floats
    own: Floats
    span: Floats | float = 0.0

    @classmethod
    def of(cls, matrix: Floats, functionals: Floats, others: Floats) -> Noise:
        """Return the moments of u, shape (..., M, N), a column for each category.

        Others, shape (..., N, N), has the shares of the other records in the row of a category, see `other_records`.
        """
        each, random = _moments(matrix, functionals)
        moments = np.stack([np.einsum("...ix,...xi->...i", others, moment) for moment in each])
        span = np.where(random.any(axis=-2), np.ptp(functionals, axis=-2), 0.0)
        return cls(moments, np.diagonal(each, axis1=-2, axis2=-1), span)

    def limits(
        self, estimates: Floats, reports: Floats | int, z: Floats, bounded: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Return lower and upper limits within [0, 1] of the mean of each u.

        Parameters
        ----------
        estimates : array, shape (..., N)
            The mean of each u over the reports; may be outside of [0, 1].
        reports : int or array, shape (..., N)
            Their number.
        z : array, shape (..., N)
            The normal quantile of each interval.
        bounded : bool array, shape (..., N)
            Whether the mean of u is known to be in [0, 1], and the interval is to miss shares at these ends as often
            as others. If not, both sides of the interval miss alike.

        Examples
        --------
        An estimate three standard deviations below 0:

        >>> noise = Noise(others=np.array([[0.0], [1.0], [0.0]]), own=np.array([[1.0], [1.0], [0.0]]))
        >>> np.array(noise.limits(np.array([-0.3]), 100, np.array([1.96]), np.array([True]))).round(3).ravel()
        array([0.   , 0.042])
        >>> np.array(noise.limits(np.array([-0.3]), 100, np.array([1.96]), np.array([False]))).round(3).ravel()
        array([0., 0.])
        """
        from scipy.special import ndtr

        error = 2 * ndtr(-z)
        shape = np.broadcast_shapes(estimates.shape, z.shape)
        lower_side = np.array([True, False]).reshape(2, *[1] * len(shape))

        def beyond_limit(share: Floats) -> Floats:
            """Return a positive number if the limit of each side is above a share; it falls through 0 at the limit."""
            share = np.clip(share, _NEAR / 2, 1 - _NEAR / 2)
            scores, deviation = self._scores(share, estimates, reports)
            low, high = (np.where(bounded, room / deviation, np.inf) for room in (share, 1 - share))
            ratio = _ratio(np.abs(scores), np.where(scores < 0, low, high))
            missed = ndtr(-_as_unlikely(ratio, low)) + ndtr(-_as_unlikely(ratio, high))
            excess = np.log(np.maximum(missed, _NEVER) / error)
            return np.where(lower_side, np.where(scores > 0, -excess, -1.0), np.where(scores < 0, excess, 1.0))

        points = np.arange(1, _PARTS).reshape(-1, *[1] * (len(shape) + 1)) / _PARTS
        low, width = np.zeros((2, *shape)), 1.0
        for _ in range(_STEPS):
            beyond = beyond_limit(low + width * points) > 0
            # Far from the estimate the shares that are kept may have gaps; the limits are around all of them.
            below = np.minimum.accumulate(beyond[:, 0]).sum(axis=0), np.maximum.accumulate(beyond[::-1, 1]).sum(axis=0)
            low, width = low + width / _PARTS * np.stack(below), width / _PARTS
        low, high = bracketed_roots(beyond_limit, low, low + width, _NEAR)
        return low[0], high[1]

    def scores_at(self, shares: Floats, estimates: Floats, reports: Floats | int) -> Floats:
        """Return how many standard deviations estimates are from shares, skewness corrected."""
        return np.abs(self._scores(shares, estimates, reports)[0])

    def _scores(self, share: Floats, estimates: Floats, reports: Floats | int) -> tuple[Floats, Floats]:
        """Return the estimates as nearly standard normal scores at a mean of u, and their standard deviation there."""
        rest, own = self.others[0], self.own[0]
        part = np.clip((share - rest) / np.where(own > rest, own - rest, np.inf), 0.0, 1.0)
        variance, third = ((1 - part) * a + part * b for a, b in zip(self.others[1:], self.own[1:], strict=True))
        deviation = np.maximum(np.sqrt(variance / reports), _ROUNDING)
        # Half a report less: the counts are whole numbers (Yates, 1934).
        distance = estimates - share
        w = np.sign(distance) * np.maximum(np.abs(distance) - self.span / (2 * reports), 0.0) / deviation
        skewness = np.clip(third / reports**2 / deviation**3, -_GREATEST_SKEWNESS, _GREATEST_SKEWNESS)
        root = np.cbrt(1 + skewness * w / 2)
        # This is 6 / skewness (root - 1), also where the skewness is 0.
        scores = 3 * w / (root**2 + root + 1) + skewness / 6
        return np.where(w == 0, 0.0, scores), deviation


def other_records(
    matrix: Floats, functionals: Floats, theta: Floats, reach: Floats, known: NDArray[np.bool_]
) -> Floats:
    """Return the shares of the categories among the records that are not of a category, a row for each one.

    They are those of theta, but that the category whose records make the most noise may be more frequent: few reports
    tell little about it, and the noise is not to be taken for too small. Categories that make equally much noise count
    as one, so that it does not matter which of them is the first after rounding.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    functionals : array, shape (..., M, N)
        u of each category.
    theta : array, shape (..., N)
        Positive frequencies.
    reach : array, shape (..., N)
        For each row, by how many standard deviations of one report a frequency may be too small.
    known : bool array, shape (N,)
        Whether the mean of u is the frequency; others may be too small by any number.

    Returns
    -------
    array, shape (..., N, N)
        Each row sums to 1, and is 0 on the diagonal.

    Examples
    --------
    >>> matrix = np.array([[0.6, 0.4, 0.0], [0.2, 0.6, 0.2], [0.0, 0.4, 0.6]])
    >>> u = np.linalg.inv(matrix)
    >>> shares = other_records(matrix, u, np.array([0.4, 0.5, 0.1]), np.full(3, 0.02), np.full(3, True))
    >>> shares[2].round(3)
    array([0.39, 0.61, 0.  ])
    """
    own = np.eye(len(matrix), dtype=bool)
    apart = np.where(own, 0.0, theta[..., None, :])
    rest = apart.sum(axis=-1)
    shares = apart / rest[..., None]
    variance = np.where(own, -np.inf, _moments(matrix, functionals)[0][1])
    noisiest = variance >= (1 - _EQUAL) * variance.max(axis=-2, keepdims=True)
    deviation = np.sqrt(_moments(matrix, functionals @ noisiest)[0][1].max(axis=-2))
    noisiest = noisiest.swapaxes(-1, -2)
    theirs = np.where(noisiest, shares, 0.0)
    whole = theirs.sum(axis=-1)
    room = 1.0 - whole
    moved = np.minimum(np.where((known | ~noisiest).all(axis=-1), reach * deviation, 1.0) / rest, room)
    part = np.divide(moved, room, out=np.zeros(moved.shape), where=np.broadcast_to(room > 0, moved.shape))[..., None]
    result: Floats = (1 - part) * shares + part * (theirs / whole[..., None])
    return result


def _moments(matrix: Floats, functionals: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return mean, variance and third central moment of each u for each record, shape (3, ..., N, N); which vary."""
    squares = functionals**2
    mean, square, cube = (matrix @ power for power in (functionals, squares, squares * functionals))
    variance = square - mean**2
    random = variance > _EXACT * square.max(axis=-2, keepdims=True)
    third = np.where(random, cube - 3 * mean * square + 2 * mean**3, 0.0)
    return np.stack([mean, np.where(random, variance, 0.0), third]), random


def _ratio(distance: Floats, room: Floats) -> Floats:
    """Return the root of twice the logarithm of the likelihood ratio of the best mean to one at some distance.

    The observation is normal; its mean may lie in its direction by ``room`` at most.
    """
    result: Floats = np.sqrt(np.minimum(distance, room) * (distance + np.maximum(distance - room, 0.0)))
    return result


def _as_unlikely(ratio: Floats, room: Floats) -> Floats:
    """Return the distance that has a likelihood ratio: the inverse of `_ratio`."""
    result: Floats = ratio + np.maximum(ratio - room, 0.0) ** 2 / (2 * room)
    return result


def _scaled_moments(laws: Sequence[Floats], centred: Floats) -> list[Floats]:
    """Return the mean of ``centred**k / k!``, k = 1, 2, ..., under each of some laws, shapes (..., K, M) and (K, M)."""
    power, moments = np.ones_like(centred), []
    for k in range(1, _TERMS + 1):
        power *= centred
        power /= k
        moments.append([np.einsum("...kj,kj->...k", law, power) for law in laws])
    return [np.array(each) for each in zip(*moments, strict=True)]


def _peak(function: Callable[[Floats], Floats], points: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return where functions that rise and then fall are greatest along the first axis, and their values there."""
    low = np.zeros((1, *points.shape[1:]), dtype=np.intp)
    high = np.full_like(low, len(points) - 1)
    for _ in range(len(points).bit_length()):
        middle = (low + high) // 2
        here, next_one = function(np.take_along_axis(points, np.concatenate([middle, np.minimum(middle + 1, high)]), 0))
        rising = next_one > here
        low, high = np.where(rising, middle + 1, low), np.where(rising, high, middle)
    return low, function(np.take_along_axis(points, low, axis=0))[0]


_TERMS, _FAR = 28, 6.0  # of the series, and the greatest tilt for which these are enough
_COARSE, _FINE = 28, 20  # tilts that are tried, and those between the neighbours of the best one


def exponential_limits(
    own: Floats, others: Floats, functionals: Floats, estimates: Floats, reports: Floats | int, z: Floats
) -> tuple[Floats, Floats]:
    """Return lower and upper limits of the mean that each of K functions of the outputs has among the records.

    Parameters
    ----------
    own : array, shape (K, M)
        The law of outputs for records of a category, in a row for each function.
    others : array, shape (K, M)
        The law of outputs for all other records.
    functionals : array, shape (M, K)
        A function u in each column. Its mean is greater under ``own`` than under ``others``.
    estimates : array, shape (K,)
        The mean of each u over the reports.
    reports : int or array, shape (K,)
        Their number.
    z : array, shape (2, ..., K)
        The normal quantiles of lower and of upper limits, above 0.

    Notes
    -----
    ``log sum_j p_j exp(h u_j)`` at the mean p of the laws of other records is at least the mean of their logarithms.

    Examples
    --------
    A record is reported wrongly in one of 50 cases. One of ten reports says "yes":

    >>> matrix = np.array([[0.98, 0.02], [0.02, 0.98]])
    >>> u = np.linalg.inv(matrix)[:, [1]]
    >>> found = exponential_limits(matrix[[1]], matrix[[0]], u, np.array([0.9, 0.1]) @ u, 10, np.full((2, 1), 1.96))
    >>> np.array(found).round(2).ravel()
    array([-0.11,  0.23])
    """
    span = np.ptp(functionals, axis=0)
    sides = np.array([1.0, -1.0]).reshape(2, *[1] * (z.ndim - 1))
    nearer = sides * estimates - 0.5 * span / reports  # half a report less, as the counts are whole numbers
    allowed = z**2 / (2 * reports)

    middle = (functionals.max(axis=0) + functionals.min(axis=0)) / 2
    centred = 2 * (functionals - middle).T / span[:, None]  # from -1 to 1
    laws = own, np.broadcast_to(others, (*z.shape[1:], len(functionals)))
    moments = _scaled_moments(laws, centred)

    def limits(tilts: Floats) -> Floats:
        """Return the limit that each tilt gives, times the sign of its side; -inf where there is none."""
        h = sides * tilts / span
        x = sides * tilts / 2  # h, for what is centred
        mine, rest = (h * middle + np.log1p(x * polyval(x, each, tensor=False)) for each in moments)
        far = tilts > _FAR
        if far.any():
            powers = np.expm1(h[far][:, None] * np.broadcast_to(functionals.T, (*h.shape, len(functionals)))[far])
            for values, law in zip((mine, rest), laws, strict=True):
                theirs = np.broadcast_to(law, (*h.shape, len(functionals)))[far]
                values[far] = np.log1p(np.einsum("kj,kj->k", theirs, powers))
        rise = sides * (mine - rest)
        result = np.full(h.shape, -np.inf)
        np.divide(np.abs(h) * nearer - rest - allowed, rise, out=result, where=rise > _SAME)
        return result

    tilts = np.geomspace(_LEAST * np.sqrt(2 * allowed), np.full(allowed.shape, _RARE), _COARSE)
    best = _peak(limits, tilts)[0]
    first, last = (np.take_along_axis(tilts, np.clip(best + step, 0, _COARSE - 1), axis=0)[0] for step in (-1, 1))
    lower, upper = sides * _peak(limits, np.geomspace(first, last, _FINE))[1]
    least, greatest = ((law * functionals.T).sum(axis=-1) for law in (others, own))
    return least + lower * (greatest - least), least + upper * (greatest - least)
