"""The table of methods: which way solves which problem, in the order in which `design` takes them.

`METHODS` is in order. A problem is solved by the first method that covers it and is quick for it, or else by the first
that covers it. Reductions (`mechdesign.optimize.reductions`) come before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.certificate import Certificate, certify, priced
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.column_generation import ColumnGeneration, solve_ray_lp
from mechdesign.optimize.deadline import with_time_for
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS, effective_exp_epsilon
from mechdesign.optimize.estimation.solver import ERROR_METHODS
from mechdesign.optimize.many_symbols import ManySymbols
from mechdesign.optimize.maximal_leakage import rays_on_average, solve_on_average, sum_for_programs
from mechdesign.optimize.method import Answer, DesignOptions, Method, Run, Solution, always
from mechdesign.optimize.polyhedral import solve_polyhedral
from mechdesign.optimize.prediction_search import solve_predictions
from mechdesign.optimize.pricing import ListedPricing, Price, Pricing, check_listable
from mechdesign.optimize.pricing.choice import (
    BOXES,
    COUNT_TABLES,
    EXTREME_RAYS,
    KNAPSACK,
    PIECE_PAIRS,
    SET_PAIRS,
    Priced,
    PricedBy,
    beyond_floats,
    listed_pricing,
)
from mechdesign.optimize.pricing.price import BallPricing
from mechdesign.optimize.reductions import reduced
from mechdesign.optimize.result import within
from mechdesign.optimize.secret_search import solve_within_limits
from mechdesign.optimize.ways import first
from mechdesign.optimize.worst_case.gains import solve_gains
from mechdesign.optimize.worst_case.information import solve_information
from mechdesign.optimize.worst_case.least_certificate import certify_least
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.base import Floor
from mechdesign.utility.least import table_of
from mechdesign.utility.objective import as_utility

_FOR_THE_BOUND = 1.5  # seconds after the time limit, in which pricing may improve the bound


def _other_objective(problem: DesignProblem) -> str:
    """Return why a method for utilities at the estimate does not cover a problem, whatever its set."""
    utility = problem.utility
    if utility.estimation is not None or utility.worst_case is not None:
        return f"{utility.name} is not a utility at the estimate"
    return ""


def _constant(problem: DesignProblem) -> Run | str:
    if reason := _other_objective(problem):
        return reason
    if not problem.only_constant:
        return "other mechanisms than the constant one keep the promise"
    numbers = {"epsilon": problem.epsilon, **problem.sides.beside}
    which = next(name for name, number in numbers.items() if number.exp_down == 1).replace("_", " ")

    def run(_: DesignOptions) -> Answer:
        known = problem.uncertainty
        ones = np.ones((known.size, 1))
        # Only the constant column is allowed, so any multipliers that sum to its utility are tight.
        multipliers = known.prior * problem.utility.value(ones, known.center)
        if problem.maximal_leakage is not None:
            multipliers = np.append(multipliers, 0.0)
        certified = partial(certify, problem, multipliers)
        return Answer(Solution(ones, multipliers, 1, 0), f"constant mechanism ({which} = 0)", certified)

    return run


def _gain_program(problem: DesignProblem) -> Run | str:
    gains = problem.utility.polyhedral
    if gains is None or problem.utility.worst_case is not None:
        return f"{problem.utility.name} is not a gain at the estimate"

    def run(options: DesignOptions) -> Answer:
        exp_epsilon, floor = _powers(problem)
        most = sum_for_programs(problem)
        solution, proposals = solve_polyhedral(
            problem.uncertainty, exp_epsilon, gains, options.progress, floor, options.deadline, most
        )

        def certified() -> Certificate:
            until = with_time_for(options.deadline, _FOR_THE_BOUND)
            return certify(problem, solution.multipliers, proposals=proposals, deadline=until)

        return Answer(solution, "polyhedral linear program", certified)

    return run


def _rays_on_average(problem: DesignProblem) -> Run | str:
    most = sum_for_programs(problem)
    if most is None:
        return "no maximal leakage is promised"
    if problem.utility.polyhedral is not None:
        return f"{problem.utility.name} is a gain, for which nothing has to be searched"
    try:
        rays = rays_on_average(problem, _powers(problem)[0])
    except LimitError as refusal:
        return str(refusal)

    def run(options: DesignOptions) -> Answer:
        solution = solve_on_average(rays, as_utility(problem.utility), most, options.progress, options.deadline)
        words = "linear program over all extreme rays, and over sets"
        return Answer(solution, words, partial(certify, problem, solution.multipliers))

    return run


def _without_average(method: Method) -> Method:
    """Return a method that covers no promise of maximal leakage."""

    def offer(problem: DesignProblem) -> Run | str:
        if problem.maximal_leakage is not None:
            return "columns are found one by one, and maximal leakage is a promise about all together"
        return method.offer(problem)

    return replace(method, offer=offer)


def _least_gain_program(problem: DesignProblem) -> Run | str:
    worst, known = problem.utility.worst_case, problem.uncertainty
    gains = None if worst is None else worst.utility.polyhedral
    if worst is None or gains is None:
        return f"{problem.utility.name} is not the least gain over a set of priors"
    priors = worst.priors(known)

    def run(options: DesignOptions) -> Answer:
        exp_epsilon, floor = _powers(problem)
        solution, mixture = solve_gains(known, exp_epsilon, gains, priors, options.progress, floor, options.deadline)

        def certified() -> Certificate:
            until = with_time_for(options.deadline, _FOR_THE_BOUND)
            return certify_least(problem, solution.multipliers, mixture, deadline=until)

        return Answer(solution, "linear program over mechanisms and priors", certified)

    return run


def _least_rays(problem: DesignProblem) -> Run | str:
    worst, known = problem.utility.worst_case, problem.uncertainty
    if worst is None or worst.utility.polyhedral is not None:
        return f"{problem.utility.name} is not the least f-information over a set of priors"
    priors, information = worst.priors(known), worst.utility
    try:
        if priors.convex_hull is None:
            table_of(priors)  # which refuses sets whose extreme priors are not known
        rays = check_listable(known, *_powers(problem))
    except LimitError as refusal:
        return str(refusal)

    def run(options: DesignOptions) -> Answer:
        solution, mixture = solve_information(rays, information, priors, options.deadline, options.progress)
        certified = partial(certify_least, problem, solution.multipliers, mixture)
        return Answer(solution, f"linear program over extreme rays and {mixture.count_in_words()}", certified)

    return run


def _predictions(problem: DesignProblem) -> Run | str:
    variance = problem.utility.explained_variance
    if variance is None:
        return f"{problem.utility.name} is not an explained variance"
    if problem.only_constant:
        return "only the constant mechanism keeps the promise"

    def run(options: DesignOptions) -> Answer:
        solution = solve_predictions(problem.uncertainty, *_powers(problem), variance, options)

        def certified() -> Certificate:
            until = with_time_for(options.deadline, _FOR_THE_BOUND)
            return certify(problem, solution.multipliers, deadline=until)

        return Answer(solution, "linear programs over mechanisms with an output for each prediction", certified)

    return run


def _columns_of(problem: DesignProblem) -> Priced | str:
    """Return the columns of a problem that are priced for a utility that is not a gain, or why there are none."""
    if reason := _other_objective(problem):
        return reason
    if problem.utility.polyhedral is not None:
        return f"{problem.utility.name} is a gain, for which nothing has to be searched"
    if problem.utility.explained_variance is not None:
        return f"{problem.utility.name} is priced by predictions"
    if problem.only_constant:
        return "only the constant mechanism keeps the promise"
    if reason := beyond_floats(problem.uncertainty):
        return reason
    exp_epsilon, floor = _powers(problem)
    return Priced(problem.uncertainty, exp_epsilon, as_utility(problem.utility), floor)


def _limits_search(problem: DesignProblem) -> Run | str:
    columns, secret = _columns_of(problem), problem.uncertainty.uncertain_secret
    if isinstance(columns, str):
        return columns
    if secret is None:
        return f"the set of priors is {problem.uncertainty.kind}, not limits of a joint distribution"
    pricing = listed_pricing(columns)
    if isinstance(pricing, str):
        return pricing

    def search(options: DesignOptions) -> tuple[Solution, str]:
        solution = solve_within_limits(
            secret, columns.exp_epsilon, columns.floor, pricing, options.deadline, options.progress
        )
        return solution, "columns within the limits of a joint distribution, found by a search"

    return _with_bound(problem, pricing, search)


def _by_pricing(way: PricedBy) -> Callable[[DesignProblem], Run | str]:
    """Return the offer of the method that prices columns in one way."""

    def offer(problem: DesignProblem) -> Run | str:
        columns, secret = _columns_of(problem), problem.uncertainty.uncertain_secret
        if isinstance(columns, str):
            return columns
        if secret is not None:
            return "columns within limits of a joint distribution have no list and no pricing of their own"
        pricing = way.offer(columns)
        if isinstance(pricing, str):
            return pricing
        return _with_bound(problem, pricing, partial(_searched, problem, pricing))

    return offer


def _searched(problem: DesignProblem, pricing: Pricing, options: DesignOptions) -> tuple[Solution, str]:
    """Return the solution that a pricing leads to, and how it was found."""
    if isinstance(pricing, ListedPricing):
        solution = solve_ray_lp(pricing.rays, as_utility(problem.utility), options.progress)
        return solution, "linear program over all extreme rays"
    if isinstance(pricing, BallPricing):
        proved = None if options.merge else _proved(problem, pricing, options)
        if proved is not None:
            return proved, f"closed form, priced by {pricing.method}"
        solution = ManySymbols(problem, pricing, options.progress, merge=options.merge).solve(
            options.tol, options.deadline
        )
        merged = " over merged categories" if solution.bins else ""
        return solution, f"column generation{merged}, priced by {pricing.method}"
    solution = ColumnGeneration(problem, pricing, options.progress).solve(options.tol, options.deadline)
    return solution, f"column generation, priced by {pricing.method}"


def _proved(problem: DesignProblem, pricing: Pricing, options: DesignOptions) -> Solution | None:
    """Return the mechanism of a theorem with its dual vector if there is one, and pricing finds the bound tight."""
    for form in closed_forms(problem):
        if form.matrix is not None and form.multipliers is not None:
            options.progress("pricing the dual vector of a closed form")
            price, value = pricing.price(form.multipliers, deadline=options.deadline), float(form.multipliers.sum())
            if within(price.upper, value, options.tol):
                return Solution(form.matrix, form.multipliers, form.matrix.shape[1], 0, price=price)
    return None


def _with_bound(
    problem: DesignProblem, pricing: Pricing, search: Callable[[DesignOptions], tuple[Solution, str]]
) -> Run:
    """Return what searches, and then bounds the optimum by the same pricing."""

    def run(options: DesignOptions) -> Answer:
        solution, words = search(options)
        if effective_exp_epsilon(problem) > MOST_IN_PROGRAMS:  # the pricing is for less, whose bound is another
            return Answer(solution, words, partial(certify, problem, solution.multipliers))
        return Answer(solution, words, partial(_priced_again, problem, solution, pricing, options.deadline))

    return run


def _priced_again(problem: DesignProblem, solution: Solution, pricing: Pricing, deadline: float | None) -> Certificate:
    """Return the bound that the multipliers of a solution prove, which are priced again unless that is done.

    Past a time limit or an interrupt, pricing ends after some seconds with the bound that is known then.
    """

    def price(multipliers: Floats) -> Price:
        before = solution.price
        if before is not None and before.whole:
            return before
        until = with_time_for(time.monotonic() if solution.stopped else deadline, _FOR_THE_BOUND)
        again = pricing.price(multipliers, thorough=True, deadline=until)
        return again if before is None or again.whole or again.upper < before.upper else before

    return priced(problem, solution.multipliers, price)


def _powers(problem: DesignProblem) -> tuple[float, Floor]:
    """Return exp(epsilon) for programs, and what is asked from below."""
    return min(effective_exp_epsilon(problem), MOST_IN_PROGRAMS), problem.sides.floor_down


def _of_columns(way: PricedBy, does: str, *, closes: bool) -> Method:
    def quick(problem: DesignProblem) -> bool:
        columns = _columns_of(problem)
        return not isinstance(columns, str) and way.quick(columns)

    return Method(way.name, quick, _by_pricing(way), does, closes)


_ONE_BY_ONE: tuple[Method, ...] = (
    Method(
        "predictions",
        always,
        _predictions,
        "solves linear programs with an output for each prediction, which pricing finds",
        closes=True,
    ),
    Method(
        "least-gain-program",
        always,
        _least_gain_program,
        "solves one linear program over mechanisms and priors",
        closes=True,
    ),
    Method(
        "least-rays",
        always,
        _least_rays,
        "solves linear programs over all extreme rays and the extreme priors that are found",
        closes=True,
    ),
    Method(
        "limits-search",
        always,
        _limits_search,
        "searches columns within limits of a joint distribution; the bound is that for some of these distributions",
        closes=False,
    ),
    _of_columns(COUNT_TABLES, "generates columns, priced by subset-sum tables over the counts of a ball", closes=True),
    _of_columns(
        SET_PAIRS, "generates columns, priced by all pairs of sets of categories above a lower probability", closes=True
    ),
    _of_columns(
        PIECE_PAIRS,
        "generates columns, priced by branch and bound over pairs of pieces of a lower probability",
        closes=False,
    ),
    _of_columns(EXTREME_RAYS, "solves one linear program over all extreme rays", closes=True),
    _of_columns(KNAPSACK, "generates columns, priced by a search near the fractional knapsack of a ball", closes=False),
    _of_columns(BOXES, "generates columns, priced by branch and bound over boxes", closes=False),
    *ERROR_METHODS,
)

METHODS: tuple[Method, ...] = (
    Method("constant", always, _constant, "takes the only mechanism that keeps the promise", closes=True),
    Method("gain-program", always, _gain_program, "solves one linear program over mechanisms", closes=True),
    Method(
        "rays-on-average",
        always,
        _rays_on_average,
        "solves one linear program over all extreme rays and sets, with a row for the maximal leakage",
        closes=True,
    ),
    *map(_without_average, _ONE_BY_ONE),
)
"""All methods, in order."""


def solve(problem: DesignProblem, options: DesignOptions, name: str | None = None) -> Answer:
    """Return the answer to a problem by the method that is named, or by the first of the table.

    Raises
    ------
    InputError
        If no method has the name, or it does not cover the problem.
    LimitError
        If no method covers the problem.
    """
    reduction = reduced(problem)
    if reduction is not None:
        return reduction.back(solve(reduction.problem, options, name))
    return (_first(problem) if name is None else _named(problem, name))(options)


def _first(problem: DesignProblem) -> Run:
    """Return the first method that covers a problem, or the reason of the one that lists rays, for any kind of set."""
    utility = problem.utility
    if problem.maximal_leakage is not None:
        return first(METHODS, problem, "rays-on-average")
    last = "error-extreme-rays" if utility.estimation else "least-rays" if utility.worst_case else "extreme-rays"
    return first(METHODS, problem, last)


def _named(problem: DesignProblem, name: str) -> Run:
    found = _by_name(name).offer(problem)
    if isinstance(found, str):
        covering = [method.name for method in METHODS if not isinstance(method.offer(problem), str)]
        raise InputError.method_does_not_cover(
            f"method is {name}, which does not cover this problem: {found}; accepted here: {', '.join(covering)}"
        )
    return found


def _by_name(name: str) -> Method:
    for method in METHODS:
        if method.name == name:
            return method
    raise InputError.unknown_choice(
        f"method is {shorten(name)}; accepted: {', '.join(method.name for method in METHODS)}"
    )
