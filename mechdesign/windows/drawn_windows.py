"""Which window a string reports: a seed, a bucket and a round, each drawn with exactly its probability.

Whoever has a string draws a seed, each with probability 1/M, takes its bucket under that seed (of a heavy string one
of its units, and the bucket of that unit), draws one of the seed's R rounds, and reports the window that holds the
bucket in that round. The report is the number of the window, counted over all seeds. With a floor a report is, with its
probability, a uniform window of the seed instead.

Permanent reports take these draws from a key: 64-bit words of BLAKE2b with the key, of the mechanism's fingerprint, the
attribute, the string's fingerprint, a counter and the id. If one of the words lies where it would favour some numbers,
all are taken again with the next counter. `docs/file-format.md` states the bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanism.uniform_draws import below
from mechdesign.windows.hashing import Words, mixed, scaled
from mechdesign.windows.layout import Integers, Layout
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.walk import Windows

Draw = Callable[[int, Integers], Integers]
"""Given which draw of a record this is (`FLOOR`, `SEED`, `UNIT`, `ROUND`) and limits, uniform integers below these."""
FLOOR, SEED, UNIT, ROUND = range(4)
_WORDS = 4  # of 8 bytes, for the draws of a record
_PERSON = b"mechdesign-key-w"  # the personalization of BLAKE2b, so that these words serve no other purpose


def keyed(secret: bytes, begun: bytes) -> Any:
    """Return what the words of permanent reports are hashed with, after what all of them begin with."""
    return hashlib.blake2b(begun, digest_size=8 * _WORDS, key=secret, person=_PERSON)


class Drawing:
    """Draws windows for strings, and for a floor uniform ones.

    Parameters
    ----------
    layout : Layout
        Where each seed puts strings.
    windows : sequence of Windows
        Those of each seed.
    floor : int
        The probability of a uniform window, in units of 2^-60.
    """

    def __init__(self, layout: Layout, windows: Sequence[Windows], floor: int = 0) -> None:
        self._layout, self._floor = layout, floor
        self._counts = np.array([len(one.ends) for one in windows])
        self._circles = [layout.circle(number) for number in range(layout.seeds.count)]
        self._starts = np.array([one.start for one in windows])
        self._rounds = np.array([one.rounds(layout.buckets) for one in windows])
        span = layout.buckets * int(self._rounds.max())
        self._bases = np.arange(len(windows)) * span
        self._before = np.cumsum(self._counts) - self._counts
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
            Random integers, as `Draw` says; it is called for the floor, the seed, the unit and the round in this order.
        """
        layout = self._layout
        uniform = np.zeros(len(prints), dtype=bool)
        if self._floor:
            uniform = draw(FLOOR, np.full(len(prints), 1 << SHARE_BITS)) < self._floor
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
        drawn = draw(ROUND, np.where(uniform, self._counts[seeds], self._rounds[seeds]))
        places = (buckets - self._starts[seeds]) % layout.buckets + np.where(uniform, 0, drawn) * layout.buckets
        found = np.searchsorted(self._ends, self._bases[seeds] + places, side="right")
        return np.asarray(np.where(uniform, self._before[seeds] + drawn, found), dtype=np.int64)

    def permanent(self, prints: Words, ids: Sequence[bytes], start: Any) -> Integers:
        """Return one window for each string and id, always the same.

        Parameters
        ----------
        prints : ndarray of uint64, shape (n,)
            Fingerprints.
        ids : sequence of bytes
            Whom they are about.
        start : hash object of `keyed`
            What all words depend on.
        """
        found, left, counter = np.empty(len(prints), dtype=np.int64), np.arange(len(prints)), 0
        begun = prints.astype("<u8").tobytes()
        while left.size:
            digests = []
            for at in left.tolist():
                word = start.copy()
                word.update(begun[8 * at : 8 * at + 8] + counter.to_bytes(8, "little") + ids[at])
                digests.append(word.digest())
            words = np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, _WORDS)
            kept = np.ones(left.size, dtype=bool)

            def draw(which: int, limits: Integers, words: Words = words, kept: NDArray[np.bool_] = kept) -> Integers:
                drawn, uniform = below(words[:, which], limits)
                kept &= uniform
                return drawn

            found[left] = self.windows(prints[left], draw)
            left, counter = left[~kept], counter + 1
        return found

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
