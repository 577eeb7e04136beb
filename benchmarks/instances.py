"""Counts for benchmarks, by formulas that give the same whole numbers everywhere.

Every generator gives each symbol one count and distributes the others in proportion to weights (`apportioned`). So the
counts sum to the total exactly, and every symbol has a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Counts = list[int]


def apportioned(weights: Sequence[Fraction | int], total: int) -> Counts:
    """Return ``1 + floor((total - N) w_k / sum w)`` for N weights w, and 1 more for the first until the sum is right.

    Examples
    --------
    >>> apportioned([2, 1, 1], 10)
    [5, 3, 2]
    """
    if total < len(weights):
        raise ValueError(f"the total is {total} for {len(weights)} symbols; give at least one count a symbol")
    mass, shared = sum(weights), total - len(weights)
    counts = [1 + int(shared * weight / Fraction(mass)) for weight in weights]
    missing = total - sum(counts)
    return [count + (index < missing) for index, count in enumerate(counts)]


def zipf(symbols: int, total: int) -> Counts:
    """Return counts with weights ``w_k = 1 / k``, k = 1 to N.

    Examples
    --------
    >>> zipf(4, 1_000)
    [480, 240, 160, 120]
    """
    return apportioned([Fraction(1, k) for k in range(1, symbols + 1)], total)


def uniform(symbols: int, total: int) -> Counts:
    """Return counts with weights ``w_k = 1``; they differ by at most one.

    Examples
    --------
    >>> uniform(4, 10)
    [3, 3, 2, 2]
    """
    return apportioned([1] * symbols, total)


def one_dominant(symbols: int, total: int) -> Counts:
    """Return counts of which the first is half the total, rounded down; the others are `zipf`.

    Examples
    --------
    >>> one_dominant(5, 2_000)
    [1000, 480, 240, 160, 120]
    """
    return [total // 2, *zipf(symbols - 1, total - total // 2)]


def smooth(symbols: int, total: int) -> Counts:
    """Return counts with weights ``w_k = k (N + 1 - k)^3``: as ages, they rise for a quarter of the symbols, then fall.

    Examples
    --------
    >>> smooth(8, 1_000)
    [177, 237, 224, 173, 110, 56, 20, 3]
    """
    return apportioned([k * (symbols + 1 - k) ** 3 for k in range(1, symbols + 1)], total)


def geometric(symbols: int, total: int) -> Counts:
    """Return counts with weights ``w_k = r^k`` for the r with which the last weight is a ten thousandth of the first.

    Weights are taken as whole parts of 10^9, so that they are the same everywhere.

    Examples
    --------
    >>> geometric(5, 10_000)
    [8997, 901, 91, 10, 1]
    """
    return apportioned([round(10 ** (9 - 4 * k / max(symbols - 1, 1))) for k in range(symbols)], total)


def two_humped(symbols: int, total: int) -> Counts:
    """Return counts with weights ``(1 - d^2)^4``, d between -1 and 1 along each half; the first are times three.

    Examples
    --------
    >>> two_humped(8, 1_000)
    [63, 312, 312, 63, 21, 104, 104, 21]
    """
    first = (symbols + 1) // 2
    halves = ((3, first), (1, symbols - first))
    distances = [(height, Fraction(2 * k - size - 1, size + 1)) for height, size in halves for k in range(1, size + 1)]
    return apportioned([height * (1 - d * d) ** 4 for height, d in distances], total)
