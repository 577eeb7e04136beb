"""Pictures of plans: the equations of ED, and values far from the usual ones."""

import math

import pytest

from mechdesign.planning import plan
from mechdesign.plot.drawing import picture
from mechdesign.plot.trade_off import draw, trade_off


def test_the_picture_shows_the_equations_and_the_plan():
    found = plan(20, epsilon="log(5)", guaranteed=2, delta="1e-5", bound="weissman")
    drawn = trade_off(found)
    for curve, size in zip(drawn.failure, (759, 1518, 3035, 6070, 12140), strict=True):
        assert curve.label == f"n = {size:,}"
        for x, y in list(zip(curve.x, curve.y, strict=True))[::20]:
            step = math.exp(-found.epsilon) - math.exp(-x)
            assert y == pytest.approx(min(1.0, (2**20 - 2) * math.exp(-2 * size * step**2)), rel=1e-9)
    for curve in drawn.leakage:
        for x, y in list(zip(curve.x, curve.y, strict=True))[::20]:
            radius = math.sqrt(2 / x * (math.log(2**20 - 2) - math.log(1e-5)))
            assert y == pytest.approx(curve.level - math.log(1 - radius * math.exp(curve.level) / 2), rel=1e-9)
    left, right = draw(drawn).axes
    assert left.get_yscale() == "log"
    assert [list(line.get_xydata()[0]) for line in left.lines if len(line.get_xydata()) == 1] == [[2, 1e-5]]
    assert [list(line.get_xydata()[0]) for line in right.lines if len(line.get_xydata()) == 1] == [[3035, 2]]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("categories", "given"),
    [
        pytest.param(20, {"samples": 100, "epsilon": 1.6, "delta": "1e-5"}, marks=pytest.mark.slow),
        pytest.param(20, {"samples": 100, "epsilon": 2, "guaranteed": 1}, marks=pytest.mark.slow),
        (2, {"samples": 1, "epsilon": 0, "delta": 0}),
        (2, {"samples": 10**15, "epsilon": 700, "delta": "1e-300"}),
        pytest.param(5000, {"samples": 10**14, "epsilon": 9, "guaranteed": 30}, marks=pytest.mark.slow),
        pytest.param(5000, {"samples": 10**15, "epsilon": "log(5)", "delta": "1e-300"}, marks=pytest.mark.slow),
        (3, {"epsilon": 0, "guaranteed": "0.3", "delta": 0.5}),
    ],
)
def test_extreme_plans_are_drawn_without_a_warning(categories, given):
    assert picture(draw(trade_off(plan(categories, **given))), "p.svg").startswith(b"<?xml")
