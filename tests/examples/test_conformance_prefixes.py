"""The windows of prefixes of the conformance kit are what the package says; permanent reports what its page says."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

import mechdesign as md
from conformance import make, make_prefixes
from mechdesign.errors import InputError
from mechdesign.windows import PrefixWindows
from mechdesign.windows.prefix_files import load
from mechdesign.windows.strings import normal
from tests.examples.test_conformance_windows import EXAMPLES, NODE, needs_node

KIT = Path(make.__file__).parent


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def loaded(path):
    return load(KIT / path, PrefixWindows)


def test_the_files_have_the_fingerprints_and_cover_every_case():
    made = [loaded(row["file"]) for row in rows("prefixes.json")]
    assert [one.fingerprint for one in made] == [row["fingerprint"] for row in rows("prefixes.json")]
    assert {one.form for one in made} == {"nfc", "nfc-casefold"}
    assert {(one.promise.floor > 0, bool(one.heavy)) for one in made} == {(False, False), (False, True), (True, True)}
    assert {len(one.lengths) for one in made} == {1, 3}


@pytest.mark.parametrize("row", rows("prefixes-refused.json"), ids=lambda row: Path(row["file"]).stem)
def test_the_package_refuses_every_file_that_is_to_be_refused(row):
    with pytest.raises(InputError):
        loaded(row["file"])


def test_the_streams_are_those_of_the_package():
    assert rows("prefixes-streams.json") == make_prefixes.streams()


def text(value):
    return len(value.encode()).to_bytes(8, "little") + value.encode()


@pytest.mark.parametrize("row", rows("prefixes-keyed.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_a_permanent_report_is_that_of_the_level_which_a_hash_of_key_and_id_draws(row):
    made, secret = loaded(row["mechanism"]), bytes.fromhex(row["key"])
    key = md.Key(secret).for_attribute(row["attribute"]) if row["attribute"] else md.Key(secret)
    drawn = set()
    for name, string, report in zip(row["ids"], row["strings"], row["reports"], strict=True):
        start = bytes.fromhex(made.fingerprint) + text(row["attribute"]) + bytes(8) + name.encode()
        word = hashlib.blake2b(start, key=secret, digest_size=32, person=b"mechdesign-key-w").digest()[:8]
        at = int.from_bytes(word, "little") % len(made.levels)
        level, length, drawn = made.levels[at], made.lengths[at], drawn | {at}
        (window,) = level.numbers(level.privatize([prefix_of(string, made.form, length)], key=key, ids=[name]))
        before = sum(each.size for each in made.levels[:at])
        assert int(report) == made.outputs.first + before + window
    assert drawn == set(range(len(made.levels)))


def prefix_of(string, form, length):
    found = normal(string, form)
    return found if len(found) <= length else found[:length] + "\u2026"


@needs_node
def test_the_command_in_javascript_gives_the_reports_of_the_package(tmp_path):
    path, key = KIT / "prefixes/folded.json", md.Key(bytes(range(32)))
    key.write(tmp_path / "k")
    ids = [f"id {k}" for k in range(len(make_prefixes.STRINGS))]
    pairs = [(name, string) for name, string in zip(ids, make_prefixes.STRINGS, strict=True) if "\t" not in string]
    command = [NODE, str(EXAMPLES / "js" / "command.js"), str(path), str(tmp_path / "k"), "word"]

    def run(lines):
        done = subprocess.run(command, input=lines.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    made, (names, strings) = loaded(path), zip(*pairs, strict=True)
    expected = made.privatize(strings, key=key.for_attribute("word"), ids=list(names))
    lines = "".join(f"{name}\t{string}\n" for name, string in pairs)
    assert run(lines) == (0, "".join(f"{each}\n" for each in expected), "")
    status, out, err = run("ann\ta\tb\n")
    assert (status, out) == (2, "")
    assert err.startswith("Error: line 1: ")
