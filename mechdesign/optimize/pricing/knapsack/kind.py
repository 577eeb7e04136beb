"""What all kinds of extreme rays share: the priced cone, the symbols that sets may hold, the columns that are found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.l1_cone import L1Cone, greatest_near
from mechdesign.optimize.pricing.envelope import Envelope
from mechdesign.optimize.pricing.half_enumeration import EnumeratedSets, EnumerationEffort, Indices, Losses, Masks
from mechdesign.optimize.pricing.two_valued import EPS
from mechdesign.utility import FInformation

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


class FoundSets:
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
class KindPeak:
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
    peak: KindPeak | None


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
    def neighbours(self, peak: KindPeak | None) -> Iterator[Batch]:
        """Yield columns near the peak of the relaxation: each symbol in or out, the others in their order."""

    @abstractmethod
    def relaxation(self, floor: float, effort: EnumerationEffort) -> Relaxation:
        """Return a bound of the kind's reduced costs, or a floor where that is greater."""

    @abstractmethod
    def columns_above(self, level: float, effort: EnumerationEffort) -> Iterator[Batch]:
        """Yield the columns above a level, with a batch that is not complete where some were left out."""

    @staticmethod
    def batches(sets: EnumeratedSets, batch: Callable[[Masks, Masks], Batch]) -> Iterator[Batch]:
        """Yield the columns of sets, with a batch that is not complete where some sets were left out."""
        for members, tops in sets.parts:
            yield batch(members, tops)
        if not sets.complete:
            yield INCOMPLETE

    @abstractmethod
    def split(self, peak: KindPeak | None) -> list[list[Kind]]:
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
