"""What pricing of a quadratic form has found so far: a bound, and columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm


@dataclass(eq=False)
class Found:
    """A bound of ``(v - 1)' Theta (v - 1) - <lambda, v>``, and columns of great values.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    upper : float
        The bound over all kinds that have been priced.
    reached : float
        The greatest value of a column that has been found.
    columns : list of arrays, shape (N,)
        Columns of the cone with ``<P, v> = 1``.
    looked_at : int
        How many cases were bounded.

    Examples
    --------
    >>> found = Found(QuadraticForm(np.ones(2)), np.zeros(2))
    >>> found.add(np.array([2.0, 0.0]))
    >>> found.reached
    2.0
    """

    form: QuadraticForm
    multipliers: Floats
    upper: float = -np.inf
    reached: float = -np.inf
    columns: list[Floats] = field(default_factory=list)
    looked_at: int = 0

    def add(self, column: Floats) -> None:
        """Add a column."""
        value = float(self.form.values(column[:, None] - 1)[0] - self.multipliers @ column)
        self.reached = max(self.reached, value)
        self.columns.append(column)
