"""``mechdesign audit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import click
from pydantic import BeforeValidator

from mechdesign.cli import places
from mechdesign.cli.json_output import Output, Printed, Promised, Text, Whole, given, listed, print_output
from mechdesign.cli.mechanism_kinds import by_kind, load_mechanism
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import WHOLE, check_plot, plot_option, write_plot
from mechdesign.cli.streams import print_error
from mechdesign.data.fields import Number
from mechdesign.deploy.leakage_audit import Audit, audit
from mechdesign.display.numbers import text_below
from mechdesign.errors import GuaranteeError
from mechdesign.mechanism import Mechanism
from mechdesign.plot import audit as draw

_CELLS_SHOWN = 5


class OutsideCell(Printed):
    """A probability that lies outside its limits."""

    input: str
    output: str
    probability: Number
    lower: Number
    upper: Number
    count: Whole


class _Bound(Output):
    carries = "mechdesign/audit/1"

    consistent: bool
    lower_bound: Number
    output: str | None
    input: str | None


class AuditOutput(Promised, _Bound):
    """`mechdesign audit`."""

    samples: Annotated[Sequence[Whole], BeforeValidator(listed)]
    failure: Number
    outside: Sequence[OutsideCell]
    plot: Text | None = None


@click.command("audit")
@click.argument("file", metavar="MECHANISM.json")
@click.option("--samples", type=WHOLE, default=1_000_000, show_default=True, help="Reports to draw, of all categories.")
@click.option(
    "--failure-probability",
    "failure",
    metavar="F",
    default="1e-9",
    show_default=True,
    help="Probability that a limit or the lower bound is wrong.",
)
@plot_option("the leakage that the reports show of each output, beside what is proved")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@by_kind("audit", "file")
def audit_command(file: str, samples: int, failure: str, plot: str | None, as_json: bool) -> int:
    """Draw reports from the sampler, and compute from them alone a lower bound on its leakage.

    The reports are counted for each category. The counts give confidence limits for every probability; all limits hold
    at once, except with the failure probability. They give a lower bound on the greatest leakage over the priors of
    the guarantee.

    If the lower bound exceeds the proved leakage, or a proved probability lies outside its limits, the sampler does
    not follow the mechanism (exit status 1). A lower bound never proves privacy: differences too small for the number
    of samples are not detected. `mechdesign verify` proves the guarantee of the integers.

    Of views of whole records the views are drawn too, for records that show every category of each view.

    A sampler of your own is audited in Python, with mechdesign.deploy.leakage_audit.
    """
    check_plot(plot)
    standard = places.check([plot], [file], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(file, progress, command="audit")
        found = audit(mechanism, samples, failure=failure, progress=progress)
    write_plot(plot, lambda: draw(found, mechanism).figure)
    message = "the reports do not fit the mechanism; its sampler or its randomness is broken"
    error = None if found.consistent else GuaranteeError.sampler_wrong(message)
    if as_json:
        keys = {**mechanism.promised_keys(), "outside": outside_cells(mechanism, found), **given(plot=plot)}
        print_output(AuditOutput.built_from(found, **keys), error)
    else:
        written = [] if plot is None else [("written", "standard output" if standard else plot)]
        print_facts([("file", file), *mechanism.facts(), *_facts(mechanism, found), *written], err=standard)
    return print_error(error)


def outside_cells(mechanism: Mechanism, found: Audit) -> list[OutsideCell]:
    """Return the probabilities that lie outside their limits, with counts and limits."""
    cells = []
    for label, output in found.outside:
        cell = mechanism.inputs.index(label), mechanism.outputs.index(output)
        cells.append(
            OutsideCell(
                input=label,
                output=output,
                probability=mechanism.matrix[cell],
                lower=found.lower[cell],
                upper=found.upper[cell],
                count=int(found.counts[cell]),
            )
        )
    return cells


def _facts(mechanism: Mechanism, found: Audit) -> list[tuple[str, str]]:
    least, most = int(found.samples.min()), int(found.samples.max())
    each = f"{least:,}" if least == most else f"{least:,} or {most:,}"
    shown = f"at least {text_below(found.lower_bound, 6)} nats"
    if found.output is not None:
        shown += f", by output {found.output!r}, likeliest for input {found.input!r}"
    outside = outside_cells(mechanism, found)
    facts = [
        ("reports", f"{found.samples.sum():,}, {each} for each category"),
        ("leakage shown", f"{shown} (failure probability {found.failure:g})"),
        ("probabilities", f"{found.counts.size - len(outside)} of {found.counts.size} within their limits"),
    ]
    if mechanism.guarantee.sides.below is not None:
        facts.append(("from below", "not bounded by an audit, beyond the limits of probabilities"))
    facts += [("outside", _in_words(cell)) for cell in outside[:_CELLS_SHOWN]]
    if len(outside) > _CELLS_SHOWN:
        facts.append(("", f"and {len(outside) - _CELLS_SHOWN} more (see --json)"))
    fit = "the reports fit what is proved; this does not prove privacy (see mechdesign verify)"
    facts.append(("verdict", fit if found.consistent else "the reports do NOT fit the mechanism"))
    return facts


def _in_words(cell: OutsideCell) -> str:
    limits = f"{cell.lower:.6g} to {cell.upper:.6g}, proved {cell.probability:.6g}"
    return f"{cell.output!r} for {cell.input!r}: {cell.count:,} reports, so {limits}"
