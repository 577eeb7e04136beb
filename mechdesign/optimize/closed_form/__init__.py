"""Closed forms, one file a theorem. They import no solver, so that agreement with a solver's optimum is evidence.

For many symbols around a ball, a form whose proof gives a dual vector is the design itself, once pricing confirms it.
"""

from __future__ import annotations

from mechdesign.optimize.closed_form import (
    binary,
    binary_low_privacy,
    high_privacy,
    high_privacy_ball,
    least_errors,
    randomized_response,
    uniform,
    uniform_ball,
    uniform_on_average,
)
from mechdesign.optimize.closed_form.form import ClosedForm
from mechdesign.problem import DesignProblem

__all__ = ["ClosedForm", "closed_forms"]

_SOLVERS = (
    binary.solve,
    binary_low_privacy.solve,
    high_privacy.solve,
    uniform.solve,
    uniform_ball.solve,
    high_privacy_ball.solve,
    randomized_response.solve,
    randomized_response.solve_binary,
)
# The others are proved for sums over outputs. The mechanism of high privacy is best for every objective: all other
# mechanisms with the guarantee are garblings of it.
_SOLVERS_OF_ERRORS = (high_privacy.solve, least_errors.solve)


def closed_forms(problem: DesignProblem) -> list[ClosedForm]:
    """Return every closed form that applies to a problem, those proved optimal first.

    There is none for a promise from below; `OneSided` has a problem with the same optimum, to which some may apply.
    With a cap above epsilon there is that of a uniform estimate, with maximal leakage that of a uniform known prior.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> [form.theorem for form in closed_forms(DesignProblem(L1Ball([0.4, 0.2, 0.2, 0.2]), "log(9/8)"))]
    ['high privacy, known prior (Grosse et al. 2024, Theorem 3)', 'high privacy, l1 ball']
    """
    if problem.lower is not None or problem.utility.worst_case is not None:
        return []
    if problem.cap is not None:
        form = None if problem.utility.estimation else uniform_ball.solve(problem)
        return [] if form is None else [form]
    if problem.maximal_leakage is not None:
        form = None if problem.utility.estimation else uniform_on_average.solve(problem)
        return [] if form is None else [form]
    solvers = _SOLVERS if problem.utility.estimation is None else _SOLVERS_OF_ERRORS
    found = [form for solve in solvers if (form := solve(problem)) is not None]
    return sorted(found, key=lambda form: not form.optimal)


def __dir__() -> list[str]:
    return __all__
