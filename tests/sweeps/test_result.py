"""The table of a sweep, in memory and in files, and its drawing."""

import csv
import math

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.errors import InputError
from mechdesign.plot.drawing import picture
from mechdesign.problem_file import ProblemFile
from mechdesign.sweeps import read_sweep

COUNTS = {"a": 812, "b": 150, "c": 38}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    known = md.L1Ball.from_counts(COUNTS, delta="1e-3")
    problems = [
        ProblemFile("one", md.DesignProblem(known, 0.5)),
        ProblemFile("one", md.DesignProblem(known, 1)),
        ProblemFile("one", md.DesignProblem(md.L1Ball.from_counts(COUNTS, radius=0.1), 1, lower=2)),
        ProblemFile('=two, "quoted"\nin lines', md.DesignProblem(known, 0, md.EstimationError())),
        ProblemFile("$two$", md.DesignProblem(known, 1, md.EstimationError(md.Workload.prefix()))),
    ]
    wanted = ["best-ldp", "randomized-response", "subset-selection"]
    return md.sweep(problems, cache=tmp_path_factory.mktemp("results"), baselines=wanted)


def test_the_table_tells_every_input_and_every_result(found):
    columns = found.columns()
    assert columns["epsilon"] == [0.5, 1, 1, 0, 1]
    assert columns["lower"] == [None, None, 2, None, None]
    assert columns["delta"] == [0.001, 0.001, None, 0.001, 0.001]
    assert columns["samples"] == [1000] * 5
    assert columns["radius"][2] == 0.1
    assert columns["symbols"] == [3] * 5
    assert columns["set"] == ["l1-ball"] * 5
    assert columns["unit"] == ["nats"] * 3 + ["1"] * 2
    assert columns["workload"] == [None] * 4 + ['{"name": "prefix"}']
    assert columns["certified"] == [True] * 3 + [None, True]
    assert columns["value"][3] is None
    assert "epsilon" in columns["failure"][3]
    assert columns["failure"][:3] == [None] * 3
    assert [cell is None for cell in columns["subset_selection"]] == [True, True, True, True, False]
    for index in (0, 1, 2, 4):
        assert abs(columns["gap"][index] - abs(columns["value"][index] - columns["bound"][index])) < 1e-15
        assert 0 < columns["leakage"][index] <= columns["epsilon"][index]
        assert columns["best_ldp_certified"][index]
        assert columns["seconds"][index] > 0
    assert 0 < columns["lower_leakage"][2] <= 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_table_is_a_frame_of_either_library(found, library):
    frame = found.to_frame(library)
    assert list(frame.columns) == list(found.columns())
    assert len(frame) == 5
    assert list(frame["epsilon"]) == [0.5, 1, 1, 0, 1]


def test_parquet_and_csv_hold_the_table(found, tmp_path):
    import pyarrow.parquet as pq

    for name in ("t.parquet", "t.CSV"):
        found.save(tmp_path / name)
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == found.columns()
    with (tmp_path / "t.CSV").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name, cells in found.columns().items():
        for row, cell in zip(rows, cells, strict=True):
            shown = row[name]
            if isinstance(cell, float):
                assert float(shown) == cell
            else:
                assert shown == {None: "", True: "true", False: "false"}.get(cell, str(cell))


def test_tables_of_two_sweeps_have_the_same_types(found, tmp_path):
    import pyarrow.parquet as pq

    found.save(tmp_path / "a.parquet")
    md.sweep([]).save(tmp_path / "b.parquet")
    assert pq.read_schema(tmp_path / "a.parquet") == pq.read_schema(tmp_path / "b.parquet")


@pytest.mark.parametrize("name", ["t.txt", "t", "absent/t.csv"])
def test_a_table_is_not_written_where_it_cannot_be(found, tmp_path, name):
    with pytest.raises(InputError):
        found.save(tmp_path / name)


def test_an_error_that_is_infinite_is_a_number_of_the_table():
    known = md.L1Ball([0.5, 0.3, 0.2])
    found = md.sweep([md.DesignProblem(known, "1e-9", md.EstimationError())], baselines=["randomized-response"])
    cell = found.columns()["randomized_response"][0]
    assert cell is None or cell > 1e6 or math.isinf(cell)


def test_the_drawing_has_axes_for_each_source_and_utility_and_a_line_for_each_baseline(found):
    one, two = found.plot()
    assert one.get_title() == "one"
    assert [line.get_label() for line in one.lines] == [
        "best design, delta 0.001, n = 1,000",
        "best design, radius 0.1, lower 2",
        "best LDP mechanism",
        "randomized response",
    ]
    columns = found.columns()
    assert one.lines[0].get_xydata().tolist() == [[0.5, columns["value"][0]], [1, columns["value"][1]]]
    assert one.lines[2].get_xydata().tolist() == [[0.5, columns["best_ldp"][0]], [1, columns["best_ldp"][1]]]
    assert one.get_ylabel() == "mutual-information (nats)"
    assert two.get_title() == r"\$two\$"
    assert [line.get_label() for line in two.lines][-1] == "subset selection"
    assert picture(one.figure, "p.svg").startswith(b"<?xml")


def test_axes_of_ones_own_are_drawn_into(found):
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    assert found.plot(axes) == tuple(axes)
    assert axes[0].lines
    with raises("wrong-size", "1", "for 2"):
        found.plot(axes[:1])


def test_too_many_panels_are_refused():
    known = md.L1Ball([0.5, 0.5], radius=2)
    problems = [ProblemFile(f"s{k}", md.DesignProblem(known, 1)) for k in range(31)]
    found = md.sweep(problems)
    assert found.solved == 1
    with raises("too-many-given", "31"):
        found.plot()


def test_a_panel_of_very_many_lines_says_how_many():
    known = [md.L1Ball([0.5, 0.5], radius=f"0.{k:02}") for k in range(1, 15)]
    (axis,) = md.sweep([md.DesignProblem(ball, 1) for ball in known]).plot()
    assert axis.get_legend() is None
    assert [text.get_text() for text in axis.texts if "lines" in text.get_text()] == ["14 lines of designs"]


def test_a_notebook_shows_what_a_person_looks_at_first_and_escapes_it(found):
    shown = found._repr_html_()
    assert "=two, &quot;quoted&quot;" in shown
    assert "best_ldp" in shown
    assert "SweepResult(5 problems" in shown
    hostile = ProblemFile("<script>", md.DesignProblem(md.L1Ball([0.5, 0.5]), 1))
    other = ProblemFile("other", hostile.problem)
    assert "<script>" not in md.sweep([hostile, other])._repr_html_()


def test_a_point_that_cannot_be_a_problem_is_a_row_everywhere(tmp_path):
    (tmp_path / "grid.toml").write_text(
        'title = "t"\nepsilon = [1, 900]\n[[source]]\nname = "one"\ncounts = { a = 812, b = 150, c = 38 }\n'
    )
    lines = []
    found = read_sweep(tmp_path / "grid.toml").run(progress=lines.append)
    assert lines[-1] == "sweeping: 1 of 1 tasks"
    assert repr(found) == "SweepResult(2 problems, 1 certified, 1 failed; 1 designs solved, 0 reused)"
    (failed,) = found.failures
    assert (failed.source, failed.name, failed.mechanism) == ("one", "one at epsilon = 900", None)
    assert failed.failure == "epsilon is '900'; accepted: a number from 0 to 700"
    with raises("point-refused", "one at epsilon = 900", "epsilon is '900'"):
        _ = failed.problem
    assert list(found.to_frame("pandas")["epsilon"]) == [1, 900]
    assert found.to_frame("polars")["failure"].to_list() == [None, failed.failure]
    assert "900" in found._repr_html_()
    (axis,) = found.plot()
    assert axis.lines[0].get_xydata().tolist() == [[1, found[0].solved.value]]
    for name in ("t.parquet", "t.csv"):
        found.save(tmp_path / name)
