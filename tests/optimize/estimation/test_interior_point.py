"""The best weights of given columns, held against closed forms and against a solver of semidefinite programs."""

from itertools import combinations

import numpy as np
import pytest
from refusals import raises

from mechdesign.optimize.estimation.interior_point import full_weights, solve


def subsets(size, members):
    """The columns that have e = N/d on d of N symbols of equal probability."""
    columns = np.zeros((size, 0))
    for chosen in combinations(range(size), members):
        column = np.zeros((size, 1))
        column[list(chosen)] = size / members
        columns = np.hstack([columns, column])
    return columns


def error(columns, weights, prior, workload):
    J = (columns * weights) @ columns.T
    return np.trace(workload @ np.linalg.solve(J, workload.T)) - np.sum((workload @ prior) ** 2)


def oracle(columns, prior, workload):
    """The least error by a semidefinite program: J >= Z' in the order of matrices."""
    import cvxpy as cp

    queries = len(workload)
    w = cp.Variable(columns.shape[1], nonneg=True)
    bound = cp.Variable((queries, queries), symmetric=True)
    J = columns @ cp.diag(w) @ columns.T
    block = cp.bmat([[bound, workload], [workload.T, J]])
    program = cp.Problem(cp.Minimize(cp.trace(bound)), [columns @ w == 1, (block + block.T) / 2 >> 0])
    program.solve(solver="CLARABEL")
    return program.value - np.sum((workload @ prior) ** 2)


def random_columns(size, count, seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(size, 2.0))
    columns = rng.uniform(0, 1, (size, count)) * rng.integers(0, 2, (size, count)) + 0.02
    columns /= prior @ columns
    # One more column makes the sum of all a multiple of (1,...,1).
    total = columns.sum(axis=1)
    rest = total.max() * 1.05 - total
    return np.hstack([columns, (rest / (prior @ rest))[:, None]]), prior


@pytest.mark.parametrize(("size", "members"), [(2, 1), (4, 2), (6, 2), (6, 3), (9, 3), (10, 5)])
def test_uniform_prior_with_all_sets_of_a_size(size, members):
    e = size / members
    found = solve(subsets(size, members), np.full(size, 1 / size), np.eye(size), 1e-9)
    assert found.value == pytest.approx((size - 1) ** 2 / (size * (e - 1)), rel=1e-9)
    assert found.gap <= 1e-9


@pytest.mark.combined
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("queries", ["all", "prefix", "one", "two"])
def test_random_columns_against_a_semidefinite_program(seed, queries):
    size = 2 + seed % 5
    columns, prior = random_columns(size, 4 * size, seed)
    workload = {
        "all": np.eye(size),
        "prefix": np.tril(np.ones((size, size)))[:-1],
        "one": np.eye(size)[:1],
        "two": np.vstack([np.arange(size), np.eye(size)[0]]) * 1.0,
    }[queries]
    found = solve(columns, prior, workload, 1e-7)
    assert found.value == pytest.approx(oracle(columns, prior, workload), rel=2e-5)


@pytest.mark.combined
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_what_it_returns_proves_itself(seed, tolerance):
    size = [2, 3, 5, 9, 17][seed % 5]
    columns, prior = random_columns(size, 6 * size, seed)
    workload = np.eye(size)
    found = solve(columns, prior, workload, tolerance)
    assert (found.weights > 0).all()
    np.testing.assert_allclose(columns @ found.weights, 1, atol=1e-13)
    assert found.value == pytest.approx(error(columns, found.weights, prior, workload), rel=max(1e-8, tolerance / 100))
    reduced = np.einsum("ik,ik->k", columns, found.M @ columns) - found.multipliers @ columns
    assert reduced.max() <= 1e-9 * found.value
    np.testing.assert_allclose(found.M.sum(axis=1), 0, atol=1e-9 * found.value)
    assert found.multipliers.sum() - found.value == pytest.approx(found.gap * found.value, abs=1e-9 * found.value)
    assert found.gap <= tolerance
    assert found.weights @ np.abs(reduced) <= 2 * tolerance * found.value


def test_gradient_is_that_of_inverse_information():
    """M is J^-1 K J^-1 centered; with that itself, reduced costs are the same for other multipliers."""
    columns, prior = random_columns(5, 30, 3)
    found = solve(columns, prior, np.eye(5), 1e-9)
    J = (columns * found.weights) @ columns.T
    full = np.linalg.inv(J) @ np.linalg.inv(J)
    centered = np.eye(5) - np.outer(prior, np.ones(5))
    np.testing.assert_allclose(centered @ full @ centered.T, found.M, atol=1e-7 * np.abs(found.M).max())
    of_full = found.multipliers + 2 * full @ np.ones(5) - prior * full.sum()
    reduced = np.einsum("ik,ik->k", columns, found.M @ columns) - found.multipliers @ columns
    again = np.einsum("ik,ik->k", columns, full @ columns) - of_full @ columns
    np.testing.assert_allclose(again, reduced, atol=1e-7 * found.value)


def test_a_start_is_used_and_leads_to_the_same():
    columns, prior = random_columns(9, 80, 1)
    cold = solve(columns, prior, np.eye(9), 1e-9)
    warm = solve(columns, prior, np.eye(9), 1e-9, start=cold.weights)
    assert warm.value == pytest.approx(cold.value, rel=2e-9)
    assert warm.steps <= cold.steps


def test_nearly_equal_columns():
    columns, prior = random_columns(6, 30, 5)
    rng = np.random.default_rng(0)
    close = np.abs(columns + 1e-9 * rng.standard_normal(columns.shape))
    double = np.hstack([columns, columns, close / (prior @ close)])
    one, two = (solve(held, prior, np.eye(6), 1e-9).value for held in (columns, double))
    assert two == pytest.approx(one, rel=1e-7)


def test_columns_that_must_have_weight_0():
    columns = np.array([[2.0, 0.0, 1.5], [0.0, 2.0, 0.5]])
    found = solve(columns, np.array([0.5, 0.5]), np.eye(2), 1e-9)
    np.testing.assert_allclose(found.weights, [0.5, 0.5, 0], atol=1e-6)


def test_skewed_priors():
    """Full disclosure of symbols of probability 1e-6 beside one of nearly 1; some columns weigh 1e-6, others 1."""
    prior = np.array([1 - 3e-6, 1e-6, 2e-6])
    columns = np.hstack([np.diag(1 / prior), np.ones((3, 1))])
    found = solve(columns, prior, np.eye(3), 1e-9)
    assert found.value == pytest.approx(1 - prior @ prior, rel=1e-6)


@pytest.mark.parametrize("size", [4, 9, 12])
def test_a_workload_of_low_rank(size):
    """Pairs of symbols at a uniform prior: only the masses of pairs matter, and these are a smaller problem."""
    rng = np.random.default_rng(size)
    few = size // 2
    pairs, _ = random_columns(few, 8 * few, size)
    prior = rng.dirichlet(np.ones(few))
    pairs /= prior @ pairs
    total = pairs.sum(axis=1)
    rest = total.max() * 1.05 - total
    pairs = np.hstack([pairs, (rest / (prior @ rest))[:, None]])
    least = solve(pairs, prior, np.eye(few), 1e-9).value
    held = np.hstack([np.repeat(pairs, 2, axis=0), np.eye(2 * few) * np.repeat(2 / prior, 2)])
    queries = np.kron(np.eye(few), np.ones((1, 2)))
    found = solve(held, np.repeat(prior / 2, 2), queries, 1e-6)
    better = solve(np.hstack([pairs, np.diag(1 / prior)]), prior, np.eye(few), 1e-9).value
    assert better * (1 - 1e-5) <= found.value <= least * 1.01


@pytest.mark.parametrize("exp_epsilon", [1 + 1e-6, 1.01, 1e3])
def test_small_and_large_epsilon(exp_epsilon):
    """Randomised response at a uniform prior of few symbols has a closed form for every epsilon."""
    size = 4
    columns = 1 + (exp_epsilon - 1) * np.eye(size)
    prior = np.full(size, 1 / size)
    columns /= prior @ columns
    found = solve(columns, prior, np.eye(size), 1e-9)
    mean = (exp_epsilon + size - 1) / size
    assert found.value == pytest.approx(size * (size - 1) * mean**2 / (exp_epsilon - 1) ** 2, rel=1e-6)


def test_what_cannot_be_estimated_is_refused():
    constant = np.ones((3, 4))
    prior = np.array([0.5, 0.25, 0.25])
    with raises("solver-failed"):
        solve(constant, prior, np.eye(3), 1e-6)
    alike = np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    with raises("solver-failed"):
        solve(alike, prior, np.eye(3), 1e-6)
    assert solve(alike, prior, np.eye(3)[:1], 1e-9).value == pytest.approx(0.25)


def test_columns_without_a_mechanism_are_refused():
    columns = np.array([[2.0, 1.5, 1.8], [0.0, 0.5, 0.2]])
    with raises("not-converged"):
        solve(columns, np.array([0.5, 0.5]), np.eye(2), 1e-6)


def test_full_weights_repairs_rows():
    columns, prior = random_columns(7, 60, 2)
    found = solve(columns, prior, np.eye(7), 1e-9)
    kept = found.weights > 1e-4
    repaired = full_weights(columns[:, kept], found.weights[kept])
    np.testing.assert_allclose(columns[:, kept] @ repaired, 1, atol=1e-14)
    assert (repaired > 0).all()
