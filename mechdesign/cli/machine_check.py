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
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import plain_text

if TYPE_CHECKING:
    from mechdesign.proofs.kernel import Verdict

_MOST_BYTES = 1 << 25
"""Of a certificate; 90,000 numerators take two megabytes."""
_THEOREM = "for every prior Q of the set, every report y and every input x: K(y|x) <= e^{} sum Q(x') K(y|x')"
_NPZ = "{} is an NPZ file; Coq is given the integers of JSON"
_BELOW = "K(y|x) >= e^-{} sum Q(x') K(y|x')"
_LEARNT = (
    "; and whatever the prior is, the shares of {} independent draws from it are farther from it than the radius with "
    "probability at most {}"
)
_LEARNT_FROM_COUNTS = (
    "; and whatever the prior is, {} independent draws from it contradict it with probability at most {}, and every "
    "prior that the counts do not contradict is within the radius"
)
_CAP = "for every two inputs K(y|x) <= e^{} K(y|x')"


class MachineChecked(Printed):
    """A theorem about the integers of a file, and what it stands on."""

    theorem: str
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

        if kind != "matrix":
            raise LimitError.not_machine_checked(
                f"{printable(file)} does not hold a matrix, and the machine-checked proofs are about matrices; verify "
                "without --machine-checked"
            )
        document, content = self._read(file)
        text = certificate(document, content)
        if self.kept is not None:
            check([self.kept], [file], as_json=as_json)
            write_atomically(self.kept, text.encode())
        verdict = self.verdict(document, content, progress)
        sides = (("epsilon", _THEOREM), ("lower", _BELOW), ("cap", _CAP))
        promise = document["guarantee"]
        told = [
            words.format(exponent_in_words(promise[side])) for side, words in sides if promise.get(side) is not None
        ]
        learnt = ""
        if verdict.learnt is not None:
            words = _LEARNT_FROM_COUNTS if verdict.learnt.from_counts else _LEARNT
            learnt = words.format(verdict.learnt.samples, str(document["guarantee"]["delta"]).lower())
        return MachineChecked(
            theorem="; and ".join(told) + "; the rows sum to 1, and the set has a prior" + learnt,
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
        """Return the kernel's refusal: the first output that breaks the promise, and a symbol at which it does."""
        from mechdesign.proofs.kernel import refusals

        found = refusals(document, content)
        if not found:
            raise LimitError.not_machine_checked(
                "Coq did not accept the theorem, and its test names no output that breaks the guarantee; perhaps "
                "memory ran out; merge symbols, or report this file"
            )
        output, symbol = document["outputs"][found[0].output], document["inputs"][found[0].symbol]
        others = f", and of {len(found) - 1} more" if len(found) > 1 else ""
        return GuaranteeError.guarantee_false(
            f"the guarantee is false: Coq refuses that of output {shorten(output)} at the input {shorten(symbol)}"
            f"{others}"
        )

    @staticmethod
    def facts(found: MachineChecked) -> list[tuple[str, str]]:
        """Return what people read of a theorem."""
        return [
            ("theorem", found.theorem),
            ("checked by", f"Coq {found.coq}, from definitions in Spec.v"),
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


def exponent_in_words(text: str) -> str:
    """Return an epsilon of a file as an exponent of e.

    Examples
    --------
    >>> [exponent_in_words(text) for text in ("2/1", "0.50", "1/3", "log(4)")]
    ['2', '0.5', '(1/3)', 'log(4)']
    """
    epsilon = Epsilon.of(text)
    if epsilon.exponent is None:
        return epsilon.text
    number = plain_text(epsilon.exponent)
    return f"({number})" if "/" in number else number


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
