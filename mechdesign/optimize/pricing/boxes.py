"""Exact pricing of f-informations by branch and bound, where there are too many rays to list.

Scaled to ``x = v / max v`` the cone with ``max x = 1`` lies in ``X = { x in [0,1]^N : h(x) >= 1/e }``, which lies in
the cone. With ``q = <P, x>`` the reduced cost of the column x / q is ``G(x) / q`` above a level r, where

    G(x) = sum_i P_i F(x_i, q) - <lambda, x> - r q,    F(a, q) = q f(a / q).

F is jointly convex. On a box ``a <= x <= b``, ``q0 <= q <= q1`` it is at most the chord in x of the chords in q
at both ends, which is bilinear: it has terms in x_i q. Their sum is ``kappa <P, x> q = kappa q^2``, bounded by
tangents because kappa <= 0, plus what coordinates that were branched on differ from that, bounded by McCormick's
inequalities. A linear program over X then bounds G. Where every x_i is at an end of its interval, and rays are 0
or 1 at most symbols, nothing is lost by the chords in x; boxes are split where most is lost.

The program's solution is not believed: for any weights y >= 0, rho and any prior Q of the set,
``y (<Q, x> - 1/e) >= 0`` and ``rho (<P, x> - q) = 0``, so that a linear function of x and q bounds G, whose greatest
value over the box is a sum. Every bound is such a sum, with its rounding errors added.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field

import highspy
import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import SOLVER
from mechdesign.optimize.pricing.price import Price
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import FInformation

MOST_BOXES = 20_000
FEW_BOXES = 500
_CLOSE = 2e-10  # two reduced costs between which the search makes no difference
_EPS = float(np.finfo(float).eps)
_PENALTIES = (1e4, 1e7, 1e10)  # on leaving X or the interval of q, for costs of about 1
_INSIDE = 0.05  # of an interval: a split keeps that far from its ends
_WIDE = 8.0  # an interval of q whose ends have a greater ratio is split at their geometric mean
_THINNEST = 1e-9  # an interval below this is not split
_OUTSIDE = 1e-9  # how far a solution may be outside of the cone and be a column all the same
_MOST_STEPS = 12
_MOST_KEPT = 60
_FLATTEST = 1e-6  # a slope is not asked for closer to zero, where it may be infinite

METHOD = "branch and bound over boxes"


def price_by_boxes(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: FInformation,
    multipliers: Floats,
    *,
    target: float = -math.inf,
    most_nodes: int = MOST_BOXES,
) -> Price:
    """Return an upper bound of the reduced cost of any column with ``<P, v> = 1``, rounded outward.

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its f is evaluated at single ratios.
    multipliers : array, shape (N,)
        lambda.
    target : float
        A bound that would do: the search ends once it is proved. Without it the search ends at the greatest
        reduced cost.
    most_nodes : int
        How many boxes are looked at. The bound holds wherever the search ends, but is then greater.

    Returns
    -------
    Price
        The same whenever it is asked for again; with the best columns met.

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
        return _Search(_Program(uncertainty, exp_epsilon), utility, lam).run(target, most_nodes)


class BoxPricing:
    """Exact pricing over any set for a column generation that lists no rays (`Pricing`).

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : FInformation
        Its mu is priced.

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

    def __init__(self, uncertainty: UncertaintySet, exp_epsilon: float, utility: FInformation) -> None:
        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.utility = utility

    def start(self) -> Floats:
        """Return columns of the cone, shape (N, k), with ``<P, v> = 1``; the first is (1,...,1)."""
        size = self.uncertainty.size
        return np.hstack([np.ones((size, 1)), self.guess(np.zeros(size))])

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.uncertainty.size)]

    def guess(self, multipliers: Floats) -> Floats:
        """Return columns that no small step improves, best first, shape (N, k), with ``<P, v> = 1``."""
        program = _Program(self.uncertainty, self.exp_epsilon)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found = _Columns(self.uncertainty, self.exp_epsilon, self.utility, np.asarray(multipliers, dtype=float))
            _climb(program, found)
        return found.best()

    @property
    def method(self) -> str:
        """Its name, for people."""
        return METHOD

    def price(self, multipliers: Floats, *, thorough: bool = True) -> Price:
        """Return `price_by_boxes`, of few boxes unless asked to be thorough."""
        most = MOST_BOXES if thorough else FEW_BOXES
        return price_by_boxes(self.uncertainty, self.exp_epsilon, self.utility, multipliers, most_nodes=most)


# The linear program over X


@dataclass(frozen=True, eq=False)
class _Linear:
    """An upper bound of G: ``constant + <slopes, x> + slope_of_q q - bend q^2``, size: of all that was added up."""

    constant: float
    slopes: Floats
    slope_of_q: float
    bend: float
    size: float


@dataclass(frozen=True, eq=False)
class _Box:
    """``lower <= x <= upper``, ``least <= q <= most``, and the point at which its parent's program was solved."""

    lower: Floats
    upper: Floats
    least: float
    most: float
    point: Floats


class _Program:
    """``max constant + <slopes, x> + slope_of_q q - bend q^2`` over a box in X, as a linear program that is kept.

    Leaving X or the interval of q is allowed at a price, so that every program has a solution. q^2 is replaced
    by its tangents at both ends and in the middle.
    """

    def __init__(self, uncertainty: UncertaintySet, exp_epsilon: float) -> None:
        from scipy.sparse import block_array, coo_array, csr_array

        self.uncertainty = uncertainty
        self.exp_epsilon = exp_epsilon
        self.prior = uncertainty.prior
        self.least_h = math.nextafter(1 / exp_epsilon, 0.0)
        support = uncertainty.support_rows()
        self.columns, self.first = support.columns.T.tocsr(), support.auxiliary[:, [0]].toarray()[:, 0]
        N, (R, W) = uncertainty.size, support.auxiliary.shape
        # Columns: x, auxiliary variables (the first is h), q, -q^2, too little q, too much q.
        self.size, self.rows, self.h, self.q = N, R, N, N + W
        tangents = coo_array(np.c_[np.zeros((3, 1)), np.ones((3, 1)), np.zeros((3, 2))])
        matrix = csr_array(
            block_array(
                [
                    [support.columns, support.auxiliary, None],
                    [coo_array(self.prior[None, :]), None, coo_array(np.array([[-1.0, 0.0, 1.0, -1.0]]))],
                    [None, coo_array((3, W)), tangents],
                ]
            )
        )
        infinity = highspy.kHighsInf
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = N + W + 4, R + 4
        model.col_cost_ = np.zeros(N + W + 4)
        model.col_lower_ = np.r_[np.zeros(N), np.full(W, -infinity), 0.0, -infinity, 0.0, 0.0]
        model.col_upper_ = np.r_[np.ones(N), self.least_h, np.full(W - 1, infinity), 1.0, 0.0, infinity, infinity]
        model.row_lower_ = np.r_[np.zeros(R), 0.0, np.full(3, -infinity)]
        model.row_upper_ = np.r_[np.full(R, infinity), np.zeros(4)]
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.highs = highspy.Highs()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "primal_feasibility_tolerance": SOLVER,
            "dual_feasibility_tolerance": SOLVER,
        }.items():
            self.highs.setOptionValue(option, value)
        self.highs.passModel(model)
        self.changing = np.r_[np.arange(N), self.h, self.q, self.q + 1, self.q + 2, self.q + 3].astype(np.int32)
        self.bounded = np.r_[np.arange(N), self.q].astype(np.int32)

    def maximum(self, linear: _Linear, box: _Box) -> tuple[float, Floats]:
        """Return a proved upper bound over the box, infinite if there is none, and a point near the maximiser."""
        tangents = np.array([box.least, (box.least + box.most) / 2, box.most])
        infinity = highspy.kHighsInf
        for row, at in enumerate(tangents.tolist(), start=self.rows + 1):
            # -q^2 <= at^2 - 2 at q
            self.highs.changeCoeff(row, self.q, 2 * at)
            self.highs.changeRowBounds(row, -infinity, at * at)
        self.highs.changeColsBounds(
            self.bounded.size, self.bounded, np.r_[box.lower, box.least], np.r_[box.upper, box.most]
        )
        scale = float(max(np.abs(linear.slopes).max(), abs(linear.slope_of_q), linear.bend))
        if not scale < math.inf:
            return math.inf, box.point
        # A power of two changes no digit; solvers want numbers of about 1.
        scale = math.ldexp(1.0, math.frexp(scale)[1] - 1) if scale > 0 else 1.0
        bound, point = math.inf, box.point
        for penalty in _PENALTIES:
            # HiGHS minimises.
            costs = np.r_[-linear.slopes, 0.0, -linear.slope_of_q, -linear.bend, 0.0, 0.0] / scale
            costs[self.size], costs[-2:] = -penalty, penalty
            self.highs.changeColsCost(self.changing.size, self.changing, costs)
            self.highs.run()
            if self.highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                break
            solution = self.highs.getSolution()
            values, duals = np.array(solution.col_value), np.array(solution.row_dual) * scale
            point = np.clip(values[: self.size], box.lower, box.upper)
            bound = min(bound, self._proved(linear, box, tangents, duals))
            if values[self.h] >= self.least_h - _OUTSIDE and values[-2:].max() <= _OUTSIDE:
                break
        return bound, point

    def _proved(self, linear: _Linear, box: _Box, tangents: Floats, duals: Floats) -> float:
        """Return the bound that dual values prove, whatever they are."""
        z, rho, omega = np.maximum(duals[: self.rows], 0.0), float(duals[self.rows]), np.maximum(-duals[-3:], 0.0)
        y = max(0.0, -float(self.first @ z))
        Q = self.uncertainty.member_near(self.columns @ z / y) if y > 0 else self.prior
        # Weights on the tangents must sum to the bend.
        omega = omega * (linear.bend / omega.sum()) if omega.sum() > 0 else np.array([0.0, linear.bend, 0.0])
        of_x = linear.slopes + y * Q + rho * self.prior
        of_q = linear.slope_of_q - rho - 2 * float(omega @ tangents)
        greatest = float(np.maximum(of_x * box.lower, of_x * box.upper).sum()) + max(of_q * box.least, of_q * box.most)
        fixed = linear.constant + float(omega @ tangents**2) - y * self.least_h
        size = float((np.abs(linear.slopes) + y * np.abs(Q) + abs(rho) * self.prior) @ box.upper)
        size += (abs(linear.slope_of_q) + abs(rho) + 3 * linear.bend) * box.most + y * self.least_h
        # Q is within 1e-15 of a prior of the set.
        bound = greatest + fixed + _rounding(self.size) * (linear.size + size) + 2e-15 * y * float(box.upper.sum())
        return math.inf if math.isnan(bound) else bound


def _rounding(size: int) -> float:
    return 8 * (size + 16) * _EPS


# Columns that were met


@dataclass(eq=False)
class _Columns:
    """Columns of the cone with their reduced costs."""

    uncertainty: UncertaintySet
    exp_epsilon: float
    utility: FInformation
    multipliers: Floats
    greatest: float = -math.inf
    found: list[tuple[float, tuple[float, ...]]] = field(default_factory=list)

    def meet(self, x: Floats) -> tuple[float, Floats] | None:
        """Return the reduced cost and the column of a point of X, and keep it; None for one outside of X."""
        prior, most = self.uncertainty.prior, float(x.max())
        q = float(prior @ x)
        if not q > 0 or self.exp_epsilon * float(self.uncertainty.support(x[:, None])[0]) < most * (1 - _OUTSIDE):
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


def _climb(program: _Program, found: _Columns) -> None:
    """Improve columns by maximising the tangent of mu at them, from several starts."""
    N, P = program.size, program.prior
    whole = _whole(program)
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
        # A start outside of X is a direction; X has a point that is best in it.
        x, level = start, -math.inf
        for _ in range(_MOST_STEPS):
            met = found.meet(x)
            if met is None:
                slopes, cost = _tangent(found.utility, x / float(P @ x) if P @ x > 0 else x, P), 0.0
            else:
                cost, column = met
                key = column.round(9).tobytes()
                if key in seen or cost <= level + _CLOSE:
                    break
                seen.add(key)
                level = cost
                slopes = _tangent(found.utility, column, P)
            linear = _Linear(0.0, slopes - found.multipliers - cost * P, 0.0, 0.0, 0.0)
            _, x = program.maximum(linear, whole)
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


def _whole(program: _Program) -> _Box:
    """Return the box around every ray, scaled to greatest entry 1."""
    # Some entry is 1, and q is h at least.
    least = max(program.least_h, float(program.prior.min()) * (1 - 4 * _EPS))
    ones = np.ones(program.size)
    return _Box(np.zeros(program.size), ones, least, 1 + 2 * program.size * _EPS, ones)


# The search


class _Search:
    """Best-first branch and bound for one vector of multipliers."""

    def __init__(self, program: _Program, utility: FInformation, multipliers: Floats) -> None:
        self.program, self.utility, self.multipliers = program, utility, multipliers
        self.prior = program.prior
        self.found = _Columns(program.uncertainty, program.exp_epsilon, utility, multipliers)
        self.close = _CLOSE + 1e-12 * float(np.abs(multipliers).sum())

    def run(self, target: float, most_nodes: int) -> Price:
        """Return the bound that is proved once it is good enough or enough boxes were looked at."""
        _climb(self.program, self.found)
        root = _whole(self.program)
        bound, root = self._bound(root, math.inf)
        waiting, nodes, closed = [(-bound, 0, root)], 1, -math.inf
        while waiting:
            enough = max(target, self.found.greatest + self.close)
            if -waiting[0][0] <= enough or nodes >= most_nodes:
                break
            negative, _, box = heapq.heappop(waiting)
            halves = self._halves(box)
            if not halves:
                closed = max(closed, -negative)
            for half in halves:
                bound, solved = self._bound(half, -negative)
                nodes += 1
                if bound <= max(target, self.found.greatest + self.close):
                    closed = max(closed, bound)
                else:
                    heapq.heappush(waiting, (-bound, nodes, solved))
        upper = max(closed, self.found.greatest, -waiting[0][0] if waiting else -math.inf)
        return Price(upper, METHOD, nodes, self.found.best())

    def _bound(self, box: _Box, parent: float) -> tuple[float, _Box]:
        """Return a proved bound of reduced costs in a box, no greater than its parent's, and the box as solved."""
        P = self.prior
        slack = 2 * (P.size + 4) * _EPS
        least = max(box.least, float(P @ box.lower) * (1 - slack))
        most = min(box.most, float(P @ box.upper) * (1 + slack))
        if least > most or box.upper.max() < 1:
            # No column, or none that is a ray scaled to greatest entry 1.
            return -math.inf, box
        box = _Box(box.lower, box.upper, least, most, box.point)
        level = self.found.greatest if math.isfinite(self.found.greatest) else 0.0
        above, point = self.program.maximum(self._relaxed(box, level), box)
        if point.max() > 0:
            self.found.meet(point)
        # G / q is the reduced cost above the level.
        bound = level + above / (least if above > 0 else most)
        bound += 4 * _EPS * (abs(level) + abs(bound))
        box = _Box(box.lower, box.upper, least, most, point)
        return (min(bound, parent) if bound < math.inf else parent), box

    def _perspective(self, x: Floats, q: Floats) -> Floats:
        """Return ``F(x, q) = q f(x / q)``, and 0 for symbols without mass."""
        u = np.where(self.prior > 0, x / q, 1.0)
        result: Floats = q * np.asarray(self.utility.f(u), dtype=float)
        return result

    def _chords(self, x: Floats, box: _Box) -> tuple[Floats, Floats]:
        """Return intercepts and slopes of lines in q that are not below ``F(x, q)`` between the ends of q."""
        ends = np.array([[box.least], [box.most]])
        # A convex f is greatest at an end of an interval; u is known to a unit in the last place.
        first, last = np.maximum(
            self._perspective(x * (1 - 4 * _EPS), ends), self._perspective(x * (1 + 4 * _EPS), ends)
        )
        width = box.most - box.least
        slopes = (last - first) / width if width > 0 else np.zeros_like(x)
        intercepts = (first if width > 0 else np.maximum(first, last)) - slopes * box.least
        sizes = np.abs(first) + np.abs(last) + np.abs(slopes) * box.most
        return intercepts + 16 * _EPS * sizes, slopes

    def _relaxed(self, box: _Box, level: float) -> _Linear:
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
        return _Linear(constant, slopes, slope_of_q, -kappa, 4 * float(sizes.sum()) + abs(level))

    def _halves(self, box: _Box) -> list[_Box]:
        """Return the parts of a box that hold its rays, split where the relaxation loses most at its maximiser."""
        P, a, b, x = self.prior, box.lower, box.upper, box.point
        if x.max() < 1 - _OUTSIDE:
            # All multiples of a column have its reduced cost, so that boxes along them would be split for ever.
            return [_Box(_at(a, symbol), b, box.least, box.most, x) for symbol in np.flatnonzero(b == 1).tolist()]
        q = min(max(float(P @ x), box.least), box.most)
        width, span = b - a, box.most - box.least
        F_a, F_b, F_x = (self._perspective(y, np.array(q)) for y in (a, b, x))
        theta = (x - a) / np.where(width > 0, width, 1.0)
        of_x = P * ((1 - theta) * F_a + theta * F_b - F_x)
        (c_a, d_a), (c_b, d_b) = self._chords(a, box), self._chords(b, box)
        of_q = float(P @ ((1 - theta) * (c_a + d_a * q - F_a) + theta * (c_b + d_b * q - F_b)))
        # What McCormick's inequalities lose at most; the tangents' loss is of the order of the chords'.
        of_products = np.abs(P * (d_b - d_a)) * np.minimum(theta, 1 - theta) * min(q - box.least, box.most - q)
        lost = np.where(width > _THINNEST, np.nan_to_num(of_x + of_products, posinf=1e300), -1.0)
        where = int(np.argmax(lost))
        by_q = span > _THINNEST * box.most
        if by_q and (np.nan_to_num(of_q, posinf=1e300) >= lost[where] or box.most > _WIDE * box.least):
            wide = box.most > _WIDE * box.least
            at = math.sqrt(box.least) * math.sqrt(box.most) if wide else _split(box.least, box.most, q)
            return [_Box(a, b, box.least, at, x), _Box(a, b, at, box.most, x)]
        if lost[where] < 0:
            return []
        at = _split(float(a[where]), float(b[where]), float(x[where]))
        return [_Box(a, _at(b, where, at), box.least, box.most, x), _Box(_at(a, where, at), b, box.least, box.most, x)]


def _at(ends: Floats, symbol: int, value: float = 1.0) -> Floats:
    changed = ends.copy()
    changed[symbol] = value
    return changed


def _split(low: float, high: float, at: float) -> float:
    """Return where to split an interval: at a point, but not too close to an end."""
    margin = _INSIDE * (high - low)
    return min(max(at, low + margin), high - margin)
