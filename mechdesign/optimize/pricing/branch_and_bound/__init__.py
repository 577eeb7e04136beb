"""Exact pricing of f-informations by branch and bound, where there are too many rays to list.

Scaled to ``x = v / max v`` the cone with ``max x = 1`` lies in ``X = { x in [0,1]^N : h(x) >= 1/e }``, which lies in
the cone; with a cap the entries of X are at least exp(-cap). With ``q = <P, x>`` the reduced cost of the column x / q
is ``G(x) / q`` above a level r, where

    G(x) = sum_i P_i F(x_i, q) - <lambda, x> - r q,    F(a, q) = q f(a / q).

F is jointly convex. On a box ``a <= x <= b``, ``q0 <= q <= q1`` it is at most the chord in x of the chords in q
at both ends, which is bilinear: it has terms in x_i q. Their sum is ``kappa <P, x> q = kappa q^2``, bounded by
tangents because kappa <= 0, plus the differences of the coordinates that were branched on, bounded by McCormick's
inequalities. A linear program over X then bounds G. The chords in x are exact where x_i is at an end of its interval,
and rays are 0 or 1 at most symbols; boxes are split where the chords lose most.

The bound does not rest on the program's solution: for any weights y >= 0, rho and any prior Q of the set,
``y (<Q, x> - 1/e) >= 0`` and ``rho (<P, x> - q) = 0``, so that a linear function of x and q bounds G, whose greatest
value over the box is a sum. Every bound is such a sum, with its rounding errors added.
"""

from mechdesign.optimize.pricing.branch_and_bound.box_search import BoxPricing, price_by_boxes

__all__ = ["BoxPricing", "price_by_boxes"]
