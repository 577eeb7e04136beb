"""The pieces of a lower probability as arrays, with chords over several of them where all are lines in the mass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty.pieces import PieceSet

_FEW = 4  # pieces, to which chords add nothing
_SAME = 1e-12  # relative: masses so close to a multiple of the prior are taken for one, and rounded up
_ROOM = 1e-14

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PieceTable:
    """Pieces and chords: ``masses(S) - slack`` is at least f(S) for the sets for which a row stands.

    Attributes
    ----------
    masses, slacks : array, shape (k, N) and (k,)
        The rows. The first is 0, the last the set of all symbols.
    below : array of int, shape (k,)
        The row of a piece, which f is never below; of a piece the row itself.
    first, last : array, shape (k,)
        The masses P(S) for whose sets a row stands.
    halves : tuple of pairs of int, or None
        The rows that stand for the sets of a chord; None for a piece.
    pieces : int
        Rows from 1 on that are those of the set.
    roots : tuple of int
        Rows that stand for all sets but that of all symbols.
    """

    masses: Floats
    slacks: Floats
    below: NDArray[np.int64]
    first: Floats
    last: Floats
    halves: tuple[tuple[int, int] | None, ...]
    pieces: int
    roots: tuple[int, ...]

    @classmethod
    def of(cls, known: PieceSet) -> Self:
        """Return the table of a set."""
        masses, slacks = known.in_floats
        count = len(slacks)
        lines = _lines(masses, known.prior) if count > _FEW else None
        zero, first, last = np.zeros((1, known.size)), np.zeros(1 + count), np.ones(1 + count)
        roots, chords = tuple(range(1 + count)), list[_Chord]()
        if lines is not None:
            masses = lines[:, None] * known.prior
            envelope, breaks = _envelope(np.r_[0.0, lines], np.r_[0.0, slacks])
            chords = _chords(np.r_[0.0, lines], np.r_[0.0, slacks], envelope, breaks)
            first[:], last[:] = 2.0, -1.0  # lines under the others stand for no set
            first[envelope], last[envelope] = breaks[:-1], breaks[1:]
            roots = (count + len(chords),) if chords else tuple(envelope)
        slopes = np.array([chord.slope for chord in chords]).reshape(-1, 1)
        return cls(
            np.vstack([zero, masses, slopes * known.prior, zero]),
            np.r_[0.0, slacks, [chord.slack for chord in chords], -1.0],
            np.array([*range(1 + count), *(chord.below for chord in chords), 1 + count + len(chords)]),
            np.r_[first, [chord.first for chord in chords], 0.0],
            np.r_[last, [chord.last for chord in chords], 1.0],
            (*[None] * (1 + count), *(chord.halves for chord in chords), None),
            count,
            roots,
        )

    @property
    def everything(self) -> int:
        """The row of the set of all symbols."""
        return len(self.slacks) - 1

    def lower(self, sets: Bools) -> Floats:
        """Return f of sets, shape (k, N)."""
        rows = slice(1, 1 + self.pieces)
        values = np.maximum((sets @ self.masses[rows].T - self.slacks[rows]).max(axis=1), 0.0)
        return np.where(sets.all(axis=1), 1.0, values)

    def rows_of(self, rows: NDArray[np.int64], low: Floats, high: Floats) -> NDArray[np.int64]:
        """Return the closest rows under given ones that stand for the sets with a mass between two ones."""
        while True:
            left, right = self._children[rows].T
            inner = np.where((left >= 0) & (self.last[left] >= high), left, rows)
            inner = np.where((left >= 0) & (self.first[right] <= low), right, inner)
            if (inner == rows).all():
                return rows
            rows = inner

    @cached_property
    def _children(self) -> NDArray[np.int64]:
        return np.array([halves or (-1, -1) for halves in self.halves], dtype=np.int64)

    def may_follow(self, j: int, k: int) -> bool:
        """Return whether k may be the row of a set that holds one of row j, and no row does it in its place."""
        if k in (j, self.everything) or self.halves[j] is not None or self.halves[k] is not None:
            return True
        # If a_k is nowhere above a_j and j attains f(S), then j attains f(T) as well.
        return not bool((self.masses[k] <= self.masses[j]).all())


def _lines(masses: Floats, prior: Floats) -> Floats | None:
    """Return the slopes of pieces that are multiples of the prior, or None."""
    slopes: Floats = masses.sum(axis=1) / prior.sum()
    close = np.abs(masses - slopes[:, None] * prior) <= _SAME * masses.max(axis=1, keepdims=True)
    return slopes * (1 + 2 * _SAME) if close.all() and (prior > 0).all() else None


def _envelope(slopes: Floats, slacks: Floats) -> tuple[list[int], Floats]:
    """Return the lines that are greatest somewhere in [0, 1], and the masses between which each is."""
    chosen: list[int] = []
    starts: list[float] = []
    for line in np.lexsort((-slacks, slopes)).tolist():
        start = 0.0
        while chosen:
            rise = slopes[line] - slopes[chosen[-1]]
            start = float((slacks[line] - slacks[chosen[-1]]) / rise) if rise > 0 else -1.0
            if start > starts[-1]:
                break
            chosen.pop()
            starts.pop()
        if not chosen:
            start = 0.0
        if start < 1:
            chosen.append(line)
            starts.append(start)
    return chosen, np.array([*starts, 1.0])


@dataclass(frozen=True)
class _Chord:
    """A line in P(S) that is above f between two masses, the line that is f at the first, and its halves."""

    slope: float
    slack: float
    first: float
    last: float
    below: int
    halves: tuple[int, int]


def _chords(slopes: Floats, slacks: Floats, lines: list[int], breaks: Floats) -> list[_Chord]:
    """Return the chords over lines, for rows that follow those of all lines; the last is over all that are given."""
    heights = np.maximum([0.0, *(slopes[lines] * breaks[1:] - slacks[lines])], 0.0)
    chords: list[_Chord] = []

    def add(low: int, high: int) -> int:
        if high == low + 1:
            return lines[low]
        middle = (low + high) // 2
        halves = add(low, middle), add(middle, high)
        first, last = float(breaks[low]), float(breaks[high])
        slope = float(heights[high] - heights[low]) / (last - first) * (1 + _ROOM)
        slack = slope * first - float(heights[low]) - 4 * _ROOM * (1 + slope)
        chords.append(_Chord(slope, slack, first, last, lines[low], halves))
        return len(slopes) + len(chords) - 1

    add(0, len(lines))
    return chords
