"""What a cap for everyone costs."""

from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.comparison import price_caps
from mechdesign.comparison.cap_prices import price_of_careful_cap
from mechdesign.errors import InputError, SolverError

PROBLEMS = Path(__file__).parents[2] / "problems"
KNOWN = md.L1Ball.from_counts({"a": 40, "b": 30, "c": 20, "d": 10}, radius="0.1")


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.EstimationError()], ids=lambda utility: utility.name)
def test_each_price_is_that_of_a_design_with_the_cap(utility):
    problem = md.DesignProblem(KNOWN, 1, utility)
    prices = price_caps(problem)
    assert [str(each.problem.cap) for each in prices.designs] == ["1", "1.5", "2", "3", "4"]
    alone = md.design(md.DesignProblem(KNOWN, 1, utility, cap=2))
    assert prices.designs[2].value == alone.value
    costs = [prices.cost(each) for each in prices.designs]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] > 0
    ratio = alone.value / prices.without.value
    assert costs[2] == pytest.approx(ratio - 1 if utility.minimised else 1 - ratio)
    ldp = md.design(md.DesignProblem(md.L1Ball(KNOWN.center, 2), 1, utility))
    assert prices.designs[0].value == pytest.approx(ldp.value, rel=1e-6)


def test_a_design_at_hand_is_not_made_again():
    problem = md.DesignProblem(KNOWN, 1)
    made, steps = md.design(problem), []
    assert price_caps(problem, ["log(9)"], without=made, progress=steps.append).without is made
    assert not any("without one" in step for step in steps)


@pytest.mark.parametrize(
    ("code", "sides", "caps"),
    [
        ("conflicting-arguments", {"cap": 2}, None),
        ("conflicting-arguments", {"lower": 2}, None),
        ("wrong-size", {}, []),
        ("epsilon-out-of-range", {}, ["x"]),
        ("conflicting-arguments", {}, [2, 3, "2.0"]),
    ],
)
def test_caps_that_cannot_be_tried_are_refused(code, sides, caps):
    with pytest.raises(InputError) as refused:
        price_caps(md.DesignProblem(KNOWN, 1, **sides), caps)
    assert refused.value.code == code


def test_a_distortion_loses_what_it_grows_and_a_value_of_0_nothing():
    distortion = md.DesignProblem(KNOWN, 1, md.utility.ExpectedDistortion(1 - np.eye(4)))
    prices = price_caps(distortion, [2])
    assert prices.cost(prices.designs[0]) == pytest.approx(prices.designs[0].value / prices.without.value - 1)
    assert prices.cost(prices.designs[0]) > 0
    nothing = price_caps(md.DesignProblem(KNOWN, 0), [1])
    assert nothing.cost(nothing.designs[0]) == 0


def test_a_careful_cap_is_priced_where_it_applies():
    prices = price_of_careful_cap(md.design(md.DesignProblem(KNOWN, "0.5")))
    assert [str(each.problem.cap) for each in prices.designs] == ["3.5"]
    for problem in (
        md.DesignProblem(KNOWN, 1, lower=2),
        md.DesignProblem(KNOWN, 1, cap=2),
        md.DesignProblem(KNOWN, 0),
        md.DesignProblem(md.L1Ball(KNOWN.center, 2), 1),
        md.DesignProblem(md.L1Ball.from_counts([3] * 17, known=True), 1),
        md.DesignProblem(md.L1Ball(["0.4", "0.3", "0.3"], "0.1", within_simplex=False), 1),
    ):
        assert price_of_careful_cap(md.design(problem)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["education", "race", "relationship", "workclass"])
def test_a_careful_cap_costs_designs_for_frequencies_some_5_percent(name):
    prices = price_of_careful_cap(md.design(md.read_problem(PROBLEMS / f"adult-{name}-frequencies.toml").problem))
    assert 0.042 < prices.cost(prices.designs[0]) < 0.051


def test_a_solver_that_fails_with_a_cap_does_not_take_the_design_away(monkeypatch):
    solved = md.design(md.DesignProblem(KNOWN, "0.5"))

    def failing(*_, **__):
        raise SolverError.solver_failed("no solution")

    monkeypatch.setattr("mechdesign.comparison.cap_prices.design", failing)
    assert price_of_careful_cap(solved) is None
