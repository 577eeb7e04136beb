"""The choice of a method for the least utility over a set of priors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign.errors import InputError
from mechdesign.optimize.certificate import Certificate
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS, effective_exp_epsilon, effective_least_lift
from mechdesign.optimize.pricing.listing import check_listable
from mechdesign.optimize.solution import Solution
from mechdesign.optimize.worst_case.certificate import certify_least
from mechdesign.optimize.worst_case.gains import solve_gains
from mechdesign.optimize.worst_case.information import solve_information
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility.least import certain_prior, holds_one_prior, table_of

Answer = tuple[Solution, str, Callable[[], Certificate]]


def solve_least(
    problem: DesignProblem, report: Callable[[str], None], plainly: Callable[[DesignProblem], tuple[Solution, str]]
) -> Answer:
    """Return a solution for the greatest least utility, the method, and what computes the bound that it proves.

    Parameters
    ----------
    problem : DesignProblem
        Its objective is a `WorstCaseUtility`.
    report : callable
        Called with one line whenever a step begins.
    plainly : callable
        Solves a problem whose utility is measured at the reference prior. It is called where that decides: over one
        prior, and where some prior of the set makes every mechanism worth nothing, so that all are optimal.

    Raises
    ------
    InputError
        If the objective is another one.
    LimitError
        If a utility other than a gain is asked for, and the rays of the cone or the extreme priors are too many.
    """
    worst, known = problem.utility.worst_case, problem.uncertainty
    if worst is None:
        raise InputError(f"{problem.utility.name} is measured at one prior")
    priors, plain = worst.priors(known), problem.with_utility(worst.utility)
    certain = None if worst.utility.polyhedral is not None else certain_prior(priors)
    at_center = PriorMixture((priors.center,), (Fraction(1),))
    only_center = priors.center == known.center and holds_one_prior(priors)
    if only_center or (problem.only_constant and worst.utility.polyhedral is None):
        solution, method = plainly(plain)
        return solution, method, partial(certify_least, problem, solution.multipliers, at_center)
    if certain is not None:
        solution, method = plainly(plain)
        nothing = PriorMixture((certain,), (Fraction(1),))
        return solution, f"{method}, for the estimate", partial(certify_least, problem, np.zeros(known.size), nothing)
    exp_epsilon, least_lift = min(effective_exp_epsilon(problem), MOST_IN_PROGRAMS), effective_least_lift(problem)
    if worst.utility.polyhedral is not None:
        solution, mixture = solve_gains(known, exp_epsilon, worst.utility.polyhedral, priors, report, float(least_lift))
        method = "linear program over mechanisms and priors"
    else:
        if priors.convex_hull is None:
            table_of(priors)  # which refuses sets whose extreme priors are not known, before anything is solved
        rays = check_listable(known, exp_epsilon, least_lift)
        solution, mixture = solve_information(rays, worst.utility, priors, report)
        method = f"linear program over extreme rays and {mixture.count_in_words()}"
    return solution, method, partial(certify_least, problem, solution.multipliers, mixture)
