"""A good separable certificate for many symbols: columns are priced, held, and the dual is solved again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.caps import best_caps, multipliers_of_caps
from mechdesign.optimize.estimation.certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_dual import RestrictedDual
from mechdesign.optimize.start import start_columns
from mechdesign.utility import ChiSquare

_MOST_ROUNDS = 80
_CLOSE = 3e-4
_HELD = 12  # columns for each symbol that are held from round to round


@dataclass(frozen=True, eq=False)
class SeparableCertificate:
    """A form and multipliers, and the lower bound that they prove.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    lower_bound : float
        Of the error of every mechanism; rounded down.
    limit : float
        About the greatest bound of any separable form, from above: more rounds cannot give more.
    columns : array, shape (N, k)
        The columns that are held at the end.
    rounds : int
        How often columns were priced.
    """

    form: QuadraticForm
    multipliers: Floats
    lower_bound: float
    limit: float
    columns: Floats
    rounds: int


def certificate_for_many(
    pricing: SeparablePricing,
    workload: Floats,
    held_columns: Floats,
    deadline: float | None,
    report: Callable[[str], None] = lambda _: None,
    close: float = _CLOSE,
) -> SeparableCertificate:
    """Return the best separable certificate that rounds of pricing find.

    Parameters
    ----------
    pricing : SeparablePricing
        Of the problem.
    workload : array, shape (q, N)
        W.
    held_columns : array, shape (N, k)
        Columns of the cone with ``<P, v> = 1`` to begin with, best those of a good mechanism; there may be none.
    deadline : float or None
        No round begins after this time of `time.monotonic`.
    report : callable
        Called with one line for each round.
    close : float
        The relative distance of the bound from its limit at which to stop.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> pricing = SeparablePricing(L1Ball.from_counts([4, 3, 2, 1]), 2.0)
    >>> found = certificate_for_many(pricing, np.eye(4), np.empty((4, 0)), None)
    >>> 0 < found.lower_bound <= found.limit * (1 + 1e-6)
    True
    """
    ball, limits = pricing.ball, pricing.limits
    P, N = ball.prior, ball.size
    with_common = pricing.cone.only_d
    diagonal = best_caps(P, limits, workload)
    diagonal = np.maximum(diagonal, 1e-3 * diagonal.max())
    multipliers = multipliers_of_caps(diagonal, limits)
    dual = RestrictedDual(P, workload, with_common)
    best = _proved(pricing, QuadraticForm(diagonal), multipliers, workload, 0)
    start = start_columns(ball, pricing.exp_epsilon, ChiSquare())
    held = np.hstack([held_columns, start, best[4]])
    # The scale of Theta at which the dual objective is the bound.
    scale = best[3] / max(best[2], 1e-300)
    x = dual.start(diagonal * scale, 0.0, multipliers * scale)
    limit, tol, rounds = np.inf, 3e-2, 0
    for rounds in range(1, _MOST_ROUNDS + 1):
        point, x = dual.solve(held, x, tol)
        limit = min(limit, point.limit)
        found = _proved(pricing, point.form, point.multipliers, workload, 4 * N)
        if found[0] > best[0]:
            best = found
        gap = (limit - best[0]) / limit
        report(f"round {rounds}: lower bound {best[0]:.6g}, at most {limit:.6g}, {held.shape[1]} columns held")
        if gap < close or (deadline is not None and time.monotonic() >= deadline):
            break
        tol = min(tol, max(0.1 * gap, 1e-6))
        held = np.hstack([_kept(held, point.weights, start.shape[1]), found[4]])
    return SeparableCertificate(best[1], best[5], best[0], limit, held, rounds)


def _kept(held: Floats, weights: Floats, least: int) -> Floats:
    """Return the columns of the greatest weights."""
    most = max(_HELD * len(held), least)
    if held.shape[1] <= most:
        return held
    result: Floats = held[:, np.argsort(-weights, kind="stable")[:most]]
    return result


def _proved(
    pricing: SeparablePricing, form: QuadraticForm, multipliers: Floats, workload: Floats, wanted: int
) -> tuple[float, QuadraticForm, float, float, Floats, Floats]:
    """Return the bound of a form, the form, the total, the root, columns and multipliers."""
    price = pricing.price(form, multipliers, wanted)
    root, eta = root_trace_down(form, pricing.ball.prior, workload)
    total = total_up(multipliers, price.upper, eta, pricing.limits)
    return lower_bound(root, total), form, total, root, price.best, multipliers
