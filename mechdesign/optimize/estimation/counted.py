"""What prices of separable forms share: integer weights of symbols for tables, and what has been found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.uncertainty import L1Ball

_MOST_TOTAL = 1 << 17
_MOST_ENTRIES = 400_000_000


@dataclass(frozen=True, eq=False)
class CountedSymbols:
    """Integer weights of all symbols; a set of weight w has a mass within `off` of ``w / total``.

    A prior of counts of a moderate total has these counts as weights, and ``off`` is 0. Other priors are rounded to
    multiples of ``1 / total``.

    Attributes
    ----------
    weights : tuple of int
        One for each symbol.
    total : int
        What the weights are divided by; with ``off = 0`` it is their sum.
    off : float
        The greatest difference for any set, rounded up.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> CountedSymbols.of(L1Ball.from_counts([5, 3, 2], known=True)).weights
    (5, 3, 2)
    >>> CountedSymbols.of(L1Ball.from_counts([10**9, 1], known=True)).off < 1e-5
    True
    """

    weights: tuple[int, ...]
    total: int
    off: float

    @classmethod
    def of(cls, ball: L1Ball) -> CountedSymbols:
        """Return the weights of the center of a ball."""
        total, N = sum(ball.weights), ball.size
        most = max(16, min(_MOST_TOTAL, _MOST_ENTRIES // (N * N.bit_length())))
        if total <= most:
            return cls(ball.weights, total, 0.0)
        rounded = tuple(round(Fraction(weight * most, total)) for weight in ball.weights)
        errors = [p - Fraction(weight, most) for p, weight in zip(ball.center, rounded, strict=True)]
        off = max(sum((max(sign * error, Fraction(0)) for error in errors), Fraction(0)) for sign in (1, -1))
        return cls(rounded, most, float_up(off))

    def heaviest(self, mass: float) -> int:
        """Return the greatest weight that a set of at most a mass may have."""
        return max(0, min(int(np.floor(self.total * (mass + self.off + RAY_EDGE))), sum(self.weights)))

    def masses(self, weights: NDArray[np.int64], most: float) -> tuple[Floats, Floats]:
        """Return the least and the greatest mass that a set of each weight may have, if it is at most `most`."""
        middle = weights / self.total
        return np.clip(middle - self.off, 0.0, most), np.clip(middle + self.off, 0.0, most)


@dataclass(eq=False)
class Found:
    """A bound of ``(v - 1)' Theta (v - 1) - <lambda, v>``, and columns of great values.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    upper : float
        The bound over the rays of all kinds that have been priced.
    reached : float
        The greatest value of a column that has been found.
    columns : list of arrays, shape (N,)
        Columns of the cone with ``<P, v> = 1``.
    looked_at : int
        How many cases were bounded.

    Examples
    --------
    >>> found = Found(QuadraticForm(np.ones(2)), np.zeros(2))
    >>> found.add(np.array([2.0, 0.0]))
    >>> found.reached
    2.0
    """

    form: QuadraticForm
    multipliers: Floats
    upper: float = -np.inf
    reached: float = -np.inf
    columns: list[Floats] = field(default_factory=list)
    looked_at: int = 0

    def add(self, column: Floats) -> None:
        """Add a column."""
        value = float(self.form.values(column[:, None] - 1)[0] - self.multipliers @ column)
        self.reached = max(self.reached, value)
        self.columns.append(column)


def subset_sums(weights: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return all sums of subsets of weights up to a greatest one, in increasing order.

    Examples
    --------
    >>> subset_sums(np.array([2, 5, 4]), 8)
    array([0, 2, 4, 5, 6, 7])
    """
    possible = np.zeros(most + 1, dtype=bool)
    possible[0] = True
    for weight in weights:
        possible[weight:] |= possible[: possible.size - weight].copy()
    return np.flatnonzero(possible)


def moves(sums: NDArray[np.int64], weight: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of sums to which a weight may be added, and those of the results.

    Examples
    --------
    >>> moves(np.array([0, 2, 4, 5, 6, 7]), 2)
    (array([0, 1, 2, 3]), array([1, 2, 4, 5]))
    """
    source = np.flatnonzero(np.isin(sums + weight, sums))
    return source, np.searchsorted(sums, sums[source] + weight)
