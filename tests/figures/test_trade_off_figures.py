import math

import numpy as np
import pytest

from figures import figure_3a, figure_3b
from mechdesign.planning import delta_min, plan
from mechdesign.plot.drawing import DrawnCurve
from mechdesign.plot.trade_off import draw_failure, failure_curve, leakage_curve, trade_off

LOG_SUBSETS = math.log(2**20 - 2)


def written_delta(epsilon, guaranteed, samples):
    # ED eq. (39), capped at 1; nothing is promised below epsilon.
    gap = max(0.0, math.exp(-epsilon) - math.exp(-guaranteed))
    return math.exp(min(0.0, LOG_SUBSETS - 2 * samples * gap**2))


def test_figure_3a_is_equation_39():
    table = figure_3a.compute(quick=True)
    assert {row["samples"] for row in table} == set(figure_3a.SAMPLES)
    for row in table:
        # The exponent loses digits where epsilon' is next to epsilon; a bound is never below the true one.
        expected = written_delta(math.log(5), row["guaranteed_epsilon"], row["samples"])
        assert row["delta"] == pytest.approx(expected, rel=1e-9)
    assert {row["delta"] for row in table if row["guaranteed_epsilon"] == math.log(5)} == {1.0}


def test_delta_falls_with_the_guarantee_and_with_samples():
    table = figure_3a.compute(quick=True)
    curves = [[row["delta"] for row in table if row["samples"] == samples] for samples in figure_3a.SAMPLES]
    deltas = np.array(curves)
    assert (np.diff(deltas, axis=1) <= 0).all()
    assert (np.diff(deltas, axis=0) <= 0).all()
    assert (deltas[:, -1] < 1).all()
    assert ((deltas > figure_3a.FLOOR) & (deltas < 1)).any(axis=1).all()


def test_below_174_samples_every_guarantee_is_vacuous():
    assert delta_min("log(5)", 700, 173, 20, bound="weissman") == 1
    assert delta_min("log(5)", 700, 174, 20, bound="weissman") < 1


def test_figure_3b_is_equation_38_where_that_is_finite():
    table = figure_3b.compute(quick=True)
    sizes = {row["samples"] for row in table}
    for text in figure_3b.EPSILONS:
        rows = {row["samples"]: row for row in table if row["epsilon"] == text}
        for samples in sizes:
            epsilon = {"0.5": 0.5, "1": 1.0, "log(5)": math.log(5), "2.5": 2.5}[text]
            beta = math.sqrt(2 / samples * (LOG_SUBSETS - math.log(1e-5)))
            left = 1 - beta * math.exp(epsilon) / 2
            assert (samples in rows) == (left > 0)
            if samples in rows:
                assert rows[samples]["nats"] == pytest.approx(epsilon, rel=1e-15)
                assert rows[samples]["guaranteed_epsilon"] == pytest.approx(epsilon - math.log(left), rel=1e-12)


def test_the_leakage_falls_to_epsilon_with_samples():
    table = figure_3b.compute(quick=True)
    for text in figure_3b.EPSILONS:
        rows = [row for row in table if row["epsilon"] == text]
        values = np.array([row["guaranteed_epsilon"] for row in rows])
        assert (np.diff(values) < 0).all()
        assert 0 < values[-1] - rows[0]["nats"] < 0.02 * values[-1]


def test_the_two_figures_solve_the_same_equation():
    for row in figure_3b.compute(quick=True):
        if row["guaranteed_epsilon"] < 20:
            found = delta_min(row["epsilon"], row["guaranteed_epsilon"], row["samples"], 20, bound="weissman")
            assert found == pytest.approx(1e-5, rel=1e-6)


def test_axes_are_logarithmic_and_vacuous_parts_are_not_drawn():
    axis = figure_3a.draw(figure_3a.compute(quick=True)).axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("linear", "log")
    assert axis.get_ylim()[1] > 1
    assert len(axis.lines) == len(figure_3a.SAMPLES) == len({line.get_marker() for line in axis.lines})
    axis = figure_3b.draw(figure_3b.compute(quick=True)).axes[0]
    assert axis.get_xscale() == "log"
    curves = [line for line in axis.lines if line.get_linestyle() == "-"]
    levels = [line for line in axis.lines if line.get_linestyle() == "--"]
    assert len(curves) == len(levels) == len(figure_3b.EPSILONS)
    for drawn, level in zip(curves, levels, strict=True):
        assert np.isfinite(drawn.get_ydata()).all()
        assert min(drawn.get_ydata()) > level.get_ydata()[0]
        assert drawn.get_color() == level.get_color()


@pytest.mark.sampled
@pytest.mark.parametrize("bound", ["clopper-pearson", "weissman"])
def test_the_plot_of_a_plan_has_the_same_curves(bound):
    found = plan(20, samples=1_000, epsilon="log(5)", delta="1e-5", bound=bound)
    drawn = trade_off(found)
    (failure,) = [curve for curve in drawn.failure if curve.label == "n = 1,000"]
    again = failure_curve("log(5)", 1_000, 20, failure.x, bound)
    np.testing.assert_allclose(failure.y, again.y, rtol=1e-9)
    (leakage,) = [curve for curve in drawn.leakage if curve.level == found.epsilon]
    again = leakage_curve("log(5)", "1e-5", [round(x) for x in leakage.x], 20, bound)
    np.testing.assert_allclose(leakage.y, again.y, rtol=1e-9)


def test_one_curve_is_bold():
    from matplotlib.figure import Figure

    axis = Figure().subplots()
    curves = [DrawnCurve(name, [0.0, 1.0], [1.0, 0.1]) for name in ("a", "b", "c")]
    draw_failure(axis, curves, 1e-3, bold="b")
    thin, bold, other = (line.get_linewidth() for line in axis.lines)
    assert bold > thin == other
