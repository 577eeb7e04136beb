"""The plainest bound of reduced costs: each entry of a column by itself, between 0 and its greatest value."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.bounds import as_bound
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.pricing.price import Price
from mechdesign.uncertainty import UncertaintySet

_EPS = float(np.finfo(float).eps)


def greatest_entries(prior: Floats, exp_epsilon: float) -> Floats:
    """Return ``min(e, 1/P_i)``, which no entry of a column with ``<P, v> = 1`` exceeds, rounded up.

    ``v_i <= e h(v) <= e <P, v>`` holds for every set that contains the prior P.

    Examples
    --------
    >>> np.round(greatest_entries(np.array([0.75, 0.25]), 2.0), 9)
    array([1.33333333, 2.        ])
    """
    with np.errstate(divide="ignore"):
        result: Floats = np.minimum(exp_epsilon, 1 / prior) * (1 + 4 * _EPS)
    return result


def entry_limits(known: UncertaintySet, exp_epsilon: float) -> Floats:
    """Return numbers that no entry of a column with ``<P, v> = 1`` exceeds, rounded up: those of `greatest_entries`.

    A promise about a secret limits entries by ``1/P_i`` alone.

    Examples
    --------
    >>> from mechdesign import SecretPromise
    >>> np.round(entry_limits(SecretPromise([[2, 1], [1, 0]]), 1.5), 9)
    array([1.33333333, 4.        ])
    """
    return greatest_entries(known.prior, exp_epsilon if known.secret_promise is None else math.inf)


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
