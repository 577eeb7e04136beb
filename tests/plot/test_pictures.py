"""Pictures show the numbers of the objects, fit what is drawn, and leave matplotlib as it was."""

import io
import subprocess
import sys
from functools import cache
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from refusals import raises

import mechdesign as md
from mechdesign.plot.drawing import ENDINGS, STYLES, picture, size_for, text_of
from mechdesign.plot.leakages import mechanism_figure

HOSTILE = ["$\\frac{", "<script>", "a" * 80, "b\u202ec", "$x$ & y%"]


@cache
def randomized(size, hostile=False):
    labels = (HOSTILE + [f"label {i}" for i in range(size)])[:size] if hostile else [f"label {i}" for i in range(size)]
    promise = md.Guarantee("log(3)", md.L1Ball([f"1/{size}"] * size, radius=2, labels=labels))
    matrix = np.full((size, size), 1 / (size + 2)) + np.diag(np.full(size, 2 / (size + 2)))
    return md.Mechanism.from_matrix(matrix, promise, outputs=labels)


@cache
def designed():
    ball = md.L1Ball.from_counts({"never": 812, "former": 150, "current": 38}, delta=1e-9)
    return md.design(md.DesignProblem(ball, 1))


@cache
def estimated(size):
    mechanism = randomized(size)
    return md.estimate_frequencies(dict.fromkeys(mechanism.outputs, 50), mechanism)


def drawn():
    """Every picture once, on axes that are given and on its own."""
    mechanism = designed().mechanism
    found = md.deploy.audit(mechanism, 1000, rng=np.random.default_rng(1))
    problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError())
    plan = md.plan_reports(problem, standard_error=0.01)
    return {
        "matrix": lambda axes: md.plot.matrix(mechanism, axes),
        "guesses": lambda axes: md.plot.guesses(mechanism, axes),
        "leakage": lambda axes: md.plot.leakage(mechanism, axes),
        "audit": lambda axes: md.plot.audit(found, mechanism, axes),
        "comparison": lambda axes: md.plot.comparison(md.compare(designed()), axes),
        "values": lambda axes: md.plot.values([designed()], axes),
        "frequencies": lambda axes: md.plot.frequencies(md.estimate_frequencies([0] * 6 + [1] * 4, mechanism), axes),
        "errors": lambda axes: md.plot.errors(plan, axes),
    }


def test_every_picture_takes_axes_and_makes_its_own():
    before = dict(matplotlib.rcParams)
    backend = matplotlib.rcParams._get("backend")
    pictures = drawn()
    assert set(pictures) <= set(md.plot.__all__)
    for name, draw in pictures.items():
        given = Figure().subplots()
        assert draw(given) is given, name
        own = draw(None)
        assert isinstance(own.figure, Figure)
        assert own.get_xlabel(), name
        assert own.get_title(), name
        own.figure.savefig(io.BytesIO(), format="svg")
    assert dict(matplotlib.rcParams) == before
    assert matplotlib.rcParams._get("backend") is backend


@pytest.mark.slow
def test_pyplot_is_not_imported():
    code = (
        "import sys, mechdesign as md; p = md.Guarantee('log(3)', md.L1Ball([0.5, 0.5], 2)); "
        "m = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], p); md.plot.matrix(m); md.plot.leakage(m); "
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.sampled
@pytest.mark.parametrize("size", [3, 16, *(pytest.param(size, marks=pytest.mark.slow) for size in (42, 100))])
def test_all_labels_are_there_and_no_two_overlap(size):
    for axes in (
        md.plot.matrix(randomized(size)),
        md.plot.frequencies(estimated(size)),
        md.plot.leakage(randomized(size)),
    ):
        axes.figure.draw_without_rendering()
        ticks = axes.get_yticklabels() if axes.get_ylabel() == "category" else axes.get_xticklabels()
        assert [tick.get_text() for tick in ticks] == [f"label {i}" for i in range(size)]
        boxes = [tick.get_window_extent() for tick in ticks]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))
        whole = axes.figure.bbox
        assert all(
            whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes
        )


def test_labels_that_find_no_room_are_left_out_and_the_axis_says_so():
    axes = md.plot.matrix(randomized(100), Figure(figsize=(4, 3)).subplots())
    assert "1 in " in axes.get_ylabel()
    assert len(axes.get_yticklabels()) < 50
    axes.figure.draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in axes.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_a_matrix_marks_exactly_its_zeros():
    mechanism = designed().mechanism
    axes = md.plot.matrix(mechanism)
    (image,) = axes.images
    np.testing.assert_array_equal(np.ma.getmaskarray(image.get_array()), mechanism.matrix == 0)
    np.testing.assert_array_equal(image.get_array().filled(0), mechanism.matrix)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("report", "category")
    marked = {tuple(map(int, place)) for group in axes.collections for place in group.get_offsets()}
    assert {(j, i) for i, j in np.argwhere(mechanism.matrix == 0)} <= marked
    numbers = [text.get_text() for text in axes.texts]
    assert numbers == [f"{value:.3f}" for value in mechanism.matrix.ravel() if value > 0]
    assert "white is exactly 0" in axes.get_title()
    assert "no zeros" in md.plot.matrix(randomized(3)).get_title()
    shades = image.get_cmap()
    assert shades.get_bad().tolist() == [1, 1, 1, 1]
    assert tuple(shades(0)) != (1, 1, 1, 1)


def test_bars_are_the_proved_leakage_and_dots_that_at_the_estimate():
    mechanism = designed().mechanism
    axes = md.plot.leakage(mechanism)
    assert [bar.get_height() for bar in axes.patches] == list(mechanism.proof.leakages)
    (dots,) = [line for line in axes.lines if line.get_label() == "at the estimate"]
    prior = mechanism.guarantee.uncertainty.prior
    np.testing.assert_array_equal(dots.get_ydata(), md.leakage(mechanism.matrix, prior))


def test_dots_are_the_leakage_about_a_secret_where_the_promise_is_about_one():
    """A known joint distribution has no other prior, so that dots and bars are the same numbers."""
    known = md.SecretPromise([[30, 10, 10], [10, 20, 20]], secret="s", useful="u", known=True)
    mechanism = md.design(md.DesignProblem(known, "0.2", md.HammingAccuracy())).mechanism
    axes = md.plot.leakage(mechanism)
    (dots,) = [line for line in axes.lines if line.get_label() == "at the estimate"]
    assert dots.get_ydata() == pytest.approx([bar.get_height() for bar in axes.patches], abs=1e-12)
    assert axes.get_title().startswith("Leakage of s alone")


def test_two_sided_leakage_has_both_sides():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2), "log(2)")
    mechanism = md.Mechanism.from_matrix([[0.6, 0.4], [0.4, 0.6]], promise)
    lines = {line.get_label(): line for line in md.plot.leakage(mechanism).lines}
    assert list(lines["from below, proved"].get_ydata()) == list(mechanism.proof.lower_leakages)
    assert "lower = 0.693147 nats" in lines


def test_intervals_and_estimates_are_those_of_the_estimate():
    found = md.estimate_frequencies([0] * 600 + [1] * 400, designed().mechanism)
    axes = md.plot.frequencies(found, truth={"never": 0.8})
    ends = np.sort([segment[:, 0] for group in axes.collections for segment in group.get_segments()], axis=0)
    np.testing.assert_allclose(ends, np.sort(found.intervals, axis=0))
    labels = [line.get_label() for line in axes.lines]
    assert labels == ["estimate", "not identifiable", "truth"]


def test_a_mechanism_that_breaks_the_promise_is_marked():
    both = md.compare(designed(), mechanisms={"theirs": np.eye(3)})
    axes = md.plot.comparison(both)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[0] == "this design"
    assert names[-1] == "theirs\n(does NOT keep the promise)"
    assert [bar.get_width() for bar in axes.patches] == [row.value for row in both.rows]


def test_an_infinite_error_is_the_longest_bar_and_less_is_said_to_be_better():
    problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError())
    axes = md.plot.comparison(md.compare(problem, mechanisms={"constant": np.full((3, 2), 0.5)}))
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[-1] == max(widths) > axes.get_xlim()[1]
    assert all(0 < width < axes.get_xlim()[1] for width in widths[:-1])
    assert axes.texts[-1].get_text().startswith("infinite")
    assert axes.get_xlabel().endswith("less is better")


def test_equal_bars_give_way_to_what_each_report_tells():
    ball = md.L1Ball.from_counts({f"x{i}": 40 - i for i in range(8)}, radius="0.1")
    mechanism = md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism
    assert len(mechanism.outputs) > 12
    assert np.ptp(mechanism.proof.leakages) < 1e-3
    axes = md.plot.leakage(mechanism)
    assert f"All {len(mechanism.outputs)} reports leak 1 nats" in axes.get_title()
    prior, shown = ball.prior, axes.images[0].get_array()
    after = prior[:, None] * mechanism.matrix / (prior @ mechanism.matrix)
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), mechanism.matrix == 0)
    np.testing.assert_allclose(
        shown.filled(0), np.where(after > 0, np.log(np.maximum(after, 1e-300) / prior[:, None]), 0)
    )
    assert mechanism_figure(mechanism).axes[1].images


def test_guesses_about_a_secret_are_those_of_its_values():
    known = md.SecretPromise([[30, 10, 10], [10, 20, 20]], secret="s", useful="u", known=True)
    mechanism = md.design(md.DesignProblem(known, "0.2", md.HammingAccuracy())).mechanism
    axes = md.plot.guesses(mechanism)
    assert axes.get_ylabel() == "s"
    lifts = known.protected.likelihoods(mechanism.matrix) / (ball_of(known) @ mechanism.matrix)
    np.testing.assert_allclose(axes.images[0].get_array(), np.log(lifts))


def ball_of(known):
    """The distribution of the reported column."""
    joint = np.array([[30, 10, 10], [10, 20, 20]])
    return joint.sum(axis=0) / joint.sum()


def test_of_a_large_matrix_the_most_frequent_are_drawn_and_the_title_says_so():
    size = 120
    promise = md.Guarantee("log(3)", md.L1Ball([f"{2 * i + 1}/{size**2}" for i in range(size)], radius=2))
    V = np.random.default_rng(1).integers(10, 15, (size, 200))
    mechanism = md.Mechanism.repaired(V / V.sum(axis=1, keepdims=True), promise).mechanism
    axes = md.plot.matrix(mechanism)
    assert axes.images[0].get_array().shape == (40, 60)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(mechanism.inputs[-40:])
    records = sum(2 * i + 1 for i in range(80, 120)) / size**2
    assert f"the 40 most frequent categories are drawn: {records:.0%} of the records" in axes.get_title()
    reports = np.sort(promise.uncertainty.prior @ mechanism.matrix)[-60:].sum()
    assert f"the 60 most frequent reports are drawn: {reports:.0%} of those sent" in axes.get_title()


def test_outputs_of_a_large_matrix_that_allow_the_same_frequent_inputs_stand_together():
    size = 120
    weights = [3 * size - 2 * i for i in range(size)]
    known = md.L1Ball([f"{weight}/{sum(weights)}" for weight in weights])
    V = np.random.default_rng(1).random((size, 200)) < 0.6
    mechanism = md.Mechanism.repaired(V / V.sum(axis=1, keepdims=True), md.Guarantee("log(4)", known)).mechanism
    axes = md.plot.matrix(mechanism)
    shown = axes.images[0].get_array()
    allowed = (~np.ma.getmaskarray(shown)).T.tolist()  # the most frequent input is the first row
    assert allowed == sorted(allowed, reverse=True)
    assert 0 < sum(column[0] for column in allowed) < 60
    names = [tick.get_text() for tick in axes.get_xticklabels() if tick.get_text()]
    columns = [mechanism.matrix[:40, mechanism.outputs.index(name)] for name in names]
    np.testing.assert_array_equal([(column > 0).tolist() for column in columns], allowed)


def test_lines_of_an_audit_reach_to_what_its_limits_leave_open():
    mechanism = designed().mechanism
    found = md.deploy.audit(mechanism, 3000, rng=np.random.default_rng(1))
    axes = md.plot.audit(found, mechanism)
    (lines,) = [each for each in axes.collections if each.get_label() == "left open by the reports"]
    rng, known = np.random.default_rng(2), mechanism.guarantee.uncertainty
    for (x, low), (_, high) in lines.get_segments():
        assert low == found.bounds[int(x)] <= mechanism.proof.leakages[int(x)] <= high
        for _ in range(200):  # no matrix within the limits leaks more
            column = rng.uniform(found.lower[:, int(x)], found.upper[:, int(x)])
            assert np.log(column.max() / known.support(column[:, None])[0]) <= high + 1e-9


def test_marks_of_curves_that_coincide_are_rings_around_each_other():
    axes = md.plot.values({"one": [designed()], "two": [designed()], "three": [designed()]})
    sizes = [line.get_markersize() for line in axes.lines]
    assert sizes == sorted(set(sizes))
    assert [line.get_markerfacecolor() for line in axes.lines[1:]] == ["none", "none"]


def test_marks_of_mechanisms_with_the_same_error_are_rings_around_each_other():
    """With two categories the best LDP mechanism is randomized response."""
    plan = md.plan_reports(md.DesignProblem(md.L1Ball([0.5, 0.5], radius=2), 1, md.EstimationError()), reports=1000)
    lines = [line for line in md.plot.errors(plan).lines if len(line.get_xdata()) > 2]
    assert np.isclose([line.get_ydata()[0] for line in lines], lines[0].get_ydata()[0]).sum() > 1
    sizes = [line.get_markersize() for line in lines]
    assert len(set(sizes)) == len(sizes) > 2


@pytest.mark.parametrize("draw", [md.plot.guesses, md.plot.leakage, md.plot.matrix])
@pytest.mark.parametrize("size", [2, 120])
def test_titles_stay_within_their_figure(draw, size):
    rows = np.full((size, 2), 0.5) + np.linspace(-0.2, 0.2, size)[:, None] * [1, -1]
    promise = md.Guarantee("log(4)", md.L1Ball([f"1/{size}"] * size, radius=2, labels=[f"x{i}" for i in range(size)]))
    axes = draw(md.Mechanism.repaired(rows, promise).mechanism)
    axes.figure.draw_without_rendering()
    box, whole = axes.title.get_window_extent(), axes.figure.bbox
    assert whole.x0 <= box.x0
    assert box.x1 <= whole.x1


def test_curves_of_values_are_sorted_and_named():
    ball = designed().problem.uncertainty
    designs = [md.design(md.DesignProblem(ball, epsilon)) for epsilon in (1, "0.5")]
    axes = md.plot.values({"one": designs, "two": designs[:1]})
    assert list(axes.lines[0].get_xdata()) == [0.5, 1]
    assert list(axes.lines[0].get_ydata()) == [designs[1].value, designs[0].value]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    with raises("wrong-objective", "0"):
        md.plot.values([])
    with raises("wrong-type", "a Design"):
        md.plot.values([1])
    other = md.design(md.DesignProblem(ball, 1, md.TotalVariation()))
    with raises("wrong-objective", "2"):
        md.plot.values([*designs, other])


@pytest.mark.parametrize(
    ("draw", "part"),
    [
        (md.plot.comparison, "what comparison draws is Mechanism(.*give a Comparison"),
        (md.plot.errors, "what errors draws is .*give a ReportPlan"),
        (lambda mechanism: md.plot.audit(mechanism, mechanism), "what audit draws is .*give an Audit"),
        (md.plot.values, "what values draws is .*give a list of designs"),
        (lambda mechanism: md.plot.values({"one": mechanism}), "what values draws is .*give a list of designs"),
        (lambda mechanism: md.plot.matrix(mechanism, "axes"), "axes is 'axes'; give axes of matplotlib"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw, part):
    with raises("wrong-type", match=part.replace("(", r"\(")) as caught:
        draw(randomized(3))
    assert "\n" not in str(caught.value)


def test_the_error_falls_as_the_root_of_reports():
    problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError())
    plan = md.plan_reports(problem, standard_error=0.01)
    axes = md.plot.errors(plan)
    for line, row in zip(axes.lines, plan.mechanisms, strict=False):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        np.testing.assert_allclose(y**2 * x, row.largest)
    assert "standard error 0.01" in [line.get_label() for line in axes.lines]


def test_an_audit_that_fails_says_so():
    mechanism = designed().mechanism
    counts = np.full(mechanism.numerators.shape, 100_000)
    found = md.deploy.audit_counts(mechanism, counts)
    assert md.plot.audit(found, mechanism).get_title().startswith("The reports do NOT fit the mechanism")


@pytest.mark.slow
def test_hostile_labels_are_drawn_as_they_are():
    mechanism = randomized(5, hostile=True)
    for ending in ENDINGS:
        assert picture(mechanism_figure(mechanism), "x" + ending)
    content = picture(md.plot.frequencies(estimated_hostile()).figure, "x.svg").decode()
    assert "<script>" not in content


def estimated_hostile():
    mechanism = randomized(5, hostile=True)
    return md.estimate_frequencies(dict.fromkeys(mechanism.outputs, 50), mechanism)


def test_letters_that_fonts_lack_do_not_stop_a_picture():
    ball = md.L1Ball([0.5, 0.5], radius=2, labels=["是", "否"])
    mechanism = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], md.Guarantee("log(3)", ball))
    assert picture(md.plot.matrix(mechanism).figure, "x.png")


def test_texts_and_sizes():
    assert text_of("a" * 100, 60).count("a") == 57
    assert len(text_of("x" * 28)) == 28
    assert [size_for(n) for n in (1, 3, 100)] == sorted(size_for(n) for n in (1, 3, 100))
    assert randomized(100).matrix.shape == (100, 100)
    assert md.plot.matrix(randomized(100)).figure.get_size_inches().max() <= 17


def test_colours_differ_in_lightness_and_are_those_for_the_colour_blind():
    colors = [style["color"] for style in STYLES]
    assert colors == ["#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7"]
    assert len({style["marker"] for style in STYLES}) == len(STYLES)
    from matplotlib import colormaps

    shades = colormaps["Blues"](np.linspace(0, 1, 64))[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(shades) < 0).all()
