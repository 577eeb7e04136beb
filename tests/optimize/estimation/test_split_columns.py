"""Only extreme rays are priced, and a column may cost more than all of them: the bound holds, as columns are split."""

import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.caps import greatest_entries
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.solver import certify_error
from mechdesign.optimize.rays import Rays

E = float(np.exp(1.5))
BALL = md.L1Ball.from_counts([99, 99, 102], radius="0.001")
RAYS = np.hstack(list(Rays(BALL, E).of_kinds("ABCD")))
D = np.array([3.142e-6, -2.165e-7, -2.388e-7])
LAMBDA = D * (greatest_entries(BALL.prior, E) - 2)


def _column() -> np.ndarray:
    column = np.array([0.0, 1.0, 1.0])
    return column / (BALL.prior @ column)


@pytest.mark.parametrize("pricing", [SeparablePricing(BALL, E), ListedForms(Rays(BALL, E))], ids=["tables", "list"])
def test_a_column_costs_more_than_every_ray_where_the_form_is_indefinite(pricing):
    form, column = QuadraticForm(D), _column()
    assert column.max() <= E * float(BALL.support(column[:, None])[0])  # the column is allowed
    cost = float(form.values((column - 1)[:, None])[0] - LAMBDA @ column)
    greatest = float((form.values(RAYS - 1) - LAMBDA @ RAYS).max())
    assert pricing.price(form, LAMBDA).upper == pytest.approx(greatest, rel=1e-9)
    assert cost > 1.3 * greatest


def test_the_bound_holds_for_a_mechanism_with_that_column():
    error = md.EstimationError()
    found = certify_error(md.DesignProblem(BALL, 1.5, error), QuadraticForm(D), LAMBDA)
    # The rays of this cone are multiples of single symbols: every column is a sum of them with these weights.
    split = np.diag(np.ones(3))
    joined = np.column_stack([split[:, 0], 0.5 * split[:, 1] + 0.5 * split[:, 2], 0.5 * split[:, 1:].sum(axis=1)])
    tilted = np.column_stack([split[:, 0], [0, 0.6, 0.5], [0, 0.4, 0.5]])
    for matrix in (joined, tilted):
        np.testing.assert_allclose(matrix.sum(axis=1), 1)
        assert md.leakage_capacity(matrix, BALL) <= 1.5
        assert error.value(matrix, BALL.prior) >= error.value(split, BALL.prior) >= found.lower_bound


def _second_moment(matrix: np.ndarray, prior: np.ndarray) -> np.ndarray:
    masses = prior @ matrix
    columns = matrix / masses - 1
    return (columns * masses) @ columns.T


def test_columns_that_are_split_have_a_greater_second_moment_and_less_error():
    rng = np.random.default_rng(0)
    for N, epsilon, radius in ((3, 1.5, "0.001"), (4, 0.5, "0.1"), (5, 2.0, "0.3")):
        ball = md.L1Ball.from_counts(rng.integers(1, 60, N).tolist(), radius=radius)
        best = md.design(md.DesignProblem(ball, epsilon, md.EstimationError()))
        split, P = best.mechanism.matrix, ball.prior
        for _ in range(5):
            joined = split @ rng.dirichlet(np.full(N + 1, 0.3), split.shape[1])
            gained = _second_moment(split, P) - _second_moment(joined, P)
            assert np.linalg.eigvalsh(gained).min() >= -1e-12
            assert md.EstimationError().value(joined, P) >= best.value * (1 - 1e-9) >= best.lower_bound * (1 - 1e-8)
