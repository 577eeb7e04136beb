"""``mechdesign plan --reports``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click

from mechdesign.cli import places
from mechdesign.cli.comparison_output import times_fewer
from mechdesign.cli.estimation_words import least_error
from mechdesign.cli.json_output import Finite, Nearest, Output, Printed, Reason, Text, Whole, given, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism, own_command
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import WHOLE, check_plot, write_plot
from mechdesign.cli.source import Source
from mechdesign.comparison import ReportPlan, plan_reports
from mechdesign.comparison.report_plan import Precision
from mechdesign.data.fields import Number
from mechdesign.display.numbers import near
from mechdesign.errors import shorten
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.words import promise
from mechdesign.plot import errors

WANTED = "wanted"
"""The value of ``--reports`` without a number: the number is what is computed."""

_MOST_SHOWN = 10**15


class PlannedMechanism(Printed):
    """The reports that a mechanism needs, or the errors that it has; null where they are infinite."""

    mechanism: Text
    estimation_error: Finite
    lower_bound: Number | None
    reports_for_each: Whole | None
    reports_for_root_mean_square: Whole | None
    largest_standard_error: Number | None
    root_mean_square_standard_error: Number | None
    largest_interval: Number | None
    missing: Reason


class ReportPlanOutput(Output):
    """`mechdesign plan --reports`."""

    carries = "mechdesign/report-plan/1"

    title: Text
    epsilon: Nearest
    lower: Nearest | None = None
    cap: Nearest | None = None
    radius: Nearest | None
    reports: Whole | None
    standard_error: Nearest | None
    interval: Nearest | None
    confidence: Number
    mechanisms: list[PlannedMechanism]
    closed_form_bound: Number | None
    promise: str | None
    plot: Text | None = None


@dataclass(frozen=True)
class ReportOptions:
    """The options that belong to ``--reports``, as click reads them."""

    reports: str | None
    standard_error: str | None
    interval: str | None
    confidence: float | None
    mechanism: str | None
    reference: str | None
    drift: float | None
    time_limit: float | None

    def given(self) -> list[str]:
        """Return the names of the options that are given beside ``--reports``."""
        beside = [field.name for field in fields(self) if field.name != "reports"]
        return [f"--{name.replace('_', '-')}" for name in beside if getattr(self, name) is not None]

    def precision(self) -> Precision:
        """Return what is planned for, checked alike for all kinds of mechanisms, and with what stands beside it."""
        widths = [name for name in ("--standard-error", "--interval") if name in self.given()]
        count = None
        if self.reports == WANTED:
            if len(widths) != 1:
                raise click.UsageError(
                    f"{len(widths)} of --standard-error, --interval are given; --reports needs one of them, or a "
                    "number of reports"
                )
            if self.confidence is not None and self.interval is None:
                raise click.UsageError("--confidence belongs to --interval, or to --reports with a number")
        else:
            try:
                count = WHOLE.convert(self.reports, None, None)
            except click.BadParameter:
                raise click.UsageError(
                    f"--reports is {shorten(self.reports)}; accepted: a whole number, or nothing, to compute it; name "
                    "a problem file before --reports"
                ) from None
            if widths:
                raise click.UsageError(
                    f"{widths[0]} and --reports {shorten(count)} are given; give one, and the other is computed"
                )
        return Precision.of(count, self.standard_error, self.interval, **given(confidence=self.confidence))


def run_plan_reports(options: ReportOptions, source: Source, plot: str | None, *, as_json: bool) -> None:
    """Compute, print and draw how many reports a precision takes, or what precision a number of reports gives."""
    asked = options.precision()
    if own := own_command("plan", options.mechanism, reference=options.reference, drift=options.drift):
        own(options, asked, as_json=as_json)
        return
    check_plot(plot)
    inputs = [*source.inputs(), *([] if options.mechanism is None else [options.mechanism])]
    standard = places.check([plot], inputs, as_json=as_json)
    with Progress() as progress:
        compared, title = _compared(options, source, progress)
        found = plan_reports(
            compared,
            **vars(asked),
            time_limit=options.time_limit,
            progress=progress,
        )
    write_plot(plot, lambda: errors(found).figure)
    if as_json:
        print_output(_output(found, title, plot))
        return
    _print(found, title, err=standard)
    if plot is not None and not standard:
        say(f"written: {plot}")


def _compared(options: ReportOptions, source: Source, progress: Callable[[str], None]) -> tuple[Any, str]:
    """Return the mechanism or the problem to plan for, and its title."""
    if options.mechanism is None:
        return source.problem()
    if beside := source.given():
        raise click.UsageError(f"{', '.join(beside)}: a mechanism file says this itself; leave it out")
    return load_mechanism(options.mechanism, progress, command="plan"), options.mechanism


def _output(found: ReportPlan, title: str, plot: str | None) -> ReportPlanOutput:
    """Return a plan as it is printed as JSON."""
    problem = found.problem
    ball = problem.uncertainty.l1_ball
    numbered = [(row, found.numbers_of(row)) for row in found.mechanisms]
    rows = [PlannedMechanism.built_from(row, mechanism=row.name, **numbers) for row, numbers in numbered]
    return ReportPlanOutput.built_from(
        found,
        title=title,
        epsilon=problem.epsilon,
        radius=None if ball is None else ball.radius,
        mechanisms=rows,
        closed_form_bound=least_error(problem),
        **given(lower=problem.lower, cap=problem.cap, plot=plot),
    )


def _print(found: ReportPlan, title: str, *, err: bool) -> None:
    """Print a plan as facts, a table and sentences."""
    objective = found.problem.utility.estimation
    query, queries = ("frequency", "frequencies") if objective is None or objective.is_plain else ("query", "queries")
    print_facts(
        [
            ("plan for", title),
            ("guarantee", promise(Guarantee(found.problem.sides, found.problem.uncertainty))),
            ("given", _given(found, query)),
            ("at", "the estimate; one report for each respondent"),
            *_hope(found),
        ],
        err=err,
    )
    say(err=err)
    columns = (
        (f"reports: every {query}", "reports: root mean square")
        if found.reports is None
        else ("largest standard error", "root mean square", f"largest {100 * found.confidence:g} % interval")
    )
    missing = ["not computed", *[""] * (len(columns) - 1)]
    rows = [[row.name, *(missing if row.missing else _cells(found, row.largest, row.mean))] for row in found.mechanisms]
    print_table(["mechanism", *columns], rows, err=err)
    for row in found.mechanisms:
        if row.missing:
            say(f"{row.name}: {row.missing}", err=err)
    if found.reports is None:
        say(f"Every {query}: none has a larger error than is given. Root mean square: over all {queries}.", err=err)
    if sentence := _fewer(found):
        say(sentence, err=err)
    if found.promise is not None:
        say(found.promise, err=err)


def _hope(found: ReportPlan) -> list[tuple[str, str]]:
    """Return what can be hoped for at most, from the bound that needs no design."""
    least, objective = least_error(found.problem), found.problem.utility.estimation
    if least is None or objective is None or not 0 < least < math.inf:
        return []
    mean = least / len(objective.queries(found.problem.uncertainty.size))
    if found.reports is None:
        sentence = f"at least {_whole(found.needed(mean))} reports"
    else:
        sentence = f"a standard error of at least {found.standard_error_of(mean):.4g}"
    return [("bound", f"{sentence} (root mean square) for any mechanism with this epsilon at the estimate")]


def _given(found: ReportPlan, query: str) -> str:
    """Return in words what the plan is computed from."""
    if found.reports is not None:
        return f"{found.reports:,} reports"
    if found.interval is not None:
        return (
            f"{100 * found.confidence:g} % intervals of at most {float(found.interval):g} either way for each {query}"
        )
    return f"a standard error of at most {float(found.standard_error or 0):g}"


def _cells(found: ReportPlan, largest: float | None, mean: float | None) -> list[str]:
    """Return a row of the table."""
    if found.reports is None:
        return [_whole(found.needed(variance)) for variance in (largest, mean)]
    errors = [found.standard_error_of(variance) for variance in (largest, mean)]
    shown = ["infinite" if error is None else near(error, zeros=True) for error in errors]
    half = found.half_width_of(largest)
    return [*shown, "infinite" if half is None else f"+- {near(half, zeros=True)}"]


def _whole(number: int | None) -> str:
    """Return a number of reports in words."""
    if number is None:
        return "no number is enough"
    return f"{number:,}" if number <= _MOST_SHOWN else "more than 10^15"


def _fewer(found: ReportPlan) -> str:
    """Return how many times fewer respondents the best mechanism for the set of priors needs than LDP mechanisms."""
    ours = min((row.error for row in found.mechanisms if not row.local and row.error is not None), default=math.inf)
    times = times_fewer(
        (row.at_least / ours, f"with {'the ' if row.lower_bound is not None else ''}{row.name}")
        for row in found.mechanisms
        if row.local and row.at_least is not None and ours < math.inf
    )
    return f"The same root mean square from {', '.join(times)}." if times else ""
