import os

import pytest
from refusals import raises

from mechdesign.cli.entry_point import run
from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.reading import check_regular, read_bounded
from mechdesign.problem_file import read_problem

ODD = ["/dev/zero", "pipe", ".", "link"]


@pytest.fixture
def odd(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    (tmp_path / "link").symlink_to("/dev/zero")


@pytest.mark.parametrize("path", ODD)
def test_what_is_not_a_regular_file_is_not_opened(odd, path, monkeypatch, capsys):
    readers = (read_problem, read_counts, lambda path: count_column(path, "a"), lambda path: check_regular(path, "it"))
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", pytest.fail)
        for reader in readers:
            with raises("cannot-read"):
                reader(path)
    for arguments in (
        ["design", path],
        ["compare", "--counts", path, "--epsilon", "1", "--known"],
        ["design", "--data", path, "--column", "a", "--epsilon", "1", "--known"],
        ["histogram", "discrete", path, "-k", "2", "--epsilon", "1", "--delta", "0.1", "-o", "out.csv"],
        ["verify", path],
    ):
        assert run(arguments) == 2
        assert "a device or a pipe" in capsys.readouterr().err


def test_no_more_is_read_than_a_bound(tmp_path, monkeypatch):
    path = tmp_path / "counts.csv"
    path.write_text("a,1\nb,2\n")
    monkeypatch.setattr("mechdesign.data.counts._MOST_BYTES", 8)
    assert read_counts(path, header=False) == {"a": 1, "b": 2}
    monkeypatch.setattr("mechdesign.data.counts._MOST_BYTES", 7)
    with raises("file-too-large", "than 7", "most 7"):
        read_counts(path, header=False)
    monkeypatch.setattr("mechdesign.problem_file._MOST_BYTES", 7)
    with raises("file-too-large", "than 7"):
        read_problem(path)
    assert read_bounded(path, 8, "a file") == b"a,1\nb,2\n"
    with raises("file-too-large", "than 7"):
        read_bounded(path, 7, "a file")


def test_a_file_that_grows_is_read_to_its_bound(tmp_path, monkeypatch):
    path = tmp_path / "f"
    path.write_bytes(b"123456789")
    monkeypatch.setattr("mechdesign.data.reading.check_regular", lambda *_: None)
    with raises("file-too-large", "than 8"):
        read_bounded(path, 8, "a file")


@pytest.mark.parametrize("path", ["absent", "nul\x00", "a" * 5_000])
def test_a_file_that_cannot_be_looked_at_is_named(odd, path):
    with raises("cannot-read", "a file"):
        read_bounded(path, 8, "a file")
