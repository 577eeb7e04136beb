"""The experiment of Figures 4 and 5: Laplace noise on a binary attribute of Adult, reported through a threshold.

One iteration (ED Section VI-C1): shuffle the data set, take the first m records, estimate the prior from them, choose
the scale of the noise for that estimate and its l1 radius (ED eq. 45 and 50), add noise to each of the m records,
report its sign (eq. 66), and take the empirical mutual information of records and reports (eq. 67, whose N is the
number m of samples). Records and reports are not drawn one by one:

- The number of the first m shuffled records with a given value is hypergeometric. Eq. (67) depends on the records
  through this number alone.
- A report differs from its record x in {-1, 1} where x times the noise is below -1 (for x = 1), or at most -1 (for
  x = -1). The noise is symmetric and has a density, so either has probability ``exp(-1/b) / 2``, independently for
  each record. So the number of records of either value whose report differs is binomial, and eq. (67) depends on those
  two numbers alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import mechdesign as md
from figures.lib.adult import adult_counts
from figures.lib.output import Row
from mechdesign.additive_noise import laplace_scale, laplace_threshold_matrix
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import xlogx
from mechdesign.uncertainty.radii import WEISSMAN, radius_exact

FEATURES = ("income", "sex")
ITERATIONS = 100
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Numbers = Floats | Integers


def two_counts(feature: str) -> tuple[int, int]:
    """Return how many of the records of Adult have each of the two values of a feature, the rarer one first."""
    counts = sorted(adult_counts(feature).values())
    if len(counts) != 2:
        raise md.InputError(f"adult-{feature} has {len(counts)} counts; give a feature of two values")
    return counts[0], counts[1]


def first_records(counts: tuple[int, int], samples: int, iterations: int, rng: np.random.Generator) -> Integers:
    """Return, for each iteration, how many of the first m shuffled records have the first value."""
    return rng.hypergeometric(*counts, samples, size=iterations)


def information(joints: Floats) -> Floats:
    """Return the mutual information of joint distributions, shape (..., 2, 2), in nats: shape (...)."""
    rows, columns = joints.sum(axis=-1), joints.sum(axis=-2)
    found: Floats = xlogx(joints).sum(axis=(-2, -1)) - xlogx(rows).sum(axis=-1) - xlogx(columns).sum(axis=-1)
    return found


def joint(samples: int, first: Integers, first_flipped: Numbers, second_flipped: Numbers) -> Floats:
    """Return joint distributions of records (rows) and reports (columns), shape (..., 2, 2).

    The arguments say how many of the m records have the first value, and how many records of the first and of the
    second value are reported as the other one.
    """
    table = np.array([[first - first_flipped, first_flipped], [second_flipped, samples - first - second_flipped]])
    return np.moveaxis(table, (0, 1), (-2, -1)) / samples


def scales(first: Integers, samples: int, epsilon: object, delta: object) -> Floats:
    """Return the scale of the noise for each estimate: 0 where no noise is needed, 2/epsilon where delta = 0."""
    radius = radius_exact(samples, 2, delta, bound=WEISSMAN)
    rarer = np.minimum(first, samples - first)
    distinct, places = np.unique(rarer, return_inverse=True)
    found = [laplace_scale(epsilon, Fraction(count, samples), radius) for count in distinct.tolist()]
    return np.array(found)[places]


def flip_probability(scale: float) -> float:
    """Return the probability that a report differs from its record, 0 without noise."""
    return float(laplace_threshold_matrix(scale)[0, 1]) if scale > 0 else 0.0


def simulate(
    first: Integers, samples: int, epsilon: str, delta: str, rng: np.random.Generator
) -> dict[str, float | int | str]:
    """Return means over all iterations, given how many records have the first value in each.

    ``empirical_information`` is the mean of eq. (67), and ``standard_error`` is the standard error of this mean.
    ``information`` is the mutual information of the mechanism for the frequencies of the records. The former is greater
    on average, by about ``1 / (2 m)``, as every plug-in estimate is.
    """
    found = scales(first, samples, epsilon, delta)
    distinct, places = np.unique(found, return_inverse=True)
    flips = np.array([flip_probability(scale) for scale in distinct.tolist()])[places]
    empirical = information(joint(samples, first, rng.binomial(first, flips), rng.binomial(samples - first, flips)))
    expected = information(joint(samples, first, first * flips, (samples - first) * flips))
    return {
        "samples": samples,
        "epsilon": float(Epsilon.of(epsilon)),
        "delta": delta,
        "scale": float(found.mean()),
        "empirical_information": float(empirical.mean()),
        "standard_error": float(empirical.std(ddof=1) / np.sqrt(empirical.size)),
        "information": float(expected.mean()),
    }


def row(feature: str, mechanism: str, outcome: dict[str, float | int | str]) -> Row:
    """Return one row of a table."""
    return {"feature": feature, "mechanism": mechanism, **outcome}


def entropy(feature: str) -> float:
    """Return the entropy of a feature of Adult, in nats: the greatest mutual information of any report."""
    counts = np.array(two_counts(feature), dtype=float)
    return float(-xlogx(counts / counts.sum()).sum())
