"""What a method of optimisation returns, before rounding and certification."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.orbits import Orbits
from mechdesign.optimize.pricing.price import Price


@dataclass(frozen=True, eq=False)
class Solution:
    """A mechanism and a dual vector, both up to a solver's errors.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism; with bins, one row for each of them.
    multipliers : array, shape (N,)
        lambda, dual to the row sums.
    columns : int
        Rays listed, guesses, or columns held by the last linear program.
    iterations : int
        Linear programs solved.
    stopped : str
        Why the method ended early: ``"time limit"``, ``"interrupted"``, ``"solver failed"``, or ``"stalled"``
        (no column was found that improves the value, though the bound is above it). Empty if it did not end early.
    unrestricted : float or None
        The objective of the mechanism that was found before outputs were limited; None if they were not.
    bins : Orbits, optional
        The symbols that get the same row; None where every symbol has its own.
    price : Price, optional
        What the pricing of the problem returned for the multipliers, where they were priced.
    """

    matrix: Floats
    multipliers: Floats
    columns: int
    iterations: int
    stopped: str = ""
    unrestricted: float | None = None
    bins: Orbits | None = None
    price: Price | None = None
