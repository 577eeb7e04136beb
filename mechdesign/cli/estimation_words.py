"""What commands say about the estimates that the reports of a design allow."""

from __future__ import annotations

import math

from mechdesign.data.fields import MOST_SYMBOLS
from mechdesign.deploy.identification import identify
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize import Design
from mechdesign.optimize.estimation.caps import estimation_bound
from mechdesign.problem import DesignProblem
from mechdesign.utility import EstimationError

_MOST_BOUNDED = 300  # categories for which the least error is bounded in less than a second


def error_of_frequencies(design: Design) -> float | None:
    """Return n times the mean squared error of all frequencies estimated from n reports; None if it is infinite."""
    known = design.problem.uncertainty
    error = EstimationError().value_of_integers(design.mechanism.numerators, known)
    return error if math.isfinite(error) else None


def no_estimates(design: Design) -> list[tuple[str, str]]:
    """Return the fact that reports of a design for another objective allow no estimates; none where they do."""
    if design.problem.utility.estimation is not None or error_of_frequencies(design) is not None:
        return []
    text = undetermined(design.mechanism.matrix)
    return [("NO ESTIMATES", f"{text} (--utility estimation-error designs for estimates)")]


def estimation_facts(design: Design) -> list[tuple[str, str]]:
    """Return a fact about estimates: the bound in closed form, or the error of a design for another objective."""
    if design.problem.utility.estimation is not None:
        least = least_error(design.problem)
        if least is None:
            return []
        limited = design.problem.uncertainty.limits_entries
        scope = "every set of priors that holds the estimate" if limited else "every mechanism, private or not"
        return [("closed-form bound", f"{least:.10g}, for {scope}")]
    error = error_of_frequencies(design)
    if error is None:
        return []
    text = f"{error:.6g}, n times the mean squared error of all frequencies{_beside_the_least(design, error)}"
    return [("estimation error", text)]


def least_error(problem: DesignProblem) -> float | None:
    """Return the bound on the estimation error that needs no design; None where it is not computed quickly."""
    objective, known = problem.utility.estimation, problem.uncertainty
    if objective is None or not 1 < known.size <= (MOST_SYMBOLS if objective.is_plain else _MOST_BOUNDED):
        return None
    workload = None if objective.is_plain else objective.queries(known.size)
    return estimation_bound(known, problem.epsilon, workload, quick=known.size > _MOST_BOUNDED)


def undetermined(matrix: Floats) -> str:
    """Return in words what reports tell that do not determine the frequencies of all categories."""
    groups = len(identify(matrix).groups)
    if groups == len(matrix):
        return "more reports are needed to determine the frequencies than floats can count"
    if groups == 1:
        return "reports do not determine the frequencies, neither of a category nor of a group of categories"
    return f"reports do not determine the frequencies: they tell only {groups} groups of categories apart"


def _beside_the_least(design: Design, error: float) -> str:
    """Return how far an error may be above the least one; nothing where that is not bounded quickly."""
    known = design.problem.uncertainty
    if not 1 < known.size <= _MOST_BOUNDED:
        return ""
    least = estimation_bound(known, design.problem.epsilon)
    if not 0 < least < math.inf:
        return ""
    return f", up to {error / least:.3g} times the least there is (at least {least:.6g})"
