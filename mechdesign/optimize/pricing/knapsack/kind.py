"""What all kinds share: the priced cone, the symbols that sets may hold, and the questions that the search asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.l1_cone import L1Cone, greatest_near
from mechdesign.optimize.pricing.envelope import Envelope
from mechdesign.optimize.pricing.half_enumeration import Effort, Losses, Masks
from mechdesign.optimize.pricing.knapsack.found import Batch
from mechdesign.optimize.pricing.two_valued import EPS
from mechdesign.utility import FInformation


@dataclass(frozen=True, eq=False)
class PricedCone:
    """A cone, with the utility and the multipliers at which its columns are priced.

    Attributes
    ----------
    cone : L1Cone
        In floats.
    utility : FInformation
        Its mu is priced.
    multipliers : array, shape (N,)
        lambda, alike for symbols of equal probability.
    """

    cone: L1Cone[float]
    utility: FInformation
    multipliers: Floats

    @cached_property
    def unit(self) -> float:
        """The greatest error of a sum over all symbols, relative to its terms."""
        return 4 * (self.cone.P.size + 16) * EPS

    @cached_property
    def size(self) -> float:
        """The sum of all ``|lambda_i|``."""
        return float(np.abs(self.multipliers).sum())

    @cached_property
    def slip(self) -> float:
        """The greatest change of the fractional knapsack within the error of a mass."""
        P, sizes = self.cone.P, np.abs(self.multipliers)
        lost = (P > 0) & (self.unit > P)
        steepest = float((sizes / np.where(self.unit <= P, P, np.inf)).max())
        return float(sizes[lost].sum()) + 2 * self.unit * steepest

    def f(self, values: Floats | float, error: Floats | float = 0.0) -> Floats:
        """Return the greatest f within an error of values."""
        return greatest_near(self.utility, np.atleast_1d(np.asarray(values, dtype=float)), error)


@dataclass(frozen=True, eq=False)
class Choice:
    """The symbols that a set may hold.

    Attributes
    ----------
    allowed, forced : array of bool, shape (N,)
        Symbols that may be in the set, and symbols that must be.
    groups : list of lists of int
        Symbols that are still interchangeable.
    """

    allowed: Masks
    forced: Masks
    groups: list[list[int]]

    def apart(self, symbol: int) -> Choice:
        """Return the same choice with a symbol in a group of its own."""
        rest = [[i for i in group if i != symbol] for group in self.groups]
        return replace(self, groups=[group for group in rest if group] + [[symbol]])

    def without(self, symbol: int) -> Choice:
        """Return the choice of sets that leave a symbol out."""
        allowed = self.allowed.copy()
        allowed[symbol] = False
        return replace(self.apart(symbol), allowed=allowed)

    def holding(self, symbol: int) -> Choice:
        """Return the choice of sets that hold a symbol."""
        forced = self.forced.copy()
        forced[symbol] = True
        return replace(self.apart(symbol), forced=forced)

    def losses(self, against: Floats) -> Losses:
        """Return the loss of each symbol in a place that differs from the one that a slope gives it.

        Parameters
        ----------
        against : array, shape (N,)
            ``lambda_i - slope P_i``: the slope puts a symbol into the set where this is negative.
        """
        inside = np.where(self.allowed, np.maximum(against, 0.0), np.inf)
        out = np.where(self.forced, np.inf, np.where(self.allowed, np.maximum(-against, 0.0), 0.0))
        return Losses(out, np.where(self.forced, 0.0, inside))


@dataclass(frozen=True)
class Peak:
    """Where a relaxation is greatest.

    Attributes
    ----------
    piece, mass : int, float
        Of the set (for kind C: of T), the piece of its envelope and its mass.
    inner_piece, inner_mass : int, float
        For kind C, those of S.
    """

    piece: int
    mass: float
    inner_piece: int = 0
    inner_mass: float = 0.0


@dataclass(frozen=True)
class Relaxation:
    """The outcome of relaxing a kind: sets may hold symbols in part.

    Attributes
    ----------
    upper : float
        No column of the kind has a greater reduced cost; the floor where that is greater.
    peak : Peak or None
        Where the bound is greatest; None where nothing is above the floor, or the kind needs no peak.
    """

    upper: float
    peak: Peak | None


class Kind(ABC):
    """Columns of one kind, or those of them that have some symbols in S (for kind C: in T) and leave others out.

    A kind does not change: it returns what it found.
    """

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        self.priced, self.cone, self.choice = priced, priced.cone, choice

    @abstractmethod
    def prefixes(self) -> Iterator[Batch]:
        """Yield the columns of the first few symbols in the order of the relaxation, for a floor."""

    @abstractmethod
    def neighbours(self, peak: Peak | None) -> Iterator[Batch]:
        """Yield columns near the peak of the relaxation: each symbol in or out, the others in their order."""

    @abstractmethod
    def relaxation(self, floor: float, effort: Effort) -> Relaxation:
        """Return a bound of the kind's reduced costs, or a floor where that is greater."""

    @abstractmethod
    def columns_above(self, level: float, effort: Effort) -> Iterator[Batch]:
        """Yield the columns above a level, with a batch that is not complete where some were left out."""

    @abstractmethod
    def split(self, peak: Peak | None) -> list[list[Kind]]:
        """Return ways to divide the columns, by a symbol that the relaxation's peak holds in part."""

    @property
    def sure(self) -> Masks:
        """The symbols in every set that can be best: those forced, and those without mass that lower lambda(S)."""
        choice = self.choice
        result: Masks = choice.forced | (choice.allowed & (self.cone.P <= 0) & (self.priced.multipliers < 0))
        return result

    def sets_near(self, envelope: Envelope, mass: float) -> Masks:
        """Return sets of about a mass, one a row: each symbol in or out, the others in their order."""
        sure, order = self.sure, envelope.order
        own, ranks = self.cone.P[order], np.arange(order.size)
        sets = [sure[None, :]]
        for held in (True, False):
            wanted = mass - own * held
            # How many of the others fit: up to a symbol's own rank as without it, beyond that as if it had no mass.
            count = np.where(
                envelope.masses[:-1] > wanted,
                np.searchsorted(envelope.masses, wanted, side="right"),
                np.searchsorted(envelope.masses, wanted + own, side="right") - 1,
            )
            for first in (np.maximum(count - 1, 0), count):
                until = np.where(first <= ranks, first, first + 1)
                chosen = ranks < until[:, None]
                chosen[ranks, ranks] = held
                part = np.repeat(sure[None, :], order.size, axis=0)
                part[:, order] = chosen
                sets.append(part)
        result: Masks = np.concatenate(sets)
        return result
