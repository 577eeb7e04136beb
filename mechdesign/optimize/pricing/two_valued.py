"""Columns of two values, or of one fractional value, priced through the mass of the symbols that have each value.

The f-information of a column with ``<P, v> = 1`` that has value ``u_k`` on a set of mass ``p_k`` is
``sum_k p_k f(u_k)``: it depends on the sets through their masses alone. What is computed here is rounded up,
so that bounds made of it hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.tolerances import RAY_EDGE
from mechdesign.optimize.capped_cone import raised_power
from mechdesign.optimize.l1_cone import L1Cone, greatest_near, numbers_of
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import FInformation
from mechdesign.utility.mixed_information import mixed_utility

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class CountedCone(L1Cone[float]):
    """The column cone of a ball around a prior of integer weights.

    Attributes
    ----------
    total : int
        Sum of the weights: a set of weight w has estimated mass w / total.

    Examples
    --------
    >>> cone = CountedCone(np.array([0.5, 0.3, 0.2]), 0.0, 2.0, total=10)
    >>> cone.weight_up_to(cone.heaviest_ab), cone.weight_from(0.21)
    (5, 3)
    """

    total: int = field(kw_only=True)

    @classmethod
    def of_counts(cls, ball: Ball, exp_epsilon: float, floor: Floor = NO_FLOOR) -> CountedCone:
        """Return the cone of a ball whose weights are counts, and whose cap a floor asks for."""
        power, least = raised_power(exp_epsilon, floor)
        numbers = numbers_of(ball)
        return CountedCone(
            ball.prior, e=power, within_simplex=ball.within_simplex, total=sum(ball.weights), least=least, **numbers
        )

    def weight_up_to(self, mass: float) -> int:
        """Return the greatest weight of a set of at most a mass; within rounding errors, the greater weight."""
        return min(int(np.floor(self.total * (mass + RAY_EDGE))), self.total)

    def weight_from(self, mass: float) -> int:
        """Return the least weight of a set of at least a mass; within rounding errors, the smaller weight."""
        return max(int(np.ceil(self.total * (mass - RAY_EDGE))), 0)


def sizes_of_sets(costs: Floats, multipliers: Floats) -> Floats:
    """Return bounds of ``sum over S of |lambda_i|`` for sets of given lambda(S), 0 where there is no set.

    Sums over S are rounded in proportion to them.
    """
    result: Floats = np.where(np.isinf(costs), 0.0, np.abs(costs)) + 2 * float(np.maximum(-multipliers, 0.0).sum())
    return result


@dataclass(frozen=True)
class TwoValues:
    """Columns with one value on a set S and another off it, for every weight of S from 0 on.

    Attributes
    ----------
    on, off : array, shape (W,)
        The values, scaled so that ``<P, v> = 1``; ``on > off``.
    utility : array, shape (W,)
        mu, rounded up.
    on_error, off_error : array, shape (W,)
        How far the values may be from those of a column of the cone.
    """

    on: Floats
    off: Floats
    utility: Floats
    on_error: Floats
    off_error: Floats

    @classmethod
    def of_kind_a(cls, cone: CountedCone, utility: FInformation, *, massless: bool) -> TwoValues:
        """Return ``c`` on S and ``m = (1 - c P(S)) / (1 - P(S) + u)`` off it, while ``m >= 0``; with a cap 0 beyond.

        S has all mass only where symbols without mass are left off it, which no set with u = 0 has.
        """
        last = cone.total - (not massless)
        heaviest = min(cone.weight_up_to(cone.heaviest_ab), last)
        weights = np.arange((last if cone.least else heaviest) + 1)
        on_mass, off_mass = weights / cone.total, (cone.total - weights) / cone.total
        off = np.clip(cone.off_a(on_mass, off_mass), 0.0, min(cone.c, 1.0))
        on = np.full(off.shape, cone.c)
        # m is between 0 and 1, however great its error.
        error = np.where(weights <= heaviest, np.minimum(8 * EPS * (1 + 1 / (off_mass + cone.u)), 1.0), 0.0)
        return cls._scaled(on, off, error, cone, utility)

    @classmethod
    def of_kind_d(cls, cone: CountedCone, utility: FInformation) -> TwoValues:
        """Return ``e`` on S and 1 off it, while ``P(S) <= t``."""
        on = np.full(cone.weight_up_to(min(cone.heaviest_cd, 1.0)) + 1, cone.e)
        return cls._scaled(on, np.ones(on.shape), np.zeros(on.shape), cone, utility)

    @classmethod
    def _scaled(cls, on: Floats, off: Floats, off_error: Floats, cone: CountedCone, utility: FInformation) -> TwoValues:
        """Return columns from values that are not scaled; the greater one is known to a few units in the last place."""
        weights = np.arange(on.size)
        on_mass, off_mass = weights / cone.total, (cone.total - weights) / cone.total
        off = (1 - cone.least) * off + cone.least * on
        scale = on_mass * on + off_mass * off
        relative = 16 * EPS + off_mass * off_error / scale
        on, off = on / scale, off / scale
        on_error, off_error = relative * on, relative * off + off_error / scale
        on_f, off_f = greatest_near(utility, on, on_error), greatest_near(utility, off, off_error)
        rounding = 32 * EPS * (on_mass * np.abs(on_f) + off_mass * np.abs(off_f))
        return cls(on, off, on_mass * on_f + off_mass * off_f + rounding, on_error, off_error)

    def reduced_costs(self, cheapest: Floats, multipliers: Floats) -> Floats:
        """Return upper bounds of ``mu(v) - <lambda, v>``, -inf where no set has the weight, shape (W,).

        Parameters
        ----------
        cheapest : array, shape (at least W,)
            The least lambda(S) for every weight.
        multipliers : array, shape (N,)
            lambda.
        """
        costs = cheapest[: self.on.size]
        of_sums = (multipliers.size + 16) * EPS
        slack = sizes_of_sets(costs, multipliers) * (self.on_error + of_sums * self.on)
        slack += np.abs(multipliers).sum() * (self.off_error + of_sums * self.off)
        missing = np.isinf(costs)
        # The values may be the same to the last place, and 0 times infinity is NaN.
        on_costs = (self.on - self.off) * np.where(missing, 0.0, costs)
        result = as_bound(self.utility - self.off * multipliers.sum() - on_costs + slack)
        return np.where(missing, -np.inf, result)


@dataclass(frozen=True)
class PeakBetween:
    """Where the bound of the reduced costs of `OneFractional` is greatest.

    Attributes
    ----------
    weight : int
        Of S.
    cost : float
        The bound; -inf where S has no weight that allows the fractional symbol.
    """

    weight: int
    cost: float


@dataclass(frozen=True)
class OneFractional:
    """Columns of kind B whose fractional symbol f has a given weight, for every weight of S that allows it.

    Attributes
    ----------
    first : int
        The least weight of S.
    top : float
        c, the value on S.
    between : array, shape (W,)
        x, the value at f.
    utility : array, shape (W,)
        mu, rounded up.
    error : float
        How far x may be from that of a column of the cone.
    share : float
        Columns are ``share u + 1 - share`` for a column u with these values and 0 elsewhere.
    """

    first: int
    top: float
    between: Floats
    utility: Floats
    error: float
    share: float = 1.0

    @classmethod
    def of_weight(cls, cone: CountedCone, weight: int, utility: FInformation) -> OneFractional:
        """Return ``x = (1 - c P(S)) / P_f`` while ``0 <= x <= c``, for a symbol of positive weight."""
        c, total = cone.c, cone.total
        first = cone.weight_from(max(cone.heaviest_ab - weight / total, 0.0))
        weights = np.arange(first, min(cone.weight_up_to(cone.heaviest_ab), total - weight) + 1)
        mass, own, rest = weights / total, weight / total, (total - weight - weights) / total
        between = np.clip(cone.between_b(mass, own), 0.0, c)
        error = 16 * EPS / own
        share = cone.share
        utility = utility if share == 1 else mixed_utility(utility, share)
        on_f = float(greatest_near(utility, np.array([c]), 8 * EPS * c)[0])
        own_f = greatest_near(utility, between, error)
        zero_f = float(greatest_near(utility, np.zeros(1), 0.0)[0])
        rounding = 32 * EPS * (mass * abs(on_f) + own * np.abs(own_f) + rest * abs(zero_f))
        return cls(first, c, between, mass * on_f + own * own_f + rest * zero_f + rounding, error, share)

    def reduced_costs(self, cheapest: Floats, multiplier: float, multipliers: Floats) -> Floats:
        """Return upper bounds of ``mu(v) - <lambda, v>``, shape (W,).

        Parameters
        ----------
        cheapest : array
            The least lambda(S) for every weight.
        multiplier : float
            That of the fractional symbol.
        multipliers : array, shape (N,)
            lambda.
        """
        costs = cheapest[self.first : self.first + self.between.size]
        of_sums = (multipliers.size + 16) * EPS
        slack = abs(multiplier) * (self.error + of_sums * self.between)
        slack = slack + sizes_of_sets(costs, multipliers) * of_sums * self.top
        missing = np.isinf(costs)
        on_costs = self.top * np.where(missing, 0.0, costs) + self.between * multiplier
        off_costs = (1 - self.share) * multipliers.sum()
        slack = slack + (1 - self.share) * of_sums * np.abs(multipliers).sum()
        result = as_bound(self.utility - self.share * on_costs - off_costs + slack)
        return np.where(missing, -np.inf, result)

    def peak(self, cheapest: Floats, multiplier: float, multipliers: Floats) -> PeakBetween:
        """Return the greatest of the reduced costs, likewise."""
        costs = self.reduced_costs(cheapest, multiplier, multipliers)
        if costs.size == 0:
            return PeakBetween(self.first, -np.inf)
        best = int(np.argmax(costs))
        return PeakBetween(self.first + best, float(costs[best]))
