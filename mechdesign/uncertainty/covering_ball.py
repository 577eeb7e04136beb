"""A small l1 ball that holds several l1 balls."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.linear_program import minimum
from mechdesign.uncertainty.l1_ball import L1Ball

_GRID = 10**9  # of which the probabilities of a center are multiples
_CLOSE = 1e-4  # radius that is worth one unit of distance from the prior that the center should be near


def covering_ball(balls: Sequence[L1Ball], near: Sequence[Fraction], labels: Sequence[str]) -> L1Ball:
    """Return a ball that holds all balls, of the least radius that the triangle inequality gives.

    A ball around c holds the ball around P_k if its radius is at least ``|c - P_k| + r_k``, so that the best center
    solves a linear program. It is solved in floats; the center is then rounded, and its radius computed exactly.

    Parameters
    ----------
    balls : sequence of L1Ball
        On the same categories.
    near : sequence of Fraction
        A prior that the center should be near, where centers have the same radius, and is where this costs nothing.
    labels : sequence of str
        Of the ball that is returned.

    Raises
    ------
    SolverError
        If the linear program is not solved.

    Examples
    --------
    >>> few, many = L1Ball(["0.5", "0.5"], "0.4"), L1Ball(["0.6", "0.4"], "0.1")
    >>> cover = covering_ball([few, many], few.center, few.labels)
    >>> cover.radius, cover.center == few.center
    (Fraction(2, 5), True)
    """
    best = tuple(near)
    radius = _radius(balls, best)
    found = _rounded(_center(balls, np.array([float(p) for p in near])))
    if _radius(balls, found) < radius - Fraction(1, 10**6):
        best, radius = found, _radius(balls, found)
    return L1Ball(best, radius, labels)


def radius_around(ball: L1Ball, center: Sequence[Fraction]) -> Fraction:
    """Return a radius, at most 2, of a ball around another center that holds a ball: by the triangle inequality.

    Examples
    --------
    >>> radius_around(L1Ball(["0.5", "0.5"], "0.1"), [Fraction(3, 5), Fraction(2, 5)])
    Fraction(3, 10)
    """
    apart = sum((abs(p - q) for p, q in zip(ball.center, center, strict=True)), Fraction(0))
    return min(apart + ball.radius, Fraction(2))


def _radius(balls: Sequence[L1Ball], center: Sequence[Fraction]) -> Fraction:
    return max(radius_around(ball, center) for ball in balls)


def _center(balls: Sequence[L1Ball], near: Floats) -> Floats:
    """Return the center of least radius, shape (N,): among nearly equal ones that nearest to a prior.

    Variables: the center c, then |c - P_k| entry by entry for every ball and for the prior, and the radius.
    """
    from scipy.sparse import block_array, coo_array, eye_array, kron

    P = np.array([*(ball.prior for ball in balls), near])
    K, N = P.shape
    each, stacked = eye_array(K * N), kron(np.ones((K, 1)), eye_array(N))
    sums = kron(eye_array(K), np.ones((1, N)))
    last = coo_array(-np.append(np.ones(K - 1), 0.0)[:, None])
    rows = block_array([[stacked, -each, None], [-stacked, -each, None], [None, sums, last]])
    # The last row, of the distance from the prior, has no bound but a price.
    radii = np.array([*(-float(ball.radius) for ball in balls), np.inf])
    right = np.concatenate([P.ravel(), -P.ravel(), radii])
    kept = np.isfinite(right)
    price = np.concatenate([np.zeros(K * N), np.full(N, _CLOSE), [1.0]])
    simplex = np.concatenate([np.ones(N), np.zeros(K * N + 1)])[None]
    solved = minimum(price, at_most=(rows.tocsr()[kept], right[kept]), equal=(simplex, [1.0]))
    return solved.required(f"a ball around {len(balls)} balls", "give fewer, or other counts").x[:N]


def _rounded(center: Floats) -> tuple[Fraction, ...]:
    """Return exact probabilities near floats; what is left of 1 goes to the greatest."""
    parts = [int(part) for part in np.rint(np.clip(center, 0.0, 1.0) * _GRID)]
    parts[int(np.argmax(parts))] += _GRID - sum(parts)
    return tuple(Fraction(part, _GRID) for part in parts)
