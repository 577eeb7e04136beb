import errno
import io
import os
import stat
import sys
from pathlib import Path
from threading import Thread

import pytest
from refusals import raises

from mechdesign import InputError
from mechdesign.data import files
from mechdesign.data.files import accepted_ending, check_places, check_writable, write_atomically, written_atomically


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
    with raises("cannot-write", "No space left on device"):
        write_atomically(tmp_path / "old", b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert names(tmp_path) == ["old"]


@FAULTS
def test_a_fault_while_making_a_file_leaves_no_file(tmp_path, monkeypatch, break_it):
    break_it(monkeypatch, OSError(errno.EIO, "Input/output error"))
    with raises("cannot-write", "Input/output error"):
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
    with raises("cannot-write"):
        write_atomically(tmp_path / "absent" / "new", b"new")
    assert names(tmp_path) == []


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    with raises("cannot-write"):
        write_atomically(tmp_path / "folder", b"new")
    assert names(tmp_path) == ["folder"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "plain").write_bytes(b"old")
    with raises("cannot-write", "Not a directory"):
        write_atomically(tmp_path / "plain" / "new", b"new")
    assert (tmp_path / "plain").read_bytes() == b"old"


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with raises("cannot-write"):
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


# Who may read what


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o7777


def beside(folder):
    (found,) = folder.glob(".*.tmp")
    return found


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("old", [0o600, 0o640, 0o604])
def test_the_file_has_the_permissions_of_the_target_before_it_has_content(tmp_path, umask, old):
    target = tmp_path / "old"
    target.write_bytes(b"old")
    target.chmod(old)
    with written_atomically(target) as file:
        assert mode(beside(tmp_path)) == old
        file.write(b"secret")
        file.flush()
        assert mode(beside(tmp_path)) == old
    assert mode(target) == old


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_new_file_has_what_the_umask_leaves(tmp_path, umask):
    with written_atomically(tmp_path / "new") as file:
        assert mode(beside(tmp_path)) == 0o640
        file.write(b"content")
    assert mode(tmp_path / "new") == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_nobody_may_read_the_file_before_it_is_given_to_its_owner(tmp_path, monkeypatch):
    target, seen = tmp_path / "old", []
    target.write_bytes(b"old")
    target.chmod(0o644)
    plain = os.fchown
    monkeypatch.setattr(
        os, "fchown", lambda file, *ids: (seen.append(stat.S_IMODE(os.fstat(file).st_mode)), plain(file, *ids))
    )
    write_atomically(target, b"new")
    assert seen == [0o600, 0o600]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(tmp_path):
    target = tmp_path / "old"
    target.write_bytes(b"old")
    os.chown(target, 1234, 2345)
    target.chmod(0o640)
    with written_atomically(target) as file:
        found = beside(tmp_path).stat()
        assert (found.st_uid, found.st_gid) == (1234, 2345)
        file.write(b"new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, mode(target)) == (1234, 2345, 0o640)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root makes files of another group")
@pytest.mark.parametrize(("old", "new"), [(0o640, 0o600), (0o664, 0o644), (0o604, 0o644)])
def test_a_group_that_cannot_be_kept_hands_its_permissions_to_no_other(tmp_path, monkeypatch, old, new):
    """The members of the new group are anybody to the old file."""

    def forbidden(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    target = tmp_path / "old"
    target.write_bytes(b"old")
    os.chown(target, 1234, 2345)
    target.chmod(old)
    monkeypatch.setattr(os, "fchown", forbidden)
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert mode(target) == new
    assert target.stat().st_gid != 2345


def test_without_owners_the_file_is_written_all_the_same(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(os, "fchown", raising=False)
    (tmp_path / "old").write_bytes(b"old")
    write_atomically(tmp_path / "old", b"new")
    assert (tmp_path / "old").read_bytes() == b"new"


# What may not be replaced


def test_nothing_is_replaced_where_that_is_not_allowed(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    with raises("file-exists"):
        write_atomically(tmp_path / "old", b"new", overwrite=False)
    assert (tmp_path / "old").read_bytes() == b"old"
    assert names(tmp_path) == ["old"]
    write_atomically(tmp_path / "new", b"new", overwrite=False)
    assert names(tmp_path) == ["new", "old"]


@pytest.mark.parametrize("old", [None, b"old"])
def test_a_file_system_without_hard_links(tmp_path, monkeypatch, old):
    def unsupported(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", unsupported)
    target = tmp_path / "target"
    if old is None:
        write_atomically(target, b"new", overwrite=False)
        assert target.read_bytes() == b"new"
    else:
        target.write_bytes(old)
        with raises("file-exists"):
            write_atomically(target, b"new", overwrite=False)
        assert target.read_bytes() == old
    assert names(tmp_path) == ["target"]


def test_of_two_at_once_one_is_placed_without_hard_links(tmp_path, monkeypatch):
    """The first is about to rename its file, and has seen that there is none, when the second begins."""
    target, replace, second, told = tmp_path / "target", Path.replace, [], []

    def unsupported(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    def other():
        try:
            write_atomically(target, b"second", overwrite=False)
        except InputError as error:
            told.append(str(error))

    def slow(self, place):
        if not second:
            second.append(Thread(target=other))
            second[0].start()
            second[0].join()
        return replace(self, place)

    monkeypatch.setattr(os, "link", unsupported)
    monkeypatch.setattr(Path, "replace", slow)
    monkeypatch.setattr(files, "_WAIT", 0.001)
    write_atomically(target, b"first", overwrite=False)
    assert target.read_bytes() == b"first"
    assert ["another process is doing so" in text for text in told] == [True]
    assert names(tmp_path) == ["target"]


def test_a_link_into_a_folder_that_does_not_exist_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "absent" / "file")
    with raises("cannot-write"):
        write_atomically(tmp_path / "link", b"new")


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with raises("cannot-write"):
        write_atomically(tmp_path / "one", b"new")
    assert names(tmp_path) == ["one", "other"]


def test_a_working_folder_that_is_gone_is_refused(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with raises("cannot-write", "write new"):
        check_writable("new")
    check_places([tmp_path / "new"], ["old"])
    monkeypatch.chdir(tmp_path)


def test_a_name_with_a_nul_is_refused():
    with raises("cannot-write"):
        check_writable("a\0b")


# Names of one file


def test_names_of_one_file_are_one_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "door").symlink_to("folder", target_is_directory=True)
    for one, other in [
        ("file", "./file"),
        ("file", tmp_path / "file"),
        ("folder/new", "door/new"),
        ("folder/../new", "new"),
    ]:
        with raises("same-file"):
            check_places([one, other])
        with raises("same-file"):
            check_places([one], [other])
    check_places(["file", None, "folder/new"], [None, "absent", "folder/../other"])


def test_standard_streams_may_be_one_terminal_or_pipe_but_not_one_output_twice(monkeypatch):
    check_places(["-"], ["-"])
    with raises("same-file", "another output"):
        check_places(["-", "-"])
    with raises("same-file", "are -"):
        check_places([], ["-", "-"])


def test_endings(tmp_path):
    assert accepted_ending("a.b.JSON", [".csv", ".json"]) == ".json"
    assert accepted_ending("-", [".csv", ".json"]) == ".csv"
    for name in ("a.csv.gz", "csv", "", ".csv", "a."):
        with raises("wrong-file-ending", ".csv", "or -"):
            accepted_ending(name, [".csv"])


def test_standard_output_that_takes_no_bytes_is_refused(monkeypatch):
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        with raises("cannot-write"):
            write_atomically("-", b"content")


def test_bytes_follow_the_text_before_them(capfd):
    sys.stdout.write("text\n")
    write_atomically("-", b"\x00bytes\r\n")
    sys.stdout.write("text\n")
    assert capfd.readouterr().out == "text\n\x00bytes\r\ntext\n"
