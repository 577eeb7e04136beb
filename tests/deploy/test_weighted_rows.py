"""Weighted rows of many groups at once, against sums over outputs and singular values of each group."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mechdesign.deploy import weighted_rows
from mechdesign.deploy.fit import leverages
from mechdesign.deploy.weighted_rows import WeightedRows

RNG = np.random.default_rng(0)
MATRIX = RNG.dirichlet(np.ones(9), 4)
WEIGHTS = RNG.lognormal(0, 2, size=(5, 9))


@pytest.fixture(params=["products of rows", "a matrix that is too large for them", "a matrix for each group"])
def rows(request, monkeypatch):
    if request.param.startswith("a matrix that"):
        monkeypatch.setattr(weighted_rows, "_MOST_PRODUCTS", 9)
    return WeightedRows.of(np.repeat(MATRIX[None], 5, axis=0) if request.param.endswith("group") else MATRIX)


def test_products_and_forms_are_sums_over_outputs(rows):
    assert_allclose(rows.products(WEIGHTS), [MATRIX @ np.diag(each) @ MATRIX.T for each in WEIGHTS], rtol=1e-13)
    symmetric = RNG.normal(size=(5, 4, 4))
    symmetric += symmetric.swapaxes(1, 2)
    assert_allclose(rows.forms(symmetric), [np.diag(MATRIX.T @ each @ MATRIX) for each in symmetric], atol=1e-13)


def test_inverses_are_those_of_the_rows_that_are_used(rows):
    used = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 0]], dtype=bool)
    inverses, certain = rows.inverses(WEIGHTS, used)
    assert certain.all()
    for inverse, own, weights in zip(inverses, used, WEIGHTS, strict=True):
        some = MATRIX[own]
        assert_allclose(inverse[np.ix_(own, own)], np.linalg.inv((some * weights) @ some.T), rtol=1e-8)
        assert not inverse[~own].any()
        assert not inverse[:, ~own].any()


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-6])
def test_rows_that_hardly_differ_are_not_certain_to_be_independent(apart):
    matrix = np.array([[0.5, 0.3, 0.2], [0.5, 0.3 - apart, 0.2 + apart], [0.1, 0.1, 0.8]])
    used = np.array([[True, True, True], [True, False, True], [False, False, True]])
    certain = WeightedRows.of(matrix).inverses(np.ones((3, 3)), used)[1]
    assert certain.tolist() == [False, True, True]


def test_a_group_whose_rows_weigh_nothing_does_not_stop_the_others():
    certain = WeightedRows.of(MATRIX).inverses(np.stack([np.zeros(9), np.ones(9)]), np.ones((2, 4), dtype=bool))[1]
    assert not certain[0]


@pytest.mark.parametrize("dependent", [False, True])
def test_what_mixtures_can_fit_is_the_projection_to_the_rows(dependent):
    matrix = np.vstack([MATRIX, MATRIX[:2].mean(axis=0)]) if dependent else MATRIX
    used = np.ones((5, len(matrix)), dtype=bool)
    used[1, 0] = False  # without the first row none depends on the others
    cells = np.ones((5, 9), dtype=bool)
    cells[2, 3] = False
    shares, ranks = leverages(WeightedRows.of(matrix), used, WEIGHTS, cells)
    assert ranks.tolist() == [4, 4 if dependent else 3, 4, 4, 4]
    for group in range(5):
        scaled = matrix[used[group]] * np.where(cells[group], WEIGHTS[group] ** -0.5, 0.0)
        assert_allclose(shares[group], np.diag(np.linalg.pinv(scaled, rcond=1e-8) @ scaled), atol=1e-8)
