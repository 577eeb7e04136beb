"""A utility averaged over priors: for pricing columns and for bounds, whatever the reference prior is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.numerics.arrays import Floats, real_array
from mechdesign.numerics.bounds import as_bound
from mechdesign.utility import Utility

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class MixedUtility(Utility):
    """The utility ``sum_k w_k U(Q_k)``; the prior that is given to its methods only scales columns.

    Attributes
    ----------
    utility : Utility
        Its mu is averaged.
    priors : array, shape (K, N)
    weights : array, shape (K,)

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> mixed = MixedUtility(MutualInformation(), np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0.5, 0.5]))
    >>> round(mixed.value(np.eye(2), [0.5, 0.5]), 6)
    0.346574
    """

    utility: Utility
    priors: Floats
    weights: Floats

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:  # noqa: ARG002 - it has its own priors
        """Return the average of mu of each column, shape (M,)."""
        return self.utility.mean_mu(real_array(columns, "the matrix"), self.priors, self.weights)

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:  # noqa: ARG002
        """Return the average of the gradients at one column, shape (N,)."""
        slopes = [self.utility.gradient(column, Q) for Q in self.priors]
        result: Floats = self.weights @ np.array(slopes)
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:  # noqa: ARG002
        """Return an upper bound of mu over all columns within ``slack`` of each given one, shape (M,).

        For each prior Q the column is divided by its mean ``q = <Q, v>``, which is known up to the mean of the slack;
        mu is homogeneous. Where the slack is too large for this, mu is at most ``sum_i v_i mu(1_i)``, because it is
        sublinear.
        """
        off = np.broadcast_to(np.asarray(slack, dtype=float), columns.shape)
        total = np.zeros(columns.shape[1])
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for weight, Q in zip(self.weights, self.priors, strict=True):
                q = Q @ columns
                error = Q @ off + (Q.size + 4) * _EPS * q
                near = error < q / 4
                share = np.where(near, error / np.where(near, q, 1.0), 0.0)
                mean = np.where(near, q, 1.0)
                u = columns / mean
                around = (off / mean + u * (share + 4 * _EPS)) / (1 - share)
                upper = self.utility.mu_up(u, Q, around) * mean
                upper += np.abs(upper) * (share + 4 * _EPS)
                total += weight * as_bound(np.where(near, upper, self._disclosed(Q) @ (columns + off)))
        result: Floats = total + np.abs(total) * (len(self.weights) + 4) * _EPS
        return result

    def disclosure(self) -> float:
        """Return the utility of releasing the data unchanged, rounded up, which no mechanism exceeds."""
        total = sum(float(w * self._disclosed(Q).sum()) for w, Q in zip(self.weights, self.priors, strict=True))
        return total * (1 + (self.priors.size + 4) * _EPS)

    def _disclosed(self, Q: Floats) -> Floats:
        """Return mu of the columns of single symbols at a prior, rounded up."""
        scaled = np.diag(1.0 / np.where(Q > 0, Q, 1.0))
        upper = self.utility.mu_up(scaled, Q, 4 * _EPS * scaled)
        result: Floats = np.where(Q > 0, np.maximum(upper, 0.0) * Q * (1 + 4 * _EPS), 0.0)
        return result
