"""The table of exact pricing: what each way to price columns covers, and where it is the quick one.

`PRICINGS` is in order. A problem is priced by the first way that covers it and is quick for it, or else by the first
that covers it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from mechdesign.errors import LimitError, shorten
from mechdesign.numerics.exact import float_down
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.knapsack import KnapsackPricing
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable, lower_probability_of
from mechdesign.optimize.pricing.pairs_both_sides import TwoSidedPairPricing
from mechdesign.optimize.pricing.pairs_of_pieces import PiecePricing
from mechdesign.optimize.pricing.pairs_of_sets import MOST_PRICED_SYMBOLS, PairPricing
from mechdesign.optimize.pricing.price import BallPricing, Pricing
from mechdesign.optimize.ways import Way, first
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import FInformation, Utility

_LISTED_AT_ONCE = 12  # symbols: up to so many, listing all rays is quicker than column generation
_LISTED_OTHERWISE = 16  # symbols: likewise where tables are too large
_LISTED_PAIRS = 10  # symbols: up to so many, listing all pairs of sets is quicker than column generation
_CUT_AT_ONCE = 4  # symbols: up to so many, listing the rays of any set is quicker than branch and bound
_LEAST_MASS = 1e-290


@dataclass(frozen=True, eq=False)
class Priced:
    """Columns that are priced: those of the cone of a set, for a utility that is not polyhedral.

    Attributes
    ----------
    uncertainty : UncertaintySet
        Any set of priors.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : Utility
        Its mu is priced.
    floor : Floor
        What is asked from below.
    target : float
        A reduced cost that is low enough as a bound: branch and bound ends when it is proved.
    """

    uncertainty: UncertaintySet
    exp_epsilon: float
    utility: Utility
    floor: Floor = NO_FLOOR
    target: float = -math.inf


PricedBy: TypeAlias = Way[Priced, Pricing]


def _unlisted(priced: Priced, *, capped: bool = True) -> FInformation | str:
    """Return the utility if columns can be priced without a list of rays, or why they cannot, whatever the set."""
    if priced.floor.least_lift > 0 and not (capped and priced.floor.for_everyone):
        name = "cap" if priced.floor.for_everyone else "lower"
        return f"columns are priced in this way without a promise from below, and {name} is given"
    if not priced.uncertainty.limits_entries:
        return "columns that keep a promise about a secret are priced by a list of rays alone"
    information = priced.utility.f_information
    return f"{priced.utility.name} is not an f-information" if information is None else information


def _of_ball(priced: Priced, *, capped: bool) -> tuple[Ball, FInformation] | str:
    ball, information = priced.uncertainty.ball, _unlisted(priced, capped=capped)
    if ball is None:
        return f"the set of priors is {priced.uncertainty.kind}, not an l1 ball or a relative ball"
    return information if isinstance(information, str) else (ball, information)


def _by_tables(priced: Priced) -> BallPricing | str:
    found = _of_ball(priced, capped=True)
    if isinstance(found, str):
        return found
    tables = CountPricing(found[0], priced.exp_epsilon, found[1], priced.floor)
    return (
        tables if tables.affordable else "tables over the counts, or over the denominator of the prior, are too large"
    )


def _by_knapsack(priced: Priced) -> BallPricing | str:
    found = _of_ball(priced, capped=False)
    return found if isinstance(found, str) else KnapsackPricing(found[0], priced.exp_epsilon, found[1])


def _by_pairs(priced: Priced) -> Pricing | str:
    both = priced.floor.least_lift > 0 and not priced.floor.for_everyone
    information = _unlisted(replace(priced, floor=NO_FLOOR) if both else priced, capped=False)
    lower = lower_probability_of(priced.uncertainty) if both else priced.uncertainty.lower_probability
    if lower is None or not lower.supermodular:
        return f"the set of priors is {priced.uncertainty.kind}, not one above a supermodular lower probability"
    if lower.size > MOST_PRICED_SYMBOLS:
        return f"{lower.size} categories have too many pairs of sets (at most {MOST_PRICED_SYMBOLS} categories)"
    if isinstance(information, str):
        return information
    if both:
        return TwoSidedPairPricing(lower, priced.exp_epsilon, information, priced.floor)
    return PairPricing(lower, priced.exp_epsilon, information)


def _by_pieces(priced: Priced) -> Pricing | str:
    lower, information = priced.uncertainty.lower_probability, _unlisted(priced, capped=False)
    pieces = None if lower is None or not lower.supermodular else lower.piece_set
    if pieces is None:
        return f"the set of priors is {priced.uncertainty.kind}, not one above a lower probability of pieces"
    if isinstance(information, str):
        return information
    return PiecePricing(pieces, priced.exp_epsilon, information, priced.target)


def listed_pricing(priced: Priced) -> ListedPricing | str:
    """Return the pricing of all extreme rays, or why they are not listed."""
    try:
        return ListedPricing(check_listable(priced.uncertainty, priced.exp_epsilon, priced.floor), priced.utility)
    except LimitError as refusal:
        return str(refusal)


def _list_is_quick(priced: Priced) -> bool:
    known = priced.uncertainty
    if isinstance(_unlisted(priced), str):
        return True
    if known.ball is not None:
        return known.size <= _LISTED_OTHERWISE
    return known.size <= _CUT_AT_ONCE or known.lower_probability is not None or known.convex_hull is not None


def _by_boxes(priced: Priced) -> Pricing | str:
    information = _unlisted(priced)
    if isinstance(information, str):
        return information
    least = float_down(priced.floor.least_lift)
    return BoxPricing(priced.uncertainty, priced.exp_epsilon, information, least, priced.target)


COUNT_TABLES: PricedBy = Way("count-tables", lambda priced: priced.uncertainty.size > _LISTED_AT_ONCE, _by_tables)
SET_PAIRS: PricedBy = Way(
    "set-pairs",
    lambda priced: priced.uncertainty.ball is None and priced.uncertainty.size > _LISTED_PAIRS,
    _by_pairs,
)
EXTREME_RAYS: PricedBy = Way("extreme-rays", _list_is_quick, listed_pricing)
KNAPSACK: PricedBy = Way("knapsack", lambda _: True, _by_knapsack)
PIECE_PAIRS: PricedBy = Way(
    "piece-pairs",
    lambda priced: priced.uncertainty.ball is None and priced.uncertainty.size > MOST_PRICED_SYMBOLS,
    _by_pieces,
)
BOXES: PricedBy = Way("boxes", lambda _: True, _by_boxes)
PRICINGS: tuple[PricedBy, ...] = (COUNT_TABLES, SET_PAIRS, PIECE_PAIRS, EXTREME_RAYS, KNAPSACK, BOXES)
"""All ways, in order."""


def pricing_for(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: Utility,
    floor: Floor = NO_FLOOR,
    target: float = -math.inf,
) -> Pricing:
    """Return the exact pricing of a utility that is not polyhedral, by the table `PRICINGS`.

    Parameters
    ----------
    uncertainty, exp_epsilon, utility, floor, target
        As for `Priced`.

    Raises
    ------
    LimitError
        If no way covers the columns, or floats do not hold the probabilities.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing_for(L1Ball.from_counts(range(1, 41), known=True), 2.0, MutualInformation()).method
    'subset-sum tables over the counts'
    """
    priced = Priced(uncertainty, exp_epsilon, utility, floor, target)
    if reason := beyond_floats(uncertainty):
        raise LimitError.beyond_precision(reason)
    return first(PRICINGS, priced, EXTREME_RAYS.name)


def ball_pricing_for(ball: Ball, exp_epsilon: float, utility: FInformation, floor: Floor = NO_FLOOR) -> BallPricing:
    """Return the exact pricing of a ball without a list, for any number of symbols; with a floor by tables alone."""
    tables = CountPricing(ball, exp_epsilon, utility, floor)
    return tables if tables.affordable or floor.least_lift > 0 else KnapsackPricing(ball, exp_epsilon, utility)


def beyond_floats(uncertainty: UncertaintySet) -> str:
    """Return which symbol has a probability that floats round to 0; empty where none has.

    Such a symbol may add any amount to a utility.
    """
    for mass, label in zip(uncertainty.center, uncertainty.labels, strict=True):
        if 0 < mass < _LEAST_MASS:
            return (
                f"the category {shorten(label)} has a probability of about {float(mass):.1g} in the prior, which "
                f"floats do not hold (at least {_LEAST_MASS:.0e}, or 0 with a positive radius); leave it out"
            )
    return ""
