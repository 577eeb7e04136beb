"""A known uniform prior, a symmetric utility and a promise of maximal leakage."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, circulant
from mechdesign.problem import DesignProblem
from mechdesign.utility.objective import as_utility

THEOREM = "uniform known prior, symmetric utility, maximal leakage: a point of a concave envelope"


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, optimal for every symmetric sub-convex utility; None where the theorem does not apply.

    With ``e = exp(epsilon)`` and ``B = exp(maximal_leakage)``, columns with ``<P, v> = 1`` are of two sorts up to their
    order: ``N/k`` on k symbols, for ``N/k <= e``, and that of the theorem without maximal leakage, with the greatest
    entry e. The shifts of each are a mechanism. So the optimum is the upper concave envelope of the points
    (greatest entry, mu), at B, and the mechanism mixes two sorts. For mutual information the points are
    ``(N/k, log(N/k))``, so that it is the maximal leakage itself where that is log(N/k).
    """
    known, most = problem.uncertainty, problem.maximal_leakage
    N, e, ball = known.size, problem.epsilon.exp_down, known.l1_ball
    if ball is None or ball.radius > 0 or len({*ball.center}) > 1 or most is None or not problem.utility.is_symmetric:
        return None
    e = min(e, Fraction(N))
    sorts = [_column(N, Fraction(N, k), k) for k in range(math.ceil(N / e), N + 1)]
    sorts.append(_column(N, e, math.floor(N / e)))
    allowed = min(most.exp_down, e)
    gains = as_utility(problem.utility).mu(np.array(sorts, dtype=float).T, known.prior).tolist()
    best: tuple[float, int, int, Fraction] | None = None
    for (i, one), (j, other) in product(enumerate(sorts), repeat=2):
        low, high = one[0], other[0]
        if low <= allowed < high or low == allowed == high:
            share = (allowed - low) / (high - low) if high > low else Fraction(0)
            value = float(1 - share) * gains[i] + float(share) * gains[j]
            if best is None or value > best[0]:
                best = value, i, j, share
    if best is None:
        return None
    _, i, j, share = best
    parts = [(1 - share, sorts[i]), (share, sorts[j])]
    matrix = np.hstack([float(weight) * circulant(column, in_floats=True) for weight, column in parts if weight > 0])
    return ClosedForm(THEOREM, matrix, optimal=True)


def _column(size: int, top: Fraction, count: int) -> Numbers:
    """Return a column of mean 1: the greatest entry on some symbols, the rest on the next one."""
    return np.array([top] * count + [size - count * top] * (count < size) + [Fraction(0)] * (size - count - 1))
