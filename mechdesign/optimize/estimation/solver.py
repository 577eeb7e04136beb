"""The choice of a method for an estimation error, and the bound that a dual proves by the method that covers it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, LimitError
from mechdesign.numerics.arrays import Floats, frozen, real_array
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.numerics.threads import one_thread
from mechdesign.optimize.capped_cone import raised_power
from mechdesign.optimize.deadline import share_until, time_is_up
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS, effective_exp_epsilon
from mechdesign.optimize.estimation.caps import entry_limits, price_in_box
from mechdesign.optimize.estimation.every_set import MOST_SYMBOLS as MOST_IN_SETS
from mechdesign.optimize.estimation.every_set import EverySet
from mechdesign.optimize.estimation.few_outputs import least_outputs
from mechdesign.optimize.estimation.form_certificate import (
    ErrorCertificate,
    FormPricing,
    lower_bound,
    root_trace_down,
    total_up,
)
from mechdesign.optimize.estimation.generation import solve_generated
from mechdesign.optimize.estimation.limited_outputs import LimitedOutputs
from mechdesign.optimize.estimation.listed import ListedForms, solve_listed
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.spare_outputs import without_spare_outputs
from mechdesign.optimize.estimation.within_limits import ErrorWithin
from mechdesign.optimize.method import Answer, DesignOptions, Method, Run, always
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.pricing.listing import check_listable
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import Rays
from mechdesign.optimize.secret_search import ColumnsWithin
from mechdesign.optimize.start import start_columns
from mechdesign.optimize.ways import Way, first
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import Floor
from mechdesign.utility import ChiSquare

_SHARE_OF_ALL = 0.6  # of the time, for a search over all outputs where they are limited
_LISTED = 16  # symbols: up to so many, the optimum over all rays takes seconds
_MOST_LISTED = 2_000_000  # rays, likewise
_LARGEST = 1e300  # entry of lambda beside a Theta near 1: each lambda proves something, but none that overflows
_MOST_SYMBOLS = 400  # beyond, a single round of the search takes minutes
_MORE_WORK = (4, 16, 64)  # times the usual work, for a bound that is wanted
_TOLERANCES = ((10, 1e-6), (16, 1e-4))
_TOLERANCE_OF_SETS, _TOLERANCE = 1e-4, 0.03


def error_tolerance(known: UncertaintySet) -> float:
    """Return the relative gap that counts as closed for a set of priors, by how many symbols it has.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> [error_tolerance(L1Ball.from_counts([1] * N, known=True)) for N in (9, 16, 17)]
    [1e-06, 0.0001, 0.03]

    Under local differential privacy more symbols have an optimum that is certified:

    >>> [error_tolerance(L1Ball.from_counts([1] * N, radius=2)) for N in (24, 25)]
    [0.0001, 0.03]
    """
    beyond = _TOLERANCE_OF_SETS if _prices_every_set(known) else _TOLERANCE
    return next((tol for most, tol in _TOLERANCES if known.size <= most), beyond)


def _prices_every_set(known: UncertaintySet) -> bool:
    """Return whether every set of symbols gives a ray, and all of them are priced."""
    return known.holds_every_prior and known.size <= MOST_IN_SETS


def workload_of(problem: DesignProblem) -> Floats:
    """Return the workload W of a problem, shape (q, N).

    Raises
    ------
    InputError
        If the objective of the problem is not an estimation error.
    """
    objective = problem.utility.estimation
    if objective is None:
        raise InputError.wrong_objective(f"the objective is {problem.utility.name}; accepted: an EstimationError")
    return objective.queries(problem.uncertainty.size)


class FormAsked(NamedTuple):
    """What quadratic forms are priced for.

    Attributes
    ----------
    known : UncertaintySet
        The set of priors.
    exp_epsilon : float
        exp(epsilon).
    floor : Floor
        What is asked from below.
    """

    known: UncertaintySet
    exp_epsilon: float
    floor: Floor

    @property
    def one_sided(self) -> str:
        """Why a method for a promise from above alone does not do; empty where it does."""
        name = "cap" if self.floor.for_everyone else "lower"
        return f"columns are searched for a promise from above alone, and {name} is given" if self.floor[0] else ""


def _every_set(asked: FormAsked) -> EverySet | str:
    known, exp_epsilon, _ = asked
    if asked.one_sided:
        return asked.one_sided
    if not known.holds_every_prior:
        return "some prior is outside the set, so that sets of categories are not all extreme rays"
    if known.size > MOST_IN_SETS:
        return f"{known.size} categories have too many sets (at most {MOST_IN_SETS} categories)"
    return EverySet(known.prior, exp_epsilon)


def _listed(asked: FormAsked) -> ListedForms | str:
    try:
        rays = check_listable(*asked)
    except LimitError as refusal:
        return str(refusal)
    known, e, (least, *_) = asked
    if known.ball is not None and (asked.floor.for_everyone or not asked.one_sided):
        return ListedForms(rays, start_columns(known.ball, e, ChiSquare(), asked.floor))
    # Randomized response, of a ratio that keeps every promise.
    ratio = min(e, 1 / float(least)) if least else e
    responses = np.ones((known.size, known.size)) + (ratio - 1) * np.eye(known.size)
    return ListedForms(rays, responses / (known.prior @ responses))


def _is_listed_quickly(asked: FormAsked) -> bool:
    known, exp_epsilon, floor = asked
    ball = known.l1_ball
    if ball is None or (asked.one_sided and not floor.for_everyone):
        return True
    if ball.size > _LISTED:
        return False
    rays = Rays(ball, raised_power(exp_epsilon, floor)[0])
    return rays.count(rays.kinds) <= _MOST_LISTED


def _separable(asked: FormAsked) -> SeparablePricing | str:
    known, exp_epsilon, _ = asked
    ball = known.l1_ball
    if asked.one_sided and not asked.floor.for_everyone:
        return asked.one_sided
    if ball is None:
        return f"the set of priors is {known.kind}, not an l1 ball"
    return SeparablePricing(ball, exp_epsilon, asked.floor)


FormPricedBy: TypeAlias = Way[FormAsked, EverySet | ListedForms | SeparablePricing]
EVERY_SET: FormPricedBy = Way("error-every-set", lambda _: True, _every_set)
ERROR_RAYS: FormPricedBy = Way("error-extreme-rays", _is_listed_quickly, _listed)
ERROR_COLUMNS: FormPricedBy = Way("error-columns", lambda _: True, _separable)
FORM_PRICINGS: tuple[FormPricedBy, ...] = (EVERY_SET, ERROR_RAYS, ERROR_COLUMNS)
"""All ways to price quadratic forms, in order."""


def form_pricing(problem: DesignProblem, exp_epsilon: float | None = None) -> EverySet | ListedForms | SeparablePricing:
    """Return the pricing of quadratic forms that covers a problem, by default at its own exp(epsilon).

    Raises
    ------
    LimitError
        If there is none.
    """
    return first(FORM_PRICINGS, _asked(problem, exp_epsilon or effective_exp_epsilon(problem)), ERROR_RAYS.name)


def _asked(problem: DesignProblem, exp_epsilon: float) -> FormAsked:
    return FormAsked(problem.uncertainty, exp_epsilon, problem.sides.floor_down)


def _too_many(problem: DesignProblem) -> str:
    """Return why a search for columns does not cover so many symbols; empty where it does."""
    N = problem.uncertainty.size
    if N <= _MOST_SYMBOLS:
        return ""
    return (
        f"{N} categories are too many for a design of least estimation error (at most {_MOST_SYMBOLS}); merge rare "
        "categories, put numbers into fewer bins, or call mechdesign.estimation_bound of Python, which needs no design"
    )


def error_refusal(problem: DesignProblem) -> str:
    """Return why no method designs for the least estimation error of a problem; empty where one may."""
    name = problem.utility.name
    if problem.utility.estimation is None:
        return f"{name} is not an estimation error"
    if too_many := _too_many(problem):
        return too_many
    if problem.only_constant:
        side, level = (
            ("epsilon", problem.epsilon)
            if problem.epsilon.exp_down == 1
            else (
                problem.sides.below_name,
                problem.local_epsilon,
            )
        )
        return (
            f"{side} = {level} allows only the constant mechanism, whose reports say nothing: its estimation error is "
            f"infinite; give a larger {side}"
        )
    return ""


def _error_method(way: FormPricedBy, does: str, *, closes: bool) -> Method:
    """Return the method that prices quadratic forms in one way."""

    def offer(problem: DesignProblem) -> Run | str:
        if reason := error_refusal(problem):
            return reason
        if problem.uncertainty.uncertain_secret is not None:
            return "columns within limits of a joint distribution have no list and no pricing of their own"
        exp_epsilon = min(effective_exp_epsilon(problem), MOST_IN_PROGRAMS)
        pricing = way.offer(_asked(problem, exp_epsilon))
        return pricing if isinstance(pricing, str) else partial(solve_error, problem, pricing)

    def quick(problem: DesignProblem) -> bool:
        return not error_refusal(problem) and way.quick(_asked(problem, effective_exp_epsilon(problem)))

    return Method(way.name, quick, offer, does, closes)


def _error_within_limits(problem: DesignProblem) -> Run | str:
    """Return what designs within limits of the joint distribution of a secret."""
    if reason := error_refusal(problem):
        return reason
    secret = problem.uncertainty.uncertain_secret
    if secret is None:
        return f"the set of priors is {problem.uncertainty.kind}, not limits of a joint distribution"
    pricing = _listed(_asked(problem, min(effective_exp_epsilon(problem), MOST_IN_PROGRAMS)))
    return pricing if isinstance(pricing, str) else partial(solve_error, problem, pricing)


ERROR_METHODS = (
    Method(
        "error-limits-search",
        always,
        _error_within_limits,
        "moves the weights of columns within limits of a joint distribution; the bound is that for some distributions",
        closes=False,
    ),
    _error_method(
        EVERY_SET, "moves the weights of sets of categories by interior points, and prices every set", closes=True
    ),
    _error_method(ERROR_RAYS, "moves the weights of all extreme rays by interior points", closes=True),
    _error_method(
        ERROR_COLUMNS, "moves the weights of columns that a search finds, and bounds separable forms", closes=False
    ),
)
"""All methods for estimation errors, in order."""


@one_thread()
def solve_error(
    problem: DesignProblem, pricing: EverySet | ListedForms | SeparablePricing, options: DesignOptions
) -> Answer:
    """Return a mechanism of small estimation error, and what computes the certified bound.

    Parameters
    ----------
    problem : DesignProblem
        That `error_refusal` does not refuse.
    pricing : EverySet, ListedForms or SeparablePricing
        Of the problem at exp(epsilon), or at the most that programs take.
    options : DesignOptions
        Its merge is not looked at.

    Raises
    ------
    InputError
        If no mechanism with so few outputs determines the answers of all queries.
    SolverError
        If a solver fails.
    """
    W, prior, outputs = workload_of(problem), problem.uncertainty.prior, options.outputs
    if outputs is not None and outputs < least_outputs(W):
        raise InputError.not_identifiable(
            f"outputs = {outputs} cannot determine every query; fewer than {least_outputs(W)} outputs never do, so "
            f"give {least_outputs(W)} or more"
        )
    effective = effective_exp_epsilon(problem)
    exp_epsilon = min(effective, MOST_IN_PROGRAMS)
    tol, progress = options.tol, options.progress
    shares_time = outputs is not None and isinstance(pricing, SeparablePricing)
    deadline = share_until(options.deadline, _SHARE_OF_ALL) if shares_time else options.deadline
    limits = entry_limits(problem.uncertainty, exp_epsilon, problem.sides.floor_down)
    within = _within_limits(problem, exp_epsilon)
    if isinstance(pricing, SeparablePricing):
        solution, form = solve_generated(pricing, W, tol, deadline, progress)
        words = "columns found by a search"
    elif isinstance(pricing, ListedForms) and within is not None:
        solution, form = ErrorWithin(within, pricing, W, limits).solve(tol, deadline, progress)
        words = "interior points over columns within the limits of a joint distribution"
    else:
        solution, form = solve_listed(pricing, W, limits, tol, deadline, progress)
        words = "interior points over all extreme rays"
    solution = replace(solution, matrix=without_spare_outputs(solution.matrix, prior, options.deadline))
    if outputs is not None:
        solution = LimitedOutputs(problem, W, pricing, exp_epsilon, outputs, within).solve(
            solution, tol, options.deadline, progress
        )
    same = exp_epsilon == effective
    known = (pricing, solution.price) if same else (None, None)
    return Answer(solution, words, partial(certify_error, problem, form, solution.multipliers, *known))


def _within_limits(problem: DesignProblem, exp_epsilon: float) -> ColumnsWithin | None:
    """Return the columns within limits of the joint distribution of a secret; None without limits."""
    secret = problem.uncertainty.uncertain_secret
    return None if secret is None else ColumnsWithin(secret, exp_epsilon, problem.sides.floor_down)


@one_thread()
def certify_error(
    problem: DesignProblem,
    form: QuadraticForm,
    multipliers: ArrayLike,
    pricing: FormPricing | None = None,
    known: Price | None = None,
    *,
    wanted: float = 0.0,
    deadline: float | None = None,
) -> ErrorCertificate:
    """Return the lower bound that a quadratic form and multipliers prove, computed from these alone.

    Parameters
    ----------
    problem : DesignProblem
        Whose objective is an `EstimationError`.
    form : QuadraticForm
        Theta; a poor one gives a weak bound, but never a false one.
    multipliers : array, shape (N,)
        lambda.
    pricing : FormPricing, optional
        Pricing that was made for this problem; by default `form_pricing` chooses one.
    known : Price, optional
        What this pricing has returned for the form and lambda.
    wanted : float
        A bound that is worth more work than usual, such as that of a file: another version may have found better prices
        for its form.
    deadline : float, optional
        A time of `time.monotonic` from which on pricing ends with the bound that is known then.

    Raises
    ------
    InputError
        If shapes do not fit.
    LimitError
        If no pricing covers the problem.

    Examples
    --------
    >>> from mechdesign import DesignProblem, EstimationError, L1Ball
    >>> problem = DesignProblem(L1Ball([0.5, 0.5]), "log(3)", EstimationError())
    >>> found = certify_error(problem, QuadraticForm(np.ones(2)), np.zeros(2))
    >>> 0 < found.lower_bound <= 2.0
    True
    """
    if too_many := _too_many(problem):
        raise LimitError.no_method(too_many)
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        problem = one_sided.problem  # of every prior, with the same multipliers
    N = problem.uncertainty.size
    lam = frozen(real_array(multipliers, "lambda", "a number for each category"))
    if lam.shape != (N,) or not np.isfinite(lam).all() or form.size != N:
        raise InputError.wrong_size(
            f"lambda has shape {lam.shape} and theta {form.size} categories; accepted: ({N},), finite"
        )
    W, prior = workload_of(problem), problem.uncertainty.prior
    limits = entry_limits(problem.uncertainty, effective_exp_epsilon(problem), problem.sides.floor_down)
    # A multiple of both proves the same; numbers near 1 neither overflow nor vanish.
    power = form.exponent
    near_one = form.halved(power)
    with np.errstate(over="ignore"):
        lam_near_one = np.clip(np.ldexp(lam, -power), -_LARGEST, _LARGEST)
    price = price_in_box(near_one, lam_near_one, limits)
    root, eta = root_trace_down(near_one, prior, W)
    found = lower_bound(root, total_up(lam_near_one, price.upper, eta, limits))
    if problem.epsilon.exp_down > 1:
        if known is None:
            prices = _prices(pricing or form_pricing(problem), near_one, lam_near_one, deadline)
        else:
            prices = iter([replace(known, upper=float(np.ldexp(known.upper, -power)))])
        for exact in prices:
            if exact.upper < price.upper:
                price, found = exact, lower_bound(root, total_up(lam_near_one, exact.upper, eta, limits))
            if found >= wanted:
                break
    with np.errstate(over="ignore"):
        reduced_cost = float(np.ldexp(price.upper, power))
    return ErrorCertificate(form, lam, reduced_cost, found, price.method, price.columns)


def _prices(pricing: FormPricing, form: QuadraticForm, lam: Floats, deadline: float | None) -> Iterator[Price]:
    """Yield prices of a form: the usual one, and then better ones that take more work, where there are any."""
    yield pricing.price(form, lam, deadline=deadline)
    if isinstance(pricing, SeparablePricing):
        for work in _MORE_WORK:
            if time_is_up(deadline):
                return
            yield replace(pricing, work=work).price(form, lam, deadline=deadline)
