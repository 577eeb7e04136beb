"""Best-first branch and bound over boxes of columns."""

from __future__ import annotations

import heapq
import math

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.pricing.branch_and_bound.columns import CLOSE, FoundColumns, climb
from mechdesign.optimize.pricing.branch_and_bound.program import EPS, OUTSIDE, Box, BoxProgram, Linear, whole_box
from mechdesign.optimize.pricing.price import Price, late
from mechdesign.utility import FInformation

METHOD = "branch and bound over boxes"
_INSIDE = 0.05  # of an interval: a split keeps that far from its ends
_WIDE = 8.0  # an interval of q whose ends have a greater ratio is split at their geometric mean
_THINNEST = 1e-9  # an interval below this is not split


class Search:
    """Best-first branch and bound for one vector of multipliers."""

    def __init__(self, program: BoxProgram, utility: FInformation, multipliers: Floats) -> None:
        self.program, self.utility, self.multipliers = program, utility, multipliers
        self.prior = program.prior
        self.found = FoundColumns(program.uncertainty, program.exp_epsilon, utility, multipliers)
        self.close = CLOSE + 1e-12 * float(np.abs(multipliers).sum())

    def run(self, target: float, most_nodes: int, deadline: float | None = None) -> Price:
        """Return the proved bound when it is good enough or the limit of boxes or of time is reached."""
        climb(self.program, self.found, deadline)
        root = whole_box(self.program)
        bound, root = self._bound(root, math.inf, deadline)
        waiting, nodes, closed = [(-bound, 0, root)], 1, -math.inf
        while waiting:
            enough = max(target, self.found.greatest + self.close)
            if -waiting[0][0] <= enough or nodes >= most_nodes or late(deadline):
                break
            negative, _, box = heapq.heappop(waiting)
            halves = self._halves(box)
            if not halves:
                closed = max(closed, -negative)
            for half in halves:
                bound, solved = self._bound(half, -negative, deadline)
                nodes += 1
                if bound <= max(target, self.found.greatest + self.close):
                    closed = max(closed, bound)
                else:
                    heapq.heappush(waiting, (-bound, nodes, solved))
        upper = max(closed, self.found.greatest, -waiting[0][0] if waiting else -math.inf)
        return Price(upper, METHOD, nodes, self.found.best())

    def _bound(self, box: Box, parent: float, deadline: float | None) -> tuple[float, Box]:
        """Return a proved bound of reduced costs in a box, no greater than its parent's, and the box as solved."""
        P = self.prior
        slack = 2 * (P.size + 4) * EPS
        least = max(box.least, float(P @ box.lower) * (1 - slack))
        most = min(box.most, float(P @ box.upper) * (1 + slack))
        if least > most or box.upper.max() < 1:
            # No column, or none that is a ray scaled to greatest entry 1.
            return -math.inf, box
        box = Box(box.lower, box.upper, least, most, box.point)
        level = self.found.greatest if math.isfinite(self.found.greatest) else 0.0
        above, point = self.program.maximum(self._relaxed(box, level), box, deadline)
        if point.max() > 0:
            self.found.keep(point)
        # G / q is the reduced cost above the level.
        bound = level + above / (least if above > 0 else most)
        bound += 4 * EPS * (abs(level) + abs(bound))
        box = Box(box.lower, box.upper, least, most, point)
        return (min(bound, parent) if bound < math.inf else parent), box

    def _perspective(self, x: Floats, q: Floats) -> Floats:
        """Return ``F(x, q) = q f(x / q)``, and 0 for symbols without mass."""
        u = np.where(self.prior > 0, x / q, 1.0)
        result: Floats = q * np.asarray(self.utility.f(u), dtype=float)
        return result

    def _chords(self, x: Floats, box: Box) -> tuple[Floats, Floats]:
        """Return intercepts and slopes of lines in q that are not below ``F(x, q)`` between the ends of q."""
        ends = np.array([[box.least], [box.most]])
        # A convex f is greatest at an end of an interval; u is known to a unit in the last place.
        first, last = np.maximum(self._perspective(x * (1 - 4 * EPS), ends), self._perspective(x * (1 + 4 * EPS), ends))
        width = box.most - box.least
        slopes = (last - first) / width if width > 0 else np.zeros_like(x)
        intercepts = (first if width > 0 else np.maximum(first, last)) - slopes * box.least
        sizes = np.abs(first) + np.abs(last) + np.abs(slopes) * box.most
        return intercepts + 16 * EPS * sizes, slopes

    def _relaxed(self, box: Box, level: float) -> Linear:
        """Return a function that is not below G in the box."""
        P, a, b = self.prior, box.lower, box.upper
        N = P.size
        at = np.array([a, b, np.zeros(N), np.ones(N)])
        pairs = [self._chords(x, box) for x in at]
        (c_a, d_a), (c_b, d_b) = pairs[0], pairs[1]
        likely = int(np.argmax(P))
        kappa = min(0.0, float(pairs[3][1][likely] - pairs[2][1][likely]))
        # Where an entry is fixed both ends are the same, and so is their difference: 0.
        width = np.where(b > a, b - a, 1.0)
        of_x = P * (c_b - c_a) / width
        delta = P * (d_b - d_a) / width
        rest = delta - kappa * P
        # x q is bounded from above where the rest is positive, from below elsewhere, in the way that is exact at
        # the end that the parent's point is nearer to.
        near_a = box.point - a <= b - box.point
        end = np.where(near_a, a, b)
        other = np.where((rest > 0) == near_a, box.most, box.least)
        # x q <= or >= end q + other x - end other
        slopes = of_x + rest * other - self.multipliers
        slope_of_q = float((P * d_a - delta * a + rest * end).sum()) - level
        constant = float((P * c_a - of_x * a - rest * end * other).sum())
        sizes = P * (np.abs(c_a) + np.abs(c_b) + np.abs(d_a) + np.abs(d_b)) + np.abs(of_x) * b
        sizes += (np.abs(delta) + np.abs(rest) + np.abs(kappa) * P) * (b + end) + np.abs(self.multipliers) * b
        # The difference quotients err by their rounding times the width, which is counted with their numerators.
        return Linear(constant, slopes, slope_of_q, -kappa, 4 * float(sizes.sum()) + abs(level))

    def _halves(self, box: Box) -> list[Box]:
        """Return the parts of a box that hold its rays, split where the relaxation loses most at its maximiser."""
        P, a, b, x = self.prior, box.lower, box.upper, box.point
        if x.max() < 1 - OUTSIDE:
            # All multiples of a column have the same reduced cost, so boxes along them would be split for ever.
            return [Box(_at(a, symbol), b, box.least, box.most, x) for symbol in np.flatnonzero(b == 1).tolist()]
        q = min(max(float(P @ x), box.least), box.most)
        width, span = b - a, box.most - box.least
        F_a, F_b, F_x = (self._perspective(y, np.array(q)) for y in (a, b, x))
        theta = (x - a) / np.where(width > 0, width, 1.0)
        of_x = P * ((1 - theta) * F_a + theta * F_b - F_x)
        (c_a, d_a), (c_b, d_b) = self._chords(a, box), self._chords(b, box)
        of_q = float(P @ ((1 - theta) * (c_a + d_a * q - F_a) + theta * (c_b + d_b * q - F_b)))
        # The greatest loss of McCormick's inequalities; the loss of the tangents is of the order of the chords' loss.
        of_products = np.abs(P * (d_b - d_a)) * np.minimum(theta, 1 - theta) * min(q - box.least, box.most - q)
        lost = np.where(width > _THINNEST, np.nan_to_num(of_x + of_products, posinf=1e300), -1.0)
        where = int(np.argmax(lost))
        by_q = span > _THINNEST * box.most
        if by_q and (np.nan_to_num(of_q, posinf=1e300) >= lost[where] or box.most > _WIDE * box.least):
            wide = box.most > _WIDE * box.least
            at = math.sqrt(box.least) * math.sqrt(box.most) if wide else _split(box.least, box.most, q)
            return [Box(a, b, box.least, at, x), Box(a, b, at, box.most, x)]
        if lost[where] < 0:
            return []
        at = _split(float(a[where]), float(b[where]), float(x[where]))
        return [Box(a, _at(b, where, at), box.least, box.most, x), Box(_at(a, where, at), b, box.least, box.most, x)]


def _at(ends: Floats, symbol: int, value: float = 1.0) -> Floats:
    changed = ends.copy()
    changed[symbol] = value
    return changed


def _split(low: float, high: float, at: float) -> float:
    """Return where to split an interval: at a point, but not too close to an end."""
    margin = _INSIDE * (high - low)
    return min(max(at, low + margin), high - margin)
