"""Maximum likelihood over the simplex, by an interior point method, with a certificate.

With w the fractions of reports, p = A^T theta and ``v = w / p``, the optimality conditions are

    A v + s = 1,   p_j v_j = w_j,   theta_i s_i = 0,   theta, s >= 0.

They are those of a linear program, except that the products p_j v_j go to w_j instead of 0; so a predictor-corrector
method for linear programs solves them. That theta sums to 1 follows, because w does. Outputs that were never reported
are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import LIKELIHOOD_GAP, RANK

_MOST_STEPS = 200
_PATIENCE = 20  # steps without progress
_CLOSE, _CLOSED = 1e-12, 1e-26  # complementarity near the optimum, and where the method stops
_FINISH = 16  # the most steps from the first of these to the second
_TO_BORDER = 0.995  # the share of the way to the border that a step goes at most
_LEAST_PRODUCT = 0.01  # p v stays above this multiple of w: a product close to 0 would never grow again
_ROOM = 1e-10  # a slack below this may be rounding
_CENTRED = 1e-10  # Newton's decrement, whose square is the error that is left
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class MaximumLikelihood:
    """A distribution of inputs that explains the reports best.

    Attributes
    ----------
    frequencies : array, shape (N,)
        It sums to 1.
    gap : float
        Its log-likelihood is within this of the greatest, in nats, up to the rounding errors of its own
        computation (about 1e-15 for each report).
    """

    frequencies: Floats
    gap: float


@dataclass(frozen=True, eq=False)
class _Point:
    """An iterate: theta, its slacks s, and the prices v of the outputs."""

    theta: Floats
    slacks: Floats
    prices: Floats


def maximum_likelihood(matrix: Floats, counts: Floats) -> MaximumLikelihood:
    """Return the theta of greatest likelihood ``sum_j c_j log (A^T theta)_j``.

    Where several theta have the greatest likelihood, the analytic centre of their set is returned: the one of greatest
    ``sum log theta_i`` over the categories that are positive in some of them. It does not depend on the order
    of categories, and categories with equal rows get equal shares.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The mechanism A, row-stochastic.
    counts : array, shape (M,)
        How often each output was reported, not all 0.

    Raises
    ------
    SolverError
        If the gap exceeds 1e-6 nats by more than rounding errors.

    Notes
    -----
    For any prices v > 0 and any theta', Jensen's inequality gives ``sum_j w_j log p'_j <= sum_j w_j log(w_j / v_j) +
    log max_i (A v)_i``. The gap is the difference of that bound, at the prices found, and the log-likelihood of theta.

    Examples
    --------
    >>> maximum_likelihood(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([400.0, 600.0])).frequencies.round(9)
    array([0.3, 0.7])
    """
    reports = counts.sum()
    seen = counts > 0
    columns, fractions = matrix[:, seen], counts[seen] / reports
    point = _interior_point(columns, fractions)
    theta, prices = point.theta, fractions / (point.theta @ columns)
    gap = _gap(columns, fractions, theta, prices)
    allowed = LIKELIHOOD_GAP / reports + sum(matrix.shape) * _EPS
    free = (point.slacks < theta) | (1 - columns @ prices < _ROOM)
    # Neither refinement should lower the likelihood; a candidate is taken only if the certificate shows that.
    for refine in (_without_traces, partial(_analytic_centre, columns * (prices / np.sqrt(fractions)))):
        candidate = refine(theta, free)
        if (found := _gap(columns, fractions, candidate, prices)) <= max(gap, allowed):
            theta, gap = candidate, found
    if not gap <= allowed:
        raise SolverError(
            f"the likelihood found may be {gap * reports:.3g} nats below the greatest; accepted: {LIKELIHOOD_GAP:g}; "
            "add up the counts of outputs that hardly ever occur, in reports and mechanism"
        )
    return MaximumLikelihood(theta, float(reports * max(gap, 0.0)))


def _gap(columns: Floats, fractions: Floats, theta: Floats, prices: Floats) -> float:
    """Return an upper bound on how far the log-likelihood of a report is below the bound that the prices give."""
    products = prices * (theta @ columns)
    return float(np.log((columns @ prices).max()) + fractions @ np.log1p((fractions - products) / products))


def _interior_point(columns: Floats, fractions: Floats) -> _Point:
    """Return the best iterate of the predictor-corrector method, its theta summing to 1."""
    N = len(columns)
    theta = np.full(N, 1.0 / N)
    point = best = _Point(theta, np.ones(N), fractions / (theta @ columns))
    least, since, near = np.inf, 0, 0
    for _ in range(_MOST_STEPS):
        p = point.theta @ columns
        complementarity = float(point.theta @ point.slacks)
        gap = abs(float(np.log((columns @ (fractions / p)).max() * point.theta.sum())))
        doubt = max(gap, 4 * _EPS) + complementarity
        since += 1
        if doubt < least:
            best, least, since = point, doubt, 0
        near += least < _CLOSE
        # Near the optimum only rounding errors prevent progress.
        if doubt < 4 * _EPS + _CLOSED or since > (3 if near else _PATIENCE) or near > _FINISH:
            break
        point = _step(columns, fractions, point)
    return _Point(best.theta / best.theta.sum(), best.slacks, best.prices)


def _step(columns: Floats, fractions: Floats, at: _Point) -> _Point:
    """Return the next iterate: a predictor step is computed first, then the step that corrects for its curvature."""
    from scipy.linalg import cho_factor, cho_solve

    theta, s, v = at.theta, at.slacks, at.prices
    N, p = len(theta), theta @ columns
    residual = columns @ v + s - 1
    scaled = (theta[:, None] * columns) * np.sqrt(v / p)
    system = scaled @ scaled.T
    # Equal rows make the system singular; a relative rounding error on its diagonal keeps it positive definite.
    diagonal = np.einsum("ii->i", system)
    diagonal *= 1 + N * _EPS
    diagonal += theta * s
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)

    def direction(slack_target: Floats | float, price_target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        lack = slack_target - theta * s
        pull = theta * (residual + columns @ ((price_target - v * p) / p))
        relative = cho_solve(factor, pull + lack, check_finite=False)
        d_theta = theta * relative
        d_p = d_theta @ columns
        d_v = (price_target - v * p - v * d_p) / p
        # Two formulas for the same number; the one without cancellation is taken.
        d_s = np.where(s > theta, -residual - columns @ d_v, lack / theta - s * relative)
        return d_theta, d_s, d_p, d_v

    def length(steps: tuple[Floats, Floats, Floats, Floats]) -> float:
        changes = np.concatenate([d / x for d, x in zip(steps, (theta, s, p, v), strict=True)])
        return min(1.0, _TO_BORDER / max(float(-changes.min()), _TO_BORDER))

    ahead = direction(0.0, fractions)
    reach = length(ahead)
    mean = float(theta @ s) / N
    left = float((theta + reach * ahead[0]) @ (s + reach * ahead[1])) / N
    curved = reach**2
    price_target = np.clip(fractions - curved * ahead[2] * ahead[3], 0.1 * fractions, 10 * fractions)
    steps = direction((left / mean) ** 3 * mean - curved * ahead[0] * ahead[1], price_target)
    reach = length(steps)
    while ((v + reach * steps[3]) * (p + reach * steps[2]) < _LEAST_PRODUCT * fractions).any():
        reach *= 0.8
    return _Point(theta + reach * steps[0], s + reach * steps[1], v + reach * steps[3])


def _without_traces(theta: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return theta with zeros for the tiny entries that the interior point method leaves."""
    return np.where(~free & (theta < _EPS), 0.0, theta)


def _analytic_centre(whitened: Floats, theta: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return the x of greatest ``sum log x_i`` over the free categories with ``A^T x = A^T theta``.

    The other categories keep their theta. The columns are whitened, so that the directions whose singular values count
    as 0 are those that the reports cannot show.
    """
    rows = whitened[free]
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    basis = left[:, values > RANK * values[0]]
    if basis.shape[1] == len(rows):
        return theta
    # Newton's method: relative to x, the step is the part of (1,...,1) orthogonal to the columns of x * basis.
    x, ones = theta[free], np.ones(len(rows))
    for _ in range(_MOST_STEPS):
        span, _ = np.linalg.qr(x[:, None] * basis)
        step = ones - span @ (span.T @ ones)
        decrement = float(np.linalg.norm(step))
        x = x + x * step * (1.0 if decrement < 0.25 else 1 / (1 + decrement))
        if decrement < _CENTRED:
            break
    centre = theta.copy()
    centre[free] = x
    centre /= centre.sum()
    return centre
