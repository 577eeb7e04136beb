"""Confidence limits of the frequencies of all categories: for each alone, and for all at once.

The limits of a category come from two linear estimators whose means are at most, and at least, its frequency. Both are
the same one where it is identifiable.

All intervals hold at once if each misses seldom enough. In the limit of many reports, that the interval of category i
misses is the event ``|Z_i| > c``, Z normal with the correlations of the estimates. Two bounds on the probability that
some of these events happens are computed, without randomness, and the better one is used:

* For events A_1, ..., A_m and any tree T on them, ``P(A_1 or ... or A_m) <= sum_i P(A_i) - sum_(ij in T) P(A_i and
  A_j)`` (Hunter, 1976; Worsley, 1982): add the events one by one along the tree, each without its part in its parent.
  For two categories, whose intervals miss together, it is exact.
* ``P(no |Z_i| > c) >= product of P(|Z_i| <= c)`` whatever the correlations are (Sidak, 1967).

Of categories that are not identifiable the events may be others. They are added with their whole probability
(Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.identification import Ranges
from mechdesign.deploy.linear import LinearEstimator, Seen, greatest_likely_mean, greatest_mean, half_a_report_towards
from mechdesign.deploy.record_limits import Noise, exponential_limits, other_records
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.roots import newton_roots

_EXACT = 1e-14  # a variance that rounding errors explain
_LEAST_QUANTILE = 1e-3  # of a limit at an end of [0, 1], which is not moved
_MOVED = 0.1  # by skewness, of the distance of a limit from the estimate
_SMALL = 1e-4  # a part of the error by which trees improve too little to be solved for
_CLOSE = 1e-9  # relative, of the error of each interval
_GREATEST = 1 - 2.0**-53  # below 1
_ROUNDING = 1e-12  # relative, of the error of all, where trees take none of it


@dataclass(frozen=True, eq=False)
class Samples:
    """What was reported in each of G groups.

    Attributes
    ----------
    fractions : array, shape (G, M)
        Of the reports.
    sizes : array, shape (G,)
        The numbers of reports.
    theta : array, shape (G, N)
        Positive frequencies that explain the fractions.
    """

    fractions: Floats
    sizes: Floats
    theta: Floats


@dataclass(frozen=True, eq=False)
class Brackets:
    """Linear estimators that bracket the frequency of each category, for each of G groups.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    below, above : array, shape (G, M, N)
        Functions of the outputs, a column for each category, with means at most and at least its frequency.
    choices : array of int, shape (G, N)
        Among how many estimators the data chose those of each category, at most; whole numbers of any size.
    known : bool array, shape (N,)
        Whether both are the same, the estimator of an identifiable category.
    """

    matrix: Floats
    below: Floats
    above: Floats
    choices: NDArray[np.object_]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, estimator: LinearEstimator, ranges: Sequence[Ranges]) -> Brackets:
        """Return the estimators of the identifiable sums that bound each category, in groups with ranges of their own.

        The estimator is one for all groups, or one for each.
        """
        size, groups, open_ones = len(estimator.matrix), len(ranges), ranges[0].categories
        choices, known = np.ones((groups, size), dtype=object), np.ones(size, dtype=bool)
        known[open_ones] = False
        sums = np.eye(size)
        if not open_ones.size:
            u = estimator.functionals(sums)
            u = np.broadcast_to(u, (groups, *u.shape[-2:]))
            return cls(estimator.matrix, u, u, choices, known)
        below = np.repeat(sums[None], groups, axis=0)
        above = below.copy()
        for group, own in enumerate(ranges):
            below[group][:, open_ones], above[group][:, open_ones] = own.below, own.above
            choices[group, open_ones] = own.choices
        return cls(estimator.matrix, estimator.functionals(below), estimator.functionals(above), choices, known)

    def quantiles(self, errors: Floats | float) -> Floats:
        """Return the normal quantile of each category for probabilities that an interval misses, shape (G, N).

        The probability is one for all groups or one for each. It has Bonferroni's correction for sums that were chosen
        by the data.
        """
        from scipy.special import ndtri

        each = np.broadcast_to(np.asarray(errors, dtype=float), len(self.choices))[:, None]
        result: Floats = -ndtri((each / (2 * self.choices)).astype(float))
        return result

    def joint_quantiles(self, error: float, covariance: Floats) -> Floats:
        """Return the quantiles for a probability that some interval of a group misses, shape (G, N).

        They follow from the covariance of one report, shape (G, N, N). The intervals of categories that are known
        exactly, such as those of records that are reported as they are, do not miss.
        """
        varying = self.known & (np.diagonal(covariance, axis1=1, axis2=2) > _EXACT)
        kinds, kind_of = np.unique(varying, axis=0, return_inverse=True)
        errors = np.empty(len(covariance))
        for kind, own in enumerate(kinds):
            some = np.flatnonzero(kind_of.ravel() == kind)
            correlations = _correlations(covariance[some][:, own][:, :, own])
            errors[some] = errors_of_each(correlations, int((own | ~self.known).sum()), error)
        return self.quantiles(errors)

    def reports_needed(self, samples: Samples, z: Floats) -> list[int]:
        """Return how many reports make the skewness of the estimators harmless, see `FrequencyEstimate.few_reports`."""
        p = samples.theta @ self.matrix
        greatest = np.zeros(len(p))
        for u in (self.below,) if self.above is self.below else (self.below, self.above):
            from_mean = u - np.einsum("gj,gjk->gk", p, u)[:, None]
            square = from_mean**2
            variance = np.einsum("gj,gjk->gk", p, square)
            third = np.abs(np.einsum("gj,gjk->gk", p, square * from_mean))
            skewness = np.zeros_like(third)
            np.divide(third, variance**1.5, out=skewness, where=variance > 0)
            greatest = np.maximum(greatest, ((z * skewness) / (6 * _MOVED)).max(axis=1))
        return [max(1, math.ceil(needed**2)) for needed in greatest.tolist()]


def limits_of_all(brackets: Brackets, samples: Samples, z: Floats, of: str) -> Floats:
    """Return lower and upper limits within [0, 1], shape (G, 2, N, 2), each alone and all at once.

    Parameters
    ----------
    brackets : Brackets
        The estimators.
    samples : Samples
        What was reported. All groups are computed together, which saves time and takes memory.
    z : array, shape (G, 2, N)
        The quantiles of limits for each category alone, and for all at once.
    of : {"population", "records"}
        Whose frequencies.
    """
    found = _of_population if of == "population" else _of_records
    limits = np.clip(np.stack(found(brackets, samples, z), axis=-1), 0.0, 1.0)
    return np.stack([limits[:, 0], widened(limits[:, 1], limits[:, 0])], axis=1)


def _of_population(brackets: Brackets, samples: Samples, z: Floats) -> tuple[Floats, Floats]:
    both = np.stack([-brackets.below, brackets.above], axis=1)  # (G, side, M, N)
    reports = samples.sizes[:, None]
    moved = half_a_report_towards(both, samples.fractions[:, None], np.broadcast_to(reports, both.shape[:2]))
    rows = (each.swapaxes(2, 3).reshape(-1, both.shape[2]) for each in (both, moved))
    seen = Seen.of(*rows)
    greatest = []
    for each in np.moveaxis(z, 1, 0):
        radii = np.repeat((each**2 / reports)[:, None], 2, axis=1).ravel()
        greatest.append(np.maximum(greatest_mean(seen, radii), greatest_likely_mean(seen, radii)))
    found = np.stack(greatest, axis=1).reshape(len(z), 2, -1, z.shape[1]).swapaxes(2, 3)
    return -found[:, 0], found[:, 1]


def _of_records(brackets: Brackets, samples: Samples, z: Floats) -> tuple[Floats, Floats]:
    lower, upper = _of_noise(brackets, brackets.below, samples, z)
    if brackets.above is brackets.below:
        return lower, upper
    return lower, _of_noise(brackets, brackets.above, samples, z)[1]


def _of_noise(brackets: Brackets, u: Floats, samples: Samples, z: Floats) -> Floats:
    """Return limits that hold those from the moments of the noise, and those from its whole law, (2, G, 2, N)."""
    matrix, known = brackets.matrix, brackets.known
    sizes = samples.sizes[:, None]
    others = other_records(matrix, u[:, None], samples.theta[:, None], z / np.sqrt(sizes)[:, None], known)
    noise = Noise.of(matrix, u[:, None], others)
    estimates = np.einsum("gj,gjk->gk", samples.fractions, u)
    # The level of all at once is that of intervals of two equal sides.
    bounded = np.array([[True], [False]]) & known
    found = np.stack(noise.limits(estimates[:, None], sizes[:, None], z, bounded))
    few = ((noise.span > 0) & (noise.own[0] > noise.others[0])).all(axis=1)
    if few.any():
        scores = np.minimum(noise.scores_at(found, estimates[:, None], sizes[:, None]), z)
        groups, categories = np.nonzero(few)
        some = (slice(None), groups, slice(None), categories)
        quantiles = np.moveaxis(np.maximum(scores, _LEAST_QUANTILE)[some], 0, -1)  # (side, quantile, some)
        laws = np.moveaxis(others[groups, :, categories] @ matrix, 0, -2)  # (quantile, some, M)
        by_law = exponential_limits(
            matrix[categories], laws, u[groups, :, categories].T, estimates[few], sizes[groups, 0], quantiles
        )
        for side, best in enumerate((np.minimum, np.maximum)):
            found[(side, *some[1:])] = best(found[(side, *some[1:])], np.moveaxis(by_law[side], -1, 0))
    return found


def _correlations(covariance: Floats) -> Floats:
    """Return the correlations of estimates that vary, shape (G, K, K)."""
    deviations = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    result: Floats = np.clip(covariance / (deviations[:, :, None] * deviations[:, None]), -1.0, 1.0)
    return result


def widened(intervals: Floats, others: Floats) -> Floats:
    """Return intervals that hold others too, shapes (..., 2)."""
    lower, upper = np.minimum(intervals[..., 0], others[..., 0]), np.maximum(intervals[..., 1], others[..., 1])
    return np.stack([lower, upper], axis=-1)


def error_of_one_group(error: float, groups: int) -> float:
    """Return how often some interval of one group may miss, so that some of any group does so with ``error``.

    Reports of different groups are independent, so the chances that nothing is missed multiply.

    Examples
    --------
    >>> round(error_of_one_group(0.0975, 2), 12)
    0.05
    """
    return float(-np.expm1(np.log1p(-error) / groups)) if error < 1 else error


def errors_of_each(correlations: Floats, size: int, error: float) -> Floats:
    """Return how often each of ``size`` intervals may miss, so that some interval does with ``error`` at most.

    Parameters
    ----------
    correlations : array, shape (G, K, K)
        Of the estimates of which they are known, in each group; nothing is assumed of the others.
    size : int
        The number of intervals of a group, at least K.
    error : float
        Between 0 and 1.

    Examples
    --------
    Two estimates that sum to 1 miss together; for independent ones Sidak's formula is exact.

    >>> errors_of_each(np.array([[[1.0, -1.0], [-1.0, 1.0]], np.eye(2)]), 2, 0.05).round(12), round(1 - 0.95**0.5, 12)
    (array([0.05      , 0.02532057]), 0.025320565519)
    """
    groups, known = correlations.shape[:2]
    if size <= 1:
        return np.full(groups, error)
    edges = _heaviest_trees(np.abs(correlations))
    by_product = float(-np.expm1(np.log1p(-error) / size) if error < 1 else error)
    result = np.full(groups, by_product)
    solving = np.full(groups, known < size)
    if known == size:
        solving = ~(_both(edges, np.full(groups, by_product))[0].sum(axis=1) < _SMALL * error)

    edges = edges[solving]

    def room(logarithms: Floats, groups: NDArray[np.intp] | slice) -> tuple[Floats, Floats]:
        each = error * np.exp(logarithms)
        both, slopes = (part.sum(axis=1) for part in _both(edges[groups], each))
        by_tree, independent = known * each - both, -np.expm1(known * np.log1p(-np.minimum(each, _GREATEST)))
        falling = np.where(by_tree < independent, known - slopes, known * (1 - each) ** (known - 1)) + size - known
        left = (1 + _ROUNDING) * error - np.minimum(by_tree, independent) - (size - known) * each
        return left, -each * falling

    least, greatest = np.full(len(edges), -np.log(size)), np.zeros(len(edges))
    result[solving] = error * np.exp(newton_roots(room, least, greatest, greatest, _CLOSE))
    return result


def _both(correlations: Floats, each: Floats) -> tuple[Floats, Floats]:
    """Return the probability that two standard normal variables both exceed c in size, and its slope in ``P(|Z| > c)``.

    With h = c, ``P(X > h, Y > h) = Phi(-h) - 2 T(h, sqrt((1 - rho) / (1 + rho)))``, T being Owen's function. Shapes
    are (G, edges) and (G,).
    """
    from scipy.special import ndtr, ndtri, owens_t

    c = -ndtri(each / 2)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((1 - correlations) / (1 + correlations))
        both = np.maximum(2 * each[:, None] - 4 * owens_t(c, ratio) - 4 * owens_t(c, 1 / ratio), 0.0)
        # Where the sizes are the same, the slope is 1 also for c = 0.
        return both, np.where(np.abs(correlations) < 1, 2 * (ndtr(-c * ratio) + ndtr(-c / ratio)), 1.0)


def _heaviest_trees(weights: Floats) -> Floats:
    """Return the weights of the edges of spanning trees of greatest total weight (Prim), shape (G, K - 1)."""
    groups, size = weights.shape[:2]
    everyone = np.arange(groups)
    outside = np.ones((groups, size), dtype=bool)
    best = np.full((groups, size), -np.inf)
    edges, last = np.zeros((groups, max(size - 1, 0))), np.zeros(groups, dtype=np.intp)
    for step in range(size - 1):
        outside[everyone, last] = False
        best = np.maximum(best, weights[everyone, last])
        last = np.where(outside, best, -np.inf).argmax(axis=1)
        edges[:, step] = best[everyone, last]
    return edges
