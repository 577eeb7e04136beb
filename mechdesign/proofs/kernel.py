"""Coq, where it is installed: what its kernel says of a certificate."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from mechdesign.errors import LimitError, shorten
from mechdesign.proofs.coq_file import REFUSALS, SAMPLES, certificate
from mechdesign.proofs.read_back import from_coq, from_file, samples_of
from mechdesign.proofs.theorem_words import Learnt

_OLDEST = (8, 16)
_SECONDS = 900
_PRINTED = re.compile(r"^the_file =\s*(\{\|.*?\|\})\s*:\s*[a-z_]*file$", re.MULTILINE | re.DOTALL)
_LEARNT = re.compile(
    r"^the_samples_support_the_radius\s*: (learnt|learnt_from_counts|records_learnt) the_file "
    r"\(Z\.to_nat ([0-9]+)\) (?:\[([A-Za-z0-9; ]*)\] )?\(ratio ([0-9]+) ([0-9]+)\)$",
    re.MULTILINE,
)
_AXIOM = re.compile(r"^\S+", re.MULTILINE)
"""What begins a line: types are indented, and names without a dot are those of the certificate itself."""


@dataclass(frozen=True)
class Verdict:
    """What Coq has checked.

    Attributes
    ----------
    coq : str
        The version of Coq.
    axioms : tuple of str
        What the theorem stands on: axioms of the real numbers.
    term : str
        The term that was proved, as canonical JSON that Coq's printer and the file agree on.
    certificate : str
        The SHA-256 of the certificate, in hexadecimal.
    learnt : Learnt or None
        The second theorem, if there is one: the samples support the radius of the file.
    """

    coq: str
    axioms: tuple[str, ...]
    term: str
    certificate: str
    learnt: Learnt | None


@dataclass(frozen=True)
class Refusal:
    """An output that breaks the promise, and a category at which it does, by their positions."""

    output: int
    symbol: int


def coq_version() -> str:
    """Return the version of Coq.

    Raises
    ------
    LimitError
        If there is none, or one that is too old.
    """
    program = shutil.which("coqc")
    if program is None:
        raise LimitError.not_machine_checked(
            "there is no program coqc, which checks the proof; install Coq 8.16 or later (Debian: apt-get install "
            "coq), or keep the certificate by --write FILE.v and check it elsewhere"
        )
    done = _run([program, "--print-version"])
    found = re.match(r"([0-9]+)\.([0-9]+)\S*", done.stdout)
    if found is None or (int(found[1]), int(found[2])) < _OLDEST:
        raise LimitError.not_machine_checked(
            f"coqc says that its version is {shorten(done.stdout.strip())}; accepted: 8.16 or later"
        )
    return found[0]


def ask_coq(document: Mapping[str, Any], content: bytes) -> Verdict | None:
    """Return what Coq has proved of a mechanism file, or None if it refuses the theorem.

    Parameters
    ----------
    document : mapping
        The JSON of the file.
    content : bytes
        The file.

    Raises
    ------
    LimitError
        If there is no Coq of a known version, the proofs do not cover the file, time runs out, the term that Coq prints
        is not that of the file, or the theorem stands on an axiom that is not one of the real numbers.
    """
    version = coq_version()
    text = certificate(document, content)
    printed = _printed(text)
    if printed is None:
        return None
    wanted = from_file(content)
    if _term(printed) != wanted:
        raise LimitError.not_machine_checked(
            f"Coq {version} prints another term than the integers of the file; report it, with the file"
        )
    learnt = [
        Learnt(
            int(found[2]), Fraction(int(found[4]), int(found[5])), found[1] == "learnt_from_counts", _views(found[3])
        )
        for found in _LEARNT.finditer(printed)
    ]
    told = [(each.samples, each.delta, each.views) for each in learnt]
    if told != ([samples_of(content)] if SAMPLES in text else []):
        raise LimitError.not_machine_checked(
            f"Coq {version} prints another theorem about the samples than that of the file; report it, with the file"
        )
    _, _, after = _LEARNT.sub("", printed).partition("Axioms:")
    axioms = tuple(sorted({*_AXIOM.findall(after)} - {"Axioms:"}))
    allowed = (files("mechdesign.proofs") / "coq" / "axioms.txt").read_text(encoding="utf-8").split()
    if not after or not set(axioms) <= set(allowed):
        raise LimitError.not_machine_checked(
            f"Coq {version} says that the theorem stands on {shorten(list(axioms), 200)}"
        )
    return Verdict(version, axioms, wanted, hashlib.sha256(text.encode()).hexdigest(), learnt[0] if learnt else None)


def refusals(document: Mapping[str, Any], content: bytes) -> list[Refusal]:
    """Return the outputs that break the promise by the same test, as Coq computes it.

    Raises
    ------
    LimitError
        As above, and if this Coq cannot read the proofs at all.
    """
    version = coq_version()
    printed = _printed(certificate(document, content, REFUSALS))
    if printed is None:
        raise LimitError.not_machine_checked(
            f"Coq {version} cannot read the proofs, which were tried with 8.16, 8.20 and 9.2; install one of these"
        )
    return [Refusal(int(y), int(x)) for y, x in re.findall(r"\(([0-9]+)(?:%nat)?,\s*([0-9]+)(?:%nat)?\)", printed)]


def _views(printed: str | None) -> tuple[Fraction | None, ...]:
    """Return the delta of each view, None where it is given; nothing if the theorem is not about views."""
    kinds = [each.split() for each in (printed or "").split(";")] if printed else []
    return tuple(Fraction(int(kind[1]), int(kind[2])) if len(kind) > 1 else None for kind in kinds)


def _term(printed: str) -> str | None:
    """Return the term that Coq prints, as canonical JSON, or None if it is no file."""
    found = _PRINTED.search(printed)
    with suppress(ValueError):
        return None if found is None else from_coq(found[1])
    return None


def _printed(text: str) -> str | None:
    """Return what Coq prints of a file, or None if it refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Certificate.v"
        path.write_text(text, encoding="utf-8")
        command = ["coqc", "-q", "-w", "none", path.name]
        try:
            done = _run(command, cwd=folder, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            raise LimitError.not_machine_checked(
                f"Coq had no answer within {_SECONDS} seconds; merge categories"
            ) from None
    if done.returncode < 0:
        raise LimitError.not_machine_checked(
            f"Coq was ended by signal {-done.returncode}, perhaps for want of memory; merge categories"
        )
    return done.stdout if done.returncode == 0 else None


def _run(command: list[str], **where: Any) -> subprocess.CompletedProcess[str]:
    """Run a program; bytes of its answer that are no text are no answer that is looked for."""
    kept: dict[str, Any] = {"capture_output": True, "encoding": "utf-8", "errors": "replace"}
    return subprocess.run(command, check=False, **kept, **where)
