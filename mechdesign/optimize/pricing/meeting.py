"""The sets of symbols whose mass lies in a window and whose losses are small, by meeting in the middle.

The choices of small loss of either half of the symbols are listed and sorted by mass, so that the pairs of a mass
are found without going through all (Horowitz and Sahni, Journal of the ACM 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

Masks = NDArray[np.bool_]
Indices = NDArray[np.int64]
Words = NDArray[np.uint64]

_HALF_BITS = 60
_MOST_ALIKE = 30  # interchangeable symbols whose numbers are chosen at once
_NARROW = 1e-14
_CHUNK = 4096


@dataclass(frozen=True)
class Effort:
    """How much may be enumerated.

    Attributes
    ----------
    choices : int
        Of either half of the symbols.
    pairs : int
        Sets that are looked at for one window of masses.
    cells : int
        Rectangles of masses that are bounded for kind C at one level.
    splits : int
        Of kinds, on symbols that the relaxation holds in part.
    """

    choices: int
    pairs: int
    cells: int
    splits: int


@dataclass(frozen=True)
class Losses:
    """What symbols lose, by their value: the least, the middle or the greatest, infinite where it is not allowed."""

    out: Floats
    inside: Floats
    top: Floats | None = None


@dataclass(frozen=True)
class Window:
    """Sets of interest: the mass lies between two numbers and the losses sum to at most a limit."""

    low: float
    high: float
    peak: float
    limit: float
    losses: Losses


@dataclass(frozen=True)
class _Options:
    """Ways to choose from some symbols, with mass, loss, and who is inside or at the top, as bits."""

    mass: Floats
    loss: Floats
    inside: Words
    top: Words

    def only(self, which: Indices | Masks) -> _Options:
        return _Options(self.mass[which], self.loss[which], self.inside[which], self.top[which])

    def times(self, other: _Options, limit: float, most: int) -> tuple[_Options, bool]:
        """Return the ways to choose from both within a limit, the best ones if they are too many, and whether all."""
        loss = (self.loss[:, None] + other.loss).ravel()
        kept = np.flatnonzero(loss <= limit)
        complete = kept.size <= most
        if not complete:
            kept = np.sort(kept[np.argsort(loss[kept], kind="stable")[:most]])
        mine, theirs = np.divmod(kept, other.loss.size)
        product = _Options(
            self.mass[mine] + other.mass[theirs],
            loss[kept],
            self.inside[mine] | other.inside[theirs],
            self.top[mine] | other.top[theirs],
        )
        return product, complete


def _group_options(group: list[int], P: Floats, losses: Losses) -> _Options:
    """Return how many symbols of a group of interchangeable ones are inside and how many of these at the top."""
    i, size = group[0], len(group)
    counts = [
        (k, j)
        for k in range(size + 1)
        for j in range((k if losses.top is not None and np.isfinite(losses.top[i]) else 0) + 1)
    ]
    inside, top = np.array(counts).T
    with np.errstate(over="ignore", invalid="ignore"):
        loss = (
            np.where(inside < size, (size - inside) * losses.out[i], 0.0)
            + np.where(inside > top, (inside - top) * losses.inside[i], 0.0)
            + (np.where(top > 0, top * losses.top[i], 0.0) if losses.top is not None else 0.0)
        )
    # A loss that is not a number excludes nothing.
    loss = np.where(np.isnan(loss), 0.0, loss)
    one = np.uint64(1)
    words = [(one << count.astype(np.uint64)) - one for count in (inside, top)]
    return _Options(inside * P[i], loss, words[0], words[1])


def enumerate_sets(
    window: Window,
    groups: Sequence[list[int]],
    P: Floats,
    effort: Effort,
    visit: Callable[[Masks, Masks], None],
) -> bool:
    """Visit the sets of a window, as rows of who is inside and who at the top; return whether these were all."""
    inside, top = np.zeros(P.size, dtype=bool), np.zeros(P.size, dtype=bool)
    fixed_mass, limit = 0.0, window.limit
    free: list[tuple[float, list[int], _Options]] = []
    for group in _parts(groups):
        options = _group_options(group, P, window.losses)
        least = float(options.loss.min())
        limit -= least
        options = _Options(options.mass, options.loss - least, options.inside, options.top)
        second = float(np.sort(options.loss)[1]) if options.loss.size > 1 else np.inf
        if np.isfinite(second):
            free.append((second, group, options))
        else:
            fixed_mass += _fix(options, group, inside, top)
    if not 0 <= limit < np.inf:
        return limit < 0  # a limit beyond floats excludes nothing, so that these are not all
    # Those that lose least by a change are spread over the halves first; what loses too much stays as it is.
    free.sort(key=lambda entry: entry[0])
    halves = (_Half(), _Half())
    complete = True
    for second, group, options in free:
        half = min(halves, key=lambda half: (half.bits + len(group) > _HALF_BITS, half.ways))
        if second <= limit and half.bits + len(group) <= _HALF_BITS:
            half.take(group, options.only(options.loss <= limit))
        else:
            complete = complete and second > limit
            fixed_mass += _fix(options, group, inside, top)
    (left, all_left), (right, all_right) = (half.choices(limit, effort.choices) for half in halves)
    complete = complete and all_left and all_right
    pairs = _Pairs(left, right, limit)
    low, high, peak = (x - fixed_mass for x in (window.low, window.high, window.peak))
    while pairs.count(low, high) > effort.pairs:
        complete = False
        if high - low < _NARROW:
            break
        # Rather those near the peak than some of all.
        low, high = peak - (peak - low) / 4, peak + (high - peak) / 4
    for mine, theirs in pairs.within(low, high, effort.pairs):
        for start in range(0, mine.size, _CHUNK):
            members, tops = (
                np.repeat(fixed[None, :], mine[start : start + _CHUNK].size, axis=0) for fixed in (inside, top)
            )
            for half, options, which in ((halves[0], pairs.left, mine), (halves[1], pairs.right, theirs)):
                shifts = np.arange(half.bits, dtype=np.uint64)
                chosen = options.only(which[start : start + _CHUNK])
                members[:, half.symbols] = chosen.inside[:, None] >> shifts & np.uint64(1)
                tops[:, half.symbols] = chosen.top[:, None] >> shifts & np.uint64(1)
            visit(members, tops)
    return complete


class _Half:
    """Half of the symbols, of which there are choices."""

    def __init__(self) -> None:
        self.symbols: list[int] = []
        self.ways = 1.0
        self._options: list[_Options] = []

    @property
    def bits(self) -> int:
        """How many symbols there are: a bit each."""
        return len(self.symbols)

    def take(self, group: list[int], options: _Options) -> None:
        """Let a group of symbols be of this half."""
        shift = np.uint64(self.bits)
        self._options.append(_Options(options.mass, options.loss, options.inside << shift, options.top << shift))
        self.symbols.extend(group)
        self.ways *= options.loss.size

    def choices(self, limit: float, most: int) -> tuple[_Options, bool]:
        """Return the choices within a limit, or the best of them, and whether these are all."""
        zero, bits = np.zeros(1), np.zeros(1, dtype=np.uint64)
        made, complete = _Options(zero, zero, bits, bits), True
        # What loses much first: that keeps the products short.
        for options in reversed(self._options):
            made, all_of_them = made.times(options, limit, most)
            complete = complete and all_of_them
        return made, complete


def _parts(groups: Sequence[list[int]]) -> Iterator[list[int]]:
    """Yield the groups, those that would not fit in a word in parts."""
    for group in groups:
        for start in range(0, len(group), _MOST_ALIKE):
            yield group[start : start + _MOST_ALIKE]


def _fix(options: _Options, group: list[int], inside: Masks, top: Masks) -> float:
    """Let a group have the best of its options for good; return its mass."""
    k = int(np.argmin(options.loss))
    for position, symbol in enumerate(group):
        inside[symbol] = int(options.inside[k]) >> position & 1
        top[symbol] = int(options.top[k]) >> position & 1
    return float(options.mass[k])


class _Pairs:
    """Choices of one half of the symbols beside those of the other, by mass and within a limit of losses."""

    def __init__(self, left: _Options, right: _Options, limit: float) -> None:
        left = left.only(np.argsort(left.loss, kind="stable"))
        self.left, self.right = left, right.only(np.argsort(right.mass, kind="stable"))
        self._limit = limit
        self._steps: list[tuple[Indices, Indices]] = []
        share, last = 1.0, 6
        for step in range(last + 1):
            # Who has lost most of the limit meets only those who have lost little.
            first = np.searchsorted(left.loss, limit * (1 - share)) if step else 0
            until = np.searchsorted(left.loss, limit * (1 - share / 2)) if step < last else left.loss.size
            if until > first:
                allowed = np.flatnonzero(self.right.loss <= limit * share * (1 + 1e-9))
                self._steps.append((np.arange(first, until), allowed))
            share /= 2

    def _ranges(self, low: float, high: float) -> Iterator[tuple[Indices, Indices, Indices, Indices]]:
        for mine, allowed in self._steps:
            masses = self.right.mass[allowed]
            first = np.searchsorted(masses, low - self.left.mass[mine])
            until = np.searchsorted(masses, high - self.left.mass[mine], side="right")
            yield mine, allowed, first, np.maximum(until, first) - first

    def count(self, low: float, high: float) -> int:
        """Return how many pairs have a mass between two numbers, or a few more."""
        return sum(int(counts.sum()) for _, _, _, counts in self._ranges(low, high))

    def within(self, low: float, high: float, most: int) -> Iterator[tuple[Indices, Indices]]:
        """Yield the pairs with a mass between two numbers, or some of them if there are more than so many."""
        for mine, allowed, first, counts in self._ranges(low, high):
            kept = np.cumsum(counts) <= most
            counted = counts[kept]
            left = np.repeat(mine[kept], counted)
            offsets = np.arange(left.size) - np.repeat(np.cumsum(counted) - counted, counted)
            right = allowed[np.repeat(first[kept], counted) + offsets]
            fits = self.left.loss[left] + self.right.loss[right] <= self._limit
            yield left[fits], right[fits]
