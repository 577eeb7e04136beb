"""Limits that ask nothing of a prior: local differential privacy, whatever the class of the set."""

import pytest

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

P = ["0.5", "0.3", "0.2"]
WITHOUT = [
    LowerLimits([0, 0, 0], center=P),
    Box([0, 0, 0], [1, 1, 1], center=P),
    L1Box([0, 0, 0], [1, 1, 1], 2, center=P),
    RelativeBall(P, "0.9", "0.9"),
    EventSet(P, ["0.9", 2], ["0.9", 2]),
    Box.from_counts([40, 30, 20], 0),
]
WITH = [
    LowerLimits([0, 0, "0.001"], center=P),
    Box([0, 0, 0], [1, 1, "0.999"], center=P),
    L1Box([0, 0, 0], [1, 1, 1], "1.5", center=P),
    RelativeBall(P, "0.9", "0.7"),
    EventSet(P, ["0.9", 2], ["0.7", 2]),
]


@pytest.mark.parametrize("known", WITHOUT, ids=repr)
def test_a_set_of_all_priors_is_designed_for_as_the_ball_of_radius_two(known):
    assert known.holds_every_prior
    assert all(known.exact_support([int(i != k) for i in range(3)]) == 0 for k in range(3))
    assert known.l1_ball == md.L1Ball(known.center, 2, known.labels)
    solved = md.design(md.DesignProblem(known, 1))
    assert solved.value == md.design(md.DesignProblem(known.l1_ball, 1)).value


@pytest.mark.parametrize("known", WITH, ids=repr)
def test_limits_that_have_an_effect_are_noticed(known):
    assert not known.holds_every_prior
    assert any(known.exact_support([int(i != k) for i in range(3)]) > 0 for k in range(3))
    assert known.l1_ball is None


def test_many_symbols_without_effect_are_certified():
    known = Box([0] * 17, [1] * 17, center=[f"1/{17}"] * 17)
    assert md.design(md.DesignProblem(known, 1)).certified
