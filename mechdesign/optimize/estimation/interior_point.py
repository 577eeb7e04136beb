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

from dataclasses import dataclass, replace

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats

_MOST_STEPS = 60
_NEARLY = 1e-9
_TO_BOUNDARY = 0.995
_RAISED = (0.0, 1e-10, 1e-6)  # least eigenvalues of a workload that is solved for, tried in this order
_RANK = 1e-11  # of the columns' Gram matrix, relative to its greatest eigenvalue
_LEAST_SHARE = 0.1  # of a weight that is left when rows are repaired
_WHOLE = 1e-9  # how far rows may be from their sum 1


@dataclass(frozen=True)
class Weights:
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
        ``sum(lambda) - value``, relative to the value: no weights have an error below ``(1 - gap) value``. Where the
        rank of the workload is low, this is said of the workload that was solved for.
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
        The workload, reduced; its greatest eigenvalue is 1.
    raised : array, shape (n, n)
        The same with its least eigenvalues raised to a small number, with which Y stays regular.
    lift : array, shape (N, n)
        ``X = lift' V``.
    scale : float
        What the reduced workload was divided by.
    least : float
        The least eigenvalue of K.
    """

    X: Floats
    K: Floats
    raised: Floats
    lift: Floats
    scale: float
    least: float

    def with_least(self, floor: float) -> _Program:
        """Return the program for the workload whose eigenvalues below a number are raised to it."""
        values, directions = np.linalg.eigh(self.K)
        return replace(self, raised=(directions * np.maximum(values, floor)) @ directions.T)

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


def solve(columns: Floats, prior: Floats, workload: Floats, tolerance: float, start: Floats | None = None) -> Weights:
    """Return the best weights of columns.

    Parameters
    ----------
    columns : array, shape (N, k)
        Scaled to ``<P, v> = 1``; some weights of theirs give the sum (1,...,1).
    prior : array, shape (N,)
        P, positive.
    workload : array, shape (q, N)
        W, a row for each query. Where its rank is low, the best Y may be singular. If the program then fails, it is
        solved with the least eigenvalues of the workload raised, to 1e-10 and then to 1e-6 of the greatest, which
        costs about the square root of that. The value is that of W itself.
    tolerance : float
        Of the value, relative.
    start : array of shape (k,), optional
        Weights to start near; they need not sum to 1.

    Raises
    ------
    SolverError
        If no weights make a mechanism of the columns, or none from which the workload can be estimated.

    Examples
    --------
    >>> columns = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> found = solve(columns, np.array([0.5, 0.5]), np.eye(2), 1e-9)
    >>> found.weights.round(6), round(found.value, 6)
    (array([0.5, 0.5, 0. ]), 0.5)
    """
    weights = _even(columns)
    if start is not None:
        weights = 0.7 * start / start.sum() + 0.3 * weights
    program = _reduced(columns, prior, workload)
    for floor in _RAISED:
        try:
            return _solved(program.with_least(floor), columns, prior, weights, tolerance)
        except SolverError:
            if floor == _RAISED[-1] or program.least >= _RAISED[-1]:
                raise
    raise AssertionError


def _solved(program: _Program, columns: Floats, prior: Floats, weights: Floats, tolerance: float) -> Weights:
    """Return the best weights of a program."""
    point, count = _first(program, weights), weights.size
    for steps in range(_MOST_STEPS):
        raised, gap = _gap(program, point)
        whole = np.abs(program.rows @ point.w - _target(program)).max()
        if gap <= tolerance and whole <= max(_WHOLE, 1e-3 * tolerance):
            return _result(program, point, columns, prior, raised, steps)
        point = _step(program, point)
    raise SolverError(
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


def _reduced(columns: Floats, prior: Floats, workload: Floats) -> _Program:
    """Return the program in reduced coordinates."""
    U = basis_of_sum_zero(prior.size)
    X = U.T @ columns
    queries = workload @ U
    values, vectors = np.linalg.eigh((X * _even(columns)) @ X.T)
    kept = values > _RANK * values[-1]
    outside = queries - (queries @ vectors[:, kept]) @ vectors[:, kept].T
    if not kept.any() or np.abs(outside).max() > 1e-6 * np.abs(queries).max():
        raise SolverError("the columns held tell nothing about some query of the workload: its error is infinite")
    B = vectors[:, kept] / np.sqrt(values[kept])
    half = queries @ B
    wanted, directions = np.linalg.eigh(half.T @ half)
    scale = float(wanted[-1])
    if not scale > 0:
        raise SolverError("the workload asks for nothing that depends on the frequencies")
    K = (directions * np.maximum(wanted / scale, 0.0)) @ directions.T
    return _Program(B.T @ X, K, K, U @ B, scale, float(wanted[0]) / scale)


def _even(columns: Floats) -> Floats:
    """Return weights of sum 1 by which all columns take about the same share of the row they are greatest in."""
    shares = 1.0 / columns.max(axis=0)
    result: Floats = shares / shares.sum()
    return result


def _target(program: _Program) -> Floats:
    """Return b of ``A w = b``."""
    target = np.zeros(len(program.X) + 1)
    target[-1] = 1.0
    return target


def _evaluated(program: _Program, w: Floats, y: Floats, z: Floats) -> _Point:
    """Return an iterate, with what depends on its weights."""
    X = program.X
    inverse = np.linalg.inv((X * w) @ X.T)
    inverse = (inverse + inverse.T) / 2
    M = inverse @ program.raised @ inverse
    gradient = np.einsum("ak,ak->k", X, M @ X)
    return _Point(w, y, z, inverse, M, gradient, float(np.sum(program.raised * inverse)))


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
        from scipy.linalg import cho_factor, solve_triangular

        self._point, self._rows = point, rows
        self._root = np.sqrt(point.w / point.z)
        scaled = program.X * np.sqrt(self._root)  # twice, once in either product
        system = _lower_gram(point.inverse, scaled)
        system *= 2.0 * _lower_gram(point.M, scaled)
        system[np.diag_indices_from(system)] += 1.0
        try:
            self._factor = cho_factor(system, lower=True, check_finite=False)[0]
        except np.linalg.LinAlgError:  # beyond the range of floats, it is solved nearly
            system[np.diag_indices_from(system)] *= 1 + _NEARLY
            try:
                self._factor = cho_factor(system, lower=True, check_finite=False)[0]
            except np.linalg.LinAlgError:
                raise SolverError(
                    f"the weights of {system.shape[0]} columns did not converge; change epsilon or radius a little"
                ) from None
        self._half = solve_triangular(self._factor, (rows * self._root).T, lower=True, check_finite=False)
        self._schur = self._half.T @ self._half
        self._primal = rows @ point.w - _target(program)
        self._dual = rows.T @ point.y - point.gradient - point.z

    def towards(self, complement: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the changes of w, y and z that give ``w dz + z dw = complement`` and remove both residuals."""
        from scipy.linalg import solve_triangular

        point, root = self._point, self._root
        right = complement / point.w - self._dual
        half = solve_triangular(self._factor, root * right, lower=True, check_finite=False)
        dy = np.linalg.lstsq(self._schur, self._half.T @ half + self._primal, rcond=1e-15)[0]
        dw = root * solve_triangular(self._factor, half - self._half @ dy, lower=True, trans="T", check_finite=False)
        dz = (complement - point.z * dw) / point.w
        return dw, dy, dz


def _lower_gram(form: Floats, columns: Floats) -> Floats:
    """Return the lower triangle of ``V' Q V`` for a positive semidefinite form Q."""
    from scipy.linalg.blas import dsyrk

    values, vectors = np.linalg.eigh(form)
    half = (vectors * np.sqrt(np.maximum(values, 0.0))).T @ columns
    result: Floats = dsyrk(1.0, np.asfortranarray(half), trans=1, lower=1)
    return result


def _result(program: _Program, point: _Point, columns: Floats, prior: Floats, raised: Floats, steps: int) -> Weights:
    """Return an iterate in the coordinates of the symbols, with weights whose rows sum to 1."""
    scale = program.scale
    multipliers = scale * (program.lift @ raised[:-1] + raised[-1] * prior)
    M = scale * program.lift @ point.M @ program.lift.T
    gap = (raised[-1] - point.value) / point.value
    value = scale * float(np.sum(program.K * point.inverse))
    return Weights(full_weights(columns, point.w), multipliers, value, M, float(gap), steps)
