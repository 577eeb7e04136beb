import csv
from pathlib import Path

import pytest

import figures.__main__ as figures
from figures.lib.output import FOLDER

HOME = Path(figures.__file__).parent
README = (HOME / "README.md").read_text(encoding="utf-8")


def test_every_module_that_draws_is_listed():
    drawing = {path.stem for path in HOME.glob("*.py") if "\ndef draw(" in path.read_text(encoding="utf-8")}
    assert set(figures.FIGURES) == drawing
    for name, module in figures.FIGURES.items():
        assert module.__name__ == f"figures.{name}"


@pytest.mark.parametrize("name", figures.FIGURES)
def test_table_and_picture_are_kept_and_described(name):
    assert (FOLDER / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (FOLDER / f"{name}.png").stat().st_size < 100 * 1024
    assert f"](out/{name}.png)" in README
    assert f"](out/{name}.csv)" in README


@pytest.mark.parametrize("name", ["figure_3a", "figure_3b"])
def test_the_table_that_is_kept_is_what_is_computed(name):
    with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
        kept = list(csv.DictReader(file))
    computed = figures.FIGURES[name].compute()
    assert len(kept) == len(computed)
    for old, new in zip(kept, computed, strict=True):
        assert list(old) == list(new)
        for key, number in new.items():
            assert old[key] == number if isinstance(number, str) else float(old[key]) == pytest.approx(number, rel=1e-9)


def test_the_clouds_that_are_kept_are_complete():
    for name in ("figure_2a", "figure_2b"):
        with (FOLDER / f"{name}.csv").open(encoding="utf-8") as file:
            assert sum(row["curve"] == "random" for row in csv.DictReader(file)) == 10_000


def test_named_figures_are_written_into_a_folder(tmp_path, capsys):
    into = tmp_path / "new" / "folder"
    figures.main(["figure_3b", "figure_3a", "--quick", "--into", str(into)])
    assert sorted(path.name for path in into.iterdir()) == [
        "figure_3a.csv",
        "figure_3a.png",
        "figure_3b.csv",
        "figure_3b.png",
    ]
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(":")[0] for line in said.err.splitlines()] == ["figure_3b", "figure_3a"]


def test_without_names_all_are_made(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(figures, "make", lambda names, folder, *, quick: made.append((list(names), folder, quick)))
    figures.main(["--into", str(tmp_path)])
    figures.main([])
    assert made == [(list(figures.FIGURES), tmp_path, False), (list(figures.FIGURES), Path(FOLDER), False)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quick"], "--quick draws nothing worth keeping; add --into FOLDER"),
        (["figure_9"], "figure_9 is not a figure; accepted: education, "),
    ],
)
def test_refusals(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        figures.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
