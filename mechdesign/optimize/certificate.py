"""The certificate of global optimality: a dual vector from which an upper bound follows.

For any lambda, every mechanism of the polytope has utility at most

    sum_i lambda_i + r,   r = max { mu(v) - <lambda, v> : v in the column cone, <P, v> = 1 },

because its columns sum to (1,...,1) and their masses to 1. The maximum must be computed exactly: by a list of
all rays, by tables over counts, by search near the fractional knapsack, by branch and bound, or by a dual solution
for every guess. A solver's status is not evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, as_bound, frozen, real_array
from mechdesign.numerics.exact import float_up
from mechdesign.numerics.tolerances import BOUND_PAD
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.maximal_leakage import price_on_average
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.pricing import Price, Pricing, price_by_guess, pricing_for
from mechdesign.optimize.pricing.gain_duals import Proposals
from mechdesign.optimize.pricing.prediction_intervals import price_by_prediction
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility.objective import as_utility

_EPS = float(np.finfo(float).eps)
_MOST_ENTRIES = 4_000_000  # of columns that are held at once


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound on the utility of every mechanism of a problem.

    Attributes
    ----------
    multipliers : array, shape (N,)
        lambda; with a promise of maximal leakage it has one entry more.
    reduced_cost : float
        The greatest reduced cost r, rounded up.
    upper_bound : float
        ``sum(lambda) + r``, or the utility of full disclosure if that is less; rounded up.
    method : str
        How r was computed.
    columns : int
        How many columns or guesses were priced.
    mixture : PriorMixture or None
        The priors at which the bound holds on average, for the least utility over a set; None for the reference prior.
    """

    multipliers: Floats
    reduced_cost: float
    upper_bound: float
    method: str
    columns: int
    mixture: PriorMixture | None = None

    @property
    def bound(self) -> float:
        """The upper bound."""
        return self.upper_bound

    @property
    def form(self) -> None:
        """None: lambda alone proves the bound."""
        return

    def gap(self, value: float) -> float:
        """Return how far the utility of a mechanism is below the bound."""
        return self.upper_bound - value


def certify(
    problem: DesignProblem,
    multipliers: ArrayLike,
    pricing: Pricing | None = None,
    *,
    thorough: bool = True,
    proposals: Proposals | None = None,
    enough: float = -math.inf,
    deadline: float | None = None,
) -> Certificate:
    """Return the upper bound that a dual vector proves, computed from that vector alone.

    Parameters
    ----------
    problem : DesignProblem
        For epsilon = 0 the only column is the constant one.
    multipliers : array, shape (N,)
        lambda, and then the multiplier of the maximal leakage if that is promised; a poor lambda gives a weak bound,
        but never a false one.
    pricing : Pricing, optional
        Exact pricing that was made for this problem, or for the one-sided problem that stands for it (`OneSided`); by
        default `pricing_for` chooses one.
    thorough : bool
        Whether pricing takes as long as its best bound takes.
    proposals
        For a gain, as in `price_by_guess`.
    enough : float
        A bound that is good enough: branch and bound ends when it is proved.
    deadline : float, optional
        A time of `time.monotonic` from which on pricing ends with the bound that is known then.

    Raises
    ------
    InputError
        If lambda does not have N finite entries, or is negative for the maximal leakage.
    LimitError
        If no exact pricing covers the problem.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> problem = DesignProblem(L1Ball([0.5, 0.5]), "log(2)")
    >>> certify(problem, [0.0, 0.0]).upper_bound >= 0.6931471805599453
    True
    """
    lam = checked_multipliers(problem, multipliers)
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        with np.errstate(under="ignore"):
            instead = one_sided.problem, one_sided.multipliers(lam), pricing
            return replace(certify(*instead, thorough=thorough, enough=enough, deadline=deadline), multipliers=lam)

    def price(lam: Floats) -> Price:
        gains, known = problem.utility.polyhedral, problem.uncertainty
        exp_epsilon, floor = effective_exp_epsilon(problem), problem.sides.floor_down
        if problem.maximal_leakage is not None and not problem.only_constant:
            return price_on_average(problem, exp_epsilon, lam, charge, proposals, deadline)
        if gains is not None:
            power = 1.0 if problem.maximal_leakage is not None else exp_epsilon  # a maximal leakage of 0
            return price_by_guess(known, power, gains, lam, None, floor, proposals, deadline)
        if problem.only_constant:
            return _nearly_constant(problem, lam)
        variance = problem.utility.explained_variance
        if variance is not None:
            return price_by_prediction(known, exp_epsilon, variance, lam, floor, deadline)
        target = reduced_cost_of(lam, enough)
        at_hand = pricing or pricing_for(known, exp_epsilon, as_utility(problem.utility), floor, target)
        return at_hand.price(lam, thorough=thorough, deadline=deadline)

    charge = 0.0 if problem.maximal_leakage is None else float(lam[-1])
    return replace(priced(problem, lam[: problem.uncertainty.size], price), multipliers=lam)


def priced(problem: DesignProblem, multipliers: Floats, pricing: Callable[[Floats], Price]) -> Certificate:
    """Return the upper bound that follows from a dual vector and the price that a function returns for it."""
    lam = frozen(multipliers)
    price, bound = priced_bound(lam, pricing)
    return Certificate(lam, price.upper, min(bound, full_disclosure(problem)), price.method, price.columns)


def checked_multipliers(problem: DesignProblem, multipliers: ArrayLike) -> Floats:
    """Return lambda as floats, after checking that it has N finite entries, and one that is not negative on average."""
    lam = frozen(real_array(multipliers, "lambda", "a number for each category"))
    asked = problem.uncertainty.size + (problem.maximal_leakage is not None)
    if lam.shape != (asked,) or not np.isfinite(lam).all():
        raise InputError.wrong_size(f"lambda has shape {lam.shape}; accepted: ({asked},), finite")
    if problem.maximal_leakage is not None and lam[-1] < 0:
        raise InputError.out_of_range(f"lambda ends with {lam[-1]:g}, for the maximal leakage; accepted: 0 or more")
    return lam


def priced_bound(multipliers: Floats, pricing: Callable[[Floats], Price]) -> tuple[Price, float]:
    """Return the price of lambda and the bound ``sum(lambda) + r``, rounded up; infinite where floats overflow."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            price = pricing(multipliers)
        # The sum of these floats, correctly rounded: lambda and r may cancel.
        return price, math.nextafter(math.fsum([*multipliers.tolist(), price.upper]), math.inf)
    except OverflowError:
        # Multipliers whose sum overflows prove no bound.
        return Price(math.inf, "multipliers beyond floats", 0), math.inf


def reduced_cost_of(multipliers: Floats, bound: float) -> float:
    """Return a reduced cost from which `priced_bound` gives no more than a bound: room is left for its roundings."""
    if bound == -math.inf:
        return bound
    below = math.nextafter(math.nextafter(bound, -math.inf), -math.inf)
    return math.nextafter(math.fsum([below, *(-multipliers).tolist()]), -math.inf)


def full_disclosure(problem: DesignProblem) -> float:
    """Return the utility of releasing the data unchanged, rounded up, which no mechanism exceeds.

    mu is sublinear, so ``mu(v) <= sum_i v_i mu(1_i)``: with ``lambda_i = mu(1_i)`` no reduced cost is
    positive, for any cone. For gains, and for the variance of values, the sum is exact and rounded once.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> round(full_disclosure(DesignProblem(L1Ball([0.5, 0.5]), 1)), 12)
    0.69314718056
    """
    polyhedral = problem.utility.polyhedral
    if polyhedral is not None:
        return float_up(polyhedral.disclosure(problem.uncertainty.center))
    variance, center = problem.utility.explained_variance, problem.uncertainty.center
    if variance is not None:
        return float_up(sum((p * c * c for p, c in zip(center, variance.centered(center), strict=True)), Fraction(0)))
    P = problem.uncertainty.prior
    likely = P > 0
    if any(p > 0 for p, held in zip(problem.uncertainty.center, likely.tolist(), strict=True) if not held):
        return math.inf  # a category whose probability floats round to 0 may add any amount to the utility
    # Categories of equal probability add equally much.
    masses, symbols, position = np.unique(P[likely], return_index=True, return_inverse=True)
    symbols = np.flatnonzero(likely)[symbols]
    each = np.empty(masses.size)
    for some in np.array_split(np.arange(masses.size), -(-masses.size * P.size // _MOST_ENTRIES)):
        columns = np.zeros((P.size, some.size))
        columns[symbols[some], np.arange(some.size)] = 1 / masses[some]
        each[some] = masses[some] * as_utility(problem.utility).mu_up(columns, P, 4 * _EPS * columns)
    upper = each[position]
    total = math.fsum(upper.tolist())
    return float(as_bound(math.nextafter(total + 4 * _EPS * float(np.abs(upper).sum()), math.inf)))


def padded(problem: DesignProblem, bound: float) -> float:
    """Return a bound with room for the rounding of a second computation on another machine."""
    utility, known = problem.utility, problem.uncertainty
    if utility.minimised:
        return bound - BOUND_PAD * abs(bound)
    if utility.worst_case is not None:
        # No prior of the set is needed for this: entropies are at most log N, and the spread of gains any one's.
        polyhedral = utility.worst_case.utility.polyhedral
        widest = math.log(known.size) if polyhedral is None else -float(polyhedral.shortfalls(known.size).min())
        return bound + BOUND_PAD * max(widest, abs(bound))
    if utility.polyhedral is not None:
        # The gain of every mechanism lies between the gains without and with the data. A part of the gains that both
        # have in common does not matter.
        spread = -float((utility.polyhedral.shortfalls(known.size) @ known.prior).max())
    else:
        spread = abs(full_disclosure(problem))
    return bound + BOUND_PAD * max(spread, abs(bound))


def _nearly_constant(problem: DesignProblem, multipliers: Floats) -> Price:
    """Return the greatest reduced cost where a side of the promise is 0, or so small that only constants keep it.

    A column with ``<P, v> = 1`` has ``1 - (e - 1) / P_i <= v_i <= e``, and no entry below 0. With a promise from below
    it has ``a <= v_i <= 1 + (1 - a) / P_i``.
    """
    P = problem.uncertainty.prior
    tiny = np.finfo(float).tiny
    excess = float_up(problem.epsilon.exp_up - 1)
    off = np.minimum(2 * excess / np.maximum(P, tiny), 1.0) if excess > 0 else np.zeros(P.size)
    if problem.maximal_leakage is not None and problem.maximal_leakage.exp_up == 1:
        off = np.zeros(P.size)
    elif problem.epsilon.exp_down > 1:
        lacking = float_up(1 - problem.sides.floor_down.least_lift)
        off = 2 * lacking / np.maximum(P, tiny) if lacking > 0 else np.zeros(P.size)
    upper = float(as_utility(problem.utility).mu_up(np.ones((P.size, 1)), P, off[:, None])[0])
    moved = np.abs(multipliers) * off
    total = math.fsum([upper, *(-multipliers).tolist(), *moved.tolist(), 4 * _EPS * float(moved.sum())])
    return Price(math.nextafter(total, math.inf), "the constant column", 1)
