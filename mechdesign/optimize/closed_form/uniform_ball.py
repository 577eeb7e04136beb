"""A uniform estimate, an l1 ball of any radius and a symmetric utility.

All multipliers may be taken equal, so the best single ray decides, and its cyclic shifts are a mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, Parameters, circulant, exact_parameters
from mechdesign.problem import DesignProblem

THEOREM = "uniform estimate in an l1 ball, symmetric utility"


def applies(given: Parameters) -> bool:
    """Return whether all probabilities are equal."""
    return bool(given.P.min() == given.P.max())


def candidates(given: Parameters, *, within_simplex: bool = True) -> Iterator[Numbers]:
    """Yield one column of each shape among the extreme rays, larger entries first.

    Kinds A and B for every size of S, and inside the simplex kinds C and D where sets of mass up to t
    exist.
    """
    N, t, e, c = given.P.size, given.t, given.e, given.c
    one = given.P.sum()

    def column(*runs: tuple[Any, int]) -> Numbers:
        return np.array([value * one for value, times in runs for _ in range(times)])

    if t < 1 or not within_simplex:
        for s in range(N):
            rest = 1 - c * s / N
            if rest >= 0:
                yield column((c, s), (rest / (1 - one * s / N + t), N - s))
                if rest * N <= c:
                    yield column((c, s), (rest * N, 1), (0, N - s - 1))
    if not within_simplex or t == 0:
        return
    for s in range(1, N):
        if s > t * N:
            break
        yield column((e, s), (1, N - s))
        for others in range(1, N - s):
            excess = one * (s + others) / N - t
            if excess * e >= 1:
                yield column((e * excess, s), (1, others), (0, N - s - others))


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the shifts of the best column, optimal for every symmetric sub-convex utility.

    None where the estimate is not uniform or the utility not symmetric.
    """
    given, ball = exact_parameters(problem), problem.uncertainty.l1_ball
    if given is None or ball is None or not problem.utility.is_symmetric or not applies(given):
        return None
    # Exact sizes of S decide which candidates exist; their entries are then taken as floats.
    found = [column.astype(float) for column in candidates(given, within_simplex=ball.within_simplex)]
    columns = np.stack([column / column.mean() for column in found], axis=1)
    best = int(np.argmax(problem.utility.mu(columns, ball.prior)))
    return ClosedForm(THEOREM, circulant(columns[:, best]), optimal=True)
