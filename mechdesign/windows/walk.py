"""Which windows a seed has: the greedy walk round the circle of its buckets.

A *window* is an arc of consecutive buckets. From a bucket b the walk goes to the nearest end at which the arc holds at
least the threshold. After q steps it is on a cycle. The arcs of the cycle are the windows; together they go round the
circle R times, so that each bucket lies in R of them (*rounds*). Among all weighted families of allowed arcs that
cover every bucket equally, this one has the greatest number of windows a round, which is the mean lift of a report: the
step is monotone on the unrolled circle, so that no chain of allowed arcs takes more steps over the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Windows:
    """The windows of one seed.

    Attributes
    ----------
    start : int
        The first bucket of the first window, the least first bucket of all.
    ends : ndarray of int64
        Where each window ends, in buckets from the start; window j holds the buckets from ``ends[j - 1]`` (0 for the
        first) up to ``ends[j] - 1``. The last end is R times the number of buckets.
    """

    start: int
    ends: NDArray[np.int64]

    def rounds(self, buckets: int) -> int:
        """Return R, how many times the windows go round the circle."""
        return int(self.ends[-1]) // buckets

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many buckets each window holds."""
        return np.diff(self.ends, prepend=0)

    def firsts(self, buckets: int) -> NDArray[np.int64]:
        """Return the first bucket of each window."""
        return (self.start + self.ends - self.lengths) % buckets

    def can_hold(self, sums: Sequence[int], buckets: int) -> bool:
        """Return whether there are samples of which the windows hold these sums, R times all together.

        As all windows hold the samples R times, what lies from the start up to the end of a window is what the windows
        up to there hold, less the rounds before. Where this never falls, its steps are such samples.

        Examples
        --------
        >>> [Windows(0, np.array([3, 5, 8])).can_hold(sums, 4) for sums in ([4, 3, 3], [0, 3, 7])]
        [True, False]
        """
        whole = sum(sums) // self.rounds(buckets)
        ends = zip(self.ends.tolist(), accumulate(sums), strict=True)
        borders = sorted({(0, 0), *((end % buckets, held - end // buckets * whole) for end, held in ends)})
        rising = pairwise([*borders, (buckets, whole)])
        return all(a < b and held <= more for (a, held), (b, more) in rising)

    def sums(self, loads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how much of the loads of buckets each window holds."""
        total = np.concatenate([[0], np.cumsum(np.concatenate([loads, loads]))])
        firsts = self.firsts(len(loads))
        return np.asarray(total[firsts + self.lengths] - total[firsts])


def greedy(loads: NDArray[np.int64], threshold: int) -> Windows | None:
    """Return the windows of the greedy walk; None where not even all buckets reach the threshold.

    Parameters
    ----------
    loads : ndarray of int64, shape (q,)
        What each bucket holds, at least 0; twice their sum is below 2^63.
    threshold : int
        What a window must hold at least, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> found = greedy(np.array([2, 1, 1, 2, 2]), 3)
    >>> found.start, found.ends.tolist(), found.rounds(5)
    (1, [3, 5], 1)
    """
    buckets = len(loads)
    total = np.concatenate([[0], np.cumsum(np.concatenate([loads, loads]))])
    if total[buckets] < threshold:
        return None
    steps = np.searchsorted(total, total[:buckets] + threshold) - np.arange(buckets)
    after = ((np.arange(buckets) + steps) % buckets).tolist()
    order: dict[int, int] = {}
    here = 0
    while here not in order:
        order[here] = len(order)
        here = after[here]
    cycle = list(order)[order[here] :]
    first = cycle.index(min(cycle))
    cycle = cycle[first:] + cycle[:first]
    return Windows(cycle[0], np.cumsum(steps[cycle]))
