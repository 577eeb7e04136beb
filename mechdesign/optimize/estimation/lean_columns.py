"""The end of a search in which weights take multiplicative steps: few columns, with the best weights.

Such a search holds some thousands of columns, and N(N+1)/2 are enough for the least error (`spare_outputs`). Light
columns leave until a quarter more than these are left, for which interior points take seconds. Their best weights have
hardly a greater error than those of all columns, and what can be spared is eliminated without loss. Where there is no
time for it, no more than N(N+1)/2 stay at once, with weights of multiplicative steps.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.deadline import is_limited, seconds_left
from mechdesign.optimize.estimation.few_outputs import scaled
from mechdesign.optimize.estimation.interior_point import seconds_of_steps, solve
from mechdesign.optimize.estimation.spare_outputs import most_needed, seconds_to_spare, without_spare_outputs
from mechdesign.optimize.estimation.weighted_columns import ErrorOfColumns, WeightedColumns

_MORE = 1.25  # times the columns that are enough: for interior points
_KEPT, _KEPT_EACH = 4_800, 30  # columns without interior points, or so many for each symbol where that is more
_STEPS = 300  # of these columns' weights at last, if there is time
_PRECISION = 1e-6  # relative, of the error by the best weights
_USED = 1e-9  # a column of which every row uses less is left out


def seconds_to_weigh(size: int) -> float:
    """Return about how long the best weights of the columns at the end take; infinity where they are too many.

    Examples
    --------
    >>> seconds_to_weigh(30) < 1, seconds_to_weigh(300)
    (True, inf)
    """
    count = _to_weigh(size)
    return seconds_of_steps(size, count) + seconds_to_spare(size, count)


def lean(
    found: WeightedColumns,
    workload: Floats,
    prior: Floats,
    seconds: float,
    deadline: float | None,
    progress: Callable[[str], None] = lambda _line: None,
) -> WeightedColumns:
    """Return few of the columns that were found, with better weights.

    Parameters
    ----------
    found : WeightedColumns
        Columns and good weights.
    workload : array, shape (q, N)
        W.
    prior : array, shape (N,)
        P.
    seconds : float
        For how long the best weights are worth the wait.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    progress : callable
        Called with a line before the best weights are computed.
    """
    program, N = ErrorOfColumns(workload), prior.size
    left = seconds_left(deadline) if is_limited(deadline) else np.inf
    if seconds_to_weigh(N) <= min(seconds, left):
        held = program.cut(found, _to_weigh(N))
        progress(f"computing the best weights of {held.weights.size} columns")
        with suppress(SolverError):
            point = solve(held.columns, prior, workload, _PRECISION, held.weights, deadline, unfinished=True)
            best = _used(program, held.columns, point.weights)
            if best.value < held.value:
                few = without_spare_outputs(best.columns * best.weights, prior, deadline)
                return program.evaluated(*scaled(few, prior))
    kept = program.cut(found, min(max(_KEPT, _KEPT_EACH * N), most_needed(N)), deadline, _STEPS)
    with suppress(SolverError):
        return _used(program, kept.columns, kept.weights)
    return kept


def _used(program: ErrorOfColumns, columns: Floats, weights: Floats) -> WeightedColumns:
    used = weights * columns.max(axis=0) > _USED
    return program.reweighted(columns[:, used], weights[used], 0)


def _to_weigh(size: int) -> int:
    return int(_MORE * most_needed(size))
