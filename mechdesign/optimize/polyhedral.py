"""One linear program for the polyhedral utilities, over the polytope of all private mechanisms.

Columns with the same best guess can be merged, because the column cone is convex and mu is linear on
them. So one column for every guess is enough, and the program needs no rays. The simplex method gives
exact zeros but takes long on large programs, for which an interior point method is tried first.

For the polytope (ED Proposition 2), ED writes a row for every pair of symbols and every output. Auxiliary variables of
the support function describe the same set with O(N) rows for each output: ``v_i <= e h`` and ``h <= h_B(v)``. A promise
from below has the same rows for -v, whose support function is minus the greatest mean: ``v_i >= -a k`` and
``k <= h_B(-v)``. Every set says its own rows (`UncertaintySet.promise_rows`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import LEAST_COEFFICIENT, SOLVER
from mechdesign.optimize.deadline import seconds_left, time_is_up
from mechdesign.optimize.method import Solution
from mechdesign.optimize.pricing.gain_duals import Proposals
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import PolyhedralUtility

if TYPE_CHECKING:
    import cvxpy as cp

_LARGE = 2_500  # entries of the matrix, beyond which the simplex method is slower
_CLOSED = 1e-11
_SHORT = 0.05  # seconds that a solver gets at least
_SECONDS_AN_ENTRY = 6e-6  # that an interior point method takes, for each entry of its rows
_FEWEST_GUESSES = 8  # that have columns, however little time there is
NEGLIGIBLE_ENTRY: Final = 1e-9
"""An entry that an interior point method leaves where the optimum is 0 is below this."""


@dataclass(frozen=True)
class Polytope:
    """All mechanisms with M outputs that are epsilon-PML for every prior in a set.

    For an l1 ball as ED prints it (``within_simplex=False``) this is ED Proposition 2; for the ball cut with
    the simplex it is the exact set, which is larger once the radius exceeds twice the least probability.

    Attributes
    ----------
    uncertainty : UncertaintySet
        The priors.
    exp_epsilon : float
        exp(epsilon).
    outputs : int
        Number M of outputs.
    floor : Floor
        What is asked from below.

    Examples
    --------
    >>> import cvxpy
    >>> from mechdesign import L1Ball
    >>> polytope = Polytope(L1Ball([0.5, 0.5], radius=0.1), 2.0, 2)
    >>> [rows.shape for rows in polytope.privacy(cvxpy.Variable((2, 2)))]
    [(8, 2), (2, 2), (2, 2)]
    """

    uncertainty: UncertaintySet
    exp_epsilon: float
    outputs: int
    floor: Floor = NO_FLOOR

    def row_sums(self, matrix: cp.Variable) -> cp.Constraint:
        """Return ``sum_j p_ij = 1`` as a cvxpy constraint."""
        import cvxpy as cp

        return cp.sum(matrix, axis=1) == np.ones(self.uncertainty.size)

    def privacy(self, matrix: cp.Variable) -> list[cp.Constraint]:
        """Return the privacy and the non-negativity of each column as cvxpy constraints.

        Parameters
        ----------
        matrix : cvxpy Variable, shape (N, M)
            The mechanism.
        """
        import cvxpy as cp

        blocks = self.uncertainty.promise_rows(self.exp_epsilon, self.floor)
        rows: list[Any] = [block.columns @ matrix for block in blocks]
        if blocks[0].auxiliary.shape[1] > 0:
            auxiliary = cp.Variable((blocks[0].auxiliary.shape[1], self.outputs))
            rows = [row + block.auxiliary @ auxiliary for row, block in zip(rows, blocks, strict=True)]
        return [*(row >= 0 for row in rows), matrix >= 0]


def solve_polyhedral(
    known: UncertaintySet,
    exp_epsilon: float,
    utility: PolyhedralUtility,
    progress: Callable[[str], None],
    floor: Floor = NO_FLOOR,
    deadline: float | None = None,
    sum_allowed: float | None = None,
) -> tuple[Solution, Proposals]:
    """Return an optimal mechanism with one output for each guess that is used, and proposals for prices of guesses.

    If the program would take longer than there is time, the likeliest guesses alone have columns.

    Parameters
    ----------
    known : UncertaintySet
        Any set of priors.
    exp_epsilon : float
        exp(epsilon).
    utility : PolyhedralUtility
        What is maximised, at the reference prior of the set.
    progress : callable
        Called with one line whenever a step begins.
    floor : Floor
        What is asked from below.
    deadline : float or None
        When to stop, as a time of `time.monotonic`.
    sum_allowed : float, optional
        What the greatest entries of all columns may sum to, for a promise of maximal leakage, whose multiplier is then
        the last.

    Raises
    ------
    SolverError
        If both methods fail before the deadline.
    """
    # A gain that all guesses share is the same for every mechanism; it is left out, because it would cost digits.
    shortfalls = utility.shortfalls(known.size)
    least, exact = shortfalls.argmin(axis=0).tolist(), utility.exact_gains(known.size)
    common = np.array([float(p * exact(w, i)) for i, (p, w) in enumerate(zip(known.center, least, strict=True))])
    linear = (shortfalls - shortfalls.min(axis=0)) * known.prior
    greatest, no_charge = float(linear.max()), [] if sum_allowed is None else [0.0]
    if greatest == 0:
        return Solution(np.ones((known.size, 1)), np.append(common, no_charge), len(linear), 0), {}
    # A power of two changes no digit; solvers want numbers of about 1.
    scale = math.ldexp(1.0, math.frexp(greatest)[1] - 1)
    polytope = Polytope(known, exp_epsilon, len(linear), floor)
    kept = _guesses_in_time(polytope, linear, deadline)
    progress(f"solving a linear program with {known.size} x {kept.size} entries")
    some = replace(polytope, outputs=kept.size)
    found = _solve(some, linear[kept] / scale, deadline, sum_allowed)
    if found is None:
        best = int(linear.sum(axis=1).argmax())  # the constant mechanism, with the best guess for it
        multipliers = np.append(linear[best] + common, no_charge)
        return Solution(np.ones((known.size, 1)), multipliers, 1, 1, stopped="time limit"), {}
    stopped = "time limit" if found.stopped or kept.size < len(linear) else ""
    matrix = found.matrix[:, found.matrix.max(axis=0) > NEGLIGIBLE_ENTRY]
    proposals = dict(zip(kept.tolist(), (found.support * scale).T, strict=True))
    multipliers = found.multipliers * scale + np.append(common, no_charge)
    return Solution(matrix, multipliers, kept.size, 1, stopped=stopped), proposals


def _guesses_in_time(polytope: Polytope, linear: Floats, deadline: float | None) -> NDArray[np.intp]:
    """Return the guesses whose columns an interior point method handles until a deadline: all, or the likeliest."""
    everyone = np.arange(len(linear))
    if deadline is None or math.isinf(deadline):
        return everyone
    blocks = polytope.uncertainty.promise_rows(polytope.exp_epsilon, polytope.floor)
    entries = sum(block.columns.nnz + block.auxiliary.nnz for block in blocks) + 2 * polytope.uncertainty.size
    most = max(_FEWEST_GUESSES, int(seconds_left(deadline) / (_SECONDS_AN_ENTRY * entries)))
    return np.sort(np.argsort(-linear.sum(axis=1), kind="stable")[:most])


def _solve(
    polytope: Polytope, linear: Floats, deadline: float | None, sum_allowed: float | None = None
) -> MechanismOptimum | None:
    """Return a mechanism with a column for every guess, and the multipliers of its row sums and of maximal leakage."""
    import cvxpy as cp

    if sum_allowed is None:
        return solve_program(polytope, lambda matrix: (cp.sum(cp.multiply(linear.T, matrix)), []), deadline)
    tops = cp.Variable((1, polytope.outputs))
    on_average = cp.sum(tops) <= sum_allowed

    def goal(matrix: cp.Variable) -> tuple[cp.Expression, list[cp.Constraint]]:
        each = np.ones((polytope.uncertainty.size, 1))
        return cp.sum(cp.multiply(linear.T, matrix)), [matrix <= each @ tops, on_average]

    found = solve_program(polytope, goal, deadline)
    if found is None:
        return None
    return found._replace(multipliers=np.append(found.multipliers, max(float(on_average.dual_value), 0.0)))


class MechanismOptimum(NamedTuple):
    """What a linear program over a polytope returns.

    Attributes
    ----------
    matrix : array, shape (N, M)
        The mechanism.
    multipliers : array, shape (N,)
        Of its row sums.
    support : array, shape (R, M)
        Of the first block of rows of each column, which for most sets are those of the support function.
    stopped : bool
        Whether the method ended at the deadline, near the optimum or not.
    """

    matrix: Floats
    multipliers: Floats
    support: Floats
    stopped: bool


def solve_program(
    polytope: Polytope,
    goal: Callable[[cp.Variable], tuple[cp.Expression, list[cp.Constraint]]],
    deadline: float | None = None,
    closed: float | None = None,
) -> MechanismOptimum | None:
    """Return a mechanism that maximises a linear objective, and the multipliers of its rows.

    Parameters
    ----------
    polytope : Polytope
        The mechanisms.
    goal : callable
        Takes the variable of the mechanism, shape (N, M), and returns what is maximised, and constraints of its own.
    deadline : float or None
        When to stop, as a time of `time.monotonic`. What is found by then has rows that sum to 1, and keeps the promise
        about as well as it is near the optimum; None if nothing is found.
    closed : float, optional
        The tolerance of an interior point method, which is then tried first: its multipliers lie amid all that are
        optimal.

    Raises
    ------
    SolverError
        If both methods fail before the deadline.
    """
    import cvxpy as cp

    matrix = cp.Variable((polytope.uncertainty.size, polytope.outputs))
    row_sums, privacy = polytope.row_sums(matrix), polytope.privacy(matrix)
    objective, constraints = goal(matrix)
    program = cp.Problem(cp.Maximize(objective), [row_sums, *privacy, *constraints])
    simplex = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), SOLVER)
    simplex["small_matrix_value"] = LEAST_COEFFICIENT
    interior = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), closed or _CLOSED)
    small = matrix.size <= _LARGE and closed is None
    endings: list[str] = []
    for solver in (cp.HIGHS, cp.CLARABEL) if small else (cp.CLARABEL, cp.HIGHS):
        if endings and time_is_up(deadline):
            return None
        limit = {} if deadline is None or math.isinf(deadline) else {"time_limit": max(seconds_left(deadline), _SHORT)}
        options = {"highs_options": {**simplex, **limit}} if solver == cp.HIGHS else {**interior, **limit}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a solution that may be inaccurate, as its status says
                program.solve(solver=solver, **options)
        except cp.SolverError as error:
            endings.append(f"{solver} failed ({error})")
            continue
        stopped = program.status == cp.USER_LIMIT
        if (program.status == cp.OPTIMAL or stopped) and matrix.value is not None:
            values: Floats = np.asarray(matrix.value, dtype=float)
            values[np.abs(values) < NEGLIGIBLE_ENTRY * np.abs(values).max(axis=0)] = 0.0
            if not stopped or (values := _stochastic(values)).size:
                sums, support = (np.asarray(rows.dual_value, dtype=float) for rows in (row_sums, privacy[0]))
                return MechanismOptimum(values, sums, support, stopped)
        endings.append(f"{solver} ended {program.status}")
    if time_is_up(deadline):
        return None
    raise SolverError.solver_failed(f"{', '.join(endings)}; change epsilon or radius a little")


def _stochastic(matrix: Floats) -> Floats:
    """Return an iterate with non-negative rows of sum 1; without columns if it has rows of nothing."""
    positive = np.maximum(matrix, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    result: Floats = positive / sums if sums.min() > 0 and np.isfinite(sums).all() else np.empty((len(matrix), 0))
    return result
