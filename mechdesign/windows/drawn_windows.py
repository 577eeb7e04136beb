"""Which window a string reports: a seed, a bucket and a round, each drawn with exactly its probability.

Whoever has a string draws a seed, each with probability 1/M, takes its bucket under that seed (of a heavy string one
of its units, and the bucket of that unit), draws one of the seed's R rounds, and reports the window that holds the
bucket in that round. The report is the number of the window, counted over all seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.windows.hashing import Words, mixed, scaled
from mechdesign.windows.layout import Integers, Layout
from mechdesign.windows.walk import Windows

Draw = Callable[[int, Integers], Integers]
"""Given which draw of a record this is (`SEED`, `UNIT`, `ROUND`) and limits, uniform integers below the limits."""
SEED, UNIT, ROUND = range(3)
BLOCK = 1 << 15  # records at a time
_WORD = 1 << 64


def uniform_below(limits: Integers, random_bytes: Callable[[int], bytes]) -> Integers:
    """Return integers that are uniform from 0 to below each limit, from random bytes; by rejection, so exactly.

    Examples
    --------
    >>> import numpy as np, os
    >>> uniform_below(np.array([1, 1]), os.urandom).tolist()
    [0, 0]
    """
    found = np.empty(len(limits), dtype=np.int64)
    left = np.arange(len(limits))
    sizes = limits.astype(np.uint64)
    while left.size:  # once nearly always: a word is refused with a probability below limit / 2^64
        words = np.frombuffer(random_bytes(8 * left.size), dtype="<u8")
        size = sizes[left]
        kept = words <= np.uint64(_WORD - 1) - (np.uint64(_WORD - 1) % size + np.uint64(1)) % size
        found[left[kept]] = (words[kept] % size[kept]).astype(np.int64)
        left = left[~kept]
    return found


class Drawing:
    """Draws windows for strings.

    Parameters
    ----------
    layout : Layout
        Where each seed puts strings.
    windows : sequence of Windows
        Those of each seed.
    """

    def __init__(self, layout: Layout, windows: Sequence[Windows]) -> None:
        self._layout = layout
        self._circles = [layout.circle(number) for number in range(layout.seeds.count)]
        self._starts = np.array([one.start for one in windows])
        self._rounds = np.array([one.rounds(layout.buckets) for one in windows])
        span = layout.buckets * int(self._rounds.max())
        self._bases = np.arange(len(windows)) * span
        self._ends = np.concatenate([one.ends + base for one, base in zip(windows, self._bases, strict=True)])

    @cached_property
    def _words(self) -> tuple[Words, Words]:
        seeds = [circle.seed for circle in self._circles]
        return (
            np.array([seed.factor for seed in seeds], dtype=np.uint64),
            np.array([seed.summand for seed in seeds], dtype=np.uint64),
        )

    @cached_property
    def _firsts(self) -> Integers:
        """The first unit of each heavy string under each seed, shape (M, H)."""
        return np.array([circle.arcs.firsts for circle in self._circles if circle.arcs is not None])

    @cached_property
    def _insertions(self) -> tuple[Integers, Integers]:
        """Where arcs are put in and how far they shift light strings, for the seeds of one layer."""
        found = [circle.insertions for circle in self._circles if circle.insertions is not None]
        return np.array([above for above, _ in found]), np.array([shifts for _, shifts in found])

    def windows(self, prints: Words, draw: Draw) -> Integers:
        """Return one window for each string.

        Parameters
        ----------
        prints : ndarray of uint64, shape (n,)
            Fingerprints.
        draw : callable
            Random integers, as `Draw` says; it is called for the seed, then for the unit, then for the round.
        """
        layout = self._layout
        seeds = draw(SEED, np.full(len(prints), layout.seeds.count))
        heavy = layout.heavy_index(prints)
        units = np.ones(len(prints), dtype=np.int64)
        if layout.heavy is not None:
            units[heavy >= 0] = layout.heavy.units[heavy[heavy >= 0]]
        drawn = draw(UNIT, units)
        buckets = self._light(prints, seeds)
        if layout.heavy is not None and (chosen := np.flatnonzero(heavy >= 0)).size:
            size = np.where(seeds[chosen] < layout.one_layer, layout.heavy.all_units, layout.heavy.total)
            unit = (self._firsts[seeds[chosen], heavy[chosen]] + drawn[chosen]) % size
            buckets[chosen] = unit * layout.buckets // size
        rounds = draw(ROUND, self._rounds[seeds])
        places = (buckets - self._starts[seeds]) % layout.buckets + rounds * layout.buckets
        return np.asarray(np.searchsorted(self._ends, self._bases[seeds] + places, side="right"), dtype=np.int64)

    def _light(self, prints: Words, seeds: Integers) -> Integers:
        factors, summands = self._words
        places = mixed(prints, factors[seeds], summands[seeds])
        layout = self._layout
        if layout.heavy is None:
            return scaled(places, layout.buckets)
        one = np.flatnonzero(seeds < layout.one_layer)
        buckets = scaled(places, layout.buckets)
        if one.size:
            above, shifts = self._insertions
            points = scaled(places[one], layout.heavy.light_units)
            before = _numbers_up_to(above, seeds[one], points)
            points += shifts[seeds[one], before]
            buckets[one] = points * layout.buckets // layout.heavy.all_units
        return buckets


def _numbers_up_to(rows: Integers, which: Integers, values: Integers) -> NDArray[np.intp]:
    """Return how many numbers of a row, which rises, are at most a value; by bisection of all at once."""
    low = np.zeros(len(values), dtype=np.intp)
    high = np.full(len(values), rows.shape[1], dtype=np.intp)
    for _ in range(rows.shape[1].bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        up_to = rows[which, np.minimum(middle, rows.shape[1] - 1)] <= values
        low = np.where(open_ & up_to, middle + 1, low)
        high = np.where(open_ & ~up_to, middle, high)
    return low
