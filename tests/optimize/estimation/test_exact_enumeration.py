"""Random small problems against exact rays, one by one, and against a semidefinite program over all of them."""

from __future__ import annotations

from fractions import Fraction

import clarabel
import numpy as np
import pytest
from exact_rays import rays_of_ball
from scipy import sparse

import mechdesign as md

PROBLEMS = 300
IN_ONE_TEST = 25
SOLVED = 1e-8  # of a value, by the semidefinite program


def random_problem(seed):
    """Two to five symbols, some alike or without a count, at every kind of radius, a rational exp(epsilon), queries."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(2, 6))
    radius = [Fraction(0), Fraction(1, 50), Fraction(3, 10), Fraction(6, 5), Fraction(2)][seed % 5]
    counts = rng.integers(0 if radius else 1, [4, 30, 300][seed % 3], N)
    if not counts.any():
        counts += 1
    rate = Fraction(int(rng.integers(1, 40)), int(rng.integers(1, 20)))
    ball = md.L1Ball.from_counts(counts.tolist(), radius=radius)
    workload = [None, "prefix", rng.integers(-2, 3, (N, N)) + 4 * np.eye(N)][seed // 5 % 3]
    return md.DesignProblem(ball, f"log({1 + rate})", md.EstimationError(workload)), 1 + rate


def exact_rays(problem, e):
    ball = problem.uncertainty
    return sorted(set(rays_of_ball([Fraction(p) for p in ball.center], Fraction(ball.radius), e)))


def least_error_by_semidefinite_program(columns, workload):
    """The least tr(X) with X >= F (U'JU)^-1 F' in the order of matrices, by Clarabel: nothing of the package.

    U is an orthonormal basis of the vectors of sum 0, and F = W U.
    """
    N, k = columns.shape
    U = np.linalg.svd(np.ones((1, N)))[2][1:].T
    size = np.linalg.norm(workload @ U, 2)
    F = workload @ U / size
    q, n = F.shape
    centered = U.T @ columns
    scale = np.einsum("ik,ik->k", centered, centered).max()  # so that all blocks are of one size
    free = [(i, j) for j in range(q) for i in range(j + 1)]
    constant = _symmetric(q + n, q, F)
    moved = [_symmetric(q + n, q, None, np.outer(v, v) / scale) for v in centered.T]
    for i, j in free:
        block = np.zeros((q + n, q + n))
        block[i, j] = block[j, i] = 1
        moved.append(block)
    unused = np.zeros((N, len(free)))
    rows = [np.hstack([columns, unused]), -np.eye(k, k + len(free)), -np.array([_triangle(m) for m in moved]).T]
    right = np.concatenate([np.ones(N), np.zeros(k), _triangle(constant)])
    objective = np.concatenate([np.zeros(k), [float(i == j) for i, j in free]])
    cones = [clarabel.ZeroConeT(N), clarabel.NonnegativeConeT(k), clarabel.PSDTriangleConeT(q + n)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-10
    no_squares = sparse.csc_matrix((objective.size, objective.size))
    solver = clarabel.DefaultSolver(no_squares, objective, sparse.csc_matrix(np.vstack(rows)), right, cones, settings)
    found = solver.solve()
    assert str(found.status) == "Solved"
    return found.obj_val * size**2 / scale


def _symmetric(size, above, corner=None, lower=None):
    block = np.zeros((size, size))
    if corner is not None:
        block[:above, above:], block[above:, :above] = corner, corner.T
    if lower is not None:
        block[above:, above:] = lower
    return block


def _triangle(matrix):
    """The upper triangle column by column, entries off the diagonal times sqrt(2)."""
    rows, columns = np.tril_indices(len(matrix))
    return matrix[columns, rows] * np.where(rows == columns, 1.0, np.sqrt(2))


def exact_reduced_cost(form, multipliers, rays):
    """The greatest ``(v - 1)' Theta (v - 1) - <lambda, v>`` of the rays in rational arithmetic."""
    theta = [[Fraction(x) for x in row] for row in form.dense().tolist()]
    lam = [Fraction(x) for x in multipliers.tolist()]

    def cost(v):
        d = [x - 1 for x in v]
        images = (sum(t * y for t, y in zip(row, d, strict=True)) for row in theta)
        return sum(x * y for x, y in zip(d, images, strict=True)) - sum(x * y for x, y in zip(lam, v, strict=True))

    return max(map(cost, rays))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=[pytest.mark.slow] if first >= PROBLEMS // 6 else [])
        for first in range(0, PROBLEMS, IN_ONE_TEST)
    ],
)
def test_random_problems(first):
    for seed in range(first, first + IN_ONE_TEST):
        problem, e = random_problem(seed)
        rays = exact_rays(problem, e)
        columns = np.array([[float(x) for x in v] for v in rays]).T
        workload = problem.utility.queries(problem.uncertainty.size)
        expected = least_error_by_semidefinite_program(columns, workload)
        found = md.design(problem)
        assert found.certified
        assert expected * (1 - SOLVED) <= found.value <= expected * (1 + found.tol + SOLVED)
        assert expected * (1 - found.tol - SOLVED) <= found.lower_bound <= expected * (1 + SOLVED)
        # The bound covers every exact ray, by no more than rounding.
        certificate = found.certificate
        over = Fraction(certificate.reduced_cost) - exact_reduced_cost(certificate.form, certificate.multipliers, rays)
        assert 0 <= over <= 1e-10 * found.value
