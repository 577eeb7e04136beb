"""Exact pricing of polyhedral utilities: a dual solution for each guess, turned into a proof.

With ``a = P g_w - lambda`` for a guess w, the greatest ``<a, v>`` over the cone with ``<P, v> = 1`` is the
least r for which some y >= 0 and some prior Q in the set have

    sum_i max(0, a_i - r P_i + y Q_i)  <=  y / e,

because then ``<a - r P, v> <= max(v) (y / e) - y h(v) <= 0`` for every v of the cone. With a charge m for the greatest
entry, the multiplier of a promise of maximal leakage, ``<a, v> - m max v`` is at most r if the left side is at most
``y / e + m``. For an l1 ball y and Q
come from a bisection over all guesses at once (`mechdesign.optimize.pricing.l1_ball_duals`), for other sets from a
linear program for each guess. They are proposals, from which r is then computed: a poor proposal makes the bound
weaker, but never false.

Gains, P and lambda are rational, and their difference a may be smaller than the rounding error of either term. So a is
computed from the rational numbers where the terms cancel, and all rounding errors are relative to a.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.differences import Differences
from mechdesign.numerics.exact import float_up
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.deadline import sooner, time_is_up
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS
from mechdesign.optimize.pricing.l1_ball_duals import ball_duals
from mechdesign.optimize.pricing.levels import affordable, level_above_all, level_of
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.pricing.secret_duals import SecretLevels
from mechdesign.optimize.pricing.two_sided_duals import two_sided_levels
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.uncertainty.prior_set import SupportRows
from mechdesign.utility import PolyhedralUtility

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Proposals: TypeAlias = Mapping[int, Floats]
"""For some guesses multipliers of the rows of the support function, from which y and Q follow."""

_EPS = float(np.finfo(float).eps)
_FOR_PROPOSALS = 0.5  # seconds after the last program


def price_by_guess(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    multipliers: Floats,
    prior: Sequence[Fraction] | None = None,
    floor: Floor = NO_FLOOR,
    proposals: Proposals | None = None,
    deadline: float | None = None,
) -> Price:
    """Return the greatest reduced cost of any column with ``<P, v> = 1``, rounded outward.

    Parameters
    ----------
    uncertainty : UncertaintySet
        Any set. If its reference prior P gives no mass to some symbol, the bound may be infinite.
    exp_epsilon : float
        exp(epsilon).
    utility : PolyhedralUtility
        Its guesses are priced one by one.
    multipliers : array, shape (N,)
        lambda.
    prior : sequence of Fraction, optional
        Where gains are measured; by default at the reference prior P.
    floor : Floor
        What is asked from below.
    proposals : dict, optional
        What `Proposals` says, from which prices follow where there is no time for a program. They are not looked at for
        a promise from below or about a secret.
    deadline : float or None
        A time of `time.monotonic` after which no linear program begins: prices of guesses are then proved by the
        proposals for half a second, and after that as if the center were known to be the prior.
    """
    measured = uncertainty.center if prior is None else prior
    # Where the data say nothing of the secret, e = 1 allows every column.
    if (exp_epsilon == 1 or floor.least_lift == 1) and uncertainty.secret_promise is None:
        # Only constant columns are left, whose reduced cost is that of (1,...,1).
        exact = utility.undisclosed(measured) - sum(map(Fraction, multipliers.tolist()))
        return Price(_float_up(exact), "the constant column", 1)
    levels = levels_by_guess(uncertainty, exp_epsilon, utility, multipliers, measured, floor, proposals, deadline)
    return Price(max(levels), "a dual solution for every guess", len(levels))


def price_with_charge(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    multipliers: Floats,
    charge: float,
    proposals: Proposals | None,
    deadline: float | None,
) -> Price:
    """Return the greatest reduced cost where each column pays a charge, 0 or more, for its greatest entry.

    Other columns than the constant one keep the promise, which is about the data, and not from below. Parameters are
    those of `price_by_guess`.
    """
    priced = Differences(uncertainty.center, [Fraction(x) for x in multipliers.tolist()])
    rows = list(utility.differences(priced, uncertainty.size))
    levels = _proved_levels(uncertainty, exp_epsilon, rows, proposals, deadline, charge)
    return Price(max(levels), "a dual solution for every guess", len(levels))


def levels_by_guess(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    multipliers: Floats,
    measured: Sequence[Fraction],
    floor: Floor = NO_FLOOR,
    proposals: Proposals | None = None,
    deadline: float | None = None,
) -> list[float]:
    """Return the greatest reduced cost of a column for each guess, rounded up, as `price_by_guess`.

    Other columns than the constant one keep the promise.
    """
    if uncertainty.secret_promise is not None:
        levels = SecretLevels(uncertainty.secret_promise, exp_epsilon, floor)
        return _levels_about_secret(levels, utility, measured, multipliers, deadline)
    priced = Differences(measured, [Fraction(x) for x in multipliers.tolist()])
    rows = list(utility.differences(priced, uncertainty.size))
    if floor.least_lift > 0:
        found = two_sided_levels(uncertainty, exp_epsilon, floor, [a for a, _ in rows], deadline)
        return [_scaled_up(level, power) for level, (_, power) in zip(found, rows, strict=True)]
    return _proved_levels(uncertainty, exp_epsilon, rows, proposals, deadline)


def _proved_levels(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    rows: Sequence[tuple[Floats, int]],
    proposals: Proposals | None,
    deadline: float | None,
    charge: float = 0.0,
) -> list[float]:
    """Return the levels of rows, each times a power of two, that a dual solution of each proves."""
    # Powers of two change no digit; solvers want numbers of about 1.
    linear = np.array([row for row, _ in rows])
    known = {guess: np.ldexp(proposal, -rows[guess][1]) for guess, proposal in (proposals or {}).items()}
    charges = [_scaled_down(charge, power) for _, power in rows]
    duals = _duals(uncertainty, exp_epsilon, linear, known, deadline, charges if charge > 0 else None)
    return [
        _scaled_up(_proved_level(a, uncertainty.prior, y, Q, exp_epsilon, m), power)
        for (a, power), (y, Q), m in zip(rows, duals, charges, strict=True)
    ]


def _levels_about_secret(
    levels: SecretLevels,
    utility: PolyhedralUtility,
    measured: Sequence[Fraction],
    multipliers: Floats,
    deadline: float | None,
) -> list[float]:
    """Return the greatest reduced costs under a promise about a secret, from weights of rows for each guess."""
    size = len(measured)
    gains, guesses = utility.exact_gains(size), len(utility.gains(size))
    pairs = list(zip(measured, map(Fraction, multipliers.tolist()), strict=True))
    return [
        _float_up(levels.level([p * gains(w, i) - x for i, (p, x) in enumerate(pairs)], deadline))
        for w in range(guesses)
    ]


def _scaled_down(charge: float, power: int) -> float:
    """Return a charge over a power of two: exactly, or less where floats do not hold it."""
    scaled = Fraction(charge) / Fraction(2) ** power
    return 0.0 if scaled < sys.float_info.min else float(min(scaled, Fraction(sys.float_info.max)))


def _scaled_up(level: float, power: int) -> float:
    """Return a level times a power of two, rounded up by at least what gains below the smallest float may add."""
    if not math.isfinite(level):
        return math.inf  # NaN proves no bound
    if level == 0:
        return math.nextafter(0.0, math.inf)
    return math.nextafter(_float_up(Fraction(level) * Fraction(2) ** power), math.inf)


def _float_up(x: Fraction) -> float:
    """Return a float that is at least a fraction: the next one, or infinity, or the lowest float."""
    try:
        return float_up(x)
    except OverflowError:
        return math.inf if x > 0 else -sys.float_info.max


def _duals(
    uncertainty: UncertaintySet,
    exp_epsilon: float,
    linear: Floats,
    proposals: Proposals,
    deadline: float | None,
    charges: Sequence[float] | None = None,
) -> Iterator[tuple[float, Floats]]:
    """Yield y and a member Q of the set for every row of a matrix, by the method for the set and its charge if any."""
    ball = uncertainty.l1_ball
    if ball is not None and charges is None:
        _, weights, priors = ball_duals(ball, exp_epsilon, linear)
        for y, Q in zip(weights.tolist(), priors, strict=True):
            yield y, ball.member_near(Q)
    else:
        known: Floats | None = None
        program = MemberProgram.of(uncertainty, exp_epsilon)
        for guess, a in enumerate(linear):
            if not time_is_up(deadline):
                try:
                    yield program.proposed(a, 0.0 if charges is None else charges[guess])
                except SolverError:  # numbers beyond what a solver takes: no proposal proves a weaker bound
                    yield 0.0, uncertainty.prior
            elif guess in proposals and not time_is_up(sooner(deadline, -_FOR_PROPOSALS)):
                yield _proposed(uncertainty, program.support, proposals[guess])
            elif 0 in uncertainty.center:
                yield 0.0, uncertainty.prior
            else:  # the center is a member
                if known is None:
                    _, known, _ = ball_duals(L1Ball(uncertainty.center, 0), exp_epsilon, linear)
                yield float(known[guess]), uncertainty.prior


def _proved_level(a: Floats, P: Floats, y: float, Q: Floats, exp_epsilon: float, charge: float = 0.0) -> float:
    """Return the level that y and a member Q prove; a y that is not a positive number is replaced by 0."""
    if not (math.isfinite(y) and y > 0):
        y, Q = 0.0, P
    return _least_level(a, P, Q, y, exp_epsilon, charge)


@dataclass(frozen=True, eq=False)
class MemberProgram:
    """The linear program that proposes y and a member Q of a set; its rows are the same for every guess.

    Variables are r and s (N of them), and z, a number for each row of the support function: minimise r with
    ``s >= a - r P + columns.T z`` and ``sum s <= y / e + m``, where ``y = -(auxiliary.T z)_0`` and the other entries of
    ``auxiliary.T z`` vanish.
    """

    uncertainty: UncertaintySet
    support: SupportRows
    at_most: csr_array
    vanishing: csr_array

    @classmethod
    def of(cls, uncertainty: UncertaintySet, exp_epsilon: float) -> MemberProgram:
        """Return the program for a set and a level."""
        from scipy.sparse import block_array, coo_array, csr_array, eye_array

        support = uncertainty.support_rows()
        N, K = uncertainty.size, support.auxiliary.shape[1]
        at_most = block_array(
            [
                [coo_array(-uncertainty.prior[:, None]), -eye_array(N), support.columns.T],
                [None, coo_array(np.ones((1, N))), support.auxiliary[:, [0]].T / min(exp_epsilon, MOST_IN_PROGRAMS)],
            ]
        )
        vanishing = block_array([[coo_array((K - 1, 1 + N)), support.auxiliary[:, 1:].T]])
        return cls(uncertainty, support, csr_array(at_most), csr_array(vanishing))

    def proposed(self, a: Floats, charge: float = 0.0) -> tuple[float, Floats]:
        """Return y and Q that are best for a guess with a charge m, to a solver's tolerance."""
        N, objective = self.uncertainty.size, np.zeros(self.at_most.shape[1])
        objective[0] = 1.0
        solution = minimum(
            objective,
            at_most=(self.at_most, np.append(-a, charge)),
            equal=(self.vanishing, np.zeros(self.vanishing.shape[0])),
            free=[0],
        ).required("the price of a guess", "change epsilon or radius a little")
        return _proposed(self.uncertainty, self.support, solution.x[1 + N :])


def _proposed(uncertainty: UncertaintySet, support: SupportRows, z: Floats) -> tuple[float, Floats]:
    """Return the y and the member Q that multipliers of the rows of the support function propose."""
    y = float(-(support.auxiliary[:, [0]].T @ z)[0])
    if y <= 0:
        return 0.0, uncertainty.prior
    return y, uncertainty.member_near(support.columns.T @ z / y)


def _least_level(a: Floats, P: Floats, Q: Floats, y: float, exp_epsilon: float, charge: float) -> float:
    """Return the least level that y and Q prove, as they are or with room beside the symbols without mass."""
    above = level_above_all(a, P, Q, y, exp_epsilon, charge)
    y, Q = affordable(a, P, Q, y, exp_epsilon, charge)
    return min(above, level_of(a, P, Q, y, exp_epsilon, charge))
