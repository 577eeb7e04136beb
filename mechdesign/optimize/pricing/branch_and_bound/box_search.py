"""Best-first branch and bound over boxes of columns, once for each vector of multipliers."""

from __future__ import annotations

import heapq
import math
from dataclasses import replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.pricing.branch_and_bound.box_program import (
    CLOSE,
    EPS,
    OUTSIDE,
    BoxProgram,
    ColumnBox,
    FoundColumns,
    Linear,
    climb,
    whole_box,
)
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.start import ball_around, start_columns
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.utility import FInformation

METHOD = "branch and bound over boxes"
_INSIDE = 0.05  # of an interval: a split keeps that far from its ends
_WIDE = 8.0  # an interval of q whose ends have a greater ratio is split at their geometric mean
_THINNEST = 1e-9  # an interval below this is not split
MOST_BOXES = 20_000
FEW_BOXES = 500


class BoxSearch:
    """Best-first branch and bound for one vector of multipliers."""

    def __init__(self, program: BoxProgram, utility: FInformation, multipliers: Floats) -> None:
        self.program, self.utility, self.multipliers = program, utility, multipliers
        self.prior = program.prior
        self.found = FoundColumns(program.uncertainty, program.exp_epsilon, utility, multipliers, program.least)
        self.close = CLOSE + 1e-12 * float(np.abs(multipliers).sum())

    def run(self, target: float, most_nodes: int, deadline: float | None = None) -> Price:
        """Return the proved bound when it is good enough or the limit of boxes or of time is reached."""
        climb(self.program, self.found, deadline)
        root = whole_box(self.program)
        bound, root = self._bound(root, math.inf, deadline)
        waiting, nodes, closed = [(-bound, 0, root)], 1, -math.inf
        while waiting:
            enough = max(target, self.found.greatest + self.close)
            if -waiting[0][0] <= enough or nodes >= most_nodes or time_is_up(deadline):
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

    def _bound(self, box: ColumnBox, parent: float, deadline: float | None) -> tuple[float, ColumnBox]:
        """Return a proved bound of reduced costs in a box, no greater than its parent's, and the box as solved."""
        P = self.prior
        slack = 2 * (P.size + 4) * EPS
        least = max(box.least, float(P @ box.lower) * (1 - slack))
        most = min(box.most, float(P @ box.upper) * (1 + slack))
        if least > most or box.upper.max() < 1:
            # No column, or none that is a ray scaled to greatest entry 1.
            return -math.inf, box
        box = ColumnBox(box.lower, box.upper, least, most, box.point)
        level = self.found.greatest if math.isfinite(self.found.greatest) else 0.0
        above, point = self.program.maximum(self._relaxed(box, level), box, deadline)
        if point.max() > 0:
            self.found.keep(point)
        # G / q is the reduced cost above the level.
        bound = level + above / (least if above > 0 else most)
        bound += 4 * EPS * (abs(level) + abs(bound))
        box = ColumnBox(box.lower, box.upper, least, most, point)
        return (min(bound, parent) if bound < math.inf else parent), box

    def _perspective(self, x: Floats, q: Floats) -> Floats:
        """Return ``F(x, q) = q f(x / q)``, and 0 for symbols without mass."""
        u = np.where(self.prior > 0, x / q, 1.0)
        result: Floats = q * np.asarray(self.utility.f(u), dtype=float)
        return result

    def _chords(self, x: Floats, box: ColumnBox) -> tuple[Floats, Floats]:
        """Return intercepts and slopes of lines in q that are not below ``F(x, q)`` between the ends of q."""
        ends = np.array([[box.least], [box.most]])
        # A convex f is greatest at an end of an interval; u is known to a unit in the last place.
        first, last = np.maximum(self._perspective(x * (1 - 4 * EPS), ends), self._perspective(x * (1 + 4 * EPS), ends))
        width = box.most - box.least
        slopes = (last - first) / width if width > 0 else np.zeros_like(x)
        intercepts = (first if width > 0 else np.maximum(first, last)) - slopes * box.least
        sizes = np.abs(first) + np.abs(last) + np.abs(slopes) * box.most
        return intercepts + 16 * EPS * sizes, slopes

    def _relaxed(self, box: ColumnBox, level: float) -> Linear:
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

    def _halves(self, box: ColumnBox) -> list[ColumnBox]:
        """Return the parts of a box that hold its rays, split where the relaxation loses most at its maximiser."""
        P, a, b, x = self.prior, box.lower, box.upper, box.point
        if x.max() < 1 - OUTSIDE:
            # All multiples of a column have the same reduced cost, so boxes along them would be split for ever.
            return [ColumnBox(_at(a, symbol), b, box.least, box.most, x) for symbol in np.flatnonzero(b == 1).tolist()]
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
            return [ColumnBox(a, b, box.least, at, x), ColumnBox(a, b, at, box.most, x)]
        if lost[where] < 0:
            return []
        at = _split(float(a[where]), float(b[where]), float(x[where]))
        return [
            ColumnBox(a, _at(b, where, at), box.least, box.most, x),
            ColumnBox(_at(a, where, at), b, box.least, box.most, x),
        ]


def _at(ends: Floats, symbol: int, value: float = 1.0) -> Floats:
    changed = ends.copy()
    changed[symbol] = value
    return changed


def _split(low: float, high: float, at: float) -> float:
    """Return where to split an interval: at a point, but not too close to an end."""
    margin = _INSIDE * (high - low)
    return min(max(at, low + margin), high - margin)


def price_by_boxes(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: FInformation,
    multipliers: Floats,
    *,
    least: float = 0.0,
    target: float = -math.inf,
    most_nodes: int = MOST_BOXES,
    deadline: float | None = None,
) -> Price:
    """Return an upper bound of the reduced cost of any column with ``<P, v> = 1``, rounded outward.

    Parameters
    ----------
    uncertainty, exp_epsilon, utility
        As for `BoxPricing`.
    multipliers : array, shape (N,)
        lambda.
    least : float
        As for `BoxPricing`.
    target : float
        A bound that is good enough: the search ends when it is proved. Without a target the search ends at the greatest
        reduced cost.
    most_nodes : int
        The most boxes. The bound holds wherever the search ends, but is greater if it ends early.
    deadline : float, optional
        A time of `time.monotonic` at which the search ends.

    Returns
    -------
    Price
        The same for the same arguments, unless a deadline came first; with the best columns found.

    Examples
    --------
    >>> from mechdesign import ConvexHull, MutualInformation
    >>> hull = ConvexHull([["0.5", "0.3", "0.2"], ["0.4", "0.2", "0.4"]])
    >>> price = price_by_boxes(hull, 1.5, MutualInformation(), np.array([0.1, 0.1, 0.1]))
    >>> round(price.upper, 8)
    0.02965534
    """
    lam = np.asarray(multipliers, dtype=float)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if not np.isfinite(np.abs(lam).sum()):
            return Price(math.inf, "multipliers beyond floats", 0)
        return BoxSearch(BoxProgram(uncertainty, exp_epsilon, least), utility, lam).run(target, most_nodes, deadline)


class BoxPricing:
    """Exact pricing over any set for a column generation that lists no rays (`Pricing`).

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon, utility
        As for `BallPricing`.
    least : float
        exp(-cap), rounded down, or 0 without a cap.
    target : float
        As for `price_by_boxes`.

    Examples
    --------
    >>> from mechdesign import ConvexHull, MutualInformation
    >>> oracle = BoxPricing(ConvexHull([["0.5", "0.5"], ["0.4", "0.6"]]), 1.5, MutualInformation())
    >>> oracle.start()[:, 0]
    array([1., 1.])
    >>> multipliers = np.array([0.1, 0.2])
    >>> best = oracle.guess(multipliers)[:, 0]
    >>> reached = MutualInformation().mu(best[:, None], [0.45, 0.55])[0] - multipliers @ best
    >>> bool(0 <= oracle.price(multipliers).upper - reached <= 1e-9)
    True
    """

    def __init__(
        self,
        uncertainty: UncertaintySet,
        exp_epsilon: float,
        utility: FInformation,
        least: float = 0.0,
        target: float = -math.inf,
    ) -> None:
        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.least = least
        self.target = target
        self.utility = utility

    def start(self, deadline: float | None = None) -> Floats:
        """Return (1,...,1), first columns of a ball that holds the set, and good ones, shape (N, k), ``<P, v> = 1``."""
        known = self.uncertainty
        ball = ball_around(known) if self.least == 0 else L1Ball(known.center, 2)
        first = start_columns(ball, self.exp_epsilon, self.utility)[:, 1:]
        return np.hstack([np.ones((known.size, 1)), first, self.guess(np.zeros(known.size), deadline)])

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.uncertainty.size)]

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:
        """Return columns that no small step improves, best first, shape (N, k), with ``<P, v> = 1``."""
        program = BoxProgram(self.uncertainty, self.exp_epsilon, self.least)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            lam = np.asarray(multipliers, dtype=float)
            found = FoundColumns(self.uncertainty, self.exp_epsilon, self.utility, lam, self.least)
            climb(program, found, deadline)
        return found.best()

    @property
    def method(self) -> str:
        """Its name, for people."""
        return METHOD

    def price(self, multipliers: Floats, *, thorough: bool = True, deadline: float | None = None) -> Price:
        """Return `price_by_boxes`, of few boxes unless asked to be thorough."""
        most = MOST_BOXES if thorough else FEW_BOXES
        price = price_by_boxes(
            self.uncertainty,
            self.exp_epsilon,
            self.utility,
            multipliers,
            least=self.least,
            target=self.target,
            most_nodes=most,
            deadline=deadline,
        )
        return replace(price, whole=thorough and not time_is_up(deadline))
