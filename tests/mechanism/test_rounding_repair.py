"""The repair of a solver's errors before rounding: how far columns are raised."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, epsilons, random_mechanism

import mechdesign as md
from mechdesign.mechanism.rounding import _shares, round_to_integers


@given(balls(), epsilons, st.integers(0, 2**32))
def test_one_share_brings_every_column_into_the_cone(ball, epsilon, seed):
    """h is concave, so that a share that is right to first order is enough; more than all of a column is not needed."""
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 4)
    matrix = matrix[:, matrix.any(axis=0)]
    room = float(md.Epsilon.of(epsilon).exp_down - 1)
    shares, targets = _shares(matrix, ball.exact_set, room)
    raised = matrix + np.minimum(shares, 1.0) * (targets - matrix)
    assert (raised >= matrix - 1e-15).all()
    np.testing.assert_allclose(raised.max(axis=0), matrix.max(axis=0), rtol=1e-15)
    assert (raised.max(axis=0) <= (1 + room) * ball.exact_set.support(raised) * (1 + 1e-12)).all()


@pytest.mark.parametrize("error", [1e-9, 1e-6, 1e-4])
def test_no_more_is_raised_than_repairs_the_error_with_one_prior(error):
    """With one prior h is linear: what is too much after the repair is of second order."""
    ball = md.L1Ball(["0.5", "0.3", "0.2"])
    exp_epsilon = math.e
    rare = np.array([0.0, (1 - error) * (1 / exp_epsilon - 0.2) / 0.3, 1.0])
    matrix = np.stack([1 - rare, rare], axis=1)
    shares, targets = _shares(matrix, ball.exact_set, exp_epsilon - 1)
    raised = matrix + shares * (targets - matrix)
    excess = exp_epsilon * ball.exact_set.support(raised) - raised.max(axis=0)
    assert -1e-15 < excess[1] < 10 * error**2 + 1e-13
    assert shares[0] < 1e-14  # nothing to repair


def test_zeros_stay_where_the_support_has_slack_and_go_elsewhere():
    ball = md.L1Ball(["0.5", "0.3", "0.2"])
    matrix = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    _, targets = _shares(matrix, ball.exact_set, math.e - 1)
    np.testing.assert_array_equal(targets, [[1, 0], [1, 1], [0, 1]])
    _, targets = _shares(matrix, ball.exact_set, 0.5)  # 1.5 times 0.5 of the last two is less than 1
    np.testing.assert_array_equal(targets, [[1, 1], [1, 1], [0, 1]])


def test_the_nearest_integers_are_taken_where_they_keep_the_promise():
    matrix = np.array([[2 / 3, 1 / 3], [0.5, 0.5], [0.25, 0.75]])
    ball = md.L1Ball(["0.5", "0.25", "0.25"], "0.01")
    numerators = round_to_integers(matrix, 10, md.Guarantee(md.Epsilon.of(1), ball))
    np.testing.assert_array_equal(numerators, [[683, 341], [512, 512], [256, 768]])
    # Just private as a matrix, and no longer when rounded to nearest: the greatest is rounded down.
    known = md.L1Ball(["0.5", "0.5"])
    symmetric = np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    numerators = round_to_integers(symmetric, 10, md.Guarantee(md.Epsilon.of("log(4/3)"), known))
    np.testing.assert_array_equal(numerators, [[682, 342], [342, 682]])
