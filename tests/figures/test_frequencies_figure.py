import pytest

import mechdesign as md
from figures import frequencies
from figures.lib.adult import adult_problem
from figures.lib.style import WEAKER


def test_estimates_are_near_the_truth_and_the_least_error_has_the_shortest_intervals():
    table = frequencies.compute(quick=True)
    widths = {}
    for name in frequencies.NAMES:
        rows = [row for row in table if row["mechanism"] == name]
        assert abs(sum(row["estimate"] for row in rows) - 1) < 1e-9
        for row in rows:
            assert row["lower"] <= row["estimate"] <= row["upper"]
            # The seed is fixed. Twice the interval is passed once in ten thousand.
            assert abs(row["true"] - row["estimate"]) <= 2 * (row["upper"] - row["lower"])
        widths[name] = sum(row["upper"] - row["lower"] for row in rows)
    least, informative, randomized = (widths[name] for name in frequencies.NAMES)
    assert least < informative < randomized
    figure = frequencies.draw(table)
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert figure.axes[0].get_legend().get_title().get_text() == WEAKER
    assert set(legend) == {"true frequency", *frequencies.NAMES}
    prices = {row["cap"]: row["respondents"] for row in table if row["mechanism"] == frequencies.CAPPED}
    assert list(prices) == [float(cap) for cap in frequencies.CAPS]
    assert list(prices.values()) == sorted(prices.values(), reverse=True)
    (price,) = figure.axes[0].child_axes
    assert price.lines[0].get_ydata().tolist() == list(prices.values())


def test_the_first_cap_is_local_differential_privacy():
    """The price at a cap of epsilon is the error of the best LDP mechanism over that of the design."""
    problem = adult_problem("relationship")
    least = md.DesignProblem(problem.uncertainty, problem.epsilon, md.EstimationError())
    ldp = md.design(
        md.DesignProblem(md.L1Ball(least.uncertainty.center, radius=2), least.epsilon, md.EstimationError())
    )
    table = frequencies.compute(quick=True)
    first = next(row for row in table if row["cap"] == 1)
    assert first["respondents"] == pytest.approx(ldp.value / md.design(least).value, rel=1e-3)
