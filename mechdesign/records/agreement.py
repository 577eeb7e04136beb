"""Whether views that share attributes agree: the reports of each tell of the same people.

Tables that agree have fewer dimensions than the tables of views by themselves. What the scores of all views leave
unexplained by the best tables that agree, ``sum_i n_i |y_i - H_i t|^2`` in the metric of the estimated laws, is near a
chi-square variable if the views agree; its degrees of freedom are the dimensions that are left over. It is large where
people of some views did not report, where reports of another attribute are taken for these, or where a mechanism is not
the one that made them: also where the mechanism of each view explains any reports by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.records.combined_tables import CombinedEstimator, WhitenedView
from mechdesign.records.table_space import TableSpace

DISAGREE = 1e-6
"""A p below which views are said not to agree."""
_EXPECTED = 100


@dataclass(frozen=True)
class Agreement:
    """How well tables that agree explain the reports of all views.

    Attributes
    ----------
    distance : float
        What they leave unexplained.
    degrees : int
        Its degrees of freedom; with 0 of them no views share an attribute, and nothing can be tested.
    """

    distance: float
    degrees: int

    @property
    def p(self) -> float | None:
        """The chance of a greater distance if the views agree; None where nothing can be tested."""
        if self.degrees == 0:
            return None
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.distance))

    @property
    def refuted(self) -> bool:
        """Whether p is below 1e-6."""
        return self.p is not None and self.p < DISAGREE

    @classmethod
    def together(cls, found: Iterable[Agreement]) -> Agreement:
        """Return that of independent reports, each about views of their own, or in a group of their own."""
        listed = list(found)
        return cls(sum(each.distance for each in listed), sum(each.degrees for each in listed))


def chance_of_draw(counts: Sequence[float], shares: Sequence[float]) -> float:
    """Return the chance of numbers of reports of the views that lie farther from their shares, by Pearson's chi-square.

    It is tiny where people see their view and then do not report, or where the file lacks reports about some views.
    Views about which fewer than 100 reports are expected are taken together, and left out where that is too few still:
    the law of the distance is then not near enough to chi-square.

    Examples
    --------
    >>> round(chance_of_draw([220, 180], [0.5, 0.5]), 4)  # the square of a normal variable above 4
    0.0455
    """
    from scipy.special import chdtrc

    seen, means = np.asarray(counts, dtype=float), np.asarray(shares) * sum(counts)
    many = means >= _EXPECTED
    seen, means = np.append(seen[many], seen[~many].sum()), np.append(means[many], means[~many].sum())
    told = means >= _EXPECTED
    seen, means = seen[told], means[told]
    if len(seen) < 2:
        return 1.0
    means *= seen.sum() / means.sum()
    return float(chdtrc(len(seen) - 1, float(((seen - means) ** 2 / means).sum())))


def agreement_of(
    space: TableSpace, matrices: Sequence[Floats], laws: Sequence[Floats], counts: Sequence[Floats]
) -> Agreement:
    """Return how well tables that agree explain reports.

    Parameters
    ----------
    space : TableSpace
        The views.
    matrices, laws, counts : sequences of arrays, shapes (N, M), (M,) and (M,)
        The mechanism of each view, the estimated law of its reports, positive, and how often each came.

    Examples
    --------
    >>> from mechdesign.records.table_space import ViewCells
    >>> singles = [ViewCells((0,), np.array([[0], [1]])), ViewCells((0, 1), np.indices((2, 2)).reshape(2, -1).T)]
    >>> counts, matrices = [np.array([60.0, 40]), np.array([20.0, 30, 30, 20])], [np.eye(2), np.eye(4)]
    >>> found = agreement_of(TableSpace((2, 2), tuple(singles)), matrices, [each / 100 for each in counts], counts)
    >>> found.degrees, round(found.distance, 4), round(found.p, 3)
    (1, 2.0408, 0.153)

    That is the squared difference of 0.6 and 0.5, divided by the sum of their variances.
    """
    sizes = np.array([float(each.sum()) for each in counts])
    views = tuple(WhitenedView.at(matrix, law) for matrix, law in zip(matrices, laws, strict=True))
    estimator = CombinedEstimator(space, views, sizes)
    fractions = [each / max(size, 1.0) for each, size in zip(counts, sizes, strict=True)]
    tables = estimator.tables(np.concatenate(fractions))
    distance, degrees = 0.0, -estimator.directions.shape[1]
    for place, (view, own, size) in enumerate(zip(views, fractions, sizes.tolist(), strict=True)):
        if size > 0:
            left = own @ view.weights - view.means @ tables[space.part(place)]
            distance += size * float(left @ left)
            degrees += view.weights.shape[1] - 1
    return Agreement(distance if degrees else 0.0, degrees)
