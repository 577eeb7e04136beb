"""The set of categories whose total weight is nearest to half: a subset-sum problem, solved exactly."""

from __future__ import annotations

from collections.abc import Sequence

_LARGEST_TABLE_BITS = 4_000_000_000
_MOST_TO_MEET = 40  # weights: the sums of either half are listed, up to a million


def half_set(weights: Sequence[int]) -> list[int] | None:
    """Return indices whose weights have the greatest sum that is at most half the total.

    A big integer holds one bit for every reachable sum. One such integer is kept for every prefix of the weights, and
    the set is read from them.

    Parameters
    ----------
    weights : sequence of int
        Non-negative integers.

    Returns
    -------
    list of int or None
        Sorted indices; None where the table would need more than about half a gigabyte.

    Examples
    --------
    >>> half_set([5, 3, 3, 1])
    [1, 2]
    """
    half = sum(weights) // 2
    if half * len(weights) > _LARGEST_TABLE_BITS:
        return None
    within = (1 << (half + 1)) - 1
    reachable = [1]
    for weight in weights:
        reachable.append((reachable[-1] | (reachable[-1] << weight)) & within)
    rest = reachable[-1].bit_length() - 1
    chosen = []
    for index in range(len(weights) - 1, -1, -1):
        if not reachable[index] >> rest & 1:
            chosen.append(index)
            rest -= weights[index]
    return sorted(chosen)


def half_sum(weights: Sequence[int]) -> int | None:
    """Return the greatest sum of a set of weights that is at most half the total.

    Parameters
    ----------
    weights : sequence of int
        Non-negative integers of any size.

    Returns
    -------
    int or None
        None if it is too costly to find: every weight is below half the total, there are more than 40 weights, and half
        the total times their number is above 4e9.

    Examples
    --------
    >>> half_sum([5, 3, 3, 1]), half_sum([10**30, 10**30 + 1, 3])
    (6, 1000000000000000000000000000001)
    """
    positive = [weight for weight in weights if weight]
    total = sum(positive)
    half, heaviest = total // 2, max(positive, default=0)
    if 2 * heaviest >= total:
        return total - heaviest
    if half * len(positive) <= _LARGEST_TABLE_BITS:
        within, reachable = (1 << (half + 1)) - 1, 1
        for weight in positive:
            reachable |= (reachable << weight) & within
        return reachable.bit_length() - 1
    return _sum_by_meeting(positive, half) if len(positive) <= _MOST_TO_MEET else None


def _sum_by_meeting(weights: Sequence[int], most: int) -> int:
    """Return the greatest sum of a set that is at most ``most``, by meet in the middle: sums of halves are paired."""
    middle = len(weights) // 2
    rising, falling = _sorted_sums(weights[:middle]), _sorted_sums(weights[middle:])
    best, last = 0, len(falling) - 1
    for first in rising:
        while last >= 0 and first + falling[last] > most:
            last -= 1
        if last < 0:
            break
        best = max(best, first + falling[last])
    return best


def _sorted_sums(weights: Sequence[int]) -> list[int]:
    sums = [0]
    for weight in weights:
        sums = sorted(sums + [weight + known for known in sums])  # two runs, which merge in linear time
    return sums
