from fractions import Fraction

import numpy as np
import pytest
from matrices import circulant, randomized_response
from numpy.testing import assert_allclose
from refusals import raises
from strategies import random_mechanism
from tolerances import ALGEBRA

from mechdesign.deploy import likelihood
from mechdesign.deploy.likelihood import maximum_likelihood


def log_likelihood(matrix, counts, theta):
    seen = counts > 0
    return counts[seen] @ np.log((theta @ matrix)[seen])


def excess(matrix, counts, theta):
    """Return by how much the gradient of the likelihood of a report exceeds 1 somewhere: 0 at the maximum."""
    seen = counts > 0
    return (matrix[:, seen] @ (counts[seen] / counts.sum() / (theta @ matrix)[seen])).max() - 1


def test_binary_randomized_response_is_the_inverse_cut_to_the_simplex():
    matrix = randomized_response(2, 3.0)
    for yes in range(0, 101, 5):
        expected = np.clip((yes / 100 - 0.25) / 0.5, 0, 1)
        assert_allclose(
            maximum_likelihood(matrix, np.array([yes, 100.0 - yes])).frequencies,
            [expected, 1 - expected],
            atol=1e-10,  # where the inverse is just 0 the likelihood is flat
        )


def exact_randomized_response(counts, exp_epsilon):
    """Return the maximum of likelihood of k-ary randomized response: p_i = max(b, c_i / lambda), in rationals."""
    size, n = len(counts), sum(counts)
    b = Fraction(1, exp_epsilon + size - 1)
    order = sorted(range(size), key=lambda i: -counts[i])
    for kept in range(size, 0, -1):
        rate = Fraction(sum(counts[i] for i in order[:kept])) / (1 - (size - kept) * b)
        p = [Fraction(counts[i]) / rate if i in order[:kept] else b for i in range(size)]
        if min(p) >= b:
            break
    assert n > 0
    return [float((q - b) / ((exp_epsilon - 1) * b)) for q in p]


@pytest.mark.parametrize("seed", range(20))
def test_randomized_response_is_the_closed_form_in_rationals(seed):
    rng = np.random.default_rng(seed)
    size, exp_epsilon = int(rng.integers(2, 12)), int(rng.integers(2, 9))
    counts = rng.integers(0, 10 ** rng.integers(1, 10), size) + (np.arange(size) == 0)
    found = maximum_likelihood(randomized_response(size, exp_epsilon), counts.astype(float)).frequencies
    assert_allclose(found, exact_randomized_response(counts.tolist(), exp_epsilon), atol=ALGEBRA)


@pytest.mark.parametrize("seed", range(8))
def test_cvxpy_finds_the_same(seed):
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, int(rng.integers(2, 9)), int(rng.integers(9, 14)))
    counts = rng.multinomial(500, rng.dirichlet(np.full(len(matrix), 0.5)) @ matrix).astype(float)
    found = maximum_likelihood(matrix, counts)
    theta = cp.Variable(len(matrix), nonneg=True)
    seen = counts > 0
    program = cp.Problem(cp.Maximize(counts[seen] @ cp.log(theta @ matrix[:, seen])), [cp.sum(theta) == 1])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-12, tol_feas=1e-10)
    theirs = np.maximum(theta.value, 0)
    ours = log_likelihood(matrix, counts, found.frequencies)
    assert log_likelihood(matrix, counts, theirs / theirs.sum()) - 1e-9 <= ours <= program.value + 1e-4
    assert_allclose(found.frequencies, theirs, atol=1e-4)


def hard_problem(rng):
    """Return a matrix with zeros, equal rows or entries of any size, and counts that may not come from it."""
    inputs, outputs = rng.integers(1, 13, 2)
    matrix = rng.random((inputs, outputs)) ** rng.integers(1, 9) * (rng.random((inputs, outputs)) < 0.6)
    kind = rng.integers(4)
    if kind == 0:
        matrix = 10.0 ** (-9 * rng.random((inputs, outputs)))
    elif kind == 1:
        matrix = matrix[rng.integers(0, inputs, inputs)]
    elif kind == 2:
        matrix = np.round(4 * matrix)
    matrix[:, 0] += matrix.sum(axis=1) == 0
    matrix = matrix[:, matrix.any(axis=0)]
    matrix /= matrix.sum(axis=1, keepdims=True)
    if rng.random() < 0.5:
        counts = np.floor(10 ** (12 * rng.random(matrix.shape[1]))) * (rng.random(matrix.shape[1]) < 0.6)
    else:
        counts = rng.multinomial(10 ** rng.integers(0, 12), np.full(matrix.shape[1], 1 / matrix.shape[1]))
    counts = counts.astype(float)
    counts[0] += not counts.any()
    return matrix, counts


@pytest.mark.parametrize("problems", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_hard_problems_meet_the_optimality_conditions(problems):
    rng = np.random.default_rng(1)
    for _ in range(problems):
        matrix, counts = hard_problem(rng)
        found = maximum_likelihood(matrix, counts)
        assert found.frequencies.min() >= 0
        assert abs(found.frequencies.sum() - 1) <= ALGEBRA
        assert excess(matrix, counts, found.frequencies) <= 1e-8
        assert found.gap <= 1e-6 + 1e-14 * counts.sum()


def test_no_distribution_exceeds_the_certificate():
    rng = np.random.default_rng(2)
    for _ in range(50):
        matrix, counts = hard_problem(rng)
        if counts.sum() > 1e6:
            continue
        found = maximum_likelihood(matrix, counts)
        greatest = log_likelihood(matrix, counts, found.frequencies) + found.gap
        near = 0.999 * found.frequencies + 0.001 * rng.dirichlet(np.ones(len(matrix)), 200)
        with np.errstate(divide="ignore"):
            for theta in (*near, *np.eye(len(matrix))):
                assert log_likelihood(matrix, counts, theta) <= greatest + 1e-12 * counts.sum()


def test_a_solver_that_stops_early_is_not_believed(monkeypatch):
    monkeypatch.setattr(likelihood, "_MOST_STEPS", 3)
    with raises("not-converged"):
        maximum_likelihood(randomized_response(5, 3.0), np.array([900.0, 40, 30, 20, 10]))


def test_equal_rows_get_equal_shares():
    rows = randomized_response(3, 5.0)
    found = maximum_likelihood(rows[[0, 1, 1, 2, 2, 2]], np.array([500.0, 300, 200])).frequencies
    apart = maximum_likelihood(rows, np.array([500.0, 300, 200])).frequencies
    assert_allclose(found, apart[[0, 1, 1, 2, 2, 2]] / np.array([1, 2, 2, 3, 3, 3]), atol=ALGEBRA)


def test_among_several_maxima_the_analytic_centre_is_returned():
    # Null vectors of the transposed circulant alternate in sign, so that sum_i z_i / theta_i = 0 at the centre.
    counts = 1e6 * (np.array([0.3, 0.1, 0.2, 0.1, 0.2, 0.1]) @ circulant(6, 2))
    found = maximum_likelihood(circulant(6, 2), counts).frequencies
    assert_allclose(found @ circulant(6, 2), counts / 1e6, atol=ALGEBRA)
    assert abs(((-1.0) ** np.arange(6) / found).sum()) <= 1e-9


def test_a_tie_that_only_these_reports_leave_is_centred_too():
    # The second and the third output would tell the inputs apart, but they were not reported.
    found = maximum_likelihood(np.array([[0.5, 0.5, 0], [0.5, 0, 0.5], [0.4, 0.3, 0.3]]), np.array([10.0, 0, 0]))
    assert_allclose(found.frequencies, [0.5, 0.5, 0], atol=ALGEBRA)


def test_the_order_of_labels_does_not_matter():
    rng = np.random.default_rng(3)
    for _ in range(60):
        matrix = random_mechanism(rng, 7, int(rng.integers(2, 9)))[rng.integers(0, 7, 7)]
        counts = rng.multinomial(10 ** rng.integers(1, 9), rng.dirichlet(np.full(7, 0.3)) @ matrix).astype(float)
        rows, columns = rng.permutation(7), rng.permutation(counts.size)
        found = maximum_likelihood(matrix, counts).frequencies
        again = maximum_likelihood(matrix[rows][:, columns], counts[columns]).frequencies
        assert_allclose(again, found[rows], atol=1e-9)


def test_a_category_without_expected_records_has_frequency_exactly_0():
    found = maximum_likelihood(randomized_response(4, 4.0), np.array([800.0, 100, 60, 40])).frequencies
    assert found[1:].tolist() == [0, 0, 0]
