"""From a table of floats to integers that keep the promise and all constraints exactly.

The table is mixed with one that lies strictly inside of its constraints, as little as the proof asks for, and rounded:
an invariant one by `InvariantIntegers`, any other one row by row. Without floors and forbidden pairs the table whose
rows are all the prior is inside: its columns have ``e h(v) - max v = (e - 1) P_y``, and moving entries by d takes at
most (e + 1) d from that, so that a share of ``(e + 1) d / ((e - 1) min P)`` is enough. With them a linear program finds
the table with the most room. Outputs are never merged or reordered: each is a category.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mechdesign.errors import InputError, LimitError
from mechdesign.mechanism.proof import Integers
from mechdesign.mechanism.rounding import neighbours
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.optimize.tables.invariant_integers import InvariantIntegers
from mechdesign.optimize.tables.table_problem import TableProblem
from mechdesign.optimize.tables.table_program import TableProgram

_FIRST_SHARE = 64.0  # of the inner table, in units of rounding; it doubles
_LEAST_ROOM = 1e-9  # less is a solver's error
_GREATEST_EPSILON = 14.0  # that is looked at where constraints need a larger one; exp(14) is above a million
_STEPS = 24  # of bisection


def inner_table(problem: TableProblem) -> Floats:
    """Return a table that lies strictly inside of the promise and the constraints.

    Raises
    ------
    InputError
        If there is none, with the least epsilon at which there is one.
    """
    P = problem.uncertainty.prior
    if not problem.constraints.has_limits:
        return np.tile(P, (problem.size, 1))
    room, table = TableProgram(problem).roomiest()
    if room > _LEAST_ROOM:
        return table
    epsilon = problem.sides.epsilon
    least = least_epsilon(problem)
    words = _limits_in_words(problem)
    if least is None:
        raise InputError.constraints_infeasible(
            f"no table keeps {words} at epsilon = {epsilon}, and none at any epsilon up to {_GREATEST_EPSILON:g}; give "
            "lower floors or fewer pairs"
        )
    if room < -_LEAST_ROOM:
        raise InputError.constraints_infeasible(
            f"no table keeps {words} at epsilon = {epsilon}; the least epsilon is {least:.6g}: give a larger one, "
            "lower floors or fewer pairs"
        )
    raise InputError.constraints_infeasible(
        f"tables that keep {words} at epsilon = {epsilon} have no room for rounding to whole numbers; give an epsilon "
        f"above {least:.6g}, lower floors or fewer pairs"
    )


def least_epsilon(problem: TableProblem) -> float | None:
    """Return the least epsilon at which a table keeps the constraints with room for rounding, rounded up.

    For a known prior and floors alone, tables are flows, and it is at least ``log max d_x / P_x``. None where no
    epsilon up to 14 is enough.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> round(least_epsilon(TableProblem(L1Ball([0.5, 0.3, 0.2]), 0.1, floors=0.4)), 4)  # log(0.4 / 0.2)
    0.6931
    """
    low, high = 0.0, _GREATEST_EPSILON
    if TableProgram(problem, math.exp(high)).roomiest()[0] <= _LEAST_ROOM:
        return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if TableProgram(problem, math.exp(middle)).roomiest()[0] > _LEAST_ROOM:
            high = middle
        else:
            low = middle
    return high


def _limits_in_words(problem: TableProblem) -> str:
    floors, pairs = problem.constraints.floors, len(problem.constraints.forbidden)
    greatest = max(range(problem.size), key=floors.__getitem__)
    parts = [f"floors up to {float(floors[greatest]):.6g} ({problem.labels[greatest]})"] if floors[greatest] else []
    parts += [f"{pairs} forbidden pairs"] if pairs else []
    return " and ".join(parts) + (" and the counts" if problem.constraints.invariant else "")


def round_table(problem: TableProblem, matrix: Floats, inner: Floats, bits: int) -> Integers:
    """Return integers over 2^bits near a table, for which promise and constraints are proved.

    Parameters
    ----------
    problem : TableProblem
        The promise and the constraints.
    matrix : array, shape (N, N)
        A table, up to a solver's errors.
    inner : array, shape (N, N)
        A table that lies strictly inside (`inner_table`).
    bits : int
        1 to 52.

    Raises
    ------
    LimitError
        If no mixture keeps them with so few bits.
    """
    weights, _ = over_common_denominator(problem.uncertainty.center)
    by_weight = sorted(range(problem.size), key=weights.__getitem__, reverse=True)
    near, within = (_made_invariant(problem, table, by_weight[0]) for table in (matrix, inner))
    if problem.constraints.invariant:
        orders = (by_weight, by_weight[::-1])
        roundings = [InvariantIntegers(problem.constraints, weights, order).rounded for order in orders]
    else:
        roundings = [neighbours]
    P = problem.uncertainty.prior
    gains = np.array([[P[x] * float(problem.gain(x, y)) for y in range(problem.size)] for x in range(problem.size)])
    found = [_mixed(problem, near, within, bits, rounding) for rounding in roundings]
    kept = [(float((gains * integers).sum()), integers) for integers in found if integers is not None]
    if not kept:
        raise LimitError.too_few_bits(
            f"no table over 2^{bits} keeps the promise and the constraints; give more bits, at most 52, or merge rare "
            "categories"
        )
    return max(kept, key=lambda pair: pair[0])[1]


def _mixed(
    problem: TableProblem, near: Floats, inner: Floats, bits: int, rounding: Callable[[Floats, int], Integers]
) -> Integers | None:
    """Return the integers of the mixture with the least share of the inner table that keeps everything."""
    share = _FIRST_SHARE / 2.0**bits
    while share < 2:
        integers = rounding((1 - min(share, 1.0)) * near + min(share, 1.0) * inner, bits)
        if _is_kept(problem, integers, bits):
            return integers
        share *= 2
    return None


def _is_kept(problem: TableProblem, integers: Integers, bits: int) -> bool:
    if (integers < 0).any() or not integers.any(axis=0).all():
        return False
    known = problem.uncertainty
    if problem.constraints.violation(integers, bits, known.center, problem.labels) is not None:
        return False
    return all(map(problem.guarantee.is_kept_by, integers.T.tolist()))


def _made_invariant(problem: TableProblem, matrix: Floats, heavy: int) -> Floats:
    """Return a table without a solver's errors in signs, row sums and, as far as one row repairs it, in margins."""
    forbidden = np.array(sorted(problem.constraints.forbidden), dtype=np.int64).reshape(-1, 2)
    table = np.clip(matrix, 0.0, None)
    table[forbidden[:, 0], forbidden[:, 1]] = 0.0
    table /= table.sum(axis=1, keepdims=True)
    if problem.constraints.invariant:
        P = problem.uncertainty.prior
        lacking = P - P @ table
        if not any(x == heavy for x, _ in problem.constraints.forbidden):
            table[heavy] += lacking / P[heavy]
    result: Floats = table
    return result
