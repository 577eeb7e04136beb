import cvxpy as cp
import numpy as np
import pytest
from cone_lp import rows_of, violation
from scipy.optimize import linprog
from strategies import random_ball, random_mechanism
from tolerances import SOLVER

import mechdesign as md
from mechdesign.optimize.polyhedral import Polytope


def literal_proposition_2(ball, exp_epsilon, matrix):
    """ED Proposition 2 row by row: one for every (i, i', j)."""
    t, N = float(ball.half_radius), ball.size
    scale = exp_epsilon / (1 + t * exp_epsilon)
    rows = [
        matrix[i, j] <= scale * (ball.prior @ matrix[:, j] + t * matrix[k, j])
        for i in range(N)
        for k in range(N)
        for j in range(matrix.shape[1])
    ]
    return [*rows, cp.sum(matrix, axis=1) == 1, matrix >= 0]


@pytest.mark.sampled
@pytest.mark.parametrize("rounds", [2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("radius", ["0", "0.02", "0.5"])
def test_as_printed_the_rows_are_proposition_2(radius, rounds):
    rng = np.random.default_rng(4)
    for _ in range(rounds):
        ball = random_ball(rng, 4, radius)
        printed = md.L1Ball(ball.center, ball.radius, within_simplex=False)
        weights = rng.standard_normal((4, 4))
        values = []
        for constraints in (
            lambda V, b=printed: literal_proposition_2(b, 2.0, V),
            lambda V, b=printed: [*Polytope(b, 2.0, 4).privacy(V), Polytope(b, 2.0, 4).row_sums(V)],
        ):
            V = cp.Variable((4, 4))
            problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(weights, V))), constraints(V))
            values.append(problem.solve(solver=cp.HIGHS))
        np.testing.assert_allclose(values[0], values[1], atol=SOLVER)


@pytest.mark.parametrize("radius", ["0", "0.02", "0.5", "2"])
def test_sparse_rows_and_cvxpy_constraints_are_the_same_set(radius):
    rng = np.random.default_rng(5)
    ball = random_ball(rng, 4, radius)
    weights = rng.standard_normal((4, 3))
    V = cp.Variable((4, 3))
    polytope = Polytope(ball, 2.0, 3)
    by_cvxpy = cp.Problem(
        cp.Maximize(cp.sum(cp.multiply(weights, V))), [*polytope.privacy(V), polytope.row_sums(V)]
    ).solve(solver=cp.HIGHS)
    rows = rows_of(polytope)
    size = rows.inequalities.shape[1]
    by_rows = linprog(
        np.r_[-weights.T.ravel(), np.zeros(size - 12)],
        A_ub=-rows.inequalities,
        b_ub=np.zeros(rows.inequalities.shape[0]),
        A_eq=rows.equalities,
        b_eq=np.ones(4),
        bounds=[(0, None)] * 12 + [(None, None)] * (size - 12),
    )
    np.testing.assert_allclose(by_cvxpy, -by_rows.fun, atol=SOLVER)


def test_rows_grow_with_the_square_of_the_symbols():
    ball = random_ball(np.random.default_rng(1), 30, "0.02")
    rows = rows_of(Polytope(ball, 2.0, 30))
    assert rows.inequalities.shape[0] <= 5 * 30**2
    assert rows.inequalities.nnz <= 12 * 30**2


def test_violation_is_zero_inside_and_measured_outside():
    rng = np.random.default_rng(2)
    ball = random_ball(rng, 4, "0.1")
    constant = np.full((4, 2), 0.5)
    assert violation(Polytope(ball, 2.0, 2), constant) == 0
    matrix = random_mechanism(rng, 4, 2)
    leaked = np.exp(md.leakage_capacity(matrix, ball))
    assert (violation(Polytope(ball, 2.0, 2), matrix) > 0) == (leaked > 2.0)
