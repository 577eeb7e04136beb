"""The best separable form and multipliers against the columns that are held: a primal-dual interior-point method.

Over ``Theta = diag(d) + B 1 1'`` and lambda,

    maximise  2 tr (F Theta F')^(1/2) - sum(lambda)   subject to   (v - 1)' Theta (v - 1) <= <lambda, v>

for every column v that is held, and B <= 0. The objective is concave and the conditions are linear. The multipliers
of the conditions are the weights of a mechanism of the held columns, which has its moments ``sum w (v_i - 1)^2`` in
common with the best one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm

_MOST_STEPS = 60
_TO_BOUNDARY = 0.98
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
    weights : array, shape (k,)
        Of the held columns.
    value : float
        The objective.
    limit : float
        About the greatest objective that there is for these columns.
    """

    form: QuadraticForm
    multipliers: Floats
    weights: Floats
    value: float
    limit: float


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
    """

    prior: Floats
    workload: Floats
    with_common: bool

    def __post_init__(self) -> None:
        F = self.workload - (self.workload @ self.prior)[:, None]
        _, sizes, rows = np.linalg.svd(F, full_matrices=False)
        kept = sizes > _RANK * sizes[0]
        F = sizes[kept, None] * rows[kept]
        object.__setattr__(self, "_F", np.column_stack([F, F.sum(axis=1)]) if self.with_common else F)

    def start(self, diagonal: Floats, common: float, multipliers: Floats) -> Floats:
        """Return parameters as one vector: d, B if there is one, and lambda."""
        return np.concatenate([diagonal, [common] if self.with_common else [], multipliers])

    def _rows(self, columns: Floats) -> Floats:
        """Return the rows a of all conditions ``<a, parameters> <= 0``."""
        moved = columns - 1
        parts = [moved.T**2, *([moved.sum(axis=0)[:, None] ** 2] if self.with_common else []), -columns.T]
        rows = np.hstack(parts)
        if self.with_common:
            sign = np.zeros((1, rows.shape[1]))
            sign[0, self.prior.size] = 1.0
            rows = np.vstack([rows, sign])
        return rows

    def _curve(self, theta: Floats, *, derivatives: bool = True) -> tuple[float, Floats, Floats] | None:
        """Return ``2 tr (F Theta F')^(1/2)``, its gradient and minus its Hessian; None outside of its domain."""
        F = self._F  # type: ignore[attr-defined]
        values, vectors = np.linalg.eigh((F * theta) @ F.T)
        if not values[0] > 1e-13 * values[-1]:
            return None
        root = np.sqrt(values)
        if not derivatives:
            return 2 * float(root.sum()), theta, theta
        images = vectors.T @ F
        gradient = (images**2 / root[:, None]).sum(axis=0)
        one, two = np.triu_indices(root.size)
        h = (2.0 - (one == two)) / (root[one] * root[two] * (root[one] + root[two]))
        products = images[one] * images[two] * np.sqrt(h)[:, None]
        return 2 * float(root.sum()), gradient, products.T @ products

    def solve(self, columns: Floats, start: Floats, tol: float) -> tuple[DualPoint, Floats]:
        """Return a point whose objective is within about a relative tolerance of the greatest, and its parameters.

        Parameters
        ----------
        columns : array, shape (N, k)
            The held columns; (1,...,1) must be a sum of them with weights.
        start : array
            Parameters, whose form is inside the domain; lambda is moved along P until all conditions hold.
        tol : float
            The relative tolerance.
        """
        N, rows = self.prior.size, self._rows(columns)
        x = start.copy()
        size = x.size - N
        if self.with_common:
            x[N] = min(x[N], -1e-6 * float(np.abs(x[:N]).max()))
        held = rows[: columns.shape[1]]
        worst = float((held @ x).max())
        curve = self._curve(x[:size])
        assert curve is not None
        scale = abs(curve[0]) + 1e-300
        x[size:] += (max(worst, 0.0) + 1e-2 * scale) * self.prior
        slack = -rows @ x
        weights = 0.01 * scale / slack / len(rows)
        for _ in range(_MOST_STEPS):
            curve = self._curve(x[:size])
            assert curve is not None
            value, gradient, hessian = curve
            objective = value - float(x[size:].sum())
            gap = float(weights @ slack)
            slope = np.concatenate([-gradient, np.ones(N)])
            residual = slope + rows.T @ weights
            if gap < tol * abs(objective) and float(np.abs(residual).max()) < 1e-3 * max(
                1.0, float(np.abs(slope).max())
            ):
                break
            system = (rows * (weights / slack)[:, None]).T @ rows
            system[:size, :size] += hessian
            system[np.diag_indices_from(system)] *= 1 + 1e-13
            scales = 1 / np.sqrt(np.maximum(np.diag(system), 1e-300))
            factor = np.linalg.inv(system * scales[:, None] * scales) * scales[:, None] * scales
            # First without centering, to see how far that goes; then with it.
            step = -factor @ slope
            moved = -rows @ step
            other = -weights - weights * moved / slack
            reach = min(_longest(slack, moved), _longest(weights, other))
            center = gap / len(rows) * max((1 - reach) ** 3, 1e-4)
            step = -factor @ (slope + rows.T @ (center / slack))
            moved = -rows @ step
            other = center / slack - weights - weights * moved / slack
            along, across = _longest(slack, moved), _longest(weights, other)
            along = min(1.0, _TO_BOUNDARY * along)
            while self._curve(x[:size] + along * step[:size], derivatives=False) is None and along > 1e-12:
                along *= 0.7
            x = x + along * step
            slack = -rows @ x
            weights = weights + min(1.0, _TO_BOUNDARY * across) * other
        form = QuadraticForm(x[:N], float(x[N]) if self.with_common else 0.0)
        return DualPoint(form, x[size:].copy(), weights[: columns.shape[1]], objective, objective + gap), x


def _longest(at: Floats, step: Floats) -> float:
    """Return the longest multiple of a step, at most 1 / 0.98, that keeps positive numbers from falling below 0."""
    down = step < 0
    return float(min(1 / _TO_BOUNDARY, (at[down] / -step[down]).min(initial=np.inf)))
