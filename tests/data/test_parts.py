"""Data in parts: which files of a folder or a glob are read, in which order, and which are refused."""

import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pytest
from refusals import raises

from mechdesign.data.parts import find_parts, has_parts


@pytest.fixture
def make(tmp_path):
    """Make files in a folder, and return the folder."""

    def made(*names: str) -> Path:
        for name in names:
            path = tmp_path / "r" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("answer\nno\n")
        return tmp_path / "r"

    return made


def names(source):
    return [part.name for part in find_parts(source)]


def test_a_folder_is_read_with_all_folders_in_it_in_the_order_of_names(make):
    folder = make("b/2.csv", "b/10.csv", "a.csv", "b.csv", "b/c/d.CSV", "b-1/x.csv.gz")
    assert names(folder) == ["a.csv", "b/10.csv", "b/2.csv", "b/c/d.CSV", "b-1/x.csv.gz", "b.csv"]
    assert [part.stem for part in find_parts(folder)] == ["a", "b/10", "b/2", "b/c/d", "b-1/x", "b"]
    assert all(Path(part.path).is_file() for part in find_parts(folder))
    assert find_parts(folder).kind == ".csv"


def test_hidden_names_are_skipped_as_arrow_does(make):
    folder = make(
        "a.parquet", "k/b.parquet", "_SUCCESS", "_metadata", ".a.parquet.crc", "_temporary/0/c.parquet", ".x/d.parquet"
    )
    found = pa_dataset.dataset(folder, format="parquet", schema=pa.schema([])).files
    assert sorted(Path(file).relative_to(folder).as_posix() for file in found) == names(folder)
    assert names(folder) == ["a.parquet", "k/b.parquet"]
    make("_k=1/e.parquet")
    (folder / "a.parquet").unlink()
    (folder / "k/b.parquet").unlink()
    assert names(folder) == ["_k=1/e.parquet"], "a partition by a column whose name begins so holds records"


def test_folders_say_columns(make):
    parts = find_parts(make("day=1/k=a%2Fb/x.csv", "day=__HIVE_DEFAULT_PARTITION__/k=a=b/x.csv"))
    assert parts.keys == ("day", "k")
    assert [part.keys for part in parts] == [(("day", "1"), ("k", "a/b")), (("day", None), ("k", "a=b"))]


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        ("wk=%ff", "0xff at position 4"),
        ("wk=%fe", "0xfe at position 4"),
        ("w%ffk=a", "0xff at position 2"),
        ("wk=a%C3", "0xc3 at position 5"),
        (os.fsdecode(b"wk=\xff"), "0xff at position 4"),
    ],
)
def test_a_folder_whose_name_is_not_utf8_is_refused(make, folder, shown):
    source = make("wk=%C3%A9/x.csv", "wk=é€/x.csv")
    assert [part.keys[0][1] for part in find_parts(source)] == ["é", "é€"]
    make(f"{folder}/x.csv")
    with raises("not-utf8", shown, "rename"):
        find_parts(source)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("r/*.csv", ["a.csv"]),
        ("r/*", ["a.csv", "d/b.csv", "d/e/c.csv"]),
        ("r/**", ["a.csv", "d/b.csv", "d/e/c.csv"]),
        ("r/**/", ["d/b.csv", "d/e/c.csv"]),
        ("./r//d*/**/*.csv", ["d/b.csv", "d/e/c.csv"]),
        ("r/d/[bc].csv", ["b.csv"]),
        ("r/d", ["b.csv", "e/c.csv"]),
        ("r/d/b.csv", ["b.csv"]),
    ],
)
def test_a_glob_names_files_and_folders(make, monkeypatch, pattern, found):
    monkeypatch.chdir(make("a.csv", "d/b.csv", "d/e/c.csv", "d/_x/b.csv").parent)
    assert names(pattern) == found
    assert all(Path(part.path).is_file() for part in find_parts(pattern))


def test_a_path_that_exists_is_no_glob(make):
    folder = make("[a].csv", "a.csv", "x[1]/b.csv")
    assert names(folder / "[a].csv") == ["[a].csv"]
    assert names(folder / "x[1]") == ["b.csv"]
    assert not has_parts(folder / "[a].csv")
    assert has_parts(folder / "x[1]")
    assert has_parts(folder / "[ab].csv")


def test_one_file_may_have_any_name(make):
    parts = find_parts(make("adult.data") / "adult.data")
    assert [part.name for part in parts] == ["adult.data"]
    assert parts.kind == ".csv"


@pytest.mark.parametrize(
    ("made", "source", "code"),
    [
        ([], "r", "cannot-read"),
        (["_SUCCESS"], "r", "cannot-read"),
        (["a.csv"], "r/*.parquet", "cannot-read"),
        (["a.csv", "b/c.parquet"], "r", "parts-differ"),
        (["a.csv", "notes.txt"], "r", "stray-file"),
        (["k=1/a.csv", "a.csv"], "r", "parts-differ"),
        (["k=1/a.csv", "j=1/a.csv"], "r", "parts-differ"),
        (["k=1/k=2/a.csv"], "r", "column-twice"),
        (["a.csv"], "\0", "cannot-read"),
        (["a.csv"], "a" * 300, "cannot-read"),
        (["a.csv"], "a" * 300 + "*", "cannot-read"),
        (["a.csv"], "*\0", "cannot-read"),
    ],
)
def test_what_is_refused(make, monkeypatch, made, source, code):
    monkeypatch.chdir(make(*made).parent)
    with raises(code) as caught:
        find_parts(source)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("link", "target", "code"),
    [
        ("d/up", "..", "stray-file"),
        ("d/self", ".", "stray-file"),
        ("e", "d", "stray-file"),
        ("d/b.csv", "a.csv", "stray-file"),
        ("d/b.csv", "b.csv", "cannot-read"),
        ("d/b.csv", "gone", "cannot-read"),
    ],
)
def test_links_that_loop_lead_nowhere_or_to_a_file_twice_are_refused(make, link, target, code):
    folder = make("d/a.csv")
    (folder / link).symlink_to(target)
    with raises(code):
        find_parts(folder)


def test_a_link_to_other_data_is_followed(make):
    folder = make("d/a.csv", "out/b.csv")
    (folder / "out").rename(folder.parent / "out")
    (folder / "e").symlink_to("../out")
    assert names(folder) == ["d/a.csv", "e/b.csv"]


def test_a_hard_link_and_a_pipe_are_refused(make):
    folder = make("a.csv")
    (folder / "b.csv").hardlink_to(folder / "a.csv")
    with raises("stray-file"):
        find_parts(folder)
    (folder / "b.csv").unlink()
    os.mkfifo(folder / "b.csv")
    with raises("cannot-read"):
        find_parts(folder)


@pytest.mark.parametrize("name", ["a.csv", "d"])
def test_without_permission_nothing_is_read(make, monkeypatch, name):
    folder = make("a.csv", "d/b.csv")
    # The superuser may read everything, so the system's answers are given here.
    listed, access = os.listdir, os.access

    def refused(path):
        if Path(path).name == name:
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "listdir", refused)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != name and access(path, mode))
    with raises("cannot-read", match=re.escape(f"{folder / name}: Permission denied")):
        find_parts(folder)
