"""The verifier of windows in examples/ and the package say the same of every file; it counts with its own code."""

import json
import subprocess
import sys
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


@pytest.mark.parametrize("options", WORLDS)
def test_what_the_package_writes_is_proved_from_the_file_and_from_the_sample(prove, options):
    content = window_files.to_json(designed(**options).mechanism)
    assert prove(content).endswith("the samples were taken as the file has them")
    assert prove(content, COUNTS).endswith("the samples were counted anew")
    cells = window_files.to_json(designed(**options).mechanism, evidence="buckets")
    assert prove(cells).endswith("the samples were taken as the file has them")
    with pytest.raises(RuntimeError, match=r"do not close|more than 2224 samples"):
        prove(json.dumps(moved_sample(json.loads(content))))
    both = json.loads(cells)
    both["evidence"]["held"] = json.loads(content)["evidence"]["held"]
    with pytest.raises(RuntimeError, match="held and units"):
        prove(json.dumps(both))
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


@pytest.mark.parametrize("evidence", [True, "buckets"])
def test_the_package_and_the_script_agree_on_forged_files(prove, evidence, tmp_path):
    accepted = set()
    for key, record in forgeries(evidence):
        content = json.dumps(record).encode()
        try:
            window_files.from_json(content, "w.json", WindowMechanism).prove()
            package = True
        except MechdesignError:
            package = False
        try:
            prove(content)
            script = True
        except RuntimeError:
            script = False
        accepted |= {key} if package else set()
        assert package <= script, record["epsilon"]  # the package also asks that the threshold be the least one
        if script and not package:
            with raises("bad-field"):
                window_files.from_json(content, "w.json", WindowMechanism)
        if package:  # another layout or digest than that of the evidence is told where the sample is counted anew
            with pytest.raises(RuntimeError, match=r"not that of the digest|holds less than"):
                prove(content, COUNTS)
            (tmp_path / "w.json").write_bytes(content)
            with raises("guarantee-false"):
                WindowMechanism.load(tmp_path / "w.json", COUNTS)
    assert accepted == ({"sha256", "heavy"} if evidence is True else {"heavy"})


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
