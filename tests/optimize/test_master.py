"""The linear program of column generation, and by which simplex method it is solved."""

import numpy as np
import pytest
from scipy.optimize import linprog
from tolerances import CERTIFIED

from mechdesign.numerics.linear_program import DUAL, LinearProgram
from mechdesign.optimize.master import Master


@pytest.fixture
def by_dual(monkeypatch):
    """Record the numbers of columns of the programs that the dual method solves."""
    found, solved = [], LinearProgram.solved

    def recorded(self, *, method=None, **options):
        solution = solved(self, method=method, **options)
        if method == DUAL:
            found.append(solution.x.size)
        return solution

    monkeypatch.setattr(LinearProgram, "solved", recorded)
    return found


def shares(rng, rows, count):
    """Return columns of which some combination is constant: a sparse one and what it leaves, for each."""
    half = rng.integers(0, 2, (rows, count // 2)).astype(float)
    return np.hstack([half, 1 - half])


@pytest.mark.parametrize(("rows", "count", "dual"), [(30, 12, [12]), (6, 12, [])])
def test_a_first_program_of_few_columns_is_solved_by_the_dual_method(rows, count, dual, by_dual):
    rng = np.random.default_rng(rows)
    columns, gains = shares(rng, rows, count), rng.random(count)
    program = Master(rows)
    program.add(columns, gains)
    program.solve()
    best = -linprog(-gains, A_eq=columns, b_eq=np.ones(rows)).fun
    assert program.value == pytest.approx(best, abs=CERTIFIED)
    assert by_dual == dual
    np.testing.assert_allclose(columns @ program.weights, 1, atol=1e-8)
    np.testing.assert_array_less(gains - columns.T @ program.multipliers, 1e-8)
    # From there on the basis stays feasible, and the primal method continues.
    more = shares(rng, rows, count)
    program.add(more, rng.random(count) + 1)
    program.solve()
    assert program.value > best
    assert by_dual == dual
