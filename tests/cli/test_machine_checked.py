"""The option --machine-checked of `verify`."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from files_of_every_set import SETS, content, document

from mechdesign.proofs.coq_file import certificate
from mechdesign.proofs.kernel import Verdict
from tests.windows.worlds import designed

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


@pytest.fixture
def here(here):
    Path("true.json").write_bytes(content("ball", "log(4)"))
    Path("false.json").write_bytes(content("ball", "log(2)"))
    Path("capped.json").write_bytes(content("ball", "log(4)", cap="log(9)"))
    return here


@pytest.mark.slow
@needs_coq
def test_a_theorem_is_told_with_its_axioms_and_kept(command, here):
    status, out, err = command("verify", "true.json", "--machine-checked", "--write", "Kept.v")
    told = " ".join(out.split())
    assert (status, err.count("\n") <= 2) == (0, True)
    assert "K(y|x) <= e^log(4) sum Q(x') K(y|x')" in told
    assert "classic" in told
    assert "Theorem the_promise_holds : promise the_file." in Path("Kept.v").read_text()
    told = json.loads(command("verify", "capped.json", "--machine-checked", "--json")[1])["machine_checked"]
    assert "for every two inputs K(y|x) <= e^log(9) K(y|x')" in told["theorem"]
    assert len(told["axioms"]) == 4


@pytest.mark.slow
@needs_coq
def test_a_certificate_that_was_kept_is_checked_and_a_page_says_so(command, refused):
    assert command("verify", "true.json", "--machine-checked", "--write", "Kept.v")[0] == 0
    digest = hashlib.sha256(Path("Kept.v").read_bytes()).hexdigest()
    status, out, _ = command("verify", "true.json", "--machine-checked", "--certificate", "Kept.v", "--json")
    assert (status, json.loads(out)["machine_checked"]["certificate"]) == (0, digest)
    page = ("report", "true.json", "-o", "page.html", "--no-compare", "--certificate", "Kept.v")
    assert f"SHA-256 {digest}" in " ".join(command(*page)[1].split())
    assert json.loads(command(*page, "--json")[1])["certificate"] == digest
    assert f'<data data-fact="certificate" value="{digest}">' in Path("page.html").read_text()


@pytest.mark.slow
@needs_coq
def test_windows_have_a_theorem_and_a_certificate(command, here):
    designed().mechanism.save("w.json")
    status, out, _ = command("verify", "w.json", "--machine-checked", "--write", "W.v", "--json")
    told = json.loads(out)["machine_checked"]
    assert (status, told["definitions"], len(told["axioms"])) == (0, ["Spec.v", "SpecWindows.v"], 4)
    assert "windows_promise the_file" in Path("W.v").read_text()
    status, out, _ = command("verify", "w.json", "--machine-checked", "--certificate", "W.v")
    assert (status, "share of at least e^-1" in " ".join(out.split())) == (0, True)


@pytest.mark.slow
@needs_coq
def test_views_of_records_have_a_theorem_about_the_whole(command, here):
    parts = [
        {"name": name, "attributes": [name], "weight": weight, "mechanism": json.loads(content("ball", epsilon))}
        for name, weight, epsilon in (("a", 3, "log(4)"), ("b", 1, "log(9)"))
    ]
    table = {"schema": "mechdesign/records/1", "epsilon": "2.5", "weight_bits": 2, "parts": parts}
    Path("r.json").write_text(json.dumps(table))
    status, out, _ = command("verify", "r.json", "--machine-checked", "--write", "R.v", "--json")
    told = json.loads(out)["machine_checked"]
    assert (status, told["definitions"], len(told["axioms"])) == (0, ["Spec.v", "SpecRecords.v"], 4)
    assert "e^2.5 sum P(x') K(i, y|x')" in told["theorem"]
    parts[1]["mechanism"] = json.loads(content("ball", "log(2)"))
    Path("r.json").write_text(json.dumps(table))
    status, out, err = command("verify", "r.json", "--machine-checked")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "Coq refuses that of output 'b' of the view 'b'" in err


@pytest.mark.parametrize("command_line", [("verify", "--machine-checked"), ("report", "-o", "page.html")])
def test_a_certificate_that_is_not_that_of_the_file_is_refused_before_coq_is_asked(refused, command_line):
    name, *options = command_line
    found = content("ball", "log(5)")
    Path("Other.v").write_text(certificate(document(found), found))
    Path("Edited.v").write_text(certificate(document(content("ball", "log(4)")), content("ball", "log(4)")) + "\n")
    for kept, shown in (
        ("Other.v", "of a file with the SHA-256"),
        ("Edited.v", "edited, or written by another version"),
    ):
        refused("damaged-file", name, "true.json", *options, "--certificate", kept, shown=shown)
    refused("cannot-read", name, "true.json", *options, "--certificate", "None.v", shown="None.v")
    assert not Path("page.html").exists()


def test_a_page_needs_coq_for_a_certificate(refused, monkeypatch):
    found = content("ball", "log(4)")
    Path("Kept.v").write_text(certificate(document(found), found))
    monkeypatch.setenv("PATH", "")
    page = ("report", "true.json", "-o", "page.html")
    refused("not-machine-checked", *page, "--certificate", "Kept.v", shown="no program coqc")
    refused("usage", *page[:2], "--registry", "-o", "r.json", "--certificate", "Kept.v", shown="--certificate")
    assert not Path("page.html").exists()


@pytest.mark.slow
@needs_coq
def test_a_false_promise_is_one_line_with_output_and_symbol(refused):
    for options in ((), ("--json",)):
        refused(
            "guarantee-false",
            "verify",
            "false.json",
            "--machine-checked",
            *options,
            shown="output 'b' at the input '0-1'",
        )


def test_without_coq_the_certificate_is_kept_and_one_line_says_so(command, refused, monkeypatch):
    monkeypatch.setenv("PATH", "")
    status, out, err = command("verify", "true.json", "--machine-checked", "--write", "Kept.v")
    assert (status, out, err.count("\n")) == (3, "", 1)
    assert "check_correct" in Path("Kept.v").read_text()
    refused("not-machine-checked", "verify", "true.json", "--machine-checked", shown="no program coqc")
    refused("guarantee-false", "verify", "false.json", "--machine-checked", shown="leak")


def test_a_theorem_that_coq_fails_on_without_a_breaking_output_is_not_a_false_promise(refused, here, monkeypatch):
    program = Path(here) / "coqc"
    asked = '[ "$1" = --print-version ] && echo 8.16.1 && exit'
    program.write_text(f"#!/bin/sh\n{asked}\nexec /bin/grep -q 'in refused' Certificate.v\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(here))
    refused("not-machine-checked", "verify", "true.json", "--machine-checked", shown="memory ran out")
    refused("guarantee-false", "verify", "false.json", "--machine-checked", shown="leak")


def test_a_side_that_is_null_is_not_in_the_theorem(command, here, monkeypatch):
    verdict = Verdict("8.16.1", ("classic",), "term", "0" * 64, None)
    monkeypatch.setattr("mechdesign.proofs.kernel.ask_coq", lambda *_: verdict)
    Path("null.json").write_bytes(content({**SETS["ball"], "lower": None, "cap": None}, "log(4)"))
    status, out, err = command("verify", "null.json", "--machine-checked", "--json")
    assert (status, err.count("\n") <= 2) == (0, True)
    theorem = json.loads(out)["machine_checked"]["theorem"]
    assert theorem.endswith("K(y|x) <= e^log(4) sum Q(x') K(y|x'); the rows sum to 1, and the set has a prior")


def test_what_coq_cannot_be_given_is_refused(refused):
    refused("usage", "verify", "true.json", "--write", "Kept.v", shown="--machine-checked")
    refused("usage", "verify", "true.json", "--certificate", "Kept.v", shown="--machine-checked")
    both = ("--machine-checked", "--write", "Kept.v", "--certificate", "Kept.v")
    refused("usage", "verify", "true.json", *both, shown="one of them")
    refused(
        "wrong-file-ending", "verify", "true.json", "--machine-checked", "--write", "a-b.v", shown="letters, digits"
    )
    refused("wrong-file-ending", "verify", "true.json", "--machine-checked", "--write", "kept.txt", shown=".v")
