"""Confidence limits of the frequencies of all categories: for each alone, and for all at once.

The limits of a category come from two linear estimators whose means are at most, and at least, its frequency. Both are
the same one where it is identifiable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.identification import Ranges
from mechdesign.deploy.linear import LinearEstimator, greatest_mean
from mechdesign.deploy.noise import Noise
from mechdesign.deploy.simultaneous import error_of_each
from mechdesign.numerics.arrays import Floats

_EXACT = 1e-14  # a variance that rounding errors explain
_MOVED = 0.1  # by skewness, of the distance of a limit from the estimate


@dataclass(frozen=True, eq=False)
class Sample:
    """What was reported.

    Attributes
    ----------
    fractions : array, shape (M,)
        Of the reports.
    size : int
        The number of reports.
    theta : array, shape (N,)
        Positive frequencies that explain the fractions.
    """

    fractions: Floats
    size: int
    theta: Floats


@dataclass(frozen=True, eq=False)
class Brackets:
    """Linear estimators that bracket the frequency of each category.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    below, above : array, shape (M, N)
        Functions of the outputs, a column for each category, with means at most and at least its frequency.
    choices : tuple of int
        Among how many estimators the data chose those of each category, at most.
    known : bool array, shape (N,)
        Whether both are the same, the estimator of an identifiable category.
    """

    matrix: Floats
    below: Floats
    above: Floats
    choices: tuple[int, ...]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, estimator: LinearEstimator, ranges: Ranges) -> Brackets:
        """Return the estimators of the identifiable sums that bound each category."""
        size = len(estimator.matrix)
        below = np.eye(size)
        above = below.copy()
        below[:, ranges.categories], above[:, ranges.categories] = ranges.below, ranges.above
        choices, known = [1] * size, np.ones(size, dtype=bool)
        known[ranges.categories] = False
        for category, number in zip(ranges.categories.tolist(), ranges.choices, strict=True):
            choices[category] = number
        lower = estimator.functionals(below)
        upper = estimator.functionals(above) if ranges.categories.size else lower
        return cls(estimator.matrix, lower, upper, tuple(choices), known)

    def quantiles(self, error: float) -> Floats:
        """Return the normal quantile of each category for a probability that its interval misses, shape (N,).

        It has Bonferroni's correction for sums that were chosen by the data.
        """
        return np.array([-NormalDist().inv_cdf(error / (2 * number)) for number in self.choices])

    def joint_quantiles(self, error: float, covariance: Floats) -> Floats:
        """Return the quantiles for a probability that some interval misses, given the covariance of one report.

        The intervals of categories that are known exactly, such as those of records that are reported as they are, do
        not miss.
        """
        varying = self.known & (np.diag(covariance) > _EXACT)
        missing = int((varying | ~self.known).sum())
        return self.quantiles(error_of_each(_correlations(covariance[np.ix_(varying, varying)]), missing, error))

    def limits(self, sample: Sample, z: Floats, of: str) -> Floats:
        """Return lower and upper limits within [0, 1], shape (2, N, 2), each alone and all at once.

        Parameters
        ----------
        sample : Sample
            What was reported.
        z : array, shape (2, N)
            The quantiles of both.
        of : {"population", "records"}
            Whose frequencies.
        """
        lower, upper = self._of_population(sample, z) if of == "population" else self._of_records(sample, z)
        limits = np.clip(np.stack([lower, upper], axis=-1), 0.0, 1.0)
        return np.stack([limits[0], widened(limits[1], limits[0])])

    def _of_population(self, sample: Sample, z: Floats) -> tuple[Floats, Floats]:
        below, above = np.tile(self.below, len(z)), np.tile(self.above, len(z))
        functionals, radius = np.concatenate([-below, above], axis=1), np.tile(z.ravel() ** 2 / sample.size, 2)
        lower, upper = greatest_mean(functionals, sample.fractions, radius).reshape(2, *z.shape)
        return -lower, upper

    def _of_records(self, sample: Sample, z: Floats) -> tuple[Floats, Floats]:
        # The level of all at once is that of intervals of two equal sides.
        bounded = np.array([[True], [False]]) & self.known

        def limits(u: Floats) -> tuple[Floats, Floats]:
            return Noise.of(self.matrix, u, sample.theta).limits(sample.fractions @ u, sample.size, z, bounded)

        lower, upper = limits(self.below)
        return (lower, upper) if self.above is self.below else (lower, limits(self.above)[1])

    def reports_needed(self, sample: Sample, z: Floats) -> int:
        """Return how many reports make the skewness of the estimators harmless, see `FrequencyEstimate.few_reports`."""
        p = sample.theta @ self.matrix
        needed = 1
        for u in (self.below, self.above):
            from_mean = u - p @ u
            variance, third = p @ from_mean**2, np.abs(p @ from_mean**3)
            skewness = np.zeros_like(third)
            np.divide(third, variance**1.5, out=skewness, where=variance > 0)
            needed = max(needed, math.ceil(float(((z * skewness) / (6 * _MOVED)).max()) ** 2))
        return needed


def _correlations(covariance: Floats) -> Floats:
    """Return the correlations of estimates that vary."""
    deviations = np.sqrt(np.diag(covariance))
    result: Floats = np.clip(covariance / np.outer(deviations, deviations), -1.0, 1.0)
    return result


def widened(intervals: Floats, others: Floats) -> Floats:
    """Return intervals that hold others too, shapes (..., 2)."""
    lower, upper = np.minimum(intervals[..., 0], others[..., 0]), np.maximum(intervals[..., 1], others[..., 1])
    return np.stack([lower, upper], axis=-1)
