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
from mechdesign.deploy.linear import LinearEstimator, Noise, greatest_mean
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
        """Return lower and upper limits for rows of quantiles, shapes (K, N) to (K, N, 2)."""
        many = len(z)
        below, above = np.tile(self.below, many), np.tile(self.above, many)
        flat = z.ravel()
        if of == "population":
            reach = greatest_mean(
                np.concatenate([-below, above], axis=1), sample.fractions, np.tile(flat**2 / sample.size, 2)
            )
            lower, upper = -reach[: flat.size], reach[flat.size :]
        else:
            noise_below, noise_above = (Noise.of(self.matrix, u, sample.theta) for u in (self.below, self.above))
            down = [noise_below.margins(sample.size, row)[0] for row in z]
            up = [noise_above.margins(sample.size, row)[1] for row in z]
            lower = np.concatenate([sample.fractions @ self.below - margins for margins in down])
            upper = np.concatenate([sample.fractions @ self.above + margins for margins in up])
        return np.stack([lower, upper], axis=-1).reshape(*z.shape, 2)

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
