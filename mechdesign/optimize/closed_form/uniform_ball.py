"""A uniform estimate, an l1 ball of any radius and a symmetric utility.

By symmetry all multipliers can be taken equal. So one best ray is enough: its cyclic shifts are an optimal mechanism.
With a cap for everyone rays are images (`capped_cone`), and sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, circulant, exact_cone
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem
from mechdesign.utility import Utility
from mechdesign.utility.objective import as_utility

THEOREM = "uniform estimate in an l1 ball, symmetric utility"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether all probabilities are equal."""
    return bool(given.P.min() == given.P.max())


Runs = tuple[tuple[Any, int], ...]
"""A column, larger entries first: each value with how many symbols have it."""


def _shapes(given: L1Cone[Fraction]) -> Iterator[Runs]:
    """Yield one column of each shape among the extreme rays; with a cap, images of these and of sets."""
    a, N = given.least, given.P.size
    sets = (((1, s), (0, N - s)) for s in range(1, N) if given.left_by(given.P.sum() * s / N) < 0)
    for runs in (*_rays(given), *(sets if a and not given.only_d else ())):
        top = max(value for value, times in runs if times)
        yield tuple((a * top + (1 - a) * value, times) for value, times in runs)


def _rays(given: L1Cone[Fraction]) -> Iterator[Runs]:
    """Yield one column of each shape among the extreme rays without a cap.

    Kinds A and B for every size of S, and inside the simplex kinds C and D where sets of mass up to t
    exist.
    """
    N, t, e, c = given.P.size, given.t, given.e, given.c
    one = given.P.sum()
    if not given.only_d:
        for s in range(N):
            mass = one * s / N
            if given.left_by(mass) >= 0:
                yield (c, s), (given.off_a(mass, 1 - mass), N - s)
                between = given.between_b(mass, one / N)
                if between <= c:
                    yield (c, s), (between, 1), (0, N - s - 1)
    if not given.has_cd:
        return
    tops = [given.top_c(one * members / N) for members in range(N)]
    for s in range(1, N):
        if s > t * N:
            break
        yield (e, s), (1, N - s)
        for others in range(1, N - s):
            top = tops[s + others]
            if top >= 1:
                yield (top, s), (1, others), (0, N - s - others)


def candidates(given: L1Cone[Fraction]) -> Iterator[Numbers]:
    """Yield one column of each shape among the extreme rays, larger entries first."""
    one = given.P.sum()
    for runs in _shapes(given):
        yield np.array([value * one for value, times in runs for _ in range(times)])


def _best(given: L1Cone[Fraction], utility: Utility) -> Floats:
    """Return the column of greatest utility, with the mean 1."""
    # Exact sizes of S decide which candidates exist; their entries are then taken as floats.
    shapes = list(_shapes(given))
    information = utility.f_information
    if information is None:
        columns = [_in_floats(runs) for runs in shapes]
        gains = utility.mu(np.stack(columns, axis=1), np.full(given.P.size, 1 / given.P.size))
        return columns[int(np.argmax(gains))]
    padded = [(*runs, (0, 0))[:3] for runs in shapes]
    values = np.array([[value for value, _ in runs] for runs in padded], dtype=float)
    times = np.array([[count for _, count in runs] for runs in padded]) / given.P.size
    # The utility depends on a column through the masses of its values.
    gains = (times * information.f(values / (times * values).sum(axis=1, keepdims=True))).sum(axis=1)
    return _in_floats(shapes[int(np.argmax(gains))])


def _in_floats(runs: Runs) -> Floats:
    column = np.repeat([float(value) for value, _ in runs], [times for _, times in runs])
    result: Floats = column / column.mean()
    return result


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the shifts of the best column, optimal for every symmetric sub-convex utility.

    None where the estimate is not uniform or the utility not symmetric.
    """
    given, ball = exact_cone(problem), problem.uncertainty.l1_ball
    if given is None or ball is None or not problem.utility.is_symmetric or not applies(given):
        return None
    return ClosedForm(THEOREM, circulant(_best(given, as_utility(problem.utility))), optimal=True)
