"""The extreme rays of a cone that rows describe, by double description in integers; nothing of the package is in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

Ray = tuple[int, ...]


def extreme_rays(rows: Iterable[Sequence[Fraction]], size: int) -> set[Ray]:
    """All extreme rays of ``{ x >= 0 : <row, x> >= 0 for every row }``, in coprime integers."""
    # Every ray comes with the rows at which it is 0; those of the orthant are numbered first.
    rays: dict[Ray, frozenset[int]] = {
        tuple(int(i == j) for j in range(size)): frozenset(j for j in range(size) if j != i) for i in range(size)
    }
    for number, row in enumerate(rows, size):
        common = lcm(*(Fraction(entry).denominator for entry in row))
        whole = [int(entry * common) for entry in row]
        values = {ray: sum(map(int.__mul__, whole, ray)) for ray in rays}
        kept = {ray: tight | {number} if values[ray] == 0 else tight for ray, tight in rays.items() if values[ray] >= 0}
        for inside in (ray for ray in rays if values[ray] > 0):
            for outside in (ray for ray in rays if values[ray] < 0):
                shared = rays[inside] & rays[outside]
                if any(shared <= tight for ray, tight in rays.items() if ray not in (inside, outside)):
                    continue  # the two rays do not span a face
                new = [values[inside] * y - values[outside] * x for x, y in zip(inside, outside, strict=True)]
                kept[tuple(entry // gcd(*new) for entry in new)] = shared | {number}
        rays = kept
    return set(rays)
