import datetime

import numpy as np
import pytest
from matrices import mechanism_of, randomized_response
from refusals import raises

import mechdesign as md
from mechdesign.plot.drawing import picture
from mechdesign.plot.group_panels import as_date, date_column, groups
from mechdesign.plot.intervals import frequencies

DAY = datetime.date(2026, 5, 1)


def estimated(by, size=3, each=40, few=()):
    """An estimate in which each group has the same number of reports, those in few a single one."""
    mechanism = mechanism_of(randomized_response(size, 4.0))
    names = list(by)
    values = list(zip(*by.values(), strict=True))
    rows = [(k % size, *value) for value in values for k in range(1 if value[0] in few else each)]
    columns = list(zip(*rows, strict=True))
    return md.estimate_frequencies(
        list(columns[0]), mechanism, by=dict(zip(names, map(list, columns[1:]), strict=True))
    )


def texts(figure):
    return figure.get_suptitle() + " ".join(text.get_text() for legend in figure.legends for text in legend.get_texts())


def test_a_panel_for_each_group():
    found = estimated({"region": ["a", "b$x^2$", None]}, few=("a",))
    axes = groups(found)
    assert [panel.get_title() for panel in axes] == [
        "a\n1 report (few)",
        "b\\$x^2\\$\n40 reports",
        "(missing)\n40 reports",
    ]
    assert "hollow: few reports" in texts(axes[0].figure)
    drawn = axes[1].lines[1].get_xdata()
    np.testing.assert_allclose(drawn, found["b$x^2$"].frequencies)
    together = sum(one.reports * one.frequencies for _, one in found) / found.reports
    np.testing.assert_allclose(axes[0].lines[0].get_xdata(), together)
    segments = axes[1].collections[0].get_segments()
    np.testing.assert_allclose([[a[0], b[0]] for a, b in segments], found["b$x^2$"].intervals)


def test_intervals_of_all_at_once_are_thinner_and_explained():
    axes = groups(estimated({"region": ["a", "b"]}), simultaneous=True)
    assert "thinner: for all 6 at once" in texts(axes[0].figure)
    thin, thick = (lines.get_linewidth()[0] for lines in axes[0].collections)
    assert thin < thick


def test_the_truth_is_marked_where_it_is_known():
    found = estimated({"region": ["a", "b"]})
    axes = groups(found, truth={"b": {"x0": 0.25, "x2": 0.5, "other": 1}})
    marks = [line for line in axes[1].lines if line.get_label() == "truth"]
    assert [list(line.get_xdata()) for line in marks] == [[0.25, 0.5]]
    assert [list(line.get_ydata()) for line in marks] == [[0, 2]]
    assert not [line for line in axes[0].lines if line.get_label() == "truth"]
    days = estimated({"day": [DAY], "g": ["a"]})
    line = groups(days, truth={(DAY, "a"): {"x1": 0.3}})[1].lines[-1]
    assert (line.get_label(), list(line.get_ydata())) == ("truth", [0.3])
    with raises("unknown-group"):
        groups(found, truth={"c": {}})
    with raises("wrong-type"):
        groups(found, truth={"a": 0.5})


def test_series_share_a_scale_unless_told_otherwise_and_axes_begin_at_zero_only_where_there_is_room():
    mechanism = mechanism_of(randomized_response(2, 9.0))
    days = [DAY, DAY + datetime.timedelta(days=1)] * 5000
    found = md.estimate_frequencies(["y0", "y1", "y0", "y1", "y0"] * 2000, mechanism, by={"day": days})
    one, two = groups(found)
    assert one.get_ylim() == two.get_ylim()
    low = min(each.intervals.min() for _, each in found)
    assert 0.9 * low < one.get_ylim()[0] <= low
    one, two = groups(found, shared=False)
    assert one.get_ylim() != two.get_ylim()
    wide = groups(estimated({"region": ["a"]}))[0]
    assert wide.get_xlim()[0] <= 0


@pytest.mark.slow
def test_figures_of_many_panels_say_what_they_leave_out():
    axes = groups(estimated({"g": range(70)}, each=2, size=2))
    assert len(axes) == 64
    assert "64 of 70 groups: those with the most reports" in texts(axes[0].figure)
    axes = groups(estimated({"g": range(64)}, size=40, each=2))
    assert "of 40 categories: the most frequent" in texts(axes[0].figure)
    _, height = axes[0].figure.get_size_inches()
    assert height <= 25
    axes = groups(estimated({"day": [DAY], "g": ["a"]}, size=30))
    assert len(axes) == 24


def test_figures_say_what_they_leave_out():
    lines = {"day": [DAY] * 7 + [None], "g": list("abcdefgh")}
    assert "5 of 7 lines" in texts(groups(estimated(lines))[0].figure)
    assert "1 group without a date left out" in texts(groups(estimated(lines))[0].figure)


def test_dates_are_a_series_with_a_ribbon():
    days = [DAY + datetime.timedelta(days=7 * k) for k in range(5)]
    found = estimated({"week": days[::-1], "region": ["a"] * 5})
    axes = groups(found)
    assert [panel.get_title() for panel in axes] == ["x0", "x1", "x2"]
    line = axes[1].lines[0]
    assert [date.date() for date in line.get_xdata()] == days
    np.testing.assert_allclose(line.get_ydata(), [found[day, "a"].frequencies[1] for day in days])
    ribbon = axes[1].collections[0].get_paths()[0].vertices
    limits = np.array([found[day, "a"].intervals[1] for day in days])
    assert ribbon[:, 1].min() == pytest.approx(limits[:, 0].min())
    assert ribbon[:, 1].max() == pytest.approx(limits[:, 1].max())


def test_ribbons_of_few_reports_lie_behind_the_others():
    days = [DAY, DAY + datetime.timedelta(days=7)]
    found = estimated({"g": ["a", "b", "b"], "day": [DAY, *days]}, few=("b",))
    axes = groups(found)
    ribbons = [each for each in axes[0].collections if len(each.get_facecolor())]
    many, few = (ribbon.get_zorder() for ribbon in ribbons)
    assert few < many < min(line.get_zorder() for line in axes[0].lines)


@pytest.mark.parametrize(
    ("key", "date"),
    [
        ("2026-05-01", "2026-05-01T00:00"),
        ("2026-05", "2026-05-01T00:00"),
        ("2026-05-01T12:30", "2026-05-01T12:30"),
        ("2026-05-01 12:30:05+02:00", "2026-05-01T10:30:05"),
        (DAY, "2026-05-01T00:00"),
        ("2026-13", None),
        ("2026-05-32", None),
        ("20260501", None),
        ("2026", None),
        ("May 2026", None),
        (2026, None),
        (True, None),
        (datetime.time(7, 30), None),
    ],
)
def test_what_is_a_date(key, date):
    assert as_date(key) == (None if date is None else datetime.datetime.fromisoformat(date))


def test_which_column_holds_dates():
    assert date_column(estimated({"g": ["a", "b"], "day": ["2026-05-01", None]})) == 1
    assert date_column(estimated({"g": ["a", "b"], "day": ["2026-05-01", "soon"]})) is None
    assert date_column(estimated({"g": ["2026-05", "2026-06"], "day": ["2026-05-01", "2026-05-02"]})) is None
    assert date_column(estimated({"g": [None, None]})) is None


def test_categories_that_cannot_be_told_apart_are_squares_and_hostile_names_are_drawn():
    mechanism = mechanism_of(randomized_response(2, 3.0)[[0, 1, 1]])
    found = md.estimate_frequencies(["y0", "y1"] * 20, mechanism, by=["\x1b[31m\n$\\frac", "<b>" * 100] * 20)
    axes = groups(found)
    assert "not identifiable" in texts(axes[0].figure)
    assert picture(axes[0].figure, "p.png").startswith(b"\x89PNG")


def test_an_estimate_of_the_other_kind_is_refused_with_the_function_that_draws_it():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    plain = md.estimate_frequencies(["no"], warner)
    grouped = md.estimate_frequencies(["no"], warner, by=["a"])
    with raises("wrong-type"):
        groups(plain)
    with raises("wrong-type"):
        frequencies(grouped)
