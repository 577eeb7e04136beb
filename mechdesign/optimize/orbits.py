"""Groups of symbols that share a row of a linear program, which is then smaller.

Where symbols of equal probability are interchangeable, averaging a mechanism over their permutations changes
neither privacy nor utility. A linear program then needs one row for each group of such symbols, with the
column's mean over the group. Its columns are then turned: the entries of each group are shifted cyclically, all groups
at once and each in as many steps as it has symbols. So on average every symbol of a group has the group's mean.

Symbols of unlike probability may be tied too, with a mean weighted by their probabilities. That relaxes the program:
its value may be greater than that of any mechanism, and its multipliers, spread over the symbols, prove a bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.alike import alike
from mechdesign.problem import DesignProblem

_MOST_SYMBOLS = 256
_FEW_GROUPS, _MOST_TURNED = 16, 1_500  # up to so many groups, and so many symbols


@dataclass(frozen=True, eq=False)
class Orbits:
    """Groups of symbols that share a row.

    Attributes
    ----------
    groups : tuple of tuples of int
        Each symbol is in one group.
    shares : array, shape (N,), or None
        The weight of each symbol in the mean over its group. None where symbols of a group are interchangeable, and so
        have equal weights.

    Examples
    --------
    >>> pairs = Orbits(((0, 1), (2,)))
    >>> pairs.fold(np.array([[3.0], [1.0], [5.0]]))
    array([[2.],
           [5.]])
    >>> pairs.turned(np.array([[3.0], [1.0], [5.0]]))
    array([[1.5, 0.5],
           [0.5, 1.5],
           [2.5, 2.5]])
    """

    groups: tuple[tuple[int, ...], ...]
    shares: Floats | None = None

    @classmethod
    def tied(cls, groups: Iterable[Iterable[int]], prior: Floats) -> Orbits:
        """Return groups of symbols of any probability, with means weighted by a prior, shape (N,).

        Examples
        --------
        >>> tied = Orbits.tied([[0, 1], [2]], np.array([0.6, 0.2, 0.2]))
        >>> tied.fold(np.array([[1.0], [2.0], [5.0]]))
        array([[1.25],
               [5.  ]])
        >>> tied.spread(np.array([4.0, 1.0]))
        array([3., 1., 1.])
        """
        held = tuple(tuple(group) for group in groups)
        shares = np.empty(prior.size)
        for group in map(list, held):
            mass = prior[group].sum()
            shares[group] = prior[group] / mass if mass > 0 else 1 / len(group)
        return cls(held, shares)

    @classmethod
    def of(cls, problem: DesignProblem) -> Orbits:
        """Return the groups of symbols of equal probability, or single symbols if the problem distinguishes them.

        Single symbols are also returned where turning the columns of many groups, or of thousands of symbols, would
        take longer than the program for single symbols.
        """
        known = problem.uncertainty
        groups = alike(known.center)
        symmetric = known.ball is not None and problem.utility.is_symmetric
        turnable = known.size <= _MOST_SYMBOLS or (known.size <= _MOST_TURNED and len(groups) <= _FEW_GROUPS)
        if symmetric and turnable:
            return cls(tuple(tuple(group) for group in groups))
        return cls(tuple((symbol,) for symbol in range(known.size)))

    @property
    def trivial(self) -> bool:
        """Whether no two symbols are interchangeable."""
        return all(len(group) == 1 for group in self.groups)

    def fold(self, columns: Floats) -> Floats:
        """Return the mean of each column over each group, shape (G, k)."""
        if self.shares is None:
            return np.array([columns[list(group)].mean(axis=0) for group in self.groups])
        return np.array([self.shares[group] @ columns[group] for group in map(list, self.groups)])

    def spread(self, multipliers: Floats) -> Floats:
        """Return the multipliers of symbols, shape (N,), from those of groups."""
        result = np.empty(sum(map(len, self.groups)))
        for group, multiplier in zip(map(list, self.groups), multipliers, strict=True):
            result[group] = multiplier / len(group) if self.shares is None else multiplier * self.shares[group]
        return result

    def sums(self, multipliers: Floats) -> Floats:
        """Return the sum of the multipliers of each group, shape (G,)."""
        return np.array([multipliers[list(group)].sum() for group in self.groups])

    @property
    def positions(self) -> NDArray[np.int64]:
        """The index of the group of each symbol, shape (N,)."""
        result = np.empty(sum(map(len, self.groups)), dtype=np.int64)
        for index, group in enumerate(self.groups):
            result[list(group)] = index
        return result

    def turned(self, columns: Floats) -> Floats:
        """Return permutations of the columns, times weights, whose sum is the columns' sum averaged over groups."""
        return np.hstack([self._turned(column) for column in columns.T])

    def _turned(self, column: Floats) -> Floats:
        """Return the weighted shifts of a column; groups on which it is constant are not shifted."""
        turning = [list(group) for group in self.groups if np.ptp(column[list(group)]) > 0]
        sizes = {len(group) for group in turning} | {1}
        breaks = sorted({Fraction(k, size) for size in sizes for k in range(size)} | {Fraction(1)})
        result = np.repeat(column[:, None], len(breaks) - 1, axis=1)
        for k, start in enumerate(breaks[:-1]):
            for group in turning:
                result[group, k] = np.roll(column[group], int(start * len(group)))
            result[:, k] *= float(breaks[k + 1] - start)
        return result
