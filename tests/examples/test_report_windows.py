"""The consumer of windows in Python, which needs nothing of ours, passes the conformance kit."""

import hashlib
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

import mechdesign as md
from conformance import make
from mechdesign.windows import WindowMechanism, window_files

KIT = Path(make.__file__).parent
SCRIPT = KIT.parent / "examples" / "report_windows.py"


@pytest.fixture
def consumer(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import report_windows

    return report_windows


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def test_files_are_read_or_refused(consumer):
    for row in rows("windows.json"):
        assert consumer.Windows((KIT / row["file"]).read_bytes()).fingerprint().hex() == row["fingerprint"]
    for row in rows("windows-refused.json"):
        if row["by"] != "verify":
            with pytest.raises((ValueError, RecursionError)):
                consumer.Windows((KIT / row["file"]).read_bytes())


def test_strings_have_their_normal_forms(consumer):
    for row in rows("strings.json"):
        given = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape") * row.get("times", 1)
        assert consumer.normal(given, row["form"]).encode() == bytes.fromhex(row.get("normal", ""))


def test_reports_are_those_of_the_kit(consumer):
    for row in rows("windows-fresh.json"):
        windows = consumer.Windows((KIT / row["mechanism"]).read_bytes())
        source = iter(bytes.fromhex(row["bytes"]))
        assert windows.fresh_reports(row["strings"], lambda size, s=source: bytes(islice(s, size))) == row["reports"]
        assert next(source, None) is None
    for row in rows("windows-keyed.json"):
        windows = consumer.Windows((KIT / row["mechanism"]).read_bytes())
        records = list(zip(row["ids"], row["strings"], strict=True))
        assert windows.permanent_reports(bytes.fromhex(row["key"]), records, row["attribute"]) == row["reports"]


def check_streams(consumer, draws):
    for row in rows("windows-streams.json"):
        if row["draws"] != draws:
            continue
        windows = consumer.Windows((KIT / row["mechanism"]).read_bytes())
        strings = [f"s{i * i % 1_009}" for i in range(draws)]
        if "key" in row:
            records = [(f"id {i}", string) for i, string in enumerate(strings)]
            found = windows.permanent_reports(bytes.fromhex(row["key"]), records, row["attribute"])
        else:
            words = make.words()
            found = windows.fresh_reports(strings, lambda size, w=words: next(w).to_bytes(size, "little"))
        assert hashlib.sha256("".join(f"{each}\n" for each in found).encode()).hexdigest() == row["sha256"], row


def test_short_streams(consumer):
    check_streams(consumer, make.SHORT)


def test_the_command(tmp_path):
    path, key = KIT / "windows/folded.json", md.Key(bytes(range(32)))
    key.write(tmp_path / "k")
    strings, ids = ["Straße", " ΣΊΣΥΦΟΣ", "e\u0301te\u0301"], ["ann", "bob", "eve"]
    mechanism = window_files.load(path, WindowMechanism)

    def run(text, *arguments):
        command = [sys.executable, SCRIPT, path, *arguments]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    lines = "".join(f"{name}\t{string}\n" for name, string in zip(ids, strings, strict=True))
    expected = mechanism.privatize(strings, key=key, ids=ids)
    assert run(lines, tmp_path / "k") == (0, "".join(f"{each}\n" for each in expected), "")
    status, out, _ = run("\n".join(strings))
    assert status == 0
    mechanism.numbers([int(line) for line in out.split()])
    for text, arguments in (("a\n \n", []), ("ann\ta\nbob\tb\tc\n", [tmp_path / "k"])):
        status, out, err = run(text, *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("Error: line 2: ")
