"""What ``mechdesign estimate`` does for reports about whole records: tables, for people and for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import click
from pydantic import BeforeValidator

from mechdesign.cli.estimate_output import (
    HARDLY_THESE,
    NOT_THESE,
    TOO_LARGE,
    ComparedIds,
    CountedParts,
    EstimatePrinter,
    FitRecord,
    Listed,
    OutsideSet,
    error_in_words,
    fit_in_words,
    source_facts,
)
from mechdesign.cli.json_output import Finite, Labels, Output, Printed, Text, Whole, given
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.windows_estimate import Candidates, read_candidates
from mechdesign.cli.windows_sample import decorated, reference_shares, refuse_others
from mechdesign.data.fields import Number
from mechdesign.data.group_keys import as_plain, in_words
from mechdesign.deploy.fit import Fit
from mechdesign.deploy.grouped import SIMULTANEOUS, GroupedEstimate
from mechdesign.deploy.report_counts import GroupCounts
from mechdesign.errors import printable, shorten
from mechdesign.mechanism.reporting import Deployed

_MOST_ROWS = 240  # of a table on a terminal
_TAKEN = {"file", "mechanism_file", "output", "by", "ids", "simultaneous", "no_header", "confidence", "jobs", "plot"}
_TAKEN |= {"scheduler", "show_values", "as_json", "marginals", "consistent", "report_names", "column"}
_TAKEN |= {"candidates", "reference", "non_negative"}


def _pairs(array: Any) -> Any:
    return None if array is None else [list(map(float, pair)) for pair in array]


Values = Annotated[list[Finite], Listed]
Pairs = Annotated[list[Annotated[list[Finite], Listed]] | None, BeforeValidator(_pairs)]


class ViewsAgree(Printed):
    """Whether views that share attributes agree on them; p is null where none do."""

    p: Number | None
    distance: Number
    degrees: Whole


class EstimatedTable(Printed):
    """The table of some attributes; frequencies and errors are null where reports do not determine them."""

    attributes: Labels
    cells: Sequence[Labels]
    frequencies: Values
    standard_errors: Values | None
    intervals: Pairs
    simultaneous_intervals: Pairs = None
    identifiable: Annotated[list[bool], Listed]
    views: Labels
    reports: Whole
    reports_needed: Whole
    few_reports: bool
    method: str


class ReportedView(Printed):
    """The reports about a view, and how they go with its mechanism."""

    name: Text
    reports: Whole
    fit: FitRecord | None
    outside: OutsideSet | None


class EstimatedTables(Printed):
    """What is estimated from some reports."""

    reports: Whole
    views: list[ReportedView]
    tables: list[EstimatedTable]
    likelihood_gap: Number | None
    draw_p: Number


class _TablesOutput(Output):
    """What is estimated, and from where, with and without groups."""

    fit: FitRecord
    agreement: ViewsAgree
    confidence: Number
    consistent: bool
    family: Whole | None = None
    parts: CountedParts | None = None
    ids: ComparedIds | None = None
    output: Text | None = None
    plot: Text | None = None


class RecordEstimateOutput(EstimatedTables, _TablesOutput):
    """`mechdesign estimate`, of reports about whole records, and the file of its option -o."""

    carries = "mechdesign/estimate/1"


class GroupedTables(EstimatedTables):
    """The tables of a group."""

    group: list[str | int | bool | None]


class GroupedRecordEstimateOutput(_TablesOutput):
    """`mechdesign estimate --by`, of reports about whole records, and the file of its option -o."""

    carries = "mechdesign/estimate-by-groups/1"

    by: Labels
    reports: Whole
    groups: list[GroupedTables]
    draw_p: Number


@dataclass(frozen=True)
class TableOptions:
    """The options of `mechdesign estimate` for reports about whole records."""

    marginals: tuple[str, ...]
    consistent: bool

    def check(self, mechanism: Deployed) -> None:
        """Refuse these options for other mechanisms, and others for views of whole records."""
        if mechanism.kind == "records":
            refuse_others(_TAKEN, "views of whole records, which estimate the population")
            if self.consistent:
                refuse_others(_TAKEN - {"simultaneous", "confidence"}, "--consistent, whose tables have no intervals")
        elif self.marginals or self.consistent:
            raise click.UsageError("--marginal and --consistent are for views of whole records; leave them out")

    def printer(
        self,
        counted: Any,
        mechanism: Any,
        asked: Candidates,
        confidence: float,
        progress: Callable[[str], None],
        about: tuple[Any, ...],
    ) -> EstimatePrinter:
        """Return the tables that are asked for, from counts with or without groups, and how they are told."""
        from mechdesign.records.record_estimation import RecordEstimation
        from mechdesign.records.record_reports import estimate_record_groups

        progress("estimating")
        strings = _strings_of_views(asked, mechanism)
        estimation = RecordEstimation(mechanism, confidence, self.consistent, progress, strings)
        if not isinstance(counted, GroupCounts):
            return TablePrinter(estimation.of_counts(counted.tolist()).only(self.marginals), *about)
        return TablePrinter(estimate_record_groups(counted, estimation, progress).only(self.marginals), *about)


def _strings_of_views(asked: Candidates, mechanism: Any) -> Any:
    """Return the strings that are asked for of views of windows, from their files."""
    from mechdesign.records.string_tables import StringTables

    if asked.non_negative:
        raise click.UsageError("--non-negative: views of whole records take --consistent instead")
    names = {name: read_candidates(path) for name, path in _by_view(asked.candidates, mechanism, "--candidates")}
    files = _by_view(asked.reference, mechanism, "--reference")
    shares = {name: reference_shares(path, mechanism.part(name).mechanism) for name, path in files}
    return StringTables(mechanism, names, shares)


def _by_view(texts: Sequence[str], mechanism: Any, option: str) -> list[tuple[str, str]]:
    """Return views and files from ``VIEW=FILE``, or from ``FILE`` where there is one view of windows."""
    views = [part.name for part in mechanism.parts if part.is_open]
    found: list[tuple[str, str]] = []
    for text in texts:
        view, sign, path = text.partition("=")
        if not (sign and view in views):
            view, path = views[0] if len(views) == 1 else "", text
        if view not in views or view in dict(found):
            listed = ", ".join(views) or "none"
            raise click.UsageError(
                f"{option} is {shorten(text)}; accepted: VIEW=FILE once for each view of windows ({listed})"
            )
        found.append((view, path))
    return found


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of `TableOptions`, which it receives as ``records``."""

    def wrapped(*, marginals: tuple[str, ...], consistent: bool, **values: Any) -> Any:
        return command(records=TableOptions(marginals, consistent), **values)

    named = "For views of whole records: "
    return decorated(
        wrapped,
        command,
        click.option(
            "--marginal",
            "marginals",
            metavar="A+B",
            multiple=True,
            help=f"{named}this table alone, of one attribute or of several, such as sex+salary; may be repeated.",
        ),
        click.option(
            "--consistent",
            is_flag=True,
            help=f"{named}tables that are not negative and belong to one joint law, without errors.",
        ),
    )


@dataclass(frozen=True, eq=False)
class TablePrinter(EstimatePrinter):
    """Tables of whole records, with or without groups, and how they are told."""

    found: Any  # RecordEstimate or GroupedRecordEstimate

    def __post_init__(self) -> None:
        first: Any = self.found.estimates[0] if isinstance(self.found, GroupedEstimate) else self.found
        object.__setattr__(self, "simultaneous", self.simultaneous and not first.consistent)

    def json(self, **keys: Any) -> Output:
        """Return the JSON, with keys that say where the reports are from and what is written."""
        found: Any = self.found
        whole: Any = found.whole if isinstance(found, GroupedEstimate) else found
        about = {
            "fit": found.fit,
            "agreement": found.agreement,
            "confidence": whole.confidence,
            "consistent": whole.consistent,
        }
        if self.simultaneous:
            keys["family"] = found.family
        if not isinstance(found, GroupedEstimate):
            return RecordEstimateOutput(**self._tables(found), **about, **keys)
        groups = [
            GroupedTables(group=list(map(as_plain, names)), **self._tables(estimate)) for names, estimate in found
        ]
        about |= {"by": found.by, "reports": found.reports, "draw_p": self.found.draw_p}
        return GroupedRecordEstimateOutput(groups=groups, **about, **keys)

    def _tables(self, found: Any) -> dict[str, Any]:
        """Return the keys of `EstimatedTables`."""
        views = []
        for name, reports in found.counts.items():
            own = found.views.get(name)
            fit, outside = (None, None) if own is None else (own.fit, own.outside)
            views.append(ReportedView.built_from(None, name=name, reports=reports, fit=fit, outside=outside))
        tables = [
            EstimatedTable.built_from(
                table, **given(simultaneous_intervals=table.simultaneous_intervals if self.simultaneous else None)
            )
            for table in found
        ]
        about = {"likelihood_gap": found.likelihood_gap, "draw_p": found.draw_p}
        return {"reports": found.reports, "views": views, "tables": tables, **about}

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as columns."""
        left_out = () if self.simultaneous else SIMULTANEOUS
        return {name: values for name, values in self.found.columns().items() if name not in left_out}

    def figure(self) -> Any:
        """Return the figure of the tables."""
        from mechdesign.plot.record_pictures import marginals

        return marginals(self.found)

    def print(self, guarantee: Any, *, err: bool) -> None:
        """Print facts, a table and what has to be known about it."""
        found = self.found
        grouped = isinstance(found, GroupedEstimate)
        whole = found.whole if grouped else found
        facts = [("reports", f"{found.reports:,} about {len(whole.counts):,} views")]
        if grouped:
            facts.append(("groups", f"{len(found):,} by {', '.join(found.by)}"))
        silent = [printable(name) for name, reports in whole.counts.items() if not reports]
        if silent:
            facts.append(("no reports", f"about {', '.join(silent)}"))
        facts += source_facts(self.parts, self.first)
        if unasked := [name for name in whole.counts if whole.counts[name] and not _has_table(whole, name)]:
            facts.append(("no table", f"of {', '.join(unasked)}: views of windows need --candidates"))
        facts += [("guarantee", guarantee.in_words()), ("estimate", _how(whole)), ("fit", fit_in_words(found.fit))]
        if found.agreement.p is not None:
            facts.append(("agreement", _agreement_in_words(found.agreement)))
        print_facts(facts, err=err)
        say(err=err)
        self._print_rows(err=err)
        for line in _warnings(found, whole):
            say(f"\n{line}", err=err)

    def _print_rows(self, *, err: bool) -> None:
        columns, by = self.columns(), getattr(self.found, "by", ())
        first = self.found.estimates[0] if by else self.found
        level = f"{100 * first.confidence:g} %"
        titles = [*map(printable, by), "table", "category", "frequency"]
        if not first.consistent:
            titles += ["standard error", f"{level} interval"]
            titles += [f"{level} for all {self.found.family:,} at once"] if self.simultaneous else []
        size, rows = len(columns["label"]), []
        for row in range(min(size, _MOST_ROWS)):
            cell = {name: values[row] for name, values in columns.items()}
            words = [*(in_words(cell[name]) for name in by), cell["table"], cell["label"], f"{cell['frequency']:.5f}"]
            if not first.consistent:
                words += [error_in_words(cell["standard_error"]), _span(cell, "lower", "upper")]
                words += [_span(cell, *SIMULTANEOUS)] if self.simultaneous else []
            rows.append(words)
        print_table(titles, rows, err=err, texts=tuple(range(len(by) + 2)))
        if size > _MOST_ROWS:
            say(f"{size - _MOST_ROWS:,} more rows are not shown; -o FILE writes all of them.", err=err)


def _has_table(whole: Any, view: str) -> bool:
    """Whether reports of a view told of some table, or would if others were not chosen."""
    return view in whole.views or any(view in table.views for table in whole)


def _tells_nothing(table: Any) -> bool:
    return bool(((table.standard_errors > 1) & table.identifiable).any())


def _span(cell: dict[str, Any], lower: str, upper: str) -> str:
    return f"{cell[lower]:.5f} to {cell[upper]:.5f}"


def _agreement_in_words(found: Any) -> str:
    verdict = "VIEWS DISAGREE ON WHAT THEY SHARE" if found.refuted else "views agree on what they share"
    freedom = f"{found.degrees:,} degree{'' if found.degrees == 1 else 's'} of freedom"
    return f"{verdict}, p = {found.p:.2g} (distance {found.distance:,.1f}, {freedom})"


def _how(found: Any) -> str:
    if found.consistent:
        gap = f"within {found.likelihood_gap:.1g} nats of the greatest"
        return f"tables of one joint law of greatest likelihood ({gap}), without errors"
    methods = sorted({table.method for table in found})
    words = {
        "least-squares": "views that overlap combined, without bias",
        "maximum-likelihood": "views alone",
        "windows": "strings, without bias",
    }
    return "; ".join(f"{method} ({words[method]})" for method in methods)


def _warnings(estimates: Any, whole: Any) -> list[str]:
    """Return what has to be known of estimates, alone or by groups, and of those of all groups together."""
    fit: Fit = estimates.fit
    found = [NOT_THESE] if fit.impossible else [HARDLY_THESE] if fit.doubtful else []
    if whole.agreement.refuted:
        found.append(
            "The views tell of different people, and the estimates are doubtful. Look for people who did not report "
            "about some views, and for reports of another mechanism or column."
        )
    if estimates.draw_refuted:
        where = "" if estimates is whole else " in each group"
        found.append(
            f"So many reports about each view{where} come from its weights with p = {estimates.draw_p:.2g} alone. If "
            "people saw their view and then did not report, or a part of the reports is missing, the estimates are "
            "doubtful; or the weights in the file are not those that the reports were made with."
        )
    for name, view in whole.views.items():
        if view.outside is not None:
            found.append(
                f"The reports about {printable(name)} are not from a distribution that the guarantee is for; the "
                f"leakage at the estimate is {view.outside.leakage:.4g}."
            )
    if not whole.consistent and any(_tells_nothing(table) for table in whole if len(table.attributes) > 1):
        found.append(
            f'Where the standard error is "{TOO_LARGE}", these reports tell nothing about the combination. A view of '
            "several columns is designed for the table of each; mechdesign design --queries VIEW=frequencies is for "
            "their combinations."
        )
    if not whole.consistent and whole.few_reports:
        found.append("Standard errors are doubtful where reports are few; intervals cover with few reports too.")
    return found
