"""The corners of hulls and of l1 balls: priors of which all others are mixtures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.l1_ball import L1Ball

_MOST_WORK = 20_000


def listed_corners(hull: ConvexHull | None, ball: L1Ball | None) -> list[tuple[Fraction, ...]]:
    """Return priors of a set of which all others are mixtures, if it is a hull or a ball, and they are not too many.

    Those of an l1 ball move the mass of whole categories, and of a part of one, to one category.

    Examples
    --------
    >>> [tuple(map(str, Q)) for Q in listed_corners(None, L1Ball(["1/4", "3/4"], "1/4"))]
    [('3/8', '5/8'), ('1/8', '7/8')]
    """
    if hull is not None:
        return list(dict.fromkeys(hull.priors))
    if ball is None:
        return []
    P, t = ball.center, ball.half_radius
    light = [i for i, p in enumerate(P) if p < t]
    if 2 ** len(light) * len(P) ** 2 > _MOST_WORK:
        return []
    found: dict[tuple[Fraction, ...], None] = {}
    for j, whole in itertools.product(range(len(P)), _subsets(light)):
        rest = t - sum(P[i] for i in whole)
        for part in sorted(set(range(len(P))) - whole - {j}):
            if j not in whole and rest >= 0:
                lost = [p if i in whole else min(p, rest) if i == part else Fraction(0) for i, p in enumerate(P)]
                moved = [p - out + sum(lost) * (i == j) for i, (p, out) in enumerate(zip(P, lost, strict=True))]
                found[tuple(moved)] = None
    return list(found)


def _subsets(items: Sequence[int]) -> Iterator[set[int]]:
    sizes = range(len(items) + 1)
    return map(set, itertools.chain.from_iterable(itertools.combinations(items, size) for size in sizes))
