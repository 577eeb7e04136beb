"""``mechdesign compare`` and ``mechdesign plan --reports`` for windows: what strings cost in respondents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.cli import places
from mechdesign.cli.json_output import Nearest, Output, Printed, Text, Titled, Whole, given, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.plan_reports import ReportOptions
from mechdesign.cli.progress import Progress
from mechdesign.cli.windows_sample import reference_shares, refuse_others
from mechdesign.comparison.report_plan import Precision
from mechdesign.data.checks import MOST_SAMPLES
from mechdesign.data.fields import Number
from mechdesign.display.numbers import near
from mechdesign.errors import LimitError

if TYPE_CHECKING:
    from mechdesign.windows import StringComparison, WindowMechanism

_MOST_ADDED = 20_000  # strings, whose errors are added and bounded in seconds


class RivalOutput(Printed):
    """What a string costs: n times the variance of its share, and the sum over all strings of the sample."""

    mechanism: Text
    error: Number
    times: Number
    total: Number | None
    local: bool
    source: Text


class PlannedRivalOutput(RivalOutput):
    """The reports that are needed, null where no number is enough; or the standard error that they leave."""

    reports: Whole | None
    standard_error: Number | None


class StringComparisonOutput(Titled):
    """`mechdesign compare` of windows."""

    carries = "mechdesign/comparison/1"

    epsilon: Nearest
    cap: Nearest | None = None
    strings: Whole | None
    mechanisms: Sequence[RivalOutput]


class StringPlanOutput(Output):
    """`mechdesign plan --reports` of windows."""

    carries = "mechdesign/report-plan/1"

    title: Text
    epsilon: Nearest
    cap: Nearest | None = None
    reports: Whole | None
    standard_error: Nearest | None
    interval: Nearest | None
    confidence: Number
    drift: Number
    seeds: Whole
    seeds_needed: Whole | None
    mechanisms: Sequence[PlannedRivalOutput]


def compare_strings(file: str, reference: str | None, *, as_json: bool) -> int:
    """Set the windows of a file beside other oracles for strings, and print them."""
    refuse_others({"problem_file", "reference", "as_json"}, "a file of windows")
    places.check([], [file, *([] if reference is None else [reference])], as_json=as_json)
    with Progress() as progress:
        mechanism, found = _compared(file, reference, 0.0, progress)
    if as_json:
        rows = [RivalOutput(**keys) for keys in _keys(found)]
        print_output(StringComparisonOutput(title=file, strings=found.strings, mechanisms=rows, **_promised(mechanism)))
        return 0
    print_facts([("windows", file), *mechanism.facts(of_report=True), *_totals(found)])
    say()
    columns = ["mechanism", "n times the variance", "respondents"]
    cells = [[row.name, f"{row.error:.6g}", _times(found.times(row))] for row in found.rivals]
    if found.strings is not None:
        columns.append("all strings together")
        cells = [[*line, f"{row.total:.6g}"] for line, row in zip(cells, found.rivals, strict=True)]
    print_table(columns, cells)
    say("The variance is that of the share of a string that the sample lacks, from n reports, at the sample's shares.")
    return 0


def plan_strings(options: ReportOptions, asked: Precision, *, as_json: bool) -> int:
    """Print how many reports a precision of shares of strings takes, or what precision a number of reports gives."""
    own = {"reports", "standard_error", "interval", "confidence", "mechanism", "reference", "drift", "as_json"}
    refuse_others(own, "a file of windows")
    file, drift = options.mechanism or "", options.drift or 0.0
    places.check([], [file, *([] if options.reference is None else [options.reference])], as_json=as_json)
    with Progress() as progress:
        mechanism, found = _compared(file, options.reference, drift, progress)
    count, wanted = asked.reports, _wanted(asked, found.seeds)
    numbers = [None if wanted is None else row.reports_for(wanted) for row in found.rivals]
    errors = [None if count is None else row.standard_error_of(count) for row in found.rivals]
    reports = count if count is not None else numbers[0]
    needed = found.seeds_needed(reports) if drift and reports and reports <= MOST_SAMPLES else None
    if wanted is not None and numbers[0] is None:
        raise LimitError.no_reports_enough(
            f"with {found.seeds:,} seeds and a drift of {drift:g} collisions alone are above a standard error of "
            f"{wanted:.4g}; no number of reports is enough: take more seeds"
        )
    if as_json:
        both = zip(_keys(found), numbers, errors, strict=True)
        rows = [PlannedRivalOutput(**keys, reports=number, standard_error=error) for keys, number, error in both]
        seeds = {"drift": drift, "seeds": found.seeds, "seeds_needed": needed}
        whole = {"title": file, **vars(asked), **seeds, **_promised(mechanism)}
        print_output(StringPlanOutput(mechanisms=rows, **whole))
        return 0
    given_text = f"{count:,} reports" if count is not None else f"a standard error of at most {wanted:.6g}"
    facts = [("plan for", file), *mechanism.facts(of_report=True), ("given", given_text)]
    if needed is not None:
        facts.append(("seeds", f"{found.seeds:,}; with a drift of {drift:g}, {needed:,} keep collisions below a tenth"))
    print_facts(facts)
    say()
    shown = [_cell(number, error) for number, error in zip(numbers, errors, strict=True)]
    names = [row.name for row in found.rivals]
    print_table(
        ["mechanism", "reports" if count is None else "standard error"],
        [list(pair) for pair in zip(names, shown, strict=True)],
    )
    say("For the share of a string that the sample lacks, at the sample's shares; one report for each respondent.")
    return 0


def _compared(
    file: str, reference: str | None, drift: float, progress: Callable[[str], None]
) -> tuple[WindowMechanism, StringComparison]:
    """Return the windows of a file, and these beside others."""
    from mechdesign.windows import compare_strings as compared

    mechanism: Any = load_mechanism(file, progress)
    shares = None if reference is None else reference_shares(reference, mechanism)
    if shares is not None and len(shares) > _MOST_ADDED:
        raise LimitError.no_method(
            f"{reference} has {len(shares):,} strings; errors are added of at most {_MOST_ADDED:,}: leave it out"
        )
    progress("comparing")
    return mechanism, compared(mechanism, shares, drift=drift)


def _wanted(asked: Precision, seeds: int) -> float | None:
    """Return the standard error that is wanted, by Student's t for an interval; None where reports are given."""
    from mechdesign.windows.string_estimates import quantile

    if asked.interval is not None:
        return float(asked.interval) / quantile((1 - asked.confidence) / 2, seeds)
    return None if asked.standard_error is None else float(asked.standard_error)


def _promised(mechanism: WindowMechanism) -> dict[str, Any]:
    return {"epsilon": mechanism.promise.epsilon, **given(cap=mechanism.promise.cap)}


def _keys(found: StringComparison) -> list[dict[str, Any]]:
    return [
        {
            "mechanism": row.name,
            "error": row.error,
            "times": found.times(row),
            "total": row.total,
            "local": row.local,
            "source": row.source,
        }
        for row in found.rivals
    ]


def _totals(found: StringComparison) -> list[tuple[str, str]]:
    return [] if found.strings is None else [("strings", f"{found.strings:,} of the sample")]


def _times(times: float) -> str:
    return "as many" if round(times, 2) == 1 else f"{times:.3g} times as many"


def _cell(number: int | None, error: float | None) -> str:
    if error is not None:
        return near(error, zeros=True)
    return "no number is enough" if number is None else f"{number:,}"
