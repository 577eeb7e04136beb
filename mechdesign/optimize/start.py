"""The start of column generation for a ball: columns of a good mechanism, and multipliers of a good bound.

The first feasible mechanism is made of sets of equal mass, weighted so that they cover all symbols equally. A set is a
vector of shares, one between 0 and 1 for each symbol. The vectors of a given mass, ``length``, form a polytope, whose
vertices have at most one fractional share. The constant vector s of share ``length / P(all)`` lies in it. A walk writes
s as a combination of vertices. Each step takes a vertex that has the zeros and ones of the current point, and moves the
point away from that vertex to the border of the polytope, where the point has at least one more zero or one; there are
at most N steps (Caratheodory). A good vertex is found by rounding the shares, heavy symbols first, so that little is
left over for the fractional symbol. The flight phase of balanced sampling by the cube method (Deville and Tille,
Biometrika 2004) is a random walk of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.capped_cone import raised_power, with_least
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import FInformation

_ORDERS = 16
_FEW_ORDERS, _LARGE = 2, 256  # for more symbols a larger first program costs more than it saves
_LENGTHS = np.linspace(0.02, 1.0, 99)
_EDGE = 1e-12
_LAST = 1e-6


@dataclass(frozen=True)
class _Family:
    """Columns of kind A or D of the extreme rays, by the mass of the set that has the greater value; not scaled.

    Attributes
    ----------
    cone : L1Cone
        The cone of the ball.
    is_d : bool
        Which of the two kinds.
    """

    cone: L1Cone[float]
    is_d: bool

    @property
    def most(self) -> float:
        """The greatest mass."""
        return min(self.cone.heaviest_cd if self.is_d else self.cone.heaviest_ab, 1.0)

    @property
    def top(self) -> float:
        """The greater value."""
        return self.cone.e if self.is_d else self.cone.c

    def off(self, mass: Floats) -> Floats:
        """Return the smaller value where the greater one is `top`."""
        if self.is_d:
            return np.ones_like(mass)
        result: Floats = np.maximum(self.cone.off_a(mass, 1 - mass), 0.0)
        return result

    def gain(self, mass: Floats, utility: FInformation) -> Floats:
        """Return mu of the scaled column."""
        off = self.off(mass)
        scale = mass * self.top + (1 - mass) * off
        f = utility.f
        result: Floats = mass * f(self.top / scale) + (1 - mass) * f(off / scale)
        return result

    def best(self, utility: FInformation) -> tuple[float, float]:
        """Return the greatest mu of a scaled column, and the mass that has it."""
        lengths = _LENGTHS * self.most
        gains = self.gain(lengths, utility)
        best = int(np.argmax(gains))
        return float(gains[best]), float(lengths[best])

    def columns(self, shares: Floats, mass: float) -> Floats:
        """Return the columns of shares with a mass, not scaled."""
        off = self.off(np.array([mass]))[0]
        result: Floats = off + (self.top - off) * shares
        return result


def _families(ball: Ball, exp_epsilon: float) -> list[_Family]:
    """Return the families of kinds A and D, as far as the cone has them."""
    cone = L1Cone.of(ball, exp_epsilon)
    families = [] if cone.only_d else [_Family(cone, is_d=False)]
    return [*families, _Family(cone, is_d=True)] if cone.has_cd else families


def best_mass(ball: Ball, exp_epsilon: float, utility: FInformation) -> float:
    """Return the mass of the set whose two-valued column has the greatest utility.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> best_mass(L1Ball([0.5, 0.5]), 4.0, MutualInformation())
    0.25
    """
    return max(family.best(utility) for family in _families(ball, exp_epsilon))[1]


def ball_around(known: UncertaintySet) -> L1Ball:
    """Return an l1 ball around the center of a set that holds the set: what is private for it is private for the set.

    Of a convex hull it is the least one. A piece says ``Q(S) >= a(S) - s`` for every S, so that no prior is farther
    away than ``2 (s + sum_i (P_i - a_i)^+)``. Of other sets it holds every prior.

    Examples
    --------
    >>> from mechdesign import ConvexHull
    >>> print(ball_around(ConvexHull([["0.5", "0.5"], ["0.3", "0.7"]])).radius)
    1/5
    """
    hull, lower, radius = known.convex_hull, known.lower_probability, Fraction(2)
    if hull is not None:
        apart = ([abs(q - p) for q, p in zip(prior, known.center, strict=True)] for prior in hull.priors)
        radius = max(sum(each, Fraction(0)) for each in apart)
    elif lower is not None and lower.piece_set is not None:
        for piece in lower.piece_set.pieces:
            missed = (p - a for p, a in zip(known.center, piece.masses, strict=True) if p > a)
            radius = min(radius, 2 * sum(missed, piece.slack))
    return L1Ball(known.center, radius)


def start_columns(ball: Ball, exp_epsilon: float, utility: FInformation, floor: Floor = NO_FLOOR) -> Floats:
    """Return columns of the cone, shape (N, k), ``<P, v> = 1``; a weighted sum of some of them is (1,...,1).

    They are the constant column, and for each two-valued kind of rays the columns of balanced sets of the mass that has
    the greatest utility; with a cap the images of those.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> columns = start_columns(L1Ball([0.5, 0.5]), 2.0, MutualInformation())
    >>> np.unique(columns.round(12), axis=1)
    array([[0., 1., 2.],
           [2., 1., 0.]])
    """
    power, least = raised_power(exp_epsilon, floor)
    if least > 0:
        return with_least(start_columns(ball, power, utility), ball.prior, least)
    P = ball.prior
    present = np.flatnonzero(P > 0)
    columns = [np.ones((P.size, 1))]
    for family in _families(ball, exp_epsilon):
        _, length = family.best(utility)
        light = present[P[present] <= length]
        heavy = np.setdiff1d(present, light)
        columns += [family.columns(shares, length) for shares in _shares(P, present, length)]
        if heavy.size and P[heavy].max() <= family.most and P[light].sum() >= length:
            # A heavy symbol may also be a whole set by itself.
            columns += [family.columns(shares, length) for shares in _shares(P, light, length)]
            columns += [family.columns(np.eye(P.size)[:, [i]], float(P[i])) for i in heavy]
    held = np.hstack(columns)
    result: Floats = held / (P @ held)
    # Symbols without mass may take any value between the two; with 1 in all columns their rows sum to 1.
    result[P <= 0] = 1.0
    return result


def _shares(prior: Floats, symbols: NDArray[np.int64], length: float) -> Iterator[Floats]:
    """Yield shares of balanced sets among some symbols, in several orders; 0 elsewhere."""
    for rank in _ranks(prior[symbols]):
        held = balanced_sets(prior[symbols], length, rank)
        shares = np.zeros((prior.size, held.shape[1]))
        shares[symbols] = held
        yield shares


def _ranks(prior: Floats) -> list[NDArray[np.int64]]:
    """Return orders of the symbols: heavy ones first, and the same in several strides."""
    falling = np.argsort(-prior, kind="stable")
    ranks = []
    for step in range(1, (_ORDERS if prior.size <= _LARGE else _FEW_ORDERS) + 1):
        rank = np.empty(prior.size, dtype=np.int64)
        rank[np.concatenate([falling[k::step] for k in range(step)])] = np.arange(prior.size)
        ranks.append(rank)
    return ranks


def center_multipliers(ball: Ball, exp_epsilon: float, utility: FInformation) -> list[Floats]:
    """Return multipliers that may give good first bounds.

    Zeros give the greatest utility of any column. The other multipliers are the slopes of chords: where the values
    of columns at symbol i lie between 0 and u_i, a convex f is below its chord, so that ``sum_i P_i f(v_i)`` is at
    most a linear function of v with the slopes ``P_i (f(u_i) - f(0)) / u_i``.
    """
    P = ball.prior
    cone = L1Cone.of(ball, exp_epsilon)
    greatest = np.minimum(cone.c, 1 / np.maximum(P, cone.heaviest_ab))
    rise = np.asarray(utility.f(greatest), dtype=float) - np.asarray(utility.f(np.zeros(1)), dtype=float)
    return [np.zeros(P.size), P * rise / greatest]


def balanced_sets(prior: Floats, length: float, rank: NDArray[np.int64]) -> Floats:
    """Return columns of shares of symbols, each of mass `length`; some combination of the columns is constant.

    Parameters
    ----------
    prior : array, shape (N,)
        P, positive.
    length : float
        The mass of each column's shares, at most 1. A symbol heavier than that is never held whole.
    rank : array of int, shape (N,)
        Breaks ties among symbols of equal shares, the least rank first.

    Returns
    -------
    array, shape (N, k), k <= N + 1
        At most one share of a column is neither 0 nor the greatest a symbol can have, ``min(1, length / P_i)``.
        The last column is an exception: the walk ends there, because what is left is small.

    Examples
    --------
    >>> balanced_sets(np.array([0.4, 0.3, 0.3]), 0.6, np.array([0, 1, 2]))
    array([[1.        , 0.        , 0.75      ],
           [0.66666667, 1.        , 0.        ],
           [0.        , 1.        , 1.        ]])
    """
    most = np.minimum(1.0, length / prior)
    shares = np.full(prior.size, length / prior.sum())
    columns: list[Floats] = []
    left = 1.0
    for _ in range(2 * prior.size):  # each step brings one more share to an end of its range, but for rounding
        vertex = _vertex_of_the_face(prior, length, rank, most, shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(vertex > 0, shares / vertex, np.inf)
            to_most = np.where(vertex < most, (most - shares) / (most - vertex), np.inf)
        step = float(min(to_zero.min(), to_most.min()))
        if left * (1 - step) < _LAST or abs(float(prior @ vertex) - length) > _EDGE:
            break
        columns.append(vertex)
        shares = np.clip((shares - step * vertex) / (1 - step), 0.0, most)
        left *= 1 - step
    # What is left is small, or decided by rounding. The walk may end at any point of the polytope.
    return np.array([*columns, shares]).T


def _vertex_of_the_face(prior: Floats, length: float, rank: NDArray[np.int64], most: Floats, shares: Floats) -> Floats:
    """Return a vertex that keeps the zeros and the greatest shares of a point, and rounds its other shares."""
    vertex = np.where(shares >= most - _EDGE, most, 0.0)
    room = length - float(prior @ vertex)
    free = np.flatnonzero((shares > _EDGE) & (vertex == 0))
    lightest = -1
    for i in free[np.lexsort((rank[free], -(shares[free] / most[free]).round(9)))]:
        needed = float(prior[i] * most[i])
        if needed <= room + _EDGE * length:
            vertex[i] = most[i]
            room -= needed
        elif lightest < 0 or prior[i] < prior[lightest]:
            lightest = int(i)
    if lightest >= 0:
        vertex[lightest] = max(room, 0.0) / prior[lightest]
    return vertex
