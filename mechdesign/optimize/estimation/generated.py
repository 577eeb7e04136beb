"""Least estimation errors for many symbols of an l1 ball: a mechanism that is found, and a certificate beside it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps
from mechdesign.optimize.estimation.generation import generate
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_certificate import certificate_for_many
from mechdesign.optimize.solution import Solution

_FINE = 1e-3  # of the gap asked for: the search for columns and forms goes on while it is worth more
_SHARE = 0.7  # of the time that is left, for the mechanism


def solve_generated(
    pricing: SeparablePricing,
    workload: Floats,
    tol: float,
    deadline: float | None,
    report: Callable[[str], None],
) -> tuple[Solution, QuadraticForm]:
    """Return a mechanism of small error with lambda, and the form that proves how small it can be beside lambda.

    The mechanism is found by a search from random columns, with a seed that never changes. Its columns begin the search
    for the certificate.

    Parameters
    ----------
    pricing : SeparablePricing
        Of the problem.
    workload : array, shape (q, N)
        W.
    tol : float
        The relative gap that counts as closed.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    report : callable
        Called with one line for each round.

    Raises
    ------
    SolverError
        If no mechanism determines the queries.
    """
    prior, limits = pricing.ball.prior, pricing.limits
    report("bounding the error from the greatest entries of columns")
    bound = bound_of_caps(best_caps(prior, limits, workload), prior, limits, workload)
    now = time.monotonic()
    found = generate(
        pricing.ball,
        pricing.exp_epsilon,
        workload,
        np.random.default_rng(0),
        tolerance=_FINE * tol,
        bound=bound,
        deadline=None if deadline is None else now + _SHARE * (deadline - now),
        report=report,
    )
    columns = found.matrix / (prior @ found.matrix)
    proved = certificate_for_many(pricing, workload, columns, deadline, report, enough=(1 - tol) * found.value)
    closed = found.value - proved.lower_bound <= tol * found.value
    stopped = "" if closed else "time limit" if deadline is not None and time.monotonic() >= deadline else "stalled"
    return (
        Solution(found.matrix, proved.multipliers, columns.shape[1] + proved.columns.shape[1], found.rounds, stopped),
        proved.form,
    )
