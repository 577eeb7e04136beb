"""Reports about views that overlap, combined: generalised least squares over all tables that agree.

Of view i there are n_i reports, fractions f_i, and the law of its reports is ``K_i^T t_i``. The mean of a function u of
the reports has variance ``(u^T D_i u - (u^T p_i)^2) / n_i``, ``D_i = diag(p_i)``. Over ``t = origin + basis y`` the
estimate minimises ``sum_i n_i |f_i - K_i^T t_i|^2`` in the metric of D_i^-1, D_i at a law that does not depend on the
reports: so it is linear in the fractions, without bias for every joint law, and has least variance at that law (Gauss,
Markov). Its variance at any other law is a sum of variances of means, which is computed and not approximated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.identification import identify
from mechdesign.deploy.linear import LinearEstimator
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK
from mechdesign.records.table_space import TableSpace

_INVISIBLE = 1e-6  # the part of a sum outside of what reports determine that counts as none


@dataclass(frozen=True, eq=False)
class WhitenedView:
    """The scores of a view at a law: functions of its reports whose second moments there are 1, and 0 across.

    Attributes
    ----------
    weights : array, shape (M, rank)
        The scores of each report.
    means : array, shape (rank, N)
        Their means for each input: ``means.T @ means`` is the information of a report.
    """

    weights: Floats
    means: Floats

    @classmethod
    def at(cls, matrix: Floats, law: Floats) -> WhitenedView:
        """Return the scores of a mechanism, shape (N, M), at a positive law of its reports."""
        weights = LinearEstimator.efficient_at(matrix, identify(matrix).basis, law).weights
        return cls(weights, weights.T @ matrix.T)


@dataclass(frozen=True, eq=False)
class CombinedEstimator:
    """The linear estimator of all tables that is efficient at one law of the reports of each view.

    It estimates the coordinates that reports determine: ``t = origin + directions c``, c a mean over the reports of
    each view, and what is orthogonal to the directions is left open.

    Attributes
    ----------
    space : TableSpace
        The tables.
    views : tuple of WhitenedView
        Their scores.
    sizes : array, shape (views,)
        The numbers of reports, or their shares. Views without reports add nothing.
    """

    space: TableSpace
    views: tuple[WhitenedView, ...]
    sizes: Floats

    @cached_property
    def _solved(self) -> tuple[list[Floats], Floats]:
        """Return the coordinates as means of scores, a block for each view, and the directions in the basis."""
        rows = [
            np.sqrt(size) * view.means @ self.space.basis[self.space.part(place)]
            for place, (view, size) in enumerate(zip(self.views, self.sizes, strict=True))
        ]
        left, values, right = np.linalg.svd(np.concatenate(rows), full_matrices=False)
        known = values > RANK * values.max(initial=0.0)
        blocks = np.split(left[:, known] / values[known], np.cumsum([len(each) for each in rows])[:-1])
        return [np.sqrt(size) * each for size, each in zip(self.sizes, blocks, strict=True)], right[known]

    @cached_property
    def directions(self) -> Floats:
        """How tables differ that reports tell apart, shape (cells, rank)."""
        result: Floats = self.space.basis @ self._solved[1].T
        return result

    @cached_property
    def scores(self) -> Floats:
        """What each report of each view adds to the coordinates, shape (M, rank), those of all views in a row."""
        return np.concatenate([view.weights @ own for view, own in zip(self.views, self._solved[0], strict=True)])

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the reports of each view begin among all reports, and last their number."""
        return np.cumsum([0, *(len(view.weights) for view in self.views)])

    def identifiable(self, sums: Floats) -> NDArray[np.bool_]:
        """Return which sums of cells reports determine, shapes (cells, K) to (K,)."""
        along = self.space.basis.T @ sums
        rest = along - self._solved[1].T @ (self._solved[1] @ along)
        length = np.maximum(np.linalg.norm(sums, axis=0), 1.0)
        result: NDArray[np.bool_] = np.linalg.norm(rest, axis=0) <= _INVISIBLE * length
        return result

    def tables(self, fractions: Floats) -> Floats:
        """Return the estimate of all tables from the fractions of the reports of each view, shape (M,) to (cells,)."""
        centre = [view.means @ self.space.origin[self.space.part(at)] for at, view in enumerate(self.views)]
        offset = sum(mean @ own for mean, own in zip(centre, self._solved[0], strict=True))
        result: Floats = self.space.origin + self.directions @ (fractions @ self.scores - offset)
        return result

    def covariance(self, laws: Floats) -> Floats:
        """Return the covariance of the coordinates at laws of the reports of each view, shape (M,): (rank, rank).

        That of tables is ``directions @ covariance @ directions.T``. The sizes are numbers of reports.
        """
        result = np.zeros((self.scores.shape[1],) * 2)
        for start, end, size in zip(self.starts, self.starts[1:], self.sizes, strict=False):
            u, p = self.scores[start:end], laws[start:end]
            if size > 0:
                mean = p @ u
                result += ((u.T * p) @ u - np.outer(mean, mean)) / size
        return result

    def centred(self, fractions: Floats) -> Floats:
        """Return what each report adds to the coordinates, as one sample of all views, shape (M, rank).

        In a sample of all n reports a report of view i counts n / n_i times. Its score is taken from the mean over the
        reports of the view, so that how many reports each view has plays no part.
        """
        found, total = np.zeros_like(self.scores), float(self.sizes.sum())
        for start, end, size in zip(self.starts, self.starts[1:], self.sizes, strict=False):
            if size > 0:
                u = self.scores[start:end]
                found[start:end] = total / size * (u - fractions[start:end] @ u)
        return found
