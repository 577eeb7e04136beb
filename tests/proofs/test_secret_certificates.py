"""Certificates of promises about a secret: Coq agrees with the package at the border, and its term is the file."""

import json
import re
import shutil
import subprocess
from fractions import Fraction
from itertools import product

import pytest
from files_of_every_set import AVERAGE, document, just
from files_of_secrets import SECRETS, SEEN, content, limits_of, prove_of

from mechdesign.proofs.coq_file import certificate
from mechdesign.proofs.kernel import ask_coq, refusals
from mechdesign.proofs.read_back import from_coq, from_file
from mechdesign.proofs.terms import file_term
from mechdesign.proofs.theorem_words import place_in_words, theorem_in_words

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
TINY = Fraction(1, 10**12)


def coq(folder, text):
    (folder / "T.v").write_text(text)
    return subprocess.run(["coqc", "-q", "-w", "none", "T.v"], cwd=folder, capture_output=True, text=True, check=False)


def at_their_border():
    """For each set: files whose promise is just true, and that ask for a part in 10^12 less."""
    for name in SECRETS:
        e, low, cap = limits_of(name)
        for change, holds in ((Fraction(0), True), (TINY, False)):
            yield name, holds, content(name, just(e, change))
            yield name, holds, content(name, just(e), lower=just(low, change))
            yield name, holds, content(name, just(e), cap=just(cap, change))
            yield name, holds, content(name, just(e), maximal_leakage=just(AVERAGE, change))


@pytest.mark.slow
@needs_coq
def test_coq_and_the_package_agree_at_the_border_and_the_term_is_the_file(tmp_path):
    cases = list(at_their_border())
    lines = "".join(
        f"Definition f{k} : secret_file := {file_term(document(found))}.\nPrint f{k}.\n"
        f"Eval vm_compute in secret_check f{k}.\n"
        for k, (_, _, found) in enumerate(cases)
    )
    found = cases[0][2]
    done = coq(tmp_path, certificate(document(found), found, f"Set Printing Width 1000.\n{lines}"))
    assert done.returncode == 0, done.stderr
    answers = re.findall(r"= \s*(\{\|.*?\|\})\s*: secret_file\s*= (true|false)", done.stdout, re.DOTALL)
    assert len(answers) == len(cases) == 8 * len(SECRETS)
    for (name, holds, found), (term, answer) in zip(cases, answers, strict=True):
        assert (answer == "true") is prove_of(found).holds is holds, name
        assert from_coq(term) == from_file(found), name
    assert len({term for term, _ in answers}) == len(cases)  # no two files have one term


@pytest.mark.slow
@needs_coq
def test_a_theorem_about_a_secret_stands_on_the_axioms_of_the_real_numbers_and_a_false_one_is_refused():
    found = content("boxes", just(limits_of("boxes")[0]), lower="1")
    verdict = ask_coq(document(found), found)
    assert (verdict.term, len(verdict.axioms), verdict.learnt) == (from_file(found), 4, None)
    e, _, cap = limits_of("known")
    false, capped = content("known", just(e, TINY)), content("known", just(e), cap=just(cap, TINY))
    assert ask_coq(document(false), false) is None
    told = [(each.output, each.symbol) for each in refusals(document(false), false)]
    rows = document(false)["numerators"]
    lifts = [
        [sum(c * row[y] for c, row in zip(seen, rows, strict=True)) / Fraction(sum(seen)) for seen in SEEN]
        for y in range(4)
    ]
    shares = [
        sum(c * row[y] for seen in SEEN for c, row in zip(seen, rows, strict=True)) / Fraction(100) for y in range(4)
    ]
    assert told == [(y, s) for y, s in product(range(4), range(2)) if lifts[y][s] / shares[y] > e * (1 - TINY)] != []
    assert {each.symbol for each in refusals(document(capped), capped)} == {2}
    on_average = content("known", just(e), maximal_leakage=just(AVERAGE, TINY))
    assert [each.output for each in refusals(document(on_average), on_average)] == [4]


def test_the_term_of_known_counts_is_their_laws():
    assert file_term(document(content("known", "0.1", cap="2"))) == (
        "SecretFile 4 4 4 [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3]; [1; 3; 3; 9]] (Nats 1 10) None (Some (Nats 2 1)) "
        "None (Hull [[40; 60]]) [(Hull [[20; 10; 5; 5]]); (Hull [[10; 15; 20; 15]])]"
    )
    told = json.loads(from_file(content("known", "0.1", cap="2")))
    assert told["secret"] == [
        ["hull", [["2/5", "3/5"]]],
        [["hull", [["1/2", "1/4", "1/8", "1/8"]]], ["hull", [["1/6", "1/4", "1/3", "1/4"]]]],
    ]


PRINTED = (
    "{| data_inputs := 4; data_outputs := 4; data_bits := 4; data_rows := [[9; 3; 3; 1]; [3; 9; 1; 3]; [3; 1; 9; 3];\n"
    "[1; 3; 3; 9]]%Z; secret_eps := Log 9 1; secret_lower := None; data_cap := None; data_average := None;\n"
    "secret_law := Hull [[2; 3]%Z];\n"
    "given := [Hull [[4; 2; 1; 1]%Z]; Hull [[2; 3; 4; 3]%Z]] |}"
)


def test_a_printed_term_is_read_back_without_what_wrote_it():
    assert from_coq(PRINTED) == from_file(content("known"))
    for change in (
        ("[2; 3]%Z]", "[3; 2]%Z]"),
        ("[4; 2; 1; 1]", "[4; 1; 2; 1]"),
        ("Log 9 1", "Log 9 2"),
        ("None", "Some (Log 2 1)"),
    ):
        assert from_coq(PRINTED.replace(*change)) != from_file(content("known"))
    swapped = PRINTED.replace("[4; 2; 1; 1]", "x").replace("[2; 3; 4; 3]", "[4; 2; 1; 1]").replace("x", "[2; 3; 4; 3]")
    assert from_coq(swapped) != from_file(content("known"))


@pytest.mark.parametrize("name", SECRETS)
def test_a_certificate_of_a_secret_names_its_definitions_and_holds_integers(name):
    found = content(name)
    text = certificate(document(found), found)
    assert "Read the modules Spec and SpecSecret" in text
    assert "Theorem the_promise_holds : secret_promise the_file." in text
    assert re.fullmatch(r"[A-Za-z0-9;() \[\],-]+", file_term(document(found)))
    nulls = json.loads(found)
    nulls["guarantee"] |= {"lower": None, "cap": None}
    nulls["guarantee"]["secret"].setdefault("limits", None)
    assert file_term(nulls) == file_term(document(found))
    assert from_file(json.dumps(nulls).encode()) == from_file(found)


def test_words_of_a_secret():
    found = document(content("known", "log(2)", lower="1"))
    assert theorem_in_words(found) == (
        "for every joint law of the secret and the data in the set, every report y and every value s of the secret: "
        "P(y|s) <= e^log(2) P(y); and P(y|s) >= e^-1 P(y); the rows sum to 1, and the set has a joint law"
    )
    assert place_in_words(found, 1, 1) == "that of output 'b' at the secret value 'm'"
    assert place_in_words(found, 1, 2) == "the cap of output 'b'"
    assert place_in_words(found, 4, 0) == "the maximal leakage of all outputs together"
    on_average = theorem_in_words(document(content("known", "1", maximal_leakage="0.5")))
    assert "P(y|s) <= e^1 P(y); and the greatest K(y|x) of all reports y sum to at most e^0.5; the rows" in on_average
