"""Kind B of the extreme rays with any fractional symbol that is light, near the fractional knapsack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.optimize.pricing.envelope import Envelope
from mechdesign.optimize.pricing.half_enumeration import EnumerationEffort, Indices, Masks, Window, enumerate_sets
from mechdesign.optimize.pricing.knapsack.curve import KindBAt
from mechdesign.optimize.pricing.knapsack.kind import (
    INCOMPLETE,
    NOTHING,
    Batch,
    Choice,
    Kind,
    KindPeak,
    PricedCone,
    Relaxation,
)

_SHARES = np.concatenate([[0.0], np.geomspace(1e-12, 0.5, 96)])


class KindB(Kind):
    """``c`` on S and x at a fractional symbol f, which may be any symbol not heavier than 1/c.

    With x near 0 the mass of S is just below 1/c, and with x near c that of S and f together just above. So the sets
    T of mass about 1/c hold the supports of all columns above a level, up to their fractional symbols.
    """

    def __init__(self, priced: PricedCone, choice: Choice) -> None:
        super().__init__(priced, choice)
        multipliers, allowed, forced = priced.multipliers, choice.allowed, choice.forced
        self.envelope = Envelope.of(self.cone.P, multipliers, allowed, forced)
        c, unit = self.cone.c, priced.unit
        self.mass = self.cone.heaviest_ab
        masses = self.envelope.masses
        self.empty = bool(masses[-1] < self.mass - unit or masses[0] > self.mass + unit)
        self.slope = self.envelope.slope_at(self.mass)
        self.against = multipliers - self.slope * self.cone.P
        self.zero = float(priced.f(0.0)[0])
        self.top = float(priced.f(c, unit * c)[0])
        chosen = np.where(forced, self.against, np.minimum(np.where(allowed, self.against, 0.0), 0.0)).sum()
        self.rounding = 4 * unit * (1 + abs(self.top) + abs(self.zero) + c * (priced.size + abs(self.slope)))
        bound = self.zero + (self.top - self.zero) / c - self.slope - c * float(chosen) + self.rounding
        self.bound = float(as_bound(bound))

    def relaxation(self, floor: float, effort: EnumerationEffort) -> Relaxation:  # noqa: ARG002 - always quick
        """Return the bound at mass 1/c."""
        return Relaxation(floor if self.empty else max(floor, self.bound), None)

    def prefixes(self) -> Iterator[Batch]:
        """Yield the columns of sets of mass about 1/c."""
        if not self.empty:
            yield self._batch(self.sets_near(self.envelope, self.mass))

    def neighbours(self, peak: KindPeak | None) -> Iterator[Batch]:  # noqa: ARG002 - the peak is always at mass 1/c
        """Yield no columns: `prefixes` has yielded those near the peak."""
        yield from ()

    def split(self, peak: KindPeak | None) -> list[list[Kind]]:  # noqa: ARG002 - the peak is always at mass 1/c
        """Return the columns with the symbol at mass 1/c outside of S, in S, and fractional."""
        if self.empty or self.envelope.order.size == 0:
            return []
        k = int(np.searchsorted(self.envelope.masses, self.mass)) - 1
        symbol = int(self.envelope.order[min(max(k, 0), self.envelope.order.size - 1)])
        without, holding = self.choice.without(symbol), self.choice.holding(symbol)
        return [[KindB(self.priced, without), KindB(self.priced, holding), KindBAt(self.priced, without, symbol)]]

    def columns_above(self, level: float, effort: EnumerationEffort) -> Iterator[Batch]:
        """Yield the columns above a level, from sets whose mass is in a window about 1/c."""
        if self.empty or self.bound - level <= 0:
            return
        window = self._window(self.bound - level)
        if window is None:
            yield INCOMPLETE
            return
        sets = enumerate_sets(window, self.choice.groups, self.cone.P, effort)
        yield from self.batches(sets, lambda members, _: self._batch(members))

    def _window(self, budget: float) -> Window | None:
        """Return the sets T whose columns lose at most a budget against the bound; None where f is infinite."""
        P, c, unit = self.cone.P, self.cone.c, self.priced.unit
        likely = np.flatnonzero(self.choice.allowed & ~self.choice.forced & (P > 0))
        own, against = P[likely][:, None], self.against[likely][:, None]
        # phi_f(x) = P_f f(x) - x (lambda_f - slope P_f) is convex; shares of c from either end, 0 to 1/2.
        shares = np.concatenate([_SHARES, 1 - _SHARES[-2::-1]])
        rests = np.concatenate([1 - _SHARES, _SHARES[-2::-1]])
        phi = own * self.priced.f(c * shares) - c * shares * (against + own * (self.top - self.zero) / c)
        if not np.isfinite(phi).all():
            return None
        # The bound already has the chord from f(0) to f(c): `against` alone decides where the slope wants a symbol.
        loss_out, loss_in = c * np.maximum(-against, 0.0), c * np.maximum(against, 0.0)
        split = np.argmin(phi, axis=1)[:, None]
        at = np.arange(shares.size)
        slack = 2 * self.rounding
        near = (phi[:, :1] - phi <= budget - loss_out + slack) & (at <= split)
        last = np.where(near.any(axis=1), shares.size - 1 - np.argmax(near[:, ::-1], axis=1), -1)
        below = np.where(last >= 0, shares[np.minimum(last + 1, shares.size - 1)], 0.0)
        near = (phi[:, -1:] - phi <= budget - loss_in + slack) & (at >= split)
        first = np.where(near.any(axis=1), np.argmax(near, axis=1), shares.size)
        above = np.where(first < shares.size, rests[np.maximum(first - 1, 0)], 0.0)
        low = self.mass - float((below * P[likely]).max(initial=0.0))
        high = self.mass + float((above * P[likely]).max(initial=0.0))
        losses = self.choice.losses(self.against)
        return Window(low - 4 * unit, high + 4 * unit, self.mass, (budget + slack) / c, losses)

    def _batch(self, members: Masks) -> Batch:
        """Return the best column of each set T: with a symbol outside raised, or one inside lowered."""
        P, multipliers, c, unit = self.cone.P, self.priced.multipliers, self.cone.c, self.priced.unit
        likely = np.flatnonzero(P > 0)
        own, inside = P[likely], members[:, likely]
        mass = (members @ P)[:, None] - inside * own
        cost = (members @ multipliers)[:, None] - inside * multipliers[likely]
        between = self.cone.between_b(mass, own)
        error = 2 * unit / own
        allowed = (between >= -error) & (between <= c + error)
        rows, columns = np.nonzero(allowed)
        if rows.size == 0:
            return NOTHING
        mass, cost = mass[rows, columns], cost[rows, columns]
        between, own, error = np.clip(between[rows, columns], 0.0, c), own[columns], error[columns]
        error = np.minimum(error, c)  # x and what is computed of it are between 0 and c
        multiplier = multipliers[likely][columns]
        common = mass * self.top + (1 - mass - own) * self.zero - c * cost - between * multiplier
        costs = common + own * np.asarray(self.priced.utility.f(between), dtype=float)
        uppers = common + own * self.priced.f(between, error) + np.abs(multiplier) * error + self.rounding
        # One column of each set is enough, because the others differ little from it.
        ranked = np.lexsort((-costs, rows))
        first = ranked[np.concatenate([[True], np.diff(rows[ranked]) > 0])]

        def build(which: Indices) -> Floats:
            chosen = first[which]
            built = np.where(members[rows[chosen]].T, c, 0.0)
            built[likely[columns[chosen]], np.arange(chosen.size)] = between[chosen]
            result: Floats = built / (P @ built)
            return result

        return Batch(costs[first], float(as_bound(uppers).max()), build, rows.size)
