import errno
import os
from pathlib import Path

import pytest

from mechdesign import InputError
from mechdesign.atomic import write_atomically


def break_syncing(monkeypatch, error):
    def fsync(descriptor):
        raise error

    monkeypatch.setattr(os, "fsync", fsync)


def break_renaming(monkeypatch, error):
    def replace(self, target):
        raise error

    monkeypatch.setattr(Path, "replace", replace)


FAULTS = pytest.mark.parametrize("break_it", [break_syncing, break_renaming])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_holds_the_content(tmp_path):
    write_atomically(tmp_path / "new", b"\x00content\r\n")
    assert (tmp_path / "new").read_bytes() == b"\x00content\r\n"
    assert names(tmp_path) == ["new"]


def test_an_old_file_is_replaced_whole(tmp_path):
    (tmp_path / "old").write_bytes(b"a longer old content")
    write_atomically(str(tmp_path / "old"), b"new")
    assert (tmp_path / "old").read_bytes() == b"new"
    assert names(tmp_path) == ["old"]


@FAULTS
def test_a_fault_before_the_end_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch, break_it):
    (tmp_path / "old").write_bytes(b"old")
    break_it(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(InputError, match=r"cannot write .*old: No space left on device"):
        write_atomically(tmp_path / "old", b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert names(tmp_path) == ["old"]


@FAULTS
def test_a_fault_while_making_a_file_leaves_no_file(tmp_path, monkeypatch, break_it):
    break_it(monkeypatch, OSError(errno.EIO, "Input/output error"))
    with pytest.raises(InputError, match="Input/output error"):
        write_atomically(tmp_path / "new", b"new")
    assert names(tmp_path) == []


@FAULTS
def test_an_interruption_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch, break_it):
    (tmp_path / "old").write_bytes(b"old")
    break_it(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "old", b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert names(tmp_path) == ["old"]


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*there is no folder"):
        write_atomically(tmp_path / "absent" / "new", b"new")
    assert names(tmp_path) == []


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*it is a folder"):
        write_atomically(tmp_path / "folder", b"new")
    assert names(tmp_path) == ["folder"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "plain").write_bytes(b"old")
    with pytest.raises(InputError, match=r"cannot write .*Not a directory"):
        write_atomically(tmp_path / "plain" / "new", b"new")
    assert (tmp_path / "plain").read_bytes() == b"old"


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*too long"):
        write_atomically(tmp_path / ("x" * 300), b"new")
    assert names(tmp_path) == []


def test_the_longest_name_that_a_folder_takes_is_written(tmp_path):
    longest = "x" * os.pathconf(tmp_path, "PC_NAME_MAX")
    write_atomically(tmp_path / longest, b"new")
    assert names(tmp_path) == [longest]


def test_an_existing_file_keeps_who_may_read_it(tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
