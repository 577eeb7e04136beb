"""``mechdesign histogram``: counts with noise, and the guarantee that they have."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.output import print_facts, print_json, show_values_option
from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.files import STANDARD, accepted_ending, written_atomically
from mechdesign.data.inputs import readable
from mechdesign.errors import InputError
from mechdesign.histogram.plan import plan_csh, plan_discrete, plan_gshm, plan_laplace, plan_top_k
from mechdesign.histogram.record import NOISE_MEANS, ReleaseRecord
from mechdesign.histogram.release import HistogramRelease, check_bins, check_noise, release
from mechdesign.uncertainty import L1Ball


@click.group("histogram", short_help="Release a histogram: counts with noise, and their guarantee.")
def histogram_command() -> None:
    """Release counts of categories with noise, and a record of what that guarantees.

    \b
    Which one:
      discrete  at most k counts are above 0; exact noise. The one to take.
      top-k     the k largest counts, however many are above 0; exact noise
      csh       as discrete, with float noise and a lower threshold
      gshm      each user counts in at most k counters, of any number; float noise
      laplace   few public bins, all released; float noise; PML with a prior

    COUNTS.csv, FILE or the output is standard input or standard output if it is -; with an output - the facts go to
    standard error. A file that was released before is replaced only with --overwrite: two published releases of the
    same data leak more than one.

    Where float noise is drawn --allow-float-noise is needed: its analysis is for real numbers. --plan says what
    noise a guarantee takes, without any data.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped


@dataclass(frozen=True)
class Job:
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
        """The file that is read, where there is one."""
        return self.file or self.data

    @property
    def outputs(self) -> tuple[str | None, str | None]:
        """Where the counts and the record go."""
        return self.output, self.record

    def check(self, *others: str | None) -> None:
        """Refuse options that do not go together, and places that do not do beside what else is read."""
        if self.plan_only:
            given = {"a file": self.file, "--data": self.data, "--column": self.column}
            beside = [name for name, value in {**given, "--output": self.output}.items() if value is not None]
            if beside:
                raise click.UsageError(f"--plan touches no data; leave out {', '.join(beside)}")
        else:
            self._check_source()
            if self.output is None:
                raise click.UsageError("--output is missing: where the released counts go; or give --plan")
        for path, ending in zip(self.outputs, (".csv", ".json"), strict=True):
            if path is not None:
                accepted_ending(path, [ending])
        places.check(self.outputs, [self.source, *others], as_json=self.as_json, overwrite=self.overwrite)

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
        help="CSV or Parquet of records instead, - from standard input; one column is counted.",
    ),
    click.option("--column", metavar="COLUMN", help="Of --data: a name, or an index from 0 with --no-header."),
    click.option("--no-header", is_flag=True, help="The CSV file has no line of column names."),
    click.option(
        "-o",
        "--output",
        metavar="OUT.csv",
        help="Where the released labels and counts go; - is CSV on standard output.",
    ),
    click.option("--record", metavar="R.json", help="Also write the record of the guarantee; it may be published."),
    click.option("--whole", is_flag=True, help="Clip noisy counts at 0 and round them; it costs no privacy."),
    click.option("--plan", "plan_only", is_flag=True, help="Only say what noise is needed; no data, no --output."),
    click.option(
        "--overwrite",
        is_flag=True,
        help="Replace outputs that exist; two published releases leak more than one.",
    ),
    show_values_option,
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)
_SPARSE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--epsilon", metavar="E", required=True, help='In nats: a decimal, or "log(3)".'),
    click.option("--delta", metavar="D", help="In (0, 1). Alone: sigma and tau are chosen so that tau is least."),
    click.option(
        "--sigma", metavar="S", help="Standard deviation of a counter's own noise. With --delta: the least tau follows."
    ),
    click.option(
        "--tau",
        metavar="T",
        help="Noisy counts above 1 + T are released. With --sigma, without --delta: delta follows.",
    ),
)
_FLOAT_NOISE = click.option(
    "--allow-float-noise", is_flag=True, help="Accept noise drawn as floats, while the analysis is for real numbers."
)


def _with(options: tuple[Callable[[Any], Any], ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options, and those of `Job`, which it receives as one object named ``job``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(**values: Any) -> Any:
            job = Job(**{field.name: values.pop(field.name) for field in fields(Job)})
            job.check(values.get("estimate"))
            return command(job=job, **values)

        wrapped.__doc__ = command.__doc__
        decorated: Callable[..., Any] = wrapped
        for option in reversed((*options, *_JOB_OPTIONS)):
            decorated = option(decorated)
        return decorated

    return decorate


def _k(meaning: str) -> Callable[[Any], Any]:
    return click.option("-k", "k", type=int, required=True, metavar="K", help=f"{meaning} Fix it before you look.")


def _analysis(default: str, *others: str) -> Callable[[Any], Any]:
    names = (default, *others)
    return click.option("--analysis", type=click.Choice(names), default=default, show_default=True, help="Of delta.")


@histogram_command.command("discrete", short_help="At most k counts above 0; exact discrete noise.")
@_with(
    (
        _k("Most counts above 0 that any data set could have."),
        *_SPARSE_OPTIONS,
        _analysis("proved", "jensen", "theorem-21"),
    )
)
def discrete_command(job: Job, **calibration: Any) -> None:
    """Release a histogram of at most k counts above 0, with exact discrete Gaussian noise.

    \b
    Examples:
      mechdesign histogram discrete counts.csv -k 100 --epsilon 1 --delta 1e-6 \\
                                    -o released.csv --record record.json
      mechdesign histogram discrete --plan -k 100 --epsilon 1 --delta 1e-6

    One user is protected who counts once in any number of counters. Counts above 0 get noise of their own and a
    common one, in steps of 1/2, drawn exactly; those above 1 + tau are released. Differential privacy holds as long
    as no data set that could have been has more than k counts above 0: a histogram that has more is refused.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    _run(job, plan_discrete(**calibration))


@histogram_command.command("top-k", short_help="The k largest counts; exact discrete noise.")
@_with(
    (
        _k("How many counts are kept."),
        *_SPARSE_OPTIONS,
        click.option(
            "--noise",
            type=click.Choice(["discrete", "continuous"]),
            default="discrete",
            show_default=True,
            help="Continuous noise allows a lower threshold.",
        ),
        click.option(
            "--analysis",
            metavar="NAME",
            help="Of delta: as for discrete, or for csh with continuous noise.",
        ),
        click.option(
            "--value-sigma",
            metavar="S",
            help="Also release the (k+1)-th largest count, with noise of this standard deviation.",
        ),
        _FLOAT_NOISE,
    )
)
def top_k_command(job: Job, *, allow_float_noise: bool, **calibration: Any) -> None:
    """Release by how much the k largest counts exceed the one after them.

    \b
    Examples:
      mechdesign histogram top-k counts.csv -k 10 --epsilon 1 --delta 1e-6 -o top.csv
      mechdesign histogram top-k --data queries.parquet --column term -k 10 \\
                                 --epsilon 1 --delta 1e-6 -o top.csv --record top.json

    One user is protected who counts once in any number of counters, of any number. The (k+1)-th largest count is
    subtracted from all; what stays above 0 is released as by `histogram discrete`. The count subtracted is not
    released, unless --value-sigma says with which noise; it then stands in the output and in --record.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    _run(job, plan_top_k(**calibration), allow_float_noise=allow_float_noise)


@histogram_command.command("csh", short_help="At most k counts above 0; correlated Gaussian noise.")
@_with(
    (
        _k("Most counts above 0 that any data set could have."),
        *_SPARSE_OPTIONS,
        _analysis("proved", "theorem-11"),
        _FLOAT_NOISE,
    )
)
def csh_command(job: Job, *, allow_float_noise: bool, **calibration: Any) -> None:
    """Release a histogram of at most k counts above 0, with correlated Gaussian noise.

    \b
    Examples:
      mechdesign histogram csh counts.csv -k 100 --epsilon 1 --delta 1e-6 \\
                               --allow-float-noise -o released.csv --record record.json
      mechdesign histogram csh --plan -k 100 --epsilon 1 --delta 1e-6

    As `histogram discrete`, which see, with a lower threshold and with noise of floating point numbers.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    _run(job, plan_csh(**calibration), allow_float_noise=allow_float_noise)


@histogram_command.command("gshm", short_help="Each user counts in at most k counters; Gaussian noise.")
@_with(
    (
        _k("Most counters that any user counts in."),
        *_SPARSE_OPTIONS,
        _analysis("exact", "add-the-deltas"),
        _FLOAT_NOISE,
    )
)
def gshm_command(job: Job, *, allow_float_noise: bool, **calibration: Any) -> None:
    """Release a histogram in which each user counts once in at most k counters, with Gaussian noise.

    \b
    Examples:
      mechdesign histogram gshm counts.csv -k 5 --epsilon 1 --delta 1e-6 \\
                                --allow-float-noise -o released.csv --record record.json
      mechdesign histogram gshm --plan -k 5 --epsilon 1 --delta 1e-6 --sigma 12

    Any number of counts may be above 0. That no user counts in more than k counters cannot be seen from counts: it
    must have been seen to before.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    _run(job, plan_gshm(**calibration), allow_float_noise=allow_float_noise)


@histogram_command.command("laplace", short_help="All of a few public bins; Laplace noise; PML.")
@_with(
    (
        click.option("--epsilon", metavar="E", help='In nats: a decimal, or "log(3)".'),
        click.option("--scale", metavar="B", help="Of the noise, instead of --epsilon, which then follows."),
        click.option(
            "--alpha", metavar="A", help="Each record falls into every bin with at least this probability. [default: 0]"
        ),
        click.option(
            "--estimate",
            metavar="FILE",
            help="Instead of --alpha: CSV of counts of the same bins, from other records than those released.",
        ),
        click.option("--delta", metavar="D", help="With --estimate: probability that it misleads, in [0, 1)."),
        _FLOAT_NOISE,
    )
)
def laplace_command(
    *,
    job: Job,
    epsilon: str | None,
    scale: str | None,
    alpha: str | None,
    estimate: str | None,
    delta: str | None,
    allow_float_noise: bool,
) -> None:
    """Release all bins of a histogram with Laplace noise.

    \b
    Examples:
      mechdesign histogram laplace counts.csv --epsilon 1 --alpha 0.05 \\
                                   --allow-float-noise --whole -o released.csv
      mechdesign histogram laplace --plan --epsilon 1 --estimate last-year.csv --delta 1e-9

    Every record is protected against what the histogram tells of it (PML), if records are independent and each falls
    into every bin with a probability of at least alpha; alpha = 0 is differential privacy, where one record is
    replaced. The bins and the number of records are taken as public: list every bin, with a count of 0 where there
    is no record. With --data the bins are those that occur, which must be no secret.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    known: object = alpha or 0
    if estimate is not None:
        if alpha is not None or delta is None:
            raise click.UsageError("--estimate needs --delta, and excludes --alpha")
        known = L1Ball.from_counts(
            _estimated(estimate, header=not job.no_header, show_values=job.show_values), delta=delta
        )
    elif delta is not None:
        raise click.UsageError("--delta belongs to --estimate; without it the guarantee has no delta")
    plan = plan_laplace(epsilon=epsilon, alpha=known, scale=scale)
    _run(job, plan, allow_float_noise=allow_float_noise, known=known if isinstance(known, L1Ball) else None)


def _estimated(path: str, *, header: bool, show_values: bool) -> dict[str, int]:
    with readable(path) as place:
        return read_counts(place, header=header, show_values=show_values)


def _run(job: Job, plan: ReleaseRecord, *, allow_float_noise: bool = False, known: L1Ball | None = None) -> None:
    """Release counts, after checking that their bins are those of an estimate where there is one."""
    done = None
    if not job.plan_only:
        check_noise(plan, allowed=allow_float_noise)
        counts = job.counts()
        if known is not None:
            check_bins(counts, known)
        try:
            done = release(counts, plan, allow_float_noise=allow_float_noise, whole=job.whole)
        except InputError as error:
            raise InputError(f"{job.source}: {error}") from None
    record = plan if done is None else done.record
    _write(job, done, record)
    if job.as_json:
        print_json("mechdesign/histogram/1", _json(job, done, record))
    else:
        print_facts(_facts(job, done, record), err=STANDARD in job.outputs)


def _write(job: Job, done: HistogramRelease | None, record: ReleaseRecord) -> None:
    """Write both files; neither is renamed to its place, or written to standard output, before both are whole."""
    beside = {} if done is None or done.subtracted is None else {"subtracted": done.subtracted}
    contents = {job.output: _csv(done) if done is not None else "", job.record: record.to_json(**beside)}
    with ExitStack() as stack:
        for path, content in sorted(contents.items(), key=lambda item: item[0] == STANDARD):
            if path is not None:
                file = stack.enter_context(written_atomically(path, overwrite=job.overwrite))
                file.write(content.encode())
                file.flush()
                if path != STANDARD:
                    os.fsync(file.fileno())  # a full disk shows here


def _csv(done: HistogramRelease) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["label", "count"])
    writer.writerows(done.counts.items())
    return text.getvalue()


def _json(job: Job, done: HistogramRelease | None, record: ReleaseRecord) -> dict[str, Any]:
    exact = record.as_dict()
    numbers = {name: float(getattr(record, name)) for name in ("epsilon", *_NUMBERS) if name in exact}
    released = None if done is None else len(done.counts)
    subtracted = None if done is None else done.subtracted
    return {
        **exact,
        **numbers,
        "released": released,
        "subtracted": subtracted,
        "output": job.output,
        "record": job.record,
    }


_K_MEANS = {
    "gshm": "no user counts in more counters",
    "csh": "no data set has more counters above 0",
    "discrete": "no data set has more counters above 0",
    "top-k": "how many counts are kept at most",
}
_COMMON = "; a common one of sigma / k^(1/4) comes on top"
_NUMBERS = {
    "sigma": "standard deviation of each counter's own noise",
    "tau": "a noisy count is released where it is above 1 + tau",
    "value_sigma": "standard deviation of the noise of the (k+1)-th largest count",
    "scale": "of the Laplace noise in each bin",
    "alpha": "least probability of a bin, for every record",
}


def _facts(job: Job, done: HistogramRelease | None, record: ReleaseRecord) -> list[tuple[str, str]]:
    delta = f", delta = {record.delta:g}" if record.delta else ""
    facts = [
        ("mechanism", record.mechanism),
        ("guarantee", f"epsilon = {record.epsilon}{delta}: {record.notion}"),
        ("neighbours", record.neighbours),
    ]
    if record.k is not None:
        facts.append(("k", f"{record.k:,}: {_K_MEANS[record.mechanism]}"))
    exact = record.as_dict()
    facts += [
        (name, f"{exact[name]}: {meaning}" + (_COMMON if name == "sigma" and record.mechanism != "gshm" else ""))
        for name, meaning in _NUMBERS.items()
        if name in exact
    ]
    facts += [
        ("noise", f"{record.noise}: {NOISE_MEANS[record.noise]}"),
        ("analysis", f"{record.analysis}: {record.source}"),
        ("not protected", "; ".join(record.not_protected)),
    ]
    if done is not None:
        facts.append(("released", f"{len(done.counts):,} counts, {record.post_processing}"))
        if done.subtracted is not None:
            facts.append(("subtracted", f"{done.subtracted:g}: the (k+1)-th largest count, with its noise"))
    names = ("standard output" if path == STANDARD else path for path in job.outputs if path is not None)
    written = ", ".join(names)
    return [*facts, ("written", written)] if written else facts
