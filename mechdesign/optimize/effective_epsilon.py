"""The exp(epsilon) with which a problem is solved: the column cone is ``{ v >= 0 : max v <= exp(epsilon) h(v) }``.

A promise from below adds ``min v >= exp(-lower) H(v)``, and a cap ``min v >= exp(-cap) max v``.
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
    For such an e, a larger epsilon allows no further column. Nor does one above a cap, which implies it.

    Examples
    --------
    >>> from mechdesign import DesignProblem, L1Ball
    >>> effective_exp_epsilon(DesignProblem(L1Ball(["0.75", "0.25"]), 600))
    4.0
    """
    promised = problem.epsilon if problem.cap is None else problem.local_epsilon
    exp_up, known = promised.exp_up, problem.uncertainty
    symbols, ball = list(range(known.size)), known.l1_ball
    # In an l1 ball h of the column of a single symbol rises with its probability.
    looked_at = symbols if ball is None else [min(symbols, key=ball.weights.__getitem__)]
    needed = Fraction(1)
    for ratio in (known.exact_ratio([int(i == j) for j in symbols]) for i in looked_at):
        if ratio is None:
            return float_up(exp_up)
        needed = max(needed, ratio)
    return float_up(min(exp_up, needed))
