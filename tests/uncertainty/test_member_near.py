"""What is near to no distribution is the center."""

import numpy as np
import pytest

import mechdesign as md


@pytest.mark.parametrize("hopeless", [[np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, -0.5]])
@pytest.mark.parametrize("within_simplex", [True, False])
def test_what_cannot_be_scaled_to_a_distribution_gives_the_center(hopeless, within_simplex):
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.1", within_simplex=within_simplex)
    np.testing.assert_array_equal(ball.member_near(hopeless), ball.prior)


def test_a_ball_lies_within_the_simplex_unless_that_is_asked_for():
    assert md.L1Ball(["0.5", "0.5"], "0.1").within_simplex
    assert md.L1Ball.from_counts([1, 1], radius="0.1").within_simplex
    assert md.L1Ball.from_samples(["a", "b"], labels=["a", "b"], radius="0.1").within_simplex
