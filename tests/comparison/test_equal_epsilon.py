"""The epsilon at which LDP has the error of a design, against the closed form for two symbols and designs beside it."""

import math

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.comparison import equal_local_epsilon


def designed(known, epsilon):
    return md.design(md.DesignProblem(known, epsilon, md.EstimationError()))


@pytest.mark.parametrize("epsilon", ["log(6/5)", "1/2"])
def test_with_two_symbols_it_is_that_of_randomized_response(epsilon):
    """Warner's error at p is 2 (p (1 - p) + a (1 - a) / (2 a - 1)^2), with a = e^epsilon / (1 + e^epsilon)."""
    design = designed(md.L1Ball([0.5, 0.5]), epsilon)
    steps = np.arange(1, 2001) / 100
    a = 1 / (1 + np.exp(-steps))
    errors = 2 * (0.25 + a * (1 - a) / (2 * a - 1) ** 2)
    assert equal_local_epsilon(design) == steps[np.argmax(errors <= design.value * (1 + 1e-9))]


def test_designs_beside_it_have_more_and_at_most_the_error():
    ball = md.L1Ball.from_counts([420, 310, 180, 90], delta="1e-9")
    design = designed(ball, 1)
    found, everyone = equal_local_epsilon(design), md.L1Ball.from_counts([420, 310, 180, 90], radius=2)
    assert found > 1
    assert designed(everyone, f"{found:.2f}").value <= design.value * (1 + 1e-6)
    assert designed(everyone, f"{found - 0.01:.2f}").bound > design.value


def test_a_promise_to_everyone_has_its_own_epsilon_and_certainty_none():
    assert equal_local_epsilon(designed(md.L1Ball([0.5, 0.3, 0.2], radius=2), 1)) == 1.0
    assert math.ceil(100 * math.log(3)) / 100 == equal_local_epsilon(
        designed(md.L1Ball([0.6, 0.4], radius=2), "log(3)")
    )
    assert equal_local_epsilon(designed(md.L1Ball([0.5, 0.5]), 1)) is None  # the report is the answer


def test_it_is_about_errors_alone():
    with raises("wrong-objective", "mutual-information"):
        equal_local_epsilon(md.design(md.DesignProblem(md.L1Ball([0.5, 0.5]), 1)))
