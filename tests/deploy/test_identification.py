from itertools import combinations

import flint
import numpy as np
import pytest
from matrices import circulant, mechanism_of, randomized_response
from numpy.testing import assert_allclose
from refusals import raises
from strategies import random_mechanism
from tolerances import ALGEBRA, SOLVER

from mechdesign.deploy import identification
from mechdesign.deploy.identification import identified_ranges, identify


def groups_of(matrix):
    return [group.tolist() for group in identify(np.asarray(matrix, dtype=float)).groups]


def ranges_of(matrix, theta):
    return identified_ranges(matrix, identify(matrix), np.asarray(theta, dtype=float))


def test_equal_rows_are_confounded_and_nothing_else_is():
    rows = randomized_response(3, 4.0)
    assert groups_of(rows) == [[0], [1], [2]]
    assert groups_of(rows[[0, 1, 0, 2, 1]]) == [[0, 2], [1, 4], [3]]
    assert groups_of(np.ones((4, 1))) == [[0, 1, 2, 3]]


def test_a_row_that_is_a_mixture_of_others_is_confounded_with_them():
    assert groups_of([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0, 0, 1]]) == [[0, 1, 2], [3]]


@pytest.mark.parametrize(("size", "ones", "parts"), [(6, 2, 1), (6, 3, 1), (12, 8, 1), (5, 2, 5), (9, 4, 9)])
def test_the_k_singular_mechanism_tells_inputs_apart_where_k_and_the_size_have_no_common_divisor(size, ones, parts):
    assert len(groups_of(circulant(size, ones))) == parts


def test_rounding_to_integers_does_not_make_a_mechanism_invertible():
    mechanism = mechanism_of(circulant(6, 3))
    assert np.linalg.matrix_rank(mechanism.matrix, tol=0) == 6  # thirds are no multiples of 2^-48
    assert not identify(mechanism.matrix).identifiable.any()


def test_rows_that_differ_by_a_millionth_can_be_told_apart():
    step = np.array([[1e-6, -1e-6]])
    assert identify(np.array([[0.5, 0.5]]) + step * np.array([[0], [1]])).identifiable.all()
    assert not identify(np.array([[0.5, 0.5]]) + 1e-4 * step * np.array([[0], [1]])).identifiable.any()


def test_rare_outputs_count_as_they_inform():
    rare = 1e-9
    assert identify(np.array([[1 - rare, rare, 0], [1 - rare, 0, rare]])).identifiable.all()


def rank(rows):
    return flint.fmpz_mat(rows).rank()


def exact_groups(rows):
    """Return the connected components of the minimal dependent sets of rows, found by ranks of integer matrices."""
    size = len(rows)
    joined = [{i} for i in range(size)]
    for count in range(2, size + 1):
        for subset in combinations(range(size), count):
            chosen = [rows[i] for i in subset]
            smaller = all(rank(chosen[:k] + chosen[k + 1 :]) == count - 1 for k in range(count))
            if rank(chosen) == count - 1 and smaller:
                union = set().union(*(joined[i] for i in subset))
                for i in union:
                    joined[i] = union
    return sorted({tuple(sorted(group)) for group in joined})


def test_groups_are_the_components_of_exact_dependencies():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        rows = rng.integers(0, 3, (6, int(rng.integers(2, 7))))
        rows[:, 0] += 8 - rows.sum(axis=1) if rows.shape[1] < 4 else 12 - rows.sum(axis=1)
        matrix = rows / rows.sum(axis=1, keepdims=True)
        exact = [list(group) for group in exact_groups(rows.tolist())]
        assert groups_of(matrix[:, matrix.any(axis=0)]) == exact
        seen.add(len(exact))
    assert len(seen) > 3


def test_totals_of_groups_are_identifiable():
    rng = np.random.default_rng(1)
    for _ in range(20):
        matrix = random_mechanism(rng, 8, int(rng.integers(2, 8)))[rng.integers(0, 8, 8)]
        matrix = matrix[:, matrix.any(axis=0)]
        for group in identify(matrix).groups:
            total = np.isin(np.arange(8), group).astype(float)
            u, *_ = np.linalg.lstsq(matrix, total, rcond=1e-9)
            assert_allclose(matrix @ u, total, atol=1e-9)


def linprog_range(matrix, theta, category):
    from scipy.optimize import linprog

    cost = np.eye(len(theta))[category]
    outputs = theta @ matrix
    return [sign * linprog(sign * cost, A_eq=matrix.T, b_eq=outputs, method="highs").fun for sign in (1, -1)]


@pytest.mark.sampled
@pytest.mark.parametrize("zeros", [False, True])
def test_ranges_are_those_of_another_program_and_their_proofs_hold(zeros):
    rng = np.random.default_rng(2)
    for _ in range(12):
        size = int(rng.integers(3, 9))
        matrix = random_mechanism(rng, size, int(rng.integers(1, size)))
        theta = rng.dirichlet(np.full(size, 0.5)) * (rng.random(size) < 0.5 if zeros else 1)
        theta = theta / theta.sum() if theta.any() else np.eye(size)[0]
        found = ranges_of(matrix, theta)
        null = identify(matrix).null
        for k, category in enumerate(found.categories):
            assert_allclose([found.lower[k], found.upper[k]], linprog_range(matrix, theta, category), atol=SOLVER)
            unit = np.eye(size)[category]
            for proof, sign in ((found.below[:, k], 1), (found.above[:, k], -1)):
                assert (sign * (unit - proof)).min() >= -1e-9
                assert_allclose(null.T @ proof, 0, atol=1e-9)


def test_equal_rows_may_take_their_total_or_nothing():
    matrix = randomized_response(2, 3.0)[[0, 1, 1]]
    found = ranges_of(matrix, [0.5, 0.2, 0.3])
    assert found.categories.tolist() == [1, 2]
    assert_allclose(np.transpose([found.lower, found.upper]), [[0, 0.5], [0, 0.5]], atol=ALGEBRA)
    assert_allclose(found.above, [[0, 0], [1, 1], [1, 1]], atol=ALGEBRA)
    assert found.choices == (1, 1)  # no other sum bounds them as well


def test_no_share_is_above_1_by_a_rounding_error():
    matrix = np.array([[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]])
    theta = [0.5000000000000001, 0.5, 0.0]  # sums to 1 in floats
    assert ranges_of(matrix, theta).upper.max() == 1


def test_a_group_without_mass_has_none():
    found = ranges_of(randomized_response(2, 3.0)[[0, 1, 1]], [1, 0, 0])
    assert found.lower.tolist() == [0, 0]
    assert_allclose(found.upper, [0, 0], atol=ALGEBRA)


def test_sums_are_chosen_among_as_many_as_there_are_bases():
    # One null vector with signs in turn: the mass of each category can only be bounded by one of the five others.
    assert ranges_of(circulant(6, 2), np.full(6, 1 / 6)).choices == (5,) * 6
    assert ranges_of(np.ones((4, 1)), np.full(4, 0.25)).choices == (1,) * 4


def test_large_groups_get_bounds_from_single_outputs(monkeypatch):
    rng = np.random.default_rng(3)
    matrix = random_mechanism(rng, 9, 4)
    theta = rng.dirichlet(np.ones(9))
    best = ranges_of(matrix, theta)
    monkeypatch.setattr(identification, "_LARGEST_PROGRAM", 8)
    found = ranges_of(matrix, theta)
    assert (found.lower <= best.lower + SOLVER).all()
    assert (found.upper >= best.upper - SOLVER).all()
    assert (found.upper > best.upper + 0.01).any()
    assert_allclose(
        found.upper,
        [min(p / a for p, a in zip(theta @ matrix, row, strict=True) if a > 0) for row in matrix],
        atol=ALGEBRA,
    )
    assert (found.above >= np.eye(9) - ALGEBRA).all()
    assert found.choices == (4,) * 9


def test_a_program_without_an_answer_is_an_error():
    program = identification._RangeProgram(np.array([[1.0], [-1.0]]) / np.sqrt(2), np.array([0.0, 0.0]))
    with raises("solver-failed", "'Unbounded'", "of 2"):
        program.greatest(0)
