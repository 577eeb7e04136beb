"""Estimates for people and for programs: tables, files, JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import click
from pydantic import BeforeValidator, Field

from mechdesign.cli.json_output import Finite, Labels, Output, Printed, Text, Whole, given, listed
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.data.fields import Number
from mechdesign.data.group_keys import as_plain, in_words
from mechdesign.deploy.dataset_counts import DatasetCounts
from mechdesign.deploy.fit import Fit
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.grouped import COLUMNS, MARKS, SIMULTANEOUS, GroupedEstimate, estimate_columns
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.errors import printable
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.words import promise
from mechdesign.plot.group_panels import groups
from mechdesign.plot.intervals import frequencies

_SPECIAL = set('",\r\n')
NOT_THESE = (
    "THE ESTIMATES ARE WORTHLESS: this mechanism did not make these reports. Give the mechanism that did, and the "
    "column that it reported; each record once, since repeated reports look alike."
)
HARDLY_THESE = (
    "The estimates are doubtful: fewer than one in 1,000 samples by this mechanism fit so badly. Make sure that it "
    "made these reports, of this column, each record once."
)
TOO_LARGE = "over 1"  # a standard error of a frequency: reports tell nothing about it
_MOST_OUTSIDE = 20  # groups that are named
_MOST_ROWS = 240  # of a table by groups that are printed
Listed = BeforeValidator(listed)
Numbers = Annotated[list[Number], Listed]
Errors = Annotated[list[Finite], Listed]
Intervals = Annotated[list[Annotated[list[Number], Field(min_length=2, max_length=2)]], Listed]


class CountedParts(Printed):
    """The parts of a folder that were counted."""

    counted: Whole
    planned: Whole


class FitRecord(Printed):
    """How well the mechanism explains the reports; p is null where it explains any such reports."""

    p: Number | None
    deviance: Number
    degrees: Whole


class OutsideSet(Printed):
    """A distribution that is significantly outside of the priors that the guarantee is for."""

    p: Number
    leakage: Number


class ComparedIds(Printed):
    """Reports about an id that came before; without numbers, ids of permanent reports that were not compared."""

    column: Text
    repeated: Whole | None = None
    changed: Whole | None = None


class Fitted(Printed):
    """Some reports, and how they go with the mechanism and the priors of its guarantee."""

    reports: Whole
    fit: FitRecord
    outside: OutsideSet | None


class EstimatedFrequencies(Fitted):
    """What is estimated from some reports."""

    frequencies: Numbers
    standard_errors: Errors
    intervals: Intervals
    simultaneous_intervals: Intervals | None = None
    identified: Intervals


class Surveyed(Output):
    """What is estimated, and from where, with and without groups."""

    labels: Labels
    identifiable: Annotated[list[bool], Listed]
    method: str
    of: str
    confidence: Number
    family: Whole | None = None
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None
    plot: Text | None = None


class EstimateOutput(EstimatedFrequencies, Surveyed):
    """`mechdesign estimate`, and the file of its option -o, which has no `output`, `plot` and `parts`."""

    carries = "mechdesign/estimate/1"

    groups: Sequence[Labels]


class GroupTable(EstimatedFrequencies):
    """The estimate of a group."""

    group: list[str | int | bool | None]
    reports_needed: Whole
    few_reports: bool


class GroupedEstimateOutput(Fitted, Surveyed):
    """`mechdesign estimate --by`, and the file of its option -o."""

    carries = "mechdesign/estimate-by-groups/1"

    by: Labels
    confounded: Sequence[Labels]
    groups: list[GroupTable]


@dataclass(frozen=True, eq=False)
class EstimatePrinter:
    """An estimate, with or without groups, and how it is told.

    Attributes
    ----------
    found : FrequencyEstimate or GroupedEstimate
        The estimate.
    simultaneous : bool
        Whether the intervals that hold at once are told beside the single ones.
    parts : DatasetCounts, optional
        The parts of a folder that were counted.
    first : FirstReports, optional
        The ids whose first reports were counted.
    """

    found: FrequencyEstimate | GroupedEstimate
    simultaneous: bool
    parts: DatasetCounts | None = None
    first: FirstReports | None = None

    def json(self, **keys: Any) -> Output:
        """Return the JSON, with keys that say where the reports are from and what is written."""
        if isinstance(self.found, GroupedEstimate):
            return _json_of_groups(self.found, simultaneous=self.simultaneous, **keys)
        intervals = {"simultaneous_intervals": self.found.simultaneous_intervals, "family": self.found.family}
        joint: dict[str, Any] = intervals if self.simultaneous else {}
        return EstimateOutput.built_from(self.found, **joint, **keys)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as columns."""
        grouped = isinstance(self.found, GroupedEstimate)
        table = self.found.columns() if isinstance(self.found, GroupedEstimate) else estimate_columns(self.found)
        left_out = {*(() if self.simultaneous else SIMULTANEOUS), *(() if grouped else MARKS[1:])}
        return {name: values for name, values in table.items() if name not in left_out}

    def figure(self) -> Any:
        """Return the figure of the estimate."""
        if isinstance(self.found, GroupedEstimate):
            return groups(self.found, simultaneous=self.simultaneous)[0].figure
        return frequencies(self.found).figure

    def content(self, ending: str) -> bytes:
        """Return the content of a file, of the kind that its ending says."""
        return WRITERS[ending](self)

    def warn(self) -> None:
        """Say on standard error, also where no summary is wanted, that the estimates are worthless."""
        if self.found.fit.impossible:
            click.echo(f"Warning: {NOT_THESE}", err=True)

    def print(self, guarantee: Guarantee, *, err: bool) -> None:
        """Print facts, a table and what has to be known about it."""
        found = self.found
        facts = [("reports", f"{found.reports:,}")]
        if isinstance(found, GroupedEstimate):
            facts.append(("groups", f"{len(found):,} by {', '.join(found.by)}"))
        facts += source_facts(self.parts, self.first)
        first = found.estimates[0] if isinstance(found, GroupedEstimate) else found
        whose = "the population" if first.of == "population" else "the records reported"
        facts.append(("guarantee", promise(guarantee)))
        facts.append(("estimate", f"{first.method}, of the frequencies in {whose}"))
        facts.append(("fit", fit_in_words(found.fit)))
        print_facts(facts, err=err)
        say(err=err)
        if isinstance(found, GroupedEstimate):
            _print_groups(found, simultaneous=self.simultaneous, err=err)
        else:
            _print(found, simultaneous=self.simultaneous, err=err)
        if found.fit.impossible:
            say(f"\n{NOT_THESE}", err=err)
        elif found.fit.doubtful:
            say(f"\n{HARDLY_THESE}", err=err)
        for line in _outside_in_words(found):
            say(line, err=err)


def sources(parts: DatasetCounts | None, first: FirstReports | None) -> dict[str, Printed]:
    """Return the keys about the parts that were counted, and about ids; none for a file without ids."""
    ids = None
    if first is not None:
        ids = ComparedIds(column=first.column, repeated=first.seen.repeated, changed=len(first.seen.changed))
    elif parts is not None and parts.ids is not None:
        ids = ComparedIds(column=parts.ids)
    return given(parts=parts and CountedParts(counted=parts.parts, planned=parts.planned), ids=ids)


def source_facts(parts: DatasetCounts | None, first: FirstReports | None) -> list[tuple[str, str]]:
    """Return what people read of the parts that were counted, and of several reports about one id."""
    facts = [] if parts is None else [("parts", _in_words(parts))]
    if first is not None:
        text = f"{first.seen.repeated:,} reports about an id that came before are not counted"
        if first.seen.changed:
            text += (
                f"; ids whose reports differ: {len(first.seen.changed):,} (their values changed, or the reports are "
                "fresh, not permanent)"
            )
        facts.append(("ids", text))
    elif parts is not None and parts.ids is not None:
        column = printable(parts.ids)
        text = "an id with several reports counts several times, and errors are then TOO SMALL"
        text += f"; if ids repeat, keep the column {column} (privatize --keep) and give --id {column}"
        facts.append(("PERMANENT", text))
    return facts


def _in_words(parts: DatasetCounts) -> str:
    if parts.parts == parts.planned:
        return f"{parts.parts:,}"
    return f"{parts.parts:,} of {parts.planned:,}: THE OTHERS ARE NOT REPORTED YET, and the estimate is without them"


def fit_in_words(fit: Fit) -> str:
    """Return whether the mechanism can have made the reports, and the test that says it."""
    if fit.p is None:
        return "cannot be tested: this mechanism explains any such reports"
    if fit.impossible:
        verdict = "THIS MECHANISM DID NOT MAKE THESE REPORTS"
    else:
        verdict = f"this mechanism {'hardly' if fit.doubtful else 'can have'} made these reports"
    freedom = f"{fit.degrees:,} degree{'' if fit.degrees == 1 else 's'} of freedom"
    return f"{verdict}, {_p_in_words(fit.p)} (deviance {fit.deviance:,.1f}, {freedom})"


def _p_in_words(p: float) -> str:
    return f"p = {p:.2g}" if p > 0 else "p below 1e-300"


def _outside_in_words(found: FrequencyEstimate | GroupedEstimate) -> Iterator[str]:
    """Yield what is significantly outside of the set of priors."""
    whole = found.whole if isinstance(found, GroupedEstimate) else found
    if whole.outside is not None:
        yield (
            f"The reports are not from a distribution that the guarantee is for, {_p_in_words(whole.outside.p)}: the "
            f"leakage at the estimate is {whole.outside.leakage:.4g}."
        )
    if not isinstance(found, GroupedEstimate):
        return
    out = [(keys, estimate.outside) for keys, estimate in found if estimate.outside is not None]
    if out:
        yield f"{len(out):,} of {len(found):,} groups are outside of the priors of the guarantee; leakage there:"
    for keys, at in out[:_MOST_OUTSIDE]:
        yield f"  {', '.join(map(in_words, keys))}: {at.leakage:.4g} ({_p_in_words(at.p)})"
    if len(out) > _MOST_OUTSIDE:
        yield f"  and {len(out) - _MOST_OUTSIDE:,} more; --json lists all of them"


def _json_of_groups(found: GroupedEstimate, *, simultaneous: bool, **keys: Any) -> GroupedEstimateOutput:
    first = found.estimates[0]
    groups = []
    for names, estimate in found:
        joint = {"simultaneous_intervals": estimate.simultaneous_intervals} if simultaneous else {}
        groups.append(GroupTable.built_from(estimate, group=list(map(as_plain, names)), **joint))
    about_all = {"by": found.by, "reports": found.reports, "fit": found.fit, "outside": found.whole.outside}
    family = {"family": found.family} if simultaneous else {}
    return GroupedEstimateOutput.built_from(
        first, confounded=first.groups, groups=groups, **about_all, **family, **keys
    )


def _csv(printer: EstimatePrinter) -> bytes:
    table = printer.columns()
    lines = [",".join(map(_field, table)), *(",".join(map(_field, row)) for row in zip(*table.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def _field(value: Any) -> str:
    """Return a field of a CSV file, with quotes where they are needed; a missing value is an empty one."""
    if value is None:
        return ""
    plain = value if isinstance(value, float) else as_plain(value)
    text = str(plain).lower() if isinstance(plain, bool) else str(plain)
    special = bool(_SPECIAL & set(text)) or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if special else text


def _parquet(printer: EstimatePrinter) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    found, table = printer.found, printer.columns()
    types = dict(zip(found.by, found.types, strict=True)) if isinstance(found, GroupedEstimate) else {}
    types |= {name: pa.float64() for name in (*COLUMNS[1:], *SIMULTANEOUS)}
    types |= dict.fromkeys(("table", "label"), pa.string()) | {"reports": pa.int64()}
    types |= dict.fromkeys(("identifiable", "few_reports"), pa.bool_())
    content = io.BytesIO()
    arrays = [pa.array(values, types[name]) for name, values in table.items()]
    parquet.write_table(pa.table(arrays, names=list(table)), content)
    return content.getvalue()


def _json(printer: EstimatePrinter) -> bytes:
    return json.dumps(printer.json().dump(), ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


WRITERS: dict[str, Callable[[EstimatePrinter], bytes]] = {".csv": _csv, ".parquet": _parquet, ".json": _json}


def _print(found: FrequencyEstimate, *, simultaneous: bool, err: bool) -> None:
    columns = ["category", *_number_columns(found, simultaneous=simultaneous)]
    print_table(columns, _rows(found, simultaneous=simultaneous), err=err)
    _print_confounded(found, err=err)
    if found.few_reports:
        say(
            f"Standard errors are doubtful: their normal approximation needs {found.reports_needed:,} reports. "
            "Intervals cover with few reports too.",
            err=err,
        )


def _print_groups(found: GroupedEstimate, *, simultaneous: bool, err: bool) -> None:
    first, few = found.estimates[0], sum(estimate.few_reports for estimate in found.estimates)
    columns = [*map(printable, found.by), "reports", "category", *_number_columns(first, simultaneous=simultaneous)]
    rows: list[list[str]] = []
    ends = set()
    shown = min(len(found), max(1, _MOST_ROWS // len(first.labels)))
    for keys, estimate in list(found)[:shown]:
        reports = f"{estimate.reports:,}{' (few)' if estimate.few_reports else ''}"
        # The group stands in its first row; the other rows are about the same one.
        names = [*map(in_words, keys), reports]
        for row in _rows(estimate, simultaneous=simultaneous):
            rows.append([*names, *row])
            names = [""] * len(names)
        ends.add(len(rows) - 1)
    print_table(columns, rows, err=err, texts=(*range(len(found.by)), len(found.by) + 1), ends=ends)
    if shown < len(found):
        say(f"{len(found) - shown:,} more groups are not shown; -o FILE writes all of them.", err=err)
    _print_confounded(first, err=err)
    if few:
        say(
            f"{few:,} of {len(found):,} groups have few reports: standard errors are doubtful there, since their "
            "normal approximation needs more. Intervals cover with few reports too.",
            err=err,
        )


def _number_columns(found: FrequencyEstimate, *, simultaneous: bool) -> list[str]:
    percent = f"{100 * found.confidence:g} %"
    names = ["frequency", "standard error", f"{percent} interval"]
    names += [f"{percent} for all {found.family:,} at once"] if simultaneous else []
    return names


def _rows(found: FrequencyEstimate, *, simultaneous: bool) -> list[list[str]]:
    """Return the cells of the table for each category."""
    rows: list[list[str]] = []
    for place, label in enumerate(found.labels):
        known = bool(found.identifiable[place])
        text = error_in_words(float(found.standard_errors[place]) if known else None)
        intervals = [found.intervals[place]] + ([found.simultaneous_intervals[place]] if simultaneous else [])
        shown = [f"{lower:.5f} to {upper:.5f}" for lower, upper in intervals]
        rows.append([label, f"{found.frequencies[place]:.5f}", text, *shown])
    return rows


def error_in_words(value: float | None) -> str:
    """Return a standard error of a frequency as a table shows it; None where the frequency is not identifiable."""
    return "not identifiable" if value is None else TOO_LARGE if value > 1 else f"{value:.5f}"


def _print_confounded(found: FrequencyEstimate, *, err: bool) -> None:
    for group in found.groups:
        if len(group) > 1:
            say(f"Only the total of these can be estimated: {', '.join(group)}.", err=err)
