"""Maximum likelihood over the simplex, by an interior point method, with a certificate.

With w the fractions of reports, p = A^T theta and ``v = w / p``, the optimality conditions are

    A v + s = 1,   p_j v_j = w_j,   theta_i s_i = 0,   theta, s >= 0.

They are those of a linear program, except that the products p_j v_j go to w_j instead of 0; so a predictor-corrector
method for linear programs solves them. That theta sums to 1 follows, because w does. Outputs that were never reported
are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.weighted_rows import WeightedRows
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
class _Iterate:
    """Iterates, one a row: theta, its slacks s, and the prices v of the outputs, 0 for those never reported."""

    theta: Floats
    slacks: Floats
    prices: Floats

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        return self.theta, self.slacks, self.prices


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
    return maximum_likelihoods(matrix, counts[None])[0]


def maximum_likelihoods(matrix: Floats, tables: Floats) -> list[MaximumLikelihood]:
    """Return what `maximum_likelihood` does for the counts in each row of a table, shape (G, M).

    The mechanism is one for all rows, shape (N, M), or one for each, shape (G, N, M).
    """
    reports = tables.sum(axis=1)
    fractions = tables / reports[:, None]
    theta, gaps = _refined(matrix, fractions, reports, _interior_points(matrix, fractions))
    gaps = reports * np.maximum(gaps, 0.0)
    return [MaximumLikelihood(each, gap) for each, gap in zip(theta, gaps.tolist(), strict=True)]


def _laws(theta: Floats, matrix: Floats) -> Floats:
    """Return the law of outputs of each theta, shapes (G, N) to (G, M)."""
    result: Floats = theta @ matrix if matrix.ndim == 2 else (theta[:, None] @ matrix)[:, 0]
    return result


def _means(prices: Floats, matrix: Floats) -> Floats:
    """Return the mean of prices for records of each category, shapes (G, M) to (G, N)."""
    result: Floats = prices @ matrix.T if matrix.ndim == 2 else (matrix @ prices[:, :, None])[:, :, 0]
    return result


def _refined(matrix: Floats, fractions: Floats, reports: Floats, point: _Iterate) -> tuple[Floats, Floats]:
    """Return the greatest likelihoods from the last iterates, and how far each may be below the greatest of a report.

    Raises
    ------
    SolverError
        If that is too far.
    """
    theta, seen = point.theta.copy(), fractions > 0
    prices = np.divide(fractions, _laws(theta, matrix), out=np.zeros_like(fractions), where=seen)
    gaps = _gaps(matrix, fractions, theta, prices)
    allowed = LIKELIHOOD_GAP / reports + (theta.shape[1] + seen.sum(axis=1)) * _EPS
    free = (point.slacks < theta) | (1 - _means(prices, matrix) < _ROOM)
    weights = np.divide(prices, np.sqrt(fractions), out=np.zeros_like(prices), where=seen)
    open_ones = np.flatnonzero(~WeightedRows.of(matrix).inverses(weights**2, free)[1])

    def centred(theta: Floats) -> Floats:
        result = theta.copy()
        for group in open_ones.tolist():
            own, places = matrix if matrix.ndim == 2 else matrix[group], seen[group]
            result[group] = _analytic_centre(own[:, places] * weights[group, places], theta[group], free[group])
        return result

    # Neither refinement should lower the likelihood; a candidate is taken only if the certificate shows that.
    for refine in (lambda theta: np.where(~free & (theta < _EPS), 0.0, theta), centred):
        candidate = refine(theta)
        found = _gaps(matrix, fractions, candidate, prices)
        taken = found <= np.maximum(gaps, allowed)
        theta, gaps = np.where(taken[:, None], candidate, theta), np.where(taken, found, gaps)
    for gap in (gaps * reports)[~(gaps <= allowed)].tolist():
        raise SolverError.not_converged(
            f"the likelihood found may be {gap:.3g} nats below the greatest; accepted: {LIKELIHOOD_GAP:g}; "
            "add up the counts of outputs that hardly ever occur, in reports and mechanism"
        )
    return theta, gaps


def _gaps(matrix: Floats, fractions: Floats, theta: Floats, prices: Floats) -> Floats:
    """Return upper bounds on how far log-likelihoods of a report are below the bounds that the prices give."""
    seen = fractions > 0
    products = np.where(seen, prices * _laws(theta, matrix), 1.0)
    shortfalls = np.log1p(np.where(seen, (fractions - products) / products, 0.0))
    result: Floats = np.log(_means(prices, matrix).max(axis=1)) + (fractions * shortfalls).sum(axis=1)
    return result


def _interior_points(matrix: Floats, fractions: Floats) -> _Iterate:
    """Return the best iterate of the predictor-corrector method for each row of fractions, its theta summing to 1."""
    seen = fractions > 0
    size, N = len(fractions), matrix.shape[-2]
    theta = np.full((size, N), 1.0 / N)
    start = fractions / np.where(seen, _laws(theta, matrix), 1.0)
    point = best = _Iterate(theta, np.ones((size, N)), start)
    least, since, near = np.full(size, np.inf), np.zeros(size, dtype=int), np.zeros(size, dtype=int)
    active, rows = np.arange(size), WeightedRows.of(matrix)
    for _ in range(_MOST_STEPS):
        p = np.where(seen[active], _laws(point.theta, matrix), 1.0)
        complementarity = (point.theta * point.slacks).sum(axis=1)
        slopes = _means(fractions[active] / p, matrix).max(axis=1)
        doubt = np.maximum(np.abs(np.log(slopes * point.theta.sum(axis=1))), 4 * _EPS) + complementarity
        better = doubt < least[active]
        at = active[better]
        for kept, found in zip(best.parts, point.parts, strict=True):
            kept[at] = found[better]
        least[at] = doubt[better]
        since[active] = np.where(better, 0, since[active] + 1)
        near[active] += least[active] < _CLOSE
        # Near the optimum only rounding errors prevent progress.
        patience = np.where(near[active] > 0, 3, _PATIENCE)
        going = ~((doubt < 4 * _EPS + _CLOSED) | (since[active] > patience) | (near[active] > _FINISH))
        active = active[going]
        if matrix.ndim > 2:
            matrix = matrix[going]
            rows = WeightedRows(matrix, None)
        if not active.size:
            break
        point = _step(rows, fractions[active], _Iterate(*(part[going] for part in point.parts)))
    return _Iterate(best.theta / best.theta.sum(axis=1, keepdims=True), best.slacks, best.prices)


def _solver(rows: WeightedRows, weights: Floats, theta: Floats, slacks: Floats) -> Callable[[Floats], Floats]:
    """Return what solves, for each group, ``diag(theta) (A diag(weights) A^T diag(theta) + diag(slacks))``."""
    system = rows.products(weights)
    # Rows of very different size: scaled to a diagonal of ones, no pivot is lost. Equal rows make the system singular;
    # a relative rounding error on its diagonal keeps it positive definite.
    diagonal = np.einsum("gii->gi", system)
    diagonal *= 1 + theta.shape[1] * _EPS
    diagonal += slacks / theta
    scale = 1 / np.sqrt(diagonal)
    system *= scale[:, :, None]
    system *= scale[:, None]
    scale /= theta

    def solved(right: Floats) -> Floats:
        result: Floats = scale * np.linalg.solve(system, (scale * right)[:, :, None])[:, :, 0]
        return result

    return solved


def _step(rows: WeightedRows, fractions: Floats, at: _Iterate) -> _Iterate:
    """Return the next iterates: a predictor step is computed first, then the step that corrects for its curvature."""
    matrix, (theta, s, v) = rows.matrix, at.parts
    seen = fractions > 0
    p = np.where(seen, _laws(theta, matrix), 1.0)
    residual, products, prices = _means(v, matrix) + s - 1, v * p, np.where(seen, v, 1.0)
    solved = _solver(rows, v / p, theta, s)

    def direction(slack_target: Floats | float, price_target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        lack, gain = slack_target - theta * s, (price_target - products) / p
        relative = solved(theta * (residual + _means(gain, matrix)) + lack)
        d_theta = theta * relative
        d_p = _laws(d_theta, matrix)
        d_p *= seen
        d_v = gain - v * d_p / p
        # Two formulas for the same number; the one without cancellation is taken.
        d_s = np.where(s > theta, -residual - _means(d_v, matrix), lack / theta - s * relative)
        return d_theta, d_s, d_p, d_v

    def length(steps: tuple[Floats, Floats, Floats, Floats]) -> Floats:
        least = np.min([(d / x).min(axis=1) for d, x in zip(steps, (theta, s, p, prices), strict=True)], axis=0)
        result: Floats = np.minimum(1.0, _TO_BORDER / np.maximum(-least, _TO_BORDER))[:, None]
        return result

    ahead = direction(0.0, fractions)
    reach = length(ahead)
    mean = (theta * s).mean(axis=1, keepdims=True)
    left = ((theta + reach * ahead[0]) * (s + reach * ahead[1])).mean(axis=1, keepdims=True)
    curved = reach**2
    price_target = np.clip(fractions - curved * ahead[2] * ahead[3], 0.1 * fractions, 10 * fractions)
    steps = direction((left / mean) ** 3 * mean - curved * ahead[0] * ahead[1], price_target)
    reach = length(steps)
    for _ in range(_MOST_STEPS):
        low = ((v + reach * steps[3]) * (p + reach * steps[2]) < _LEAST_PRODUCT * fractions).any(axis=1, keepdims=True)
        if not low.any():
            break
        reach = np.where(low, 0.8 * reach, reach)
    return _Iterate(theta + reach * steps[0], s + reach * steps[1], v + reach * steps[3])


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
