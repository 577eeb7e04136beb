"""The windows of the conformance kit are what the package says; `test_conformance.py` runs JavaScript and Rust."""

import importlib.util
import json
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from refusals import raises

import mechdesign as md
from conformance import make, make_windows
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.windows import WindowMechanism, window_files
from mechdesign.windows.strings import normal

KIT = Path(make.__file__).parent
EXAMPLES = KIT.parent / "examples"
NODE = shutil.which("node") or "node"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def loaded(path):
    return window_files.load(KIT / path, WindowMechanism)


def test_the_short_streams_are_those_of_the_package():
    assert [row for row in rows("windows-streams.json") if row["draws"] == make.SHORT] == make_windows.short_streams()


@pytest.mark.slow
def test_the_long_streams_are_those_of_the_package():
    assert [row for row in rows("windows-streams.json") if row["draws"] == make.DRAWS] == make_windows.long_streams()


def test_the_files_have_the_fingerprints_and_cover_every_case():
    made = [loaded(row["file"]) for row in rows("windows.json")]
    assert [one.fingerprint for one in made] == [row["fingerprint"] for row in rows("windows.json")]
    assert {one.form for one in made} == {"nfc", "nfc-casefold"}
    heavy = [one.layout for one in made if one.layout.heavy is not None]
    assert any(0 < layout.one_layer < layout.seeds.count for layout in heavy)
    assert {(one.promise.floor > 0, one.layout.heavy is None) for one in made} == {
        (a, b) for a in (0, 1) for b in (0, 1)
    }


@pytest.mark.parametrize("row", rows("windows-refused.json"), ids=lambda row: Path(row["file"]).stem)
def test_the_package_refuses_every_file_that_is_to_be_refused(row):
    if row["by"] == "consumer alone":
        loaded(row["file"]).prove()
        return
    with pytest.raises((InputError, GuaranteeError)):
        loaded(row["file"]).prove()


@pytest.mark.parametrize("row", rows("windows-keyed.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_permanent_reports_are_those_of_the_package_in_bulk_and_one_by_one(row):
    mechanism = loaded(row["mechanism"])
    key = md.Key(bytes.fromhex(row["key"]))
    key = key.for_attribute(row["attribute"]) if row["attribute"] else key
    for string, name, report in zip(row["strings"][::5], row["ids"][::5], row["reports"][::5], strict=True):
        assert mechanism.privatize([string], key=key, ids=[name]).tolist() == [int(report)]


def test_some_words_of_the_fresh_reports_are_refused():
    for row in rows("windows-fresh.json"):
        words = [row["bytes"][k : k + 16] for k in range(0, len(row["bytes"]), 16)]
        draws = 4 if loaded(row["mechanism"]).promise.floor else 3
        assert len(words) >= draws * len(row["strings"])
    assert any(len(row["bytes"]) // 16 > 4 * len(row["strings"]) for row in rows("windows-fresh.json"))


def test_strings_have_the_normal_forms_of_the_package():
    for row in rows("strings.json"):
        given = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape") * row.get("times", 1)
        if "reason" in row:
            with pytest.raises(InputError):
                normal(given, row["form"])
        else:
            assert normal(given, row["form"]) == bytes.fromhex(row["normal"]).decode()


def test_the_table_of_rust_is_that_of_unicode():
    found = importlib.util.spec_from_file_location("nfc_table", EXAMPLES / "rust" / "nfc_table.py")
    table = importlib.util.module_from_spec(found)
    found.loader.exec_module(table)
    there = (EXAMPLES / "rust" / "src" / "nfc.txt").read_text(encoding="utf-8").splitlines()
    if unicodedata.unidata_version == "14.0.0":
        assert there == list(table.lines())
    else:  # later versions add letters, and change none
        assert {line for line in there if line[0] != "#" and "-" not in line} <= set(table.lines())


@needs_node
def test_the_command_in_javascript_gives_the_reports_of_the_package(tmp_path):
    """Any string, of either form; a line that leaves open where the id ends is refused, as are strings."""
    path, key = KIT / "windows/folded.json", md.Key(bytes(range(32)))
    key.write(tmp_path / "k")
    strings = ["Straße", " ΣΊΣΥΦΟΣ", "e\u0301te\u0301", "ﬃ", "never seen"]

    def run(text, *arguments):
        command = [NODE, str(EXAMPLES / "js" / "command.js"), str(path), *arguments]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    ids = [f"id {k}" for k in range(len(strings))]
    lines = "".join(f"{name}\t{string}\n" for name, string in zip(ids, strings, strict=True))
    expected = loaded(path).privatize(strings, key=key.for_attribute("word"), ids=ids)
    assert run(lines, str(tmp_path / "k"), "word") == (0, "".join(f"{each}\n" for each in expected), "")
    status, out, err = run("\n".join(strings))
    assert (status, err) == (0, "")
    loaded(path).numbers([int(line) for line in out.split()])
    assert run("ann\ta\tb\n", str(tmp_path / "k"))[:2] == (2, "")
    status, out, err = run("a\n \n")
    assert (status, out) == (2, "")
    assert err.startswith("Error: line 2: ")


PAGE = """
const vm = require("node:vm"), fs = require("node:fs"), folder = process.argv[1];
// What a page has: no require, no process, no Buffer.
const has = { crypto: globalThis.crypto, TextEncoder, TextDecoder, Uint8Array, Uint32Array, atob, Blob, console };
const room = vm.createContext({ ...has, DecompressionStream });
const made = (name) =>
  new vm.SourceTextModule(fs.readFileSync(`${folder}/${name}`, "utf8"), { context: room, identifier: name });
const page = new vm.SourceTextModule(process.argv[2], { context: room });
room.content = new Uint8Array(fs.readFileSync(process.argv[3]));
page.link((name) => made(name.replace("./", ""))).then(() => page.evaluate());
"""
SCRIPT = """
import { Windows } from "./windows.js";
const mechanism = await Windows.read(content);
const reports = await mechanism.permanentReports(new Uint8Array(32), [["ann", "no"]]);
console.log(reports[0], (await mechanism.freshReports(["no"])).length);
"""


@needs_node
def test_a_browser_needs_nothing_but_the_files():
    path = KIT / "windows/capped.json"
    options = ["--no-warnings", "--experimental-vm-modules"]
    command = [NODE, *options, "-e", PAGE, (EXAMPLES / "js").as_posix(), SCRIPT, str(path)]
    done = subprocess.run(command, capture_output=True, check=True)
    expected = loaded(path).privatize(["no"], key=md.Key(bytes(32)), ids=["ann"])
    assert done.stdout.decode() == f"{expected[0]} 1\n"


def test_a_floor_that_is_not_that_of_the_promise_is_refused(tmp_path):
    table = json.loads((KIT / "windows/capped.json").read_text(encoding="utf-8"))
    (tmp_path / "w.json").write_text(json.dumps(table | {"floor": str(int(table["floor"]) - 1)}))
    with raises("bad-field"):
        WindowMechanism.load(tmp_path / "w.json")
    script = [sys.executable, str(EXAMPLES / "verify_windows.py")]
    for path, status in ((tmp_path / "w.json", 2), (KIT / "windows/capped.json", 0)):
        assert subprocess.run([*script, path], capture_output=True, check=False).returncode == status
