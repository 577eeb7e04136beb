"""What the pricings of the column cone of a ball share: their arguments, first columns and first multipliers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.price import Price, beyond_floats
from mechdesign.optimize.start import center_multipliers, start_columns
from mechdesign.uncertainty.ball import Ball
from mechdesign.utility import FInformation


@dataclass(frozen=True, eq=False)
class BallPricing(ABC):
    """Prices columns of the cone of a ball, with lambda averaged over symbols that are alike (`Pricing`).

    Attributes
    ----------
    ball : Ball
        An l1 ball or a relative ball.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.
    """

    ball: Ball
    exp_epsilon: float
    utility: FInformation

    method: ClassVar[str]

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return a bound of the greatest reduced cost of any column with ``<P, v> = 1``, rounded up, and good columns.

        lambda is first averaged over symbols of equal probability (see `averaged`).

        Parameters
        ----------
        multipliers : array, shape (N,)
            lambda.
        thorough : bool
            Whether the bound is the best that the method gives, which takes longer. Without it the bound holds too.
        deadline : float, optional
            A time of `time.monotonic` after which a thorough pricing returns the bound that it has.
        """
        if beyond_floats(multipliers, self.exp_epsilon):
            return Price(np.inf, "multipliers beyond floats", 0)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._price(multipliers, thorough=thorough, deadline=deadline)

    @abstractmethod
    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Price:
        """Return the price; multipliers times values of columns are numbers that floats hold."""

    def start(self) -> Floats:
        """Return columns of balanced sets."""
        return start_columns(self.ball, self.exp_epsilon, self.utility)

    def centers(self) -> list[Floats]:
        """Return zeros, and the slopes of chords."""
        return center_multipliers(self.ball, self.exp_epsilon, self.utility)

    @abstractmethod
    def guess(self, multipliers: Floats) -> Floats:
        """Return columns that may have great reduced costs, as `Pricing.guess`."""
