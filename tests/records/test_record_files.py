"""Files of views of records: round trips, and hostile files that promise more than their views prove."""

import copy
import json
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import GuaranteeError, InputError, design_records
from mechdesign.records import RecordMechanism, RecordPart
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_mechanism_files import from_content, record_json
from tests.records.made import both, raises, warner


def test_mechanisms_of_the_same_file_are_equal(tmp_path):
    """Those without claims report in the same way, and are other files."""
    counts = {"smokes": {"yes": 250, "no": 750}, "drinks": {"yes": 400, "no": 600}}
    mechanism = design_records(counts, 1, known=True).mechanism
    mechanism.save(tmp_path / "m.json")
    again = [RecordMechanism.load(tmp_path / "m.json"), copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))]
    assert all(one == mechanism for one in again)
    assert len({mechanism, *again}) == 1
    mechanism.save_for_reports(tmp_path / "bare.json")
    bare = RecordMechanism.load(tmp_path / "bare.json")
    assert bare.fingerprint == mechanism.fingerprint
    assert bare != mechanism
    assert mechanism != "m.json"
    assert mechanism not in mechanism.parts


def learnt():
    """Two views with deltas, one of them of two attributes."""
    pairs = ("f & low", "f & high", "m & low", "m & high")
    from mechdesign import Guarantee, L1Ball, Mechanism

    ball = L1Ball.from_counts(dict.fromkeys(pairs, 300), delta="1e-9")
    numerators = np.full((4, 4), 3, dtype=np.int64) + 4 * np.eye(4, dtype=np.int64)
    four = Mechanism(numerators, 4, Guarantee(1, ball))
    parts = [
        RecordPart("smokes", ("smokes",), 5, warner(epsilon="1.1", delta="1e-9")),
        RecordPart("sex+salary", ("sex", "salary"), 3, four),
    ]
    return RecordMechanism(parts, weight_bits=3)


def test_a_file_holds_all_that_reports_and_promises_depend_on(tmp_path):
    path = tmp_path / "records.json"
    for made in (both(), learnt()):
        made.save(path)
        found = RecordMechanism.load(path)
        assert found.fingerprint == made.fingerprint
        assert found.leakage == made.leakage
        assert found.guarantee.delta == made.guarantee.delta
        assert [part.name for part in found.parts] == [part.name for part in made.parts]
        made.save_for_reports(path)
        assert RecordMechanism.load(path).fingerprint == made.fingerprint


HOSTILE = {
    "epsilon of the whole below that of a view": (lambda file: file.update(epsilon="1"), GuaranteeError),
    "delta of the whole below the sum": (lambda file: file.update(delta="1e-9"), GuaranteeError),
    "a delta that is left out": (lambda file: file.pop("delta"), GuaranteeError),
    "a view that is not proved": (
        lambda file: file["parts"][0]["mechanism"]["guarantee"].update(epsilon="0.5"),
        GuaranteeError,
    ),
    "weights that do not sum": (lambda file: file["parts"][0].update(weight=4), InputError),
    "a weight of zero": (
        lambda file: (file["parts"][0].update(weight=0), file["parts"][1].update(weight=8)),
        InputError,
    ),
    "an attribute twice in a view": (lambda file: file["parts"][1].update(attributes=["sex", "sex"]), InputError),
    "a view twice": (lambda file: file["parts"][1].update(name="smokes"), InputError),
    "two views of one attribute set": (lambda file: file["parts"][0].update(attributes=["salary", "sex"]), InputError),
    "labels that are not of so many attributes": (
        lambda file: file["parts"][1].update(attributes=["sex", "salary", "age"]),
        InputError,
    ),
    "a label that can be read in two ways": (
        lambda file: file["parts"][1]["mechanism"]["inputs"].__setitem__(0, "f & & low"),
        InputError,
    ),
    "bins that no view has": (lambda file: file.update(bins={"smokes": [1, 2]}), InputError),
    "bins that do not increase": (lambda file: file.update(bins={"smokes": [2, 1]}), InputError),
    "a key that nobody knows": (lambda file: file.update(weights=[1]), InputError),
    "no views": (lambda file: file.update(parts=[]), InputError),
    "another schema": (lambda file: file.update(schema="mechdesign/records/2"), InputError),
    "weights of many bits": (lambda file: file.update(weight_bits=64), InputError),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused(tmp_path, name):
    path = tmp_path / "records.json"
    learnt().save(path)
    file = json.loads(path.read_text())
    change, error = HOSTILE[name]
    change(file)
    path.write_text(json.dumps(file))
    with pytest.raises(error):
        RecordMechanism.load(path)


WINDOWS = {
    "schema": "mechdesign/windows/1",
    "epsilon": "1",
    "master": "m",
    "seeds": 1,
    "buckets": 2,
    "form": "nfc",
    "windows": dict.fromkeys(("counts", "starts", "lengths"), ""),
    "evidence": {"samples": 1, "threshold": 1, "sha256": "0" * 64},
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda mechanism: mechanism.update(x=1),
            "the key 'parts.0.mechanism.x' is unknown; accepted: bits, guarantee,",
        ),
        (
            lambda mechanism: (mechanism.clear(), mechanism.update(WINDOWS, x=1)),
            "the key 'parts.0.mechanism.x' is unknown; accepted: buckets, cap, epsilon, evidence, floor, form,",
        ),
        (lambda mechanism: mechanism.update(bits="x"), "parts.0.mechanism.bits is 'x'; accepted:"),
        (lambda mechanism: mechanism.pop("inputs"), "the key 'parts.0.mechanism.inputs' is missing"),
    ],
    ids=["unknown", "unknown of windows", "wrong", "missing"],
)
def test_a_message_names_a_key_of_a_view_as_the_file_does(tmp_path, change, told):
    path = tmp_path / "records.json"
    learnt().save(path)
    file = json.loads(path.read_text())
    change(file["parts"][0]["mechanism"])
    path.write_text(json.dumps(file))
    with pytest.raises(InputError, match=re.escape(told)):
        RecordMechanism.load(path)


def test_the_deltas_of_all_views_may_not_sum_to_one():
    halves = [RecordPart(name, (name,), 1, warner(epsilon=1.1, delta="1/2")) for name in ("a", "b")]
    with raises("delta-out-of-range"):
        RecordMechanism(halves, weight_bits=1)
    assert learnt().guarantee.delta == Fraction(2, 10**9)


def test_proofs_that_would_take_long_are_refused_before_they_start(tmp_path, monkeypatch):
    learnt().save(tmp_path / "records.json")
    monkeypatch.setattr("mechdesign.records.record_mechanism_files._MOST_STEPS", 1)
    with raises("file-too-large"):
        RecordMechanism.load(tmp_path / "records.json")


def test_views_of_too_many_combinations_are_refused_by_name(monkeypatch):
    made = learnt()
    monkeypatch.setattr("mechdesign.records.record_columns.MOST_CELLS", 3)
    with raises("too-many-given") as error:
        RecordMechanism(made.parts, made.weight_bits)
    assert "sex+salary has 4 combinations" in str(error.value)


@pytest.mark.parametrize("value", [0, -1, 1e-101, 1e101, 1e308])
def test_values_that_no_error_can_be_told_of_are_refused(value):
    claim = {"error": 5, "lower_bound": 1, "values": [value, 1], "measures": []}
    content = json.dumps(json.loads(record_json(learnt())) | {"optimality": claim}).encode()
    with pytest.raises(InputError, match=r"optimality\.values"):
        from_content(content, "records.json", RecordMechanism)


def test_windows_of_prefixes_are_no_views():
    from mechdesign.windows import design_prefix_windows

    windows = design_prefix_windows({"ab": 500, "cd": 500}, 1, [1, 2], known=True, seeds=4, buckets=8).mechanism
    with raises("wrong-type"):
        RecordPart("word", ("word",), 1, windows)


@pytest.mark.parametrize(
    ("edges", "code"),
    [([], "wrong-size"), ([2, 1], "out-of-range"), ([1, 1], "out-of-range"), ([float("inf")], "out-of-range"),
     ([True], "not-a-number"), (["1"], "not-a-number")],
)  # fmt: skip
def test_edges_of_bins_are_finite_numbers_that_increase(edges, code):
    with raises(code):
        NumberBins(edges)
