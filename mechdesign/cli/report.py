"""``mechdesign report``."""

from __future__ import annotations

from typing import Any, Literal

import click

from mechdesign.adapters.deployments_registry import drafted_entry
from mechdesign.cli import places
from mechdesign.cli.json_output import Hash, Output, Text, Whole, given, print_output
from mechdesign.cli.machine_check import certified
from mechdesign.cli.mechanism_kinds import MOST_BYTES, by_kind, kind_of
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import side_data_option
from mechdesign.cli.shared_options import NUMBER
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.errors import printable
from mechdesign.histogram.record_check import is_record
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import from_content, read_content
from mechdesign.mechanism.origin import check_tag
from mechdesign.report import Origin, mechanism_page, record_page
from mechdesign.report.mechanism_report import TIME_LIMIT


class ReportOutput(Output):
    """`mechdesign report`."""

    carries = "mechdesign/report/1"

    kind: Literal["mechanism", "histogram"]
    file: Text
    sha256: Hash
    output: Text
    bytes: Whole
    certificate: Hash | None = None


@click.command("report")
@click.argument("file", metavar="MECHANISM.json")
@click.option("-o", "--output", metavar="OUT.html", required=True, help="The page, or the entry; - is standard output.")
@click.option(
    "--no-compare",
    is_flag=True,
    help="Leave out randomized response and the best LDP mechanism, whose design may take long.",
)
@click.option(
    "--time-limit",
    type=NUMBER,
    metavar="SECONDS",
    default=TIME_LIMIT,
    show_default=True,
    help="Stop the design of the best LDP mechanism after this time; the page says so.",
)
@click.option(
    "--guarantee-only",
    is_flag=True,
    help="Do not check the claim of optimality, which may take long; the page says nothing of it.",
)
@click.option("--title", metavar="TEXT", default="", help="The heading of the page; by default the title in the file.")
@click.option(
    "--registry",
    is_flag=True,
    help="Write no page but an entry for the public registry of deployments of differential privacy, as JSON.",
)
@click.option(
    "--certificate",
    metavar="FILE.v",
    help="Have Coq check the certificate of the file (mechdesign verify --machine-checked --write); the page says so.",
)
@side_data_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@by_kind("report", "file", "data")
def report_command(
    file: str,
    output: str,
    *,
    no_compare: bool,
    time_limit: float,
    guarantee_only: bool,
    title: str,
    registry: bool,
    certificate: str | None,
    as_json: bool,
) -> None:
    """Write a page for readers who are not mathematicians: what is promised and what is not, and how to check it.

    \b
    Examples:
      mechdesign report education.json -o education.html
      mechdesign report record.json -o histogram.html
      mechdesign report education.json --registry -o education.yaml

    The file is a mechanism of any kind, or the record of a released histogram (mechdesign histogram --record). Its
    claims are proved again first; where one is false, no page is written (exit status 1). The page is one HTML file
    that fetches nothing and runs no program, for screens and for paper.

    --registry drafts what the registry of OpenDP asks for, as JSON, which is YAML too. Where the file does not know, a
    text begins with "TO FILL IN"; the notes list these, and choices that are left to a person. PML is registered as a
    custom variant: its epsilon is not one of differential privacy, unless the promise is to everyone.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    if registry:
        refuse_others({"file", "output", "registry", "title", "guarantee_only", "as_json"}, "--registry")
    accepted_ending(output, [".json", ".yaml", ".yml"] if registry else [".html", ".htm"])
    standard = places.check([output], [file], as_json=as_json)
    about: dict[str, Any] = {"compare": not no_compare, "time_limit": time_limit, "title": title}
    checks, theorem = not guarantee_only, None
    with Progress() as progress:
        progress("proving the guarantee in exact arithmetic")
        with readable(file, MOST_BYTES) as place:
            kind_of(place).check_known("report", file)
            content, source = read_content(place), printable(str(place))
        kind: Literal["mechanism", "histogram"] = "histogram" if is_record(content) and not registry else "mechanism"
        origin = Origin.of(content, file)
        if kind == "histogram":
            written = _record_page(content, file, title, certificate)
        else:
            mechanism = Mechanism(*from_content(content, source))
            check_tag(mechanism.parts)
            theorem = certified(certificate, content, source, progress)
            if registry:
                written = drafted_entry(mechanism, origin, title, check_optimality=checks)
            else:
                about |= {"check_optimality": checks, "progress": progress, "theorem": theorem}
                written = mechanism_page(mechanism, origin, **about)
    content = written.encode()
    write_atomically(output, content)
    checked = given(certificate=theorem and theorem.certificate)
    made = ReportOutput(kind=kind, file=file, sha256=origin.digest, output=output, bytes=len(content), **checked)
    if as_json:
        print_output(made)
    else:
        print_facts(_facts(made, registry=registry, standard=standard), err=standard)


def _record_page(content: bytes, file: str, title: str, certificate: str | None) -> str:
    if certificate is not None:
        raise click.UsageError("--certificate: not accepted beside the record of a histogram; leave it out")
    return record_page(content, file, title)


def _facts(made: ReportOutput, *, registry: bool, standard: bool) -> list[tuple[str, str]]:
    """Return what people read of a page."""
    what = "a draft for the registry, whose notes list what to fill in" if registry else f"about a {made.kind}"
    facts = [("file", made.file), ("sha256", made.sha256), ("page", f"{made.bytes:,} bytes, {what}")]
    if made.certificate is not None:
        facts.append(("certificate", f"SHA-256 {made.certificate}, checked by Coq"))
    return [*facts, ("written", "standard output" if standard else made.output)]
