"""Symbols of equal probability: to an l1 ball and a symmetric utility they are interchangeable."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from mechdesign.numerics.arrays import Floats


def alike(masses: Iterable[Hashable]) -> list[list[int]]:
    """Return groups of symbols of equal mass, in the order of the first symbol of each.

    Examples
    --------
    >>> alike([3, 1, 3])
    [[0, 2], [1]]
    """
    groups: dict[Hashable, list[int]] = {}
    for symbol, mass in enumerate(masses):
        groups.setdefault(mass, []).append(symbol)
    return list(groups.values())


def averaged(multipliers: Floats, groups: Sequence[Sequence[int]]) -> tuple[Floats, float]:
    """Return lambda averaged over symbols that are alike, and what to add to a bound that uses it.

    Averaging does not change the sum and does not raise the greatest reduced cost, which is convex in lambda and the
    same for every order of such symbols. But averages are rounded, so that their sum differs slightly from the sum of
    lambda, to which the reduced cost will be added.

    Examples
    --------
    >>> averaged(np.array([1.0, 5.0, 2.0]), [[0, 2], [1]])
    (array([1.5, 5. , 1.5]), 0.0)
    """
    result = np.array(multipliers, dtype=float)
    for group in groups:
        if len(group) > 1:
            result[list(group)] = result[list(group)].mean()
    drift = abs(math.fsum([*result.tolist(), *(-np.asarray(multipliers, dtype=float)).tolist()]))
    return result, 2 * drift
