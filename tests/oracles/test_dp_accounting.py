"""Leakage beside the privacy loss distributions of dp-accounting.

The privacy loss of P(y|x) against the output distribution is ``log(P(y|x) / P(y))``; the epsilon at which its
hockey-stick divergence reaches 0 is the greatest value of it, and the greatest of those over x is the leakage.
"""

import numpy as np
import pytest
from strategies import random_ball, random_mechanism

import mechdesign as md

privacy_loss = pytest.importorskip(
    "dp_accounting.pld.privacy_loss_distribution", reason='dp-accounting is not installed (pip install ".[oracles]")'
)

STEP = 1e-6
ROUNDING = 1e-12  # of a loss, before it is rounded to a multiple of STEP


def log_masses(masses):
    return {y: float(np.log(mass)) for y, mass in enumerate(masses) if mass > 0}


def epsilon_at_zero(row, outputs, *, pessimistic):
    """Return the greatest loss of ``row`` against ``outputs``, rounded up to a multiple of STEP, or down."""
    distribution = privacy_loss.from_two_probability_mass_functions(
        log_probability_mass_function_lower=log_masses(outputs),
        log_probability_mass_function_upper=log_masses(row),
        pessimistic_estimate=pessimistic,
        value_discretization_interval=STEP,
        # Otherwise losses of the outputs against the row are looked at as well, which are infinite at zeros.
        symmetric=True,
    )
    return distribution.get_epsilon_for_delta(0.0)


def bracket(matrix, prior):
    """Return the greatest loss over all inputs, rounded down and up."""
    return [max(epsilon_at_zero(row, prior @ matrix, pessimistic=up) for row in matrix) for up in (False, True)]


def assert_between(leakage, low, high):
    assert low - ROUNDING <= leakage <= high + ROUNDING
    assert high - low <= STEP * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_leakage_at_a_prior(seed):
    rng = np.random.default_rng(seed)
    matrix, prior = random_mechanism(rng, 5, 7), rng.dirichlet(np.ones(5))
    assert_between(md.epsilon_min(matrix, prior), *bracket(matrix, prior))


@pytest.mark.parametrize("radius", ["0", "0.05", "0.6", "2"])
def test_leakage_over_a_ball(radius):
    ball = random_ball(np.random.default_rng(4), 4, radius)
    mechanism = md.design(md.DesignProblem(ball, epsilon=1)).mechanism
    # The worst prior of each output is the worst of them all for one.
    priors = [ball.worst_mean(column)[1] for column in mechanism.matrix.T]
    low, high = (max(losses) for losses in zip(*(bracket(mechanism.matrix, prior) for prior in priors), strict=True))
    assert_between(mechanism.leakage, low, high)
    # And no prior of the ball has more.
    assert_between(md.epsilon_min(mechanism.matrix, ball.prior), *bracket(mechanism.matrix, ball.prior))
    assert bracket(mechanism.matrix, ball.prior)[0] <= mechanism.leakage
