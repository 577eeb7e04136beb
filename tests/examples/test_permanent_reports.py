"""Permanent reports of the consumers are those of the package, byte for byte."""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md

PACKAGE = Path(__file__).parents[2] / "examples" / "js"
NODE = shutil.which("node") or "node"
KEY = md.Key(bytes(range(7, 39)))
LABELS = ("no", "ja, später", "日本", "🂡", "__proto__", "'\"\\")
RNG = np.random.default_rng(8)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
COMMANDS = {"node": [NODE, str(PACKAGE / "command.js")], "python": [sys.executable, str(PACKAGE.parent / "report.py")]}

# Of each record: the hash, the integer and the report.
DRIVER = """
const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64"));
(async () => {
  const { Mechanism } = await import(process.argv[1] + "/report.js");
  const { firstBits } = await import(process.argv[1] + "/words.js");
  const { keyedHash } = await import(process.argv[1] + "/blake2b.js");
  const answers = [];
  for (const { mechanism, key, attribute, records, messages } of cases) {
    const consumer = new Mechanism(mechanism);
    const hashes = messages.map((message) => Uint32Array.from(keyedHash(bytes(key), bytes(message))));
    answers.push({
      fingerprint: Buffer.from(await consumer.fingerprint()).toString("hex"),
      hashes: hashes.map((words) => Buffer.from(words.buffer).toString("hex")),
      integers: hashes.map((words) => firstBits(words, mechanism.bits)),
      reports: await consumer.permanentReports(bytes(key), records, attribute),
    });
  }
  process.stdout.write(JSON.stringify(answers));
})();
"""


def mechanism(bits):
    """Six inputs, seven outputs if the bits allow it, and cuts anywhere between the integers."""
    outputs = min(2**bits, 7)
    cuts = [np.sort(RNG.choice(2**bits - 1, outputs - 1, replace=bits > 20) + 1) for _ in LABELS]
    rows = np.array([np.diff(row, prepend=0, append=2**bits) for row in cuts])
    rows = rows[:, rows.any(axis=0)]
    promise = md.Guarantee("log(6)", md.L1Ball(["1/6"] * 6, labels=LABELS))
    return md.Mechanism(rows, bits, promise, [f"ü{j}" for j in range(rows.shape[1])])


def ids(size):
    signs = np.array([*"abcxyz0189 .-_äéß€日本語🂡", "e\u0301", "\0", "\n", "\ufffd"], dtype=object)
    lengths = np.minimum(RNG.geometric(1 / 20, size), 400)
    found = ["".join(RNG.choice(signs, length)) for length in lengths]
    # Around the ends of blocks of 128 bytes, and beyond.
    return [f"a{name}b" for name in found]


LONG_IDS = ["x" * length for length in range(1, 300)] + ["é" * 50_000]


@needs_node
@pytest.mark.parametrize("wanted", [4_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_vectors_agree_for_every_number_of_bits(wanted, tmp_path):
    cases, expected, vectors = [], [], 0
    for bits in range(1, 53):
        made = mechanism(bits)
        made.save(tmp_path / "m.json")
        names = ids(-(-wanted // 52)) + (LONG_IDS if bits == 52 else [])
        codes = RNG.integers(0, len(LABELS), len(names))
        records = [[name, LABELS[code]] for name, code in zip(names, codes, strict=True)]
        attribute = ["", "smokes", "été 🂡"][bits % 3]
        key = KEY.for_attribute(attribute) if attribute else KEY
        start = bytes.fromhex(made.fingerprint) + _text(attribute)
        messages = [start + _text(label) + name.encode() for name, label in records]
        cases.append(
            {
                "mechanism": json.loads((tmp_path / "m.json").read_text(encoding="utf-8")),
                "key": base64.b64encode(KEY.secret).decode(),
                "attribute": attribute,
                "records": records,
                "messages": [base64.b64encode(message).decode() for message in messages],
            }
        )
        hashes = [_hash(message) for message in messages]
        integers = made.permanent_reports(key).integers(codes, [name.encode() for name in names])
        assert integers.tolist() == [int.from_bytes(word, "little") >> (64 - bits) for word in hashes]
        expected.append(
            {
                "fingerprint": made.fingerprint,
                "hashes": [word.hex() for word in hashes],
                "integers": integers.tolist(),
                "reports": made.privatize([label for _, label in records], key=key, ids=names),
            }
        )
        vectors += len(records)
    assert vectors >= wanted
    done = subprocess.run(
        [NODE, "-e", DRIVER, PACKAGE.as_posix()], input=json.dumps(cases).encode(), capture_output=True, check=True
    )
    assert json.loads(done.stdout) == expected


def _text(value):
    return len(value.encode()).to_bytes(8, "little") + value.encode()


def _hash(message):
    return hashlib.blake2b(message, key=KEY.secret, digest_size=8, person=b"mechdesign-key-1").digest()


@pytest.fixture
def files(tmp_path):
    mechanism(52).save(tmp_path / "m.json")
    KEY.write(tmp_path / "k")
    return tmp_path


@pytest.fixture(params=[pytest.param("node", marks=needs_node), "python"])
def command(request):
    return COMMANDS[request.param]


def run(command, folder, text, *arguments):
    done = subprocess.run([*command, "m.json", *arguments], input=text, capture_output=True, check=False, cwd=folder)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.combined
@pytest.mark.parametrize("attribute", [(), ("smokes",)])
def test_the_command_gives_the_reports_of_the_package(attribute, command, files):
    names = [f"id {i}" for i in range(500)] + ["a\tb", "é", "e\u0301", "日本語"]
    values = [LABELS[i % 6] for i in range(len(names))]
    text = "".join(f"{name}\t{value}\n" for name, value in zip(names, values, strict=True))
    status, out, err = run(command, files, text.encode(), "k", *attribute)
    assert (status, err) == (0, "")
    key = KEY.for_attribute(*attribute) if attribute else KEY
    assert out.split("\n")[:-1] == md.Mechanism.load(files / "m.json").privatize(values, key=key, ids=names)


@pytest.mark.combined
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"ann\tperhaps", "is not an input of m.json; nothing was reported"),
        (b"no", "the id is empty, not UTF-8, or has white space around it; nothing was reported"),
        (b"\tno", "the id is empty"),
        (b" ann\tno", "or has white space around it"),
        (b"ann \tno", "or has white space around it"),
        ("ann\u3000\tno".encode(), "or has white space around it"),
        (b"a\xff\tno", "not UTF-8"),
    ],
)
def test_a_line_that_is_refused_is_named_and_nothing_is_reported(line, told, command, files):
    status, out, err = run(command, files, b"bob\tno\n" + line + b"\n", "k")
    assert (status, out) == (2, "")
    assert err.startswith("Error: line 2: ")
    assert told in err


def test_keys_that_others_can_read_are_refused_and_never_shown(command, files):
    (files / "other").write_text("secret")
    (files / "other").chmod(0o600)
    for name, told in (("other", "is not a key file"), ("absent", "cannot read absent: "), (".", "is not a key")):
        status, out, err = run(command, files, b"ann\tno\n", name)
        assert (status, out) == (2, "")
        assert told in err
        assert "secret" not in err
    (files / "k").chmod(0o640)
    status, out, err = run(command, files, b"ann\tno\n", "k")
    assert (status, out) == (2, "")
    assert err.endswith("chmod 600 k\n")
    assert KEY.secret.hex() not in err


PAGE = """
const vm = require("node:vm"), fs = require("node:fs"), folder = process.argv[1];
// What a page has: no require, no process, no Buffer.
const crypto = globalThis.crypto;
const room = vm.createContext({ crypto, TextEncoder, TextDecoder, Uint8Array, Uint32Array, console });
const made = (name) =>
  new vm.SourceTextModule(fs.readFileSync(`${folder}/${name}`, "utf8"), { context: room, identifier: name });
const page = new vm.SourceTextModule(process.argv[2], { context: room });
room.content = new Uint8Array(fs.readFileSync("m.json"));
page.link((name) => made(name.replace("./", ""))).then(() => page.evaluate());
"""
SCRIPT = """
import { Mechanism } from "./report.js";
const mechanism = Mechanism.read(content);
const reports = await mechanism.permanentReports(new Uint8Array(32), [["ann", "no"]]);
console.log(reports[0], mechanism.freshReports(["no"]).length);
"""


@needs_node
def test_a_browser_needs_nothing_but_the_files(files):
    command = [NODE, "--no-warnings", "--experimental-vm-modules", "-e", PAGE, PACKAGE.as_posix(), SCRIPT]
    done = subprocess.run(command, capture_output=True, check=True, cwd=files)
    expected = md.Mechanism.load(files / "m.json").privatize(["no"], key=md.Key(bytes(32)), ids=["ann"])
    assert done.stdout.decode() == f"{expected[0]} 1\n"
