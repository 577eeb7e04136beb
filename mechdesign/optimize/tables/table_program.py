"""The linear program of tables.

The columns of a table are variables, one block for each output, followed by the auxiliary variables of the promise
(`UncertaintySet.promise_rows`). With invariance and one prior P the promise is ``K_xy <= e P_y``: the flows
``F_xy = P_x K_xy`` have margins P on both sides and capacities ``e P_x P_y``, a transportation problem. Entries have no
limit 1, which follows from the row sums: its multiplier would be lost to the certificate.

*Slack.* A table lies strictly inside of its constraints if every inequality holds with some room. The greatest room,
in units that suit each inequality, is a linear program too; it is below 0 where no table keeps the constraints, and 0
where they leave no interior, in which no rounding finds integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_down
from mechdesign.numerics.linear_program import LinearProgram, ProgramSolution
from mechdesign.optimize.effective_epsilon import MOST_IN_PROGRAMS
from mechdesign.optimize.tables.table_problem import TableProblem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_NONE = "Infeasible"  # as HiGHS calls a program without a point
_LARGE = 60  # categories from which on interior points are quicker than the simplex method


@dataclass(frozen=True, eq=False)
class ProgramOutcome:
    """An optimal table in floats, with its multipliers.

    Attributes
    ----------
    matrix : array, shape (N, N)
        The table, up to a solver's errors.
    multipliers, floor_multipliers : arrays, shape (N,)
        lambda and sigma.
    """

    matrix: Floats
    multipliers: Floats
    floor_multipliers: Floats


@dataclass(frozen=True, eq=False)
class _Rows:
    """``low <= matrix @ x <= high``, where one unit of slack takes `room` from the lower side of each row."""

    matrix: csr_array
    low: Floats
    high: Floats
    room: Floats


class TableProgram:
    """The constraints of a problem as rows and limits of variables, at one level of exp(epsilon).

    Parameters
    ----------
    problem : TableProblem
        The problem.
    exp_epsilon : float, optional
        By default exp(epsilon), rounded down, or the least that allows all columns, if that is less.
    """

    def __init__(self, problem: TableProblem, exp_epsilon: float | None = None) -> None:
        from scipy.sparse import csr_array, eye_array, kron

        self.problem, N, P = problem, problem.size, problem.uncertainty.prior
        own = min(float_down(problem.sides.epsilon.exp_down), problem.exp_epsilon, MOST_IN_PROGRAMS)
        self._level = own if exp_epsilon is None else exp_epsilon
        self._rows: dict[str, _Rows] = {}
        each, floors = eye_array(N), np.array([float(d) for d in problem.constraints.floors])
        self._free = np.array([(x, y) not in problem.constraints.forbidden for y in range(N) for x in range(N)])
        self._add("sums", kron(np.ones((1, N)), each), np.ones(N), np.ones(N))
        diagonal = csr_array((np.ones(N), (np.arange(N), np.arange(N) * (N + 1))), shape=(N, N * N))
        self._add("floors", diagonal, floors, room=np.where(floors > 0, 1 - floors, 0.0))
        if problem.constraints.invariant:
            self._add("margins", kron(each, P[None, :]), P, P)
        if problem.is_transport:
            masses = np.repeat(P, N)
            self._add("capacities", -eye_array(N * N), -self._level * masses, room=min(self._level - 1, 1.0) * masses)
        else:
            self._add_promise()
        self._width = max(rows.matrix.shape[1] for rows in self._rows.values())

    def _add(self, name: str, matrix: Any, low: Floats, high: Floats | None = None, room: Floats | None = None) -> None:
        from scipy.sparse import csr_array

        above = np.full(low.size, math.inf) if high is None else high
        self._rows[name] = _Rows(csr_array(matrix), low, above, np.zeros(low.size) if room is None else room)

    def _add_promise(self) -> None:
        """Add the rows of the promise for every output, with room in the rows that limit entries."""
        from scipy.sparse import eye_array, hstack, kron

        known, floor = self.problem.uncertainty, self.problem.sides.floor_up
        each, P = eye_array(known.size), known.prior
        rooms = {
            1: min(self._level - 1, 1.0),
            3: 1 - float(floor.least_lift),
        }  # the blocks that limit entries on either side
        for place, block in enumerate(known.promise_rows(self._level, floor)):
            count = block.columns.shape[0]
            matrix = hstack([kron(each, block.columns), kron(each, block.auxiliary)])
            room = rooms.get(place, 0.0) * np.repeat(P, count)
            self._add(f"promise {place}", matrix, np.zeros(known.size * count), room=room)

    def _solve(self, gains: Floats | None) -> ProgramSolution:
        """Maximise gains of entries; without them, the room that all inequalities have, which is the last variable."""
        from scipy.sparse import csr_array, eye_array, hstack, vstack

        N, rows = self.problem.size, list(self._rows.values())
        lower, upper = np.full(self._width, -math.inf), np.full(self._width, math.inf)
        lower[: N * N], upper[: N * N] = 0.0, np.where(self._free, math.inf, 0.0)
        costs = np.zeros(self._width)
        if gains is None:
            entries = csr_array(eye_array(self._width))[np.flatnonzero(self._free)]
            shares = np.repeat(self.problem.uncertainty.prior, N)[self._free]
            rows.append(_Rows(entries, 0 * shares, np.full(shares.size, math.inf), shares))
            lower[: N * N][self._free] = -math.inf
        else:
            costs[: N * N] = gains
        for each in rows:
            each.matrix.resize((each.matrix.shape[0], self._width))
        matrix = vstack([each.matrix for each in rows])
        if gains is None:
            matrix = hstack([matrix, csr_array(-np.concatenate([each.room for each in rows])[:, None])])
            costs, lower, upper = np.append(costs, 1.0), np.append(lower, -math.inf), np.append(upper, 1.0)
        low, high = (np.concatenate([getattr(each, side) for each in rows]) for side in ("low", "high"))
        for interior in (N >= _LARGE, N < _LARGE):  # the other method, where one ends without an answer
            program = LinearProgram(greatest=True, interior=interior)
            program.add_columns(costs, lower, upper)
            program.add_rows(csr_array(matrix), low, high)
            found = program.solved()
            if found.optimal or found.status == _NONE:
                break
        return found

    def solved(self) -> ProgramOutcome:
        """Return the best table.

        Raises
        ------
        SolverError
            If the solver finds none.
        """
        problem, N = self.problem, self.problem.size
        P = problem.uncertainty.center
        gains = np.array([float(P[x] * problem.gain(x, y)) for y in range(N) for x in range(N)])
        found = self._solve(gains).required("the program of a table", "change epsilon a little")
        sigma = np.maximum(-found.prices[N : 2 * N], 0.0)
        return ProgramOutcome(
            self._matrix(found),
            found.prices[:N],
            np.where(np.array(problem.constraints.floors, dtype=float) > 0, sigma, 0.0),
        )

    def roomiest(self) -> tuple[float, Floats]:
        """Return the greatest room, at most 1, and a table that has it; the room is below 0 where there is no table."""
        found = self._solve(None)
        if found.status == _NONE:  # row sums and pairs alone leave no table
            return -math.inf, np.eye(self.problem.size)
        return found.required("the room that a table has", "change a floor a little").value, self._matrix(found)

    def _matrix(self, found: ProgramSolution) -> Floats:
        N = self.problem.size
        matrix: Floats = found.x[: N * N].reshape(N, N).T.copy()
        return matrix
