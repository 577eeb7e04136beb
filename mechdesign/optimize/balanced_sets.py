"""A first feasible mechanism for an l1 ball: sets of equal mass, weighted so that they cover all symbols equally.

A set is a vector of shares, one between 0 and 1 for each symbol. The vectors of a given mass, ``length``, form a
polytope, whose vertices have at most one fractional share. The constant vector s of share ``length / P(all)`` lies in
it. A walk writes s as a combination of vertices. Each step takes a vertex that has the zeros and ones of the current
point, and moves the point away from that vertex to the border of the polytope, where the point has at least one more
zero or one; there are at most N steps (Caratheodory). A good vertex is found by rounding the shares, heavy symbols
first, so that little is left over for the fractional symbol. The flight phase of balanced sampling by the cube method
(Deville and Tille, Biometrika 2004) is a random walk of this kind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_EDGE = 1e-12
_LAST = 1e-6


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
    while True:
        vertex = _vertex_of_the_face(prior, length, rank, most, shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            to_zero = np.where(vertex > 0, shares / vertex, np.inf)
            to_most = np.where(vertex < most, (most - shares) / (most - vertex), np.inf)
        step = float(min(to_zero.min(), to_most.min()))
        if left * (1 - step) < _LAST or abs(float(prior @ vertex) - length) > _EDGE:
            # What is left is small, or decided by rounding. The walk may end at any point of the polytope.
            return np.array([*columns, shares]).T
        columns.append(vertex)
        shares = np.clip((shares - step * vertex) / (1 - step), 0.0, most)
        left *= 1 - step


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
