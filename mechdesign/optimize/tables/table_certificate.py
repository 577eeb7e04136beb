"""The bound on all tables that multipliers of rows and floors prove, in rational arithmetic.

With lambda for the row sums and sigma >= 0 for the floors let ``c^y_x = P_x g_xy - lambda_x + sigma_y [x = y]``, and
r_y at least the greatest ``<c^y, v>`` over columns v that keep the promise, are 0 where pairs are forbidden, and have
``<P, v> = 1``. Every table that keeps the constraints gains at most

    sum_x lambda_x - sum_x sigma_x d_x + (sum_y P_y r_y with invariance, or max_y r_y without),

because the gain plus ``sum_x sigma_x (K_xx - d_x)`` is ``sum lambda + sum_y <c^y, K_y>`` less the floors, columns that
keep the promise are a cone, and the masses ``<P, K_y>`` are P_y, or sum to 1.

*One number for each output.* Let z = y Q with y >= 0 and Q in the set, and m >= 0 any vector of sum T. With
``d_x = c_x - r P_x + z_x - exp(-cap) m_x`` over the inputs that are allowed, r is such a bound if

    sum_x max(0, d_x) <= y / exp(epsilon),   and with a cap   sum_x d_x <= y / exp(epsilon) - T

(`mechdesign.optimize.pricing.gain_duals` and `two_sided_duals` have the reason). z and m are proposed by bisection or
by a linear program, and not trusted: they are whole numbers of small units, z is moved into the cone over the set,
and the least r is found by one sort. All roundings make the bound weaker, never false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor
from typing import ClassVar

import numpy as np

from mechdesign.errors import InputError, SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_down, float_up, over_common_denominator
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS
from mechdesign.optimize.pricing.gain_duals import MemberProgram
from mechdesign.optimize.pricing.l1_ball_duals import ball_duals
from mechdesign.optimize.pricing.two_sided_duals import TwoMembersProgram
from mechdesign.optimize.tables.table_problem import TableProblem

_UNIT = 1 << 64  # of which all numbers are whole, times the common denominator of the prior
_RULED_OUT = 1e3  # times the greatest cost: what proposals are told that inputs lose that are forbidden
_GREATEST = 1e100  # of a multiplier


@dataclass(frozen=True, eq=False)
class TableCertificate:
    """A bound that multipliers prove.

    Attributes
    ----------
    multipliers, floor_multipliers : tuple of float
        lambda and sigma.
    upper_bound : Fraction
        On the gain of every table: the share of unchanged records, or minus the loss.
    levels : tuple of Fraction
        r_y of each output.
    minimised : bool
        Whether the gain is minus a loss.
    """

    multipliers: tuple[float, ...]
    floor_multipliers: tuple[float, ...]
    upper_bound: Fraction
    levels: tuple[Fraction, ...]
    minimised: bool
    method: ClassVar[str] = "a dual solution for every output, in exact arithmetic"

    @property
    def bound(self) -> float:
        """The bound on the share, or from below on the loss, rounded outward."""
        return float_down(-self.upper_bound) if self.minimised else float_up(self.upper_bound)

    def gap(self, value: float) -> float:
        """Return how far a value is from the bound."""
        return value - self.bound if self.minimised else self.bound - value


def certify_table(
    problem: TableProblem, multipliers: Sequence[float], floor_multipliers: Sequence[float]
) -> TableCertificate:
    """Return the bound that multipliers prove; poor ones prove a weak bound, and none a false one.

    Parameters
    ----------
    problem : TableProblem
        The promise, the constraints and the gain.
    multipliers, floor_multipliers : sequences of N numbers
        lambda and sigma.

    Raises
    ------
    InputError
        If they are not N finite numbers each, or a multiplier of a floor is below 0.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> problem = TableProblem(L1Ball([0.5, 0.5]), "log(3/2)")
    >>> float(certify_table(problem, [0.25, 0.25], [0, 0]).upper_bound)
    0.75
    """
    N, prior = problem.size, problem.uncertainty.center
    lam, sigma = (_exact(given, N) for given in (multipliers, floor_multipliers))
    if min(sigma) < 0:
        raise InputError.out_of_range(f"a multiplier of a floor is {float(min(sigma)):.9g}; accepted: 0 or more")
    linear = [
        [prior[x] * problem.gain(x, y) - lam[x] + (sigma[y] if x == y else 0) for x in range(N)] for y in range(N)
    ]
    levels = _levels(problem, linear)
    invariant = problem.constraints.invariant
    priced = sum(p * r for p, r in zip(prior, levels, strict=True)) if invariant else max(levels)
    floors = sum(s * d for s, d in zip(sigma, problem.constraints.floors, strict=True))
    bound = Fraction(sum(lam) - floors + priced)
    return TableCertificate(
        tuple(multipliers), tuple(floor_multipliers), bound, tuple(levels), problem.loss is not None
    )


def _exact(given: Sequence[float], size: int) -> list[Fraction]:
    if len(given) != size or not all(abs(x) <= _GREATEST for x in given):
        raise InputError.wrong_size(
            f"there are {len(given)} multipliers; accepted: {size}, each at most {_GREATEST:g} in size"
        )
    return [Fraction(float(x)) for x in given]


def _levels(problem: TableProblem, linear: list[list[Fraction]]) -> list[Fraction]:
    """Return r_y of each output."""
    weights, common = over_common_denominator(problem.uncertainty.center)
    unit = common * _UNIT
    pricer = _Pricer(problem, weights, 1 / Fraction(problem.exp_epsilon), problem.sides.floor_down.least_lift)
    floats = np.array([[float(c) for c in row] for row in linear])
    levels = []
    for y, (row, proposed) in enumerate(zip(linear, _proposals(problem, floats), strict=True)):
        z, m = (np.nan_to_num(np.clip(part, 0.0, _GREATEST**2)) for part in proposed)
        costs = [ceil(c * unit) for c in row]
        held = pricer.in_cone([ceil(x * unit) for x in map(Fraction, z.tolist())], z)
        masses = [floor(x * unit) for x in map(Fraction, m.tolist())]
        levels.append(Fraction(pricer.level(problem.constraints.allowed(y), costs, held, masses), _UNIT))
    return levels


def _proposals(problem: TableProblem, linear: Floats) -> list[tuple[Floats, Floats]]:
    """Return z and m for each output, in floats that nothing rests on."""
    known, e, pairs = problem.uncertainty, min(problem.exp_epsilon, MOST_IN_PROGRAMS), problem.constraints.forbidden
    none, found = np.zeros(problem.size), []
    simple = known.l1_ball is not None and problem.sides.below is None
    by_ball = ball_duals(known.l1_ball, e, linear) if simple and known.l1_ball is not None else None
    below = problem.sides.floor_down
    one_sided = MemberProgram.of(known, e) if problem.sides.below is None else None
    two_sided = None if one_sided else TwoMembersProgram.of(known, below, e, float(below.least_lift))
    for output, row in enumerate(linear):
        without = [x for x in range(problem.size) if (x, output) in pairs]
        if by_ball is not None and not without:
            found.append((by_ball[1][output] * by_ball[2][output], none))
            continue
        ruled = row.copy()
        ruled[without] = -_RULED_OUT * max(1.0, float(np.abs(row).max()))
        try:
            y, Q = one_sided.proposed(ruled) if one_sided else (0.0, none)
            y, Q, T, R = two_sided.proposed(ruled) if two_sided else (y, Q, 0.0, none)
        except SolverError:  # multipliers beyond what a solver takes: no proposal proves a weaker bound
            y, Q, T, R = 0.0, none, 0.0, none
        found.append((y * Q, T * R))
    return found


@dataclass(frozen=True)
class _Pricer:
    """Least levels, in whole numbers of units.

    Attributes
    ----------
    problem : TableProblem
        Whose set z must belong to.
    weights : list of int
        The prior times their sum.
    rate, least_lift : Fraction
        At most exp(-epsilon), and at most exp(-cap).
    """

    problem: TableProblem
    weights: list[int]
    rate: Fraction
    least_lift: Fraction

    def in_cone(self, z: list[int], proposed: Floats) -> Sequence[int | Fraction]:
        """Return a vector near z that is a multiple of a member of the set."""
        ball = self.problem.uncertainty.l1_ball
        if ball is None:
            total = sum(z)
            members, shares = self.problem.uncertainty.mixture_near(proposed / max(proposed.sum(), 1e-300))
            parts = [ceil(share * 2**53) for share in shares.tolist()]
            return [
                sum(part * member[x] for part, member in zip(parts, members, strict=True)) * total / sum(parts)
                for x in range(len(z))
            ]
        n, total, t = sum(self.weights), sum(z), ball.half_radius
        if t == 0:
            return [ceil(Fraction(total, n)) * weight for weight in self.weights]
        distance = sum(abs(x * n - total * weight) for x, weight in zip(z, self.weights, strict=True))
        more = max(0, ceil((distance / (2 * t * n) - total) / n))
        return [x + more * weight for x, weight in zip(z, self.weights, strict=True)]

    def level(
        self, inputs: list[int], costs: list[int], held: Sequence[int | Fraction], masses: list[int]
    ) -> Fraction | int:
        """Return the least r that z and m prove for the inputs that an output may have."""
        room = sum(held) * self.rate
        taken = [floor(self.least_lift * mass) for mass in masses]
        sums = [costs[x] + held[x] - taken[x] for x in inputs]
        heights = sorted(zip(sums, (self.weights[x] for x in inputs), strict=True), key=_ratio, reverse=True)
        found: Fraction | int = 0
        totals = accumulate(heights, lambda left, right: (left[0] + right[0], left[1] + right[1]))
        for place, (total, weight) in enumerate(totals, 1):
            found = ceil((total - room) / weight)
            if place == len(heights) or found * heights[place][1] >= heights[place][0]:
                break
        if self.least_lift > 0:
            found = max(found, ceil((sum(sums) - room + sum(masses)) / Fraction(sum(self.weights))))
        return found


def _ratio(pair: tuple[int | Fraction, int]) -> Fraction:
    return Fraction(pair[0]) / pair[1]
