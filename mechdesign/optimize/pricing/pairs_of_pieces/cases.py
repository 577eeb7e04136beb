"""Cases of a search over pairs of pieces, and how they are divided."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.pairs_of_pieces.columns import BETWEEN, IN, OUTSIDE
from mechdesign.optimize.pricing.pairs_of_pieces.piece_table import Bools, PieceTable

BY_X, BY_Q, BY_INNER, BY_OUTER, NOT_DIVIDED = -1, -2, -3, -4, -5
"""How a case is divided, if not by a symbol: by its cell, or by a chord."""

_EPS = float(np.finfo(float).eps)
_TOLD = 1e-3  # least means that are less apart do not tell x
_NEARLY = 1e-9

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Case:
    """Columns with two rows of the table, within a cell of x and q, whose symbols have some of the three states.

    y and z are the weights that its search begins with.
    """

    rows: tuple[int, int]
    x: tuple[float, float]
    q: tuple[float, float]
    allowed: Bools
    y: float = 1.0
    z: float = 1.0
    bound: float = math.inf
    split: int = NOT_DIVIDED

    def parts(self, table: PieceTable) -> Iterator[Case]:
        """Yield cases that hold the columns of this one; none where it is not divided."""
        parts: Iterable[Case] = ()
        j, k = self.rows
        if self.split in (BY_X, BY_Q):
            low, high = self.x if self.split == BY_X else self.q
            halves = (low, (low + high) / 2), ((low + high) / 2, high)
            parts = (replace(self, x=half) if self.split == BY_X else replace(self, q=half) for half in halves)
        elif self.split == BY_INNER:
            parts = (replace(self, rows=(row, k)) for row in table.halves[j] or ())
        elif self.split == BY_OUTER:
            parts = (replace(self, rows=(j, row)) for row in table.halves[k] or ())
        elif self.split >= 0:
            states = np.flatnonzero(self.allowed[:, self.split]).tolist()
            parts = (self._decided(self.split, state) for state in states)
        for part in parts:
            yield from part.of_pieces(table)

    def of_pieces(self, table: PieceTable) -> Iterator[Case]:
        """Yield the case; where one piece is that of both sets, a case for every symbol that is alone between them."""
        j, k = self.rows
        if not table.may_follow(j, k):
            return
        if j != k or table.halves[j] is not None:
            yield self
            return
        must = np.flatnonzero(~self.allowed[OUTSIDE] & ~self.allowed[IN])
        if must.size > 1:
            return
        for symbol in must.tolist() if must.size else np.flatnonzero(self.allowed[BETWEEN]).tolist():
            alone = self._decided(symbol, BETWEEN)
            alone.allowed[BETWEEN] = np.arange(alone.allowed.shape[1]) == symbol
            if alone.allowed.any(axis=0).all():
                yield alone

    def _decided(self, symbol: int, state: int) -> Case:
        allowed = self.allowed.copy()
        allowed[:, symbol] = np.arange(3) == state
        return replace(self, allowed=allowed)


def first_cases(table: PieceTable, inside: Bools, least: float, z: float) -> Iterator[Case]:
    """Yield cases that hold every extreme column with greatest entry 1 but those of one symbol.

    Parameters
    ----------
    table : PieceTable
        Of the set.
    inside : array of bool, shape (N,)
        The symbols that may have the greatest entry beside others.
    least : float
        1/e, rounded down.
    z : float
        Where searches for weights begin.
    """
    N = inside.size
    free = np.ones((3, N), dtype=bool)
    free[IN] = inside
    whole = free.copy()
    whole[OUTSIDE] = False
    room = 8 * (N + 8) * _EPS
    q = least * (1 - room), 1 + room
    for j in table.roots:
        yield Case((j, table.everything), (0.0, 1.0), q, whole, z=z)
        for k in table.roots:
            yield from Case((j, k), (0.0, 1.0), q, free, z=z).of_pieces(table)


@dataclass(frozen=True, eq=False)
class CaseArrays:
    """Some cases as arrays."""

    j: Indices
    k: Indices
    x: Floats
    q: Floats
    allowed: Bools

    @classmethod
    def of(cls, cases: list[Case]) -> Self:
        """Return cases as arrays."""
        j, k = np.array([case.rows for case in cases], dtype=np.int64).T
        allowed = np.stack([case.allowed for case in cases])
        return cls(j, k, np.array([case.x for case in cases]), np.array([case.q for case in cases]), allowed)

    def narrowed(self, table: PieceTable, prior: Floats, least: float) -> tuple[Self, Bools]:
        """Return the cases that may hold a column, in cells as narrow as symbols leave them, and which they are."""
        outside, inside, between = self.allowed[:, OUTSIDE], self.allowed[:, IN], self.allowed[:, BETWEEN]
        inner = inside & ~outside & ~between, inside
        outer = ~outside, inside | between
        masses = [(smallest @ prior - _NEARLY, greatest @ prior + _NEARLY) for smallest, greatest in (inner, outer)]
        j, k = (table.rows_of(rows, *mass) for rows, mass in zip((self.j, self.k), masses, strict=True))
        low_f, high_f = self._ends(table, j, *inner)
        low_all, high_all = self._ends(table, k, *outer)
        kept = (low_f <= least + _NEARLY) & (high_all >= least - _NEARLY)
        for rows, (low, high) in zip((j, k), masses, strict=True):
            kept &= (low <= table.last[rows]) & (high >= table.first[rows])
        # x = (1/e - f(S)) / (f(T) - f(S)), which falls in both.
        told = (high_all - high_f > _TOLD) & (high_f < least)
        first = np.where(told, (least - high_f) / np.where(told, high_all - high_f, 1.0) - 1e-11, 0.0)
        told = (low_all - low_f > _TOLD) & (low_all > least)
        last = np.where(told, (least - low_f) / np.where(told, low_all - low_f, 1.0) + 1e-11, 1.0)
        x = np.stack([np.maximum(self.x[:, 0], first), np.minimum(self.x[:, 1], last)], axis=1)
        room = 64 * (prior.size + 8) * _EPS
        low = np.where(outside, 0.0, np.where(between, x[:, :1], 1.0)) @ prior * (1 - room)
        high = np.where(inside, 1.0, np.where(between, x[:, 1:], 0.0)) @ prior * (1 + room)
        q = np.stack([np.maximum(self.q[:, 0], low), np.minimum(self.q[:, 1], high)], axis=1)
        kept &= (x[:, 0] <= x[:, 1]) & (q[:, 0] <= q[:, 1])
        return type(self)(j[kept], k[kept], x[kept], q[kept], self.allowed[kept]), kept

    @staticmethod
    def _ends(table: PieceTable, rows: Indices, smallest: Bools, greatest: Bools) -> tuple[Floats, Floats]:
        """Return between which values f is on the sets between two ones, from rows that stand for them."""
        below = table.below[rows]
        low = (table.masses[below] * smallest).sum(axis=1) - table.slacks[below]
        high = (table.masses[rows] * greatest).sum(axis=1) - table.slacks[rows]
        return np.maximum(low, 0.0), np.maximum(high, 0.0)
