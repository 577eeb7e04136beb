"""Data in parts: which files of a folder or a glob are read, in which order, and which are refused."""

import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pytest

from mechdesign.data.parts import find_parts, has_parts
from mechdesign.errors import InputError


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
    ("made", "source", "told"),
    [
        ([], "r", "No such file"),
        (["_SUCCESS"], "r", "no file in"),
        (["a.csv"], "r/*.parquet", "no file matches"),
        (["a.csv", "b/c.parquet"], "r", r"a\.csv is a csv file, and .*b/c\.parquet is a parquet file"),
        (["a.csv", "notes.txt"], "r", r"notes\.txt is in the data set; accepted: \.csv"),
        (["k=1/a.csv", "a.csv"], "r", "'k', and those of r/a.csv say no column"),
        (["k=1/a.csv", "j=1/a.csv"], "r", "'j'.*'k'|'k'.*'j'"),
        (["a.csv"], "\0", "null"),
        (["a.csv"], "a" * 300, "too long"),
        (["a.csv"], "a" * 300 + "*", "no file matches"),
        (["a.csv"], "*\0", "null"),
    ],
)
def test_what_is_refused(make, monkeypatch, made, source, told):
    monkeypatch.chdir(make(*made).parent)
    with pytest.raises(InputError, match=told) as caught:
        find_parts(source)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("link", "target", "told"),
    [
        ("d/up", "..", "leads back"),
        ("d/self", ".", "leads back"),
        ("e", "d", "by another name"),
        ("d/b.csv", "a.csv", "by another name"),
        ("d/b.csv", "b.csv", "symbolic links"),
        ("d/b.csv", "gone", "No such file"),
    ],
)
def test_links_that_loop_lead_nowhere_or_to_a_file_twice_are_refused(make, link, target, told):
    folder = make("d/a.csv")
    (folder / link).symlink_to(target)
    with pytest.raises(InputError, match=told):
        find_parts(folder)


def test_a_link_to_other_data_is_followed(make):
    folder = make("d/a.csv", "out/b.csv")
    (folder / "out").rename(folder.parent / "out")
    (folder / "e").symlink_to("../out")
    assert names(folder) == ["d/a.csv", "e/b.csv"]


def test_a_hard_link_and_a_pipe_are_refused(make):
    folder = make("a.csv")
    (folder / "b.csv").hardlink_to(folder / "a.csv")
    with pytest.raises(InputError, match="by another name"):
        find_parts(folder)
    (folder / "b.csv").unlink()
    os.mkfifo(folder / "b.csv")
    with pytest.raises(InputError, match="a pipe"):
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
    with pytest.raises(InputError, match=re.escape(f"{folder / name}: Permission denied")):
        find_parts(folder)
