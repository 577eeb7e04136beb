"""Exact pricing by listing every extreme ray."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import MOST_LISTED_SYMBOLS, Rays
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.uncertainty.base import Floats
from mechdesign.utility import Utility

_EPS = float(np.finfo(float).eps)
_MOST_HELD_BYTES = 2 * 2**30
_COPIES = 6  # of the held rays, that the linear program makes on its way through cvxpy to HiGHS
_MOST_PRICED = 100_000_000


def check_listable(uncertainty: UncertaintySet, exp_epsilon: float) -> Rays:
    """Return the rays of a set, after counting that they can be listed.

    Raises
    ------
    LimitError
        If the set is no l1 ball, or has so many rays that memory or time would not do.
    """
    if not isinstance(uncertainty, L1Ball):
        raise LimitError(
            f"no exact method lists the extreme rays of a {type(uncertainty).__name__}; use an L1Ball that contains "
            "it, or a gain utility such as hamming-accuracy"
        )
    N = uncertainty.size
    would_do = "merge symbols, or use a gain utility such as hamming-accuracy, which needs no list"
    if N > MOST_LISTED_SYMBOLS:
        raise LimitError(
            f"{N} symbols have about 2^{N} extreme rays, too many to list (at most {MOST_LISTED_SYMBOLS}); {would_do}"
        )
    rays = Rays(uncertainty, exp_epsilon)
    held = rays.count(held_kinds(rays))
    needed = held * N * 8 * _COPIES
    if needed > _MOST_HELD_BYTES:
        raise LimitError(
            f"{N} symbols have {held} extreme rays of kinds {held_kinds(rays)}, which need about "
            f"{needed / 2**30:.1f} GiB (at most {_MOST_HELD_BYTES / 2**30:.0f}); {would_do}"
        )
    priced = rays.count("CD")
    if priced > _MOST_PRICED:
        raise LimitError(
            f"{N} symbols have up to {priced:.1e} extreme rays of kinds C and D (at most {_MOST_PRICED:.0e}); "
            f"{would_do}, or design for the ball as printed (within_simplex = false), which has none"
        )
    return rays


def held_kinds(rays: Rays) -> str:
    """Return the kinds that a linear program holds; the others are priced in chunks."""
    return "D" if rays.ball.within_simplex and rays.ball.half_radius >= 1 else "AB"


def reduced_costs(rays: Rays, utility: Utility, multipliers: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield all columns (N, k) with their reduced costs ``mu(v) - <lambda, v>``, shape (k,)."""
    for columns in rays.of_kinds("ABCD"):
        yield columns, utility.mu(columns, rays.ball.prior) - multipliers @ columns


def price_by_listing(rays: Rays, utility: Utility, multipliers: Floats) -> Price:
    """Return the greatest reduced cost over all extreme rays, rounded outward.

    A ray's entries are known up to rounding (`Rays.with_errors`); the utility is bounded over that
    neighbourhood, and the product with lambda is given its own allowance.

    Parameters
    ----------
    rays : Rays
        All rays of the cone.
    utility : Utility
        Its mu is priced.
    multipliers : array, shape (N,)
        lambda.
    """
    greatest, looked_at = -np.inf, 0
    sizes = np.abs(multipliers)
    of_sums = (rays.ball.size + 8) * _EPS
    for columns, errors in rays.with_errors("ABCD"):
        upper = utility.mu_up(columns, rays.ball.prior, errors) - multipliers @ columns
        level = float((upper + sizes @ (errors + of_sums * columns)).max())
        # Huge multipliers may give infinity minus infinity, which proves nothing.
        greatest = max(greatest, np.inf if np.isnan(level) else level)
        looked_at += columns.shape[1]
    return Price(greatest, "every extreme ray", looked_at)
