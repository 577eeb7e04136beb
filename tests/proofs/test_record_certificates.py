"""Certificates of views of records: the term is the file, and Coq proves every view and the whole, or refuses them."""

import json
import shutil
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from files_of_every_set import ROWS, content, document, just, learnt, limits_of
from files_of_secrets import content as secret_content
from refusals import raises

from mechdesign.proofs.coq_file import SAMPLES, certificate
from mechdesign.proofs.kernel import ask_coq, refusals
from mechdesign.proofs.read_back import from_coq, from_file, samples_of
from mechdesign.proofs.terms import file_term
from mechdesign.proofs.theorem_words import Learnt, place_in_words, theorem_in_words
from mechdesign.records import RecordMechanism
from mechdesign.records.record_mechanism_files import from_content
from mechdesign.windows.window_files import to_json
from tests.windows.worlds import designed

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
TINY = Fraction(1, 10**12)


def records(*views, epsilon, weights=(3, 1), bits=2, **changes):
    """Return the bytes of a file with views, each the bytes of a mechanism file, of the attributes a, b, .."""
    parts = [
        {"name": name, "attributes": [name], "weight": weight, "mechanism": document(view)}
        for name, weight, view in zip("abc", weights, views, strict=False)
    ]
    table = {"schema": "mechdesign/records/1", "epsilon": epsilon, "weight_bits": bits, "parts": parts, **changes}
    return json.dumps(table, default=str).encode()


def least(name):
    return limits_of(name)[0]


def test_a_file_of_records_loads_and_its_term_names_every_view_with_its_weight():
    found = records(content("ball"), content("everything", lower="log(9)"), epsilon="log(9)")
    assert from_content(found, "the file", RecordMechanism).guarantee.epsilon.text == "log(9)"
    rows = "[[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3]; [1; 3; 3; 9]]"
    assert file_term(document(found)) == (
        f"RecordsFile (Log 9 1) None 2 [(3, File 4 4 4 {rows} (Log 9 1) None None None (Ball [4; 3; 2; 1] 1 10)); "
        f"(1, File 4 4 4 {rows} (Log 9 1) (Some (Log 9 1)) None None (Ball [40; 30; 20; 10] 2 1))]"
    )
    told = json.loads(from_file(found))
    assert (told["epsilon"], told["lower"], told["weight_bits"]) == (["log", "9"], None, 2)
    assert [weight for weight, _ in told["parts"]] == [3, 1]
    assert [view["numerators"] for _, view in told["parts"]] == [ROWS, ROWS]


def test_the_promise_from_below_is_the_greatest_of_the_views_if_all_have_one():
    sides = ("log(9)", "2.5", "log(20)")
    found = records(*(content("everything", lower=side) for side in sides), epsilon="3", weights=(1, 2, 1))
    assert from_content(found, "the file", RecordMechanism).guarantee.lower.text == "log(20)"
    assert file_term(document(found)).startswith("RecordsFile (Nats 3 1) (Some (Log 20 1)) 2 [(1, File")
    assert json.loads(from_file(found))["lower"] == ["log", "20"]
    words = theorem_in_words(document(found))
    assert "<= e^3 sum P(x') K(i, y|x') and K(i, y|x) >= e^-log(20) sum P(x') K(i, y|x'); the weights" in words
    one = records(content("everything", lower="log(9)"), content("ball"), epsilon="3")
    assert ">=" not in theorem_in_words(document(one))


def test_a_printed_term_of_views_is_read_back():
    found = records(content("ball"), content("known"), epsilon="log(9)")
    view = (
        "{| inputs := 4; outputs := 4; bits := 4; rows := [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3]; [1; 3; 3; 9]]%Z; "
        "eps := Log 9 1; lower := None; cap := None; average := None; set := Ball [4; 3; 2; 1] "
    )
    printed = (
        "{| record_eps := Log 9 1; record_lower := None; weight_bits := 2;\n"
        f"parts := [(3%Z, {view}1 10 |}}); (1%Z, {view}0 1 |}})] |}}"
    )
    assert from_coq(printed) == from_file(found)
    for old, new in (("3%Z, {", "2%Z, {"), ("weight_bits := 2", "weight_bits := 3"), ("1 10", "1 11")):
        assert from_coq(printed.replace(old, new)) != from_file(found)
    for torn in (printed[:-3], printed.replace(":=", "="), "x", ""):
        with pytest.raises(ValueError, match=r"."):
            from_coq(torn)


def test_words_of_records_and_views_that_the_proofs_do_not_cover():
    found = document(records(content("ball"), content("known"), epsilon="log(9)"))
    assert "K(i, y|x) <= e^log(9) sum P(x') K(i, y|x'); the weights sum to 2^2" in theorem_in_words(found)
    assert place_in_words(found, 1, 2) == "that of output 'c' of the view 'b'"
    assert place_in_words(found, 1, 4) == "that of the view 'b'"
    text = certificate(found, b"")
    assert "Read the modules Spec and SpecRecords" in text
    assert "record_promise the_file" in text
    of_windows = document(records(to_json(designed().mechanism), content("known"), epsilon="log(9)"))
    with raises("not-machine-checked", match="the view 'a' is of windows"):
        certificate(of_windows, b"")
    of_secret = document(records(content("known"), secret_content("known"), epsilon="log(9)"))
    with raises("not-machine-checked", match="the view 'b' is about a secret"):
        certificate(of_secret, b"")
    many = document(records(*[content("ball")] * 3, epsilon="3"))
    many["parts"] *= 2_000
    with raises("not-machine-checked", match=r"the file has [0-9]+ numerals; Coq reads.*pmlcheck"):
        certificate(many, b"")


@pytest.mark.slow
@needs_coq
def test_coq_proves_every_view_and_the_whole_just_at_the_border():
    names = ("ball", "union")
    views = [content(name, just(least(name))) for name in names]
    greatest = max(map(least, names))
    found = records(*views, epsilon=just(greatest))
    verdict = ask_coq(document(found), found)
    assert (verdict.term, len(verdict.axioms)) == (from_file(found), 4)
    worst = names.index(max(names, key=least))
    low = records(*views, epsilon=just(greatest, TINY))
    broken = records(views[0], content("union", just(least("union"), TINY)), epsilon="3")
    weights = records(*views, epsilon="3", weights=(3, 2))
    for false, places in ((low, {worst}), (broken, {1}), (weights, set())):
        assert ask_coq(document(false), false) is None
        assert {each.output for each in refusals(document(false), false)} == places
    with raises("guarantee-false"):
        from_content(low, "the file", RecordMechanism)
    sides = records(content("everything", lower="log(9)"), content("known", lower="2.2"), epsilon="3")
    assert ask_coq(document(sides), sides).term == from_file(sides)


FROM_ALL = learnt([20, 15, 5], "0.005", bound="weissman")
FROM_COUNTS = learnt([30, 10], "1e-2", bound="observed-sums")
KNOWN = content("known")


def second(found):
    """The second theorem in a certificate, or nothing."""
    text = certificate(document(found), found)
    return text[text.index(SAMPLES) :] if SAMPLES in text else ""


def test_the_deltas_of_views_are_one_theorem_about_whole_records():
    found = records(FROM_ALL, KNOWN, FROM_COUNTS, epsilon="log(9)", weights=(1, 1, 2))
    theorem = "records_learnt the_file (Z.to_nat 40) [AllSamples 1 200; Given; TheseCounts 1 100] (ratio 3 200)."
    assert theorem in second(found)
    assert samples_of(found) == (40, Fraction(3, 200), (Fraction(1, 200), None, Fraction(1, 100)))
    told = Learnt(40, Fraction(3, 200), from_counts=False, views=samples_of(found)[2])
    words = theorem_in_words(document(found), told)
    assert (
        "and whatever P is, 40 independent records from it mislead about some view with probability at most 0.015;"
        in words
    )
    more = learnt([30, 11], "1e-2")
    asserted = document(KNOWN)
    center = {"center": ["0.4", "0.3", "0.2", "0.1"], "radius": "1.5"}
    asserted["guarantee"] = {"epsilon": "log(9)", **center, "asserted_samples": 40, "delta": "0.01"}
    other = document(KNOWN)
    other["guarantee"] = {"epsilon": "log(9)", "sets": [document(FROM_ALL)["guarantee"]]}
    for view in (more, json.dumps(asserted, default=str).encode(), json.dumps(other, default=str).encode()):
        assert second(records(FROM_ALL, view, epsilon="log(9)")) == ""
    assert second(records(KNOWN, KNOWN, epsilon="log(9)")) == ""


@pytest.mark.slow
@needs_coq
def test_coq_proves_the_delta_of_whole_records_and_no_smaller_one():
    found = records(FROM_ALL, KNOWN, FROM_COUNTS, epsilon="log(9)", weights=(1, 1, 2))
    verdict = ask_coq(document(found), found)
    assert verdict.learnt == Learnt(40, Fraction(3, 200), from_counts=False, views=samples_of(found)[2])
    assert (verdict.term, len(verdict.axioms)) == (from_file(found), 4)
    text = certificate(document(found), found)
    for old, new in (
        ("(3, 200%positive)", "(3, 201%positive)"),
        ("; NoSupport;", "; ByAllSamples (0, 1%positive) [];"),
    ):
        assert text.count(old) == 1
        assert not coq_takes(text.replace(old, new))


def coq_takes(text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Certificate.v").write_text(text)
        command = ["coqc", "-q", "-w", "none", "Certificate.v"]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
