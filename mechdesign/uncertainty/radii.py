"""Radii from samples, and back, by the bound that a caller or a file names.

Both bounds hold for every true distribution. That of Clopper and Pearson is the default; its radius is never larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from mechdesign.data.checks import checked_categories, checked_delta, checked_radius, checked_samples
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.uncertainty import concentration
from mechdesign.uncertainty.balance import Kappa
from mechdesign.uncertainty.binomial_tail import bits_for
from mechdesign.uncertainty.clopper_pearson import (
    clopper_pearson_radius_exact,
    clopper_pearson_samples,
    log_failure,
)

Bound = Literal["clopper-pearson", "weissman"]
CLOPPER_PEARSON: Bound = "clopper-pearson"
WEISSMAN: Bound = "weissman"
BOUNDS: tuple[Bound, ...] = (CLOPPER_PEARSON, WEISSMAN)
DEFAULT: Bound = CLOPPER_PEARSON


def checked_bound(value: object, prior: object = None) -> Bound:
    """Return the bound that a value names.

    None is the bound of Clopper and Pearson without a true prior, and that of Weissman et al. with one, which only the
    latter uses.

    Raises
    ------
    InputError
        For another name, and for the bound of Clopper and Pearson beside a true prior.

    Examples
    --------
    >>> checked_bound(None), checked_bound("weissman")
    ('clopper-pearson', 'weissman')
    """
    if value is None:
        return DEFAULT if prior is None else WEISSMAN
    for bound in BOUNDS:
        if isinstance(value, str) and value == bound:
            if bound == CLOPPER_PEARSON and prior is not None:
                raise InputError("the bound clopper-pearson uses no prior; leave the prior out, or give weissman")
            return bound
    raise InputError(f"the bound is {shorten(value)}; accepted: {', '.join(BOUNDS)}")


def radius_exact(samples: int, categories: int, delta: object, bound: object = None) -> Fraction:
    """Return the radius of the l1 ball that holds the true distribution with probability 1 - delta, rounded up.

    Parameters
    ----------
    samples, categories, delta
        As for `clopper_pearson_radius_exact`.
    bound : str, optional
        ``"clopper-pearson"``, the default, or ``"weissman"``.

    Examples
    --------
    >>> float(radius_exact(100, 2, "0.05")), float(radius_exact(100, 2, "0.05", "weissman"))
    (0.205761608552173, 0.271620303148124)
    """
    n, N = checked_samples(samples), checked_categories(categories)
    return _radius(n, N, checked_delta(delta), checked_bound(bound))


@lru_cache(maxsize=1024)
def _radius(samples: int, categories: int, delta: Fraction, bound: Bound) -> Fraction:
    """Return the radius, which takes milliseconds; files of one table of counts have it in common."""
    if bound == WEISSMAN:
        return concentration.weissman_radius_exact(samples, categories, delta)
    return clopper_pearson_radius_exact(samples, categories, delta)


def log_failure_of(samples: int, categories: int, excess: Fraction, bound: Bound) -> Any:
    """Return the logarithm of a bound on the failure probability at a half radius in (0, 1), as a ball."""
    if bound == WEISSMAN:
        with working_precision():
            return concentration.log_failure_ball(samples, categories, 2 * arb_of(excess), 2)
    return log_failure(samples, categories, excess)


def failure_probability(
    samples: int,
    categories: int,
    radius: object,
    prior: Sequence[object] | Kappa | None = None,
    *,
    bound: object = None,
) -> float:
    """Return the probability with which the true distribution may lie outside a radius, rounded up.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    radius : number or str
        l1 radius, at least 0. The distance of two distributions is at most 2.
    prior : sequence of N numbers or Kappa, optional
        The *true* prior, or its kappa, for the bound of Weissman et al. (ED Theorem 2).
    bound : str, optional
        ``"clopper-pearson"``, the default without a prior, or ``"weissman"`` (ED eq. 17).

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> f"{failure_probability(1000, 3, 0.2):.3e}", f"{failure_probability(1000, 3, 0.2, bound='weissman'):.3e}"
    ('8.926e-10', '1.237e-08')
    """
    chosen = checked_bound(bound, prior)
    if chosen == WEISSMAN:
        return concentration.failure_probability(samples, categories, radius, prior)
    n, N, beta = checked_samples(samples), checked_categories(categories), checked_radius(radius)
    if beta >= 2:
        return 0.0
    if beta == 0:
        return 1.0
    with working_precision(bits_for(n)):
        return concentration.probability_above(log_failure(n, N, beta / 2))


def required_samples(
    categories: int,
    delta: object,
    radius: object,
    prior: Sequence[object] | Kappa | None = None,
    *,
    bound: object = None,
) -> int:
    """Return a number of samples for which the radius holds with this failure probability, and does not for one less.

    For the bound of Weissman et al. it is the least such number. For that of Clopper and Pearson no smaller number was
    seen to be enough, and no larger one not to be, but that is not proved.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in (0, 1).
    radius : number or str
        l1 radius, above 0.
    prior, bound
        As in `failure_probability`.

    Raises
    ------
    InputError
        For a value outside these ranges, or if it would take more than 10^15 samples.

    Examples
    --------
    >>> required_samples(16, 1e-9, "0.05"), required_samples(16, 1e-9, "0.05", bound="weissman")
    (23118, 25451)
    """
    chosen = checked_bound(bound, prior)
    N, probability, beta = checked_categories(categories), checked_delta(delta), checked_radius(radius)
    if chosen == WEISSMAN or beta >= 2 or probability == 0 or beta == 0:
        return concentration.required_samples(categories, delta, radius, prior)
    return clopper_pearson_samples(N, probability, beta / 2)
