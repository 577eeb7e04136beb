"""Keys: nobody else reads them, and nothing shows them."""

import base64
import copy
import dataclasses
import os
import pickle
import pprint
import stat
import subprocess
import sys
import traceback

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.deploy.part_tasks import Options

SECRET = bytes(range(100, 132))
KEY = md.Key(SECRET)
LINE = b"mechdesign-key-1 " + SECRET.hex().encode() + b"\n"
SHOWN = [
    SECRET,
    SECRET.hex().encode(),
    SECRET.hex().upper().encode(),
    base64.b64encode(SECRET)[:-1],
    repr(SECRET).encode(),
]


def holds_the_key(text):
    return any(form in (text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")) for form in SHOWN)


def written(path, content=LINE, mode=0o600):
    path.write_bytes(content)
    path.chmod(mode)
    return path


def refusal(path):
    with pytest.raises(md.InputError) as caught:
        md.Key.read(path)
    whole = "".join(traceback.format_exception(caught.value))
    assert not holds_the_key(whole)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_key_comes_back_from_its_file(tmp_path):
    KEY.write(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == LINE
    assert md.Key.read(tmp_path / "key") == KEY
    assert md.Key.read(str(tmp_path / "key")) == KEY
    assert [name.name for name in tmp_path.iterdir()] == ["key"]


def test_keys_are_drawn():
    assert len({md.Key.generate().secret for _ in range(100)}) == 100
    assert len(md.Key.generate().secret) == 32


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_key_file_is_readable_by_its_owner_alone(umask, tmp_path):
    before = os.umask(umask)
    try:
        KEY.write(tmp_path / "key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_the_attribute_is_not_in_the_file(tmp_path):
    KEY.for_attribute("smokes").write(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == LINE


def test_nothing_shows_a_key():
    shown = [repr(KEY), str(KEY), f"{KEY}", f"{KEY!a}", repr([KEY]), repr(KEY.for_attribute("smokes")), str(hash(KEY))]
    assert not any(map(holds_the_key, shown))
    assert repr(KEY) == "Key(...)"
    assert repr(KEY.for_attribute("smokes")) == "Key(..., attribute='smokes')"


def test_what_draws_reports_does_not_show_its_key():
    ball = md.L1Ball([0.5, 0.5], 2)
    mechanism = md.Mechanism([[3, 1], [1, 3]], 2, md.Guarantee("log(3)", ball))
    drawn = mechanism.permanent_reports(KEY)
    assert not holds_the_key(repr(drawn) + repr(vars(drawn)))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with raises("key-exposed", match="a key does not leave its process"):
            pickle.dumps(drawn, protocol)


def test_keys_are_compared_with_their_attributes():
    assert md.Key(SECRET) == KEY
    assert hash(KEY) == hash(md.Key(SECRET))
    assert md.Key(bytes(32)) != KEY
    assert KEY.for_attribute("a") != KEY
    assert KEY.for_attribute("a") != KEY.for_attribute("b")
    assert KEY != SECRET


class Carrier:
    """What a task of the user's own may hold."""

    def __init__(self, key):
        self.key = key


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("given", [KEY, [KEY], {"key": KEY.for_attribute("a")}, Carrier(KEY)])
def test_a_key_is_not_pickled_and_says_what_to_send(given, protocol):
    with raises("key-exposed") as refused:
        pickle.dumps(given, protocol)
    assert str(refused.value).startswith("a key does not leave its process")
    assert "give the path of its file, or KeyFile(path, attribute)" in str(refused.value)
    assert not holds_the_key("".join(traceback.format_exception(refused.value)))


def test_a_key_is_copied_within_its_process():
    assert copy.copy(KEY) is KEY
    assert copy.deepcopy([KEY])[0] == KEY
    assert dataclasses.replace(Options(None, None, "id", KEY), unknown="?").key == KEY


@pytest.mark.parametrize("secret", [SECRET[:-1], SECRET + b"x", bytearray(SECRET), SECRET.hex(), SECRET])
def test_a_key_that_is_refused_is_not_among_local_variables(secret):
    held = [secret]
    try:
        md.Key(*held, attribute="\ud800")
    except md.InputError as refused:
        frames = refused.__traceback__.tb_next
        told = traceback.TracebackException(type(refused), refused, frames, capture_locals=True)
    shown = "".join(told.format())
    assert "self = Key(...)" in shown
    assert not holds_the_key(shown)
    assert repr(secret)[12:30] not in shown


def test_nothing_that_looks_into_objects_shows_a_key():
    assert not hasattr(KEY, "__dict__")
    with pytest.raises(TypeError):
        vars(KEY)
    with pytest.raises(TypeError):
        dataclasses.asdict(KEY)
    for looked_at in (KEY.__getstate__, KEY.__reduce__, KEY.__reduce_ex__):
        with pytest.raises((md.InputError, TypeError)) as refused:
            looked_at(*([2] if looked_at == KEY.__reduce_ex__ else []))
        assert not holds_the_key(str(refused.value))
    options = Options(None, None, "id", KEY)
    shown = [repr(options), repr(vars(options)), repr(dataclasses.asdict(options)), pprint.pformat(options)]
    try:
        raise md.SolverError(f"{options}")
    except md.SolverError as error:
        shown += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    assert not any(map(holds_the_key, shown))


def test_a_key_cannot_be_changed():
    with pytest.raises(AttributeError):
        KEY.secret = bytes(32)


@pytest.mark.parametrize(
    ("secret", "told"),
    [
        (SECRET[:31], "the key has 31 bytes; accepted: 32, as Key.generate() draws"),
        (SECRET + b"x", "the key has 33 bytes; accepted: 32, as Key.generate() draws"),
        (b"", "the key has 0 bytes; accepted: 32, as Key.generate() draws"),
        (SECRET.hex(), "the key is a str; give Key.generate() or Key.read(path)"),
        (bytearray(SECRET), "the key is a bytearray; give Key.generate() or Key.read(path)"),
        (list(SECRET), "the key is a list; give Key.generate() or Key.read(path)"),
        (None, "the key is a NoneType; give Key.generate() or Key.read(path)"),
    ],
)
def test_another_secret_is_refused_without_being_printed(secret, told):
    with pytest.raises(md.InputError) as caught:
        md.Key(secret)
    assert str(caught.value) == told


@pytest.mark.parametrize("name", ["", " a", "a\n", 1.5, None, "\ud800", "x" * 1001])
def test_an_attribute_is_a_label(name):
    with raises("bad-label"):
        KEY.for_attribute(name)


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o644, 0o777])
def test_a_file_that_others_can_use_is_refused_with_the_way_out(mode, tmp_path):
    path = written(tmp_path / "key", mode=mode)
    assert refusal(path) == (
        f"{path} can be read or written by others (mode {mode:04o}), who could have read the key; make another key, "
        f"or, if nobody has read it: chmod 600 {path}"
    )
    path.chmod(0o600)
    assert md.Key.read(path) == KEY


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
def test_other_permissions_are_the_owners_business(mode, tmp_path):
    assert md.Key.read(written(tmp_path / "key", mode=mode)) == KEY


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_line_may_end_in_any_way(end, tmp_path):
    assert md.Key.read(written(tmp_path / "key", LINE.rstrip() + end)) == KEY


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SECRET,
        SECRET.hex().encode(),
        LINE[:-2] + b"\n",
        LINE.upper(),
        LINE.replace(b"key-1", b"key-2"),
        b" " + LINE,
        b"\xef\xbb\xbf" + LINE,
        LINE + b"\n",
        LINE + LINE,
        LINE.rstrip() + b" " * 10**6,
        b"\0" * 10**7,
        LINE.replace(b" ", b"\n"),
        b"-----BEGIN PRIVATE KEY-----",
    ],
)
def test_another_file_is_no_key(content, tmp_path):
    path = written(tmp_path / "key", content)
    assert refusal(path) == f"{path} is not a key file; give a key file, as `mechdesign key -o FILE` writes it"


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    for place in (tmp_path, tmp_path / "pipe", "/dev/zero", "/dev/null"):
        assert "it is a directory, a device or a pipe; give a key file" in refusal(place)
    for place in (tmp_path / "absent", tmp_path / "key" / "below", "-", "", "a\0b"):
        assert "cannot read" in refusal(place)


def test_a_link_leads_to_a_key_that_is_checked(tmp_path):
    path = written(tmp_path / "key")
    (tmp_path / "link").symlink_to(path)
    assert md.Key.read(tmp_path / "link") == KEY
    path.chmod(0o644)
    assert "can be read or written by others" in refusal(tmp_path / "link")
    (tmp_path / "gone").symlink_to(tmp_path / "absent")
    assert "cannot read" in refusal(tmp_path / "gone")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "cannot read" in refusal(tmp_path / "circle")


def test_a_pipe_that_takes_the_place_of_the_file_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "key", 0o600)
    monkeypatch.setattr("mechdesign.mechanism.keys.check_regular", lambda *_: None)  # as if it came afterwards
    assert "it is a directory, a device or a pipe" in refusal(tmp_path / "key")


READ = (
    "import sys, mechdesign as md\ntry:\n md.Key.read(sys.argv[1]); print('read')\nexcept md.InputError as e: print(e)"
)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_key_of_another_user_is_refused(tmp_path):
    path = written(tmp_path / "key")
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    os.chown(path, 65534, 65534)
    assert md.Key.read(path) == KEY  # root reads any
    from mechdesign.mechanism import keys

    with raises("key-exposed"):
        keys._check_private(path, path.stat(), user=12345)
    keys._check_private(path, path.stat(), user=65534)
    os.chown(path, 0, 0)
    keys._check_private(path, path.stat(), user=12345)  # the system lets this user read it


def test_a_key_is_never_replaced(tmp_path):
    path = written(tmp_path / "key", b"something")
    with raises("file-exists"):
        KEY.write(path)
    assert path.read_bytes() == b"something"
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    with raises("file-exists"):
        KEY.write(tmp_path / "link")
    assert not (tmp_path / "absent").exists()


def test_a_key_that_was_put_there_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path = written(tmp_path / "key", b"something")
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    with raises("file-exists"):
        KEY.write(path)
    assert path.read_bytes() == b"something"
    assert [name.name for name in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("place", ["-", "absent/key", "", "a\0b"])
def test_a_key_is_written_to_files_alone(place, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(md.InputError):
        KEY.write(place)
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_a_traceback_with_all_locals_does_not_show_the_key(tmp_path):
    # As some loggers print it: the repr of every local variable of every frame.
    written(tmp_path / "key")
    source = (
        "import sys, mechdesign as md\n"
        "key = md.Key.read(sys.argv[1])\n"
        "m = md.Mechanism([[3, 1], [1, 3]], 2, md.Guarantee('log(3)', md.L1Ball([0.5, 0.5], 2)))\n"
        "try:\n    m.privatize(['x1', 'x2'], key=key, ids=['a', None])\n"
        "except md.InputError as error:\n"
        "    frame = error.__traceback__\n"
        "    while frame:\n        print(frame.tb_frame.f_locals); frame = frame.tb_next\n"
    )
    done = subprocess.run([sys.executable, "-c", source, tmp_path / "key"], capture_output=True, check=True)
    assert b"Key(...)" in done.stdout
    assert not holds_the_key(done.stdout + done.stderr)


def test_a_key_file_is_read_where_reports_are_drawn(tmp_path):
    KEY.write(tmp_path / "key")
    assert md.KeyFile(tmp_path / "key").read() == KEY
    assert md.KeyFile(tmp_path / "key", "smokes").read() == KEY.for_attribute("smokes")
    with raises("bad-label"):
        md.KeyFile(tmp_path / "key", " ").read()
    mechanism = md.Mechanism([[3, 1], [1, 3]], 2, md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], 2)))
    found = mechanism.privatize([0, 1] * 50, key=md.KeyFile(tmp_path / "key", "a"), ids=range(100))
    assert found == mechanism.privatize([0, 1] * 50, key=KEY.for_attribute("a"), ids=range(100))


def test_keys_are_told_apart_by_fingerprints_that_are_not_the_key():
    names = {KEY.fingerprint, KEY.for_attribute("a").fingerprint, md.Key(bytes(32)).fingerprint}
    assert len(names) == 3
    assert KEY.fingerprint == md.Key(SECRET).fingerprint
    assert not any(map(holds_the_key, names))


def test_a_key_file_may_be_asked_for_a_certain_key(tmp_path):
    KEY.write(tmp_path / "key")
    expected = md.KeyFile(tmp_path / "key", "smokes", KEY.for_attribute("smokes").fingerprint)
    assert expected.read() == KEY.for_attribute("smokes")
    (tmp_path / "key").unlink()
    md.Key(bytes(32)).write(tmp_path / "key")
    with raises("second-report"):
        expected.read()


@pytest.mark.parametrize("given", [LINE.decode(), LINE.decode().strip(), SECRET.hex(), SECRET.hex().upper() + "\n"])
def test_a_key_that_is_given_in_place_of_its_path_is_not_printed(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "its file belongs" in refusal(given)
    written(tmp_path / SECRET.hex())
    assert md.Key.read(SECRET.hex()) == KEY
