"""The benchmarks run, their methods agree, and the table and picture are written. Nothing is timed."""

import re

import pytest

from benchmarks import measure, report, table


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks")
    return table.main(["--quick", "--into", str(folder)]), folder


@pytest.mark.slow
def test_everything_measured_is_certified_and_methods_agree(written):
    measured, _ = written
    assert list(measured) == list(table.SECTIONS) == list(report.TITLES) == list(report.WRITERS)
    for name, rows in measured.items():
        assert rows, name
        for row in rows:
            assert row.get("certified", True), row
            assert abs(row.get("difference", 0.0)) <= 1e-6, row
    assert {row["counts"] for row in measured["growth"]} == set(measure.FAMILIES)
    assert sum("literal" in row for row in measured["polyhedral"]) == len(measure.QUICK.literal)
    assert all(row["gap"] <= 1e-6 for row in measured["estimating"])


@pytest.mark.slow
def test_the_table_has_all_sections_between_its_markers(written):
    _, folder = written
    text = (folder / "README.md").read_text()
    before, rest = text.split(report.BEGIN)
    inside, after = rest.split(report.END)
    assert "python -m benchmarks.table" in before
    assert after.strip() == ""
    for title in report.TITLES.values():
        assert f"### {title}\n" in inside
    report.insert(folder / "README.md", inside)
    assert (folder / "README.md").read_text() == text
    assert (folder / "results.png").stat().st_size > 10_000


def test_the_committed_readme_has_the_sections_of_a_full_run():
    text = (table.FOLDER / "README.md").read_text()
    for title in report.TITLES.values():
        assert f"### {title}\n" in text


def test_the_readme_names_the_sections_that_can_be_measured_again():
    text = (table.FOLDER / "README.md").read_text()
    named = text.split("sections are\n")[1].split(".\n")[0]
    assert re.findall("`(.+?)`", named) == list(table.SECTIONS)


def test_only_some_sections_are_measured_again(tmp_path, capsys):
    committed = (table.FOLDER / "README.md").read_text()
    measured = table.main(["--quick", "--only", "polyhedral", "--into", str(tmp_path)])
    assert list(measured) == ["polyhedral"]
    before = report.sections(report.inside(table.FOLDER / "README.md"))
    after = report.sections(report.inside(tmp_path / "README.md"))
    title = report.TITLES["polyhedral"]
    assert before.keys() == after.keys()
    assert {key for key in before if before[key] != after[key]} == {title}
    assert after[title].startswith("Measured ")
    # Everything outside the markers stays, and no picture is drawn of a part.
    written = (tmp_path / "README.md").read_text()
    for text in (committed, written):
        assert text.partition(report.BEGIN)[0] == committed.partition(report.BEGIN)[0]
    assert not (tmp_path / "results.png").exists()
    assert capsys.readouterr().out.startswith("polyhedral N=")


def test_a_section_that_is_none_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        table.main(["--quick", "--only", "polyhedra", "--into", str(tmp_path)])
    assert "invalid choice: 'polyhedra'" in capsys.readouterr().err


def test_values_that_differ_are_not_reported():
    with pytest.raises(AssertionError, match="two ways to one optimum differ"):
        measure.agree(1.0, 1.1)


def test_without_qif_there_is_a_reason(monkeypatch):
    def missing(*_):
        raise ImportError("No module named 'qif'")

    monkeypatch.setattr(measure, "qif_least_loss", missing)
    rows = list(measure.linear_loss(measure.QUICK))
    assert rows == [{"skipped": "No module named 'qif'"}]
    assert "Left out: No module named 'qif'." in report.WRITERS["linear_loss"](rows)


def test_a_design_that_is_not_certified_stands_out():
    row = {"seconds": 60.2, "gap": 2e-3, "certified": False, "stopped": "time limit"}
    assert report.outcome(row) == "**60 s, 0.002** (time limit)"
    assert report.reached({"seconds": 1.0, "reach": 2})
    assert not report.reached({"seconds": 1.0, "reach": 2, "ok": False})
    assert not report.reached({"ratio": 4.0, "reach": 10})
    assert report.reached({"times": 4.0, "reach": 4})
    assert not report.reached({"times": 4.1, "reach": 4})
    asked = report.WRITERS["reaches"]([{"work": "codes", "times": 4.1, "reach": 4}])
    assert "| codes | at most 4 times | 4.1 | **no** |" in asked


def test_quick_sizes_are_never_written_over_the_results():
    with pytest.raises(SystemExit):
        table.main(["--quick"])
