"""``mechdesign histogram``: counts with noise, and the guarantee that they have."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any, Literal

import click

from mechdesign.cli import places
from mechdesign.cli.common_options import CheckedGroup
from mechdesign.cli.json_output import Labels, Output, Text, Whole, print_output
from mechdesign.cli.output import print_facts, show_values_option
from mechdesign.cli.shared_options import WHOLE
from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, written_atomically
from mechdesign.data.inputs import readable
from mechdesign.display.numbers import text_above
from mechdesign.errors import InputError
from mechdesign.histogram.record import NOISE_MEANS, RATIONALS, ReleaseRecord
from mechdesign.histogram.registry import PLANS
from mechdesign.histogram.release_plan import Option, Plan
from mechdesign.histogram.released_counts import HistogramRelease, release
from mechdesign.uncertainty import L1Ball


class HistogramOutput(Output):
    """`mechdesign histogram`: the record with its parameters as floats, and what was written."""

    carries = "mechdesign/histogram/1"

    mechanism: str
    notion: str
    epsilon: Number
    delta: Number
    neighbours: str
    k: Whole | None = None
    sigma: Number | None = None
    tau: Number | None = None
    value_sigma: Number | None = None
    scale: Number | None = None
    alpha: Number | None = None
    noise: Literal["continuous", "discrete", "none"]
    noise_meaning: str
    randomness: str | None
    analysis: str
    source: str
    post_processing: str | None
    reading: str
    not_protected: Labels
    released: Whole | None
    subtracted: Number | None
    output: Text | None
    record: Text | None


@click.group("histogram", cls=CheckedGroup)
def histogram_command() -> None:
    """Release counts of categories with noise, and a record of what that guarantees."""


def _group_help() -> str:
    choices = "\n".join(f"  {kind.name:<8}  {kind.usage.choice}" for kind in PLANS)
    return f"""Release counts of categories with noise, and a record of what that guarantees.

\b
Which one:
{choices}

The name - stands for standard input, and as an output for standard output; the facts then go to standard error. A
file that exists is replaced only with --overwrite: two published releases of the same data leak more than one.

A mechanism that draws float noise needs --allow-float-noise, because its analysis is for real numbers. --plan
computes the noise that a guarantee needs, without any data.
"""


@dataclass(frozen=True)
class ReleaseJob:
    """What is released, and where it goes."""

    file: str | None
    data: str | None
    column: str | None
    no_header: bool
    output: str | None
    record: str | None
    whole: bool
    plan_only: bool
    overwrite: bool
    show_values: bool
    as_json: bool

    @property
    def source(self) -> str | None:
        """The file that is read; None for a plan."""
        return self.file or self.data

    @property
    def outputs(self) -> tuple[str | None, str | None]:
        """Where the counts and the record go."""
        return self.output, self.record

    def check(self, *others: str | None) -> None:
        """Refuse options that exclude each other, and outputs that would replace what is read."""
        if self.plan_only:
            given = {"a file": self.file, "--data": self.data, "--column": self.column}
            beside = [name for name, value in {**given, "--output": self.output}.items() if value is not None]
            if beside:
                raise click.UsageError(f"--plan reads no data; leave out {', '.join(beside)}")
        else:
            self._check_source()
            if self.output is None:
                raise click.UsageError("--output is missing; give the file of the released counts, or --plan")
        for path, ending in zip(self.outputs, (".csv", ".json"), strict=True):
            if path is not None:
                accepted_ending(path, [ending])
        places.check(
            self.outputs, [self.source, *others], as_json=self.as_json, overwrite=self.overwrite, data=self.data
        )

    def _check_source(self) -> None:
        if (self.file is None) == (self.data is None):
            raise click.UsageError("give one of COUNTS.csv and --data FILE --column COLUMN, or --plan")
        if (self.data is None) != (self.column is None):
            raise click.UsageError("--data and --column belong together; a file of counts has two columns of its own")

    def counts(self) -> dict[str, int]:
        """Return the histogram."""
        with readable(self.source or "") as place:
            if self.file is not None:
                return read_counts(place, header=not self.no_header, show_values=self.show_values)
            return count_column(place, str(self.column), header=not self.no_header, show_values=self.show_values)


_JOB_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("file", metavar="[COUNTS.csv]", required=False),
    click.option(
        "--data",
        metavar="FILE",
        help="CSV or Parquet file of records, or a folder of them, in place of COUNTS.csv; one column is counted. "
        "- reads standard input.",
    ),
    click.option(
        "--column", metavar="COLUMN", help="The column of --data: a name, or an index from 0 with --no-header."
    ),
    click.option("--no-header", is_flag=True, help="The CSV file has no line of column names."),
    click.option(
        "-o",
        "--output",
        metavar="OUT.csv",
        help="The file of the released categories and counts (of top-k excesses); - is CSV on standard output.",
    ),
    click.option("--record", metavar="R.json", help="Also write the record of the guarantee; it may be published."),
    click.option("--whole", is_flag=True, help="Clip noisy counts at 0 and round them; it costs no privacy."),
    click.option(
        "--plan",
        "plan_only",
        is_flag=True,
        help="Only compute the noise that is needed; takes no data and no --output.",
    ),
    click.option(
        "--overwrite",
        is_flag=True,
        help="Replace outputs that exist; two published releases leak more than one.",
    ),
    show_values_option,
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)
_FLOAT_NOISE = click.option(
    "--allow-float-noise", is_flag=True, help="Accept noise drawn as floats, although the analysis is for real numbers."
)


def _click_option(option: Option) -> Callable[[Any], Any]:
    """Return an option of a plan as one of the command line."""
    kind = click.Choice(option.choices) if option.choices else WHOLE if option.whole else None
    default: dict[str, Any] = {} if option.default is None else {"default": option.default, "show_default": True}
    return click.option(
        *option.names, type=kind, metavar=option.metavar, required=option.required, help=option.help, **default
    )


def _command(kind: type[Plan]) -> click.Command:
    """Return the command of a mechanism: its own options, and those of `ReleaseJob`."""

    def command(**values: Any) -> None:
        job = ReleaseJob(**{field.name: values.pop(field.name) for field in fields(ReleaseJob)})
        job.check(values.get("estimate"))
        allowed = values.pop("allow_float_noise", False)
        prepared = _PREPARED.get(kind.name)
        keywords = values if prepared is None else prepared(job, values)
        _run(job, kind.of(**keywords), allow_float_noise=allowed)

    usage = kind.usage
    command.__doc__ = "\n\n".join([usage.title, "\n  ".join(["\b\nExamples:", *usage.examples]), usage.description])
    own = (*map(_click_option, usage.options), *([_FLOAT_NOISE] if usage.draws_floats else []))
    decorated: Callable[..., Any] = command
    for option in reversed((*own, *_JOB_OPTIONS)):
        decorated = option(decorated)
    return click.command(kind.name, short_help=usage.summary)(decorated)


def _alpha_of_an_estimate(job: ReleaseJob, values: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a plan with Laplace noise, after reading the file of --estimate."""
    estimate, delta, alpha = values.pop("estimate"), values.pop("delta"), values.pop("alpha")
    if estimate is None:
        if delta is not None:
            raise click.UsageError("--delta belongs to --estimate; without it the guarantee has no delta")
        return {**values, "alpha": alpha or 0}
    if alpha is not None or delta is None:
        raise click.UsageError("--estimate needs --delta, and excludes --alpha")
    with readable(estimate) as place:
        counts = read_counts(place, header=not job.no_header, show_values=job.show_values)
    return {**values, "alpha": L1Ball.from_counts(counts, delta=delta)}


# What turns the options of a command into the keywords of its plan, where they are not the same.
_PREPARED: dict[str, Callable[[ReleaseJob, dict[str, Any]], dict[str, Any]]] = {"laplace": _alpha_of_an_estimate}


def _run(job: ReleaseJob, plan: Plan, *, allow_float_noise: bool) -> None:
    """Release counts as planned, or only say what the plan guarantees."""
    done = None
    if not job.plan_only:
        plan.check_noise(allowed=allow_float_noise)
        counts = job.counts()
        try:
            done = release(counts, plan, allow_float_noise=allow_float_noise, whole=job.whole)
        except InputError as error:
            raise error.reworded(f"{job.source}: {error}") from None
    record = plan.record() if done is None else done.record
    _write(job, plan, done, record)
    if job.as_json:
        print_output(_output(job, done, record))
    else:
        print_facts(_facts(job, plan, done, record), err=STANDARD in job.outputs)


def _write(job: ReleaseJob, plan: Plan, done: HistogramRelease | None, record: ReleaseRecord) -> None:
    """Write the counts and the record; neither is renamed to its place, or printed, before both are complete."""
    beside = {} if done is None or done.subtracted is None else {"subtracted": done.subtracted}
    contents = {job.output: _csv(plan, done) if done is not None else "", job.record: record.to_json(**beside)}
    with ExitStack() as stack:
        for path, content in sorted(contents.items(), key=lambda item: item[0] == STANDARD):
            if path is not None:
                file = stack.enter_context(written_atomically(path, overwrite=job.overwrite))
                file.write(content.encode())
                file.flush()
                if path != STANDARD:
                    os.fsync(file.fileno())  # a full disk shows here


def _csv(plan: Plan, done: HistogramRelease) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", plan.quantity])
    writer.writerows(done.counts.items())
    return text.getvalue()


def _output(job: ReleaseJob, done: HistogramRelease | None, record: ReleaseRecord) -> HistogramOutput:
    """Return what is printed as JSON: the record with numbers for its exact texts, and what is released."""
    exact = record.as_dict()
    numbers = {name: float(getattr(record, name)) for name in ("epsilon", *RATIONALS) if name in exact}
    return HistogramOutput(
        **{**exact, **numbers},
        released=None if done is None else len(done.counts),
        subtracted=None if done is None else done.subtracted,
        output=job.output,
        record=job.record,
    )


def _facts(job: ReleaseJob, plan: Plan, done: HistogramRelease | None, record: ReleaseRecord) -> list[tuple[str, str]]:
    delta = f", delta = {text_above(float(record.delta), 6)}" if record.delta else ""
    facts = [
        ("mechanism", record.mechanism),
        ("guarantee", f"epsilon = {record.epsilon}{delta}: {record.notion}"),
        ("neighbours", record.neighbours),
    ]
    exact = record.as_dict()
    for name, meaning in plan.meanings.items():
        if name in exact:
            value = exact[name]
            facts.append((name, f"{value if isinstance(value, str) else format(value, ',')}: {meaning}"))
    facts += [
        ("noise", f"{record.noise}: {NOISE_MEANS[record.noise]}"),
        ("values", plan.reading),
        ("analysis", f"{record.analysis}: {record.source}"),
        ("not protected", "; ".join(record.not_protected)),
    ]
    if done is not None:
        facts.append(("released", f"{len(done.counts):,} under {plan.quantity!r}, {record.post_processing}"))
        if done.subtracted is not None:
            facts.append(("subtracted", f"{done.subtracted:g}: the (k+1)-th largest count, with its noise"))
    names = ("standard output" if path == STANDARD else path for path in job.outputs if path is not None)
    written = ", ".join(names)
    return [*facts, ("written", written)] if written else facts


histogram_command.help = _group_help()
for _kind in PLANS:
    histogram_command.add_command(_command(_kind))
