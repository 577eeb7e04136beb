"""Reports about views that share attributes, read for tables: estimates, errors and limits of confidence.

A table of a view that shares no attribute with another is estimated from the reports of this view alone. More cannot be
had: every combination of tables of such views belongs to some joint law, so that the likelihood is a sum of terms in
one table each. Views that share attributes are combined (`mechdesign.records.combined_tables`).

Limits are those of `mechdesign.deploy.confidence_limits`, for one sample of all reports: the region of the laws of
(view, report) that these allow. In it a report of view i is weighed by n / n_i, and its score is taken from the mean
over the reports of the view, so that the shares of the views, which are known, have no part in the first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.confidence_limits import Brackets, Samples, limits_of_all, widened
from mechdesign.numerics.arrays import Floats
from mechdesign.records.agreement import Agreement, agreement_of
from mechdesign.records.combined_tables import CombinedEstimator, WhitenedView
from mechdesign.records.table_space import TableSpace

_TOGETHER = 1 << 21  # entries of the functions whose limits are computed together


@dataclass(frozen=True, eq=False)
class TableReading:
    """Reports about views that share attributes.

    Attributes
    ----------
    estimator : CombinedEstimator
        Of all tables of these views.
    counts : tuple of arrays
        How often each report of each view came.
    laws : array, shape (M,)
        Estimated laws of the reports of each view, positive, at which variances are computed.
    fitted : array, shape (cells,), or None
        The tables of greatest likelihood of a view that is alone; None for the linear estimate.
    agreement : Agreement
        Whether the views agree on what they share.
    """

    estimator: CombinedEstimator
    counts: tuple[Floats, ...]
    laws: Floats
    fitted: Floats | None
    agreement: Agreement

    @classmethod
    def of(
        cls,
        space: TableSpace,
        matrices: Sequence[Floats],
        references: Sequence[Floats],
        counts: Sequence[Floats],
        frequencies: Sequence[Floats | None],
    ) -> TableReading:
        """Return what reports say, some view having some.

        Parameters
        ----------
        space : TableSpace
            The views.
        matrices : sequence of arrays, shape (N, M)
            The mechanism of each.
        references : sequence of arrays, shape (N,)
            The law of each at which the estimator of views that overlap has least variance.
        counts : sequence of arrays, shape (M,)
            How often each report of each view came.
        frequencies : sequence of arrays, shape (N,), or None
            Those of greatest likelihood of each view by itself; None without reports.
        """
        sizes = np.array([float(each.sum()) for each in counts])
        smoothed = [
            reference if own is None else (size * own + 1 / len(own)) / (size + 1)
            for reference, own, size in zip(references, frequencies, sizes, strict=True)
        ]
        laws = [theta @ matrix for theta, matrix in zip(smoothed, matrices, strict=True)]
        weighed = laws if len(laws) == 1 else [own @ matrix for own, matrix in zip(references, matrices, strict=True)]
        views = tuple(WhitenedView.at(matrix, law) for matrix, law in zip(matrices, weighed, strict=True))
        fitted = frequencies[0] if len(laws) == 1 else None
        agreement = agreement_of(space, matrices, laws, counts)
        return cls(CombinedEstimator(space, views, sizes), tuple(counts), np.concatenate(laws), fitted, agreement)

    @cached_property
    def _fractions(self) -> Floats:
        return np.concatenate([each / max(float(each.sum()), 1.0) for each in self.counts])

    @cached_property
    def _sample(self) -> Samples:
        everything = np.concatenate(self.counts)
        return Samples(everything[None] / self.reports, np.array([float(self.reports)]), np.ones((1, 1)))

    @property
    def reports(self) -> int:
        """The number of reports."""
        return int(sum(float(each.sum()) for each in self.counts))

    @cached_property
    def tables(self) -> Floats:
        """The estimate of all tables, shape (cells,)."""
        return self.estimator.tables(self._fractions) if self.fitted is None else self.fitted

    @cached_property
    def covariance(self) -> Floats:
        """That of the coordinates of the tables."""
        return self.estimator.covariance(self.laws)

    def root(self, sums: Floats) -> Floats:
        """Return rows whose products are the covariances of sums of cells, shapes (cells, K) to (K, rank)."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        result: Floats = sums.T @ self.estimator.directions @ root
        return result

    def limits(self, sums: Floats, z: Floats) -> tuple[Floats, int]:
        """Return limits of sums of cells, each alone and all at once, and how many reports they need.

        Parameters
        ----------
        sums : array, shape (cells, K)
            Identifiable sums.
        z : array, shape (2, K)
            The quantiles of both.

        Returns
        -------
        array, shape (2, K, 2), and int
        """
        centred, along = self.estimator.centred(self._fractions), self.estimator.directions.T @ sums
        estimates = self._linear @ sums
        together = max(1, _TOGETHER // len(centred))
        limits, needed = [], 1
        sizes = np.concatenate([np.full(len(each), each.sum()) for each in self.counts])
        law = (self.laws * sizes / self.reports)[None]
        for start in range(0, sums.shape[1], together):
            some = slice(start, start + together)
            u = (centred @ along[:, some] + estimates[some])[None]
            brackets = plain_brackets(law, u)
            limits.append(limits_of_all(brackets, self._sample, z[None, :, some], "population")[0])
            needed = max(needed, *brackets.reports_needed(self._sample, z[None, 0, some]))
        found = np.concatenate(limits, axis=1)
        points = self.tables @ sums
        return widened(found, np.stack([points, points], axis=-1)[None]), needed

    @cached_property
    def _linear(self) -> Floats:
        return self.estimator.tables(self._fractions)


def plain_brackets(law: Floats, functionals: Floats) -> Brackets:
    """Return brackets of sums that reports determine, of one sample with a law, shapes (1, M) and (1, M, K)."""
    size = functionals.shape[2]
    return Brackets(law, functionals, functionals, np.ones((1, size), dtype=object), np.ones(size, dtype=bool))


def joint_quantiles(error: float, each: float, roots: Sequence[Floats]) -> Floats:
    """Return normal quantiles of sums alone, and of all at once, from rows whose products are covariances: (2, K).

    Readings of different views are independent.
    """
    from scipy.linalg import block_diag

    covariance = block_diag(*(root @ root.T for root in roots))
    brackets = plain_brackets(np.ones((1, 1)), np.empty((1, 1, len(covariance))))
    alone: NDArray[np.float64] = brackets.quantiles(each)
    return np.concatenate([alone, brackets.joint_quantiles(error, covariance[None])])
