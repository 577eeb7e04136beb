"""Files of windows: what is written is read again, and what is damaged is refused in one line."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.windows import SeparateCounts, WindowMechanism, design_windows, layout, window_files
from mechdesign.windows.decoder import Decoder
from tests.windows.worlds import COUNTS, EARLIER, designed, moved_sample

WORLDS = [{}, {"cap": "3"}, {"known": False, "delta": "1e-6", "heavy": EARLIER}, {"known": False, "delta": "1e-6"}]


@pytest.mark.parametrize("options", WORLDS)
def test_mechanisms_of_the_same_file_are_equal(tmp_path, options):
    found = designed(**options).mechanism
    found.save(tmp_path / "w.json")
    again = [WindowMechanism.load(tmp_path / "w.json"), copy.deepcopy(found), pickle.loads(pickle.dumps(found))]
    assert all(one == found for one in again)
    assert len({found, *again}) == 1
    assert found != designed(1.5, **options).mechanism
    assert found != replace(found, promise=replace(found.promise, epsilon=md.Epsilon.of("1.01")))
    assert found != "w.json"


@pytest.mark.combined
@pytest.mark.parametrize("options", WORLDS)
@pytest.mark.parametrize("evidence", [True, "buckets", False])
def test_what_is_read_is_what_was_written(tmp_path, options, evidence):
    found = designed(**options).mechanism
    window_files.save(found, tmp_path / "w.json", evidence=evidence)
    again = window_files.load(tmp_path / "w.json", WindowMechanism)
    assert window_files.to_json(again, evidence=evidence) == (tmp_path / "w.json").read_bytes()
    if evidence:
        again.prove()
        assert again.leakage == found.leakage
        assert again.seed_units().tolist() == found.seed_units().tolist()
        assert again.outputs.first == found.outputs.first
        shares = [Decoder(one).chances.tolist() for one in (again, found)]
        assert shares[0] == shares[1]
    else:
        with raises("missing-argument"):
            again.prove()


@pytest.mark.sampled
@pytest.mark.parametrize(("is_heavy", "times"), [(False, 15), (True, 4)])
def test_what_windows_hold_is_far_shorter_than_what_buckets_hold(is_heavy, times):
    """Units of heavy strings are parts of samples, whose numbers are long."""
    counts = {f"s{k}": 10**6 // (k + 1) for k in range(5_000)}
    heavy = SeparateCounts({name: n // 2 + 1 for name, n in counts.items()}, "the year before") if is_heavy else None
    made = design_windows(counts, 1, delta="1e-9", heavy=heavy, seeds=200, buckets=256).mechanism
    windows, buckets = (len(window_files.to_json(made, evidence=evidence)) for evidence in (True, "buckets"))
    assert times * windows < buckets


@pytest.mark.parametrize("options", WORLDS)
def test_samples_that_are_in_one_window_alone_are_told(options):
    record = json.loads(window_files.to_json(designed(**options).mechanism))
    with raises("guarantee-false"):
        window_files.from_json(json.dumps(moved_sample(record)).encode(), "w.json", WindowMechanism).prove()


@pytest.mark.parametrize("options", WORLDS)
def test_the_schema_fits_what_is_written(options):
    from jsonschema import Draft202012Validator

    from mechdesign.schemas import document

    record = json.loads(window_files.to_json(designed(**options).mechanism))
    Draft202012Validator(document("windows")).validate(record)
    assert not Draft202012Validator(document("windows")).is_valid(record | {"more": 1})


def damaged(change):
    record = json.loads(window_files.to_json(designed(known=False, delta="1e-6", heavy=EARLIER).mechanism))
    change(record)
    return json.dumps(record).encode()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda r: r.update(schema="mechdesign/windows/9"), "bad-field"),
        (lambda r: r.update(seeds=7), "damaged-file"),
        (lambda r: r.update(buckets=10), "bad-field"),
        (lambda r: r.update(buckets=1 << 20), "bad-field"),
        (lambda r: r.update(epsilon="1.1"), "bad-field"),
        (lambda r: r["evidence"].update(samples=3000), "bad-field"),
        (lambda r: r["evidence"].update(delta="1e-5"), "bad-field"),
        (lambda r: r["evidence"].update(threshold=1), "bad-field"),
        (lambda r: r["evidence"].update(sha256="no"), "bad-field"),
        (lambda r: r["windows"].update(lengths="@@"), "damaged-file"),
        (lambda r: r["windows"].update(lengths=r["windows"]["starts"]), "damaged-file"),
        (lambda r: r["evidence"].update(held="@@"), "damaged-file"),
        (lambda r: r["evidence"].update(held=r["windows"]["starts"]), "damaged-file"),
        (lambda r: r["evidence"].update(units=r["evidence"]["held"]), "damaged-file"),
        (lambda r: r["heavy"].update(units=[1]), "wrong-size"),
        (lambda r: r["heavy"].update(one_layer=99), "bad-field"),
        (lambda r: r.update(more=1), "unknown-key"),
        (lambda r: r.pop("master"), "missing-key"),
    ],
)
def test_damage_is_told(change, code):
    with raises(code) as caught:
        window_files.from_json(damaged(change), "w.json", WindowMechanism).prove()
    assert "\n" not in str(caught.value)


def test_capped_windows_that_do_not_go_round_are_told():
    record = json.loads(window_files.to_json(designed(cap="3").mechanism))
    with raises("guarantee-false", "whole number of times"):
        window_files.from_json(json.dumps(record | {"buckets": 65_535}).encode(), "w.json", WindowMechanism).prove()


def test_heavy_strings_of_one_fingerprint_are_refused(monkeypatch):
    content = window_files.to_json(designed().mechanism)
    monkeypatch.setattr(layout, "fingerprints", lambda strings: np.ones(len(strings), dtype=np.uint64))
    with raises("bad-field", "one fingerprint"):
        window_files.from_json(content, "w.json", WindowMechanism)


@pytest.mark.parametrize("content", [b"", b"[]", b"nothing", b"[" * 100_000, b'{"schema": 1}'])
def test_other_files_are_refused(content):
    with pytest.raises(md.InputError):
        window_files.from_json(content, "w.json", WindowMechanism)


def test_another_heavy_list_changes_the_evidence():
    """The evidence is that of the layout: with other units of the heavy strings a recount gives another digest."""
    from mechdesign.windows.windows_mechanism import digest_of

    found = designed(known=False, delta="1e-6", heavy=EARLIER).mechanism
    units = found.promise.units(in_part=True)
    assert digest_of(found.layout.evidence(COUNTS, units)) == found.digest
    assert digest_of(found.layout.evidence({**COUNTS, "s9": 45}, units)) != found.digest
