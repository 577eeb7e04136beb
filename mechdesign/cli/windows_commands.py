"""What the commands do for windows: options about strings, a design from a sample, estimates of candidates."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mechdesign.cli import places
from mechdesign.cli.estimate_output import ComparedIds, CountedParts, source_facts, sources
from mechdesign.cli.json_output import Labels, Output, Text, Titled, Whole, given, print_output
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.source import Source
from mechdesign.cli.windows_or_matrix import StringsPromised
from mechdesign.data.counts import read_counts
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.data.inputs import readable
from mechdesign.data.reading import read_bounded
from mechdesign.deploy.dataset_counts import DatasetCounts
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.errors import InputError
from mechdesign.mechanism.reporting import Deployed

if TYPE_CHECKING:
    from mechdesign.windows import StringEstimates, WindowDesign
    from mechdesign.windows.strings import Form

_MOST_CANDIDATES = 1 << 28  # bytes
_MOST_COMPARED = 20_000  # strings, whose errors are added and bounded in seconds
_MOST_ROWS = 100  # of a table on a terminal
_WRITERS = (".csv", ".json")


class StringDesignOutput(StringsPromised, Titled):
    """`mechdesign design --windows`."""

    carries = "mechdesign/design/1"

    heavy: Labels
    heavy_source: Text | None
    reached: Number
    error_of_all: Number | None
    bound: Number | None
    output: Text | None


class StringEstimateOutput(Output):
    """`mechdesign estimate --candidates`, and the file of its option -o."""

    carries = "mechdesign/estimate/1"

    candidates: Labels
    shares: Sequence[Number]
    standard_errors: Sequence[Number]
    intervals: Sequence[Sequence[Number]]
    simultaneous_intervals: Sequence[Sequence[Number]] | None = None
    reports: Whole
    confidence: Number
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None


@dataclass(frozen=True)
class Sample:
    """Where strings are counted: a column of records, or a table of counts."""

    data: str | None
    table: str | None
    column: str | None
    header: bool
    missing: str | None = None

    def __post_init__(self) -> None:
        if self.data is not None and self.table is not None:
            raise click.UsageError("--data and --counts are both given; give one")
        if (self.data is None) != (self.column is None):
            raise click.UsageError("--data FILE and --column COLUMN belong together")

    @property
    def given(self) -> bool:
        """Whether there is one."""
        return self.data is not None or self.table is not None

    @property
    def title(self) -> str:
        """What it is called in a summary."""
        return self.table or f"{self.data}, column {self.column}"

    def counts(self, form: Form = "nfc") -> dict[str, int]:
        """Return the counts by string."""
        from mechdesign.windows.columns_of_strings import count_strings

        if self.data is not None and self.column is not None:
            with readable(self.data) as place:
                return count_strings(place, self.column, form, header=self.header, missing=self.missing)
        with readable(self.table or "") as place:
            return read_counts(place, header=self.header)


def sample_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Sample`, which it receives as ``sample``."""

    def wrapped(*, data: str | None, counts: str | None, column: str | None, no_header: bool, **values: Any) -> Any:
        return command(sample=Sample(data, counts, column, not no_header), **values)

    return _decorated(
        wrapped,
        command,
        click.option(
            "--data", metavar="FILE", help="For windows: the records of the sample, counted anew; or a folder."
        ),
        click.option("--counts", metavar="FILE", help="For windows: the counts of the sample, string and count."),
        click.option("--column", metavar="COLUMN", help="The column of --data."),
        click.option("--no-header", is_flag=True, help="The file of the sample has no line of column names."),
    )


@dataclass(frozen=True)
class WindowOptions:
    """The options of `mechdesign design --windows`."""

    windows: bool
    heavy: str | None
    split: str | None
    evidence: str | None
    seeds: int | None
    buckets: int | None
    one_layer: str | None
    cap: str | None
    any_seed: bool
    form: Form
    master: str | None


_WINDOW_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--windows",
        is_flag=True,
        help="Report about any string, from an alphabet that nobody has listed: words, addresses, products. Takes "
        "--data with --column, or --counts; --epsilon; --delta or --known; and the options below.",
    ),
    click.option(
        "--split",
        metavar="PART",
        help="With --windows: choose heavy strings by this share of the records, such as 1/10, drawn at random; "
        "the rest proves. Better where some strings have over 1 % of the records.",
    ),
    click.option(
        "--evidence",
        metavar="FILE",
        help="With --windows: write the counts of the strings that prove (CSV), which estimates need as --reference; "
        "--split needs it.",
    ),
    click.option(
        "--heavy",
        metavar="FILE",
        help="With --windows: choose heavy strings by these counts of OTHER data than the sample (CSV).",
    ),
    click.option("--seeds", type=int, help="With --windows: how many public circles. [default: 1000]"),
    click.option("--buckets", type=int, help="With --windows: how many buckets a circle has. [default: by epsilon]"),
    click.option(
        "--alpha",
        "one_layer",
        metavar="A",
        help="With --windows: the share of seeds that tell how much heavy strings have together. [default: 0.3]",
    ),
    click.option("--cap", metavar="E", help="With --windows: be E-LDP for everybody too, E above epsilon."),
    click.option("--any-seed", is_flag=True, help="With --windows: prove for every 64-bit seed number."),
    click.option("--master", metavar="WORD", help="With --windows: the word of the seeds, fixed before the sample."),
    click.option(
        "--form",
        type=click.Choice(["nfc", "nfc-casefold"]),
        default="nfc",
        help="With --windows: the normal form of strings; nfc-casefold takes upper and lower case for the same.",
    ),
)


def window_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `WindowOptions`, which it receives as ``windows``."""

    def wrapped(**values: Any) -> Any:
        own = {name: values.pop(name) for name in WindowOptions.__dataclass_fields__}
        return command(windows=WindowOptions(**own), **values)

    return _decorated(wrapped, command, *_WINDOW_OPTIONS)


@dataclass(frozen=True)
class Candidates:
    """The options of `mechdesign estimate` for reports of windows."""

    candidates: str | None
    reference: str | None


def string_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Candidates`, which it receives as ``strings``."""

    def wrapped(*, candidates: str | None, reference: str | None, **values: Any) -> Any:
        return command(strings=Candidates(candidates, reference), **values)

    return _decorated(
        wrapped,
        command,
        click.option(
            "--candidates", metavar="FILE", help="For reports of windows: the strings to estimate, one a line."
        ),
        click.option(
            "--reference",
            metavar="FILE",
            help="With --candidates: counts of the sample that proves, string and count (CSV), as `design --evidence` "
            "writes them.",
        ),
    )


def _decorated(
    wrapped: Callable[..., Any], command: Callable[..., Any], *options: Callable[[Any], Any]
) -> Callable[..., Any]:
    if wrapped is not command:
        wrapped.__doc__ = command.__doc__
        wrapped.__dict__.update(vars(command))  # the options that stand below
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _refuse_others(accepted: set[str], what: str) -> None:
    """Refuse options of the command that are given and mean nothing here."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in accepted and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]}: not accepted beside {what}; leave it out")


def design_strings(options: WindowOptions, source: Source, output: str | None, *, as_json: bool) -> int:
    """Design windows from a sample, write and tell them."""
    from mechdesign.windows import SeparateCounts, design_windows, split_sample

    sample = Sample(source.data, source.counts, source.column, not source.no_header)
    own = {*WindowOptions.__dataclass_fields__}
    _refuse_others(
        own | {"data", "counts", "column", "no_header", "epsilon", "delta", "known", "output", "as_json"}, "--windows"
    )
    if not sample.given or source.epsilon is None:
        raise click.UsageError("--windows needs --epsilon, and --data FILE --column COLUMN or --counts FILE")
    if options.split is not None and (options.heavy is not None or source.known):
        raise click.UsageError("--split is for a sample that proves, without --heavy and --known; leave it out")
    if options.split is not None and options.evidence is None:
        raise click.UsageError("--split needs --evidence FILE: estimates need the counts of the part that proves")
    if output is not None:
        accepted_ending(output, (".json",))
    inputs = [sample.data, sample.table, options.heavy]
    standard = places.check([output, options.evidence], inputs, as_json=as_json)
    with Progress() as progress:
        progress("counting strings")
        counts, heavy = sample.counts(options.form), None
        if options.heavy is not None:
            heavy = SeparateCounts(read_counts(options.heavy, header=sample.header), f"the file {options.heavy}")
        if options.split is not None:
            split = split_sample(counts, options.split, form=options.form)
            counts, heavy = split.evidence, split.heavy
        progress("designing windows")
        chosen = given(
            delta=source.delta,
            known=source.known,
            seeds=options.seeds,
            buckets=options.buckets,
            one_layer=options.one_layer,
            cap=options.cap,
            master=options.master,
            heavy=heavy,
        )
        found = design_windows(counts, source.epsilon, any_seed=options.any_seed, form=options.form, **chosen)
        worth = (found.error, found.bound) if len(found.shares) <= _MOST_COMPARED else (None, None)
    if options.evidence is not None:
        write_atomically(options.evidence, _table(["string", "count"], counts.items()))
    if output is not None:
        found.mechanism.save(output)
    _tell_design(found, worth, sample.title, output, standard=standard, as_json=as_json)
    return 0


def _tell_design(
    found: WindowDesign,
    worth: tuple[float | None, float | None],
    title: str,
    output: str | None,
    *,
    standard: bool,
    as_json: bool,
) -> None:
    mechanism, heavy, (error, bound) = found.mechanism, found.mechanism.layout.heavy, worth
    if as_json:
        about: dict[str, Any] = {
            "heavy": () if heavy is None else heavy.strings,
            "heavy_source": None if heavy is None else heavy.source,
        }
        about |= {"reached": found.reached, "error_of_all": error, "bound": bound}
        print_output(StringDesignOutput(title=title, output=output, **mechanism.promised_keys(), **about))
        return
    facts = [("strings", f"{title}: {len(found.shares):,} different ones"), *mechanism.facts()]
    facts.append(("mean lift", f"{found.reached:.6g}; exp(epsilon) with endless samples and buckets"))
    if error is not None:
        facts.append(("error", f"{error:.6g} / n for all strings of the sample together"))
        facts.append(("lower bound", f"{bound:.6g} / n, which no mechanism with this promise falls below"))
    if output is not None:
        facts.append(("written", "standard output" if output == STANDARD else output))
    print_facts(facts, err=standard)


def check_candidates(mechanism: Deployed, strings: Candidates) -> None:
    """Refuse candidates for a matrix, windows without candidates, and options that windows do not take."""
    if ("windows" in mechanism.promised_keys()) != (strings.candidates is not None):
        raise click.UsageError(
            "--candidates FILE and --reference FILE are for reports of windows, which need both; a matrix needs neither"
        )
    if strings.candidates is not None:
        if strings.reference is None:
            raise click.UsageError(
                "--candidates needs --reference, the counts that prove: `design --evidence` writes them"
            )
        own = {"candidates", "reference", "confidence", "simultaneous", "output", "as_json", "jobs", "scheduler", "ids"}
        _refuse_others(own | {"file", "column", "mechanism_file", "no_header", "show_values"}, "--candidates")


def estimate_strings(counted: Any, mechanism: Any, strings: Candidates) -> StringEstimates:
    """Return the estimates of candidates from reports that are counted by window."""
    from mechdesign.windows.decoder import Decoder
    from mechdesign.windows.string_estimates import estimate_counts
    from mechdesign.windows.strings import counted as counts_of

    shares = counts_of(read_counts(strings.reference or ""), mechanism.form)
    total = sum(shares.values())
    if total != mechanism.promise.samples:
        raise InputError.wrong_size(
            f"{strings.reference} has {total} records, and {mechanism.promise.samples} prove the mechanism; give the "
            "counts of these"
        )
    content = read_bounded(strings.candidates or "", _MOST_CANDIDATES, "a list of candidates")
    try:
        names = [name for name in content.decode().splitlines() if name.strip()]
    except UnicodeDecodeError:
        raise InputError.not_utf8(
            f"{strings.candidates} is not UTF-8; give the candidates as text, one a line"
        ) from None
    return estimate_counts(counted, Decoder(mechanism), names, {name: n / total for name, n in shares.items()})


def tell_strings(
    found: StringEstimates,
    confidence: float,
    output: str | None,
    parts: DatasetCounts | None,
    first: FirstReports | None,
    *,
    simultaneous: bool,
    as_json: bool,
) -> None:
    """Write and print estimates; of permanent reports in a folder, whose ids are not compared, say so."""
    printed = _estimate_output(found, confidence, simultaneous=simultaneous, **sources(parts, first))
    if output is not None:
        content = json.dumps(printed.dump(), ensure_ascii=False, indent=1).encode() + b"\n"
        rows = _rows(printed, "{!r}")
        as_table = accepted_ending(output, _WRITERS) == ".csv"
        write_atomically(output, _table(_HEADER[: len(rows[0])], rows) if as_table else content)
    if as_json:
        print_output(printed.model_copy(update=given(output=output)))
        return
    standard = output == STANDARD
    advice = [] if found.advice is None else [("collisions", found.advice)]
    print_facts([("reports", f"{found.reports:,}"), *source_facts(parts, first), *advice], err=standard)
    rows, percent = _rows(printed, "{:.6f}"), f"{100 * confidence:g} %"
    names = ["string", "share", "standard error", f"{percent} from", "to"]
    names += [f"{percent} for all {len(rows):,} at once from", "to"] if simultaneous else []
    print_table(names, rows[:_MOST_ROWS], err=standard)
    if len(rows) > _MOST_ROWS:
        say(f"{len(rows) - _MOST_ROWS:,} more are not shown; -o FILE writes all.", err=standard)


_HEADER = ("string", "share", "standard_error", "lower", "upper", "simultaneous_lower", "simultaneous_upper")


def _estimate_output(
    found: StringEstimates, confidence: float, *, simultaneous: bool, **keys: Any
) -> StringEstimateOutput:
    joint = found.intervals(confidence, simultaneous=True).tolist() if simultaneous else None
    return StringEstimateOutput(
        candidates=found.candidates,
        shares=found.shares.tolist(),
        standard_errors=found.standard_errors.tolist(),
        intervals=found.intervals(confidence).tolist(),
        reports=found.reports,
        confidence=confidence,
        **given(simultaneous_intervals=joint),
        **keys,
    )


def _rows(found: StringEstimateOutput, form: str) -> list[list[str]]:
    joint: Sequence[Sequence[float]] = found.simultaneous_intervals or [()] * len(found.candidates)
    numbers = zip(found.shares, found.standard_errors, found.intervals, joint, strict=True)
    return [
        [name, *(form.format(float(x)) for x in (share, error, *single, *both))]
        for name, (share, error, single, both) in zip(found.candidates, numbers, strict=True)
    ]


def _table(header: Sequence[str], rows: Any) -> bytes:
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return lines.getvalue().encode()
