"""``mechdesign analyze`` for views of whole records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.cli import places
from mechdesign.cli.json_output import Finite, Labels, Printed, Text, Titled, Whole, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import KnownLeakage, RecordsPromised
from mechdesign.cli.record_reading import read_side_data
from mechdesign.cli.source import Source
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.data.fields import Number
from mechdesign.display.numbers import near, text_above, text_below, text_near

if TYPE_CHECKING:
    from mechdesign.records.record_analysis import RecordAnalysis

_REPORTS = 10_000  # for which standard errors are shown
_SHOWN = 12


class AnalysedView(Printed):
    """A view: what its reports leak, at which level of local differential privacy, and what they tell of its values."""

    name: Text
    attributes: Labels
    share: Number
    leakage: Number
    ldp_level: Finite
    variance: Finite


class Beside(Printed):
    """Another way to report all attributes: its error, and the least level of local differential privacy."""

    mechanism: Text
    error: Number
    level: Number
    source: Text


class RecordAnalysisOutput(RecordsPromised, Titled):
    """`mechdesign analyze`, of views of whole records."""

    carries = "mechdesign/analysis/1"

    analysed: Sequence[AnalysedView]
    queries: Whole
    error_of_all: Finite
    lower_bound: Number | None
    beside: Sequence[Beside]
    known: Sequence[KnownLeakage]
    known_from: Text


def analyze_views(*, source: Source, matrix_file: str, as_json: bool, **_: object) -> int:
    """Print what views of whole records tell, and whom."""
    from mechdesign.records.record_analysis import analyze_records

    refuse_others({"matrix_file", "data", "no_header", "as_json"}, "views of whole records")
    places.check([], [matrix_file, *([] if source.data is None else [source.data])], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(matrix_file, progress)
        records = read_side_data(source.data, mechanism, header=not source.no_header)
        progress("computing errors")
        found = analyze_records(mechanism, records)
    if as_json:
        print_output(_output(found, matrix_file, source.data))
        return 0
    _print(found, matrix_file, source.data)
    return 0


def _output(found: RecordAnalysis, title: str, data: str | None) -> RecordAnalysisOutput:
    analysed = [
        AnalysedView(
            name=view.part.name,
            attributes=view.part.attributes,
            share=view.share,
            leakage=view.part.leakage,
            ldp_level=_level(view),
            variance=view.typical,
        )
        for view in found.views
    ]
    return RecordAnalysisOutput(
        title=title,
        analysed=analysed,
        queries=found.queries,
        error_of_all=found.error,
        lower_bound=found.bound,
        beside=[Beside.built_from(each, mechanism=each.name) for each in found.rivals],
        known=[KnownLeakage.built_from(each) for each in found.side],
        known_from="the tables of the views" if data is None else data,
        **found.mechanism.promised_keys(),
    )


def _level(view: Any) -> float | None:
    return None if view.part.mechanism.level is None else float(view.part.mechanism.level)


def _print(found: RecordAnalysis, title: str, data: str | None) -> None:
    facts = [("views of records", title), *found.mechanism.facts(of_report=True)]
    listed = " of listed categories" if len(found.mechanism.listed) < len(found.views) else ""
    facts.append(("error", f"{text_near(found.error, 6)} / n for all {found.queries} queries{listed} together"))
    if found.bound is not None:
        bound = f"{text_below(found.bound, 6)} / n for any mechanism of whole records, as the file claims"
        facts.append(("lower bound", f"{bound} (mechdesign verify checks it)"))
    print_facts(facts)
    say()
    heads = [
        "view",
        "drawn",
        "categories",
        "leakage, nats",
        "LDP level",
        f"standard error at {_REPORTS:,} reports in all",
    ]
    rows = []
    for view in found.views:
        level = _level(view)
        words = ["infinite" if level is None else text_above(level, 4), near(view.standard_error(_REPORTS), 3)]
        size = "any" if view.part.is_open else str(len(view.part.mechanism.inputs))
        rows.append([view.part.name, f"{view.share:.4f}", size, text_above(view.part.leakage, 6), *words])
    print_table(heads, rows, title="Views; errors are root mean squares over the shares that they were designed for")
    if found.rivals:
        rows = [["these views", near(found.error, 6), "1"]]
        rows += [[each.name, near(each.error, 6), f"{each.error / found.error:.3g}"] for each in found.rivals]
        print_table(["way", "error", "respondents"], rows, title="Beside ways under local differential privacy")
    _print_known(found, data)


def _print_known(found: RecordAnalysis, data: str | None) -> None:
    if found.mechanism.secret is not None:
        say(f"The promise is about {found.mechanism.guarantee.whose}, against those who know no other column.")
        return
    if not found.side:
        say(
            "What reports tell those who know an attribute is not known from the tables of the views: give --data FILE."
        )
        return
    whose = "the tables of the views" if data is None else data
    rows = [[each.view, f"{each.known} {each.value}", text_above(each.leakage, 4)] for each in found.side[:_SHOWN]]
    title = f"Leakage to those who know another attribute, for whom nothing is promised; from {whose}"
    print_table(["view", "who knows", "leakage, nats"], rows, title=title)
    if len(found.side) > _SHOWN:
        say(f"and {len(found.side) - _SHOWN} less than these (--json lists them all)")
