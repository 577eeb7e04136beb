"""From zero-concentrated differential privacy to (epsilon, delta)."""

from __future__ import annotations

import math
from fractions import Fraction

from mechdesign.errors import InputError, shorten
from mechdesign.histogram.calibration import checked_epsilon
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, rational, working_precision
from mechdesign.numerics.outward import float_above

_MOST_LOG = 700.0


def zcdp_delta(rho: object, epsilon: object, conversion: str = "optimal") -> float:
    """Return a delta with which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number or str
        Above 0.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    conversion : str
        ``"optimal"``: the least over a > 1 of ``exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)`` (Canonne, Kamath,
        Steinke 2022). ``"lemma-17"``: ``exp(-(epsilon - rho)^2 / (4 rho))`` where epsilon is above rho, else 1
        (Bun, Steinke 2016).

    Returns
    -------
    float
        Rounded up, at most 1.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(zcdp_delta(0.1, 2, "lemma-17"), 6), round(zcdp_delta(0.1, 2), 6)
    (0.00012, 4e-06)
    """
    exact = rational(rho, "rho")
    if exact <= 0:
        raise InputError.out_of_range(f"rho is {shorten(rho)}; accepted: a number above 0")
    if conversion not in ("optimal", "lemma-17"):
        raise InputError.unknown_choice(f"the conversion is {shorten(conversion)}; accepted: 'optimal' or 'lemma-17'")
    return converted(exact, checked_epsilon(epsilon), conversion)


def converted(rho: Fraction, epsilon: Epsilon, conversion: str) -> float:
    """Return `zcdp_delta` of parameters that have been checked."""
    with working_precision():
        eps = nats(epsilon)
        if conversion == "lemma-17":
            if not eps > arb_of(rho):
                return 1.0
            return min(1.0, float_above((-((eps - arb_of(rho)) ** 2) / arb_of(4 * rho)).exp()))
        order = arb_of(Fraction(_least_order(float_above(rho), float(epsilon))))  # a - 1
        # (1 - 1/a)^a = exp(-a log(1 + 1/(a - 1)))
        log_delta = order * (arb_of(rho) * (order + 1) - eps) - (order + 1) * (1 / order).log1p() - order.log()
        return min(1.0, float_above(log_delta.exp()))


def _least_order(rho: float, epsilon: float) -> float:
    """Return approximately the order, minus 1, at which the conversion is best; every other order is valid too.

    The logarithm of delta is convex in the order: its derivative rises.
    """
    low, high = -_MOST_LOG, _MOST_LOG
    for _ in range(80):
        middle = (low + high) / 2
        order = math.exp(middle)
        rising = (2 * order + 1) * rho - epsilon - math.log1p(1 / order) > 0
        low, high = (low, middle) if rising else (middle, high)
    return math.exp(low)
