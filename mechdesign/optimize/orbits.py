"""Groups of symbols that share a row of a linear program, which is then smaller, or of a mechanism.

Where symbols of equal probability are interchangeable, averaging a mechanism over their permutations changes
neither privacy nor utility. A linear program then needs one row for each group of such symbols, with the
column's mean over the group. Its columns are then turned: the entries of each group are shifted cyclically, all groups
at once and each in as many steps as it has symbols. So on average every symbol of a group has the group's mean.

Symbols of unlike probability may be tied too, with a mean weighted by their probabilities. That relaxes the program:
its value may be greater than that of any mechanism, and its multipliers, spread over the symbols, prove a bound.

Bins are groups of symbols that get the same row of a mechanism. For columns that are constant on bins, the cone of a
ball and every f-information are those of the ball of the same line (alpha and gamma, or the radius) around the merged
counts. So the rows of a design for the bins, copied to their symbols, are a mechanism with the same guarantee and the
same utility. See docs/mathematics.md.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.price import equal_groups
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.ball import Ball

_MOST_SYMBOLS = 256
_FEW_GROUPS, _MOST_TURNED = 16, 1_500  # up to so many groups, and so many symbols
_HEAVY = 0.7  # of a bin's mass: a symbol of more is a bin by itself
_RUNGS = 10  # small bins of falling mass, so that sums of bins come close to any mass
_LIGHTEST = 30  # symbols that stay single where the tolerance is small: the last digits are theirs
_MOST_EQUAL = 8  # parts: beyond, bins of equal mass are too many
_EQUAL = 18  # equal bins at the first level, for each of its parts
Sort = Callable[[Floats, float, int], Floats | None]


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
        groups = equal_groups(known.center)
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


def merged_ball(ball: Ball, bins: Orbits) -> Ball:
    """Return the ball of the same line around the merged probabilities.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> merged_ball(L1Ball(["0.5", "0.3", "0.2"], "0.1"), Orbits(((0,), (1, 2)))).center
    (Fraction(1, 2), Fraction(1, 2))
    """
    center = [sum((ball.center[symbol] for symbol in group), Fraction(0)) for group in bins.groups]
    return ball.around(center)


def binned(ball: Ball, mass: float, parts: int, sort: Sort, *, fine: bool) -> Orbits | None:
    """Return bins of a sort; None where that sort has none, or not fewer than symbols.

    Parameters
    ----------
    ball : Ball
        The symbols and their probabilities. Symbols of probability 0 have a bin to themselves.
    mass : float
        The mass of the sets of the best columns.
    parts : int
        More parts make more bins.
    sort : callable
        One of `SORTS`.
    fine : bool
        Whether the lightest symbols stay single.
    """
    P = ball.prior
    targets = sort(P, mass, parts)
    if targets is None:
        return None
    held = _filled(P, targets)
    if fine:
        held = _without_lightest(P, held)
    return Orbits.tied(held, P) if 1 < len(held) < P.size else None


def dividing(prior: Floats, mass: float, parts: int) -> Floats:
    """Return masses of bins that divide a mass: heavy symbols by themselves, equal parts of it, and falling rungs."""
    part = min(mass, 1 - mass) / parts
    if not part > 0:
        return prior
    heavy = prior[prior >= _HEAVY * part]
    left = float(prior.sum() - heavy.sum())
    equal = max(int(left / part - 1), 0)
    rungs = max(left - equal * part, 0.0) * 0.5 ** np.append(np.arange(1, _RUNGS), _RUNGS - 1)
    return np.concatenate([heavy, np.full(equal, part), rungs])


def equal(prior: Floats, mass: float, parts: int) -> Floats | None:  # noqa: ARG001 - for any prior and mass
    """Return the same mass for each bin; None for more parts than are of use."""
    return np.full(_EQUAL * parts, 1 / (_EQUAL * parts)) if parts <= _MOST_EQUAL else None


SORTS: tuple[Sort, ...] = (dividing, equal)


def _filled(prior: Floats, targets: Floats) -> list[list[int]]:
    """Return bins of about these masses: the heaviest symbol first, each into the bin with the most room left."""
    room = [(-target, index) for index, target in enumerate(targets.tolist())]
    heapq.heapify(room)
    held: list[list[int]] = [[] for _ in room]
    for symbol in np.argsort(-prior, kind="stable").tolist():
        if prior[symbol] > 0:
            taken, index = room[0]
            held[index].append(symbol)
            heapq.heapreplace(room, (taken + float(prior[symbol]), index))
    return [sorted(group) for group in [*held, np.flatnonzero(prior <= 0).tolist()] if group]


def _without_lightest(prior: Floats, held: list[list[int]]) -> list[list[int]]:
    """Return bins with the lightest symbols as bins of their own."""
    present = [symbol for symbol in np.argsort(prior, kind="stable").tolist() if prior[symbol] > 0]
    single = set(present[: min(_LIGHTEST, len(held) // 3)])
    rest = [[symbol for symbol in group if symbol not in single] for group in held]
    return [*(group for group in rest if group), *([symbol] for symbol in sorted(single))]


def tied_groups(groups: Sequence[Sequence[int]], prior: Floats, counts: tuple[int, int, int]) -> list[list[int]]:
    """Return groups tied further: the lightest and the heaviest stay, the others are tied in classes of like mass.

    Parameters
    ----------
    groups : sequence of sequences of int
        Groups of symbols of equal probability.
    prior : array, shape (N,)
        Their probabilities.
    counts : tuple of int
        How many of the lightest stay, how many of the heaviest, and how many classes the others make.

    Examples
    --------
    >>> tied_groups([[0], [1, 4], [2], [3]], np.array([0.5, 0.1, 0.2, 0.1, 0.1]), (1, 1, 1))
    [[1, 4], [3, 2], [0]]
    """
    lightest, heaviest, classes = counts
    order = sorted(groups, key=lambda group: prior[group[0]])
    low = min(lightest, len(order))
    high = max(len(order) - heaviest, low)
    middle = order[low:high]
    among = [middle[len(middle) * k // classes : len(middle) * (k + 1) // classes] for k in range(classes)]
    tied = [[symbol for group in some for symbol in group] for some in among if some]
    return [*(list(group) for group in order[:low]), *tied, *(list(group) for group in order[high:])]
