"""What a cap for everyone costs."""

import pytest

import mechdesign as md
from mechdesign.comparison import price_caps
from mechdesign.errors import InputError

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
    ],
)
def test_caps_that_cannot_be_tried_are_refused(code, sides, caps):
    with pytest.raises(InputError) as refused:
        price_caps(md.DesignProblem(KNOWN, 1, **sides), caps)
    assert refused.value.code == code
