"""Delta as a theorem: the ranges of counts are those of exact tails, and Coq accepts the radius and no smaller one."""

import json
import math
import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest
from files_of_every_set import learnt
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.proofs.coq_file import MOST_SAMPLES, SAMPLES, certificate
from mechdesign.proofs.kernel import ask_coq
from mechdesign.proofs.tail_ranges import TailRanges
from mechdesign.uncertainty.radii import radius_exact

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")
STEP = Fraction(1, 10**15)


def exact_tail(n, k, t):
    q = Fraction(k, n) - t
    return sum(math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k, n + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 17, 63, 64, 65, 300, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_term_that_counts_is_left_out_of_a_tail(n):
    """The terms end early, by a geometric series or at their most; a level a part in 2^60 above the tail is shown."""
    for k in sorted({1, 2, (n + 1) // 2, n - 1, n} & set(range(1, n + 1))):
        for t in (Fraction(1, 2000), Fraction(k, 2 * n)):
            exact = exact_tail(n, k, t)
            for change, shown in ((Fraction(1, 2**60), True), (-Fraction(1, 2**60), False)):
                limits = TailRanges.of(n, 2 * t, exact * (1 + change))
                limits._advance(k)
                assert (limits.terms(k, k) is not None) == shown


@given(st.integers(1, 40), st.fractions(0, 1, max_denominator=10**4), st.sampled_from(["1e-9", "1e-2", "0.3", "0.6"]))
@settings(max_examples=examples(60), deadline=None)
def test_what_a_range_says_is_true_of_the_exact_tails(n, t, level):
    if not 0 < t < 1:
        return
    limits = TailRanges.of(n, 2 * t, Fraction(level))
    tails = {k: exact_tail(n, k, t) for k in range(math.floor(n * t) + 1, n + 1)}
    found = limits.ranges()
    worst = max(tails.values())
    assert (found is not None) == (worst <= Fraction(level)) or abs(worst / Fraction(level) - 1) < Fraction(1, 2**80)
    first = min(tails)
    for each in found or []:
        for k in range(first, each.last + 1):
            if each.kind == "Rise":
                assert tails[k] < tails[k + 1]
            elif each.kind == "Fall":
                assert tails[k] < tails[k - 1]
            else:
                assert tails[k] <= Fraction(level)
        first = each.last + 1
    assert found is None or first == n + 1


@pytest.mark.parametrize("bound", ["clopper-pearson", "weissman"])
@pytest.mark.parametrize(
    ("n", "size", "delta"), [(2, 2, "0.3"), (2, 3, "0.5"), (300, 40, "1e-200"), (20_000, 16, "1e-9")]
)
def test_the_radius_of_the_package_is_supported(n, size, delta, bound):
    radius, level = radius_exact(n, size, Fraction(delta), bound=bound), Fraction(delta) / (2**size - 2)
    if radius < 2:
        assert TailRanges.of(n, radius, level).ranges() is not None
        if bound == "clopper-pearson":
            assert TailRanges.of(n, radius - STEP, level).ranges() is None


def test_many_samples_are_few_ranges():
    radius = radius_exact(48_842, 16, Fraction("1e-9"))
    found = TailRanges.of(48_842, radius, Fraction("1e-9") / (2**16 - 2)).ranges()
    assert len(found) < 60
    assert sum(each.terms for each in found) < 5_000


def test_a_file_without_a_theorem_about_its_samples():
    """Samples that nobody counted, a radius that nobody derived, and more samples than Coq counts in some seconds."""
    for content, there in (
        (learnt([40, 30, 20, 10], "1e-3"), True),
        (learnt([MOST_SAMPLES, 1], "1e-3"), False),
        (
            to_json(
                Parts(
                    np.array([[3, 1], [1, 3]]), 2, md.Guarantee("log(9)", md.L1Ball(["3/4", "1/4"], "0.1")), ("y", "n")
                )
            ),
            False,
        ),
        (learnt([40, 30, 20, 10], "1e-3", radius="2"), False),
    ):
        text = certificate(json.loads(content), content)
        assert (SAMPLES in text) == there
        assert ("learnt the_file (Z.to_nat 100) (ratio 1 1000)" in text) == there


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What Coq says of a certificate, as it is and with a smaller radius, delta and number of samples."""
    content = learnt([40, 30, 20, 10], "1e-3")
    text = certificate(json.loads(content), content)
    folder = tmp_path_factory.mktemp("coq")
    before, after = text.split("Theorem the_samples_support", 1)

    def with_other(place, old, new):
        changed = [before, after]
        changed[place] = re.sub(old, new, changed[place])
        assert changed != [before, after]
        return "Theorem the_samples_support".join(changed)

    claims = {
        "right": text,
        "radius": with_other(0, r"([0-9]+)( 10{15}\))", lambda found: f"{int(found[1]) - 1}{found[2]}"),
        "delta": with_other(1, r"\b1000\b", "1001"),
        "samples": with_other(1, r"\b100\b", "99"),
    }
    done = {}
    for name, claim in claims.items():
        (folder / f"{name.title()}.v").write_text(claim)
        command = ["coqc", "-q", "-w", "none", f"{name.title()}.v"]
        told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        done[name] = told, claim.splitlines()
    return done


@pytest.mark.slow
@needs_coq
def test_coq_accepts_the_radius_and_no_sharper_claim(checked):
    right, _ = checked["right"]
    assert right.returncode == 0, right.stderr
    assert "learnt the_file (Z.to_nat 100) (ratio 1 1000)" in right.stdout
    for name in ("radius", "delta", "samples"):
        done, lines = checked[name]
        place = int(re.search(r"line ([0-9]+)", done.stderr)[1])
        assert done.returncode == 1
        assert lines[place - 1].startswith("Proof. apply (samples_supported")


@pytest.mark.slow
@needs_coq
def test_the_samples_and_delta_are_told():
    content = learnt([40, 30, 20, 10], "1e-3")
    told = ask_coq(json.loads(content), content)
    assert told.learnt == (100, Fraction(1, 1000), False, ())
    assert len(told.axioms) == 4


def test_another_theorem_about_samples_than_that_of_the_file_is_found(tmp_path, monkeypatch):
    content = learnt([2, 1], "0.9")
    radius = Fraction(json.loads(content)["guarantee"]["radius"])
    term = (
        f"the_file = \n{{| inputs := 2; outputs := 2; bits := 3; rows := [[4; 4]; [4; 4]]; eps := Log 9 1; "
        f"lower := None; cap := None; average := None; set := Ball [2; 1] {radius.numerator} {radius.denominator} |}}\n"
        "     : file\nAxioms:\n"
    )
    axiom = "Classical_Prop.classic : forall P : Prop, P \\/ ~ P\n"
    right = "the_samples_support_the_radius\n     : learnt the_file (Z.to_nat 3) (ratio 9 10)\n"
    program = tmp_path / "coqc"
    asked = '[ "$1" = --print-version ] && echo 8.16.1 && exit 0'
    program.write_text(f"#!/bin/sh\n{asked}\n/bin/cat {tmp_path}/printed\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "printed").write_text(f"{term}{axiom}{right}Axioms:\n{axiom}")
    assert ask_coq(json.loads(content), content).learnt == (3, Fraction(9, 10), False, ())
    for wrong in ("", right.replace("nat 3", "nat 4"), right.replace("9 10", "8 10"), right + right):
        (tmp_path / "printed").write_text(f"{term}{axiom}{wrong}Axioms:\n{axiom}")
        with raises("not-machine-checked", match="another theorem about the samples"):
            ask_coq(json.loads(content), content)
    counted = right.replace("learnt", "learnt_from_counts")
    (tmp_path / "printed").write_text(f"{term}{axiom}{counted}Axioms:\n{axiom}")
    assert ask_coq(json.loads(content), content).learnt == (3, Fraction(9, 10), True, ())
    (tmp_path / "printed").write_text(f"{term}{axiom}{right}Axioms:\n{axiom}cheat : False\n")
    with raises("not-machine-checked", match="stands on"):
        ask_coq(json.loads(content), content)
