"""Certificates: the term is that of the file, Coq agrees with the package on every set, and edits are refused."""

import hashlib
import json
import re
import shutil
import subprocess
from fractions import Fraction

import pytest
from files_of_every_set import AVERAGE, COUNTS, SETS, content, document, just, learnt, limits_of, loaded
from refusals import raises

from mechdesign.proofs.coq_file import SAMPLES, certificate, check_certificate
from mechdesign.proofs.kernel import ask_coq, refusals
from mechdesign.proofs.read_back import from_coq, from_file, samples_of
from mechdesign.proofs.terms import file_term
from mechdesign.proofs.theorem_words import Learnt, place_in_words, theorem_in_words

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


def coq(folder, text, name="T.v"):
    (folder / name).write_text(text)
    return subprocess.run(["coqc", "-q", "-w", "none", name], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """For each set, file and whether its promise is true: what Coq's test says, and the term that it prints."""
    cases, tiny = [], Fraction(1, 10**12)
    for name in SETS:
        e, low, cap = limits_of(name)
        cases += [(name, True, content(name, just(e))), (name, False, content(name, just(e, tiny)))]
        cases += [(name, True, content(name, just(e), lower=just(low))),
                  (name, False, content(name, just(e), lower=just(low, tiny))),
                  (name, True, content(name, just(e), cap=just(cap))),
                  (name, False, content(name, just(e), cap=just(cap, tiny))),
                  (name, True, content(name, just(e), maximal_leakage=just(AVERAGE))),
                  (name, False, content(name, just(e), maximal_leakage=just(AVERAGE, tiny)))]  # fmt: skip
    lines = "".join(
        f"Definition f{k} : file := {file_term(document(found))}.\nPrint f{k}.\nEval vm_compute in check f{k}.\n"
        for k, (_, _, found) in enumerate(cases)
    )
    whole = certificate(document(cases[0][2]), cases[0][2], f"Set Printing Width 1000.\n{lines}")
    done = coq(tmp_path_factory.mktemp("coq"), whole)
    assert done.returncode == 0, done.stderr
    answers = re.findall(r"^f\d+ =\s*(\{\|.*?\|\})\s*: file\s*= (true|false)", done.stdout, re.MULTILINE | re.DOTALL)
    assert len(answers) == len(cases) == 8 * len(SETS)
    return [(*case, *answer) for case, answer in zip(cases, answers, strict=True)]


@pytest.mark.slow
@needs_coq
def test_coq_and_the_package_agree_on_every_set_just_at_the_boundary(asked):
    for name, holds, found, _, answer in asked:
        assert answer == str(holds).lower(), (name, found)
        if holds:
            assert loaded(found).proof.holds
        else:
            with raises("guarantee-false"):
                loaded(found)


@pytest.mark.slow
@needs_coq
def test_the_term_that_coq_prints_is_the_file(asked):
    terms = set()
    for name, _, found, term, _ in asked:
        assert from_coq(term) == from_file(found), name
        terms.add(from_coq(term))
    assert len(terms) == len(asked)  # no two files have one term


@pytest.mark.slow
@needs_coq
def test_a_certificate_stands_alone_and_an_edited_one_does_not(tmp_path):
    found = content("ball", "log(9)")
    verdict = ask_coq(document(found), found)
    assert verdict.term == from_file(found)
    assert len(verdict.axioms) == 4
    text = certificate(document(found), found)
    assert coq(tmp_path, text).returncode == 0
    assert coq(tmp_path, text.replace("[9; 3; 3; 1]", "[9; 3; 2; 1]")).returncode != 0
    assert coq(tmp_path, text.replace("(Log 9 1)", "(Log 2 1)")).returncode != 0


@pytest.mark.slow
@needs_coq
def test_a_refusal_names_the_outputs_and_the_symbols():
    found = content("known", "log(9/4)")
    assert ask_coq(document(found), found) is None
    told = [(each.output, each.symbol) for each in refusals(document(found), found)]
    center, rows = [Fraction(x, 100) for x in SETS["known"]["counts"]], document(found)["numerators"]
    means = [sum(p * row[y] for p, row in zip(center, rows, strict=True)) for y in range(4)]
    wanted = [(y, y) for y in range(4) if Fraction(9, 4) * means[y] < 9]
    assert told == wanted != []
    on_average = content("known", "log(9)", maximal_leakage=just(AVERAGE, Fraction(1, 10**12)))
    assert ask_coq(document(on_average), on_average) is None
    [told] = refusals(document(on_average), on_average)
    assert (told.output, place_in_words(document(on_average), 4, 0)) == (
        4,
        "the maximal leakage of all outputs together",
    )


def test_what_the_file_says_is_read_without_the_generator():
    told = json.loads(from_file(content("l1 box", "0.5", lower="log(9/8)")))
    assert (told["epsilon"], told["lower"], told["cap"]) == (["nats", "1/2"], ["log", "9/8"], None)
    kind, ball, box = told["set"]
    assert (kind, ball) == ("both", ["ball", ["2/5", "3/10", "1/5", "1/10"], "3/20"])
    assert box == ["box", ["3/10", "1/5", "1/7", "0"], ["1/2", "1/2", "1/2", "3/10"]]


@pytest.mark.parametrize("name", SETS)
def test_a_term_holds_integers_alone_and_as_many_as_the_set_needs(name):
    term = file_term(document(content(name)))
    assert re.fullmatch(r"[A-Za-z0-9;() \[\],-]+", term)
    assert term.startswith(
        "File 4 4 4 [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3]; [1; 3; 3; 9]] (Log 9 1) None None None ("
    )


def with_nulls(table):
    """The same promise, in which every key that may be absent is null."""
    absent = dict.fromkeys(
        ("lower", "cap", "maximal_leakage", "samples", "asserted_samples", "delta", "bound", "cover")
    )
    sets = {"sets": [with_nulls(inner) for inner in table["sets"]]} if "sets" in table else {}
    return {**absent, **table, **sets}


@pytest.mark.parametrize("name", ["ball", "counts", "union"])
def test_a_key_that_is_null_is_one_that_is_absent(name):
    plain, nulls = content(name), content(with_nulls(SETS[name]))
    assert b"null" in nulls
    assert from_file(nulls) == from_file(plain)
    wanted = certificate(document(plain), nulls)
    assert certificate(document(nulls), nulls) == wanted


@pytest.mark.parametrize("key", ["asserted_samples", "lower"])
def test_a_null_beside_samples_leaves_both_theorems(key):
    found = learnt([4, 3, 2, 1], "0.5")
    nulls = learnt([4, 3, 2, 1], "0.5", **{key: None})
    assert certificate(document(nulls), b"") == certificate(document(found), b"")
    assert SAMPLES in certificate(document(nulls), b"")
    assert samples_of(nulls) == (10, Fraction(1, 2), ())


def test_no_label_reaches_the_certificate():
    found = content("ball").replace(b'"0-0"', b'"*) Axiom x : False. (*"')
    assert "Axiom" not in certificate(document(found), found)


def test_another_set_and_large_files_are_refused_in_one_line():
    found = document(content({"own": {"name": "s"}}))
    with raises("not-machine-checked", match=r"keys \['own'\]"):
        certificate(found, b"")
    rows = [[1] * 301] * 301
    with raises("not-machine-checked", match="301 categories and 90601 numerators.*pmlcheck"):
        certificate({**found, "numerators": rows}, b"")


@pytest.mark.parametrize("numerators", [[["1]. Axiom x : False. (*"]], [[0.5, 0.5]]])
def test_a_certificate_holds_whole_numbers_alone(numerators):
    with raises("damaged-file", match="a certificate holds whole numbers alone"):
        certificate(document(content("ball")) | {"numerators": numerators}, b"")


def test_a_certificate_of_another_file_and_one_that_was_edited_are_told_apart():
    found, other = content("ball"), content("ball", "log(10)")
    kept = certificate(document(found), found).encode()
    check_certificate(kept, "M.v", document(found), found)
    with raises("damaged-file", match="M.v is the certificate of a file with the SHA-256 [0-9a-f]{64}, and this one"):
        check_certificate(kept, "M.v", document(other), other)
    for edited in (
        kept[:-1],
        kept + b" ",
        kept.replace(b"eps *", b"0 *"),
        kept.replace(b"SHA", b"HSA", 1),
        b"",
        b"\xff",
    ):
        with raises("damaged-file", match="M.v is not the certificate that these proofs give"):
            check_certificate(edited, "M.v", document(found), found)


def test_words_say_where_a_delta_is_not_in_the_theorem():
    apart = "; delta is not part of the theorem, and was checked without Coq"
    limits = {**SETS["box"]["box"], "counts": COUNTS, "samples": 100, "delta": "0.9"}
    del limits["center"]
    told = document(content({"box": limits}))
    assert theorem_in_words(told).endswith(f"the set has a prior{apart}")
    told["guarantee"]["box"]["delta"] = None
    assert theorem_in_words(told).endswith("the set has a prior")
    samples = document(learnt([40, 30, 20, 10], "1e-3"))
    assert theorem_in_words(samples).endswith(apart)
    words = theorem_in_words(samples, Learnt(100, Fraction(1, 1000), from_counts=False))
    assert words.endswith("than the radius with probability at most 0.001; the counts are those of as many draws")


@pytest.fixture
def stub(tmp_path, monkeypatch):
    """Put a program coqc on the path that says a version, and prints a text for every file."""

    def put(version, printed="", status=0):
        program = tmp_path / "coqc"
        (tmp_path / "printed").write_text(printed)
        asked = f'[ "$1" = --print-version ] && echo "{version}" && exit 0'
        program.write_text(f"#!/bin/sh\n{asked}\n/bin/cat {tmp_path}/printed\nexit {status}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


def test_no_coq_and_one_that_is_too_old_are_refused(stub, monkeypatch):
    found = content("ball")
    stub("8.15.2 4.13.1")
    with raises("not-machine-checked", match="8.15.2"):
        ask_coq(document(found), found)
    monkeypatch.setenv("PATH", "")
    with raises("not-machine-checked", match="no program coqc"):
        ask_coq(document(found), found)


RIGHT = (
    "the_file = \n{| inputs := 4; outputs := 4; bits := 4; rows := [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3];\n"
    "[1; 3; 3; 9]]%Z; eps := Log 9 1; lower := None; cap := None;\naverage := None; set := Ball [4; 3; 2; 1] 1 10 |}\n"
    "     : file\nAxioms:\n"
)
AXIOM = "Classical_Prop.classic : forall P : Prop, P \\/ ~ P\n"


def test_a_term_or_an_axiom_that_is_not_the_files_is_found(stub):
    found = content("ball")
    stub("9.1 5.2", RIGHT + AXIOM)
    verdict = ask_coq(document(found), found)
    assert verdict.axioms == ("Classical_Prop.classic",)
    assert verdict.certificate == hashlib.sha256(certificate(document(found), found).encode()).hexdigest()
    for changed in (
        RIGHT.replace("[9; 3", "[8; 4"),
        RIGHT.replace("1 10", "1 11"),
        RIGHT.replace("Log", "Nats"),
        RIGHT.replace("[9; 3; 3; 1]", "[]"),
        "",
    ):
        stub("9.1 5.2", changed + AXIOM)
        with raises("not-machine-checked", match="another term"):
            ask_coq(document(found), found)
    cheats = ("Mine.cheat : False\n", "check_correct : forall f : file, check f = true\n", "cheat1\n  : False\n")
    for printed in (RIGHT.replace("Axioms:\n", ""), *(RIGHT + AXIOM + cheat for cheat in cheats)):
        stub("9.1 5.2", printed)
        with raises("not-machine-checked", match="stands on"):
            ask_coq(document(found), found)
    stub("9.1 5.2", status=1)
    assert ask_coq(document(found), found) is None
    with raises("not-machine-checked", match="cannot read the proofs"):
        refusals(document(found), found)


def test_a_coq_that_is_killed_or_prints_no_text_has_not_refused_a_theorem(stub, tmp_path):
    found = content("ball")
    stub("8.16.1")
    program, printed = tmp_path / "coqc", tmp_path / "printed"
    program.write_text(program.read_text().replace("exit 0\n/bin/cat", "exit 0\nkill -9 $$\n/bin/cat"))
    with raises("not-machine-checked", match="signal 9"):
        ask_coq(document(found), found)
    stub("8.16.1")
    printed.write_bytes(b"\xff the_file = {| x")
    with raises("not-machine-checked", match="another term"):
        ask_coq(document(found), found)
