"""Bounds of quadratic forms around vectors, against rationals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mechdesign.numerics.quadratic_form import QuadraticForm


def exact(theta, x):
    return sum(x[i] * theta[i][j] * x[j] for i in range(len(x)) for j in range(len(x)))


@pytest.mark.combined
@pytest.mark.parametrize("slack", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_no_vector_within_the_slack_is_above_the_bound(slack, dense, seed):
    rng = np.random.default_rng(seed)
    N = 3
    A = rng.normal(size=(N, N))
    form = QuadraticForm.of_matrix(A + A.T) if dense else QuadraticForm(rng.normal(size=N), float(rng.normal()))
    # The exact parameters, not the rounded entries of the whole matrix.
    theta = [[Fraction(float(form.matrix[i, j])) for j in range(N)] for i in range(N)] if dense else None
    if theta is None:
        d, common = [Fraction(float(x)) for x in form.diagonal], Fraction(form.common)
        theta = [[common + (d[i] if i == j else 0) for j in range(N)] for i in range(N)]
    columns = rng.normal(size=(N, 10))
    upper = form.values_up(columns, np.full(columns.shape, slack))
    for x, bound in zip(columns.T.tolist(), upper.tolist(), strict=True):
        for signs in product((-1, 0, 1), repeat=N):
            moved = [Fraction(entry) + sign * Fraction(slack) for entry, sign in zip(x, signs, strict=True)]
            assert exact(theta, moved) <= Fraction(bound)
