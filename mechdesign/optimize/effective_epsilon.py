"""The exp(epsilon) with which a problem is solved: the column cone is ``{ v >= 0 : max v <= exp(epsilon) h(v) }``."""

from __future__ import annotations

from mechdesign.numerics.exact import float_up
from mechdesign.problem import DesignProblem

MOST_IN_PROGRAMS = 1e9
"""The greatest exp(epsilon) in linear programs: its inverse must not fall below the tolerance of a solver.

A mechanism for a smaller epsilon is private for a larger one; what it loses shows in the certified gap.
"""


def effective_exp_epsilon(problem: DesignProblem) -> float:
    """Return exp(epsilon), rounded up, or the least number for which every column is allowed, if that is less.

    ``max v <= e h(v)`` holds for all v if it holds for the columns of a single symbol, because h is concave. For such
    an e, a larger epsilon allows no further column.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> effective_exp_epsilon(DesignProblem(L1Ball(["0.75", "0.25"]), 600))
    4.0
    """
    exp_up, known = problem.epsilon.exp_up, problem.uncertainty
    symbols, ball = list(range(known.size)), known.l1_ball
    # In an l1 ball h of the column of a single symbol rises with its probability.
    looked_at = symbols if ball is None else [min(symbols, key=ball.weights.__getitem__)]
    least = min(known.exact_support([int(i == j) for j in symbols]) for i in looked_at)
    return float_up(min(exp_up, 1 / least) if least > 0 else exp_up)
