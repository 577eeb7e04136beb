"""The best weights of given columns for estimation: a primal-dual interior-point method.

Columns v have ``<P, v> = 1``; weights w >= 0 with ``sum_y w_y v_y = (1,...,1)`` make a mechanism of them. The error of
the estimate is ``tr(K J^-1) - P'K P`` with ``J = sum_y w_y v_y v_y'`` and the workload's ``K = W'W``. Because of
``J P = (1,...,1)`` it is ``tr(U'KU Y^-1)`` with an orthonormal basis U of the vectors of sum 0 and
``Y = sum_y w_y (U'v_y)(U'v_y)'``: a convex function of w, and smaller numbers than J^-1 where epsilon is small.

Its gradient is ``-v'Mv`` with ``M = U Y^-1 U'KU Y^-1 U'``, its Hessian ``2 (v_r' U Y^-1 U' v_s)(v_r' M v_s)``. For
multipliers lambda of the rows the reduced cost of a column is ``v'Mv - <lambda, v>``. No weights of the columns give an
error below ``2 value - sum(lambda)`` if no column has a positive one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import sooner, time_is_up

_MOST_STEPS = 100
_TO_BOUNDARY = 0.995
_RANK = 1e-11  # of the columns' Gram matrix, relative to its greatest eigenvalue
_ADDED = 0.1  # to the roots of the workload, relative to tolerance over dimension
_SINGULAR = 1e-12  # singular values of the rows in Newton's equations, relative to the greatest
_LEAST_SHARE = 0.1  # of a weight that is left when rows are repaired
_WHOLE = 1e-9  # how far rows may be from their sum 1
_SECONDS_AN_OPERATION, _STEPS = 5e-11, 10  # of a step, or less; and how many steps to expect


@dataclass(frozen=True)
class ColumnWeights:
    """Weights of columns, and what proves how good they are among these columns.

    Attributes
    ----------
    weights : array, shape (k,)
        Positive; the weighted sum of the columns is (1,...,1) up to rounding.
    multipliers : array, shape (N,)
        lambda. All columns have ``v'Mv - <lambda, v> <= 0`` up to rounding.
    value : float
        The error ``tr(K J^-1) - P'K P`` of the weights, up to a hundredth of the tolerance.
    M : array, shape (N, N)
        The matrix of the gradient, ``T J^-1 K J^-1 T'`` with ``T = I - P 1'``, so that ``M 1 = 0`` and
        ``v'Mv = (v-1)'M(v-1)``. Without T reduced costs are the same if lambda gets the terms linear in v, because
        ``<P, v> = 1``.
    gap : float
        ``sum(lambda) - value``, relative to the value: no weights have an error below ``(1 - gap) value``.
    steps : int
        Newton steps that were needed.
    """

    weights: Floats
    multipliers: Floats
    value: float
    M: Floats
    gap: float
    steps: int


@dataclass(frozen=True)
class _Program:
    """``min tr(K Y^-1)`` over w >= 0 with ``A w = (0,...,0,1)``, in coordinates in which Y is about 1.

    Attributes
    ----------
    X : array, shape (n, k)
        The columns, reduced.
    K : array, shape (n, n)
        The workload, reduced; diagonal, so that small entries stay exact; its greatest eigenvalue is about 1.
    lift : array, shape (N, n)
        ``X = lift' V``.
    scale : float
        What the reduced workload was divided by.
    """

    X: Floats
    K: Floats
    lift: Floats
    scale: float

    @property
    def rows(self) -> Floats:
        """A: the columns and a row of ones."""
        return np.vstack([self.X, np.ones(self.X.shape[1])])


@dataclass(frozen=True)
class _Point:
    """An iterate: weights w, multipliers y of the rows, slacks z, and what depends on w."""

    w: Floats
    y: Floats
    z: Floats
    inverse: Floats
    M: Floats
    gradient: Floats
    value: float


def seconds_of_steps(size: int, count: int) -> float:
    """Return about how long the best weights of so many columns of N symbols take.

    Examples
    --------
    >>> seconds_of_steps(30, 700) < 1 < seconds_of_steps(90, 5_000)
    True
    """
    return _SECONDS_AN_OPERATION * _STEPS * (60 * size**3 + count**3 / 3 + 4 * count**2 * size)


def basis_of_sum_zero(size: int) -> Floats:
    """Return an orthonormal basis of the vectors of sum 0, shape (N, N - 1).

    Examples
    --------
    >>> basis_of_sum_zero(2).round(4)
    array([[ 0.7071],
           [-0.7071]])
    """
    k = np.arange(1, size)
    basis = np.where(np.arange(size)[:, None] < k, 1.0, 0.0)
    basis[k, k - 1] = -k
    result: Floats = basis / np.sqrt(k * (k + 1))
    return result


def solve(
    columns: Floats,
    prior: Floats,
    workload: Floats,
    tolerance: float,
    start: Floats | None = None,
    deadline: float | None = None,
    *,
    unfinished: bool = False,
) -> ColumnWeights:
    """Return the best weights of columns.

    Parameters
    ----------
    columns : array, shape (N, k)
        Scaled to ``<P, v> = 1``; some weights of theirs give the sum (1,...,1).
    prior : array, shape (N,)
        P, positive.
    workload : array, shape (q, N)
        W, a row for each query. Where its rank is low, the best Y may be singular: a workload of all directions, with
        weights of the size of the squared tolerance, is added to it, which moves the value by less than the tolerance.
    tolerance : float
        Of the value, relative. Where few weights make a mechanism, steps may end before it is reached; `Weights.gap`
        says how good the weights are.
    start : array of shape (k,), optional
        Weights to start near; they need not sum to 1.
    deadline : float, optional
        A time of `time.monotonic` by which the last step ends, if it takes as long as the one before.
    unfinished : bool
        Whether the best weights so far that make a mechanism are returned at the deadline, if there are any.

    Raises
    ------
    SolverError
        If no weights make a mechanism of the columns, or none from which the workload can be estimated, or the deadline
        comes before the tolerance is reached.

    Examples
    --------
    >>> columns = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> found = solve(columns, np.array([0.5, 0.5]), np.eye(2), 1e-9)
    >>> found.weights.round(6), round(found.value, 6)
    (array([0.5, 0.5, 0. ]), 0.5)
    """
    program = _reduced(columns, prior, workload, tolerance)
    count = columns.shape[1]
    weights = _even(columns)
    if start is not None:
        weights = 0.7 * start / start.sum() + 0.3 * weights
    best, least = None, np.inf
    try:
        point = _first(program, weights)
    except np.linalg.LinAlgError:
        raise SolverError.solver_failed(
            f"the weights of {count} columns leave a direction out; change epsilon or radius a little"
        ) from None
    began, took = time.monotonic(), 0.0
    for steps in range(_MOST_STEPS):
        raised, gap = _gap(program, point)
        whole = np.abs(program.rows @ point.w - _target(program)).max()
        if whole <= max(_WHOLE, 1e-3 * tolerance) and gap < least:
            best, least = _result(program, point, columns, prior, raised, steps), gap
            if gap <= tolerance:
                return best
        if time_is_up(sooner(deadline, took)):
            if unfinished and best is not None:
                return best
            raise SolverError.not_converged(f"the weights of {count} columns did not converge in time; give more of it")
        try:
            point = _step(program, point)
        except (np.linalg.LinAlgError, SolverError):  # directions without information: no further step
            break
        took, began = time.monotonic() - began, time.monotonic()
    if best is not None:
        return best
    raise SolverError.not_converged(
        f"the weights of {count} columns did not converge in {_MOST_STEPS} steps: gap {gap:.1e}, rows off by"
        f" {whole:.1e}; change epsilon or radius a little"
    )


def full_weights(columns: Floats, weights: Floats) -> Floats:
    """Return weights near positive ones, so that rows sum to 1 up to rounding; each changes by a share of itself.

    Parameters
    ----------
    columns : array, shape (N, k)
        Columns of which some weights give the sum (1,...,1).
    weights : array, shape (k,)
        Positive weights that give it nearly.

    Examples
    --------
    >>> full_weights(np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([0.49, 0.505]))
    array([0.5, 0.5])
    """
    result = weights
    for _ in range(3):
        missing = 1.0 - columns @ result
        gram = (columns * result) @ columns.T
        share, *_ = np.linalg.lstsq(gram, missing, rcond=None)
        result = result * np.maximum(1.0 + columns.T @ share, _LEAST_SHARE)
    return result


def _reduced(columns: Floats, prior: Floats, workload: Floats, tolerance: float) -> _Program:
    """Return the program in reduced coordinates."""
    U = basis_of_sum_zero(prior.size)
    X = U.T @ columns
    queries = workload @ U
    values, vectors = np.linalg.eigh((X * _even(columns)) @ X.T)
    kept = values > _RANK * values[-1]
    outside = queries - (queries @ vectors[:, kept]) @ vectors[:, kept].T
    if not kept.any() or np.abs(outside).max() > 1e-6 * np.abs(queries).max():
        raise SolverError.solver_failed(
            "the columns held tell nothing about some query of the workload, but for rounding: its error is infinite; "
            "give a larger epsilon, queries that reports tell, or another utility, such as chi-square"
        )
    B = vectors[:, kept] / np.sqrt(values[kept])
    _, singular, axes = np.linalg.svd(queries @ B)
    scale = float(singular[0]) ** 2
    if scale == 0:
        raise SolverError.solver_failed("the workload asks for nothing that depends on the frequencies")
    K = np.full(len(axes), (_ADDED * tolerance / len(axes)) ** 2)
    K[: singular.size] += singular**2 / scale
    B = B @ axes.T
    return _Program(B.T @ X, np.diag(K), U @ B, scale)


def _even(columns: Floats) -> Floats:
    """Return weights of sum 1 by which all columns take about the same share of the row they are greatest in."""
    shares = 1.0 / columns.max(axis=0)
    result: Floats = shares / shares.sum()
    return result


def _target(program: _Program) -> Floats:
    """Return b of ``A w = b``."""
    target: Floats = np.append(np.zeros(len(program.X)), 1.0)
    return target


def _evaluated(program: _Program, w: Floats, y: Floats, z: Floats) -> _Point:
    """Return an iterate, with what depends on its weights."""
    X = program.X
    Y = (X * w) @ X.T
    scales = 1 / np.sqrt(np.diag(Y))
    inverse = np.linalg.inv(Y * np.outer(scales, scales)) * np.outer(scales, scales)
    inverse = (inverse + inverse.T) / 2
    M = inverse @ program.K @ inverse
    gradient = np.einsum("ak,ak->k", X, M @ X)
    return _Point(w, y, z, inverse, M, gradient, float(np.sum(program.K * inverse)))


def _first(program: _Program, weights: Floats) -> _Point:
    """Return the iterate to start from: multipliers fitted to the columns of great weight, slacks well above 0."""
    rows = program.rows
    point = _evaluated(program, weights, np.zeros(len(rows)), np.zeros(weights.size))
    fitted = np.asarray(
        np.linalg.lstsq(rows.T * weights[:, None], point.gradient * weights, rcond=None)[0], dtype=float
    )
    slack = np.maximum(rows.T @ fitted - point.gradient, 0.1 * point.value)
    return replace(point, y=fitted, z=slack)


def _gap(program: _Program, point: _Point) -> tuple[Floats, float]:
    """Return multipliers raised so that no reduced cost is positive, and the relative gap that they prove."""
    raised = point.y.copy()
    raised[-1] += (point.gradient - program.rows.T @ point.y).max()
    return raised, float((raised[-1] - point.value) / point.value)


def _step(program: _Program, point: _Point) -> _Point:
    """Return the next iterate: a predictor step, and from it how far the corrected step is centered."""
    rows = program.rows
    direction = _Direction(program, point, rows)
    mean = float(point.w @ point.z) / point.w.size
    dw, _, dz = direction.towards(-point.w * point.z)
    reach = _reach(point, dw, dz, 1.0)
    ahead = float((point.w + reach * dw) @ (point.z + reach * dz)) / point.w.size
    centered = (ahead / mean) ** 3 * mean
    dw, dy, dz = direction.towards(centered - point.w * point.z - dw * dz)
    reach = _reach(point, dw, dz, _TO_BOUNDARY)
    return _evaluated(program, point.w + reach * dw, point.y + reach * dy, point.z + reach * dz)


def _reach(point: _Point, dw: Floats, dz: Floats, share: float) -> float:
    """Return the longest step, at most 1, that keeps a share of the way to the boundary."""
    steps = [1.0]
    for at, change in ((point.w, dw), (point.z, dz)):
        falling = change < 0
        if falling.any():
            steps.append(share * float((-at[falling] / change[falling]).min()))
    return min(steps)


class _Direction:
    """Newton's equations at an iterate, factorised once for several right-hand sides."""

    def __init__(self, program: _Program, point: _Point, rows: Floats) -> None:
        from scipy.linalg import solve_triangular

        self._point, self._rows = point, rows
        self._root = np.sqrt(point.w / point.z)
        scaled = program.X * np.sqrt(self._root)  # twice, once in either product
        system = _lower_gram(point.inverse, scaled)
        system *= 2.0 * _lower_gram(point.M, scaled)
        system[np.diag_indices_from(system)] += 1.0
        self._factor = _factor(system)
        self._half = solve_triangular(self._factor, (rows * self._root).T, lower=True, check_finite=False)
        # The singular values are the roots of those of the Schur complement: small ones keep their digits.
        left, values, right = np.linalg.svd(self._half, full_matrices=False)
        kept = values > _SINGULAR * values[0]
        self._left, self._values, self._right = left[:, kept], values[kept], right[kept]
        self._primal = rows @ point.w - _target(program)
        self._dual = rows.T @ point.y - point.gradient - point.z

    def towards(self, complement: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the changes of w, y and z that give ``w dz + z dw = complement`` and remove both residuals."""
        from scipy.linalg import solve_triangular

        point, root = self._point, self._root
        right = complement / point.w - self._dual
        half = solve_triangular(self._factor, root * right, lower=True, check_finite=False)
        dy = self._right.T @ ((self._left.T @ half + (self._right @ self._primal) / self._values) / self._values)
        dw = root * solve_triangular(self._factor, half - self._half @ dy, lower=True, trans="T", check_finite=False)
        dz = (complement - point.z * dw) / point.w
        return dw, dy, dz


def _factor(system: Floats) -> Floats:
    """Return the Cholesky factor of a matrix that is positive definite but for rounding."""
    from scipy.linalg import cholesky

    diagonal, added = np.diag(system).copy(), 0.0
    while True:
        try:
            system[np.diag_indices_from(system)] = diagonal * (1 + added)
            return np.asarray(cholesky(system, lower=True, check_finite=False))
        except np.linalg.LinAlgError:
            added = 10 * added or 1e-15
            if added > 1:
                raise SolverError.solver_failed(
                    "the equations of an interior point are singular; change epsilon or radius a little"
                ) from None


def _lower_gram(form: Floats, columns: Floats) -> Floats:
    """Return the lower triangle of ``V' Q V`` for a positive semidefinite form Q."""
    from scipy.linalg.blas import dsyrk

    values, vectors = np.linalg.eigh(form)
    half = (vectors * np.sqrt(np.maximum(values, 0.0))).T @ columns
    result: Floats = dsyrk(1.0, np.asfortranarray(half), trans=1, lower=1)
    return result


def _result(
    program: _Program, point: _Point, columns: Floats, prior: Floats, raised: Floats, steps: int
) -> ColumnWeights:
    """Return an iterate in the coordinates of the symbols, with weights whose rows sum to 1."""
    scale = program.scale
    multipliers = scale * (program.lift @ raised[:-1] + raised[-1] * prior)
    M = scale * program.lift @ point.M @ program.lift.T
    gap = (raised[-1] - point.value) / point.value
    return ColumnWeights(full_weights(columns, point.w), multipliers, scale * point.value, M, float(gap), steps)
