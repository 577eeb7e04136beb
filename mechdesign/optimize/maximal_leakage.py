"""Designs with a promise of maximal leakage, ``sum_y max_x p(y|x) <= B``, beside epsilon.

It is one more row of the linear program over columns, in which the column v costs max v. Its multiplier m >= 0 makes
the bound ``sum(lambda) + m B + max { mu(v) - <lambda, v> - m max v }`` over the columns with ``<P, v> = 1``.

That function of v is not convex, but it is once the cost is a number t of its own with ``v <= t``. So it is greatest
at an extreme ray of ``{ (v, t) : v in the column cone, 0 <= v <= t }``. Scaled to t = 1 these are the vertices of
``{ v in [0, 1]^N : h(v) >= 1 / e }``. A vertex at which a prior is tight is an extreme ray of the column cone. One at
which none is has entries 0 and 1: it is a set S with ``e h(1_S) >= 1``. So a list of rays with these sets is enough,
which is that of a cap with a = 0 (`CappedRays`). docs/mathematics.md proves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_up
from mechdesign.numerics.tolerances import NEGLIGIBLE_WEIGHT
from mechdesign.optimize.capped_rays import CappedRays
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.master import Master
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing import Price, check_listable
from mechdesign.optimize.pricing.gain_duals import Proposals, price_with_charge
from mechdesign.optimize.pricing.listing import entering_columns, price_by_listing
from mechdesign.problem import DesignProblem
from mechdesign.utility import Utility
from mechdesign.utility.objective import as_utility

_EPS = float(np.finfo(float).eps)
_MOST_ROUNDS = 100


def sum_for_programs(problem: DesignProblem) -> float | None:
    """Return what the greatest entries of all columns may sum to in a program; None where it is not promised.

    They never sum to more than there are symbols, so that a program need not hold larger numbers.
    """
    most = problem.maximal_leakage
    return None if most is None else float(min(most.exp_down, Fraction(problem.uncertainty.size)))


def rays_on_average(problem: DesignProblem, exp_epsilon: float) -> CappedRays:
    """Return the extreme rays of a problem, and the sets that are columns.

    Raises
    ------
    LimitError
        If rays of such a set are not listed, or the objective is not priced by them.
    """
    check_designed_on_average(problem)
    known = problem.uncertainty
    return CappedRays(known, check_listable(known, exp_epsilon), exp_epsilon, 0.0)


def check_designed_on_average(problem: DesignProblem) -> None:
    """Refuse objectives with which no method designs for a promise of maximal leakage, or bounds such designs.

    Raises
    ------
    LimitError
        For an estimation error, an explained variance or the least utility over a set.
    """
    utility = problem.utility
    if utility.estimation is not None or utility.worst_case is not None or utility.explained_variance is not None:
        raise LimitError.no_method(
            f"maximal leakage is promised, with which no method designs for {utility.name}; use an f-information such "
            "as mutual-information, or a gain, or leave the maximal leakage out"
        )


@dataclass(frozen=True)
class _Charged:
    """A utility whose columns pay m for their greatest entry, and get m B: ``mu(v) + m (B - max v)``."""

    utility: Utility
    charge: float
    allowed: float

    def mu(self, columns: Floats, prior: Floats) -> Floats:
        result: Floats = self.utility.mu(columns, prior) + self.charge * (self.allowed - columns.max(axis=0))
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: Floats) -> Floats:
        least = np.maximum(columns - slack, 0.0).max(axis=0)
        rounding = 8 * _EPS * self.charge * (self.allowed + least)
        paid = self.charge * (self.allowed - least) + rounding
        upper = self.utility.mu_up(columns, prior, slack) + paid
        result: Floats = upper + 4 * _EPS * (np.abs(upper) + np.abs(paid))
        return result


def price_on_average(
    problem: DesignProblem,
    exp_epsilon: float,
    multipliers: Floats,
    charge: float,
    proposals: Proposals | None,
    deadline: float | None,
) -> Price:
    """Return ``m B`` and the greatest reduced cost of any column, rounded up.

    Parameters
    ----------
    problem : DesignProblem
        With a promise of maximal leakage above 0.
    exp_epsilon : float
        exp(epsilon).
    multipliers : array, shape (N,)
        lambda.
    charge : float
        m, 0 or more.
    proposals, deadline
        As for `price_by_guess`.
    """
    most, gains = problem.maximal_leakage, problem.utility.polyhedral
    N = problem.uncertainty.size
    allowed = float(N) if most is None else float_up(min(most.exp_up, Fraction(N)))
    if gains is None:
        rays = rays_on_average(problem, exp_epsilon)
        return price_by_listing(rays, _Charged(as_utility(problem.utility), charge, allowed), multipliers)
    price = price_with_charge(problem.uncertainty, exp_epsilon, gains, multipliers, charge, proposals, deadline)
    paid = charge * allowed * (1 + 4 * _EPS)
    upper = price.upper + paid
    return Price(upper + 4 * _EPS * (abs(upper) + paid), price.method, price.columns)


def solve_on_average(
    rays: CappedRays,
    utility: Utility,
    allowed: float,
    progress: Callable[[str], None],
    deadline: float | None = None,
) -> Solution:
    """Return a mechanism over all rays and sets, whose greatest entries sum to at most a number.

    It is optimal unless a deadline, a time of `time.monotonic`, comes before.
    """
    N = rays.prior.size
    program = Master(N)
    program.add_row(np.empty((1, 0)))

    def add(columns: Floats) -> None:
        # A basic solution has columns with <P, v> = 1, so that their weights sum to 1.
        program.add(np.vstack([columns, allowed - columns.max(axis=0)]), utility.mu(columns, rays.prior))

    add(np.ones((N, 1)))
    add(entering_columns(rays, _Charged(utility, 0.0, allowed), np.zeros(N), deadline)[0])
    for iteration in range(1, _MOST_ROUNDS + 1):
        progress(f"solving a linear program over {program.columns.shape[1]} columns")
        program.solve()
        multipliers, charge = program.multipliers[:N], max(-float(program.multipliers[N]), 0.0)
        entering, priced = entering_columns(rays, _Charged(utility, charge, allowed), multipliers, deadline)
        late = time_is_up(deadline)
        if not entering.shape[1] or late or iteration == _MOST_ROUNDS:
            break
        add(entering)
    used = program.weights > NEGLIGIBLE_WEIGHT
    columns, weights = program.columns[:N, : used.size][:, used], program.weights[used]
    weights = weights + np.linalg.lstsq(columns, 1 - columns @ weights, rcond=None)[0]
    stopped = "time limit" if late else "stalled" if entering.shape[1] else ""
    return Solution(columns * np.maximum(weights, 0.0), np.append(multipliers, charge), priced, iteration, stopped)
