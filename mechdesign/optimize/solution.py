"""What a method found, before it is rounded to integers."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.uncertainty.base import Floats


@dataclass(frozen=True)
class Solution:
    """A mechanism up to a solver's errors, with the duals of its row sums.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    multipliers : array, shape (N,)
        The dual vector lambda.
    columns : int
        How many columns were held or priced.
    iterations : int
        How many linear programs were solved.
    """

    matrix: Floats
    multipliers: Floats
    columns: int
    iterations: int
