"""Lower bounds of the error from the greatest entries of columns alone: no rays and no pricing.

Columns with ``<P, v> = 1`` have entries between 0 and ``u_i = min(e, 1/P_i)``, and their mean under the law of the
report is 1, for every set of priors that contains P. So the variance of entry i is at most ``u_i - 1``, and for every
``d >= 0``

    error >= (tr (F diag(d) F')^(1/2))^2 / sum_i d_i (u_i - 1),        F = W (I - P 1').

This is the certificate of Theta = diag(d) and ``lambda_i = d_i (u_i - 2)`` whose reduced costs are bounded entry by
entry, each between 0 and its greatest value. Equal d is best for a uniform prior; in general d is found by a
multiplicative ascent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats, as_bound, real_array
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_down, float_up
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.numerics.threads import one_thread
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_alike, root_trace_down, total_up
from mechdesign.optimize.pricing.price import Price
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.uncertainty.set_or_prior import set_or_prior

_EPS = float(np.finfo(float).eps)
_POWER = 1.2  # of the ratio that each step multiplies d by
_CLOSE = 1e-7  # relative distance of the bound from the greatest one
_MOST_STEPS = 5_000
_WORK = 2e10  # steps times N^3
MOST_SYMBOLS_IN_FORMS = 1_500
"""The most categories whose quadratic form is decomposed, which takes about N^3 operations several times."""


def greatest_entries(prior: Floats, exp_epsilon: float, floor: Floor = NO_FLOOR) -> Floats:
    """Return ``min(e, 1/P_i)``, which no entry of a column with ``<P, v> = 1`` exceeds, rounded up.

    ``v_i <= e h(v) <= e <P, v>`` holds for every set that contains the prior P. With a cap other entries are a times
    ``v_i`` at least, so that ``v_i <= 1 / (P_i + a (1 - P_i))``.

    Examples
    --------
    >>> np.round(greatest_entries(np.array([0.75, 0.25]), 2.0), 9)
    array([1.33333333, 2.        ])
    """
    with np.errstate(divide="ignore"):
        least = float_down(floor.least_lift) if floor.for_everyone else 0.0
        result: Floats = np.minimum(exp_epsilon, 1 / (prior + least * (1 - prior))) * (1 + 8 * _EPS)
    return result


def entry_limits(known: UncertaintySet, exp_epsilon: float, floor: Floor = NO_FLOOR) -> Floats:
    """Return numbers that no entry of a column with ``<P, v> = 1`` exceeds, rounded up: those of `greatest_entries`.

    A promise about a secret limits entries by ``1/P_i`` alone.

    Examples
    --------
    >>> from mechdesign import SecretPromise
    >>> np.round(entry_limits(SecretPromise([[2, 1], [1, 0]], known=True), 1.5), 9)
    array([1.33333333, 4.        ])
    """
    return greatest_entries(known.prior, exp_epsilon if known.limits_entries else math.inf, floor)


def price_in_box(form: QuadraticForm, multipliers: Floats, limits: Floats) -> Price:
    """Return an upper bound of ``(v - 1)' Theta (v - 1) - <lambda, v>`` for all v with ``0 <= v_i <= limits_i``.

    The bound is infinite for forms that are not separable. A common number of Theta below 0 is left out, which only
    raises the form.

    Examples
    --------
    >>> price = price_in_box(QuadraticForm(np.ones(2)), np.zeros(2), np.array([2.0, 3.0]))
    >>> round(price.upper, 9)
    5.0
    """
    if not form.separable or form.common > 0:
        return Price(math.inf, "each entry by itself", 0)
    d, sizes = form.diagonal, np.abs(multipliers)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        inner = np.clip(np.where(d < 0, 1 + multipliers / (2 * d), 0.0), 0.0, limits)
        values = np.stack([d * (v - 1) ** 2 - multipliers * v for v in (np.zeros_like(limits), inner, limits)])
        # Below 0 the true vertex may be off the computed one by a rounding error, which moves the value by its square.
        reach = 8 * _EPS * (np.abs(d) * (limits + 1) ** 2 + sizes * limits)
        highest = values.max(axis=0) + reach
        try:
            upper = math.nextafter(math.fsum(highest.tolist()), math.inf)
        except (OverflowError, ValueError):
            upper = math.inf
    return Price(float(as_bound(upper)), "each entry by itself", limits.size)


@one_thread()
def estimation_bound(
    prior: UncertaintySet | Mapping[object, object] | Sequence[object],
    epsilon: object,
    workload: ArrayLike | None = None,
    *,
    quick: bool = False,
) -> float:
    """Return what n times the mean squared error of frequencies estimated from n reports is at least.

    The bound holds for every mechanism that is epsilon-PML for some set of priors that contains the one given; so it
    holds for local differential privacy too. It needs no design. It is within 2 % of the least error for most known
    priors; the least error for a set of more priors may be far above it.

    Parameters
    ----------
    prior : UncertaintySet, or vector of probabilities
        The reference prior, at which the error is measured; a series or mapping may carry labels.
    epsilon : number or str
        As for `DesignProblem`.
    workload : array-like of shape (q, N), optional
        Queries; by default the frequencies of all categories.
    quick : bool
        Take the formula alone for all frequencies, without the search for a better one; beyond 1,500 categories it is
        taken anyway.

    Returns
    -------
    float
        Rounded down; infinite where only the constant mechanism is private.

    Raises
    ------
    InputError
        For a prior, epsilon or workload that is not accepted.
    LimitError
        For a workload on more than 1,500 categories.

    Examples
    --------
    Ten categories of equal probability, and exp(epsilon) = 5: reports of two categories of which one is the true one
    attain ``(N - 1)^2 / (N (e - 1))``.

    >>> round(estimation_bound([0.1] * 10, "log(5)"), 9)
    2.025
    """
    known = set_or_prior(prior)
    exp_epsilon = float_up(Epsilon.of(epsilon).exp_up)
    limits = entry_limits(known, exp_epsilon)
    if exp_epsilon == 1.0 and known.limits_entries:
        return math.inf
    plain = workload is None
    if plain and (quick or known.size > MOST_SYMBOLS_IN_FORMS):
        return _equal(known.prior, limits)
    queries = np.eye(known.size) if workload is None else _queries(workload, known.size)
    d = best_caps(known.prior, limits, queries)
    found = bound_of_caps(d, known.prior, limits, queries)
    return max(found, _equal(known.prior, limits)) if plain else found


def bound_of_caps(d: Floats, prior: Floats, limits: Floats, workload: Floats) -> float:
    """Return the lower bound that d proves, rounded down.

    Parameters
    ----------
    d : array, shape (N,)
        Not negative.
    prior, limits, workload
        P, u and W.
    """
    form = QuadraticForm(d)
    multipliers = multipliers_of_caps(d, limits)
    root, eta = root_trace_down(form, prior, workload)
    cost = price_in_box(form, multipliers, limits).upper
    return lower_bound(root, total_up(multipliers, cost, eta, limits))


def multipliers_of_caps(d: Floats, limits: Floats) -> Floats:
    """Return ``lambda_i = d_i (u_i - 2)``, with which both ends of each entry cost the same.

    Examples
    --------
    >>> multipliers_of_caps(np.array([1.0, 2.0]), np.array([2.5, 3.0]))
    array([0.5, 2. ])
    """
    result: Floats = d * (limits - 2)
    return result


def best_caps(prior: Floats, limits: Floats, workload: Floats, deadline: float | None = None) -> Floats:
    """Return the d of the greatest bound, up to a relative distance of 1e-7 or a limit of work.

    Each step multiplies ``d_i`` by a power of ``y_i t / ((u_i - 1) s)`` with ``Q = F diag(d) F'``, ``s = tr Q^(1/2)``,
    ``t = sum_i d_i (u_i - 1)`` and ``y_i = f_i' Q^(-1/2) f_i`` for the columns f_i of F. s is a concave function of d
    with the gradient y/2, so no d has an s/t^(1/2) above that of this one times the greatest ratio.

    Parameters
    ----------
    prior : array, shape (N,)
        P.
    limits : array, shape (N,)
        u, above 1.
    workload : array, shape (q, N)
        W.
    deadline : float, optional
        A time of `time.monotonic` after which no step begins; there is one at least.

    Examples
    --------
    >>> d = best_caps(np.array([0.5, 0.25, 0.25]), np.array([1.5, 1.5, 1.5]), np.eye(3))
    >>> (d / d[1]).round(3)
    array([0., 1., 1.])
    """
    N = prior.size
    F = _reduced(prior, workload)
    room = limits - 1
    scales = np.einsum("ij,ij->j", F, F)
    if not scales.any():
        return np.ones(N)
    best, greatest = np.ones(N), -np.inf
    d = (scales / scales.max() + 1e-6) / room**2
    for _ in range(min(_MOST_STEPS, math.ceil(_WORK / N**3))):
        d /= d @ room
        root, y = _root(F, d)
        if root > greatest:
            best, greatest = d, root
        ratio = y / (room * root)
        if ratio.max() <= 1 + _CLOSE or time_is_up(deadline):
            break
        d = d * ratio**_POWER
    return best


def _root(F: Floats, d: Floats) -> tuple[float, Floats]:
    """Return ``tr Q^(1/2)`` and y, leaving out eigenvalues of Q that are 0 up to rounding."""
    values, vectors = np.linalg.eigh((F * d) @ F.T)
    kept = values > 1e-14 * values[-1]
    roots = np.sqrt(values[kept])
    images = vectors[:, kept].T @ F
    return float(roots.sum()), np.einsum("ai,ai,a->i", images, images, 1 / roots)


def _reduced(prior: Floats, workload: Floats) -> Floats:
    """Return F, or with the same F'F a matrix of fewer rows."""
    F = workload - (workload @ prior)[:, None]
    return F if len(F) <= prior.size else np.asarray(np.linalg.qr(F, mode="r"))


def _equal(prior: Floats, limits: Floats) -> float:
    """Return the bound of equal d for all frequencies, in closed form."""
    form, multipliers = QuadraticForm(np.ones(prior.size)), multipliers_of_caps(np.ones(prior.size), limits)
    total = total_up(multipliers, price_in_box(form, multipliers, limits).upper, 0.0, limits)
    return lower_bound(root_trace_alike(1.0, prior), total)


def _queries(workload: ArrayLike, size: int) -> Floats:
    """Return a workload as a matrix, after checking it."""
    given = real_array(workload, "the workload", "numbers, a row for each query")
    if given.ndim != 2 or given.shape[1] != size or not given.size or not np.isfinite(given).all():
        raise InputError.wrong_size(
            f"the workload is {shorten(workload)}; accepted: finite numbers of shape (q, {size})"
        )
    if size > MOST_SYMBOLS_IN_FORMS:
        raise LimitError.too_much_work(
            f"a workload on {size} categories; accepted: at most {MOST_SYMBOLS_IN_FORMS}, or no workload"
        )
    return given
