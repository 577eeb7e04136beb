"""Designs from the files of a folder, and from some of its records drawn at random."""

import json
from pathlib import Path

import pytest

DESIGN = ["design", "--data", "weeks", "--column", "way", "--epsilon", "1", "--delta", "1e-3"]


@pytest.fixture
def here(here):
    for week, ways in (("1", ["bus"] * 90 + ["car"] * 60), ("2", ["car"] * 70 + ["walk"] * 80)):
        Path(f"weeks/week={week}").mkdir(parents=True)
        Path(f"weeks/week={week}/part.csv").write_text("way\n" + "".join(f"{way}\n" for way in ways))
    Path("all.csv").write_text("way\n" + "bus\n" * 90 + "car\n" * 130 + "walk\n" * 80)
    return here


def test_a_folder_gives_the_mechanism_of_one_file_with_all_records(command, here):
    assert command(*DESIGN, "-o", "folder.json")[0] == 0
    assert command(*["all.csv" if each == "weeks" else each for each in DESIGN], "-o", "file.json")[0] == 0
    one, other = (json.loads(Path(name).read_text()) for name in ("folder.json", "file.json"))
    assert one["numerators"] == other["numerators"]
    assert one["inputs"] == other["inputs"] == ["car", "bus", "walk"]


def test_names_of_folders_are_groups(command, here):
    status, out, err = command(*DESIGN, "--by", "week", "--no-prices", "-o", "m.json")
    assert status == 0, err
    assert "2 groups ('1', '2')" in " ".join(out.split())


def test_some_records_are_drawn(command, here):
    status, out, err = command(*DESIGN, "--sample", "40", "--json", "-o", "m.json")
    assert status == 0, err
    assert json.loads(out)["title"] == "weeks, column way, 40 records drawn at random"
    status, out, err = command(*DESIGN, "--sample", "300", "--json", "-o", "m.json")
    assert status == 0, err
    whole = json.loads(command(*DESIGN, "--json", "-o", "n.json")[1])
    assert json.loads(out)["value"] == whole["value"]


def test_labels_that_the_drawn_records_lack_have_count_0(command, here):
    status, _, err = command(*DESIGN, "--sample", "1", "-o", "m.json")
    assert status == 0, err
    assert sorted(json.loads(Path("m.json").read_text())["inputs"]) == ["bus", "car", "walk"]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--sample", "301"], "--sample is 301; accepted: 1 to 300"),
        (["--sample", "0"], "--sample is 0"),
        (["--sample", "-1"], "--sample is -1"),
        (["--sample", "9", "--by", "week"], "--sample belongs to --data with --column alone"),
        (["--sample", "9", "--secret", "week"], "--sample belongs to --data with --column alone"),
        (["-o", "weeks/m.json"], "weeks/m.json lies in the input weeks; give a name outside of this folder"),
        (["-o", "weeks/week=1/m.json"], "lies in the input weeks"),
    ],
)
def test_what_cannot_be_is_refused(command, here, options, shown):
    status, out, err = command(*DESIGN, *options)
    assert (status, out) == (2, "")
    assert shown in err


def test_a_sample_needs_records_of_one_column_and_a_delta(command, here):
    Path("counts.csv").write_text("way,people\nbus,3\ncar,4\n")
    status, _, err = command("design", "--counts", "counts.csv", "--epsilon", "1", "--delta", ".1", "--sample", "2")
    assert (status, "--sample belongs to --data" in err) == (2, True)
    status, _, err = command(*DESIGN[:-2], "--known", "--sample", "2")
    assert (status, "--sample needs --delta" in err) == (2, True)
    status, _, err = command(*DESIGN, "--windows", "--sample", "2")
    assert (status, "--sample" in err) == (2, True)
    status, _, err = command("design", "--data", "all.csv", "--columns", "way", "--sample", "2", *DESIGN[5:])
    assert (status, "--sample" in err) == (2, True)


@pytest.mark.parametrize("place", ["plain.csv", "deep/down/plain.csv"])
def test_files_do_not_say_in_which_folders_a_machine_keeps_its_records(command, tmp_path, place):
    """A mechanism file is published: its title has the name of the file of counts, wherever that lies."""
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("way,count\na,5\nb,9\n")
    for given, output in ((str(path), "m.json"), (place, "n.json")):
        status, _, err = command("design", "--counts", given, "--epsilon", "1", "--known", "-o", output)
        assert status == 0, err
        assert json.loads((tmp_path / output).read_text())["provenance"]["problem"] == "plain.csv"
        assert str(tmp_path) not in (tmp_path / output).read_text()
    (tmp_path / place).write_text("way,count\na,5\na,6\n")
    assert str(path) in command("design", "--counts", str(path), "--epsilon", "1", "--known")[2]
