"""The option --machine-checked of `verify`."""

import json
import shutil
from pathlib import Path

import pytest
from files_of_every_set import content

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


def test_what_coq_cannot_be_given_is_refused(refused):
    refused("usage", "verify", "true.json", "--write", "Kept.v", shown="--machine-checked")
    refused(
        "wrong-file-ending", "verify", "true.json", "--machine-checked", "--write", "a-b.v", shown="letters, digits"
    )
    refused("wrong-file-ending", "verify", "true.json", "--machine-checked", "--write", "kept.txt", shown=".v")
