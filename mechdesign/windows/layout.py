"""Where each seed puts strings on the circle of its buckets.

A *light* string is one bucket, by its hash. A *heavy* string, of a public list with whole numbers of units (rough
counts), is an arc of as many units; who has it draws one of them. There are two ways to place the arcs:

- *Two layers* (what most seeds do): the arcs lie end to end, in the order of their hashes, on a circle of their own,
  which has as many units as they have together. A window then holds about the same share of the heavy mass and of the
  light mass, whatever the heavy masses are.
- *One layer*: the circle has the units of all strings; a light string is a point, and an arc is put in at the point
  of its hash. These seeds tell how much all heavy strings have together, which two layers do not.

Without heavy strings both are the hash alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.windows.hashing import BLOCK, Seed, Seeds, Words, fingerprints, scaled

Integers = NDArray[np.int64]
MOST_SEEDS = 100_000
MOST_BUCKETS = 1 << 16
MOST_CELLS = 1 << 27
"""The most seeds times buckets, whose counts take a gigabyte."""
MOST_HEAVY = 200
MOST_UNITS = 1 << 31
"""The most units of a heavy string; the circle of one layer has twice as many at most beside the heavy strings."""
_TOGETHER = 64  # seeds that a block of strings is hashed for before the next block is read


@dataclass(frozen=True, eq=False)
class HeavyStrings:
    """The public list of heavy strings.

    Attributes
    ----------
    strings : tuple of str
        The strings, each once.
    units : ndarray of int64, shape (H,)
        Units of each, 1 to 2^31.
    light_units : int
        Units of all other strings together, 1 to 2^32; it matters for one layer alone.
    source : str
        Where strings and units come from, in words; it is not the sample that proves.
    """

    strings: tuple[str, ...]
    units: Integers
    light_units: int
    source: str = "not said"

    @cached_property
    def prints(self) -> Words:
        """Fingerprints of the strings."""
        return fingerprints(self.strings)

    @cached_property
    def total(self) -> int:
        """Units of all heavy strings."""
        return int(self.units.sum())

    @property
    def all_units(self) -> int:
        """Units of all strings, heavy and light."""
        return self.total + self.light_units

    @property
    def shares(self) -> dict[str, float]:
        """The rough shares that the units state."""
        return dict(zip(self.strings, (self.units / self.all_units).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Arcs:
    """Where one seed puts the heavy strings: units from ``firsts`` on, round a circle of ``size`` units."""

    firsts: Integers
    units: Integers
    size: int

    def buckets(self, drawn: Integers, of: Integers | slice, buckets: int) -> Integers:
        """Return the bucket of drawn units, 0 to ``units - 1``, of the heavy strings with these indices."""
        return (self.firsts[of] + drawn) % self.size * buckets // self.size

    def of(self, which: Integers) -> Arcs:
        """Return the arcs with these indices."""
        return Arcs(self.firsts[which], self.units[which], self.size)

    def pieces(self, buckets: int) -> tuple[Integers, Integers, Integers]:
        """Return the parts into which buckets cut the arcs: the arc, the bucket and the units of each part."""
        edges = self.edges(buckets)
        low = self.firsts % self.size * buckets // self.size
        last = self.firsts % self.size + self.units - 1
        high = last // self.size * buckets + last % self.size * buckets // self.size
        parts = high - low + 1
        arc = np.repeat(np.arange(len(parts)), parts)
        turned = np.arange(len(arc)) - np.repeat(np.cumsum(parts) - parts, parts) + low[arc]
        bucket, turn = turned % buckets, turned // buckets * self.size
        first, end = self.firsts[arc] % self.size, self.firsts[arc] % self.size + self.units[arc]
        units = np.minimum(edges[bucket + 1] + turn, end) - np.maximum(edges[bucket] + turn, first)
        kept = units > 0  # a bucket that has no unit cuts nothing
        return arc[kept], bucket[kept], units[kept]

    def inside(self, firsts: Integers, lengths: Integers, buckets: int) -> Integers:
        """Return how many units of each arc lie in each window, shape (H, windows)."""
        edges = self.edges(buckets)
        ends = firsts + lengths
        low, high = edges[firsts], edges[ends % buckets] + ends // buckets * self.size
        first = (self.firsts % self.size)[:, None]
        found = np.zeros((len(self.firsts), len(firsts)), dtype=np.int64)
        for turn in (-self.size, 0, self.size):  # arcs and windows may pass the end of the circle
            found += np.maximum(np.minimum(high + turn, first + self.units[:, None]) - np.maximum(low + turn, first), 0)
        return found

    def edges(self, buckets: int) -> Integers:
        """Return the first unit of each bucket, and the size at the end."""
        return -(-np.arange(buckets + 1) * self.size // buckets)


@dataclass(frozen=True, eq=False)
class Circle:
    """Where one seed puts strings.

    Attributes
    ----------
    seed : Seed
        The words of the seed.
    buckets : int
        Number q of buckets.
    arcs : Arcs or None
        Where the heavy strings lie; None without heavy strings.
    insertions : tuple of ndarray of int64, or None
        Of one layer: the points at which arcs are put in, rising, and by how many units the points are shifted that
        have 0, 1, ... arcs before them.
    light_units : int
        Units of the light strings; it matters for one layer alone.
    """

    seed: Seed
    buckets: int
    arcs: Arcs | None = None
    insertions: tuple[Integers, Integers] | None = None
    light_units: int = 0

    def light_buckets(self, prints: Words, spare: Words | None = None) -> Integers:
        """Return the bucket of light strings from their fingerprints.

        Parameters
        ----------
        prints : ndarray of uint64
            Fingerprints.
        spare : ndarray of uint64, optional
            An array of that shape, which is overwritten.
        """
        places = self.seed.places(prints, spare)
        if self.insertions is None or self.arcs is None:
            return scaled(places, self.buckets, out=places)
        points = scaled(places, self.light_units, out=places)
        above, shifts = self.insertions
        points += shifts[np.searchsorted(above, points, side="right")]
        points *= self.buckets
        points //= self.arcs.size
        return points

    def measure(self, light_units: int) -> Integers:
        """Return how likely a string lies in each bucket, as units of a whole, by the lengths of arcs alone.

        Heavy strings are as frequent as their units say, and the hashes of light ones are not known.

        Parameters
        ----------
        light_units : int
            Units of the light strings, on two layers too.
        """
        if self.arcs is None:
            return np.ones(self.buckets, dtype=np.int64)
        units = np.diff(self.arcs.edges(self.buckets))
        return np.asarray(units if self.insertions is not None else units * self.buckets + light_units)

    def loads(self, prints: Words, counts: Floats | None, spare: Words | None = None) -> Integers:
        """Return how many counts of light strings each bucket holds; each string counts once if counts are None.

        Parameters are those of `light_buckets`; the counts are whole numbers, whose sum is below 2^53.
        """
        found = np.bincount(self.light_buckets(prints, spare), counts, self.buckets)
        return found.astype(np.int64, copy=False)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where every seed puts every string.

    Attributes
    ----------
    seeds : Seeds
        The public seeds.
    buckets : int
        Number q of buckets of a circle, 2 to 65536.
    heavy : HeavyStrings or None
        The heavy strings; None if all strings are light.
    one_layer : int
        So many seeds, from number 0 on, have one layer; 0 without heavy strings.
    """

    seeds: Seeds
    buckets: int
    heavy: HeavyStrings | None = None
    one_layer: int = 0

    def circle(self, number: int) -> Circle:
        """Return where the seed of a number puts strings."""
        seed = self.seeds[number]
        if self.heavy is None:
            return Circle(seed, self.buckets)
        units, total = self.heavy.units, self.heavy.total
        places = seed.places(self.heavy.prints)
        order = np.argsort(places, kind="stable")
        before = np.empty(len(order), dtype=np.int64)
        before[order] = np.cumsum(units[order]) - units[order]
        if number >= self.one_layer:
            turn = (seed.summand >> 17) % total
            return Circle(seed, self.buckets, Arcs((before + turn) % total, units, total))
        light = self.heavy.light_units
        points = scaled(places, light)
        shifts = np.concatenate([[0], np.cumsum(units[order])])
        return Circle(
            seed, self.buckets, Arcs(points + before, units, self.heavy.all_units), (points[order], shifts), light
        )

    def heavy_index(self, prints: Words) -> Integers:
        """Return the index of each string among the heavy ones, by its fingerprint; -1 for light strings."""
        if self.heavy is None:
            return np.full(len(prints), -1)
        order = np.argsort(self.heavy.prints)
        known = self.heavy.prints[order]
        at = np.minimum(np.searchsorted(known, prints), len(known) - 1)
        return np.where(known[at] == prints, order[at], -1)

    def evidence(self, counts: Mapping[str, int], units: int) -> Integers:
        """Return how many units of counted samples lie in each bucket of each seed, shape (M, q)."""
        prints, numbers = fingerprints(counts), np.fromiter(counts.values(), dtype=np.int64)
        heavy = self.heavy_index(prints)  # by fingerprints, which are all that reports depend on
        of_heavy = np.zeros(0 if self.heavy is None else len(self.heavy.strings), dtype=np.int64)
        np.add.at(of_heavy, heavy[heavy >= 0], numbers[heavy >= 0])
        return self.loads(prints[heavy < 0], numbers[heavy < 0], of_heavy, units)

    def loads(self, prints: Words, counts: Integers, heavy_counts: Integers, scale: int = 1) -> Integers:
        """Return what each bucket of each seed holds of counted strings; shape (M, q).

        Parameters
        ----------
        prints : ndarray of uint64, shape (n,)
            Fingerprints of light strings.
        counts : ndarray of int64, shape (n,)
            How often each was counted; the sum of all counts is below 2^53, and times the scale below 2^62.
        heavy_counts : ndarray of int64, shape (H,)
            How often each heavy string was counted.
        scale : int
            In how many units one count is counted. Of a heavy string with u units, a bucket that holds k of them holds
            ``floor(k * count * scale / u)``.
        """
        found = np.zeros((self.seeds.count, self.buckets), dtype=np.int64)
        once = counts == 1
        blocks = [*_blocks(prints[once], None), *_blocks(prints[~once], counts[~once].astype(np.float64))]
        spare = np.empty(BLOCK, dtype=np.uint64)
        for first in range(0, self.seeds.count, _TOGETHER):
            rows = found[first : first + _TOGETHER]
            circles = [self.circle(number) for number in range(first, first + len(rows))]
            for block, repeated in blocks:
                for row, circle in enumerate(circles):
                    rows[row] += circle.loads(block, repeated, spare[: len(block)])
            rows *= scale
            for circle, loads in zip(circles, rows, strict=True):
                if self.heavy is not None and circle.arcs is not None:
                    whole, rest = np.divmod(heavy_counts * scale, self.heavy.units)
                    arc, bucket, units = circle.arcs.pieces(self.buckets)
                    np.add.at(loads, bucket, units * whole[arc] + units * rest[arc] // self.heavy.units[arc])
        return found


def _blocks(prints: Words, counts: Floats | None) -> Iterator[tuple[Words, Floats | None]]:
    """Yield fingerprints and their counts, so many at once that their numbers stay in a core's own memory."""
    for first in range(0, len(prints), BLOCK):
        own = slice(first, first + BLOCK)
        yield prints[own], None if counts is None else counts[own]
