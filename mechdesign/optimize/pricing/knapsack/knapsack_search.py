"""The search for each vector of multipliers: it divides kinds, enumerates their sets and keeps what they return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.pricing.half_enumeration import EnumerationEffort
from mechdesign.optimize.pricing.knapsack.curve import KindA, KindBAt, KindD
from mechdesign.optimize.pricing.knapsack.kind import Batch, Choice, FoundSets, Kind, PricedCone, Relaxation
from mechdesign.optimize.pricing.knapsack.kind_b import KindB
from mechdesign.optimize.pricing.knapsack.kind_c import KindC
from mechdesign.optimize.pricing.price import BallPricing, Price, averaged, equal_groups

_LEVELS = 6  # below the bound of the relaxation, each four times as far from it as the one before
_STEP = 4.0
_GUESSED = EnumerationEffort(1 << 10, 1 << 12, 1 << 10, 6)
_QUICK = EnumerationEffort(1 << 13, 1 << 15, 1 << 13, 20)
_THOROUGH = EnumerationEffort(1 << 18, 1 << 20, 1 << 16, 200)
_CLOSE = 2e-11  # to the bound: as good as exact
_WORTHWHILE = 0.05  # of the gap: the least by which a split must lower the bound


@dataclass(frozen=True, eq=False)
class _Part:
    """A kind, or a part of one, with the bound of its columns."""

    kind: Kind
    relaxation: Relaxation

    @property
    def upper(self) -> float:
        return self.relaxation.upper


class SetSearch:
    """The search for the greatest reduced cost of a cone.

    Parameters
    ----------
    priced : PricedCone
        The cone to be searched, with utility and multipliers.
    groups : list of lists of int
        Symbols of equal probability and equal multipliers.

    Attributes
    ----------
    found : Found
        The best columns so far.
    looked_at : int
        How many columns were priced.
    kinds : list of Kind
        Together they hold every column.
    """

    def __init__(self, priced: PricedCone, groups: list[list[int]]) -> None:
        # The constant column is in every cone, and f(1) is 0.
        self.found = FoundSets(priced.multipliers.size, -float(priced.multipliers.sum()))
        self.looked_at = 0
        self.kinds = _kinds(priced, groups)
        self._close = _CLOSE * (1 + priced.size)

    def guess(self, deadline: float | None = None) -> None:
        """Find columns of great reduced cost, without a bound."""
        for kind in self.kinds:
            self._keep(kind.prefixes())
        for kind in self.kinds:
            self._keep(kind.neighbours(kind.relaxation(self.found.greatest, _GUESSED).peak))
        for part in self._divided(_GUESSED, deadline):
            if part.upper > self.found.greatest:
                self._keep(part.kind.columns_above(self.found.greatest, _GUESSED), deadline)

    def run(self, *, thorough: bool, deadline: float | None = None) -> float:
        """Return a bound of the greatest reduced cost.

        Parameters
        ----------
        thorough : bool
            Whether many sets are enumerated before the bound of those that are left is returned.
        deadline : float, optional
            A time of `time.monotonic` after which a thorough search returns the bound that it has.
        """
        deadline = deadline if thorough else None
        effort = replace(_THOROUGH, deadline=deadline) if thorough else _QUICK
        self.guess(deadline)
        top = proved = max(part.upper for part in self._divided(effort, deadline))
        floor = self.found.greatest
        if not np.isfinite(top):
            return np.inf
        if top - floor <= self._close:
            return max(proved, self.found.upper)
        for step in range(_LEVELS, -1, -1):
            level = max(top - (top - floor) / _STEP**step, self.found.greatest)
            # The columns of all kinds are wanted, even where the sets of one kind are too many to enumerate.
            complete = [
                not time_is_up(deadline) and self._keep(kind.columns_above(level, effort), deadline)
                for kind in self.kinds
            ]
            if not all(complete):
                break
            proved = level
            if self.found.greatest >= level - self._close:
                break
        return max(proved, self.found.upper)

    def _keep(self, batches: Iterable[Batch], deadline: float | None = None) -> bool:
        """Keep the best columns; return whether no batch left columns out, and none came too late."""
        complete = True
        for batch in batches:
            if time_is_up(deadline):
                return False
            self.looked_at += batch.looked_at
            self.found.add(batch)
            complete = complete and batch.complete
        return complete

    def _divided(self, effort: EnumerationEffort, deadline: float | None) -> list[_Part]:
        """Divide the kinds of the greatest bounds while that lowers these bounds; return all parts."""
        waiting = [_Part(kind, kind.relaxation(self.found.greatest, effort)) for kind in self.kinds]
        whole: list[_Part] = []
        for _ in range(effort.splits):
            if not waiting or time_is_up(deadline):
                break
            part = waiting.pop(max(range(len(waiting)), key=lambda k: waiting[k].upper))
            gap = part.upper - self.found.greatest
            if gap <= self._close:
                waiting.append(part)
                break
            for kinds in part.kind.split(part.relaxation.peak):
                divided = self._relaxed(kinds, effort)
                # Either the bound falls or the parts' columns are better.
                if max(other.upper for other in divided) - self.found.greatest < (1 - _WORTHWHILE) * gap:
                    waiting.extend(_below(other, part.upper) for other in divided)
                    break
            else:
                whole.append(part)
        parts = whole + waiting
        self.kinds = [part.kind for part in parts]
        return parts

    def _relaxed(self, kinds: list[Kind], effort: EnumerationEffort) -> list[_Part]:
        """Return new parts with their bounds, after keeping the columns that are cheap to find."""
        for kind in kinds:
            self._keep(kind.prefixes())
        parts = [_Part(kind, kind.relaxation(self.found.greatest, effort)) for kind in kinds]
        for part in parts:
            self._keep(part.kind.neighbours(part.relaxation.peak))
        return parts


def _below(part: _Part, upper: float) -> _Part:
    """Return a part whose bound is at most that of the part it comes from."""
    return replace(part, relaxation=replace(part.relaxation, upper=min(part.upper, upper)))


def _kinds(priced: PricedCone, groups: list[list[int]]) -> list[Kind]:
    """Return the kinds of rays that the cone has."""
    kinds: list[Kind] = []
    cone, unit = priced.cone, priced.unit
    P, c = cone.P, cone.c
    none, every = np.zeros(P.size, dtype=bool), np.ones(P.size, dtype=bool)
    if not cone.only_d:
        light = Choice(c * P <= 1 + unit, none, groups)
        if cone.u > 0:
            # Where u is 0, as with a known prior, these columns are sums of columns of kind B, or such columns.
            kinds.append(KindA(priced, light))
        if c >= 1 - unit:
            kinds.append(KindB(priced, light))
            kinds.extend(KindBAt(priced, light, int(f)) for f in np.flatnonzero(~light.allowed))
    if cone.has_cd:
        rare = min(cone.heaviest_cd, 1.0) + unit >= P
        kinds.append(KindD(priced, Choice(rare, none, groups)))
        if not cone.only_d and rare.any() and cone.lightest_support_c <= 1 + unit:
            kinds.append(KindC(priced, Choice(every, none, groups), rare, none))
    return kinds


class KnapsackPricing(BallPricing):
    """Prices columns of the cone of an l1 ball with any prior.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = KnapsackPricing(L1Ball([0.5, 0.3, 0.2]), 1.5, MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.359884719
    """

    method = "sets near the fractional knapsack, met in the middle"

    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Price:
        even, drift = averaged(multipliers, self._groups)
        search = self._search(even)
        # A thorough search enumerates more sets before it returns the bound of those that are left.
        upper = search.run(thorough=thorough, deadline=deadline)
        whole = thorough and not time_is_up(deadline)
        return Price(upper + drift, self.method, search.looked_at, search.found.columns(), whole)

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return the best columns among a few sets that are near the fractional knapsack."""
        search = self._search(averaged(multipliers, self._groups)[0])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            search.guess(deadline)
        return search.found.columns()

    def _search(self, multipliers: Floats) -> SetSearch:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return SetSearch(PricedCone(self._cone, self.utility, multipliers), self._groups)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Symbols of equal probability."""
        return equal_groups(self.ball.center)

    @cached_property
    def _cone(self) -> L1Cone[float]:
        return L1Cone.of(self.ball, self.exp_epsilon)
