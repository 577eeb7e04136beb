"""The bound that lambda and a mixture of priors prove on the least utility over a set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.certificate import Certificate, certify, checked_multipliers, priced_bound
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon, effective_least_lift
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.pricing import Price, price_by_guess
from mechdesign.optimize.pricing.listing import check_listable, price_by_listing
from mechdesign.optimize.worst_case.mixed_utility import MixedUtility
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import WorstCaseUtility


def certify_least(problem: DesignProblem, multipliers: ArrayLike, mixture: PriorMixture) -> Certificate:
    """Return the upper bound of the least utility that lambda and a mixture of priors prove.

    Parameters
    ----------
    problem : DesignProblem
        Its objective is a `WorstCaseUtility`.
    multipliers : array, shape (N,)
        lambda.
    mixture : PriorMixture
        Members of the set over which the least is taken, with weights. If it is the reference prior alone, the bound is
        that of the utility there.

    Raises
    ------
    InputError
        If the objective is another one, or lambda does not have N finite entries.
    GuaranteeError
        If a prior is outside the set.
    LimitError
        If the rays of the cone cannot be listed, which utilities other than gains need.

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], "0.2"), "log(2)", md.WorstCaseUtility(md.MutualInformation()))
    >>> mixture = PriorMixture((problem.uncertainty.center,), (1,))
    >>> certify_least(problem, [0.0, 0.0], mixture).bound < 0.7
    True
    """
    worst = problem.utility.worst_case
    if worst is None:
        raise InputError(f"{problem.utility.name} is measured at one prior; certify takes it")
    priors = worst.priors(problem.uncertainty)
    mixture.check_members(priors)
    if len(mixture.priors) == 1 and mixture.priors[0] == problem.uncertainty.center:
        return replace(certify(problem.with_utility(worst.utility), multipliers), mixture=mixture)
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        return certify_least(one_sided.problem, multipliers, mixture)  # of every prior, with the same multipliers
    lam, least_lift = checked_multipliers(problem, multipliers), effective_least_lift(problem)
    informs = worst.utility.f_information is not None
    if informs and (problem.epsilon.exp_up == 1 or least_lift == 1 or all(1 in prior for prior in mixture.priors)):
        return Certificate(lam, 0.0, 0.0, "no report informs about anything", 0, mixture)
    priced, disclosed = _pricing(problem, worst, mixture)
    price, bound = priced_bound(lam, priced)
    method = f"{price.method}, at {mixture.count_in_words()}"
    return Certificate(lam, price.upper, min(bound, disclosed), method, price.columns, mixture)


def _pricing(
    problem: DesignProblem, worst: WorstCaseUtility, mixture: PriorMixture
) -> tuple[Callable[[Floats], Price], float]:
    """Return what prices lambda for the average of the utility over the mixture, and that of full disclosure."""
    known, exp_epsilon = problem.uncertainty, effective_exp_epsilon(problem)
    least_lift = effective_least_lift(problem)
    polyhedral = worst.utility.polyhedral
    if polyhedral is not None:
        mean = mixture.mean
        disclosed = float_up(polyhedral.disclosure(mean))
        return (lambda lam: price_by_guess(known, exp_epsilon, polyhedral, lam, mean, least_lift)), disclosed
    floats = np.array([[float(q) for q in prior] for prior in mixture.priors])
    mixed = MixedUtility(worst.utility, floats, np.array([float(w) for w in mixture.weights]))
    rays = check_listable(known, exp_epsilon, least_lift)
    return (lambda lam: price_by_listing(rays, mixed, lam)), mixed.disclosure()
