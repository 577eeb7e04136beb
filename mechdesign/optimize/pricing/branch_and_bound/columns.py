"""Columns of the cone that the search found, and steps that improve them."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.branch_and_bound.program import OUTSIDE, BoxProgram, Linear, whole_box
from mechdesign.optimize.pricing.price import late
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import FInformation

CLOSE = 2e-10
"""The least difference of reduced costs that matters to the search."""
_MOST_STEPS = 12
_MOST_KEPT = 60
_FLATTEST = 1e-6  # slopes are computed at this distance from zero at least, because they may be infinite at zero


@dataclass(eq=False)
class FoundColumns:
    """Columns of the cone with their reduced costs."""

    uncertainty: UncertaintySet
    exp_epsilon: float
    utility: FInformation
    multipliers: Floats
    greatest: float = -math.inf
    found: list[tuple[float, tuple[float, ...]]] = field(default_factory=list)

    def keep(self, x: Floats) -> tuple[float, Floats] | None:
        """Return the reduced cost and the column of a point of X, and keep it; None for one outside of X."""
        prior, most = self.uncertainty.prior, float(x.max())
        q = float(prior @ x)
        if not q > 0 or self.exp_epsilon * float(self.uncertainty.support(x[:, None])[0]) < most * (1 - OUTSIDE):
            return None
        column = x / q
        cost = float(self.utility.mu(column[:, None], prior)[0] - self.multipliers @ column)
        if math.isnan(cost):
            return None
        self.greatest = max(self.greatest, cost)
        kept = (cost, tuple(column.tolist()))
        if kept not in self.found:
            heapq.heappush(self.found, kept)
            if len(self.found) > _MOST_KEPT:
                heapq.heappop(self.found)
        return cost, column

    def best(self) -> Floats:
        """Return the columns kept, best first, shape (N, k)."""
        ordered = sorted(self.found, reverse=True)
        return np.array([column for _, column in ordered]).T.reshape(self.uncertainty.size, len(ordered))


def climb(program: BoxProgram, found: FoundColumns, deadline: float | None = None) -> None:
    """Improve columns by maximising the tangent of mu at them, from several starts."""
    N, P = program.size, program.prior
    whole = whole_box(program)
    order = np.argsort(found.multipliers / np.maximum(P, _FLATTEST), kind="stable")
    starts = [np.ones(N)]
    for place, symbol in enumerate(order):
        prefix = np.zeros(N)
        prefix[order[: place + 1]] = 1.0
        starts.append(prefix)
        alone = np.zeros(N)
        alone[symbol] = 1.0
        starts.append(alone)
    seen: set[bytes] = set()
    for start in starts:
        # A start outside of X gives only a direction, in which the program finds a point of X.
        x, level = start, -math.inf
        for _ in range(_MOST_STEPS):
            kept = found.keep(x)
            if kept is None:
                slopes, cost = _tangent(found.utility, x / float(P @ x) if P @ x > 0 else x, P), 0.0
            else:
                cost, column = kept
                key = column.round(9).tobytes()
                if key in seen or cost <= level + CLOSE:
                    break
                seen.add(key)
                level = cost
                slopes = _tangent(found.utility, column, P)
            linear = Linear(0.0, slopes - found.multipliers - cost * P, 0.0, 0.0, 0.0)
            _, x = program.maximum(linear, whole, deadline)
            if late(deadline):
                return
            if not x.max() > 0:
                break
            x = x / x.max()


def _tangent(utility: FInformation, column: Floats, prior: Floats) -> Floats:
    """Return about the gradient of mu at a column with ``<P, v> = 1``, shape (N,)."""
    u = np.maximum(column, _FLATTEST)
    step = _FLATTEST * u
    f = np.asarray(utility.f(u), dtype=float)
    if utility.derivative is None:
        slopes = (np.asarray(utility.f(u + step), dtype=float) - f) / step
    else:
        slopes = np.asarray(utility.derivative(u), dtype=float)
    gradient: Floats = prior * (float(prior @ f) - float(prior @ (u * slopes)) + slopes)
    return np.nan_to_num(np.where(prior > 0, gradient, 0.0))
