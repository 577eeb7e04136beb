"""Sets of priors that a lower probability describes: every set of categories has at least a given mass.

Let f be a function of sets of categories with ``f(empty) = 0`` and ``f(all) = 1``, and
``B = { Q in the simplex : Q(S) >= f(S) for every S }``. Sort a column v by falling entries, and let S_k be its first k
categories. Then

    sum_k (v_(k) - v_(k+1)) f(S_k),    v_(N+1) = 0,

is at most h(v), because ``<Q, v> = sum_k (v_(k) - v_(k+1)) Q(S_k)``. It is h(v) if f is supermodular,
``f(S) + f(T) <= f(S or T) + f(S and T)``: then ``Q_(k) = f(S_k) - f(S_(k-1))`` is a prior of B, which attains it. So a
guarantee that is proved with this sum holds whether or not f is supermodular.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty.base import UncertaintySet

if TYPE_CHECKING:
    from mechdesign.uncertainty.pieces import PieceSet


class LowerProbability(UncertaintySet):
    """All priors Q with ``Q(S) >= f(S)`` for every set S of categories.

    A class of its own defines `along`, `of_every_set`, `contains`, `support_rows` and `in_words`;
    `mechdesign.uncertainty.LowerFunction` takes any f.
    """

    @property
    def lower_probability(self) -> LowerProbability:
        """The set itself."""
        return self

    @property
    def supermodular(self) -> bool:
        """Whether f is supermodular, so that its sum along a column is the support function."""
        return True

    @property
    def piece_set(self) -> PieceSet | None:
        """The set itself if f is the greatest of a few pieces, or else None."""
        return None

    @abstractmethod
    def along(self, order: Sequence[int]) -> tuple[list[int], int]:
        """Return f of the first k categories of an order, k = 1 to N, as integers over a denominator, and that."""

    @abstractmethod
    def of_every_set(self) -> tuple[list[int], int]:
        """Return f of every set of categories, by its bit mask, as integers over a common denominator, and that."""

    def least_mass(self, symbols: Collection[int]) -> Fraction:
        """Return f of a set of categories, given by their places from 0 on.

        Examples
        --------
        >>> from mechdesign.uncertainty import LowerLimits
        >>> LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"]).least_mass([0, 2])
        Fraction(2, 5)
        """
        inside = sorted(set(symbols))
        values, common = self.along([*inside, *(i for i in range(self.size) if i not in set(inside))])
        return Fraction(values[len(inside) - 1], common) if inside else Fraction(0)

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return the sum of f along a column of integers: h(v), or less where f is not supermodular."""
        order = _falling(column)
        values, common = self.along(order)
        falling = [column[i] for i in order]
        steps = zip(falling, [*falling[1:], 0], values, strict=True)
        return Fraction(sum((entry - next_entry) * value for entry, next_entry, value in steps), common)

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return `exact_support` and the masses that attain it, which are a prior of the set if f is supermodular."""
        order = _falling(column)
        values, common = self.along(order)
        worst, before = [Fraction(0)] * self.size, 0
        for i, value in zip(order, values, strict=True):
            worst[i], before = Fraction(value - before, common), value
        return sum((q * v for q, v in zip(worst, column, strict=True)), Fraction(0)), tuple(worst)

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        V = self.as_matrix(columns)
        order = np.argsort(-V, axis=0, kind="stable")
        falling = np.take_along_axis(V, order, axis=0)
        steps = falling - np.vstack([falling[1:], np.zeros((1, V.shape[1]))])
        result: Floats = (steps * self._floats_along(order)).sum(axis=0)
        return result

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and a prior of the set that attains it, shape (N,)."""
        v = self.as_vector(column)
        order = np.argsort(-v, kind="stable")
        worst = np.empty(self.size)
        worst[order] = np.diff(self._floats_along(order[:, None])[:, 0], prepend=0.0)
        return float(worst @ v), worst

    def _floats_along(self, orders: np.ndarray[tuple[int, int], np.dtype[np.intp]]) -> Floats:
        """Return `along` of each column of orders as floats, shape (N, M)."""
        result = np.empty(orders.shape)
        for column, order in enumerate(orders.T):
            values, common = self.along(order.tolist())
            result[:, column] = [value / common for value in values]
        return result


def _falling(column: Sequence[int]) -> list[int]:
    """Return the categories by falling entries."""
    return sorted(range(len(column)), key=column.__getitem__, reverse=True)
