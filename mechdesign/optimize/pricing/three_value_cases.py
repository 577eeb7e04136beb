"""Kind C of the extreme rays, by cases of how many symbols of each group S has.

A bound of `three_values` is attained where its sets fit together. Where they do not, two cases cover all columns: S
has fewer than some number of symbols of one group, or it has at least that many. The case of the greatest bound is
divided first.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.cheapest_sets import CheapestSets, ItemGroup, parts
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.three_values import AllowedSets, Peak, ThreeValues

_BYTES_OF_CASES = 800_000_000


@dataclass(frozen=True)
class _Case:
    """Columns in which S has at least some and at most some of each group."""

    least: tuple[int, ...]
    most: tuple[int, ...]
    sets: AllowedSets
    peak: Peak


@dataclass(frozen=True)
class CoveredCases:
    """The bound over all cases.

    Attributes
    ----------
    upper : float
        No column of kind C has a greater reduced cost; the floor where that is greater.
    columns : list of arrays, shape (N,)
        Columns found on the way.
    looked_at : int
        Number of cases.
    """

    upper: float
    columns: list[Floats]
    looked_at: int


def price_three_values(
    rays: ThreeValues,
    groups: Sequence[ItemGroup],
    sets: CheapestSets,
    multipliers: Floats,
    floor: float,
    *,
    most_cases: int,
    most_blocks: int,
    deadline: float | None = None,
) -> CoveredCases:
    """Return a bound of the reduced costs of kind C, exact unless the cases are too many.

    Parameters
    ----------
    rays : ThreeValues
        The columns.
    groups : sequence of ItemGroup
        All symbols.
    sets : CheapestSets
        Of all symbols and weights.
    multipliers : array, shape (N,)
        lambda, equal within each group.
    floor : float
        A reduced cost that a column of another kind has: bounds at or below it are not looked for.
    most_cases : int
        After so many the greatest bound of an open case is returned; fewer where their tables are large.
    most_blocks : int
        As for `ThreeValues.peak`.
    deadline : float, optional
        A time of `time.monotonic` after which the greatest bound of an open case is returned.
    """
    additions = sum(len(parts(len(group.items))) for group in groups)
    of_case = 3 * rays.cone.total * (8 + additions // 8)
    most_cases = max(1, min(most_cases, _BYTES_OF_CASES // of_case))
    mass = np.zeros(multipliers.size)
    for group in groups:
        mass[list(group.items)] = group.weight / rays.cone.total
    columns: list[Floats] = []
    counted = itertools.count()
    open_cases: list[tuple[float, int, _Case]] = []

    def consider(least: tuple[int, ...], most: tuple[int, ...], allowed: AllowedSets, bound: float = np.inf) -> None:
        peak = rays.peak(allowed, multipliers, floor, most_blocks=most_blocks)
        if peak is not None:
            peak = replace(peak, upper=min(peak.upper, bound))
            heapq.heappush(open_cases, (-peak.upper, next(counted), _Case(least, most, allowed, peak)))

    consider((0,) * len(groups), tuple(len(group.items) for group in groups), AllowedSets(sets, sets, sets))
    looked_at = 1
    while open_cases:
        case = open_cases[0][2]
        split = _conflict(rays, groups, case, mass, columns) if case.peak.inner >= 0 else None
        if split is None or not case.peak.attained or looked_at >= most_cases or time_is_up(deadline):
            return CoveredCases(case.peak.upper, columns, looked_at)
        heapq.heappop(open_cases)
        for half in _halves(rays, groups, case, *split):
            consider(*half, case.peak.upper)
        looked_at += 2
    return CoveredCases(floor, columns, looked_at)


def _halves(
    rays: ThreeValues, groups: Sequence[ItemGroup], case: _Case, k: int, at_least: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], AllowedSets]]:
    """Yield the limits and the sets of two cases: S has fewer symbols of group k than a number, or at least so many."""
    fewer = _replaced(case.most, k, at_least - 1)
    yield case.least, fewer, AllowedSets(_inner(rays, groups, case.least, fewer), case.sets.outer, case.sets.rest)
    more = _replaced(case.least, k, at_least)
    inner, outer = _inner(rays, groups, more, case.most), _outer(rays, groups, more)
    yield more, case.most, AllowedSets(inner, outer, _rest(rays, groups, more))


def _conflict(
    rays: ThreeValues, groups: Sequence[ItemGroup], case: _Case, mass: Floats, columns: list[Floats]
) -> tuple[int, int] | None:
    """Return a group and a number of it in S that divides the case, or None where its peak is a column.

    A column near the peak is added to those found.
    """
    peak, sets = case.peak, case.sets
    inner = _counts(groups, sets.inner.members(peak.inner))
    outer = _counts(groups, sets.outer.members(peak.outer))
    rest = _counts(groups, sets.rest.members(peak.outer - peak.inner))
    sizes = [len(group.items) for group in groups]
    nested = [k for k in range(len(groups)) if inner[k] > outer[k]]
    disjoint = [k for k in range(len(groups)) if inner[k] + rest[k] > sizes[k]]
    g = max(rays.cone.top_c(peak.outer / rays.cone.total), 1.0)
    costs = [group.cost for group in groups]
    by_rest = float(np.dot(costs, rest)) + g * float(np.dot(costs, inner))
    by_outer = float(np.dot(costs, outer)) + (g - 1) * float(np.dot(costs, inner))
    apart = by_rest > by_outer
    odd = disjoint if apart else nested
    # Where the sets do not fit together, T is made to hold S, which leaves it heavy enough.
    support = [i + r for i, r in zip(inner, rest, strict=True)] if apart and not odd else outer
    columns.append(
        rays.column(
            [i for group, k in zip(groups, inner, strict=True) for i in group.items[:k]],
            [i for group, k, j in zip(groups, inner, support, strict=True) for i in group.items[: max(k, j)]],
            mass,
        )
    )
    if not odd:
        return None
    k = max(odd, key=lambda k: groups[k].weight)
    return (k, inner[k]) if apart else (k, outer[k] + 1)


def _replaced(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _counts(groups: Sequence[ItemGroup], items: list[int]) -> list[int]:
    chosen = set(items)
    return [sum(item in chosen for item in group.items) for group in groups]


def _inner(rays: ThreeValues, groups: Sequence[ItemGroup], least: Sequence[int], most: Sequence[int]) -> CheapestSets:
    return _restricted(rays.heaviest_inner, groups, least, most)


def _outer(rays: ThreeValues, groups: Sequence[ItemGroup], least: Sequence[int]) -> CheapestSets:
    return _restricted(rays.cone.total, groups, least, [len(group.items) for group in groups])


def _rest(rays: ThreeValues, groups: Sequence[ItemGroup], least: Sequence[int]) -> CheapestSets:
    left = [len(group.items) - taken for group, taken in zip(groups, least, strict=True)]
    return _restricted(rays.cone.total, groups, [0] * len(groups), left)


def _restricted(capacity: int, groups: Sequence[ItemGroup], least: Sequence[int], most: Sequence[int]) -> CheapestSets:
    """Return the table of sets with at least some and at most some of each group."""
    sets = CheapestSets(capacity)
    for group, required, allowed in zip(groups, least, most, strict=True):
        if required:
            sets.require(group.items[:required], group.weight, group.cost)
        sets.add_equal(group.items[required:allowed], group.weight, group.cost)
    return sets
