"""Linear programs, against those that scipy solves, the duality theorem, and programs that are built anew."""

import math
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import raises
from scipy.optimize import linprog
from scipy.sparse import coo_array

from mechdesign.numerics.linear_program import DUAL, PRIMAL, LinearProgram, minimum
from mechdesign.numerics.tolerances import SOLVER


def drawn(seed):
    """A feasible program with a least value, some of whose variables are free."""
    rng = np.random.default_rng(seed)
    n, m, e = int(rng.integers(2, 9)), int(rng.integers(1, 7)), int(rng.integers(0, 2))
    A, C, point = rng.normal(size=(m, n)), rng.normal(size=(e, n)), rng.random(n)
    free = int(rng.integers(0, 2))
    prices = rng.random(n) * (np.arange(n) >= free)
    costs = prices - A.T @ rng.random(m) + C.T @ rng.normal(size=e)  # a dual solution bounds it from below
    return costs, A, A @ point + rng.random(m), C, C @ point, free


@pytest.mark.combined
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("form", [np.asarray, coo_array])
def test_a_solution_is_that_of_scipy_and_its_prices_prove_it(seed, form):
    costs, A, b, C, d, free = drawn(seed)
    found = minimum(costs, at_most=(form(A), b), equal=(form(C), d), free=slice(0, free))
    bounds = [(None, None)] * free + [(0, None)] * (costs.size - free)
    other = linprog(costs, A_ub=A, b_ub=b, A_eq=C if len(C) else None, b_eq=d if len(C) else None, bounds=bounds)
    assert found.optimal
    assert found.value == pytest.approx(other.fun, abs=1e-7)
    assert (A @ found.x <= b + 2 * SOLVER).all()
    assert_allclose(C @ found.x, d, atol=2 * SOLVER)
    assert (found.x[free:] >= -SOLVER).all()
    left = costs - A.T @ found.prices[: len(b)] - C.T @ found.prices[len(b) :]
    assert (found.prices[: len(b)] <= SOLVER).all()
    assert (left[free:] >= -2 * SOLVER).all()
    assert_allclose(left[:free], 0, atol=2 * SOLVER)
    assert found.prices @ np.concatenate([b, d]) == pytest.approx(found.value, abs=1e-8)


def test_a_program_without_a_solution_says_so():
    infeasible = minimum([1.0], equal=([[1.0]], [-1.0]))
    assert not infeasible.optimal
    with raises("solver-failed", "'Infeasible'", "a test", "try another"):
        infeasible.required("a test", "try another")
    assert minimum([-1.0], at_most=([[0.0]], [1.0])).status in {"Unbounded", "Primal infeasible or unbounded"}


@pytest.mark.parametrize("method", [PRIMAL, DUAL])
@pytest.mark.parametrize("seed", range(10))
def test_a_program_that_is_changed_is_solved_as_if_it_were_new(seed, method):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    A, row, inside, costs = rng.normal(size=(m, n)), rng.normal(size=n), rng.random(n), rng.normal(size=n)
    b = A @ inside + 0.1
    kept = LinearProgram(method=method, greatest=True)
    kept.add_rows(np.empty((m, 0)), -np.inf, b)
    kept.add_columns(-costs, 0.0, 1.0, entries=A)
    kept.solved()
    A[0, 1] = 3.0
    b[0] = A[0] @ inside + 0.1
    kept.add_rows(row, -np.inf, row @ inside + 0.1)
    kept.change_costs(np.arange(n), costs)
    kept.change_limits([0], [-1.0], [2.0])
    kept.change_limits(np.arange(1, n), np.zeros(n - 1), inside[1:] + 0.2)
    kept.change_row(0, 1, 3.0, b[0])
    bounds = [(-1.0, 2.0), *((0, x + 0.2) for x in inside[1:])]
    other = linprog(-costs, A_ub=np.vstack([A, row]), b_ub=np.append(b, row @ inside + 0.1), bounds=bounds)
    for found in (kept.solved(), kept.solved(method=DUAL, anew=True)):
        assert found.value == pytest.approx(-other.fun, abs=1e-7)


def test_a_program_without_time_has_no_optimum():
    rng = np.random.default_rng(1)
    program = LinearProgram(method=DUAL)
    program.add_columns(-rng.random(60))
    program.add_rows(rng.random((50, 60)), -math.inf, 1.0)
    assert program.solved(seconds=0.0).status == "Time limit reached"
    assert program.solved(seconds=100.0).optimal


ANOTHER_POOL = """
import highspy, mechdesign as md
first = highspy.Highs()
first.setOptionValue("output_flag", False)
first.setOptionValue("threads", 2)
first.addVars(1, [0.0], [1.0])
first.run()
hull = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.4", "0.3", "0.3"], ["0.3", "0.4", "0.3"]])
print(md.design(md.DesignProblem(hull, 1, md.ChiSquare()), method="boxes").certified)
"""


@pytest.mark.slow
def test_the_number_of_threads_that_others_have_begun_with_does_not_matter():
    done = subprocess.run([sys.executable, "-c", ANOTHER_POOL], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
