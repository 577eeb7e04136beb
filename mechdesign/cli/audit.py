"""``mechdesign audit``."""

from __future__ import annotations

from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.output import guarantee_facts, guarantee_record, print_facts, print_json
from mechdesign.cli.plot_option import check_plot, plot_option, write_plot
from mechdesign.cli.progress import Progress
from mechdesign.deploy.audit import Audit, audit
from mechdesign.display.text import text_below
from mechdesign.mechanism import Mechanism
from mechdesign.plot import audit as draw

_CELLS_SHOWN = 5


@click.command("audit", short_help="Draw reports, and compute a lower bound on their leakage.")
@click.argument("file", metavar="MECHANISM.json")
@click.option("--samples", type=int, default=1_000_000, show_default=True, help="Reports to draw, over all inputs.")
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
def audit_command(file: str, samples: int, failure: str, plot: str | None, as_json: bool) -> int:
    """Draw reports from the sampler, and compute from them alone a lower bound on its leakage.

    The reports are counted for each input. The counts give confidence limits for every probability; all limits hold
    at once, except with the failure probability. They give a lower bound on the greatest leakage over the priors of
    the guarantee.

    If the lower bound exceeds the proved leakage, or a proved probability lies outside its limits, the sampler does
    not follow the mechanism (exit status 1). A lower bound never proves privacy: differences too small for the number
    of samples are not detected. `mechdesign verify` proves the guarantee of the integers.

    A sampler of your own is audited in Python, with mechdesign.deploy.audit.
    """
    check_plot(plot)
    standard = places.check([plot], [file], as_json=as_json)
    with Progress() as report:
        mechanism = places.load_mechanism(file, report)
        found = audit(mechanism, samples, failure=failure, report=report)
    write_plot(plot, lambda: draw(found, mechanism).figure)
    drawn = {} if plot is None else {"plot": plot}
    if as_json:
        print_json("mechdesign/audit/1", {**_record(mechanism, found), **drawn})
    else:
        written = [("written", "standard output" if standard else path) for path in drawn.values()]
        print_facts([("file", file), *guarantee_facts(mechanism), *_facts(mechanism, found), *written], err=standard)
    if found.consistent:
        return 0
    click.echo("Error: the reports do not fit the mechanism; its sampler or its randomness is broken", err=True)
    return 1


def _cells(mechanism: Mechanism, found: Audit) -> list[dict[str, Any]]:
    """Return the probabilities that lie outside their limits, with counts and limits."""
    cells = []
    for label, output in found.outside:
        cell = mechanism.inputs.index(label), mechanism.outputs.index(output)
        cells.append(
            {
                "input": label,
                "output": output,
                "probability": float(mechanism.matrix[cell]),
                "lower": float(found.lower[cell]),
                "upper": float(found.upper[cell]),
                "count": int(found.counts[cell]),
            }
        )
    return cells


def _record(mechanism: Mechanism, found: Audit) -> dict[str, Any]:
    return {
        "consistent": found.consistent,
        "lower_bound": found.lower_bound,
        "output": found.output,
        "input": found.input,
        **guarantee_record(mechanism),
        "samples": found.samples.tolist(),
        "failure": found.failure,
        "outside": _cells(mechanism, found),
    }


def _facts(mechanism: Mechanism, found: Audit) -> list[tuple[str, str]]:
    least, most = int(found.samples.min()), int(found.samples.max())
    each = f"{least:,}" if least == most else f"{least:,} or {most:,}"
    shown = f"at least {text_below(found.lower_bound, 6)} nats"
    if found.output is not None:
        shown += f", by output {found.output!r}, likeliest for input {found.input!r}"
    outside = _cells(mechanism, found)
    facts = [
        ("reports", f"{found.samples.sum():,}, {each} for each input"),
        ("leakage shown", f"{shown} (failure probability {found.failure:g})"),
        ("probabilities", f"{found.counts.size - len(outside)} of {found.counts.size} within their limits"),
    ]
    if mechanism.guarantee.lower is not None:
        facts.append(("from below", "not bounded by an audit, beyond the limits of probabilities"))
    facts += [("outside", _told(cell)) for cell in outside[:_CELLS_SHOWN]]
    if len(outside) > _CELLS_SHOWN:
        facts.append(("", f"and {len(outside) - _CELLS_SHOWN} more (see --json)"))
    fit = "the reports fit what is proved; this does not prove privacy (see mechdesign verify)"
    facts.append(("verdict", fit if found.consistent else "the reports do NOT fit the mechanism"))
    return facts


def _told(cell: dict[str, Any]) -> str:
    limits = f"{cell['lower']:.6g} to {cell['upper']:.6g}, proved {cell['probability']:.6g}"
    return f"{cell['output']!r} for {cell['input']!r}: {cell['count']:,} reports, so {limits}"
