"""The fingerprint names what reports depend on, and nothing else."""

import hashlib
import json
import pickle
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.mechanism import Optimality, Provenance
from mechdesign.mechanism.origin import canonical_bytes

NUMERATORS = np.array([[5, 2, 1], [2, 5, 1], [2, 2, 4]])
INPUTS, OUTPUTS = ("low", "mittelgroß", "高"), ("a", "b", "c")


def mechanism(numerators=NUMERATORS, bits=3, inputs=INPUTS, outputs=OUTPUTS, epsilon="1.5", radius="0.1", **claims):
    known = md.L1Ball([0.5, 0.3, 0.2], radius=radius, labels=inputs)
    return md.Mechanism(numerators, bits, md.Guarantee(epsilon, known), outputs, **claims)


def test_the_documented_bytes_are_hashed():
    # By the words of docs/file-format.md, without the functions of the package.
    expected = b"mechdesign/fingerprint/1"
    for labels in (INPUTS, OUTPUTS):
        expected += struct.pack("<Q", 3)
        for label in labels:
            expected += struct.pack("<Q", len(label.encode())) + label.encode()
    expected += struct.pack("<Q", 3) + struct.pack("<9Q", 5, 2, 1, 2, 5, 1, 2, 2, 4)
    found = mechanism()
    assert canonical_bytes(found.parts) == expected
    assert found.fingerprint == hashlib.sha256(expected).hexdigest()


def test_a_fixed_vector():
    # It must never change: permanent reports of earlier versions depend on it.
    assert mechanism().fingerprint == "6a41be8a15720c8203ca31ebc37aa4cc352d7a94c15e11f4ad62c9a4dd811780"


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_files_keep_it(ending, tmp_path):
    mechanism().save(tmp_path / f"m{ending}")
    assert md.Mechanism.load(tmp_path / f"m{ending}").fingerprint == mechanism().fingerprint


def test_pickles_keep_it():
    assert pickle.loads(pickle.dumps(mechanism())).fingerprint == mechanism().fingerprint


def test_reports_do_not_depend_on_promises_and_claims():
    claim = Optimality(md.MutualInformation(), 0.1, 1.0, (0.1, 0.2, 0.3))
    others = [
        mechanism(epsilon="2"),
        mechanism(radius="0.2"),
        mechanism(optimality=claim),
        mechanism(provenance=Provenance("0", "by hand", "title")),
    ]
    assert {other.fingerprint for other in others} == {mechanism().fingerprint}


def test_any_other_part_changes_it():
    rows = NUMERATORS.copy()
    rows[0] = [4, 3, 1]
    others = [
        mechanism(),
        mechanism(rows),
        mechanism(NUMERATORS[:, [1, 0, 2]]),
        mechanism(2 * NUMERATORS, 4),
        mechanism(inputs=("low", "mittelgros", "高")),
        mechanism(inputs=("mittelgroß", "low", "高")),
        mechanism(inputs=("lo", "wmittelgroß", "高")),
        mechanism(outputs=("a", "b", "d")),
        mechanism(outputs=("b", "a", "c")),
        mechanism(inputs=("é", "x", "y")),
        mechanism(inputs=("e\u0301", "x", "y")),  # another label, though it looks alike
    ]
    assert len({other.fingerprint for other in others}) == len(others)


def test_the_example_of_the_documentation(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
    (tmp_path / "m.json").write_text(re.search("```json\n(.*?)```", page, re.DOTALL)[1], encoding="utf-8")
    assert f"`{md.Mechanism.load(tmp_path / 'm.json').fingerprint}`" in page


@pytest.mark.parametrize("edit", ["inputs", "bits", "numerators"])
def test_a_file_changed_after_its_outputs_were_named_is_refused(tmp_path, edit):
    """Estimates of reports would be of other categories, and look sure."""
    ball = md.L1Ball.from_counts({"a": 500, "b": 300, "c": 150, "d": 50}, delta="1e-6")
    mechanism = md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism
    path = tmp_path / "m.json"
    mechanism.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    if edit == "inputs":
        document["inputs"].reverse()
    elif edit == "bits":
        document["bits"] += 1
        document["numerators"] = [[2 * n for n in row] for row in document["numerators"]]
    else:
        document["numerators"] = [row[::-1] for row in document["numerators"]]
    path.write_text(json.dumps(document), encoding="utf-8")
    with raises("wrong-mechanism", "the names of the outputs end in", "some were changed after"):
        md.Mechanism.load(path)
    document["outputs"] = [f"answer {j}" for j in range(len(document["outputs"]))]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert md.Mechanism.load(path).inputs == tuple(document["inputs"])


def test_a_mechanism_that_keeps_the_names_of_another_can_be_loaded(tmp_path):
    ball = md.L1Ball.from_counts({"a": 500, "b": 300, "c": 150, "d": 50}, delta="1e-6")
    first = md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism
    names = first.outputs
    merged = first.then({name: names[max(place, 1)] for place, name in enumerate(names)})
    merged.save(tmp_path / "merged.json")
    assert md.Mechanism.load(tmp_path / "merged.json").outputs == names[1:]
