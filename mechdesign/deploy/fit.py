"""Whether reports can come from a mechanism at all: how well its fitted law explains the counts of outputs.

The laws of outputs that a mechanism has are the mixtures of its rows. With c_j reports of output j and m_j expected by
the mixture of greatest likelihood, the deviance ``2 sum_j c_j log(c_j / m_j)`` is near a chi-square variable. Its
degrees of freedom are the number of outputs, less the rank of the rows that the mixture uses: where it lies on a face
of the mixtures, the deviance is that of a projection onto this face, whatever face chance has chosen.

With few reports the parts of the deviance are not near normal squares. So the mean and the variance of each are
computed, for a count of Poisson, and the sum is taken for a gamma variable of the same mean and variance.

Outputs that hardly ever come make the deviance no gamma variable: nearly always none of them comes, and the deviance
is then that of the other outputs. So p is at least the chance that none comes, times that of so great a deviance then.
And p is not below the chance of these very counts, which is what is left for a handful of reports.

Over many groups small errors of the means add up. So groups of few reports are put together until they have enough: the
counts of several groups spread less than those of one law, their mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.likelihood import maximum_likelihoods
from mechdesign.deploy.weighted_rows import WeightedRows
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK

IMPOSSIBLE = 1e-6  # a p below which reports are said not to come from the mechanism
DOUBTFUL = 1e-3  # a p below which it is said that they seem to be by another one
_USED = 1e-3  # expected records of a category that a mixture uses
_HARDLY = 0.3  # expected reports of an output below which most often none comes
_SURE = 0.02  # deviance of outputs that do not come, where they come with a chance of less than 0.01
_NOTHING = 1e-5  # a deviance that may be the error of the likelihood
_RARE, _OFTEN, _POINTS = 1e-12, 1e3, 400  # expected counts for which moments are tabled
ENOUGH = 100  # reports of a group whose deviance is looked at alone, where there are several


@dataclass(frozen=True)
class Fit:
    """How well a mechanism explains reports.

    Attributes
    ----------
    deviance : float
        ``2 sum_j c_j log(c_j / m_j)``.
    degrees : int
        Its degrees of freedom. With 0 of them the mechanism explains every table of counts near this one, and the
        reports cannot tell.
    mean, variance : float
        Of the deviance, if the reports come from the mechanism: with many reports the degrees of freedom, and twice
        as much.
    free : int
        The number of outputs less 1, added over all groups.
    unseen : float
        The deviance if of the outputs that hardly ever come none comes, and the others as often as expected:
        ``2 n log(n / (n - r))`` for r expected of n reports. The chance that none comes is ``exp(-unseen / 2)``.
    common_degrees, common_mean, common_variance : int, float, float
        Of the deviance of the other outputs.
    log_chance : float
        The logarithm of the chance of these very counts, by the mixture.
    """

    deviance: float
    degrees: int
    mean: float
    variance: float
    free: int
    unseen: float
    common_degrees: int
    common_mean: float
    common_variance: float
    log_chance: float

    @property
    def p(self) -> float | None:
        """The chance of so great a deviance, if the reports come from the mechanism; None where reports cannot tell.

        A chance below 1e-6 is proved for any number of reports: it is at least the bound of `greatest_tail`.
        """
        if not self.degrees or not self.variance > 0:
            return None
        rest, fitted = self.deviance - self.unseen, not self.common_degrees
        if fitted and rest <= _NOTHING and self.unseen < _SURE:
            return None
        common = rest <= _NOTHING if fitted else tail(max(rest, 0.0), self.common_mean, self.common_variance)
        proved = min(greatest_tail(self.deviance, self.free), IMPOSSIBLE)
        whole = float(tail(self.deviance, self.mean, self.variance))
        very_counts = math.exp(min(self.log_chance, 0.0))
        return max(whole, math.exp(-self.unseen / 2) * float(common), proved, very_counts)

    @property
    def impossible(self) -> bool:
        """Whether the reports do not come from the mechanism: p is below 1e-6."""
        return self.p is not None and self.p < IMPOSSIBLE

    @property
    def doubtful(self) -> bool:
        """Whether the reports seem to be by another mechanism, although that is not proved: p is 1e-6 to 1e-3."""
        return self.p is not None and IMPOSSIBLE <= self.p < DOUBTFUL

    @classmethod
    def together(cls, fits: Iterable[Fit]) -> Fit:
        """Return how well a mechanism explains the reports of all groups, each with its own frequencies."""
        found = list(fits)
        return cls(*(sum(getattr(fit, field.name) for fit in found) for field in fields(cls)))


def fits_of(matrix: Floats, tables: Floats, frequencies: Floats) -> list[Fit]:
    """Return how well a mechanism explains the counts of each of G groups.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    tables : array, shape (G, M)
        How often each output was reported.
    frequencies : array, shape (G, N)
        Those of greatest likelihood, see `maximum_likelihoods`.

    Examples
    --------
    >>> matrix = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    >>> found = fits_of(matrix, np.array([[400.0, 200.0, 400.0]]), np.array([[0.5, 0.5]]))[0]
    >>> found.degrees, f"{found.deviance:.1f}", f"{found.p:.0e}"
    (1, '51.5', '8e-09')
    """
    reports = tables.sum(axis=1, keepdims=True)
    used = frequencies * reports > _USED
    expected = reports * (frequencies @ matrix)
    possible = expected > 0
    common = expected >= np.minimum(_HARDLY, expected.max(axis=1, keepdims=True))
    absent = np.where(possible & ~common, expected, 0.0).sum(axis=1)
    unseen = -2 * reports[:, 0] * np.log1p(-absent / reports[:, 0])
    rows = WeightedRows.of(matrix)
    whole = _moments(rows, used, expected, possible)
    rare = (possible != common).any(axis=1)
    often = tuple(part.copy() for part in whole)
    if rare.any():
        for part, found in zip(often, _moments(rows, used[rare], expected[rare], common[rare]), strict=True):
            part[rare] = found
    chances = log_chances(tables, frequencies @ matrix)
    numbers = (deviances(tables, expected), *whole, possible.sum(axis=1) - 1, unseen, *often, chances)
    return [Fit(*each) for each in zip(*(part.tolist() for part in numbers), strict=True)]


def fit_of_groups(matrix: Floats, tables: Floats, fits: Sequence[Fit]) -> Fit:
    """Return how well a mechanism explains the reports of all groups, those with few reports some together.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    tables : array, shape (G, M)
        How often each output was reported in each group.
    fits : sequence of G fits
        What `fits_of` returns for them.

    Examples
    --------
    Groups of a single report tell nothing one by one, but together that the mechanism did not make them:

    >>> matrix = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    >>> tables = np.repeat(np.eye(3), [400, 200, 400], axis=0)[np.random.default_rng(0).permutation(1000)]
    >>> fits = fits_of(matrix, tables, maximum_frequencies(matrix, tables))
    >>> max(fit.p or 1.0 for fit in fits) > 0.3, fit_of_groups(matrix, tables, fits).doubtful
    (True, True)
    """
    sizes = tables.sum(axis=1)
    few = np.flatnonzero(sizes < ENOUGH)
    if few.size < 2:
        return Fit.together(fits)
    before = np.cumsum(sizes[few]) - sizes[few]
    batch = np.minimum(before // ENOUGH, max(sizes[few].sum() // ENOUGH - 1, 0)).astype(int)
    joined = np.zeros((int(batch.max()) + 1, tables.shape[1]))
    np.add.at(joined, batch, tables[few])
    alone = [fit for fit, size in zip(fits, sizes, strict=True) if size >= ENOUGH]
    return Fit.together([*alone, *fits_of(matrix, joined, maximum_frequencies(matrix, joined))])


def maximum_frequencies(matrix: Floats, tables: Floats) -> Floats:
    """Return the frequencies of greatest likelihood of each group, shape (G, N)."""
    return np.array([found.frequencies for found in maximum_likelihoods(matrix, tables)])


def _moments(
    rows: WeightedRows, used: NDArray[np.bool_], expected: Floats, cells: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return degrees of freedom, means and variances of the deviances of some outputs from mixtures of used rows."""
    shares, ranks = leverages(rows, used, expected, cells)
    means, variances = cell_moments(expected)
    rest = np.where(cells, 1 - shares, 0.0)
    return cells.sum(axis=1) - ranks, (rest * means).sum(axis=1), (rest * variances).sum(axis=1)


def deviances(tables: Floats, expected: Floats) -> Floats:
    """Return ``2 sum_j c_j log(c_j / m_j)`` of each group, at least 0; shapes (G, M) to (G,)."""
    seen = tables > 0
    parts = np.log(np.divide(tables, expected, out=np.ones_like(expected), where=seen))
    result: Floats = np.maximum(2 * (tables * parts).sum(axis=1), 0.0)
    return result


def leverages(
    rows: WeightedRows, used: NDArray[np.bool_], expected: Floats, cells: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.intp]]:
    """Return what part of each cell mixtures of used rows can fit, shape (G, M), and the rank of the rows, their sum.

    Expected counts, shape (G, M), are looked at in some cells, shape (G, M).
    """
    weights = np.divide(1.0, expected, out=np.zeros_like(expected), where=cells)
    inverses, independent = rows.inverses(weights, used)
    shares, ranks = weights * rows.forms(inverses), used.sum(axis=1)
    for group in np.flatnonzero(~independent).tolist():
        scaled = np.where(used[group][:, None], rows.matrix, 0.0) * np.sqrt(weights[group])
        _, values, right = np.linalg.svd(scaled, full_matrices=False)
        fitted = values > RANK * values[0]
        shares[group], ranks[group] = fitted @ right**2, fitted.sum()
    return shares, ranks


def tail(values: Floats | float, means: Floats | float, variances: Floats | float) -> Floats:
    """Return the chances that gamma variables of some means and variances exceed values."""
    from scipy.special import gammaincc

    result: Floats = gammaincc(means**2 / variances, values * means / variances)
    return result


def greatest_tail(value: float, free: int) -> float:
    """Return a bound on the chance of a deviance from the true law, whatever that is, for any number of reports.

    With K + 1 outputs and c half of the deviance it is ``exp(-c) (e c / K)^K`` for c > K (Agrawal, 2020). The deviance
    from the mixture of greatest likelihood is not greater.

    Examples
    --------
    >>> f"{greatest_tail(60.0, 2):.1e}", greatest_tail(3.0, 2)
    ('1.6e-10', 1.0)
    """
    c = value / 2
    return math.exp(free * (1 + math.log(c / free)) - c) if c > free > 0 else 1.0


def cell_moments(expected: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of ``2 (X log(X / m) - X + m)`` for X of Poisson with means m: 1 and 2 for great m.

    Examples
    --------
    >>> means, variances = cell_moments(np.array([0.01, 1.0, 10.0, 1e6]))
    >>> means.round(2), variances.round(2)
    (array([0.09, 1.15, 1.02, 1.  ]), array([0.52, 1.36, 2.09, 2.  ]))
    """
    at, means, variances = _tabled_moments()
    where = np.log(np.clip(expected, _RARE, _OFTEN))
    return np.exp(np.interp(where, at, means)), np.exp(np.interp(where, at, variances))


@cache
def _tabled_moments() -> tuple[Floats, Floats, Floats]:
    """Return logarithms of expected counts, and of the moments there."""
    from scipy.special import gammaln, xlogy

    m = np.geomspace(_RARE, _OFTEN, _POINTS)[:, None]
    x = np.arange(int(_OFTEN + 20 * np.sqrt(_OFTEN)))
    part, chance = 2 * (xlogy(x, x / m) - x + m), np.exp(xlogy(x, m) - m - gammaln(x + 1))
    mean = (chance * part).sum(axis=1)
    variance = (chance * (part - mean[:, None]) ** 2).sum(axis=1)
    return np.log(m[:, 0]), np.log(mean), np.log(variance)


def log_chances(tables: Floats, laws: Floats) -> Floats:
    """Return the logarithm of the chance of each table of counts, by one law or one a group."""
    from scipy.special import gammaln

    orders: Floats = gammaln(tables.sum(axis=1) + 1) - gammaln(tables + 1).sum(axis=1)
    return log_likelihoods(tables, laws) + orders


def log_likelihoods(tables: Floats, laws: Floats) -> Floats:
    """Return the logarithm of the likelihood of one law or one a group, up to the number of orders of the reports."""
    seen = tables > 0
    with np.errstate(divide="ignore"):
        result: Floats = np.where(seen, tables * np.log(np.where(seen, laws, 1.0)), 0.0).sum(axis=1)
    return result
