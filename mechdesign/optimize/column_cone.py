"""The columns that keep a promise, in floats: by how much a column breaks it, and how far it may be from (1,...,1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.uncertainty.base import Floor, UncertaintySet

_HALVINGS = 50


@dataclass(frozen=True, eq=False)
class ColumnCone:
    """The columns that keep a promise over a set of priors.

    Attributes
    ----------
    known : UncertaintySet
        The set.
    exp_epsilon : float
        exp(epsilon).
    floor : Floor
        What is asked from below.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> from mechdesign.uncertainty.base import NO_FLOOR
    >>> cone = ColumnCone(L1Ball([0.5, 0.5], 2), 3.0, NO_FLOOR)
    >>> cone.mixed(np.array([[2.0], [0.0]]))
    array([[1.5],
           [0.5]])
    """

    known: UncertaintySet
    exp_epsilon: float
    floor: Floor

    def broken_by(self, columns: Floats) -> Floats:
        """Return by how much each column breaks the promise, shape (k,)."""
        above = self.known.excess(columns, self.exp_epsilon)
        if self.floor.least_lift == 0:
            return above
        a = float(self.floor.least_lift)
        capped = self.floor.for_everyone
        below = a * columns.max(axis=0) - columns.min(axis=0) if capped else self.known.lack(columns, a)
        result: Floats = np.maximum(above, below)
        return result

    def mixed(self, columns: Floats, deadline: float | None = None) -> Floats:
        """Return columns mixed with the constant one, as little as the promise asks for, or more at the deadline."""
        low, high = np.zeros(columns.shape[1]), np.ones(columns.shape[1])
        for _ in range(_HALVINGS):
            if time_is_up(deadline):
                break
            middle = (low + high) / 2
            kept = self.broken_by(columns + middle * (1 - columns)) <= 0
            low, high = np.where(kept, low, middle), np.where(kept, middle, high)
        inside = self.broken_by(columns) <= 0
        result: Floats = np.where(inside, columns, columns + high * (1 - columns))
        return result
