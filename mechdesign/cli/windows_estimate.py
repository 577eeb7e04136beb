"""``mechdesign estimate --candidates``: shares of strings, from reports of windows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mechdesign.cli.estimate_output import ComparedIds, CountedParts, source_facts, sources
from mechdesign.cli.json_output import Labels, Output, Printed, Text, Whole, given, print_output
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.shared_options import write_plot
from mechdesign.cli.windows_plot import drawn
from mechdesign.cli.windows_sample import csv_table, decorated, reference_shares, refuse_others
from mechdesign.data.fields import Number
from mechdesign.data.files import STANDARD, accepted_ending, write_atomically
from mechdesign.data.group_keys import as_plain, in_words
from mechdesign.data.reading import read_bounded
from mechdesign.deploy.dataset_counts import DatasetCounts
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.deploy.report_counts import GroupCounts
from mechdesign.errors import InputError
from mechdesign.mechanism.reporting import Deployed

if TYPE_CHECKING:
    from mechdesign.windows import GroupedStrings

_MOST_CANDIDATES = 1 << 28  # bytes
_MOST_ROWS = 100  # of a table on a terminal
_WRITERS = (".csv", ".json")


class StringTable(Printed):
    """Estimated shares of candidates, in their order."""

    shares: Sequence[Number]
    standard_errors: Sequence[Number]
    intervals: Sequence[Sequence[Number]]
    simultaneous_intervals: Sequence[Sequence[Number]] | None = None
    reports: Whole


class StringEstimateOutput(StringTable, Output):
    """`mechdesign estimate --candidates`, and the file of its option -o."""

    carries = "mechdesign/estimate/1"

    candidates: Labels
    confidence: Number
    non_negative: bool
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None
    plot: Text | None = None


class GroupOfStrings(StringTable):
    """The estimates in a group of reports."""

    group: list[str | int | bool | None]
    few_reports: bool


class GroupedStringsOutput(Output):
    """`mechdesign estimate --candidates --by`, and the file of its option -o."""

    carries = "mechdesign/estimate-by-groups/1"

    by: Labels
    candidates: Labels
    groups: Sequence[GroupOfStrings]
    confidence: Number
    non_negative: bool
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None
    plot: Text | None = None


@dataclass(frozen=True)
class Candidates:
    """The options of `mechdesign estimate` for reports of windows."""

    candidates: tuple[str, ...]
    reference: tuple[str, ...]
    non_negative: bool


def string_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `Candidates`, which it receives as ``strings``."""

    def wrapped(*, candidates: tuple[str, ...], reference: tuple[str, ...], non_negative: bool, **values: Any) -> Any:
        return command(strings=Candidates(candidates, reference, non_negative), **values)

    return decorated(
        wrapped,
        command,
        click.option(
            "--candidates",
            metavar="FILE",
            multiple=True,
            help="For reports of windows: the strings to estimate, one a line. With several views of windows in a "
            "mechanism of whole records VIEW=FILE for each.",
        ),
        click.option(
            "--reference",
            metavar="FILE",
            multiple=True,
            help="With --candidates: counts of the sample that proves, string and count (CSV), as `design --evidence` "
            "writes them. Without it errors are greater: shares come from the lengths of windows alone.",
        ),
        click.option(
            "--non-negative",
            is_flag=True,
            help="With --candidates: the nearest shares from 0 on, of sum 1 at most; intervals stay.",
        ),
    )


def check_candidates(mechanism: Deployed, strings: Candidates) -> None:
    """Refuse candidates for a matrix, windows without candidates, and options that windows do not take."""
    if mechanism.kind == "records":
        return
    if mechanism.kind == "windows" and not strings.candidates:
        raise click.UsageError("these are reports of windows; give --candidates FILE, the strings to estimate")
    if mechanism.kind != "windows" and strings.candidates:
        raise click.UsageError(
            "--candidates FILE is for reports of windows, and these are of a matrix; leave it and --reference out"
        )
    if not strings.candidates and (strings.reference or strings.non_negative):
        raise click.UsageError("--reference FILE and --non-negative belong to --candidates FILE; leave them out")
    if len(strings.candidates) > 1 or len(strings.reference) > 1:
        raise click.UsageError("--candidates or --reference is given twice; give one file of each")
    if strings.candidates:
        if (output := click.get_current_context().params["output"]) is not None:
            accepted_ending(output, _WRITERS)
        own = {
            "candidates",
            "reference",
            "non_negative",
            "by",
            "plot",
            "confidence",
            "simultaneous",
            "output",
            "as_json",
            "jobs",
            "scheduler",
            "ids",
        }
        refuse_others(own | {"file", "column", "mechanism_file", "no_header", "show_values"}, "--candidates")


def _estimates(counted: Any, mechanism: Any, strings: Candidates) -> GroupedStrings:
    """Return the estimates of candidates from reports that are counted by window, perhaps in groups."""
    from mechdesign.windows.decoder import Decoder
    from mechdesign.windows.string_groups import estimate_groups

    shares = reference_shares(strings.reference[0], mechanism) if strings.reference else None
    names = read_candidates(strings.candidates[0])
    groups, counts = (counted.groups, counted.counts) if isinstance(counted, GroupCounts) else ([()], [counted])
    return estimate_groups(groups, counts, Decoder(mechanism, by_lengths=shares is None), names, shares or {})


def read_candidates(path: str) -> list[str]:
    """Return the strings of a file, one a line."""
    content = read_bounded(path, _MOST_CANDIDATES, "a list of candidates")
    try:
        return [name for name in content.decode().splitlines() if name.strip()]
    except UnicodeDecodeError:
        raise InputError.not_utf8(f"{path} is not UTF-8; give the candidates as text, one a line") from None


def tell_candidates(
    counted: Any,
    mechanism: Any,
    strings: Candidates,
    confidence: float,
    output: str | None,
    plot: str | None,
    parts: DatasetCounts | None,
    first: FirstReports | None,
    *,
    simultaneous: bool,
    as_json: bool,
) -> None:
    """Estimate candidates, write, draw and print that; of permanent reports, whose ids are not compared, say so."""
    found = _estimates(counted, mechanism, strings)
    by = counted.by if isinstance(counted, GroupCounts) else ()
    tables = _tables(found, confidence, simultaneous=simultaneous, non_negative=strings.non_negative)
    printed = _output(found, tables, by, confidence, non_negative=strings.non_negative, **sources(parts, first))
    if output is not None:
        content = json.dumps(printed.dump(), ensure_ascii=False, indent=1).encode() + b"\n"
        as_table = accepted_ending(output, _WRITERS) == ".csv"
        write_atomically(output, _csv(tables, found, by) if as_table else content)
    write_plot(plot, lambda: drawn(found, tables, by, confidence))
    if as_json:
        print_output(printed.model_copy(update=given(output=output, plot=plot)))
        return
    standard = STANDARD in (output, plot)
    print_facts(_facts(found, source_facts(parts, first)), err=standard)
    percent = f"{100 * confidence:g} %"
    rows = _rows(tables, found, "{:.6f}".format, in_words)
    names = [*by, "string", "share", "standard error", f"{percent} from", "to"]
    names += [f"{percent} for all {len(rows):,} at once from", "to"] if simultaneous else []
    print_table(names, rows[:_MOST_ROWS], err=standard)
    if len(rows) > _MOST_ROWS:
        say(f"{len(rows) - _MOST_ROWS:,} more are not shown; -o FILE writes all.", err=standard)


_HEADER = ("string", "share", "standard_error", "lower", "upper", "simultaneous_lower", "simultaneous_upper")


def _facts(found: GroupedStrings, counted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return how many reports there are, where they are from, and what makes the estimates worse."""
    facts = [("reports", f"{sum(one.reports for one in found.estimates):,}"), *counted]
    advice = [one.advice for one in found.estimates if one.advice is not None]
    if advice:
        facts.append(("collisions", advice[0] if len(found.groups) == 1 else f"{advice[0]} ({len(advice)} groups)"))
    if found.estimates[0].by_lengths:
        facts.append(("no reference", "shares from the lengths of windows alone; --reference makes errors smaller"))
    if few := sum(found.few_reports):
        facts.append(("few reports", f"{few:,} of {len(found.groups):,} groups have too few for their intervals"))
    return facts


def _tables(found: GroupedStrings, confidence: float, *, simultaneous: bool, non_negative: bool) -> list[StringTable]:
    single = found.intervals(confidence)
    joint = found.intervals(confidence, simultaneous=True).tolist() if simultaneous else [None] * len(single)
    return [
        StringTable(
            shares=(one.on_simplex() if non_negative else one.shares).tolist(),
            standard_errors=one.standard_errors.tolist(),
            intervals=intervals.tolist(),
            reports=one.reports,
            **given(simultaneous_intervals=both),
        )
        for one, intervals, both in zip(found.estimates, single, joint, strict=True)
    ]


def _output(
    found: GroupedStrings, tables: Sequence[StringTable], by: Sequence[str], confidence: float, **keys: Any
) -> StringEstimateOutput | GroupedStringsOutput:
    keys |= {"candidates": found.estimates[0].candidates, "confidence": confidence}
    if not by:
        return StringEstimateOutput(**dict(tables[0]), **keys)
    whole = zip(found.groups, tables, found.few_reports, strict=True)
    groups = [
        GroupOfStrings(**dict(table), group=list(map(as_plain, group)), few_reports=few) for group, table, few in whole
    ]
    return GroupedStringsOutput(by=by, groups=groups, **keys)


def _rows(
    tables: Sequence[StringTable], found: GroupedStrings, number: Callable[[float], str], word: Callable[[Any], str]
) -> list[list[str]]:
    """Return the rows of all groups; each begins with the keys of its group, if there are groups."""
    rows = []
    for group, table in zip(found.groups, tables, strict=True):
        joint: Sequence[Sequence[float]] = table.simultaneous_intervals or [()] * len(table.shares)
        numbers = zip(table.shares, table.standard_errors, table.intervals, joint, strict=True)
        for name, (share, error, single, both) in zip(found.estimates[0].candidates, numbers, strict=True):
            rows.append([*map(word, group), name, *(number(float(x)) for x in (share, error, *single, *both))])
    return rows


def _csv(tables: Sequence[StringTable], found: GroupedStrings, by: Sequence[str]) -> bytes:
    rows = _rows(tables, found, repr, lambda key: "" if key is None else str(as_plain(key)))
    return csv_table([*by, *_HEADER[: len(rows[0]) - len(by)]], rows)
