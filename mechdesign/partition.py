"""The set of symbols whose total weight is nearest to half: a subset-sum problem, solved exactly."""

from __future__ import annotations

from collections.abc import Sequence

_LARGEST_TABLE_BITS = 4_000_000_000


def half_set(weights: Sequence[int]) -> list[int] | None:
    """Return indices whose weights sum as near to half the total as any set's do, from below.

    A big integer holds one bit for every reachable sum, and one is kept for every prefix, from which
    the set is read off.

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
