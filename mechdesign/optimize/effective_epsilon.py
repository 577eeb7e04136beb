"""The exp(epsilon) with which a problem is solved: the column cone is ``{ v >= 0 : max v <= exp(epsilon) h(v) }``.

A promise from below adds ``min v >= exp(-lower) H(v)``.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.numerics.exact import float_up
from mechdesign.problem import DesignProblem

MOST_IN_PROGRAMS = 1e9
"""The greatest exp(epsilon) in linear programs: its inverse must not fall below the tolerance of a solver.

A mechanism for a smaller epsilon is private for a larger one; what it loses shows in the certified gap.
"""


def effective_exp_epsilon(problem: DesignProblem) -> float:
    """Return exp(epsilon), rounded up, or the least number for which every column is allowed, if that is less.

    The columns that keep a promise are a convex cone, so that it holds all columns if it holds those of single symbols.
    For such an e, a larger epsilon allows no further column.

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
    needed = Fraction(1)
    for ratio in (known.exact_ratio([int(i == j) for j in symbols]) for i in looked_at):
        if ratio is None:
            return float_up(exp_up)
        needed = max(needed, ratio)
    return float_up(min(exp_up, needed))


def effective_least_lift(problem: DesignProblem) -> Fraction:
    """Return exp(-lower), rounded down; 0 without a promise from below.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> effective_least_lift(DesignProblem(L1Ball(["0.75", "0.25"]), 1, lower="log(4)"))
    Fraction(1, 4)
    """
    return Fraction(0) if problem.lower is None else 1 / problem.lower.exp_up
