"""Prices of separable quadratic forms over the column cone of an l1 ball with many symbols: nothing is listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.caps import greatest_entries, price_in_box
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.one_between import OneBetween
from mechdesign.optimize.estimation.three_levels import ThreeLevels
from mechdesign.optimize.estimation.weight_tables import TwoLevels, levels_a, levels_d
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.pricing.price import Price
from mechdesign.uncertainty import L1Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor

_TABLES = 96  # of each of kinds A and D
_ENTRIES = 4e8  # of tables for kind C
_NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class SeparablePricing:
    """Bounds ``(v - 1)' Theta (v - 1) - <lambda, v>`` over all extreme rays of the cone of an l1 ball.

    Theta is ``diag(d) + B 1 1'`` with B at most 0. Each kind of the extreme rays has its own bound: tables over the
    weights of sets for A, B and D, and cases for C. The least of these bounds and that of a box around the cone counts.
    If the prior is not a vector of counts of a moderate total, the weights are rounded, and the bounds cover that.

    Of a ball with a cap the cone for P alone is priced too: near epsilon the cap leaves hardly any difference, and that
    cone has no kind C. Its columns are all of those of the ball and more, so that its bound of the error holds for the
    ball, though a form that is not convex may be greater at a ray of the ball than at all rays of the larger cone.

    Attributes
    ----------
    ball : L1Ball
        Of any size.
    exp_epsilon : float
        exp(epsilon), above 1.
    floor : Floor
        A cap for everyone, if there is one.
    work : float
        How many times the usual number of cases of kind C are divided at most.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> pricing = SeparablePricing(L1Ball.from_counts([5, 3, 2], known=True), 1.5)
    >>> round(pricing.price(QuadraticForm(np.ones(3)), np.zeros(3)).upper, 9)
    1.41
    """

    ball: L1Ball
    exp_epsilon: float
    floor: Floor = NO_FLOOR
    work: float = 1

    method = "tables over the weights of sets, kind by kind"

    @cached_property
    def cone(self) -> L1Cone[float]:
        """The cone."""
        return L1Cone.of(self.ball, self.exp_epsilon, self.floor)

    @cached_property
    def limits(self) -> Floats:
        """The greatest entry that a column with ``<P, v> = 1`` may have at each symbol."""
        return greatest_entries(self.ball.prior, self.exp_epsilon, self.floor)

    @cached_property
    def _symbols(self) -> CountedSymbols:
        return CountedSymbols.of(self.ball)

    def _two_levels(self, cone: L1Cone[float]) -> list[TwoLevels]:
        symbols = self._symbols
        most = 1.0 if cone.least else min(cone.heaviest_ab, 1.0)
        kinds = [] if cone.only_d else [TwoLevels(symbols, cone.P, levels_a(cone), most)]
        if cone.has_cd:
            kinds.append(TwoLevels(symbols, cone.P, levels_d(cone), min(cone.heaviest_cd, 1.0)))
        return kinds

    def price(
        self,
        form: QuadraticForm,
        multipliers: Floats,
        wanted: int = 0,
        near: float | None = None,
        deadline: float | None = None,
    ) -> Price:
        """Return an upper bound over all extreme rays with ``<P, v> = 1``, rounded up, and columns of great values.

        The extreme rays are those of the cone, or of the cone for P alone where its bound is less.

        Parameters
        ----------
        form : QuadraticForm
            Theta; the bound is infinite if it is not separable, or its common number is above 0.
        multipliers : array, shape (N,)
            lambda.
        wanted : int
            How many columns to return at most.
        near : float, optional
            Bounds of this relative distance from what columns reach are close enough, and less work is done; by
            default as close as this pricing gets.
        deadline : float, optional
            A time of `time.monotonic` from which on bounds stay as they are, or are those of the box.
        """
        in_box = price_in_box(form, multipliers, self.limits)
        if not form.separable or form.common > 0:
            return in_box
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = self._by_kinds(self.cone, form, multipliers, near, deadline)
            if near is None and self.has_wider and not time_is_up(deadline):
                wider = self._by_kinds(replace(self.cone, t=0.0, u=0.0), form, multipliers, near, deadline)
                found.upper, found.looked_at = min(found.upper, wider.upper), found.looked_at + wider.looked_at
        columns = np.array(found.columns).T if found.columns else np.empty((self.ball.size, 0))
        values = form.values(columns - 1) - multipliers @ columns
        best = columns[:, np.argsort(-values, kind="stable")[:wanted]]
        if in_box.upper <= found.upper:
            return Price(in_box.upper, in_box.method, in_box.columns, best)
        return Price(found.upper, self.method, found.looked_at, best)

    @property
    def has_wider(self) -> bool:
        """Whether the cone for P alone is wider, and near this one where the cap is near epsilon."""
        return self.cone.least > 0 and self.cone.t > 0

    def _by_kinds(
        self,
        cone: L1Cone[float],
        form: QuadraticForm,
        multipliers: Floats,
        near: float | None,
        deadline: float | None,
    ) -> Found:
        found = Found(form, multipliers)
        work = self.work * (_ENTRIES if near is None or form.common < 0 else _ENTRIES / 4)

        def room() -> float:
            total = abs(float(multipliers.sum()) + max(found.upper, found.reached))
            return (_NEAR if near is None else near) * total if np.isfinite(total) else 0.0

        if not cone.only_d:
            OneBetween(self._symbols, cone).price(form, multipliers, found, room, deadline)
        for kind in self._two_levels(cone):
            kind.price(form, multipliers, found, _TABLES, room(), deadline)
        if cone.has_cd and not cone.only_d:
            ThreeLevels(self._symbols, cone).price(form, multipliers, found, work, room(), deadline)
        return found
