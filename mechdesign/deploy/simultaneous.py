"""How often each of many intervals may miss, so that all of them hold at once with a given confidence.

In the limit of many reports, that the interval of category i misses is the event ``|Z_i| > c``, Z normal with the
correlations of the estimates. Two bounds on the probability that some of these events happens are computed, without
randomness, and the better one is used:

* For events A_1, ..., A_m and any tree T on them, ``P(A_1 or ... or A_m) <= sum_i P(A_i) - sum_(ij in T) P(A_i and
  A_j)`` (Hunter, 1976; Worsley, 1982): add the events one by one along the tree, each without its part in its parent.
  For two categories, whose intervals miss together, it is exact.
* ``P(no |Z_i| > c) >= product of P(|Z_i| <= c)`` whatever the correlations are (Sidak, 1967).

Of categories that are not identifiable the events may be others. They are added with their whole probability
(Bonferroni).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from mechdesign.numerics.arrays import Floats

_CLOSE = 1e-9  # relative, of the error of each interval


def error_of_one_group(error: float, groups: int) -> float:
    """Return how often some interval of one group may miss, so that some of any group does so with ``error``.

    Reports of different groups are independent, so the chances that nothing is missed multiply.

    Examples
    --------
    >>> round(error_of_one_group(0.0975, 2), 12)
    0.05
    """
    return float(-np.expm1(np.log1p(-error) / groups)) if error < 1 else error


def error_of_each(correlations: Floats, size: int, error: float) -> float:
    """Return how often each of ``size`` intervals may miss, so that some interval does with ``error`` at most.

    Parameters
    ----------
    correlations : array, shape (K, K)
        Of the estimates of which they are known; nothing is assumed of the others.
    size : int
        The number of intervals, at least K.
    error : float
        Between 0 and 1.

    Examples
    --------
    Two estimates that sum to 1 miss together; for independent ones Sidak's formula is exact.

    >>> error_of_each(np.array([[1.0, -1.0], [-1.0, 1.0]]), 2, 0.05)
    0.05
    >>> round(error_of_each(np.eye(2), 2, 0.05), 12), round(1 - 0.95**0.5, 12)
    (0.025320565519, 0.025320565519)
    """
    from scipy.optimize import brentq

    if size <= 1:
        return error
    edges = _heaviest_tree(np.abs(correlations))

    known = len(correlations)

    def excess(each: float) -> float:
        by_tree = known * each - float(_both(edges, each).sum())
        by_product = -np.expm1(known * np.log1p(-each)) if each < 1 else 1.0
        return min(by_tree, float(by_product)) + (size - known) * each - error

    least = error / size
    if excess(error) <= _CLOSE * error:
        return error
    return float(brentq(excess, least, error, xtol=_CLOSE * least, rtol=_CLOSE)) if excess(least) < 0 else least


def _both(correlations: Floats, each: float) -> Floats:
    """Return the probability that two standard normal variables both exceed c in size, ``P(|Z| > c) = each``.

    With h = c, ``P(X > h, Y > h) = Phi(-h) - 2 T(h, sqrt((1 - rho) / (1 + rho)))``, T being Owen's function.
    """
    from scipy.special import owens_t

    c = -NormalDist().inv_cdf(each / 2)
    with np.errstate(divide="ignore"):
        ratio = np.sqrt((1 - correlations) / (1 + correlations))
        result: Floats = np.maximum(2 * each - 4 * owens_t(c, ratio) - 4 * owens_t(c, 1 / ratio), 0.0)
    return result


def _heaviest_tree(weights: Floats) -> Floats:
    """Return the weights of the edges of a spanning tree of greatest total weight (Prim), shape (K - 1,)."""
    size = len(weights)
    outside = np.ones(size, dtype=bool)
    best = np.full(size, -np.inf)
    edges, last = np.zeros(max(size - 1, 0)), 0
    for step in range(size - 1):
        outside[last] = False
        best = np.maximum(best, weights[last])
        last = int(np.where(outside, best, -np.inf).argmax())
        edges[step] = best[last]
    return edges
