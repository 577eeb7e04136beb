"""The best separable form and multipliers against the columns that are held: a primal-dual interior-point method.

Over ``Theta = diag(d) + B 1 1'`` and lambda,

    maximise  2 tr (F Theta F')^(1/2) - sum(lambda)   subject to   (v - 1)' Theta (v - 1) <= <lambda, v>

for every column v that is held, and B <= 0. The objective is concave and the conditions are linear. The multipliers
of the conditions are the weights of a mechanism of the held columns, which has its moments ``sum w (v_i - 1)^2`` in
common with the best one.

For very many symbols d and lambda are sums of few families: functions of the mass of a symbol that are linear between
a few masses, times the d of the bound of `caps`. They prove a bound like any others, and each step takes about ``N^3``
operations rather than ``N^4``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up

_MOST_STEPS = 60
_TO_BOUNDARY = 0.98
_SHORTER, _LEAST_STEP = 0.7, 1e-9  # steps that leave the domain are cut until they are too short to matter
_MOST_QUARTERINGS = 40  # of a B outside the domain
_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class DualPoint:
    """A form and multipliers that satisfy the conditions of all held columns.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    parameters : array
        Both as one vector.
    weights : array, shape (k,)
        Of the held columns.
    value : float
        The objective.
    limit : float
        About the greatest objective that there is for these columns.
    converged : bool
        Whether the limit may be relied upon.
    """

    form: QuadraticForm
    multipliers: Floats
    parameters: Floats
    weights: Floats
    value: float
    limit: float
    converged: bool


@dataclass(frozen=True, eq=False)
class RestrictedDual:
    """The program for one prior and workload.

    Attributes
    ----------
    prior : array, shape (N,)
        P.
    workload : array, shape (q, N)
        W.
    with_common : bool
        Whether B may be below 0.
    families : array, shape (N, G), optional
        Orthonormal columns, of which d and lambda are sums; by default both are any vectors.
    """

    prior: Floats
    workload: Floats
    with_common: bool
    families: Floats | None = None

    @property
    def size(self) -> int:
        """How many numbers give d, and as many lambda."""
        return self.prior.size if self.families is None else self.families.shape[1]

    def coordinates(self, vectors: Floats) -> Floats:
        """Return what multiplies the families in vectors that are sums of them; the vectors themselves without any."""
        return vectors if self.families is None else self.families.T @ vectors

    def _vector(self, coordinates: Floats) -> Floats:
        return coordinates.copy() if self.families is None else self.families @ coordinates

    @cached_property
    def _reduced(self) -> Floats:
        """A matrix of full row rank with the same F'F, and its sum of columns where there is a B."""
        F = self.workload - (self.workload @ self.prior)[:, None]
        _, sizes, rows = np.linalg.svd(F, full_matrices=False)
        kept = sizes > _RANK * sizes[0]
        reduced: Floats = sizes[kept, None] * rows[kept]
        return np.column_stack([reduced, reduced.sum(axis=1)]) if self.with_common else reduced

    def joined(self, diagonal: Floats, common: float, multipliers: Floats) -> Floats:
        """Return parameters as one vector: d, B if there is one, and lambda."""
        common_part = [common] if self.with_common else []
        return np.concatenate([self.coordinates(diagonal), common_part, self.coordinates(multipliers)])

    def parts(self, parameters: Floats) -> tuple[QuadraticForm, Floats]:
        """Return the form and lambda of parameters."""
        G = self.size
        common = float(parameters[G]) if self.with_common else 0.0
        return QuadraticForm(self._vector(parameters[:G]), common), self._vector(parameters[-G:])

    def takes(self, parameters: Floats) -> bool:
        """Return whether the form of parameters is inside the domain, where `solve` may start."""
        return self._curve(parameters[: -self.size], derivatives=False) is not None

    def _inside(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the same at a point that has to be inside the domain."""
        curve = self._curve(theta)
        if curve is None:
            raise SolverError.not_converged(
                "the search for a certificate of the estimation error left the forms that prove one"
            )
        return curve

    def _common(self, x: Floats) -> float:
        """Return a B below 0 for which the form is inside the domain."""
        N, common = self.size, float(x[self.size])
        least = -1e-4 * abs(common)
        if common == 0:
            common = least = -0.1 * float(np.abs(x[:N]).max())
        for _ in range(_MOST_QUARTERINGS):
            if self._curve(np.append(x[:N], min(common, least)), derivatives=False) is not None:
                break
            common, least = common / 4, least / 4
        return min(common, least)

    def _rows(self, columns: Floats) -> Floats:
        """Return the rows a of all conditions ``<a, parameters> <= 0``."""
        moved = columns - 1
        common = [moved.sum(axis=0)[:, None] ** 2] if self.with_common else []
        parts = [self.coordinates(moved**2).T, *common, -self.coordinates(columns).T]
        rows = np.hstack(parts)
        if self.with_common:
            sign = np.zeros((1, rows.shape[1]))
            sign[0, self.size] = 1.0
            rows = np.vstack([rows, sign])
        return rows

    def _curve(self, theta: Floats, *, derivatives: bool = True) -> tuple[float, Floats, Floats] | None:
        """Return ``2 tr (F Theta F')^(1/2)``, its gradient and minus its Hessian; None outside of its domain."""
        F, G = self._reduced, self.size
        if not np.isfinite(theta).all():
            return None
        values, vectors = np.linalg.eigh((F * np.append(self._vector(theta[:G]), theta[G:])) @ F.T)
        if not values[0] > 1e-13 * values[-1]:
            return None
        root = np.sqrt(values)
        if not derivatives:
            return 2 * float(root.sum()), theta, theta
        images = vectors.T @ F
        gradient = self._by_parameters((images**2 / root[:, None]).sum(axis=0))
        hessian = np.zeros((theta.size, theta.size))
        for a in range(root.size):
            # Each pair of eigenvectors once; those of different ones count twice.
            h = 2.0 / (root[a] * root[a:] * (root[a] + root[a:]))
            h[0] /= 2
            products = self._by_parameters((images[a] * images[a:] * np.sqrt(h)[:, None]).T).T
            hessian += products.T @ products
        return 2 * float(root.sum()), gradient, hessian

    def _by_parameters(self, of_entries: Floats) -> Floats:
        """Return derivatives by the parameters of Theta from those by d and B."""
        if self.families is None:
            return of_entries
        N = self.prior.size
        return np.concatenate([self.coordinates(of_entries[:N]), of_entries[N:]])

    @np.errstate(all="ignore")  # what is not finite ends the steps
    def solve(
        self, columns: Floats, start: Floats, tol: float, room: float = 1e-2, deadline: float | None = None
    ) -> DualPoint:
        """Return a point whose objective is within about a relative tolerance of the greatest.

        Where that is not reached, because numbers become too small for floats or time is up, the point is the last
        one that satisfies all conditions, and has not converged.

        Parameters
        ----------
        columns : array, shape (N, k)
            The held columns. Unless (1,...,1) is a sum of them with positive weights, and they span all directions, the
            objective has no greatest value.
        start : array
            Parameters, whose form is inside the domain; lambda is moved along P until all conditions hold.
        tol : float
            The relative tolerance.
        room : float
            By how much more lambda is moved, relative to the objective: little where the start is nearly best.
        deadline : float, optional
            No step begins after this time of `time.monotonic`.

        Raises
        ------
        SolverError
            If the form of the start is outside the domain.
        """
        N, rows = self.size, self._rows(columns)
        ones, x = self.coordinates(np.ones(self.prior.size)), start.copy()
        size = x.size - N
        if self.with_common:
            x[N] = self._common(x)
        held = rows[: columns.shape[1]]
        worst = float((held @ x).max())
        curve = self._inside(x[:size])
        scale = abs(curve[0]) + 1e-300
        x[size:] += (max(worst, 0.0) + room * scale) * self.coordinates(self.prior)
        slack = -rows @ x
        weights = room * scale / slack / len(rows)
        converged = False
        for _ in range(_MOST_STEPS):
            value, gradient, hessian = curve
            objective = value - float(ones @ x[size:])
            gap = float(weights @ slack)
            slope = np.concatenate([-gradient, ones])
            residual = slope + rows.T @ weights
            if gap < tol * abs(objective) and float(np.abs(residual).max()) < 1e-3 * float(np.abs(slope).max()):
                converged = True
                break
            if time_is_up(deadline):
                break
            system = (rows * (weights / slack)[:, None]).T @ rows
            system[:size, :size] += hessian
            factor = _inverse(system)
            if factor is None:
                break
            step, moved, other = _steps(rows, slack, weights, slope, factor, gap)
            along, across = _longest(slack, moved), _longest(weights, other)
            along = min(1.0, _TO_BOUNDARY * along)
            further = self._curve(x[:size] + along * step[:size])
            while further is None and along > _LEAST_STEP:
                along *= _SHORTER
                further = self._curve(x[:size] + along * step[:size])
            ahead = -rows @ (x + along * step)
            if further is None or not along > _LEAST_STEP or not ahead.min() > 0 or not np.isfinite(other).all():
                break
            x, curve, slack = x + along * step, further, ahead
            weights = weights + min(1.0, _TO_BOUNDARY * across) * other
        return DualPoint(*self.parts(x), x, weights[: columns.shape[1]], objective, objective + gap, converged)


def _inverse(system: Floats) -> Floats | None:
    """Return the inverse of a positive definite matrix; None where it is singular in floats."""
    system[np.diag_indices_from(system)] *= 1 + 1e-13
    scales = 1 / np.sqrt(np.maximum(np.diag(system), 1e-300))
    try:
        result: Floats = np.linalg.inv(system * scales[:, None] * scales) * scales[:, None] * scales
    except np.linalg.LinAlgError:
        return None
    return result


def _steps(
    rows: Floats, slack: Floats, weights: Floats, slope: Floats, factor: Floats, gap: float
) -> tuple[Floats, Floats, Floats]:
    """Return the steps of the parameters, of the slacks and of the weights.

    They are computed without centering first, to see how far that goes; then with it.
    """
    step = -factor @ slope
    moved = -rows @ step
    other = -weights - weights * moved / slack
    reach = min(_longest(slack, moved), _longest(weights, other))
    center = gap / len(rows) * max((1 - reach) ** 3, 1e-4)
    step = -factor @ (slope + rows.T @ (center / slack))
    moved = -rows @ step
    return step, moved, center / slack - weights - weights * moved / slack


def _longest(at: Floats, step: Floats) -> float:
    """Return the longest multiple of a step, at most 1 / 0.98, that keeps positive numbers from falling below 0."""
    down = step < 0
    return float(min(1 / _TO_BOUNDARY, (at[down] / -step[down]).min(initial=np.inf)))
