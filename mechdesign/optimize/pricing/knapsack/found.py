"""Columns that a kind returns, and the best of them, which the search keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.bounds import as_bound
from mechdesign.optimize.pricing.half_enumeration import Indices

_MOST_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class Batch:
    """Columns that were priced together; they are only built if they are among the best.

    Attributes
    ----------
    costs : array, shape (k,)
        Their reduced costs.
    upper : float
        The greatest reduced cost, rounded up.
    build : callable
        Returns the columns of some indices, shape (N, j), with ``<P, v> = 1``.
    looked_at : int
        How many columns were priced.
    complete : bool
        False where a limit of effort left out other columns that were asked for.
    """

    costs: Floats
    upper: float
    build: Callable[[Indices], Floats]
    looked_at: int
    complete: bool = True

    @classmethod
    def of(cls, costs: Floats, uppers: Floats, build: Callable[[Indices], Floats]) -> Batch:
        """Return a batch from reduced costs and their upper bounds."""
        return cls(costs, float(as_bound(uppers).max()), build, costs.size)


def _nothing_to_build(chosen: Indices) -> Floats:
    raise ValueError(f"an empty batch has no columns {chosen}")


NOTHING = Batch(np.empty(0), -np.inf, _nothing_to_build, 0)
"""A batch without columns."""

INCOMPLETE = Batch(np.empty(0), -np.inf, _nothing_to_build, 0, complete=False)
"""A batch that says that columns were left out."""


class Found:
    """The columns of greatest reduced cost so far.

    Parameters
    ----------
    size : int
        Length N of columns.
    greatest : float
        A reduced cost that some column has.

    Attributes
    ----------
    upper : float
        The greatest reduced cost of any column found, rounded up.
    greatest : float
        The greatest reduced cost of any column found.
    """

    def __init__(self, size: int, greatest: float) -> None:
        self.upper, self.greatest = -np.inf, greatest
        self._columns: Floats = np.empty((size, 0))
        self._costs: Floats = np.empty(0)

    def add(self, batch: Batch) -> None:
        """Keep the best columns of a batch."""
        if batch.costs.size == 0:
            return
        self.upper = max(self.upper, batch.upper)
        costs = np.where(np.isfinite(batch.costs), batch.costs, -np.inf)
        self.greatest = max(self.greatest, float(costs.max()))
        least = self._costs[-1] if self._costs.size >= _MOST_COLUMNS else -np.inf
        chosen = np.flatnonzero(costs > least)
        if chosen.size == 0:
            return
        chosen = chosen[np.argsort(-costs[chosen], kind="stable")[:_MOST_COLUMNS]]
        columns = np.hstack([self._columns, batch.build(chosen)])
        merged = np.concatenate([self._costs, costs[chosen]])
        best = np.argsort(-merged, kind="stable")
        # The best of the columns that are alike to 12 digits; adding 0 turns -0 into 0.
        first = {(column + 0.0).tobytes(): k for k, column in reversed([*enumerate(columns[:, best].round(12).T)])}
        best = best[sorted(first.values())[:_MOST_COLUMNS]]
        self._columns, self._costs = columns[:, best], merged[best]

    def columns(self) -> Floats:
        """Return the best columns, shape (N, k)."""
        return self._columns
