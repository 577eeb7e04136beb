"""``mechdesign plan --reports`` for views of whole records: how many people a precision of all tables takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.cli import places
from mechdesign.cli.json_output import Finite, Nearest, Output, Printed, Text, Whole, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.plan_reports import ReportOptions
from mechdesign.cli.progress import Progress
from mechdesign.cli.records_command import RecordOptions, designed_views, files_of
from mechdesign.cli.source import Source
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.comparison.report_plan import Precision
from mechdesign.data.fields import Number
from mechdesign.display.numbers import near

if TYPE_CHECKING:
    from mechdesign.records.record_analysis import RecordAnalysis, ViewWorth


class PlannedView(Printed):
    """The reports about all views that give every share of this one the precision; or the errors that they leave."""

    name: Text
    share: Number
    reports: Whole | None
    standard_error: Finite
    largest_standard_error: Finite


class PlannedWay(Printed):
    """A way to report records: the reports that give all queries the precision as root mean square, or the error."""

    mechanism: Text
    error: Finite
    reports: Whole | None
    standard_error: Finite


class RecordPlanOutput(Output):
    """`mechdesign plan --reports`, of views of whole records."""

    carries = "mechdesign/report-plan/1"

    title: Text
    epsilon: Nearest
    reports: Whole | None
    standard_error: Nearest | None
    interval: Nearest | None
    confidence: Number
    queries: Whole
    mechanisms: Sequence[PlannedWay]
    views: Sequence[PlannedView]


_OWN = {"reports", "standard_error", "interval", "confidence", "as_json"}


def plan_views(options: ReportOptions, asked: Precision, *, as_json: bool) -> int:
    """Plan for the views in a file."""
    refuse_others({*_OWN, "mechanism"}, "views of whole records")
    file = options.mechanism or ""
    return _planned(asked, file, [file], lambda progress: load_mechanism(file, progress), as_json=as_json)


def plan_designed(
    options: ReportOptions, asked: Precision, records: RecordOptions, source: Source, *, as_json: bool
) -> int:
    """Plan for views that are designed from a sample, or from tables of counts, as `mechdesign design` takes them."""
    taken = {"epsilon", "cap", "delta", "known", "data", "no_header", "show_values", "time_limit"}
    refuse_others({*RecordOptions.__dataclass_fields__, *_OWN, *taken}, "--columns")
    files = files_of(records, source)

    def made(progress: Progress) -> Any:
        return designed_views(records, {}, source, progress, time_limit=options.time_limit).mechanism

    title = f"{', '.join(files)}, columns {records.columns}"
    return _planned(asked, title, [*files, records.impossible], made, as_json=as_json)


def _planned(
    precision: Precision,
    title: str,
    inputs: Sequence[str | None],
    made: Callable[[Progress], Any],
    *,
    as_json: bool,
) -> int:
    """Print how many reports a precision of all tables takes, or what precision a number of reports gives."""
    from mechdesign.records.record_analysis import analyze_records

    places.check([], inputs, as_json=as_json)
    count, wanted = precision.reports, None if precision.wanted is None else float(precision.wanted)
    with Progress() as progress:
        mechanism = made(progress)
        progress("computing errors")
        found = analyze_records(mechanism)
    ways = [("these views", found.error), *((each.name, each.error) for each in found.rivals)]
    planned = [_way(found, name, error, wanted, count) for name, error in ways]
    views = [_view(view, wanted, count) for view in found.views]
    if as_json:
        about = {"title": title, "epsilon": mechanism.guarantee.epsilon, **vars(precision)}
        print_output(RecordPlanOutput(**about, queries=found.queries, mechanisms=planned, views=views))
        return 0
    asked = f"{count:,} reports" if wanted is None else f"a standard error of at most {wanted:.6g}"
    print_facts([("plan for", title), *mechanism.facts(of_report=True), ("given", asked)])
    say()
    head = "standard error" if wanted is None else "reports"
    rows = [[way.mechanism, _cell(way.reports, way.standard_error, wanted)] for way in planned]
    print_table(["way", head], rows, title=f"All {found.queries} queries together, as root mean square")
    rows = [
        [view.name, f"{view.share:.4f}", _cell(view.reports, view.largest_standard_error, wanted)] for view in views
    ]
    print_table(
        ["view", "share", f"{head} of all views"],
        rows,
        title="Every share that a view was designed for, from its own reports",
    )
    say("At the tables of the views; one report of each respondent. Views that overlap are combined: errors are less.")
    return 0


def _way(found: RecordAnalysis, name: str, error: float, wanted: float | None, count: int | None) -> PlannedWay:
    reports = None if wanted is None else found.respondents(wanted, error)
    left = None if count is None else found.standard_error(count, error)
    return PlannedWay(mechanism=name, error=error, reports=reports, standard_error=left)


def _view(view: ViewWorth, wanted: float | None, count: int | None) -> PlannedView:
    typical, largest = (
        (None, None) if count is None else (view.standard_error(count), view.largest_standard_error(count))
    )
    reports = None if wanted is None else view.reports_for(wanted)
    about = {"standard_error": typical, "largest_standard_error": largest}
    return PlannedView(name=view.part.name, share=view.share, reports=reports, **about)


def _cell(reports: int | None, error: float | None, wanted: float | None) -> str:
    if wanted is None:
        return "not determined" if error is None else near(error, 4)
    return "no number is enough" if reports is None else f"{reports:,}"
