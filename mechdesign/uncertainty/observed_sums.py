"""The counts that sets of categories have in one table of counts: where limits from it are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LISTED = 16
"""The sums of so many of the greatest counts are listed."""


@dataclass(frozen=True)
class ObservedSums:
    """The sums of counts over all sets of categories that are neither empty nor everything, or more numbers than these.

    The sums of the 16 greatest counts are listed; the other counts may add anything from 0 to their total. With up to
    16 categories the numbers are the sums themselves.

    Attributes
    ----------
    starts : array of int64
        The sums of the greatest counts, rising.
    width : int
        The total of the other counts.
    last : int
        The greatest sum of a set that is not everything.
    """

    starts: NDArray[np.int64]
    width: int
    last: int

    @classmethod
    def of(cls, counts: Sequence[int]) -> ObservedSums:
        """Return the sums of at least one count.

        Examples
        --------
        >>> found = ObservedSums.of([7, 1, 2])
        >>> [k for k in range(11) if k in found]
        [0, 1, 2, 3, 7, 8, 9]
        """
        falling = sorted(counts, reverse=True)
        starts = np.zeros(1, dtype=np.int64)
        for count in falling[:LISTED]:
            starts = np.union1d(starts, starts + count)
        return cls(starts, sum(falling[LISTED:]), sum(falling) - falling[-1])

    def __contains__(self, k: int) -> bool:
        return self.at_most(k) == k

    def at_most(self, k: int) -> int | None:
        """Return the greatest sum that is at most k.

        Examples
        --------
        >>> found = ObservedSums.of([7, 1, 2])
        >>> found.at_most(6), found.at_least(6)
        (3, 7)
        """
        place = int(np.searchsorted(self.starts, k, side="right")) - 1
        return min(int(self.starts[place]) + self.width, k, self.last) if place >= 0 else None

    def at_least(self, k: int) -> int | None:
        """Return the least sum that is at least k."""
        if k in self:
            return k
        above = self.starts[np.searchsorted(self.starts, k, side="right") :]
        return int(above[0]) if len(above) and above[0] <= self.last else None

    def around(self, low: int, high: int) -> Iterator[int]:
        """Yield the sums from low to high, the greatest below them, and the least above them.

        Examples
        --------
        >>> list(ObservedSums.of([7, 1, 2]).around(2, 6))
        [1, 2, 3, 7]
        """
        between = (k for k in range(low, high + 1) if k in self)
        beside = self.at_most(low - 1), self.at_least(high + 1)
        yield from (k for k in (beside[0], *between, beside[1]) if k is not None)
