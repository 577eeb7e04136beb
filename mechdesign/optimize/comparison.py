"""A design compared with k-ary randomized response and the best mechanism under local differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.closed_form.form import fractions
from mechdesign.optimize.designer import design
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.result import Design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import Utility


@dataclass(frozen=True)
class Comparison:
    """Utility of three mechanisms at the same epsilon and the same reference prior.

    Attributes
    ----------
    design : Design
        The optimum for the uncertainty set of the problem.
    k_ary_randomized_response : float
        Utility of randomized response, which is private for every prior.
    best_ldp : Design or None
        The certified optimum for every prior; None if it cannot be computed exactly.
    best_ldp_missing : str
        The reason why `best_ldp` is None; empty if there is a design.
    value : float
        Utility of the mechanism or the design that was compared. A mechanism may have less utility than the design.
    """

    design: Design
    k_ary_randomized_response: float
    best_ldp: Design | None
    best_ldp_missing: str = ""
    value: float = field(kw_only=True)


def compare(
    compared: DesignProblem | Design | Mechanism,
    utility: Utility | None = None,
    *,
    time_limit: float | None = None,
    report: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare a design with k-ary randomized response and the best LDP mechanism at the same epsilon.

    Parameters
    ----------
    compared : DesignProblem, Design or Mechanism
        A problem is solved first. For a mechanism, the problem of its guarantee is solved, so that the design is the
        best mechanism with the same guarantee.
    utility : Utility, optional
        For a mechanism: the utility to compare by; by default that of its claim of optimality.
    time_limit : float, optional
        Seconds for each design that is computed, as for `mechdesign.design`.
    report : callable, optional
        Called with one line whenever a longer step begins.

    Examples
    --------
    >>> import mechdesign as md
    >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
    >>> both = compare(solved)
    >>> both.k_ary_randomized_response <= both.best_ldp.value <= solved.value
    True
    >>> compare(solved.mechanism).value == solved.value
    True

    Raises
    ------
    InputError
        For an object of another type, a mechanism without a claim if no utility is given, or a utility together with a
        problem.
    """
    problem = _problem_of(compared, utility)
    prior = problem.uncertainty.center
    solved = compared if isinstance(compared, Design) else design(problem, time_limit=time_limit, report=report)
    value = problem.utility.value(compared.matrix, prior) if isinstance(compared, Mechanism) else solved.value
    everything = L1Ball(problem.uncertainty.center, 2, problem.uncertainty.labels)
    krr = problem.utility.value(k_ary_randomized_response(everything, problem).matrix, prior)
    try:
        wanted = DesignProblem(everything, problem.epsilon, problem.utility)
        best = design(wanted, tol=solved.tol, time_limit=time_limit, report=report)
    except LimitError as error:
        return Comparison(solved, krr, None, str(error), value=value)
    return Comparison(solved, krr, best, value=value)


def _problem_of(compared: DesignProblem | Design | Mechanism, utility: Utility | None) -> DesignProblem:
    """Return a problem, that of a design, or the one that the guarantee of a mechanism is about."""
    if isinstance(compared, Mechanism):
        claim = compared.optimality
        wanted = claim.utility if utility is None and claim is not None else utility
        if wanted is None:
            raise InputError("the mechanism has no claim of optimality, which would name a utility; give a utility")
        return DesignProblem(compared.guarantee.uncertainty, compared.guarantee.epsilon, wanted)
    if not isinstance(compared, DesignProblem | Design):
        raise InputError(f"what is compared is {shorten(compared)}; give a DesignProblem, a Design or a Mechanism")
    if utility is not None:
        raise InputError(f"the utility {shorten(utility)} is given beside a problem, which has one; leave it out")
    return compared if isinstance(compared, DesignProblem) else compared.problem


def k_ary_randomized_response(everything: L1Ball, problem: DesignProblem) -> Mechanism:
    """Return k-ary randomized response as a proved mechanism."""
    if everything.radius != 2:
        raise InputError(f"the radius is {everything.radius}; accepted: 2, all priors")
    given = L1Cone(fractions(everything.center), everything.half_radius, problem.epsilon.exp_down)
    return Mechanism.from_matrix(
        randomized_response.mechanism(given).astype(float), Guarantee(problem.epsilon, everything)
    )
