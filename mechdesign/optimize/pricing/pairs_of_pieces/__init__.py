"""Exact pricing of f-informations over a lower probability of pieces, where pairs of sets are too many.

With ``f(S) = max_j (a_j(S) - s_j)``, where 0 is a piece, and the set of all symbols one with ``s = -1``, an extreme
column with greatest entry 1 is ``1_S + x 1_M``. With T = S + M, ``q = <P, v>``, ``F(u, q) = q f(u / q)``, the pieces j
and k that attain f(S) and f(T), and a level r, its reduced cost is ``r + G / q``, and its least mean 1/e:

    G = P(S) F(1, q) + P(M) F(x, q) + P(others) F(0, q) - lambda(S) - x lambda(M) - r q,
    (1 - x) (a_j(S) - s_j) + x (a_k(T) - s_k) >= 1/e.

For given x and q both are sums over symbols, each in S, in M or outside. So weights ``y >= 0`` of the condition and z
of ``q = P(S) + x P(M)`` bound G by a sum over symbols of the greatest of three terms. The sum is convex in (x, q), as F
is: over a cell of x and q it is greatest at a corner. Where the bound is greatest, cells are divided and symbols
decided. If f(S) and f(T) are of one piece, M is one symbol, because f is additive on it (the theorem about extreme rays
in docs/mathematics.md).

Where all pieces are lines in P(S), as those of event sets, f is convex in P(S), and a chord is above it between its
ends. So a chord stands for all pieces at first, and is divided where it loses most.

Any y and z prove a bound, which is computed with its rounding errors; it does not matter how they were found.
"""

from mechdesign.optimize.pricing.pairs_of_pieces.search import PiecePricing

__all__ = ["PiecePricing"]
