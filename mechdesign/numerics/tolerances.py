"""The tolerances of floating-point work, each with its name and its reason.

Proofs of privacy use none of them: they compare rationals.
"""

from __future__ import annotations

from typing import Final

GAP: Final = 1e-6
"""A design is certified when ``upper_bound - value <= GAP * max(|value|, VALUE_FLOOR)``."""

VALUE_FLOOR: Final = 1e-3
"""Utilities below this (in their own unit) are held to an absolute gap instead of a relative one."""

WEIGHT_SUM: Final = 1e-9
"""How far the sum of given probabilities may be from 1: within this they are weights, beyond it they are refused."""

ROW_SUMS: Final = 1e-6
"""How far the row sums of a matrix that is only measured, not exported, may differ from each other."""

FLOAT_LEAKAGE: Final = 1e-12
"""Nats by which a matrix of floats may leak more than its epsilon, before any rounding to integers. Entries that are
each off by a relative d change a leakage by at most 2 d for every set of priors, because ``max v`` and ``h(v)`` are
homogeneous and do not fall when an entry rises; a formula of a few thousand operations on nonnegative floats has
d < 5e-13."""

FLOAT_MOVE: Final = 1e-9
"""How far the repair of an excess of FLOAT_LEAKAGE may move a probability, beside rounding to integers. It moves a
column by its share excess/slack, and the slack is proportional to epsilon; the greatest move seen for epsilon from 1e-7
to 30 is 1.5e-12."""

RAY_EDGE: Final = 1e-12
"""Slack with which a ray on the border of its kind is kept: an additional ray does no harm, a missing one would."""

SOLVER: Final = 1e-10
"""Feasibility and optimality tolerance asked of the linear programming solvers."""

LEAST_COEFFICIENT: Final = 1e-12
"""The least coefficient that HiGHS keeps. It drops those below 1e-9 by default: a limit of 9e-10, whose complement
stays, leaves a program without bound."""

REDUCED_COST: Final = SOLVER
"""A column whose reduced cost is below this does not enter a linear program: the solver would not use it."""

BOUND_PAD: Final = 1e-12
"""Added (relative) to an upper bound when it is stored, so that a second computation confirms it."""

NEGLIGIBLE_WEIGHT: Final = 1e-12
"""A column with less weight than this in the solution of a linear program does not belong to its support."""

RANK: Final = 1e-8
"""Singular values below this share of the greatest count as 0: frequencies that show only through them would take
more reports than the 10^15 that counts may hold."""

RANK_OF_FLOATS: Final = 1e-12
"""Singular values of a matrix of floats above this share of the greatest are not those of rounding: entries that are
each off by a relative d (see FLOAT_LEAKAGE) move them by at most d times the root of their number."""

LIKELIHOOD_GAP: Final = 1e-6
"""The greatest gap, in nats, of a certified maximum likelihood; one standard error is half a nat."""
