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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_EXACT = 1e-13  # a variance of u, in relation to its greatest mean square, that rounding errors explain
_ROUNDING = 1e-12  # a standard deviation of estimates that rounding errors may have
_GREATEST_SKEWNESS = 3.0  # that of an event expected 1/9 times; of rarer ones reports mostly show that none happened
_PARTS, _STEPS = 8, 17  # the place of a limit in [0, 1] is narrowed to one of the parts in each step: 4e-16 is left


@dataclass(frozen=True, eq=False)
class Noise:
    """The moments of what a report adds to each estimate, given its record.

    Attributes
    ----------
    others : array, shape (3, ..., N)
        Mean, variance and third central moment, on average over the records that are of another category than the one
        that is estimated.
    own : array, shape (3, N)
        Of a record of that category.
    """

    others: Floats
    own: Floats

    @classmethod
    def of(cls, matrix: Floats, functionals: Floats, theta: Floats) -> Noise:
        """Return the moments of u, shape (M, N), a column for each category, for records of frequencies theta.

        Theta, shape (..., N), is positive; the moments of each theta are in the same place of ``others``.
        """
        mean, square, cube = (matrix @ functionals**power for power in (1, 2, 3))
        variance = square - mean**2
        random = variance > _EXACT * square.max(axis=0)
        third = np.where(random, cube - 3 * mean * square + 2 * mean**3, 0.0)
        each = np.stack([mean, np.where(random, variance, 0.0), third])
        apart = 1.0 - np.eye(len(matrix))
        others = np.stack([theta @ (moment * apart) for moment in each]) / (theta @ apart)
        return cls(others, np.diagonal(each, axis1=1, axis2=2))

    def limits(self, estimates: Floats, reports: int, z: Floats, bounded: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return lower and upper limits within [0, 1] of the mean of each u.

        Parameters
        ----------
        estimates : array, shape (..., N)
            The mean of each u over the reports; may be outside of [0, 1].
        reports : int
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

        def beyond_limit(share: Floats) -> NDArray[np.bool_]:
            """Return whether the limit of each side is above a share."""
            scores, deviation = self._scores(share, estimates, reports)
            low, high = (np.where(bounded, room / deviation, np.inf) for room in (share, 1 - share))
            ratio = _ratio(np.abs(scores), np.where(scores < 0, low, high))
            missed = ndtr(-_as_unlikely(ratio, low)) + ndtr(-_as_unlikely(ratio, high)) < error
            beyond: NDArray[np.bool_] = np.where(lower_side, missed & (scores > 0), ~(missed & (scores < 0)))
            return beyond

        points = np.arange(1, _PARTS).reshape(-1, *[1] * (len(shape) + 1)) / _PARTS
        low, width = np.zeros((2, *shape)), 1.0
        for _ in range(_STEPS):
            beyond = beyond_limit(low + width * points)
            # Far from the estimate the shares that are kept may have gaps; the limits are around all of them.
            below = np.minimum.accumulate(beyond[:, 0]).sum(axis=0), np.maximum.accumulate(beyond[::-1, 1]).sum(axis=0)
            low, width = low + width / _PARTS * np.stack(below), width / _PARTS
        return low[0], low[1] + width

    def _scores(self, share: Floats, estimates: Floats, reports: int) -> tuple[Floats, Floats]:
        """Return the estimates as nearly standard normal scores at a mean of u, and their standard deviation there."""
        rest, own = self.others[0], self.own[0]
        part = np.clip((share - rest) / np.where(own > rest, own - rest, np.inf), 0.0, 1.0)
        variance, third = ((1 - part) * a + part * b for a, b in zip(self.others[1:], self.own[1:], strict=True))
        deviation = np.maximum(np.sqrt(variance / reports), _ROUNDING)
        w = (estimates - share) / deviation
        skewness = np.clip(third / reports**2 / deviation**3, -_GREATEST_SKEWNESS, _GREATEST_SKEWNESS)
        root = np.cbrt(1 + skewness * w / 2)
        # This is 6 / skewness (root - 1), also where the skewness is 0.
        scores: Floats = 3 * w / (root**2 + root + 1) + skewness / 6
        return scores, deviation


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
