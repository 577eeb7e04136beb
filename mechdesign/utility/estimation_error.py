"""The error of frequencies estimated from the reports of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import together
from mechdesign.numerics.arrays import Floats
from mechdesign.utility.objective import Objective, columns_and_prior
from mechdesign.utility.query_variances import (
    Variances,
    Weights,
    variances_of_integers,
    variances_of_matrix,
    without_offsets,
)
from mechdesign.utility.workload import Workload

if TYPE_CHECKING:
    from mechdesign.uncertainty.base import UncertaintySet

_EPS = float(np.finfo(float).eps)


class EstimationError(Objective):
    """The least mean squared error of frequencies estimated from reports, times the number of reports; minimised.

    One report of a mechanism with columns v carries the Fisher information ``J = sum over outputs of v v' / <P, v>``
    about the prior P, and n reports estimate it with covariance ``(J^-1 - P P') / n``, which no unbiased estimator
    betters and which maximum likelihood attains for large n. For a workload W, shape (q, N), of queries over the
    categories the objective is

        tr(W J^-1 W') - |W P|^2,

    n times the mean squared error, summed over the queries. It is infinite where the reports do not determine the
    answer of a query.

    Parameters
    ----------
    workload : Workload, or what `Workload.of` takes, optional
        The queries; by default the frequency of every category.

    Examples
    --------
    Randomized response on two categories, with 3/4 for the true one; n times the variance of one frequency is
    ``p (1 - p) / (2 (3/4) - 1)^2`` with p = 1/2, and there are two frequencies:

    >>> round(EstimationError().value([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    2.0

    Of one of them alone, half of it:

    >>> round(EstimationError("prefix").value([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5]), 12)
    1.0
    """

    name = "estimation-error"
    minimised: ClassVar[bool] = True
    takes_workload: ClassVar[bool] = True

    def __init__(self, workload: object = None) -> None:
        self.workload = Workload.of(workload)

    @property
    def estimation(self) -> EstimationError:
        """The objective itself."""
        return self

    @property
    def is_symmetric(self) -> bool:
        """Whether the workload treats all categories alike."""
        return self.workload.is_symmetric

    @property
    def is_plain(self) -> bool:
        """Whether the queries are the frequencies of all categories."""
        return self.workload == Workload.frequencies()

    def workload_table(self) -> dict[str, Any] | None:
        """Return the table of the workload; None for the frequencies of all categories."""
        return None if self.is_plain else self.workload.table()

    def check_size(self, size: int) -> None:
        """Refuse categories that the workload is not defined on."""
        self.workload.check_size(size)

    def aligned_with(self, labels: Sequence[str] | None) -> EstimationError:
        """Return the objective with its workload on categories with these labels, in their order."""
        return EstimationError(self.workload.aligned_with(labels))

    def queries(self, size: int) -> Floats:
        """Return the workload W on N categories, shape (q, N), without offsets: each row has an entry 0."""
        return without_offsets(self.workload.queries(size))

    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return n times the mean squared error, summed over the queries; infinite where a query is not determined.

        Queries are judged in floats, each by itself, as `variances_of_matrix` does. For a mechanism in whole numbers
        `value_of_integers` decides exactly.
        """
        aligned, given, labels = together(matrix, prior)
        V, P = columns_and_prior(aligned, cast("ArrayLike", given))
        return float(variances_of_matrix(V, P, self.workload.queries(P.size, labels)).sum())

    def value_of_integers(self, weights: Weights, known: UncertaintySet) -> float:
        """Return the error of a mechanism in whole numbers at the reference prior; infinite exactly where it is."""
        return float(self._variances(weights, known).each.sum())

    def rounding(self, weights: Weights, known: UncertaintySet) -> float:
        """Return how far `value_of_integers` may be off by the rounding of floats."""
        each, condition = self._variances(weights, known)
        value = float(each.sum())
        return 16 * len(weights) * _EPS * condition * value if np.isfinite(value) else 0.0

    def _variances(self, weights: Weights, known: UncertaintySet) -> Variances:
        return variances_of_integers(weights, known.center, self.workload.queries(known.size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EstimationError) and self.workload == other.workload

    def __hash__(self) -> int:
        return hash((self.name, self.workload))

    def __repr__(self) -> str:
        return f"EstimationError({'' if self.is_plain else self.workload})"
