"""Problems that are solved as other problems, with the way back.

A two-sided problem may be a one-sided one in disguise (`OneSided`). The least utility over a set of priors is measured
at one prior where the set holds no other, and where some prior of the set makes every mechanism worth nothing all
mechanisms are optimal; then the best one for the estimate is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from mechdesign.numerics.arrays import frozen
from mechdesign.optimize.method import Answer, AnyCertificate
from mechdesign.optimize.one_sided import OneSided
from mechdesign.optimize.worst_case.least_certificate import certify_least
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility.least import certain_prior, holds_one_prior


@dataclass(frozen=True, eq=False)
class Reduction:
    """Another problem whose answer gives one for the problem at hand.

    Attributes
    ----------
    problem : DesignProblem
        What is solved.
    why : str
        Why that is enough, for people.
    back : callable
        Returns the answer for the problem at hand from one for `problem`.
    """

    problem: DesignProblem
    why: str
    back: Callable[[Answer], Answer]


def reduced(problem: DesignProblem) -> Reduction | None:
    """Return the reduction of a problem; None where there is none.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> ball = L1Ball(["0.5", "0.5"], 2)
    >>> reduced(DesignProblem(ball, 1, lower=1)).problem.lower is None
    True
    >>> reduced(DesignProblem(ball, 1)) is None
    True
    """
    one_sided = OneSided.of(problem)
    if one_sided is not None:
        return Reduction(
            one_sided.problem, "a one-sided problem has the same optimum", partial(_on_both_sides, one_sided)
        )
    return _at_estimate(problem)


def _on_both_sides(one_sided: OneSided, answer: Answer) -> Answer:
    back = one_sided.back(answer.solution)

    def certified() -> AnyCertificate:
        return replace(answer.certified(), multipliers=frozen(back.multipliers))

    return Answer(back, f"{answer.words}, for the one-sided problem that has the same optimum", certified)


def _at_estimate(problem: DesignProblem) -> Reduction | None:
    worst, known = problem.utility.worst_case, problem.uncertainty
    if worst is None or problem.maximal_leakage is not None:
        return None
    priors, plain = worst.priors(known), problem.with_utility(worst.utility)
    gains = worst.utility.polyhedral is not None
    if (priors.center == known.center and holds_one_prior(priors)) or (problem.only_constant and not gains):
        center = PriorMixture((priors.center,), (Fraction(1),))

        def at_center(answer: Answer) -> Answer:
            certified = partial(certify_least, problem, answer.solution.multipliers, center)
            return answer._replace(certified=certified)

        return Reduction(plain, "the utility is measured at one prior", at_center)
    certain = None if gains else certain_prior(priors)
    if certain is None:
        return None
    nothing = PriorMixture((certain,), (Fraction(1),))

    def of_nothing(answer: Answer) -> Answer:
        certified = partial(certify_least, problem, np.zeros(known.size), nothing)
        return Answer(answer.solution, f"{answer.words}, for the estimate", certified)

    return Reduction(plain, "a prior of the set makes every mechanism worth nothing", of_nothing)
