"""A uniform estimate, an l1 ball of any radius and a symmetric utility.

By symmetry all multipliers can be taken equal. So one best ray is enough: its cyclic shifts are an optimal mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, circulant, exact_cone
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem
from mechdesign.utility.base import summed

THEOREM = "uniform estimate in an l1 ball, symmetric utility"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether all probabilities are equal."""
    return bool(given.P.min() == given.P.max())


def candidates(given: L1Cone[Fraction]) -> Iterator[Numbers]:
    """Yield one column of each shape among the extreme rays, larger entries first.

    Kinds A and B for every size of S, and inside the simplex kinds C and D where sets of mass up to t
    exist.
    """
    N, t, e, c = given.P.size, given.t, given.e, given.c
    one = given.P.sum()

    def column(*runs: tuple[Any, int]) -> Numbers:
        return np.array([value * one for value, times in runs for _ in range(times)])

    if not given.only_d:
        for s in range(N):
            mass = one * s / N
            if given.left_by(mass) >= 0:
                yield column((c, s), (given.off_a(mass, 1 - mass), N - s))
                between = given.between_b(mass, one / N)
                if between <= c:
                    yield column((c, s), (between, 1), (0, N - s - 1))
    if not given.has_cd:
        return
    for s in range(1, N):
        if s > t * N:
            break
        yield column((e, s), (1, N - s))
        for others in range(1, N - s):
            top = given.top_c(one * (s + others) / N)
            if top >= 1:
                yield column((top, s), (1, others), (0, N - s - others))


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the shifts of the best column, optimal for every symmetric sub-convex utility.

    None where the estimate is not uniform or the utility not symmetric.
    """
    given, ball = exact_cone(problem), problem.uncertainty.l1_ball
    if given is None or ball is None or not problem.utility.is_symmetric or not applies(given):
        return None
    # Exact sizes of S decide which candidates exist; their entries are then taken as floats.
    found = [column.astype(float) for column in candidates(given)]
    columns = np.stack([column / column.mean() for column in found], axis=1)
    best = int(np.argmax(summed(problem.utility).mu(columns, ball.prior)))
    return ClosedForm(THEOREM, circulant(columns[:, best]), optimal=True)
