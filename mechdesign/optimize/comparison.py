"""A design beside k-ary randomized response and the best mechanism under local differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Guarantee, Mechanism
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.closed_form.form import Parameters, fractions
from mechdesign.optimize.designer import design
from mechdesign.optimize.result import Design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball


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
        The certified optimum for every prior; None where it cannot be computed exactly.
    best_ldp_missing : str
        Why, where it is None.
    """

    design: Design
    k_ary_randomized_response: float
    best_ldp: Design | None
    best_ldp_missing: str = ""


def compare(
    solved: Design, *, time_limit: float | None = None, report: Callable[[str], None] | None = None
) -> Comparison:
    """Return a design beside k-ary randomized response and the best LDP mechanism at the same epsilon.

    Parameters
    ----------
    solved : Design
        The design.
    time_limit : float, optional
        For the best LDP mechanism, as for `mechdesign.design`.
    report : callable, optional
        Called with one line whenever a longer step begins.

    Examples
    --------
    >>> import mechdesign as md
    >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
    >>> both = compare(solved)
    >>> both.k_ary_randomized_response <= both.best_ldp.value <= solved.value
    True
    """
    if not isinstance(solved, Design):
        raise InputError(f"the design is {shorten(solved)}; give what mechdesign.design returns")
    problem = solved.problem
    utility = problem.utility
    everything = L1Ball(problem.uncertainty.center, 2, problem.uncertainty.labels)
    krr = k_ary_randomized_response(everything, problem)
    value = utility.value(krr.matrix, problem.uncertainty.center)
    try:
        wanted = DesignProblem(everything, problem.epsilon, utility)
        best = design(wanted, tol=solved.tol, time_limit=time_limit, report=report)
    except LimitError as error:
        return Comparison(solved, value, None, str(error))
    return Comparison(solved, value, best)


def k_ary_randomized_response(everything: L1Ball, problem: DesignProblem) -> Mechanism:
    """Return k-ary randomized response as a proved mechanism."""
    if everything.radius != 2:
        raise InputError(f"the radius is {everything.radius}; accepted: 2, all priors")
    given = Parameters(fractions(everything.center), everything.half_radius, problem.epsilon.exp_down)
    return Mechanism.from_matrix(
        randomized_response.mechanism(given).astype(float), Guarantee(problem.epsilon, everything)
    )
