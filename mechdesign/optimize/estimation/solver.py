"""The choice of a method for an estimation error, and the bound that a dual proves by the method that covers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, LimitError
from mechdesign.numerics.arrays import Floats, frozen, real_array
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.numerics.threads import one_thread
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS, effective_exp_epsilon
from mechdesign.optimize.estimation.box import entry_limits, price_in_box
from mechdesign.optimize.estimation.certificate import (
    ErrorCertificate,
    FormPricing,
    lower_bound,
    root_trace_down,
    total_up,
)
from mechdesign.optimize.estimation.every_set import MOST_SYMBOLS as MOST_IN_SETS
from mechdesign.optimize.estimation.every_set import EverySet
from mechdesign.optimize.estimation.few_outputs import Finder, least_outputs, with_few_outputs, without_spare_outputs
from mechdesign.optimize.estimation.generated import solve_generated
from mechdesign.optimize.estimation.generation import ColumnSearch
from mechdesign.optimize.estimation.interior_point import Weights
from mechdesign.optimize.estimation.listed import ListedForms, solve_listed
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.pricing.listing import check_listable
from mechdesign.optimize.rays import Rays
from mechdesign.optimize.solution import Solution
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet

_LISTED = 16  # symbols: up to so many, the optimum over all rays takes seconds
_MOST_LISTED = 2_000_000  # rays, likewise
_LARGEST = 1e300  # entry of lambda beside a Theta near 1: each lambda proves something, but none that overflows
_MOST_SYMBOLS = 400  # beyond, a single round of the search takes minutes
_TOLERANCES = ((10, 1e-6), (16, 1e-4))
_TOLERANCE_OF_SETS, _TOLERANCE = 1e-4, 0.03


def error_tolerance(known: UncertaintySet) -> float:
    """Return the relative gap that counts as closed for a set of priors, by how many symbols it has.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> [error_tolerance(L1Ball.from_counts([1] * N)) for N in (9, 16, 17)]
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
        raise InputError(f"the objective is {problem.utility.name}; accepted: an EstimationError")
    return objective.queries(problem.uncertainty.size)


def form_pricing(problem: DesignProblem, exp_epsilon: float | None = None) -> EverySet | ListedForms | SeparablePricing:
    """Return the pricing of quadratic forms that covers a problem, by default at its own exp(epsilon).

    Where any prior may be true, every set of up to 24 symbols is priced. The rays of an l1 ball are listed where they
    are few. Other balls have bounds of separable forms, other sets a list.

    Raises
    ------
    LimitError
        If there is none.
    """
    known, e = problem.uncertainty, exp_epsilon or effective_exp_epsilon(problem)
    ball = known.l1_ball
    if _prices_every_set(known):
        return EverySet(known.prior, e)
    if ball is None:
        return ListedForms(check_listable(known, e))
    rays = Rays(ball, e)
    if ball.size <= _LISTED and rays.count(rays.kinds) <= _MOST_LISTED:
        return ListedForms(rays)
    return SeparablePricing(ball, e)


def _check_size(problem: DesignProblem) -> None:
    """Refuse more symbols than a search for columns covers."""
    N = problem.uncertainty.size
    if N > _MOST_SYMBOLS:
        raise LimitError(
            f"{N} symbols are too many for a design of least estimation error (at most {_MOST_SYMBOLS}); merge rare "
            "symbols, or use mechdesign.estimation_bound, which needs no design"
        )


@one_thread()
def solve_error(
    problem: DesignProblem,
    tol: float,
    deadline: float | None,
    report: Callable[[str], None],
    outputs: int | None = None,
) -> tuple[Solution, str, Callable[[], ErrorCertificate]]:
    """Return a mechanism of small estimation error, the name of the method, and what computes the certified bound.

    Parameters
    ----------
    problem : DesignProblem
        Whose objective is an estimation error.
    tol : float
        The relative gap at which to stop.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    report : callable
        Called with one line whenever a step begins.
    outputs : int, optional
        The most outputs that the mechanism may have.

    Raises
    ------
    InputError
        If no mechanism with so few outputs determines the answers of all queries.
    LimitError
        If only the constant mechanism has the guarantee, or no method covers the problem.
    SolverError
        If a solver fails.
    """
    _check_size(problem)
    if problem.lower is not None:
        raise LimitError(
            f"no method designs for {problem.utility.name} with lower = {problem.lower} over this set; leave lower "
            "out, use mutual-information or a gain utility, or promise it for every prior (radius 2)"
        )
    secret = problem.uncertainty.secret_promise
    if secret is not None and secret.limits is not None:
        raise LimitError(
            f"no method designs for {problem.utility.name} where the joint distribution of a secret is uncertain; "
            "leave delta out, or use mutual-information or a gain utility"
        )
    W, prior = workload_of(problem), problem.uncertainty.prior
    if outputs is not None and outputs < least_outputs(W):
        raise InputError(
            f"outputs = {outputs} cannot determine every query; fewer than {least_outputs(W)} outputs never do, so "
            f"give {least_outputs(W)} or more"
        )
    if problem.epsilon.exp_down == 1:
        raise LimitError(
            "epsilon = 0 allows only the constant mechanism, whose reports say nothing: its estimation error is "
            "infinite; give an epsilon above 0"
        )
    effective = effective_exp_epsilon(problem)
    exp_epsilon = min(effective, MOST_IN_PROGRAMS)
    pricing = form_pricing(problem, exp_epsilon)
    limits = entry_limits(problem.uncertainty, exp_epsilon)
    if isinstance(pricing, SeparablePricing):
        solution, form = solve_generated(pricing, W, tol, deadline, report)
        method = "interior points over columns found by a search"
    else:
        solution, form = solve_listed(pricing, W, limits, tol, deadline, report)
        method = "interior points over all extreme rays"
    solution = replace(solution, matrix=without_spare_outputs(solution.matrix, prior))
    if outputs is not None:
        solution = _limited(problem, solution, outputs, pricing, deadline, report)
    certified = partial(
        certify_error, problem, form, solution.multipliers, pricing if exp_epsilon == effective else None
    )
    return solution, method, certified


def _limited(
    problem: DesignProblem,
    solution: Solution,
    outputs: int,
    pricing: EverySet | ListedForms | SeparablePricing,
    deadline: float | None,
    report: Callable[[str], None],
) -> Solution:
    """Return a solution with at most so many outputs, which says what error there was with more."""
    W, prior = workload_of(problem), problem.uncertainty.prior

    def listed(point: Weights, wanted: int) -> Floats:
        return pricing.price(QuadraticForm.of_matrix(point.M), point.multipliers, wanted).best

    columns_to_try: Finder = listed
    if isinstance(pricing, SeparablePricing):
        columns_to_try = ColumnSearch(pricing.ball, pricing.exp_epsilon, W, np.random.default_rng(0)).to_try
    error = problem.utility.value(solution.matrix, problem.uncertainty.center)
    matrix = with_few_outputs(solution.matrix, outputs, prior, W, columns_to_try, deadline=deadline, report=report)
    return replace(solution, matrix=matrix, unrestricted=error)


@one_thread()
def certify_error(
    problem: DesignProblem, form: QuadraticForm, multipliers: ArrayLike, pricing: FormPricing | None = None
) -> ErrorCertificate:
    """Return the lower bound that a quadratic form and multipliers prove, computed from these alone.

    Parameters
    ----------
    problem : DesignProblem
        Whose objective is an `EstimationError`. A promise from below allows fewer mechanisms, so that a bound that is
        proved without it holds with it.
    form : QuadraticForm
        Theta; a poor one gives a weak bound, but never a false one.
    multipliers : array, shape (N,)
        lambda.
    pricing : FormPricing, optional
        Pricing that was made for this problem; by default `form_pricing` chooses one.

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
    _check_size(problem)
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        problem = one_sided.problem  # of every prior, with the same multipliers; other promises from below are left out
    N = problem.uncertainty.size
    lam = frozen(real_array(multipliers, "lambda", "a number for each symbol"))
    if lam.shape != (N,) or not np.isfinite(lam).all() or form.size != N:
        raise InputError(f"lambda has shape {lam.shape} and theta {form.size} symbols; accepted: ({N},), finite")
    W, prior = workload_of(problem), problem.uncertainty.prior
    limits = entry_limits(problem.uncertainty, effective_exp_epsilon(problem))
    # A multiple of both proves the same; numbers near 1 neither overflow nor vanish.
    power = form.exponent
    near_one = form.halved(power)
    with np.errstate(over="ignore"):
        lam_near_one = np.clip(np.ldexp(lam, -power), -_LARGEST, _LARGEST)
    price = price_in_box(near_one, lam_near_one, limits)
    root, eta = root_trace_down(near_one, prior, W)
    found = lower_bound(root, total_up(lam_near_one, price.upper, eta, limits))
    if problem.epsilon.exp_down > 1:
        exact = (pricing or form_pricing(problem)).price(near_one, lam_near_one)
        if exact.upper < price.upper:
            price, found = exact, lower_bound(root, total_up(lam_near_one, exact.upper, eta, limits))
    with np.errstate(over="ignore"):
        reduced_cost = float(np.ldexp(price.upper, power))
    return ErrorCertificate(form, lam, reduced_cost, found, price.method, price.columns)
