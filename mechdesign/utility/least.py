"""The least utility of a mechanism over a set of priors.

A utility that is concave in the prior is least at an extreme prior. Those of a hull are among the priors listed. Those
of the priors above a supermodular f are the marginal vectors ``Q_(k) = f(S_k) - f(S_(k-1))`` of all orders of the
categories. They are searched by branch and bound: a branch is the beginning of an order, and the priors that begin so
are again those above a supermodular function, of the categories that are left. Over these the means ``<Q, k_y>`` of all
columns lie between limits that are computed greedily, and a linear function of the prior that is below the utility
between these limits (`Utility.minorant`) has its least value at a greedy prior as well.

A gain utility is a maximum of linear functions of the prior, one for each way to decode the reports. So its least value
over the set is the greatest ``h(u)`` of any decoder, u_i being the mean gain for the category i: a linear program,
whose solution is rounded to a decoder in rationals.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.utility.decoders import greatest_least_gain
from mechdesign.utility.objective import Utility

MOST_ORDERED = 16  # categories: f is tabulated for every set of them
_MOST_BRANCHES = 60_000
_SAME = 1e-13  # of two values of f, or of two priors
_CLOSED = 1e-12  # relative: a branch whose bound is so near to the least value found is not searched

Prior = tuple[Fraction, ...]


@dataclass(frozen=True)
class LeastUtility:
    """The least utility of a mechanism over a set of priors.

    Attributes
    ----------
    bound : float
        The utility at no prior of the set is less.
    value : float
        The utility at `prior`.
    prior : tuple of Fraction
        A prior of the set.
    """

    bound: float
    value: float
    prior: Prior


def least_utility(utility: Utility, matrix: ArrayLike, known: UncertaintySet) -> LeastUtility:
    """Return the least utility of a mechanism over all priors of a set.

    Parameters
    ----------
    utility : Utility
        Concave in the prior, or polyhedral.
    matrix : array, shape (N, M)
        A mechanism.
    known : UncertaintySet
        For gain utilities any set; otherwise an l1 ball, a set above a supermodular lower probability of at most 16
        categories, or a hull of priors.

    Raises
    ------
    LimitError
        If the extreme priors of the set are not known, or too many.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> found = least_utility(MutualInformation(), [[0.75, 0.25], [0.25, 0.75]], L1Ball([0.5, 0.5], "0.2"))
    >>> sorted(found.prior), round(found.bound, 6)
    ([Fraction(2, 5), Fraction(3, 5)], 0.125804)
    """
    V = known.as_matrix(matrix)
    if utility.polyhedral is not None:
        found, prior = greatest_least_gain(utility.polyhedral, V, known)
        return LeastUtility(found, utility.value(V, prior), prior)
    if known.convex_hull is not None:
        least, prior = min((utility.value(V, prior), prior) for prior in known.convex_hull.priors)
        return LeastUtility(least, least, prior)
    if holds_one_prior(known):
        value = utility.value(V, known.center)
        return LeastUtility(value, value, known.center)
    point = certain_prior(known)
    if point is not None and utility.f_information is not None:
        # An f-information is 0 or more, and 0 where a category is certain.
        return LeastUtility(0.0, 0.0, point)
    return _PriorSearch(utility, V, known).least()


def priors_below(utility: Utility, matrix: Floats, known: UncertaintySet, level: float, most: int) -> list[Prior]:
    """Return extreme priors where a utility that is concave in the prior is below a level; empty if there is none.

    Parameters
    ----------
    utility, matrix, known
        As for `least_utility`.
    level : float
        Of the utility.
    most : int
        The search ends when it has found so many, which need not be those of least utility.

    Raises
    ------
    LimitError
        As `least_utility`.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> priors_below(MutualInformation(), matrix, L1Ball([0.5, 0.5], "0.2"), 0.126, 5)
    [(Fraction(3, 5), Fraction(2, 5)), (Fraction(2, 5), Fraction(3, 5))]
    """
    if known.convex_hull is not None:
        priors = known.convex_hull.priors
        return [prior for prior in priors if utility.value(matrix, prior) < level][:most]
    return _PriorSearch(utility, matrix, known).below(level, most)


def holds_one_prior(known: UncertaintySet) -> bool:
    """Return whether a set holds its center and nothing else.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> holds_one_prior(L1Ball(["0.9", "0.1"])), holds_one_prior(L1Ball(["0.9", "0.1"], "0.1"))
    (True, False)
    """
    units = ([int(x == i) for x in range(known.size)] for i in range(known.size))
    return all(known.exact_support(unit) == p for unit, p in zip(units, known.center, strict=True))


def certain_prior(known: UncertaintySet) -> Prior | None:
    """Return a prior of the set under which one category is certain; None if the set has none.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> certain_prior(L1Ball(["0.9", "0.1"], "0.2")), certain_prior(L1Ball(["0.9", "0.1"], "0.1"))
    ((Fraction(1, 1), Fraction(0, 1)), None)
    """
    for x in range(known.size):
        if known.exact_support([int(i != x) for i in range(known.size)]) <= 0:
            return tuple(Fraction(int(i == x)) for i in range(known.size))
    return None


def table_of(known: UncertaintySet) -> Floats:
    """Return f of every set of categories, by its bit mask, of a set of priors above a supermodular f.

    Raises
    ------
    LimitError
        If the set is another one, or has more than 16 categories.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> table_of(L1Ball(["0.5", "0.5"], "0.2"))
    array([0. , 0.4, 0.4, 1. ])
    """
    lower, ball = known.lower_probability, known.l1_ball
    if ball is None and (lower is None or not lower.supermodular):
        raise LimitError.no_method(
            f"the extreme priors of {known!r} are not known, where the least utility is; give an l1 ball, a hull of "
            "priors or a set above a supermodular lower probability"
        )
    if known.size > MOST_ORDERED:
        raise LimitError.too_much_work(
            f"the least utility over {known!r} is searched for at most {MOST_ORDERED} categories; merge categories, or "
            "measure utility at the estimate"
        )
    if ball is not None:
        weights, common = over_common_denominator([*ball.center, ball.half_radius])
        sums = [-weights[-1]]
        for weight in weights[:-1]:
            sums += [other + weight for other in sums]
        values = [max(0, value) for value in sums]
        values[-1] = common
        return np.array([value / common for value in values])
    assert lower is not None  # noqa: S101 - one of the two is given
    values, common = lower.of_every_set()
    return np.array([value / common for value in values])


class _PriorSearch:
    """Branch and bound over the orders of the categories, for one mechanism."""

    def __init__(self, utility: Utility, matrix: Floats, known: UncertaintySet) -> None:
        self._utility, self._matrix, self._known = utility, matrix, known
        self._table = table_of(known)
        falling = np.argsort(-matrix, axis=0, kind="stable")
        self._orders = np.hstack([falling, falling[::-1]])
        self._values = np.take_along_axis(np.hstack([matrix, matrix]), self._orders, axis=0)
        self._best, self._best_order = math.inf, tuple(range(known.size))
        self._seen: set[tuple[int, bytes]] = set()
        self._level = -math.inf
        self._below: dict[Prior, None] = {}

    def least(self) -> LeastUtility:
        """Return the least utility, or a lower bound of it where branches are left when their number is exhausted."""
        bound = self._searched(1)
        prior = self._exact(self._best_order)
        value = self._utility.value(self._matrix, prior)
        return LeastUtility(min(bound, value), value, prior)

    def below(self, level: float, most: int) -> list[Prior]:
        """Return priors where the utility is below a level, in the order in which they are found."""
        self._level = level
        self._searched(most)
        return list(self._below)[:most]

    def _searched(self, most: int) -> float:
        """Return a lower bound of the utility at all priors that were not looked at; infinity if none is left."""
        start: tuple[float, int, tuple[int, ...], Floats] = (-math.inf, 0, (), np.zeros(self._known.size))
        ticks, waiting, left = count(1), [start], math.inf
        for _ in range(_MOST_BRANCHES):
            if not waiting:
                return left
            bound, _, order, fixed = heapq.heappop(waiting)
            if self._closed(bound) or len(self._below) >= most:
                return min(left, bound)
            for lower, following, prior in self._branches(order, fixed):
                if self._closed(lower):
                    left = min(left, lower)
                else:
                    heapq.heappush(waiting, (lower, next(ticks), following, prior))
        if waiting and waiting[0][0] == -math.inf:
            raise LimitError.too_much_work(
                f"the extreme priors of {self._known!r} are too many to look at them all for {self._utility.name}; "
                "merge categories, or measure utility at the estimate"
            )
        return min(left, waiting[0][0]) if waiting else left

    def _closed(self, bound: float) -> bool:
        """Return whether a branch with a bound has no prior of interest."""
        if self._level > -math.inf:
            return bound >= self._level
        return bound >= self._best - _CLOSED * abs(self._best)

    def _exact(self, order: tuple[int, ...]) -> Prior:
        """Return the prior of an order in rationals."""
        column = [0] * self._known.size
        for place, x in enumerate(order):
            column[x] = self._known.size - place
        return self._known.exact_worst_mean(column)[1]

    def _branches(self, order: tuple[int, ...], fixed: Floats) -> Iterator[tuple[float, tuple[int, ...], Floats]]:
        """Yield the beginnings of orders that are one category longer, with a bound; take the priors where they end."""
        f, mask = self._table, sum(1 << x for x in order)
        free = [x for x in range(self._known.size) if not mask >> x & 1]
        steps = np.array([f[mask | 1 << x] - f[mask] for x in free])
        if self._ends(mask, free, steps):
            self._take_all(order, free, fixed, steps)
            return
        for x, step in zip(free, steps.tolist(), strict=True):
            prior = fixed.copy()
            prior[x] = step
            key = (mask | 1 << x, np.rint(prior / _SAME).astype(np.int64).tobytes())
            if key not in self._seen:
                self._seen.add(key)
                yield self._bound((*order, x), prior), (*order, x), prior

    def _ends(self, mask: int, free: list[int], steps: Floats) -> bool:
        """Return whether f is additive on the categories left but the last: which is last then decides the prior."""
        everything = (1 << self._known.size) - 1
        total = float(steps.sum())
        return all(
            abs(self._table[everything & ~(1 << x)] - self._table[mask] - (total - step)) <= _SAME
            for x, step in zip(free, steps.tolist(), strict=True)
        )

    def _take_all(self, order: tuple[int, ...], free: list[int], fixed: Floats, steps: Floats) -> None:
        for last in free:
            prior = fixed.copy()
            prior[free] = steps
            prior[last] += 1.0 - float(prior.sum())
            self._take((*order, *(x for x in free if x != last), last), prior)

    def _take(self, order: tuple[int, ...], prior: Floats) -> None:
        value = self._utility.value(self._matrix, np.maximum(prior, 0.0))
        if value < self._best:
            self._best, self._best_order = value, order
        if value < self._level:
            self._below[self._exact(order)] = None

    def _bound(self, order: tuple[int, ...], fixed: Floats) -> float:
        """Return a lower bound of the utility at the priors that begin in this order."""
        mask = sum(1 << x for x in order)
        means = fixed @ self._matrix + self._greedy(mask, self._orders, self._values).reshape(2, -1)
        minorant = self._utility.minorant(self._matrix, means[0], means[1])
        if minorant is None:
            return -math.inf
        constant, slope = minorant
        falling = np.argsort(-slope, kind="stable")
        rest = self._greedy(mask, falling[:, None], slope[falling][:, None])
        following = (*order, *(x for x in falling.tolist() if not mask >> x & 1))
        self._take(following, self._prior_of(following))
        return float(constant + fixed @ slope + rest[0])

    def _greedy(self, mask: int, orders: NDArray[np.intp], values: Floats) -> Floats:
        """Return the means of columns under the masses that each order gives to the categories outside of a set."""
        sets = np.bitwise_or.accumulate(np.int64(1) << orders, axis=0) | mask
        f = self._table[sets]
        result: Floats = (np.diff(f, axis=0, prepend=self._table[mask]) * values).sum(axis=0)
        return result

    def _prior_of(self, order: tuple[int, ...]) -> Floats:
        prior = np.empty(self._known.size)
        sets = np.bitwise_or.accumulate(np.int64(1) << np.array(order))
        prior[list(order)] = np.diff(self._table[sets], prepend=0.0)
        return prior
