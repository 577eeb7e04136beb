"""The audit of the proofs notices a theorem that is assumed, and an axiom that is not one of the real numbers."""

import shutil
import subprocess
from pathlib import Path

import pytest

import mechdesign

COQ = Path(mechdesign.__file__).parent / "proofs" / "coq"
PRINTED = "Axioms:\nClassical_Prop.classic : forall P : Prop, P \\/ ~ P\n"


@pytest.fixture
def audit(tmp_path):
    """Run the audit of a copy, with a file changed and with programs that print what they are given."""

    def run(changed="", printed=PRINTED, checked=""):
        shutil.copytree(COQ, tmp_path / "coq", dirs_exist_ok=True)
        with (tmp_path / "coq" / "Check.v").open("a") as file:
            file.write(changed)
        (tmp_path / "printed").write_text(printed)
        axioms = "".join(f"    Coq.Any.{name}\n" for name in (COQ / "axioms.txt").read_text().split())
        (tmp_path / "checked").write_text(f"* Axioms:\n{axioms}{checked}  \n")
        for program, text in (("coqc", "printed"), ("coqchk", "checked")):
            (tmp_path / program).write_text(f'#!/bin/sh\ncat "{tmp_path / text}"\n')
            (tmp_path / program).chmod(0o755)
        stubs = {"COQC": str(tmp_path / "coqc"), "COQCHK": str(tmp_path / "coqchk"), "PATH": "/usr/bin:/bin"}
        command = ["sh", str(tmp_path / "coq" / "audit.sh")]
        return subprocess.run(command, env=stubs, capture_output=True, text=True, check=False)

    return run


def test_what_stands_on_the_axioms_of_the_real_numbers_passes(audit):
    done = audit()
    assert done.returncode == 0, done.stderr
    assert "check_correct: 1 axioms" in done.stdout


@pytest.mark.parametrize(
    "line", ["Axiom cheat : False.", "  Parameter cheat : False.", "Admitted.", "Proof. admit. Qed."]
)
def test_a_theorem_that_is_assumed_is_seen(audit, line):
    done = audit(f"\n{line}\n")
    assert done.returncode == 1
    assert "a theorem is assumed" in done.stderr


@pytest.mark.parametrize(
    "printed", [PRINTED + "Mine.cheat : False\n", PRINTED + "cheat\n  : False\n", PRINTED + "Mine.cheat1 : False\n", ""]
)
def test_another_axiom_is_seen_and_so_is_a_theorem_that_is_not_told(audit, printed):
    done = audit(printed=printed)
    assert done.returncode == 1
    assert "other axioms" in done.stderr


def test_an_axiom_of_the_proofs_themselves_is_seen_by_coqchk(audit):
    done = audit("\nHypothesis cheat1 : False.\n", checked="    Mechdesign.Check.cheat1\n")
    assert done.returncode == 1
    assert "coqchk finds other axioms" in done.stderr


def test_every_file_of_the_proofs_is_built():
    built = [name for name in (COQ / "_CoqProject").read_text().split() if name.endswith(".v")]
    assert sorted(built) == sorted(path.name for path in COQ.glob("*.v"))
