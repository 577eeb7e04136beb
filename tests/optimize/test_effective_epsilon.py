import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, random_mechanism

import mechdesign as md
from mechdesign.numerics.exact import float_up
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


@given(balls(), st.booleans(), st.sampled_from(["0.3", "2", "40"]))
def test_the_lightest_symbol_allows_as_little_as_any(ball, printed, epsilon):
    ball = ball.as_printed() if printed else ball
    problem = md.DesignProblem(ball, epsilon)
    least = min(ball.exact_support([int(i == j) for j in range(ball.size)]) for i in range(ball.size))
    exp_up = problem.epsilon.exp_up
    assert effective_exp_epsilon(problem) == float_up(min(exp_up, 1 / least) if least > 0 else exp_up)


def test_of_an_l1_ball_one_column_is_looked_at(monkeypatch):
    looked_at, support = [], md.L1Ball.exact_support
    monkeypatch.setattr(md.L1Ball, "exact_support", lambda *args: looked_at.append(args) or support(*args))
    effective_exp_epsilon(md.DesignProblem(md.L1Ball.from_counts(range(1, 50), radius="0.01"), 1))
    assert len(looked_at) == 1


def test_a_small_epsilon_is_itself():
    assert effective_exp_epsilon(md.DesignProblem(md.L1Ball(["0.5", "0.5"]), "log(3/2)")) == 1.5
