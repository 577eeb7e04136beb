import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, random_mechanism

import mechdesign as md
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon


@given(balls(), st.integers(0, 2**32))
def test_where_epsilon_no_longer_matters_every_matrix_is_private(ball, seed):
    problem = md.DesignProblem(ball, 700)
    effective = effective_exp_epsilon(problem)
    matrix = random_mechanism(np.random.default_rng(seed), ball.size, 3)
    if effective < float(problem.epsilon.exp_down):
        assert np.exp(md.leakage_capacity(matrix, ball)) <= effective * (1 + 1e-9)
        assert np.exp(md.leakage_capacity(np.eye(ball.size), ball)) == pytest.approx(effective, rel=1e-9)
    else:
        assert ball.half_radius >= min(ball.center)


def test_a_small_epsilon_is_itself():
    assert effective_exp_epsilon(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), "log(3/2)")) == 1.5
