"""Kind C of the extreme rays, by cases of how many symbols of each kin S has.

A bound of `three_values` is attained where its sets fit together. Where they do not, two cases cover all columns: S
has fewer than some number of symbols of one kin, or it has at least that many. The case of the greatest bound is
divided first.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.cheapest_sets import CheapestSets, Kin, parts
from mechdesign.optimize.pricing.price import late
from mechdesign.optimize.pricing.three_values import AllowedSets, Peak, ThreeValues

_BYTES_OF_CASES = 800_000_000


@dataclass(frozen=True)
class _Case:
    """Columns in which S has at least some and at most some of each kin."""

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
    kins: Sequence[Kin],
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
    kins : sequence of Kin
        All symbols.
    sets : CheapestSets
        Of all symbols and weights.
    multipliers : array, shape (N,)
        lambda, alike for kin.
    floor : float
        A reduced cost that a column of another kind has: bounds at or below it are not looked for.
    most_cases : int
        After so many the greatest bound of an open case is returned; fewer where their tables are large.
    most_blocks : int
        As for `ThreeValues.peak`.
    deadline : float, optional
        A time of `time.monotonic` after which the greatest bound of an open case is returned.
    """
    additions = sum(len(parts(len(kin.items))) for kin in kins)
    of_case = 3 * rays.cone.total * (8 + additions // 8)
    most_cases = max(1, min(most_cases, _BYTES_OF_CASES // of_case))
    mass = np.zeros(multipliers.size)
    for kin in kins:
        mass[list(kin.items)] = kin.weight / rays.cone.total
    columns: list[Floats] = []
    counted = itertools.count()
    open_cases: list[tuple[float, int, _Case]] = []

    def consider(least: tuple[int, ...], most: tuple[int, ...], allowed: AllowedSets, bound: float = np.inf) -> None:
        peak = rays.peak(allowed, multipliers, floor, most_blocks=most_blocks)
        if peak is not None:
            peak = replace(peak, upper=min(peak.upper, bound))
            heapq.heappush(open_cases, (-peak.upper, next(counted), _Case(least, most, allowed, peak)))

    consider((0,) * len(kins), tuple(len(kin.items) for kin in kins), AllowedSets(sets, sets, sets))
    looked_at = 1
    while open_cases:
        case = open_cases[0][2]
        split = _conflict(rays, kins, case, mass, columns) if case.peak.inner >= 0 else None
        if split is None or not case.peak.attained or looked_at >= most_cases or late(deadline):
            return CoveredCases(case.peak.upper, columns, looked_at)
        heapq.heappop(open_cases)
        k, at_least = split
        fewer = _replaced(case.most, k, at_least - 1)
        with_fewer = AllowedSets(_inner(rays, kins, case.least, fewer), case.sets.outer, case.sets.rest)
        consider(case.least, fewer, with_fewer, case.peak.upper)
        more = _replaced(case.least, k, at_least)
        consider(
            more,
            case.most,
            AllowedSets(_inner(rays, kins, more, case.most), _outer(rays, kins, more), _rest(rays, kins, more)),
            case.peak.upper,
        )
        looked_at += 2
    return CoveredCases(floor, columns, looked_at)


def _conflict(
    rays: ThreeValues, kins: Sequence[Kin], case: _Case, mass: Floats, columns: list[Floats]
) -> tuple[int, int] | None:
    """Return a kin and a number of it in S that divides the case, or None where its peak is a column.

    A column near the peak is added to those found.
    """
    peak, sets = case.peak, case.sets
    inner = _counts(kins, sets.inner.members(peak.inner))
    outer = _counts(kins, sets.outer.members(peak.outer))
    rest = _counts(kins, sets.rest.members(peak.outer - peak.inner))
    sizes = [len(kin.items) for kin in kins]
    nested = [k for k in range(len(kins)) if inner[k] > outer[k]]
    disjoint = [k for k in range(len(kins)) if inner[k] + rest[k] > sizes[k]]
    g = max(rays.cone.top_c(peak.outer / rays.cone.total), 1.0)
    costs = [kin.cost for kin in kins]
    by_rest = float(np.dot(costs, rest)) + g * float(np.dot(costs, inner))
    by_outer = float(np.dot(costs, outer)) + (g - 1) * float(np.dot(costs, inner))
    apart = by_rest > by_outer
    odd = disjoint if apart else nested
    # Where the sets do not fit together, T is made to hold S, which leaves it heavy enough.
    support = [i + r for i, r in zip(inner, rest, strict=True)] if apart and not odd else outer
    columns.append(
        rays.column(
            [i for kin, k in zip(kins, inner, strict=True) for i in kin.items[:k]],
            [i for kin, k, j in zip(kins, inner, support, strict=True) for i in kin.items[: max(k, j)]],
            mass,
        )
    )
    if not odd:
        return None
    k = max(odd, key=lambda k: kins[k].weight)
    return (k, inner[k]) if apart else (k, outer[k] + 1)


def _replaced(values: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*values[:k], value, *values[k + 1 :])


def _counts(kins: Sequence[Kin], items: list[int]) -> list[int]:
    chosen = set(items)
    return [sum(item in chosen for item in kin.items) for kin in kins]


def _inner(rays: ThreeValues, kins: Sequence[Kin], least: Sequence[int], most: Sequence[int]) -> CheapestSets:
    return _restricted(rays.heaviest_inner, kins, least, most)


def _outer(rays: ThreeValues, kins: Sequence[Kin], least: Sequence[int]) -> CheapestSets:
    return _restricted(rays.cone.total, kins, least, [len(kin.items) for kin in kins])


def _rest(rays: ThreeValues, kins: Sequence[Kin], least: Sequence[int]) -> CheapestSets:
    left = [len(kin.items) - taken for kin, taken in zip(kins, least, strict=True)]
    return _restricted(rays.cone.total, kins, [0] * len(kins), left)


def _restricted(capacity: int, kins: Sequence[Kin], least: Sequence[int], most: Sequence[int]) -> CheapestSets:
    """Return the table of sets with at least some and at most some of each kin."""
    sets = CheapestSets(capacity)
    for kin, required, allowed in zip(kins, least, most, strict=True):
        if required:
            sets.require(kin.items[:required], kin.weight, kin.cost)
        sets.add_alike(kin.items[required:allowed], kin.weight, kin.cost)
    return sets
