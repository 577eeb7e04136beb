"""The verifier of windows in examples/ and the package say the same of every file; it counts with its own code."""

import base64
import hashlib
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

from mechdesign.errors import MechdesignError
from mechdesign.windows import WindowMechanism, design_prefix_windows, split_sample, window_files
from mechdesign.windows.prefix_windows import prefix_sums
from tests.windows.worlds import COUNTS, EARLIER, designed, moved_sample

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_windows.py"
LEARNT = {"known": False, "delta": "1e-6"}
WORLDS = [
    {},
    {"cap": "3"},
    LEARNT,
    LEARNT | {"heavy": EARLIER},
    LEARNT | {"heavy": EARLIER, "cap": "2", "any_seed": True, "epsilon": "log(3)"},
    LEARNT | {"heavy": EARLIER, "epsilon": "0.2", "form": "nfc-casefold"},
]


@pytest.fixture
def prove(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import verify_windows

    return verify_windows.prove


@pytest.mark.sampled
@pytest.mark.parametrize("options", WORLDS)
def test_what_the_package_writes_is_proved_from_the_file_and_from_the_sample(prove, options):
    content = window_files.to_json(designed(**options).mechanism)
    assert prove(content).endswith("the samples were taken as the file has them")
    assert prove(content, COUNTS).endswith("the samples were counted anew")
    cells = window_files.to_json(designed(**options).mechanism, evidence="buckets")
    assert prove(cells).endswith("the samples were taken as the file has them")
    with pytest.raises(RuntimeError, match=r"more often than others|more than 2224 samples"):
        prove(json.dumps(moved_sample(json.loads(content))).encode())
    both = json.loads(cells)
    both["evidence"]["held"] = json.loads(content)["evidence"]["held"]
    with pytest.raises(RuntimeError, match="held and units"):
        prove(json.dumps(both).encode())
    with raises("bad-field"):
        window_files.from_json(json.dumps(both).encode(), "w.json", WindowMechanism)
    bare = window_files.to_json(designed(**options).mechanism, evidence=False)
    assert prove(bare, COUNTS).startswith("proved: PML with epsilon = ")
    with pytest.raises(RuntimeError, match="give the sample"):
        prove(bare)


def test_another_sample_is_refused(prove):
    content = window_files.to_json(designed(**WORLDS[3]).mechanism)
    moved = COUNTS | {"s3": COUNTS["s3"] - 1, "s4": COUNTS["s4"] + 1}
    with pytest.raises(RuntimeError, match="not that of the digest"):
        prove(content, moved)
    with pytest.raises(RuntimeError, match="does not have 2224 records"):
        prove(content, COUNTS | {"more": 1})


def forgeries(evidence):
    """Files with one thing changed, each with its record."""
    for options in WORLDS:
        record = json.loads(window_files.to_json(designed(**options).mechanism, evidence=evidence))
        other = json.loads(
            window_files.to_json(
                designed(epsilon="1.3", **{k: v for k, v in options.items() if k != "epsilon"}).mechanism,
                evidence=evidence,
            )
        )
        for key in ("epsilon", "windows", "evidence", "master", "buckets", "seeds", "heavy", "form", "cap"):
            if key in record and other.get(key) != record[key]:
                yield key, record | {key: other.get(key)}
        for key, value in (
            ("samples", 2223),
            ("samples", 10**6),
            ("delta", "0.5"),
            ("threshold", 1),
            ("sha256", "0" * 64),
        ):
            yield key, record | {"evidence": record["evidence"] | {key: value}}
        yield "any_seed", record | {"evidence": record["evidence"] | {"any_seed": not record["evidence"]["any_seed"]}}
        yield "epsilon", record | {"epsilon": "0.19"}
        yield "epsilon", record | {"epsilon": "0"}


def proves(content):
    """Whether the package proves a file."""
    try:
        window_files.from_json(content, "w.json", WindowMechanism).prove()
    except MechdesignError:
        return False
    return True


def accepts(prove, content):
    """Whether the script proves a file; what it raises for one that is malformed is what its command catches."""
    try:
        return prove(content).startswith("proved: ")
    except (RuntimeError, ValueError, TypeError, LookupError, ArithmeticError):
        return False


@pytest.mark.parametrize("evidence", [True, "buckets"])
def test_the_package_and_the_script_agree_on_forged_files(prove, evidence, tmp_path):
    accepted = set()
    for key, record in forgeries(evidence):
        content = json.dumps(record).encode()
        assert proves(content) == accepts(prove, content), key
        if proves(content):  # another layout or digest than that of the evidence is told where the sample is recounted
            accepted.add(key)
            with pytest.raises(RuntimeError, match=r"not that of the digest|holds less than"):
                prove(content, COUNTS)
            (tmp_path / "w.json").write_bytes(content)
            with raises("guarantee-false"):
                WindowMechanism.load(tmp_path / "w.json", COUNTS)
    assert accepted == ({"sha256", "heavy"} if evidence is True else {"heavy"})


TEXTS = ("", "1", "x", "\ud800", "1e-9", "log(2)", "1_0", "nan", "0" * 3000)
JUNK = (*TEXTS, None, 0, -1, True, 1.5, 65_536, 10**30, [], [1], {})


@pytest.mark.parametrize("options", [WORLDS[1], *(pytest.param(x, marks=pytest.mark.slow) for x in WORLDS[2:4])])
def test_the_package_and_the_script_agree_on_any_value_of_any_key(prove, options):
    record = json.loads(window_files.to_json(designed(seeds=2, **options).mechanism))
    parts = [[], ["windows"], ["evidence"], *([["heavy"]] if "heavy" in record else [])]
    accepted = []
    for where in parts:
        for key in (*record, *(record[where[0]] if where else ()), "cap", "floor", "heavy", "units", "more"):
            for value in JUNK:
                part = (record[where[0]] if where else record) | {key: value}
                content = json.dumps(record | {where[0]: part} if where else part).encode()
                assert proves(content) == accepts(prove, content), (where, key, value)
                accepted += [key] if proves(content) else []
    assert set(accepted) <= {"epsilon", "cap", "floor", "heavy", "units", "master", "source", "light_units", "strings"}
    assert accepted  # a master word and a source may be any text, and what may be absent may be null


def packed(numbers, kind):
    return base64.b64encode(zlib.compress(np.array(numbers, dtype=kind).tobytes())).decode()


def test_evidence_whose_sum_overflows_is_refused(prove):
    """Four windows a round at epsilon 1 cannot all be heavy enough; 2^62 units each have a sum of 0 modulo 2^64."""
    record = json.loads(window_files.to_json(designed(seeds=1, buckets=8, **LEARNT).mechanism, evidence="buckets"))
    units = np.array([1 << 62, 0] * 4, dtype="<i8")
    record["windows"] = {"counts": packed([3], "<u2"), "starts": packed([0], "<u2"), "lengths": packed([1] * 4, "<u2")}
    record["evidence"] |= {"units": packed(units, "<i8"), "sha256": hashlib.sha256(units.tobytes()).hexdigest()}
    content = json.dumps(record).encode()
    with pytest.raises(RuntimeError, match="more than 2224 samples"):
        prove(content)
    with raises("guarantee-false", "more than 2224 samples"):
        window_files.from_json(content, "w.json", WindowMechanism).prove()


def test_few_bytes_do_not_ask_for_many(prove):
    """65,536 windows of each of 100,000 seeds would be 13 GB, which zeros of 13 MB unpack to."""
    record = json.loads(window_files.to_json(designed(seeds=1, buckets=8, **LEARNT).mechanism))
    record |= {"seeds": 100_000, "windows": record["windows"] | {"counts": packed([65_535] * 100_000, "<u2")}}
    record["windows"]["starts"] = packed([0] * 100_000, "<u2")
    content = json.dumps(record).encode()
    assert not accepts(prove, content)
    with raises("bad-field", "above the number of buckets"):
        window_files.from_json(content, "w.json", WindowMechanism)


def test_the_verifier_is_short_and_needs_the_standard_library_alone():
    lines = SCRIPT.read_text().splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) <= 120
    imported = {name for line in lines if line.startswith("import ") for name in line[7:].split(", ")}
    imported |= {line.split()[1] for line in lines if line.startswith("from ")}
    beside = {path.stem for path in SCRIPT.parent.glob("*.py")}
    assert imported - beside <= sys.stdlib_module_names


@pytest.mark.sampled
@pytest.mark.parametrize(("content", "status"), [(None, 0), (b"{}", 2), (b"[", 2), (b'{"schema": 1}', 2)])
def test_the_status_says_what_happened(tmp_path, content, status):
    made = window_files.to_json(designed().mechanism) if content is None else content
    (tmp_path / "w.json").write_bytes(made)
    (tmp_path / "s.json").write_text(json.dumps(COUNTS))
    for arguments in ([], [tmp_path / "s.json"]):
        done = subprocess.run(
            [sys.executable, SCRIPT, tmp_path / "w.json", *arguments], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (status, b"", 1)


def test_each_level_of_prefixes_is_a_file_that_is_proved_alone(prove, tmp_path):
    split = split_sample(COUNTS, "1/2", np.random.default_rng(1))
    options = {"delta": "1e-3", "heavy": split.heavy, "seeds": 3, "buckets": 32}
    design_prefix_windows(split.evidence, 2, (1, 2), **options).mechanism.save(tmp_path / "m.json")
    for length, level in zip((1, 2), json.loads((tmp_path / "m.json").read_text())["levels"], strict=True):
        content = json.dumps(level).encode()
        assert "1 - 0.0005" in prove(content)
        assert prove(content, prefix_sums(split.evidence, length)).endswith("counted anew")
