"""The sets of symbols whose mass lies in a window and whose losses are small, from choices of either half.

For each half of the symbols the choices of small loss are listed and sorted by mass, so that the pairs of a given mass
are found without trying all pairs (Horowitz and Sahni, Journal of the ACM 1974).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up

Masks = NDArray[np.bool_]
Indices = NDArray[np.int64]
Words = NDArray[np.uint64]

_FEW = 16  # choices once time is up
_HALF_BITS = 60
_MOST_ALIKE = 30  # interchangeable symbols whose numbers are chosen at once
_NARROW = 1e-14
_CHUNK = 4096


@dataclass(frozen=True)
class EnumerationEffort:
    """How much may be enumerated.

    Attributes
    ----------
    choices : int
        The most choices from either half of the symbols.
    pairs : int
        The most sets of one window.
    cells : int
        The most rectangles of masses that are bounded for kind C at one level.
    splits : int
        The most divisions of kinds, on symbols that the relaxation holds in part.
    deadline : float, optional
        A time of `time.monotonic` from which on only a few choices are listed.
    """

    choices: int
    pairs: int
    cells: int
    splits: int
    deadline: float | None = None


@dataclass(frozen=True)
class Losses:
    """The loss of each symbol outside the set, inside it, and inside it with the greatest value.

    A loss is infinite where the symbol may not have that place; `top` is None where no value is greater than inside.
    """

    out: Floats
    inside: Floats
    top: Floats | None = None


@dataclass(frozen=True)
class Window:
    """Sets whose mass lies between two numbers and whose losses sum to at most a limit.

    Attributes
    ----------
    low, high : float
        The least and the greatest mass.
    peak : float
        Sets of about this mass are enumerated where there are too many.
    limit : float
        The greatest sum of losses.
    losses : Losses
        Of each symbol.
    """

    low: float
    high: float
    peak: float
    limit: float
    losses: Losses


@dataclass(frozen=True)
class _Options:
    """Choices from some symbols: their mass, their loss, and as bits the symbols inside and those at the top."""

    mass: Floats
    loss: Floats
    inside: Words
    top: Words

    def only(self, which: Indices | Masks) -> _Options:
        return _Options(self.mass[which], self.loss[which], self.inside[which], self.top[which])

    def times(self, other: _Options, limit: float, most: int) -> tuple[_Options, bool]:
        """Return the choices from both within a limit, the best ones if there are too many, and whether that is all."""
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
    """Return an option for each number of a group's symbols inside, and for each number of these at the top."""
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
    # An option whose loss is NaN is kept.
    loss = np.where(np.isnan(loss), 0.0, loss)
    one = np.uint64(1)
    words = [(one << count.astype(np.uint64)) - one for count in (inside, top)]
    return _Options(inside * P[i], loss, words[0], words[1])


@dataclass(frozen=True, eq=False)
class EnumeratedSets:
    """Sets of a window.

    Attributes
    ----------
    complete : bool
        Whether `parts` yields all of them.
    parts : iterator of pairs of arrays of bool, shape (k, N) each
        The symbols of k sets, and those of them that have the greatest value.
    """

    complete: bool
    parts: Iterator[tuple[Masks, Masks]]


def enumerate_sets(window: Window, groups: Sequence[list[int]], P: Floats, effort: EnumerationEffort) -> EnumeratedSets:
    """Return the sets of a window, or as many of them as the effort allows.

    Parameters
    ----------
    window : Window
        The masses and losses of the sets.
    groups : sequence of lists of int
        Symbols that are interchangeable; every symbol is in one group.
    P : array, shape (N,)
        The masses of symbols.
    effort : Effort
        How much may be enumerated.

    Examples
    --------
    >>> losses = Losses(np.zeros(3), np.array([0.1, 0.2, 0.3]))
    >>> window = Window(0.45, 0.55, 0.5, 1.0, losses)
    >>> sets = enumerate_sets(window, [[0], [1], [2]], np.array([0.5, 0.3, 0.2]), EnumerationEffort(100, 100, 0, 0))
    >>> sets.complete, [members.tolist() for members, _ in sets.parts]
    (True, [[[True, False, False], [False, True, True]]])
    """
    fixed = _Fixed(np.zeros(P.size, dtype=bool), np.zeros(P.size, dtype=bool))
    limit = window.limit
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
            fixed.take(group, options)
    if not 0 <= limit < np.inf:
        # With a limit below 0 no set fits. An infinite limit excludes no set, so the sets are incomplete.
        return EnumeratedSets(limit < 0, iter(()))
    # Groups that lose least by a change are spread over the halves first; groups that lose too much stay as they are.
    free.sort(key=lambda entry: entry[0])
    halves = (_Half(), _Half())
    complete = True
    for second, group, options in free:
        half = min(halves, key=lambda half: (half.bits + len(group) > _HALF_BITS, half.ways))
        if second <= limit and half.bits + len(group) <= _HALF_BITS:
            half.take(group, options.only(options.loss <= limit))
        else:
            complete = complete and second > limit
            fixed.take(group, options)
    (left, all_left), (right, all_right) = (half.choices(limit, effort) for half in halves)
    complete = complete and all_left and all_right
    pairs = _Pairs(left, right, limit)
    low, high, peak = (x - fixed.mass for x in (window.low, window.high, window.peak))
    while pairs.count(low, high) > effort.pairs:
        complete = False
        if high - low < _NARROW:
            break
        # If not all sets can be listed, those near the peak are the best choice.
        low, high = peak - (peak - low) / 4, peak + (high - peak) / 4
    return EnumeratedSets(complete, _sets(halves, fixed, pairs, pairs.within(low, high, effort.pairs)))


def _sets(
    halves: tuple[_Half, _Half], fixed: _Fixed, pairs: _Pairs, within: Iterator[tuple[Indices, Indices]]
) -> Iterator[tuple[Masks, Masks]]:
    """Yield the sets of pairs of choices as rows of bits."""
    for mine, theirs in within:
        for start in range(0, mine.size, _CHUNK):
            members, tops = (
                np.repeat(bits[None, :], mine[start : start + _CHUNK].size, axis=0)
                for bits in (fixed.inside, fixed.top)
            )
            for half, options, which in ((halves[0], pairs.left, mine), (halves[1], pairs.right, theirs)):
                shifts = np.arange(half.bits, dtype=np.uint64)
                chosen = options.only(which[start : start + _CHUNK])
                members[:, half.symbols] = chosen.inside[:, None] >> shifts & np.uint64(1)
                tops[:, half.symbols] = chosen.top[:, None] >> shifts & np.uint64(1)
            yield members, tops


@dataclass
class _Fixed:
    """Symbols whose place is the same in all sets: which are inside, which at the top, and their mass."""

    inside: Masks
    top: Masks
    mass: float = 0.0

    def take(self, group: list[int], options: _Options) -> None:
        """Give a group the option of least loss."""
        k = int(np.argmin(options.loss))
        for position, symbol in enumerate(group):
            self.inside[symbol] = int(options.inside[k]) >> position & 1
            self.top[symbol] = int(options.top[k]) >> position & 1
        self.mass += float(options.mass[k])


class _Half:
    """Half of the symbols, and the choices from each of its groups."""

    def __init__(self) -> None:
        self.symbols: list[int] = []
        self.ways = 1.0
        self._options: list[_Options] = []

    @property
    def bits(self) -> int:
        """How many symbols there are, each with one bit."""
        return len(self.symbols)

    def take(self, group: list[int], options: _Options) -> None:
        """Add a group of symbols to this half."""
        shift = np.uint64(self.bits)
        self._options.append(_Options(options.mass, options.loss, options.inside << shift, options.top << shift))
        self.symbols.extend(group)
        self.ways *= options.loss.size

    def choices(self, limit: float, effort: EnumerationEffort) -> tuple[_Options, bool]:
        """Return the choices within a limit, or the best of them, and whether these are all."""
        zero, bits = np.zeros(1), np.zeros(1, dtype=np.uint64)
        made, complete = _Options(zero, zero, bits, bits), True
        # Groups of great losses come first, which keeps the products short.
        for options in reversed(self._options):
            most = _FEW if time_is_up(effort.deadline) else effort.choices
            made, all_of_them = made.times(options, limit, most)
            complete = complete and all_of_them
        return made, complete


def _parts(groups: Sequence[list[int]]) -> Iterator[list[int]]:
    """Yield the groups, divided where they would not fit in a word."""
    for group in groups:
        for start in range(0, len(group), _MOST_ALIKE):
            yield group[start : start + _MOST_ALIKE]


class _Pairs:
    """Pairs of a choice from each half of the symbols, by mass and within a limit of losses."""

    def __init__(self, left: _Options, right: _Options, limit: float) -> None:
        left = left.only(np.argsort(left.loss, kind="stable"))
        self.left, self.right = left, right.only(np.argsort(right.mass, kind="stable"))
        self._limit = limit
        self._steps: list[tuple[Indices, Indices]] = []
        share, last = 1.0, 6
        for step in range(last + 1):
            # A choice whose loss is near the limit is paired only with choices of small loss.
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
        """Return the number of pairs with a mass between two numbers, or slightly more."""
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
