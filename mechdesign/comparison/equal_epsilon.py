"""At which epsilon the best mechanism under local differential privacy has the error of a design: a known yardstick."""

from __future__ import annotations

import math
from collections.abc import Callable

from mechdesign.comparison.rivals import Rivals, design_or_reason
from mechdesign.errors import InputError
from mechdesign.optimize import Design
from mechdesign.problem import DesignProblem

_STEPS = 100  # of epsilon in one nat
_MOST = 20 * _STEPS


def equal_local_epsilon(
    solved: Design, *, time_limit: float | None = None, progress: Callable[[str], None] | None = None
) -> float | None:
    """Return the least epsilon, in hundredths, at which local differential privacy reaches the error of a design.

    A hundredth below it every mechanism for all priors has a greater error than the design, by a certified bound; at it
    the best one has at most the error of the design, up to the gap of designs. The errors are equal, the promises are
    not: that of the design is for its set of priors.

    Parameters
    ----------
    solved : Design
        For an estimation error.
    time_limit : float, optional
        Seconds for each of about six designs.
    progress : callable, optional
        Called with one line for each of them.

    Returns
    -------
    float or None
        In nats. None where no epsilon up to 20 is enough, or a design is not certified or beyond a limit.

    Raises
    ------
    InputError
        If the objective is not an estimation error.

    Examples
    --------
    >>> import mechdesign as md
    >>> equal_local_epsilon(md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError())))
    2.31
    """
    problem = solved.problem
    if problem.utility.estimation is None:
        raise InputError.wrong_objective(
            f"{problem.utility.name} is not an estimation error; accepted: a design for an estimation error"
        )
    local = Rivals(problem).local_problem

    def excess(step: int) -> float | None:
        """Return the logarithm of the bound of the least error over that of the design; None where not certified."""
        asked = DesignProblem(local.uncertainty, f"{step / _STEPS:.2f}", local.utility)
        if progress is not None:
            progress(f"local differential privacy with epsilon = {step / _STEPS:.2f}")
        found, _ = design_or_reason(asked, time_limit=time_limit)
        if found is None or not found.certified:
            return None
        return math.log(found.bound / solved.value)

    return _least_step(excess, max(1, math.floor(float(problem.epsilon) * _STEPS)))


def _least_step(excess: Callable[[int], float | None], first: int) -> float | None:
    """Return the least step in nats at which a falling function is at most 0, from the first on; None where unknown."""
    low, high, below = first - 1, first, math.inf
    above = excess(high)
    while above is not None and above > 0:  # bracket
        low, below, high = high, above, high + max(_STEPS // 2, high // 2)
        if high > _MOST:
            return None
        above = excess(high)
    turn = 0
    while above is not None and high - low > 1:
        turn += 1
        guess = (low + high) // 2
        if turn % 3 and math.isfinite(below):  # the function is nearly linear; every third step halves
            guess = min(max(round(low + (high - low) * below / (below - above)), low + 1), high - 1)
        value = excess(guess)
        if value is None:
            return None
        low, below, high, above = (guess, value, high, above) if value > 0 else (low, below, guess, value)
    return None if above is None else high / _STEPS
