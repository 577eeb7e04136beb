"""The certificate of a least estimation error: a quadratic form and multipliers from which a lower bound follows.

For a workload W, let ``T = I - P 1'`` and ``F = W T``. Every mechanism with columns v of weights w has the second
moment ``S = sum w (v - 1)(v - 1)'``, and the covariance C of its estimates satisfies ``S C S = S``. For every symmetric
matrix Theta with ``T Theta T'`` positive semidefinite,

    tr(W C W') >= (tr (F Theta F')^(1/2))^2 / tr(Theta S),

and ``tr(Theta S)`` is at most ``sum(lambda) + r`` for every vector lambda if all columns are extreme rays, where r is
the greatest value of ``(v - 1)' Theta (v - 1) - <lambda, v>`` over the extreme rays of the cone with ``<P, v> = 1``,
because the columns of a mechanism sum to (1,...,1) and their masses to 1. That bounds the error of every mechanism, as
a column split into extreme rays does not lower S. Neither Theta nor lambda must come from anywhere: each pair proves a
bound, and a good pair proves a good one. The proof stands in docs/mathematics.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.pricing.price import Price

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_UNDERFLOW = 2.0**-960  # more than all products lose by underflow whose factors are below 2^60, and Theta below 1


class FormPricing(Protocol):
    """A method that bounds the reduced costs of quadratic forms over the extreme rays of one problem's column cone.

    Attributes
    ----------
    method : str
        Its name.
    """

    method: str

    def price(self, form: QuadraticForm, multipliers: Floats, *, deadline: float | None = None) -> Price:
        """Return an upper bound of ``(v - 1)' Theta (v - 1) - <lambda, v>`` over extreme rays with ``<P, v> = 1``.

        Once the deadline has come, a time of `time.monotonic`, it may be a poor one.
        """


@dataclass(frozen=True, eq=False)
class ErrorCertificate:
    """A lower bound on the estimation error of every mechanism of a problem.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    reduced_cost : float
        The greatest reduced cost r of an extreme ray, rounded up.
    lower_bound : float
        ``(tr (F Theta F')^(1/2))^2 / (sum(lambda) + r)``, rounded down.
    method : str
        How r was computed.
    columns : int
        How many columns or cases were priced.
    """

    form: QuadraticForm
    multipliers: Floats
    reduced_cost: float
    lower_bound: float
    method: str
    columns: int

    @property
    def bound(self) -> float:
        """The lower bound."""
        return self.lower_bound

    @property
    def mixture(self) -> None:
        """None: errors are measured at the reference prior."""
        return

    def gap(self, value: float) -> float:
        """Return how far the error of a mechanism is above the bound."""
        return value - self.lower_bound


def root_trace_down(form: QuadraticForm, prior: Floats, workload: Floats) -> tuple[float, float]:
    """Return a lower bound of ``tr (F Theta' F')^(1/2)``, and eta >= 0, where ``Theta' = Theta + eta I``.

    eta makes ``T Theta' T'`` positive semidefinite; it is 0 or of the size of a rounding error where Theta was meant
    to. Each symmetric matrix is compared with its computed eigenvalues and eigenvectors, and the greatest error that
    this leaves, with the rounding of every product, is taken from each eigenvalue (Weyl, Ostrowski).

    Parameters
    ----------
    form : QuadraticForm
        Theta.
    prior : array, shape (N,)
        P, each entry with a relative error of at most a unit of the last place.
    workload : array, shape (q, N)
        W.

    Examples
    --------
    >>> root, eta = root_trace_down(QuadraticForm(np.ones(4)), np.full(4, 0.25), np.eye(4))
    >>> round(root, 12), eta
    (3.0, 0.0)
    """
    if (
        form.matrix is None
        and form.common == 0
        and (form.diagonal == form.diagonal[0]).all()
        and workload.shape[0] == workload.shape[1]
        and (workload == np.eye(len(workload))).all()
        and form.diagonal[0] >= 0
    ):
        return root_trace_alike(float(form.diagonal[0]), prior), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        projected = eigenvalues_down(*product_in_floats(form, prior, np.eye(form.size)))
        whole = eigenvalues_down(*product_in_floats(form, prior, workload))
    # One eigenvalue of T Theta T' is 0, as T' takes (1,...,1) to 0; on the vectors of sum 0, T T' is at least I.
    eta = 0.0 if _is_convex(form) else max(0.0, -float(projected.min()))
    root = math.fsum(np.sqrt(np.maximum(whole, 0.0)).tolist())
    return root * (1 - 8 * _EPS), eta


def lower_bound(root: float, total: float) -> float:
    """Return ``root^2 / total`` rounded down; infinite where no mechanism but the constant one is left.

    Examples
    --------
    >>> round(lower_bound(3.0, 4.5), 9), lower_bound(3.0, 0.0), lower_bound(0.0, 0.0)
    (2.0, inf, 0.0)
    """
    if not root > 0 or not total < math.inf:
        return 0.0
    if total <= 0:
        return math.inf
    square = root * root
    # What overflows proves nothing.
    return square / total * (1 - 4 * _EPS) if square < math.inf and square / total < math.inf else 0.0


def total_up(multipliers: Floats, reduced_cost: float, eta: float, limits: Floats) -> float:
    """Return an upper bound of ``tr((Theta + eta I) S)`` for every mechanism.

    Parameters
    ----------
    multipliers : array, shape (N,)
        lambda.
    reduced_cost : float
        r, rounded up.
    eta : float
        As from `root_trace_down`.
    limits : array, shape (N,)
        An upper bound of each entry of a column; ``sum w (v_i - 1)^2 <= limits_i - 1``, as the mean of v_i is 1.
    """
    extra = eta * float(np.maximum(limits - 1, 0.0).sum()) * (1 + 2 * limits.size * _EPS)
    try:
        total = math.fsum([*multipliers.tolist(), reduced_cost, extra, _UNDERFLOW])
    except (OverflowError, ValueError):  # infinities of both signs
        return math.inf
    return float(as_bound(math.nextafter(total, math.inf)))


def _is_convex(form: QuadraticForm) -> bool:
    """Return whether Theta is evidently positive semidefinite."""
    return form.matrix is None and form.common >= 0 and bool((form.diagonal >= 0).all())


def root_trace_alike(scale: float, prior: Floats) -> float:
    """Return the root trace of a multiple of I for all frequencies in closed form.

    ``T T'`` is I on the vectors orthogonal to 1 and P, has the eigenvalue ``N |P|^2`` between the two, and 0 for 1.
    """
    N = prior.size
    if N == 1:
        return 0.0
    length = math.sqrt(math.fsum((prior**2).tolist()) * N) * (1 - 4 * _EPS)
    return math.sqrt(scale) * (N - 2 + length) * (1 - 8 * _EPS)


def product_in_floats(form: QuadraticForm, prior: Floats, workload: Floats) -> tuple[Floats, float]:
    """Return ``F Theta F'``, and an upper bound of the Frobenius norm of its error."""
    N = prior.size
    F = workload - (workload @ prior)[:, None]
    # |W P - computed| <= (N + 2) eps |W| P, the rounding of P included; the subtraction adds a unit more.
    F_error = (N + 4) * _EPS * (np.abs(workload) @ prior)[:, None] + _EPS * np.abs(F)
    if form.matrix is None:
        sums = F.sum(axis=1)
        whole = (F * form.diagonal) @ F.T + form.common * np.outer(sums, sums)
        spread, common = np.abs(form.diagonal), abs(form.common)
        reach = np.abs(F)

        def image(A: Floats, B: Floats) -> Floats:
            result: Floats = (A * spread) @ B.T + common * np.outer(A.sum(axis=1), B.sum(axis=1))
            return result
    else:
        whole = F @ form.matrix @ F.T
        absolute = np.abs(form.matrix)
        reach = np.abs(F)

        def image(A: Floats, B: Floats) -> Floats:
            result: Floats = A @ absolute @ B.T
            return result

    error = (4 * N + 16) * _EPS * image(reach, reach) + 2 * image(reach, F_error) + image(F_error, F_error)
    underflow = N * (N + len(F)) * _TINY * max(1.0, float(reach.max(initial=0.0)) ** 2)
    return (whole + whole.T) / 2, _norm(error) * (1 + 4 * N * _EPS) + underflow


def _norm(matrix: Floats) -> float:
    """Return the Frobenius norm; squares of its entries do not overflow or vanish."""
    size = float(np.abs(matrix).max(initial=0.0))
    return size * float(np.linalg.norm(matrix / size)) if 0 < size < math.inf else size


def eigenvalues_down(matrix: Floats, error: float) -> Floats:
    """Return lower bounds of the eigenvalues of all matrices within an error, in the Frobenius norm, of one."""
    n = len(matrix)
    if not (np.isfinite(matrix).all() and error < math.inf):
        return np.full(n, -np.inf)
    values, vectors = np.linalg.eigh(matrix)
    rebuilt = (vectors * values) @ vectors.T
    rounding = (2 * n + 8) * _EPS
    norms = np.linalg.norm(vectors) ** 2
    residual = _norm(matrix - rebuilt) + rounding * float(np.abs(values).max(initial=0.0)) * norms
    skew = float(np.linalg.norm(vectors.T @ vectors - np.eye(n))) + rounding * norms
    stretched = np.where(values > 0, values * (1 - skew), values * (1 + skew))
    result: Floats = stretched - (residual + error) * (1 + 8 * n * _EPS)
    return result
