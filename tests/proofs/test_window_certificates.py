"""Certificates of windows: the term is the file, its definitions are what clients do, and Coq takes and refuses it."""

import json
import math
import re
import shutil
from fractions import Fraction

import pytest
from refusals import raises

from mechdesign.proofs.coq_file import certificate
from mechdesign.proofs.kernel import ask_coq, refusals
from mechdesign.proofs.read_back import from_coq, from_file
from mechdesign.proofs.terms import file_term
from mechdesign.proofs.theorem_words import place_in_words, theorem_in_words
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.window_files import to_json
from tests.windows.worlds import COUNTS, EARLIER, UNSEEN, designed, matrix

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
WORLDS = {
    "known": {},
    "capped": {"cap": "3"},
    "learnt": {"known": False, "delta": "1e-3", "epsilon": "2"},
    "heavy": {"known": False, "delta": "1e-3", "epsilon": "2", "heavy": EARLIER},
    "heavy and known": {"heavy": EARLIER, "one_layer": 1},
    "any seed": {"known": False, "delta": "0.1", "epsilon": "3", "any_seed": True},
}
FIELDS = ("buckets", "windows_eps", "windows_cap", "uniform", "all_samples", "least_held", "seeds")


def found(name):
    return designed(**{"seeds": 3, "buckets": 16} | WORLDS[name]).mechanism


def printed(term):
    """The term as Coq prints it, by the names of its fields."""
    parts = re.findall(r"\((?:[^()]|\([^()]*\))*\)|\[.*\]|\S+", term.removeprefix("WindowsFile "))
    assert len(parts) == len(FIELDS)
    inner = [part[1:-1] if part[0] == "(" else part for part in parts]
    return "{| " + "; ".join(f"{name} := {part}" for name, part in zip(FIELDS, inner, strict=True)) + " |}"


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("evidence", [True, "buckets"])
def test_a_term_is_the_file_by_two_readers_and_holds_what_the_mechanism_holds(name, evidence):
    mechanism = found(name)
    content = to_json(mechanism, evidence=evidence)
    told = json.loads(from_file(content))
    assert from_coq(printed(file_term(json.loads(content)))) == from_file(content)
    for (start, windows), one, sums in zip(told["seeds"], mechanism.windows, mechanism.window_units(), strict=True):
        assert start == one.start
        assert windows == [list(pair) for pair in zip(one.lengths.tolist(), sums.tolist(), strict=True)]
    units = mechanism.promise.samples * mechanism.promise.units(in_part=mechanism.layout.heavy is not None)
    assert told["samples"] == [units, mechanism.threshold]
    assert Fraction(told["floor"]) == mechanism.promise.floor


@pytest.mark.parametrize("name", ["known", "capped", "any seed"])
def test_the_definition_of_a_report_is_what_clients_draw(name):
    """[windows_K] for strings of one bucket, from the integers of the term alone, against the laws of clients."""
    mechanism = found(name)
    told = json.loads(from_file(to_json(mechanism)))
    q, floor, seeds = told["buckets"], Fraction(told["floor"], 2**60), told["seeds"]
    for string in (*COUNTS, *UNSEEN):
        if mechanism.layout.heavy_index(fingerprints([string]))[0] >= 0:
            continue
        row = []
        for s, (start, windows) in enumerate(seeds):
            bucket = int(mechanism.layout.circle(s).light_buckets(fingerprints([string]))[0])
            turns, first = Fraction(sum(length for length, _ in windows), q), start
            for length, _ in windows:
                inside = sum((first + i) % q == bucket for i in range(length))
                row.append((floor / len(windows) + (1 - floor) * inside / turns) / len(seeds))
                first += length
        assert row == matrix(mechanism, [string])[0]


def test_words_and_refusals_of_windows():
    content = to_json(found("known"))
    document = json.loads(content)
    assert theorem_in_words(document) == (
        "for any strings, wherever these lie on the circles, every population Q of which each window holds a share of "
        "at least e^-1, every string x and every window y: K(y|x) <= e^1 sum Q(x') K(y|x'); the rows sum to 1, some "
        "samples lie in the windows as the file states, and all that do are such a population"
    )
    capped = theorem_in_words(json.loads(to_json(found("capped"))))
    assert "(1 - a)/(e^1 - a), where a = " in capped
    assert "for every two strings K(y|x) <= e^3 K(y|x')" in capped
    last = len(found("known").windows[2].ends)
    assert place_in_words(document, 2, last - 1) == f"window {last - 1} of seed 2"
    nowhere = (
        "the windows of seed 2 together: they do not go a whole number of times round the circle, or no samples lie"
    )
    assert place_in_words(document, 2, last).startswith(nowhere)
    assert "round the circle or within the cap, or" in place_in_words({**document, "cap": "3"}, 2, last)
    assert place_in_words(document, 3, 0) == "the least share of the windows"
    bare = json.loads(to_json(found("known"), evidence=False))
    with raises("not-machine-checked", match="the digest of its evidence alone"):
        certificate(bare, b"")
    old = json.loads(to_json(found("capped")))
    del old["floor"]
    with raises("not-machine-checked", match="a cap and no floor"):
        certificate(old, b"")
    large = json.loads(to_json(designed(seeds=1_000, buckets=1_024, cap="3").mechanism))
    with raises("not-machine-checked", match=r"the file has [0-9]+ numerals; Coq reads"):
        certificate(large, b"")


@pytest.mark.slow
@needs_coq
@pytest.mark.parametrize("name", WORLDS)
def test_coq_proves_windows_and_refuses_what_is_false(name):
    content = to_json(found(name))
    document = json.loads(content)
    verdict = ask_coq(document, content)
    assert (verdict.term, len(verdict.axioms)) == (from_file(content), 4)
    facts, promise = document["evidence"], found(name).promise
    least = math.ceil(promise.least_share * json.loads(from_file(content))["samples"][0])
    for changed, place in (
        ({**document, "buckets": document["buckets"] + 1}, (0, len(found(name).windows[0].ends))),
        ({**document, "evidence": {**facts, "threshold": least - 1}}, (3, 0)),
        ({**document, "epsilon": "0.2"}, (3, 0)),
    ):
        assert ask_coq(changed, json.dumps(changed).encode()) is None
        first = refusals(changed, json.dumps(changed).encode())[0]
        assert (first.output, first.symbol) == place
    if name == "capped":
        fewer = {**document, "evidence": {**facts, "samples": facts["samples"] - 1}}
        first = refusals(fewer, json.dumps(fewer).encode())[0]
        assert (first.output, first.symbol) == (0, len(found(name).windows[0].ends))
        low = {**document, "cap": "1.01"}
        assert ask_coq(low, json.dumps(low).encode()) is None
