"""Exact pricing by listing every extreme ray."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.exact import float_down, float_up
from mechdesign.numerics.tolerances import REDUCED_COST
from mechdesign.optimize.capped_cone import raised_power
from mechdesign.optimize.capped_rays import CappedRays
from mechdesign.optimize.capped_secret_rays import MOST_WITH_CAP, CappedSecretRays
from mechdesign.optimize.cut_rays import MOST_SYMBOLS as MOST_CUT_SYMBOLS
from mechdesign.optimize.cut_rays import CutRays
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.hull_rays import HullRays
from mechdesign.optimize.limit_rays import CappedLimitRays, LimitRays
from mechdesign.optimize.lower_rays import MOST_LISTED_PAIRS, LowerRays, TwoSidedRays
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import MOST_LISTED_SYMBOLS, RayList, Rays
from mechdesign.optimize.secret_rays import SecretRays
from mechdesign.uncertainty import ConvexHull, L1Ball, LowerProbability, RelativeBall, SecretPromise, UncertaintySet
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import Utility

CUT = "rays around the limits, cut where the value is greatest"
_EPS = float(np.finfo(float).eps)
_MOST_HELD_BYTES = 2 * 2**30
_COPIES = 6  # of the held rays, made on the way to the linear program in HiGHS
_MOST_PRICED = 100_000_000
_NO_ROOM = 1 - 1e-12  # of a times exp(epsilon): beyond, a cap is not above epsilon but for rounding
_MOST_ENTERING = 5_000
_MOST_SYSTEMS = 60_000  # of equations, solved in rationals
_MOST_SUPPORTS = 3_000_000  # sets of symbols and rows, looked at one by one
_INSTEAD = "merge categories, or use a gain utility such as hamming-accuracy, which needs no list"
_INSTEAD_OF_SET = "merge categories, or use an l1 ball or a gain utility such as hamming-accuracy, which need no list"


def check_listable(uncertainty: UncertaintySet, exp_epsilon: float, floor: Floor = NO_FLOOR) -> RayList:
    """Return the rays of a set, after counting that they can be listed.

    Raises
    ------
    LimitError
        If no method lists the rays of such a set, or there are too many for memory or time.
    """
    N = uncertainty.size
    if uncertainty.secret_promise is not None:
        return _rays_of_secret(uncertainty.secret_promise, exp_epsilon, floor)
    if floor.least_lift > 0:
        listed = _with_cap if floor.for_everyone else _two_sided
        return listed(uncertainty, exp_epsilon, floor)
    if N > MOST_LISTED_SYMBOLS:
        instead = _INSTEAD_OF_SET if uncertainty.l1_ball is None else _INSTEAD
        raise LimitError.no_method(
            f"{N} categories have about 2^{N} extreme rays, too many to list (at most {MOST_LISTED_SYMBOLS}); {instead}"
        )
    if uncertainty.ball is not None:
        return _rays_of_ball(uncertainty.ball, exp_epsilon)
    if uncertainty.convex_hull is not None:
        return _rays_of_hull(uncertainty.convex_hull, exp_epsilon)
    if uncertainty.lower_probability is not None:
        return _rays_of_lower_probability(uncertainty.lower_probability, exp_epsilon)
    if N <= MOST_CUT_SYMBOLS:
        rays = CutRays(uncertainty, exp_epsilon)
        rays.count(rays.kinds)  # the list is made now, so that one that is too long is refused now
        return rays
    raise LimitError.no_method(
        f"no exact method lists the extreme rays of a {type(uncertainty).__name__} of more than {MOST_CUT_SYMBOLS} "
        f"categories, and this one has {N}; use an L1Ball that contains it, or a gain utility such as hamming-accuracy"
    )


def _rays_of_ball(ball: Ball, exp_epsilon: float) -> Rays:
    N = ball.size
    rays = Rays(ball, exp_epsilon)
    held = rays.count(rays.held_kinds)
    needed = held * N * 8 * _COPIES
    if needed > _MOST_HELD_BYTES:
        raise LimitError.no_method(
            f"{N} categories have {held} extreme rays of kinds {rays.held_kinds}, which need about "
            f"{needed / 2**30:.1f} GiB (at most {_MOST_HELD_BYTES / 2**30:.0f}); {_INSTEAD}"
        )
    priced = rays.count("CD")
    if priced > _MOST_PRICED:
        raise LimitError.no_method(
            f"{N} categories have up to {priced:.1e} extreme rays of kinds C and D (at most {_MOST_PRICED:.0e}); "
            f"{_INSTEAD}, or design for the ball as printed (within_simplex = false), which has none"
        )
    return rays


def _rays_of_hull(hull: ConvexHull, exp_epsilon: float) -> HullRays:
    N = hull.size
    rays = HullRays(hull, exp_epsilon)
    # Singular systems and columns outside the cone count as well, because all are computed.
    if rays.systems > _MOST_SYSTEMS or rays.candidates > _MOST_PRICED:
        raise LimitError.no_method(
            f"{N} categories and {len(hull.priors)} priors have up to {rays.candidates:.1e} extreme rays "
            f"from {rays.systems:.1e} systems of equations (at most {_MOST_PRICED:.0e} from {_MOST_SYSTEMS:.0e}); "
            f"{_INSTEAD}"
        )
    # The list is made now, so that a list beyond memory is refused now.
    rays.count(rays.kinds)
    return rays


def _rays_of_lower_probability(known: LowerProbability, exp_epsilon: float) -> LowerRays:
    _check_supermodular(known)
    if 3**known.size > MOST_LISTED_PAIRS:
        raise LimitError.no_method(
            f"{known.size} categories have up to {3**known.size:.1e} extreme rays (at most {MOST_LISTED_PAIRS:.0e}); "
            f"{_INSTEAD_OF_SET}"
        )
    return LowerRays(known, exp_epsilon)


def _check_supermodular(known: LowerProbability) -> None:
    if not known.supermodular:
        raise LimitError.no_method(
            f"the extreme rays of {known!r} are not known; give a supermodular f that is not above it"
        )


def _rays_of_secret(known: SecretPromise, exp_epsilon: float, floor: Floor) -> RayList:
    if floor.for_everyone:
        return _rays_of_secret_with_cap(known, exp_epsilon, floor)
    kind = SecretRays if known.limits is None else LimitRays
    rays = kind(known, exp_epsilon, floor.least_lift)
    if rays.candidates > _MOST_SUPPORTS:
        raise LimitError.no_method(
            f"a secret of {len(known.joint.values)} values and {known.size} categories have up to "
            f"{rays.candidates:.1e} extreme rays (at most {_MOST_SUPPORTS:.0e}); {_INSTEAD}"
        )
    return rays


def _rays_of_secret_with_cap(known: SecretPromise, exp_epsilon: float, floor: Floor) -> RayList:
    if _cap_is_all(exp_epsilon, floor):
        return _rays_of_cap(known, floor)
    kind = CappedSecretRays if known.limits is None else CappedLimitRays
    rays = kind(known, exp_epsilon, Fraction(float_down(floor.least_lift)))
    if rays.candidates > MOST_WITH_CAP:
        raise LimitError.no_method(
            f"a secret of {len(known.joint.values)} values and {known.size} categories have up to "
            f"{rays.candidates:.1e} extreme rays with a cap (at most {MOST_WITH_CAP:.0e}); leave cap out, {_INSTEAD}"
        )
    return rays


def _cap_is_all(exp_epsilon: float, floor: Floor) -> bool:
    """Return whether the cap is the whole promise."""
    return float(floor.least_lift) * exp_epsilon >= _NO_ROOM


def _rays_of_cap(uncertainty: UncertaintySet, floor: Floor) -> RayList:
    every = L1Ball(uncertainty.center, 2, uncertainty.labels)
    return check_listable(every, float_up(1 / floor.least_lift))


def _with_cap(uncertainty: UncertaintySet, exp_epsilon: float, floor: Floor) -> RayList:
    """Return the rays of a set with a cap for everyone."""
    if _cap_is_all(exp_epsilon, floor):
        return _rays_of_cap(uncertainty, floor)
    power, least = raised_power(exp_epsilon, floor)
    return CappedRays(uncertainty, check_listable(uncertainty, power), power, least)


def lower_probability_of(uncertainty: UncertaintySet) -> LowerProbability | None:
    """Return a set as one above a lower probability; None if it is not one."""
    ball = uncertainty.l1_ball
    if ball is not None:
        return RelativeBall(ball.center, 1, ball.half_radius, ball.labels)
    return uncertainty.lower_probability


def _two_sided(uncertainty: UncertaintySet, exp_epsilon: float, floor: Floor) -> RayList:
    """Return the rays of a set for a promise on both sides."""
    known = lower_probability_of(uncertainty)
    if known is None and uncertainty.size <= MOST_CUT_SYMBOLS:
        cut = CutRays(uncertainty, exp_epsilon, floor)
        cut.count(cut.kinds)  # the list is made now, so that one that is too long is refused now
        return cut
    if known is None:
        raise LimitError.no_method(
            f"no exact method lists the extreme rays of a {type(uncertainty).__name__} of more than {MOST_CUT_SYMBOLS} "
            f"categories for a promise from below, and this one has {uncertainty.size}; use an L1Ball or a Box that "
            f"contains it, leave lower out, or use a gain utility such as hamming-accuracy, which needs no list"
        )
    if 3.0**known.size > MOST_LISTED_PAIRS:
        raise LimitError.no_method(
            f"{known.size} categories have up to {3.0**known.size:.1e} extreme rays for a promise from below (at most "
            f"{MOST_LISTED_PAIRS:.0e}); merge categories, take the prior as known, leave lower out, or use a gain "
            "utility such as hamming-accuracy, which needs no list"
        )
    _check_supermodular(known)
    return TwoSidedRays(known, exp_epsilon, floor)


class Valued(Protocol):
    """What a list of rays is priced for: mu of a utility, or mu less what a column pays."""

    def mu(self, columns: Floats, prior: Floats) -> Floats:
        """Return mu of each column, as `Utility.mu`."""

    def mu_up(self, columns: Floats, prior: Floats, slack: Floats) -> Floats:
        """Return an upper bound of mu near each column, as `Utility.mu_up`."""


def reduced_costs(rays: RayList, utility: Valued, multipliers: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield all columns (N, k) with their reduced costs ``mu(v) - <lambda, v>``, shape (k,)."""
    for columns in rays.of_kinds(rays.kinds):
        yield columns, utility.mu(columns, rays.prior) - multipliers @ columns


@dataclass(frozen=True, eq=False)
class ListedPricing:
    """Prices every extreme ray of a list (`Pricing`).

    Attributes
    ----------
    rays : RayList
        All rays of the cone.
    utility : Utility
        Its mu is priced.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing = ListedPricing(Rays(L1Ball([0.5, 0.3, 0.2]), 1.5), MutualInformation())
    >>> print(round(pricing.price(np.zeros(3)).upper, 9))
    0.359884719
    >>> pricing.start()[:, 0]
    array([1., 1., 1.])
    """

    rays: RayList
    utility: Utility

    method = "every extreme ray"

    def price(
        self,
        multipliers: Floats,
        *,
        thorough: bool = True,  # noqa: ARG002 - a list is thorough
        deadline: float | None = None,
    ) -> Price:
        """Return the greatest reduced cost over all extreme rays, rounded outward."""
        return price_by_listing(self.rays, self.utility, multipliers, deadline)

    def start(self, deadline: float | None = None) -> Floats:  # noqa: ARG002 - the rays are listed already
        """Return the columns that a linear program over the list begins with, shape (N, k)."""
        return np.hstack(list(first_columns(self.rays)))

    def centers(self) -> list[Floats]:
        """Return zeros, with which the bound is the greatest utility of any column."""
        return [np.zeros(self.rays.prior.size)]

    def guess(self, multipliers: Floats, deadline: float | None = None) -> Floats:  # noqa: ARG002 - likewise
        """Return the rays of greatest positive reduced cost, shape (N, k)."""
        return entering_columns(self.rays, self.utility, multipliers)[0]


def first_columns(rays: RayList) -> Iterator[Floats]:
    """Yield the columns that a linear program over a list begins with, in chunks of shape (N, k).

    The constant column makes the program feasible where kinds A and B alone do not.
    """
    yield np.ones((rays.prior.size, 1))
    yield from rays.of_kinds(rays.held_kinds)


def entering_columns(
    rays: RayList, utility: Valued, multipliers: Floats, deadline: float | None = None
) -> tuple[Floats, int]:
    """Return the columns of greatest positive reduced cost, shape (N, k), and how many were priced until a deadline."""
    best, costs, priced = np.empty((rays.prior.size, 0)), np.empty(0), 0
    for columns, cost in reduced_costs(rays, utility, multipliers):
        if priced and time_is_up(deadline):
            break
        priced += columns.shape[1]
        entering = cost > REDUCED_COST
        best, costs = np.hstack([best, columns[:, entering]]), np.append(costs, cost[entering])
        if costs.size > _MOST_ENTERING:
            kept = np.argpartition(-costs, _MOST_ENTERING)[:_MOST_ENTERING]
            best, costs = best[:, kept], costs[kept]
    return best, priced


def price_by_listing(rays: RayList, utility: Valued, multipliers: Floats, deadline: float | None = None) -> Price:
    """Return the greatest reduced cost over all extreme rays, rounded outward.

    The entries of a ray are known up to rounding errors (`Rays.with_errors`). The utility is bounded over all entries
    within these errors, and the error of the product with lambda is added. Rays of a wider cone are cut off where their
    reduced cost is the greatest and they break the promise, up to a deadline, a time of `time.monotonic`.

    Parameters
    ----------
    rays : RayList
        All rays of the cone.
    utility : Utility
        Its mu is priced.
    multipliers : array, shape (N,)
        lambda.
    """
    sizes = np.abs(multipliers)
    of_sums = (rays.prior.size + 8) * _EPS

    def upper_of(columns: Floats, errors: Floats) -> Floats:
        upper = utility.mu_up(columns, rays.prior, errors) - multipliers @ columns
        return as_bound(upper + sizes @ (errors + of_sums * columns))

    greatest, looked_at = -np.inf, 0
    with np.errstate(over="ignore", invalid="ignore"):
        cone = rays.to_cut()
        if cone is not None:
            upper = cone.greatest(upper_of, deadline)
            return Price(float(upper.max()), CUT, upper.size)
        for columns, errors in rays.with_errors(rays.kinds):
            upper = upper_of(columns, errors)
            greatest = max(greatest, float(upper.max(initial=-np.inf)))
            looked_at += columns.shape[1]
    return Price(greatest, "every extreme ray", looked_at)
