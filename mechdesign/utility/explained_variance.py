"""The variance of a number that reports explain: what squared error loses by predictions from them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import together
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import rational
from mechdesign.utility.gain import ExactGains, PolyhedralUtility
from mechdesign.utility.given_queries import Mean
from mechdesign.utility.objective import Utility, columns_and_prior
from mechdesign.utility.workload import Workload

_EPS = float(np.finfo(float).eps)


class ExplainedVariance(Utility):
    """The variance of the best prediction of a number from a report.

    With a number ``a_x`` for each category and its mean ``m = <P, a>``,

        mu(v) = (sum_x P_x v_x (a_x - m))^2 / <P, v>,

    and the sum over the outputs is ``Var(a) - E (a - E[a given the report])^2``: the least mean squared error of a
    prediction from the report is the variance minus this utility. mu is convex and homogeneous, as the perspective of
    the square, and the greatest of the gains ``2 w (a - m) - w^2`` over all predictions w.

    Parameters
    ----------
    values : sequence, mapping or series of N numbers, or Workload, optional
        a: exact numbers, aligned by their labels where they have some; or `Workload.mean` of them, as files and the
        command line name them (``scores=1,2``). By default the labels of the categories, read as numbers.

    Raises
    ------
    InputError
        If the values are no numbers or all equal, or the workload has other queries than scores.

    Examples
    --------
    Randomized response, with 3/4 for the true one of two values; 1/16 of the variance 1/4 is explained, times 4:

    >>> ExplainedVariance([0, 1]).value([[0.75, 0.25], [0.25, 0.75]], [0.5, 0.5])
    0.0625
    """

    name = "explained-variance"
    takes_workload: ClassVar[bool] = True

    def __init__(self, values: object = None) -> None:
        if isinstance(values, Workload) and not isinstance(values.kind, Mean):
            raise InputError.bad_workload(
                f"the workload of {self.name} is {values.in_words()}; accepted: scores, a number for each category"
            )
        given = values is None or isinstance(values, Workload)
        self.workload = cast("Workload | None", values) if given else Workload.mean(values)

    @property
    def explained_variance(self) -> ExplainedVariance:
        """The utility itself."""
        return self

    def workload_table(self) -> dict[str, Any] | None:
        """Return the table of the scores; None for labels that are not known yet."""
        return None if self.workload is None else self.workload.table()

    def check_size(self, size: int) -> None:
        """Refuse another number of categories than there are values."""
        if self.workload is not None:
            self.workload.check_size(size)

    def aligned_with(self, labels: Sequence[str] | None) -> ExplainedVariance:
        """Return the utility with a value for each label, in their order: the labels as numbers, if none was given."""
        if self.workload is not None:
            return ExplainedVariance(self.workload.aligned_with(labels))
        if labels is None:
            raise InputError.missing_argument(
                f"{self.name} has no values and the categories have no labels; give a number for each category"
            )
        try:
            return ExplainedVariance([rational(label, "a label") for label in labels])
        except InputError as error:
            raise error.reworded(
                f"{self.name} has no values, and takes the labels as numbers, but {error}; give a number for each "
                "category, as scores"
            ) from None

    def centered(self, prior: Sequence[Fraction]) -> list[Fraction]:
        """Return the values minus their mean at a prior, exactly."""
        values = self._exact(len(prior))
        mean = sum((p * a for p, a in zip(prior, values, strict=True)), Fraction(0)) / sum(prior)
        return [a - mean for a in values]

    def _exact(self, size: int) -> tuple[Fraction, ...]:
        if self.workload is None:
            raise InputError.missing_argument(f"{self.name} has no values; give a number for each category")
        self.check_size(size)
        return cast("Mean", self.workload.kind).exact[0]

    def _floats(self, prior: Floats) -> tuple[Floats, float]:
        """Return the values minus their mean, and how far each may be off."""
        values = self._exact(prior.size)
        middle = (min(values) + max(values)) / 2
        shifted = np.array([float(a - middle) for a in values])
        return shifted - prior @ shifted / prior.sum(), (prior.size + 16) * _EPS * float(np.abs(shifted).max())

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the explained variance of each column."""
        aligned, given, labels = together(columns, prior)
        V, P = columns_and_prior(aligned, given)
        known = self if labels is None else self.aligned_with(labels)
        sums, masses = (P * known._floats(P)[0]) @ V, P @ V
        result: Floats = np.divide(sums**2, masses, out=np.zeros(masses.shape), where=masses > 0)
        return result

    def predictions(self, columns: Floats, prior: Floats) -> Floats:
        """Return the best prediction of each column, minus the mean, shape (M,)."""
        result: Floats = ((prior * self._floats(prior)[0]) @ columns) / (prior @ columns)
        return result

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:
        """Return ``P (2 w (a - m) - w^2)`` at the prediction w of one column, shape (N,)."""
        v, P = columns_and_prior(np.asarray(column, dtype=float)[:, None], prior)
        centered, mass = self._floats(P)[0], float(P @ v[:, 0])
        w = float((P * centered) @ v[:, 0]) / mass if mass > 0 else 0.0
        result: Floats = P * (2 * w * centered - w * w)
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:
        """Return an upper bound of mu near each column: of the square over the least mass, and of mass times range."""
        centered, off = self._floats(prior)
        moved = np.broadcast_to(slack, columns.shape) + (prior.size + 16) * _EPS * np.abs(columns)
        masses, more = prior @ columns, prior @ moved
        sums = np.abs((prior * centered) @ columns) + (prior * (np.abs(centered) + off)) @ moved + off * masses
        widest = (masses + more) * (float(np.abs(centered).max()) + off) ** 2
        left = masses - more
        upper = np.divide(sums**2, left, out=np.full(masses.shape, np.inf), where=left > 0)
        result: Floats = np.minimum(upper, widest) * (1 + 16 * _EPS)
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExplainedVariance) and self.workload == other.workload

    def __hash__(self) -> int:
        return hash((self.name, self.workload))

    def __repr__(self) -> str:
        return f"ExplainedVariance({'' if self.workload is None else self.workload})"


class Predictions(PolyhedralUtility):
    """The explained variance with finitely many predictions: the gains ``2 w c - w^2``.

    Parameters
    ----------
    centered : sequence of N Fractions
        c, the values minus their mean.
    predictions : array, shape (W,)
        w, minus the mean likewise.

    Examples
    --------
    >>> Predictions([Fraction(-1, 2), Fraction(1, 2)], np.array([-0.5, 0.25])).gains(2)
    array([[ 0.25  , -0.75  ],
           [-0.3125,  0.1875]])
    """

    name = "predictions"

    def __init__(self, centered: Sequence[Fraction], predictions: Floats) -> None:
        self._centered = tuple(centered)
        self._predictions = [Fraction(w) for w in predictions.tolist()]

    def exact_gains(self, size: int) -> ExactGains:  # noqa: ARG002 - that of the values
        """Return the function that gives the gain of a prediction at a category."""
        centered, predictions = self._centered, self._predictions
        return lambda guess, symbol: predictions[guess] * (2 * centered[symbol] - predictions[guess])

    def gains(self, size: int) -> Floats:
        """Return the floats nearest to the gains, shape (W, N)."""
        exact = self.exact_gains(size)
        return np.array([[float(exact(w, x)) for x in range(size)] for w in range(len(self._predictions))])
