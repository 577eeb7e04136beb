"""Mechanisms of many symbols whose columns are exchanged, against closed forms and against optimised weights."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.exchange import moved, orthogonal_gaussians
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.multiplicative import sweeps
from mechdesign.utility.query_variances import variances_of_matrix


def search_for(ball, e, W):
    return ColumnSearch(ball, e, W, np.random.default_rng(0))


@pytest.mark.parametrize("radius", [0, "1/10"])
def test_sweeps_lower_the_error_of_a_true_mechanism(radius, monkeypatch):
    """The error told is that of the matrix, its rows sum to 1, and weights by interior points gain less than 3 %."""
    monkeypatch.setattr("mechdesign.optimize.estimation.column_search.MOST_COLUMNS", 360)
    ball = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius=radius)
    W, values = np.eye(30), []
    for found in search_for(ball, float(np.e), W).sweeps(None):
        values.append(found.value)
        matrix = found.columns * found.weights
        assert matrix.min() >= 0
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-11)
        np.testing.assert_allclose(variances_of_matrix(matrix, ball.prior, W).sum(), found.value, rtol=1e-9)
        if len(values) == 5:
            break
    assert min(values[1:]) < 0.98 * values[0]
    best = solve(found.columns, ball.prior, W, 1e-6).value
    assert best <= found.value * (1 + 1e-6)
    assert best >= 0.97 * found.value


def test_symbols_of_equal_mass_come_near_the_closed_form(monkeypatch):
    """200 equal symbols at exp(epsilon) = 4 have the least error ``199^2 / (200 * 3)``."""
    monkeypatch.setattr("mechdesign.optimize.estimation.column_search.MOST_COLUMNS", 4_800)
    ball, W, optimum = md.L1Ball.from_counts([5] * 200, known=True), np.eye(200), 199**2 / 600
    found = next(found for number, found in enumerate(search_for(ball, 4.0, W).sweeps(None)) if number == 2)
    assert found.columns.shape == (200, 4_800)
    assert optimum <= found.value <= 1.03 * optimum


def test_columns_that_miss_a_symbol_give_no_mechanism():
    """No weights give a row sum of 1 where all columns are 0."""
    columns = np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    oracle = search_for(md.L1Ball([0.5, 0.25, 0.25]), 2.0, np.eye(3))._oracle
    assert list(sweeps(iter([columns]), np.eye(3), oracle, np.random.default_rng(0), None)) == []


def test_groups_of_vectors_have_their_covariance():
    root = np.random.default_rng(1).standard_normal((4, 4))
    drawn = orthogonal_gaussians(root @ root.T, 3, np.random.default_rng(2))
    assert drawn.shape == (4, 12)
    for group in np.split(drawn, 3, axis=1):
        np.testing.assert_allclose(group @ group.T / 4, root @ root.T, atol=1e-10)


@pytest.mark.slow
def test_a_design_of_many_categories_is_bounded_from_both_sides():
    """Beyond 150 categories columns are exchanged, and forms are functions of the mass: both sides are close."""
    problem = md.DesignProblem(md.L1Ball.from_counts([1] * 160, known=True), "log(4)", md.EstimationError())
    design = md.design(problem)
    optimum = 159**2 / (160 * 3)
    assert design.certificate.lower_bound <= optimum * (1 + 1e-9)
    assert design.certificate.lower_bound >= 0.999 * optimum
    assert optimum * (1 - 1e-9) <= design.value <= 1.03 * optimum


@pytest.mark.parametrize("fixed", [0, 40])
def test_a_sweep_of_weighted_columns_lowers_the_error(fixed):
    """From weights by interior points on; the first columns stay, and rows sum to 1."""
    ball, W = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10"), np.eye(30)
    search = search_for(ball, float(np.e), W)
    columns = search.first()
    point = solve(columns, ball.prior, W, 1e-3)
    weights = point.weights
    others, repaired = moved(columns, weights, W, search._oracle, np.random.default_rng(0), None, fixed)
    np.testing.assert_array_equal(others[:, :fixed], columns[:, :fixed])
    assert (others != columns).any()
    np.testing.assert_allclose(others @ repaired, 1, atol=1e-11)
    errors = [variances_of_matrix(A, ball.prior, W).sum() for A in (columns * weights, others * repaired)]
    assert errors[1] < 0.999 * errors[0]


def test_columns_without_all_directions_stay():
    columns, weights = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([0.5, 0.5])
    oracle = search_for(md.L1Ball([0.5, 0.25, 0.25]), 2.0, np.eye(3))._oracle
    found = moved(columns, weights, np.eye(3), oracle, np.random.default_rng(0), None)
    assert found == (columns, weights)
