"""The conformance kit is what the package says, and three consumers that share nothing with it agree."""

import hashlib
import json
import os
import shutil
import subprocess
from itertools import cycle, islice
from pathlib import Path

import pytest
from refusals import raises

import mechdesign as md
from conformance import make, make_prefixes, make_records, make_windows
from examples import report
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.records import RecordMechanism

KIT = Path(make.__file__).parent
EXAMPLES = KIT.parent / "examples"
ROOMS = (make_windows, make_prefixes, make_records)
BY_HAND = {"README.md", "make.py", *(Path(room.__file__).name for room in ROOMS)}
STREAMS = {f"{before}streams.json" for before in ("", "windows-", "prefixes-", "records-")}
MOST_BYTES = 100_000


def rows(name):
    return json.loads((KIT / name).read_text(encoding="utf-8"))


def names(column):
    return [row["file"] for row in rows(column)]


def consumer(path):
    return report.Mechanism((KIT / path).read_bytes())


# The kit


def test_the_files_are_those_that_the_package_writes(tmp_path):
    files = make.small_files(make.saved_in(tmp_path))
    for room in ROOMS:
        files |= room.small_files()
    there = {path.relative_to(KIT).as_posix() for path in KIT.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert there == {*files, *BY_HAND, *STREAMS}
    for path, content in files.items():
        assert (KIT / path).read_bytes() == content, path
    assert max((KIT / path).stat().st_size for path in there) < MOST_BYTES


def test_the_short_streams_are_those_of_the_package():
    assert [row for row in rows("streams.json") if row["draws"] == make.SHORT] == make.short_streams()


@pytest.mark.slow
def test_the_long_streams_are_those_of_the_package():
    assert [row for row in rows("streams.json") if row["draws"] == make.DRAWS] == make.long_streams()


def test_words_at_once_are_those_one_by_one():
    assert make.many_words(1_000).tolist() == list(islice(make.words(), 1_000))
    assert make.many_words(1)[0] == 0xE220A8397B1DCDAF  # published with the generator


def test_mechanisms_are_proved_and_have_several_sets_and_bits():
    loaded = [md.Mechanism.load(KIT / name) for name in names("fingerprints.json")]
    assert all(mechanism.proof.holds for mechanism in loaded)
    assert [mechanism.fingerprint for mechanism in loaded] == [row["fingerprint"] for row in rows("fingerprints.json")]
    assert len({type(mechanism.guarantee.uncertainty) for mechanism in loaded}) >= 4
    assert {1, 32, 33, 52} <= {mechanism.bits for mechanism in loaded}
    assert (KIT / "mechanisms").is_dir()
    assert {path.name for path in (KIT / "mechanisms").iterdir()} == {Path(n).name for n in names("fingerprints.json")}


@pytest.mark.parametrize("row", rows("refused.json"), ids=lambda row: Path(row["file"]).stem)
def test_the_package_refuses_every_file_that_is_to_be_refused(row):
    expected = GuaranteeError if row["reason"].endswith("is false") else InputError
    with pytest.raises(expected):
        md.Mechanism.load(KIT / row["file"])


def test_the_package_refuses_the_attributes_that_are_to_be_refused():
    assert len(rows("attributes.json")) == len(make.REFUSED_ATTRIBUTES) >= 10
    for row in rows("attributes.json"):
        name = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape")
        with raises("bad-label"):
            md.Key(bytes(32)).for_attribute(name)


def test_the_package_refuses_the_ids_and_keys_that_are_to_be_refused(tmp_path):
    mechanism, key = md.Mechanism.load(KIT / "mechanisms/warner.json"), md.Key(bytes(32))
    for row in rows("ids.json"):
        name = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape")
        with pytest.raises(InputError):
            mechanism.privatize(["no", "no"], key=key, ids=["ann", name])
    for row in rows("key-files.json"):
        path = tmp_path / "key"
        path.write_bytes(bytes.fromhex(row["bytes"]))
        path.chmod(0o600)
        if "key" in row:
            assert md.Key.read(path).secret.hex() == row["key"]
        else:
            with raises("wrong-file-format"):
                md.Key.read(path)


# Python


def test_python_reads_and_refuses_files():
    for row in rows("fingerprints.json"):
        assert consumer(row["file"]).fingerprint().hex() == row["fingerprint"]
    for row in rows("refused.json"):
        if row["by"] == "consumer":
            with pytest.raises((ValueError, RecursionError)):
                consumer(row["file"])


@pytest.mark.parametrize("row", rows("fresh.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_python_draws_fresh_reports(row):
    mechanism = consumer(row["mechanism"])
    source = iter(bytes.fromhex(row["bytes"]))
    assert mechanism.fresh_reports(row["inputs"], lambda size: bytes(islice(source, size))) == row["reports"]
    assert next(source, None) is None
    for label in row["refused"]:
        with pytest.raises(report.RecordError) as caught:
            mechanism.fresh_reports([*row["inputs"], label], lambda size: pytest.fail("bytes were drawn"))
        assert caught.value.position == len(row["inputs"])


@pytest.mark.parametrize("row", rows("keyed.json"), ids=lambda row: Path(row["mechanism"]).stem)
def test_python_draws_permanent_reports(row):
    records = list(zip(row["ids"], row["inputs"], strict=True))
    found = consumer(row["mechanism"]).permanent_reports(bytes.fromhex(row["key"]), records, row["attribute"])
    assert found == row["reports"]


def test_python_refuses_attributes():
    mechanism = consumer("mechanisms/warner.json")
    for row in rows("attributes.json"):
        name = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape")
        with pytest.raises(ValueError, match="label") as refused:
            mechanism.permanent_reports(bytes(32), [("ann", "no")], name)
        assert not isinstance(refused.value, report.RecordError), row["reason"]


def test_python_refuses_ids_and_key_files():
    mechanism = consumer("mechanisms/warner.json")
    for row in rows("ids.json"):
        name = bytes.fromhex(row["bytes"]).decode(errors="surrogateescape")
        with pytest.raises(report.RecordError):
            mechanism.permanent_reports(bytes(32), [("ann", "no"), (name, "no")])
    for row in rows("key-files.json"):
        if "key" in row:
            assert report.key_of(bytes.fromhex(row["bytes"])).hex() == row["key"]
        else:
            with pytest.raises(ValueError, match="not a key file"):
                report.key_of(bytes.fromhex(row["bytes"]))


def check_streams(draws):
    """Run the streams of so many draws, and return how many there are."""
    wanted = [row for row in rows("streams.json") if row["draws"] == draws]
    for row in wanted:
        mechanism = consumer(row["mechanism"])
        labels = list(islice(cycle(mechanism.inputs), draws))
        if "key" in row:
            records = [(f"id {i}", label) for i, label in enumerate(labels)]
            found = mechanism.permanent_reports(bytes.fromhex(row["key"]), records, row["attribute"])
        else:
            source = make.words()
            found = mechanism.fresh_reports(labels, lambda size, source=source: next(source).to_bytes(size, "little"))
        text = "".join(f"{each}\n" for each in found)
        assert hashlib.sha256(text.encode()).hexdigest() == row["sha256"], row
    return len(wanted)


def test_python_agrees_on_short_streams():
    assert check_streams(make.SHORT) == 26


@pytest.mark.slow
def test_python_agrees_on_a_million_draws():
    assert check_streams(make.DRAWS) == 3


# JavaScript and Rust, which run the kit themselves


def passed(command, folder, **environment):
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("draws", [26_000, pytest.param(3_026_000, marks=pytest.mark.slow)])
def test_javascript_passes_the_kit(draws):
    settings = json.loads((EXAMPLES / "js" / "package.json").read_text(encoding="utf-8"))
    assert settings["scripts"]["test"] == "node --test"
    assert not [key for key in settings if "ependencies" in key]
    long = "1" if draws > 26_000 else "0"
    told = passed(["node", "--test", "--test-reporter=tap"], EXAMPLES / "js", MECHDESIGN_LONG=long)
    assert f"# {draws} draws\n" in told
    assert "# 16000 draws of windows\n" in told
    assert "# 14000 draws of views\n" in told
    assert "# 6000 draws of prefixes\n" in told
    assert "\n# fail 0\n" in told


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_rust_passes_the_kit_and_its_command_reports(tmp_path):
    folder = EXAMPLES / "rust"
    assert "dependencies" not in (folder / "Cargo.toml").read_text(encoding="utf-8")
    target = {"CARGO_TARGET_DIR": str(tmp_path)}
    told = passed(["cargo", "test", "--offline", "--locked", "--release", "--", "--include-ignored"], folder, **target)
    assert "test long_streams ... ok" in told
    assert "test long_streams_of_windows ... ok" in told
    passed(["cargo", "build", "--offline", "--locked", "--release"], folder, **target)
    command = [str(tmp_path / "release" / "mechdesign-report"), str(KIT / "mechanisms/all-52-bits.json")]
    mechanism = md.Mechanism.load(command[1])
    key = md.Key(bytes(range(32)))
    key.write(tmp_path / "k")
    records = [(f"a\t{i}", mechanism.inputs[i % 8]) for i in range(100)]
    lines = "".join(f"{name}\t{label}\r\n" for name, label in records)

    def run(text, *arguments):
        done = subprocess.run([*command, *arguments], input=text.encode(), capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    expected = mechanism.privatize([label for _, label in records], key=key, ids=[name for name, _ in records])
    assert run(lines, str(tmp_path / "k")) == (0, "".join(f"{each}\n" for each in expected), "")
    status, out, err = run("0\n__proto__\n")
    assert (status, out.count("\n"), err) == (0, 2, "")  # a label holds U+2029
    status, out, err = run("0\n00\n")
    assert (status, out) == (2, "")
    assert err == f'Error: line 2: "00" is not an input of {command[1]}; nothing was reported\n'
    assert run("ann\t0\n ann\t0\n", str(tmp_path / "k"))[:2] == (2, "")
    command[1] = str(KIT / "records/rare-views.json")
    record = dict.fromkeys(("a0", "a1", "a2", "a3"), "1")
    made = RecordMechanism.load(command[1]).privatize({name: ["1"] for name in record}, key=key, ids=["a\tb"])
    expected = f"{made['view'][0]}\t{made['report'][0]}\n"
    assert run(f"a\tb\t{json.dumps(record)}\n", str(tmp_path / "k")) == (0, expected, "")
    status, out, err = run(f"{json.dumps(record)}\n{{}}\n")
    assert (status, out) == (2, "")
    assert err == 'Error: line 2: there is no text for "a0"; nothing was reported\n'
    (tmp_path / "k").chmod(0o640)
    status, out, err = run(lines, str(tmp_path / "k"))
    assert (status, out) == (2, "")
    assert err.endswith(f"chmod 600 {tmp_path / 'k'}\n")
    assert key.secret.hex() not in err


def test_the_kit_is_in_the_source_distribution():
    assert '"/conformance"' in (KIT.parent / "pyproject.toml").read_text(encoding="utf-8")
