"""Exact pricing of f-informations for priors that are counts, by subset-sum tables.

Reduced costs of kinds A, B and D of the extreme rays depend on the set S through its mass and lambda(S)
alone; with integer counts one table holds the least lambda(S) for every mass. Kind B leaves its fractional
symbol out of S, which the table over all symbols relaxes; where that matters, tables without the symbol
are made. Kind C needs two sets (see `three_values`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.cheapest_sets import CheapestSets, ItemGroup, leave_one_out, parts
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.price import BallPricing, Price, averaged, equal_groups
from mechdesign.optimize.pricing.three_value_cases import price_three_values
from mechdesign.optimize.pricing.three_values import ThreeValues
from mechdesign.optimize.pricing.two_valued import CountedCone, OneFractional, PeakBetween, TwoValues

_PEAKS = 48
_MOST_ENTRIES = 5_000_000_000
_MOST_BYTES = 1_500_000_000
_MOST_CASES = 400
_FEW_CASES = 5
_MOST_BLOCKS, _FEW_BLOCKS = 400_000, 5_000
_ENTRIES_OF_BLOCK = 2_000  # of tables take as long as a block of kind C: where tables are large, so may be its search
_SMALL_TABLES = 20_000_000  # entries: up to so many, the columns of every symbol's own table are worth its time


class CountPricing(BallPricing):
    """Prices columns of the cone of an l1 ball whose center is a vector of counts: the weights of the ball.

    The bound of thorough pricing is the greatest reduced cost of any column, rounded up.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = CountPricing(L1Ball.from_counts([5, 3, 2], known=True), 1.5, MutualInformation())
    >>> round(pricing.price(np.zeros(3)).upper, 9)
    0.359884719

    With a cap for everyone columns keep that too:

    >>> from fractions import Fraction
    >>> from mechdesign.uncertainty.base import Floor
    >>> capped = CountPricing(pricing.ball, 1.5, MutualInformation(), Floor(Fraction(1, 2), for_everyone=True))
    >>> round(capped.price(np.zeros(3)).upper, 9)
    0.056633012
    """

    method = "subset-sum tables over the counts"

    @cached_property
    def _cone(self) -> CountedCone:
        return CountedCone.of_counts(self.ball, self.exp_epsilon, self.floor)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Symbols of equal count, lighter ones first."""
        return sorted(equal_groups(self.ball.weights), key=lambda group: self.ball.weights[group[0]])

    @cached_property
    def _two_values(self) -> list[TwoValues]:
        cone, massless = self._cone, 0 in self.ball.weights
        kinds = [] if cone.only_d else [TwoValues.of_kind_a(cone, self.utility, massless=massless)]
        return [*kinds, TwoValues.of_kind_d(cone, self.utility)] if cone.has_cd else kinds

    @cached_property
    def _between(self) -> list[OneFractional | None]:
        """Kind B for each group; symbols without mass are never fractional."""
        weights = self.ball.weights
        if self._cone.only_d:
            return [None] * len(self._groups)
        return [
            OneFractional.of_weight(self._cone, weights[group[0]], self.utility) if weights[group[0]] > 0 else None
            for group in self._groups
        ]

    @cached_property
    def _three_values(self) -> ThreeValues | None:
        if not self._cone.has_cd or self._cone.only_d:
            return None
        return ThreeValues(self._cone, self.utility)

    @cached_property
    def _capacity(self) -> int:
        """The greatest weight of a set in kinds A, B and D."""
        if self._cone.least and not self._cone.only_d:
            return self._cone.total
        greatest = 0 if self._cone.only_d else self._cone.weight_up_to(self._cone.heaviest_ab)
        return max(greatest, self._cone.weight_up_to(self._cone.heaviest_cd)) if self._cone.has_cd else greatest

    @cached_property
    def entries(self) -> int:
        """How many entries of tables a pricing fills at most, apart from kind C."""
        return self._additions * len(self._groups).bit_length() * self._capacity

    @cached_property
    def _additions(self) -> int:
        """How many additions make a table: symbols of equal count are added in parts."""
        return sum(len(parts(len(group))) for group in self._groups)

    @property
    def _few_blocks(self) -> int:
        """The most blocks of kind C without thoroughness: about as much work as filling a table."""
        of_table = self._additions * self._cone.total // _ENTRIES_OF_BLOCK
        return min(max(_FEW_BLOCKS, of_table), _MOST_BLOCKS)

    @property
    def affordable(self) -> bool:
        """Whether tables take reasonable time and memory: they grow with the total of the counts."""
        halvings, total = len(self._groups).bit_length(), self._cone.total
        if total > _MOST_ENTRIES:
            return False
        longest = self._capacity if self._three_values is None else total
        # Tables of floats, one for each halving and some for pricing, and one bit for each addition and entry.
        held = 8 * (halvings + 6) * longest + self._additions * longest // 8
        return self.entries <= _MOST_ENTRIES and held <= _MOST_BYTES

    def _price(self, multipliers: Floats, *, thorough: bool, deadline: float | None) -> Price:
        even, drift = averaged(multipliers, self._groups)
        groups = [ItemGroup(same, self.ball.weights[same[0]], float(even[same[0]])) for same in self._groups]
        sets = CheapestSets(self._cone.total if self._three_values else self._capacity)
        for group in groups:
            group.add_to(sets)
        found = _FoundColumns()
        for kind in self._two_values:
            self._price_two_values(kind, sets, even, found)
        deadline = deadline if thorough else None
        self._price_between(groups, sets, even, found, thorough=thorough, deadline=deadline)
        looked_at = self.entries
        if self._three_values is not None:
            covered = price_three_values(
                self._three_values,
                groups,
                sets,
                even,
                found.upper,
                most_cases=_MOST_CASES if thorough else _FEW_CASES,
                most_blocks=_MOST_BLOCKS if thorough else self._few_blocks,
                deadline=deadline,
            )
            found.upper = max(found.upper, covered.upper)
            found.columns += [column[:, None] for column in covered.columns]
        best = np.hstack([np.empty((self.ball.size, 0)), *found.columns])
        for same in self._groups:
            # Symbols of equal count are interchangeable: those of least given lambda get the greatest values.
            if len(same) > 1:
                best[sorted(same, key=multipliers.__getitem__)] = -np.sort(-best[same], axis=0)
        return Price(found.upper + drift, self.method, looked_at, best, thorough and not time_is_up(deadline))

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:  # noqa: ARG002 - of tables, none
        """Return no columns: exact pricing is as quick."""
        return np.empty((self.ball.size, 0))

    def _price_two_values(self, kind: TwoValues, sets: CheapestSets, multipliers: Floats, found: _FoundColumns) -> None:
        costs = kind.reduced_costs(sets.best, multipliers)
        found.upper = max(found.upper, float(costs.max()))
        weights = _peaks(costs, _PEAKS)
        chosen = sets.members_of_each(weights, self.ball.size)
        if weights:
            found.add(np.where(chosen, kind.on[weights], kind.off[weights]), float(costs[weights[0]]))

    def _price_between(
        self,
        groups: list[ItemGroup],
        sets: CheapestSets,
        multipliers: Floats,
        found: _FoundColumns,
        *,
        thorough: bool,
        deadline: float | None,
    ) -> None:
        """Price kind B with the table over all symbols first, and without a symbol where that matters."""
        kinds = {k: kind for k, kind in enumerate(self._between) if kind is not None}
        peaks = {k: kind.peak(sets.best, groups[k].cost, multipliers) for k, kind in kinds.items()}
        peaks = {k: peak for k, peak in peaks.items() if peak.cost > -np.inf}
        relaxed = np.full(len(groups), -np.inf)
        chosen = sets.members_of_each([peak.weight for peak in peaks.values()], self.ball.size)
        for members, (k, peak) in zip(chosen.T, peaks.items(), strict=True):
            free = [symbol for symbol in groups[k].items if not members[symbol]]
            if free:
                found.upper = max(found.upper, peak.cost)
                self._add_between(found, kinds[k], peak, np.flatnonzero(members).tolist(), free[0])
            else:
                relaxed[k] = peak.cost
        # If tables are small, each symbol's own table costs little, and its column may help a linear program.
        small = self.entries <= _SMALL_TABLES
        merits = relaxed.copy()
        if not small:
            merits[merits <= (found.reached if thorough else np.inf)] = -np.inf
        heaviest = self._cone.weight_up_to(self._cone.heaviest_ab)
        for k, table in leave_one_out(groups, merits, CheapestSets(heaviest)):
            if time_is_up(deadline):
                break
            peak = kinds[k].peak(table.best, groups[k].cost, multipliers)
            relaxed[k] = peak.cost
            if peak.cost > -np.inf:
                self._add_between(found, kinds[k], peak, table.members(peak.weight), groups[k].items[0])
            if not small:
                merits[merits <= found.reached] = -np.inf
        found.upper = max(found.upper, float(relaxed.max(initial=-np.inf)))

    def _add_between(
        self, found: _FoundColumns, kind: OneFractional, peak: PeakBetween, members: list[int], fractional: int
    ) -> None:
        v = np.zeros((self.ball.size, 1))
        v[members] = kind.top
        v[fractional] = kind.between[peak.weight - kind.first]
        found.add(kind.share * v + (1 - kind.share), peak.cost)


@dataclass
class _FoundColumns:
    """What pricing has found so far: a bound, the greatest reduced cost of a true column, columns."""

    upper: float = -np.inf
    reached: float = -np.inf
    columns: list[Floats] = field(default_factory=list)

    def add(self, columns: Floats, cost: float) -> None:
        """Take columns, shape (N, k), of which one has a reduced cost."""
        self.columns.append(columns)
        self.reached = max(self.reached, cost)


def _peaks(costs: Floats, most: int) -> list[int]:
    """Return the indices of the greatest local maxima."""
    padded = np.concatenate([[-np.inf], costs, [-np.inf]])
    local = np.flatnonzero((costs >= padded[:-2]) & (costs >= padded[2:]) & (costs > -np.inf))
    return [int(w) for w in local[np.argsort(-costs[local], kind="stable")[:most]]]
