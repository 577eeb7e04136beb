"""``mechdesign verify --machine-checked``: the guarantee of a file as a theorem that Coq checks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mechdesign.cli.json_output import Hash, Labels, Printed
from mechdesign.cli.places import check
from mechdesign.cli.windows_sample import decorated
from mechdesign.data.files import write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import GuaranteeError, InputError, LimitError, printable, shorten
from mechdesign.mechanism.mechanism_files import parsed_json, read_content

if TYPE_CHECKING:
    from mechdesign.proofs.kernel import Verdict

_MOST_BYTES = 1 << 25
"""Of a certificate; 90,000 numerators take two megabytes."""
_NPZ = "{} is an NPZ file; Coq is given the integers of JSON"


class MachineChecked(Printed):
    """A theorem about the integers of a file, and what it stands on."""

    theorem: str
    definitions: Labels
    coq: str
    axioms: Labels
    certificate: Hash
    term: Hash


@dataclass(frozen=True)
class MachineCheck:
    """Whether a theorem is asked for, where its certificate is kept, and which one is there already."""

    asked: bool
    kept: str | None = None
    given: str | None = None

    def __post_init__(self) -> None:
        if not self.asked:
            for option, value in (("--write", self.kept), ("--certificate", self.given)):
                if value is not None:
                    raise click.UsageError(f"{option} belongs to --machine-checked; give both, or neither")
        if self.kept is not None and self.given is not None:
            raise click.UsageError("--write writes the certificate that --certificate reads; give one of them")
        if self.kept is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\.v", Path(self.kept).name):
            raise InputError.wrong_file_ending(
                f"the certificate is {shorten(self.kept)}; Coq accepts letters, digits and _ before the ending .v"
            )

    def of(self, file: str, kind: str, progress: Callable[[str], None], *, as_json: bool) -> MachineChecked:
        """Keep the certificate of a file that holds, and return what Coq has proved of it."""
        from mechdesign.proofs.coq_file import certificate
        from mechdesign.proofs.theorem_words import theorem_in_words
        from mechdesign.proofs.theories import theory_of

        if kind not in {"matrix", "windows", "records"}:
            raise LimitError.not_machine_checked(
                f"{printable(file)} holds {kind}, which the machine-checked proofs do not cover; verify without "
                "--machine-checked"
            )
        document, content = self._read(file)
        text = certificate(document, content)
        if self.kept is not None:
            check([self.kept], [file], as_json=as_json)
            write_atomically(self.kept, text.encode())
        verdict = self.verdict(document, content, progress)
        return MachineChecked(
            theorem=theorem_in_words(document, verdict.learnt),
            definitions=[f"{page}.v" for page in theory_of(document).pages],
            coq=verdict.coq,
            axioms=verdict.axioms,
            certificate=verdict.certificate,
            term=hashlib.sha256(verdict.term.encode()).hexdigest(),
        )

    def verdict(self, document: Any, content: bytes, progress: Callable[[str], None]) -> Verdict:
        """Return what Coq has proved of a file, whose certificate is compared with the one that is there.

        Raises
        ------
        GuaranteeError
            If Coq refuses the theorem.
        InputError, LimitError
            As `mechdesign.proofs.coq_file.check_certificate`, and `mechdesign.proofs.kernel.ask_coq`.
        """
        from mechdesign.proofs.coq_file import check_certificate
        from mechdesign.proofs.kernel import ask_coq

        if self.given is not None:
            kept = read_bounded(self.given, _MOST_BYTES, "a certificate")
            check_certificate(kept, printable(self.given), document, content)
        progress("checking the theorem with Coq")
        verdict = ask_coq(document, content)
        if verdict is None:
            raise self._refusal(document, content)
        return verdict

    def refusal(self, file: str, error: GuaranteeError) -> GuaranteeError:
        """Return what Coq says of a file whose promise Python has found to be false, if this is asked for."""
        if not self.asked or error.code != "guarantee-false":
            return error
        try:
            return self._refusal(*self._read(file))
        except LimitError:
            return error

    def _read(self, file: str) -> tuple[Any, bytes]:
        if file == "-":
            raise InputError.usage("--machine-checked reads the file twice; give its name in the place of -")
        content = read_content(file)
        if content[:2] == b"PK":
            raise InputError.wrong_file_format(_NPZ.format(printable(file)))
        return parsed_json(content, printable(file)), content

    def _refusal(self, document: Any, content: bytes) -> GuaranteeError:
        """Return the kernel's refusal: the first output that breaks the promise, and a category at which it does."""
        from mechdesign.proofs.kernel import refusals
        from mechdesign.proofs.theorem_words import place_in_words

        found = refusals(document, content)
        if not found:
            raise LimitError.not_machine_checked(
                "Coq did not accept the theorem, and its test names no output that breaks the guarantee; perhaps "
                "memory ran out; merge categories, or report this file"
            )
        where = place_in_words(document, found[0].output, found[0].symbol)
        others = f", and of {len(found) - 1} more" if len(found) > 1 else ""
        return GuaranteeError.guarantee_false(f"the guarantee is false: Coq refuses {where}{others}")

    @staticmethod
    def facts(found: MachineChecked) -> list[tuple[str, str]]:
        """Return what people read of a theorem."""
        return [
            ("theorem", found.theorem),
            ("checked by", f"Coq {found.coq}, from definitions in {' and '.join(found.definitions)}"),
            ("axioms", ", ".join(axiom.rpartition(".")[2] for axiom in found.axioms) + ": of the real numbers"),
            ("certificate", f"SHA-256 {found.certificate}"),
        ]


def certified(name: str | None, content: bytes, source: str, progress: Callable[[str], None]) -> Verdict | None:
    """Return what Coq has proved of a mechanism file with a certificate, if there is one."""
    if name is None:
        return None
    if content[:2] == b"PK":
        raise InputError.wrong_file_format(_NPZ.format(source))
    return MachineCheck(asked=True, given=name).verdict(parsed_json(content, source), content, progress)


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `MachineCheck`, which it receives as ``machine``."""

    def wrapped(*, machine_checked: bool, write: str | None, certificate: str | None, **values: Any) -> Any:
        return command(machine=MachineCheck(machine_checked, write, certificate), **values)

    return decorated(
        wrapped,
        command,
        click.option(
            "--machine-checked",
            is_flag=True,
            help="Also have Coq, if it is installed, check the guarantee as a theorem about the file's integers.",
        ),
        click.option("--write", metavar="FILE.v", help="Keep the certificate, which Coq checks without mechdesign."),
        click.option("--certificate", metavar="FILE.v", help="Check this certificate, which must be that of the file."),
    )
