"""Rectangles of masses of two sets, over which the reduced costs of kind C are bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechdesign.optimize.pricing.envelope import Intervals
from mechdesign.optimize.pricing.half_enumeration import Indices, Masks


@dataclass(frozen=True)
class Cells:
    """Rectangles of masses of S (inner) and T (outer) in which both envelopes have one slope."""

    inner: Intervals
    outer: Intervals

    @classmethod
    def products(cls, inner: Intervals, outer: Intervals) -> Cells:
        """Return a cell for every pair of intervals."""
        j, k = (index.ravel() for index in np.indices((inner.left.size, outer.left.size)))
        return cls(_at(inner, j), _at(outer, k))

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.inner.left.size

    def only(self, which: Masks) -> Cells:
        """Return some of them."""
        return Cells(self.inner.only(which), self.outer.only(which))

    def halved(self) -> Cells:
        """Return the four quarters of each."""
        inner, outer = [], []
        for upper_a in (False, True):
            for upper_b in (False, True):
                inner.append(_half_of(self.inner, upper=upper_a))
                outer.append(_half_of(self.outer, upper=upper_b))
        return Cells(_joined(inner), _joined(outer))


def _at(blocks: Intervals, which: Indices) -> Intervals:
    return Intervals(blocks.left[which], blocks.right[which], blocks.piece[which])


def _half_of(blocks: Intervals, *, upper: bool) -> Intervals:
    middle = (blocks.left + blocks.right) / 2
    return Intervals(middle, blocks.right, blocks.piece) if upper else Intervals(blocks.left, middle, blocks.piece)


def _joined(parts: Sequence[Intervals]) -> Intervals:
    return Intervals(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.piece for part in parts]),
    )
