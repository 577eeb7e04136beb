"""A certificate: one file of Coq that holds the definitions, their proofs, the integers of a mechanism and the theorem.

It needs this package no more: ``coqc FILE.v`` checks it, and prints the integers and the axioms.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from typing import Any, NamedTuple

from mechdesign.errors import InputError, LimitError
from mechdesign.proofs.tail_ranges import TailRanges
from mechdesign.proofs.terms import file_term, has_delta, without_nulls
from mechdesign.proofs.theories import MATRIX, RECORDS, WINDOWS, Theory, theory_of
from mechdesign.uncertainty.observed_sums import ObservedSums
from mechdesign.uncertainty.radii import OBSERVED_SUMS

MOST_SYMBOLS = 300
"""A dense matrix of 300 categories and outputs takes Coq about a minute, and the time grows with the square."""
MOST_SAMPLES = 200_000
"""So many draws take Coq about ten seconds more, and the time grows with their number."""
_OF_ALL_SAMPLES, _OF_COUNTS = ("learnt", "samples_supported"), ("learnt_from_counts", "counts_supported")
_SOURCES_OF_SAMPLES = ("Delta", "Tail", "Steps", "Limits", "Learnt", "Observed")
_LIBRARY = re.compile(r"^From Coq Require Import (.*)\.$", re.MULTILINE)
_OF_INTEGERS = re.compile(r"[A-Za-z0-9;() \[\],-]+")
_NUMERAL = re.compile(r"[0-9]+")
_OWN = re.compile(r"^Require Import (.*)\.$", re.MULTILINE)
_HEAD = """(* What a mechanism file promises, proved. The file has the SHA-256
   {}.
   Read the module{} {}; coqc checks the rest, and prints the integers and the axioms. *)
"""
_OPENING = """Module Certificate.
Import List ZArith {}.
Import ListNotations.
Open Scope Z_scope.
"""
SAMPLES = "Module Samples."
"""Where the second theorem begins, if there is one."""
_THEOREM = """Theorem the_promise_holds : {promise} the_file.
Proof. apply {correct}. vm_cast_no_check (eq_refl true). Qed.
Set Printing Depth 1000000.
Set Printing Width 1000.
Print the_file.
Print Assumptions the_promise_holds.
"""
_SAMPLES = (
    SAMPLES
    + """
Import Reals List ZArith {modules} Certificate.
Import ListNotations.
Open Scope Z_scope.
Theorem the_samples_support_the_radius : {learnt} the_file (Z.to_nat {m}) {evidence}(ratio {a} {b}).
Proof. apply ({proof} the_file {m} ({a}, {b}%positive) [{shown}]). vm_cast_no_check (eq_refl true). Qed.
Set Printing Depth 1000000.
Set Printing Width 1000.
Check the_samples_support_the_radius.
Print Assumptions the_samples_support_the_radius.
End Samples.
"""
)
REFUSALS = "Set Printing Depth 1000000.\nEval vm_compute in {refused} the_file.\n"
"""In the place of the theorem: the outputs that break it, each with a category at which it does."""


def certificate(document: Mapping[str, Any], content: bytes, end: str = _THEOREM) -> str:
    """Return the text of a certificate for a mechanism file.

    Parameters
    ----------
    document : mapping
        The JSON of a file that loads.
    content : bytes
        The file, whose hash the certificate names.
    end : str
        What is asked about the term: the theorem.

    Raises
    ------
    InputError
        If a text or a fraction stands where a file has a whole number.
    LimitError
        For over 300 categories or 90,000 numerators, or a set that the proofs do not cover.
    """
    theory = theory_of(document)
    rows = document.get("numerators", [[]])
    _check_size(theory, len(rows), len(rows) * len(rows[0]))
    written = file_term(document)
    if not _OF_INTEGERS.fullmatch(written):
        raise InputError.damaged_file(
            "a certificate holds whole numbers alone, and a number of this file is not one; mechdesign verify FILE "
            "says what is wrong with the file"
        )
    if theory is not MATRIX:
        _check_size(theory, len(rows), len(_NUMERAL.findall(written)))
    page = " and ".join(theory.pages)
    head = _HEAD.format(hashlib.sha256(content).hexdigest(), "s" * (len(theory.pages) > 1), page)
    opening = _OPENING.format(" ".join((*theory.pages, theory.sources[-1])))
    term = f"Definition the_file : {theory.type} :=\n  {written}.\n"
    asked = end.format(promise=theory.promise, correct=theory.correct, refused=theory.refused)
    whole = f"{head}{_library(theory.sources)}\n{opening}{term}{asked}End Certificate.\n"
    if end != _THEOREM:
        return whole
    if theory is RECORDS:
        return whole + _theorem_of_records(document["parts"])
    return whole + _theorem_of_samples(document) if theory is MATRIX else whole


def _check_size(theory: Theory, symbols: int, entries: int) -> None:
    """Refuse a file that Coq would read too long."""
    if symbols <= MOST_SYMBOLS and entries <= MOST_SYMBOLS**2:
        return
    has = (
        f"{entries} {theory.counted}"
        if theory in {WINDOWS, RECORDS}
        else f"{symbols} categories and {entries} {theory.counted}"
    )
    elsewhere = "give the file to pmlcheck, the same proved test as a program (mechdesign/proofs/native), or "
    raise LimitError.not_machine_checked(
        f"the file has {has}; Coq reads at most {MOST_SYMBOLS} categories and {MOST_SYMBOLS**2} {theory.counted} in "
        f"about a minute; {elsewhere * (theory is not WINDOWS)}verify without --machine-checked"
    )


def check_certificate(kept: bytes, source: str, document: Mapping[str, Any], content: bytes) -> None:
    """Check that a certificate that was kept is that of a mechanism file.

    Parameters
    ----------
    kept : bytes
        The certificate.
    source : str
        Its name, for messages.
    document, content
        As for `certificate`.

    Raises
    ------
    InputError
        If it is that of another file, was edited, or was written by another version.
    LimitError
        As `certificate`.
    """
    if kept == certificate(document, content).encode():
        return
    named = re.match(rb"\(\* [^*]*SHA-256\s+([0-9a-f]{64})\.", kept)
    digest = hashlib.sha256(content).hexdigest()
    if named is not None and named[1].decode() != digest:
        raise InputError.damaged_file(
            f"{source} is the certificate of a file with the SHA-256 {named[1].decode()}, and this one has {digest}; "
            "give that file, or write a certificate of this one (mechdesign verify --machine-checked --write)"
        )
    raise InputError.damaged_file(
        f"{source} is not the certificate that these proofs give for the file: it was edited, or written by another "
        "version; write it again (mechdesign verify --machine-checked --write)"
    )


class _Evidence(NamedTuple):
    """Samples that support the radius of an l1 ball, by a test of all samples or of the counts that were seen."""

    samples: int
    delta: Fraction
    of_counts: bool
    ranges: str

    @property
    def ratio(self) -> tuple[int, int]:
        return self.delta.as_integer_ratio()


def _evidence_of(document: Mapping[str, Any]) -> _Evidence | None:
    """Return what Coq is told of the samples of a mechanism with an l1 ball; None where that is not covered.

    It is about all samples where their number supports the radius, and else about the counts, if their sums give the
    radius.
    """
    promise, size = without_nulls(document["guarantee"]), len(document["numerators"])
    if not {"counts", "delta", "radius"} <= promise.keys() or promise["samples"] > MOST_SAMPLES:
        return None
    m, delta = promise["samples"], Fraction(str(promise["delta"]))
    if not (0 < Fraction(promise["radius"]) < 2 and delta > 0):
        return None
    kinds: list[ObservedSums | None] = [None]
    if promise.get("bound") == OBSERVED_SUMS:
        kinds.append(ObservedSums.of(promise["counts"]))
    for seen in kinds:
        found = TailRanges.of(m, Fraction(promise["radius"]), delta / (2**size - 2), seen).ranges()
        if found is not None:
            return _Evidence(m, delta, seen is not None, "; ".join(each.term() for each in found))
    return None


def _theorem_of_samples(document: Mapping[str, Any]) -> str:
    """Return the second theorem: the samples support the radius of an l1 ball. Empty where it is not covered."""
    found = _evidence_of(document)
    if found is None:
        return ""
    learnt, proof = _OF_COUNTS if found.of_counts else _OF_ALL_SAMPLES
    (a, b), modules = found.ratio, "Spec Limits Learnt Observed"
    end = _SAMPLES.format(
        learnt=learnt, proof=proof, m=found.samples, a=a, b=b, shown=found.ranges, evidence="", modules=modules
    )
    return f"\n{_library(_SOURCES_OF_SAMPLES)}\n{end}"


def _theorem_of_records(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the second theorem about records: one sample supports the radii of all views that have a delta.

    It is empty where no view has one, where that of a view is not covered, and for samples of different sizes.
    """
    found = [_evidence_of(part["mechanism"]) for part in parts]
    seen = [each for each in found if each is not None]
    covered = all(
        each or not has_delta(part["mechanism"]["guarantee"]) for each, part in zip(found, parts, strict=True)
    )
    if not (covered and len({each.samples for each in seen}) == 1 and len(seen) * seen[0].samples <= MOST_SAMPLES):
        return ""
    told, shown = list[str](), list[str]()
    for each in found:
        kind, (a, b) = ("TheseCounts" if each and each.of_counts else "AllSamples"), each.ratio if each else (0, 1)
        told.append(f"{kind} {a} {b}" if each else "Given")
        shown.append(f"By{kind} ({a}, {b}%positive) [{each.ranges}]" if each else "NoSupport")
    a, b = sum((each.delta for each in seen), Fraction(0)).as_integer_ratio()
    end = _SAMPLES.format(
        learnt="records_learnt", proof="records_supported", m=seen[0].samples, a=a, b=b, shown="; ".join(shown),
        evidence=f"[{'; '.join(told)}] ", modules="Spec SpecRecords Limits Learnt Observed RecordsLearnt",
    )  # fmt: skip
    return f"\n{_library((*_SOURCES_OF_SAMPLES, 'RecordsLearnt'))}\n{end}"


def _library(names: Iterable[str]) -> str:
    """Return proofs as modules of one file."""
    room = files("mechdesign.proofs") / "coq"
    sources = {name: (room / f"{name}.v").read_text(encoding="utf-8") for name in names}
    lines = [line for source in sources.values() for line in _LIBRARY.findall(source)]
    modules = [f"From Coq Require {' '.join(dict.fromkeys(' '.join(lines).split()))}.\n"]
    for name, source in sources.items():
        body = _OWN.sub(r"Import \1.", _LIBRARY.sub(r"Import \1.", source))
        modules.append(f"Module {name}.\n{body}End {name}.\n")
    return "\n".join(modules)
