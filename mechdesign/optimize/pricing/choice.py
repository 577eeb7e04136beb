"""The choice of exact pricing for a problem: the quickest that covers it."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.errors import LimitError, shorten
from mechdesign.optimize.pricing.ball_pricing import BallPricing
from mechdesign.optimize.pricing.branch_and_bound import BoxPricing
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.knapsack import KnapsackPricing
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable
from mechdesign.optimize.pricing.pairs_of_sets import MOST_PRICED_SYMBOLS, PairPricing
from mechdesign.optimize.pricing.price import Pricing
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.ball import Ball
from mechdesign.utility import FInformation, Utility

_LISTED_AT_ONCE = 12  # symbols: up to so many, listing all rays is quicker than column generation
_LISTED_OTHERWISE = 16  # symbols: likewise where tables are too large
_LISTED_PAIRS = 10  # symbols: up to so many, listing all pairs of sets is quicker than column generation
_CUT_AT_ONCE = 4  # symbols: up to so many, listing the rays of any set is quicker than branch and bound
_LEAST_MASS = 1e-290
_NOTHING = Fraction(0)


def pricing_for(
    uncertainty: UncertaintySet, exp_epsilon: float, utility: Utility, least_lift: Fraction = _NOTHING
) -> Pricing:
    """Return the exact pricing of a utility that is not polyhedral.

    For few symbols all rays are listed. For more symbols an l1 ball or a relative ball is priced by subset-sum tables
    if its prior is a vector of counts of a moderate total, and otherwise by search near the fractional knapsack if a
    list would take longer. Other lower probabilities of 11 to 16 symbols are priced by all pairs of sets. Hulls with
    too many rays for a list, lower probabilities of more symbols, and other sets of more than 4 symbols are priced by
    branch and bound. A promise from
    below needs a list of its own, which lower probabilities and l1 balls have.

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set of priors.
    exp_epsilon : float
        exp(epsilon), above 1.
    utility : Utility
        Only f-informations are priced without a list.
    least_lift : Fraction
        exp(-lower), below 1; 0 without a promise from below.

    Raises
    ------
    LimitError
        If no method covers the problem, or floats do not hold its probabilities.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> pricing_for(L1Ball.from_counts(range(1, 41)), 2.0, MutualInformation()).method
    'subset-sum tables over the counts'
    """
    _check_masses(uncertainty)
    if least_lift > 0:
        return ListedPricing(check_listable(uncertainty, exp_epsilon, least_lift), utility)
    information, ball = utility.f_information, uncertainty.ball
    if information is None or uncertainty.secret_promise is not None:
        return ListedPricing(check_listable(uncertainty, exp_epsilon), utility)
    if ball is None:
        return _beyond_balls(uncertainty, exp_epsilon, information)
    if ball.size > _LISTED_AT_ONCE:
        tables = CountPricing(ball, exp_epsilon, information)
        if tables.affordable:
            return tables
    if ball.size <= _LISTED_OTHERWISE:
        try:
            return ListedPricing(check_listable(ball, exp_epsilon), utility)
        except LimitError:
            pass  # there are too many rays of kinds C and D
    return KnapsackPricing(ball, exp_epsilon, information)


def ball_pricing_for(ball: Ball, exp_epsilon: float, utility: FInformation) -> BallPricing:
    """Return the exact pricing of a ball without a list, for any number of symbols."""
    tables = CountPricing(ball, exp_epsilon, utility)
    return tables if tables.affordable else KnapsackPricing(ball, exp_epsilon, utility)


def _beyond_balls(uncertainty: UncertaintySet, exp_epsilon: float, information: FInformation) -> Pricing:
    """Return the pricing of a set that is not a ball."""
    lower = uncertainty.lower_probability
    if lower is not None and lower.supermodular and _LISTED_PAIRS < lower.size <= MOST_PRICED_SYMBOLS:
        return PairPricing(lower, exp_epsilon, information)
    if lower is None and uncertainty.convex_hull is None and uncertainty.size > _CUT_AT_ONCE:
        return BoxPricing(uncertainty, exp_epsilon, information)
    try:
        return ListedPricing(check_listable(uncertainty, exp_epsilon), information)
    except LimitError:
        return BoxPricing(uncertainty, exp_epsilon, information)


def _check_masses(uncertainty: UncertaintySet) -> None:
    """Refuse probabilities that floats round to 0: such a symbol may add any amount to a utility."""
    for mass, label in zip(uncertainty.center, uncertainty.labels, strict=True):
        if 0 < mass < _LEAST_MASS:
            raise LimitError(
                f"the symbol {shorten(label)} has a probability of about {float(mass):.1g} in the prior, which floats "
                f"do not hold (at least {_LEAST_MASS:.0e}, or 0 with a positive radius); leave it out"
            )
