"""Variances of single queries, against the inverse of the information and the estimation error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.utility.query_variances import variances_of_covariance, variances_of_matrix


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_variances_are_those_of_the_inverse_information(N, q, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(N + 2), size=N)
    prior, W = rng.dirichlet(np.ones(N)), rng.normal(size=(q, N))
    J = (matrix / (prior @ matrix)) @ matrix.T
    covariance = np.linalg.inv(J) - np.outer(prior, prior)
    found = variances_of_matrix(matrix, prior, W)
    scale = np.abs(np.linalg.inv(J)).max() * (np.abs(W) ** 2).sum()
    np.testing.assert_allclose(found, np.diag(W @ covariance @ W.T), atol=1e-9 * scale, rtol=1e-7)
    np.testing.assert_allclose(variances_of_covariance(covariance, W), found, atol=1e-9 * scale, rtol=1e-7)
    total = variances_of_matrix(matrix, prior, np.eye(N)).sum()
    assert total == pytest.approx(md.EstimationError().value(matrix, prior), rel=1e-9, abs=1e-9 * scale)


def test_a_query_that_is_not_determined_is_infinite_and_the_others_are_not():
    matrix = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.1, 0.6, 0.3]])
    prior = np.array([0.4, 0.3, 0.3])
    W = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, -1]])
    found = variances_of_matrix(matrix, prior, W)
    assert np.isinf(found).tolist() == [False, True, False, True]
    merged = variances_of_matrix(matrix[:2], np.array([0.4, 0.6]), np.eye(2))
    np.testing.assert_allclose(found[[0, 2]], merged)


def test_outputs_of_probability_0_do_not_count():
    matrix = np.array([[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]])
    prior = np.array([0.5, 0.5])
    np.testing.assert_allclose(
        variances_of_matrix(matrix, prior, np.eye(2)), variances_of_matrix(matrix[:, :2], prior, np.eye(2))
    )
