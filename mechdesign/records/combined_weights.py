"""The weights of views that overlap: how often each is drawn, so that combined estimates err least.

With weights w the information about the tables is ``I(w) = sum_i w_i B_i^T J_i B_i``, B the basis of tables that agree.
The error is ``f(w) = tr(G I(w)^-1)``, G being the sum of ``g g^T`` over what is estimated. It is convex, and
homogeneous of degree -1. With ``g_i = tr(I^-1 G I^-1 I_i)``, its slopes with the sign changed, ``sum_i w_i g_i = f``.
The step ``w_i <- w_i sqrt(g_i)``, scaled to sum 1, does not raise it (Silvey, Titterington and Torsney, 1978).

How far it may be from the least is known at each step: for weights v, convexity at ``s v`` with the best s gives
``f(v) >= f(w)^2 / sum_i v_i g_i >= f(w)^2 / max_i g_i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.records.combined_tables import CombinedEstimator, WhitenedView
from mechdesign.records.table_space import TableSpace

_MOST_STEPS = 2_000
_CLOSE = 1e-3  # relative; weights need no more
_OPEN = 1e-13  # relative to the greatest, information that counts as none: rounding errors leave as much


@dataclass(frozen=True, eq=False)
class CombinedWeights:
    """Weights of views, and the error of combined estimates with them.

    Attributes
    ----------
    weights : array, shape (views,)
        They sum to 1.
    error : float
        n times the mean squared error, summed over what is estimated.
    least : float
        No weights have a smaller error.
    """

    weights: Floats
    error: float
    least: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights))


class CombinedError:
    """The error of combined estimates as a function of the weights.

    Parameters
    ----------
    space : TableSpace
        The tables.
    views : sequence of WhitenedView
        The scores of each view at the law that the error is for.
    sums : array, shape (cells, K), optional
        What is estimated; by default each cell of each table.

    Raises
    ------
    InputError
        If reports of all views together do not determine some of it.
    """

    def __init__(self, space: TableSpace, views: Sequence[WhitenedView], sums: Floats | None = None) -> None:
        if not self._told(space, views, sums):
            raise InputError.not_identifiable(
                "reports of all views together do not determine what is to be estimated; give mechanisms whose rows "
                "are independent, or estimate less"
            )
        self.space = space
        rows = [view.means @ space.basis[space.part(place)] for place, view in enumerate(views)]
        self._information = np.array([each.T @ each for each in rows])
        along = space.basis.T if sums is None else space.basis.T @ sums
        self._gram = along @ along.T

    @staticmethod
    def _told(space: TableSpace, views: Sequence[WhitenedView], sums: Floats | None) -> bool:
        estimator = CombinedEstimator(space, tuple(views), np.ones(len(views)))
        return bool(estimator.identifiable(np.eye(space.starts[-1]) if sums is None else sums).all())

    def at(self, weights: Floats) -> tuple[float, Floats]:
        """Return the error at positive weights, and g, its slopes with the sign changed."""
        inverse = np.linalg.pinv(np.tensordot(weights, self._information, 1), rcond=_OPEN, hermitian=True)
        inner = inverse @ self._gram @ inverse
        return float((inverse * self._gram).sum()), np.einsum("kl,vkl->v", inner, self._information)

    def least(self, start: Floats, close: float = _CLOSE) -> CombinedWeights:
        """Return weights with nearly the least error, from positive ones, and a bound on what others reach.

        Parameters
        ----------
        start : array, shape (views,)
            Positive; for instance the roots of the errors of the views alone.
        close : float
            The search ends where the error is at most this much, relatively, above the bound; or after 2,000 steps.
        """
        weights, least = start / start.sum(), 0.0
        for _ in range(_MOST_STEPS):
            error, slopes = self.at(weights)
            least = max(least, error**2 / float(slopes.max()))
            if error <= (1 + close) * least:
                break
            weights = weights * np.sqrt(slopes)
            weights /= weights.sum()
        return CombinedWeights(weights, error, least)
