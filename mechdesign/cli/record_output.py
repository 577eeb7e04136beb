"""What the commands read and print of views of whole records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from mechdesign.cli.json_output import Labels, Nearest, Printed, Text, Whole
from mechdesign.cli.windows_sample import decorated
from mechdesign.data.fields import Number
from mechdesign.deploy.stream import RecordFile
from mechdesign.display.numbers import text_below
from mechdesign.display.text import some
from mechdesign.errors import GuaranteeError, LimitError
from mechdesign.mechanism.reporting import Deployed
from mechdesign.utility import Workload
from mechdesign.utility.given_queries import Mean

if TYPE_CHECKING:
    from mechdesign.records.record_design import RecordDesign

_NAMES = "view,report"


class PromisedView(Printed):
    """A view: what it shows, how many of the 2^weight_bits numbers draw it, and what its mechanism promises."""

    name: str
    attributes: Labels
    weight: Whole
    epsilon: Nearest
    delta: Number | None
    inputs: Labels | None
    outputs: Labels | None
    windows: Whole | None = None
    merged: Text | None = None
    leakage: Number


class RecordsPromised(Printed):
    """What views promise about the whole record, or about a secret alone, and the leakage that is proved."""

    epsilon: Nearest
    delta: Number | None
    attributes: Labels
    weight_bits: Whole
    views: list[PromisedView]
    leakage: Number
    lower: Nearest | None = None
    cap: Nearest | None = None
    lower_leakage: Number | None = None
    secret: Text | None = None
    samples_asserted: Literal[True] | None = None


class CheckedView(Printed):
    """The claim of the mechanism of a view, computed again."""

    view: Text
    utility: str
    value: Number
    bound: Number
    gap: Number


class ComparedTable(Printed):
    """A table that views share, and the two views whose estimates of it are farthest apart; distance 0: all agree."""

    attributes: Labels
    views: Labels
    distance: Nearest
    allowed: Nearest | None
    labels: Labels
    probabilities: Sequence[Nearest]
    differ: Text | None


class CheckedRecords(Printed):
    """The claims of a mechanism of whole records, computed again: of each view, and of all views together."""

    checked: Literal[False] | None = None
    views: list[CheckedView] | None = None
    error: Number | None = None
    lower_bound: Number | None = None
    recomputed_lower_bound: Number | None = None


class RecordsChecked(Printed):
    """What was found of a mechanism of whole records beside its promise; optimality is null where it claims nothing."""

    shared_tables: list[ComparedTable]
    optimality: CheckedRecords | None


def check_records(
    mechanism: Any, progress: Callable[[str], None], *, claims: bool, time_limit: float | None = None
) -> RecordsChecked:
    """Compare the tables that views share, and compute the claims of a mechanism of whole records again, if wanted.

    Raises
    ------
    GuaranteeError
        If no joint law has the tables of the views, or a claim is false.
    """
    shared = _compared_tables(mechanism)
    found = _checked_claims(mechanism, progress, time_limit) if claims else CheckedRecords(checked=False)
    return RecordsChecked(shared_tables=shared, optimality=found)


def _checked_claims(mechanism: Any, progress: Callable[[str], None], time_limit: float | None) -> CheckedRecords | None:
    """Return the claims of a mechanism of whole records, computed again; None where there are none."""
    from mechdesign.optimize import verify
    from mechdesign.records.record_certificate import check_claim

    found = []
    for part in mechanism.parts:
        claim = part.mechanism.optimality
        if claim is not None:
            progress(f"computing the bound of the view {part.name}")
            try:
                done = verify(part.mechanism, time_limit=time_limit)
            except (GuaranteeError, LimitError) as error:
                raise error.reworded(f"the view {part.name}: {error}") from None
            about = {"utility": claim.utility.name, "value": done.value, "bound": claim.bound, "gap": done.gap}
            found.append(CheckedView(view=part.name, **about))
    whole: dict[str, Any] = {}
    if mechanism.optimality is not None:
        progress("computing the bound for all mechanisms of whole records")
        value, bound = check_claim(mechanism, mechanism.optimality)
        whole = {"error": value, "lower_bound": mechanism.optimality.bound, "recomputed_lower_bound": bound}
    return CheckedRecords(views=found, **whole) if found or whole else None


def _compared_tables(mechanism: Any) -> list[ComparedTable]:
    """Return the tables that views share, those first in which they differ most."""
    from mechdesign.records.joint_existence import no_joint_law
    from mechdesign.records.record_secret import tables_of
    from mechdesign.records.shared_tables import shared_tables

    shown = [(part.name, part.attributes, part.mechanism.guarantee.uncertainty) for part in mechanism.listed]
    sets = list(tables_of(shown))
    found = sorted(shared_tables(sets), key=lambda table: -table.distance)
    for table in found:
        if table.contradicts:
            raise GuaranteeError.guarantee_false(table.contradiction())
    if lost := no_joint_law(sets):
        raise GuaranteeError.guarantee_false(lost.contradiction())
    return [ComparedTable.built_from(table, differ=table.in_words() if table.distance else None) for table in found]


def checked_facts(found: RecordsChecked) -> list[tuple[str, str]]:
    """Return what people read of the tables that views share and of the claims."""
    listed, facts = found.shared_tables, []
    if other := [table.differ for table in listed if table.differ is not None]:
        words = f"{len(other)} of {len(listed)} DIFFER: {other[0]}; views that are counted in the same records agree"
        facts = [("shared tables", f"{words} exactly: if these were, a table is of other records")]
    elif listed:
        shown = some([", ".join(table.attributes) for table in listed], 5)
        facts = [("shared tables", f"the views agree exactly on {shown}")]
    if found.optimality is None:
        return [*facts, ("optimality", "no optimality claimed")]
    return [*facts, *_claim_facts(found.optimality)]


def _claim_facts(found: CheckedRecords) -> list[tuple[str, str]]:
    """Return what people read of the claims of a mechanism of whole records."""
    if found.checked is False:
        return [("optimality", "claimed, not checked")]
    shown = [f"{one.view} {one.gap / one.value:.1e}" for one in found.views or ()]
    facts = (
        [("views", f"bounds confirmed from their dual vectors; gaps, as shares: {', '.join(shown)}")] if shown else []
    )
    if found.error is not None and found.recomputed_lower_bound is not None:
        facts.append(("error", f"{found.error:.10g} / n, computed again from the integers"))
        bound = f"{text_below(found.recomputed_lower_bound, 10)} / n for any mechanism of whole records"
        facts.append(("lower bound", f"{bound}, computed again from the file"))
    return facts


@dataclass(frozen=True)
class Asked:
    """The columns of a file that a command is asked to read: of one column, or of whole records."""

    path: str
    column: str | None
    report_names: str | None
    header: bool
    show_values: bool

    def of(self, mechanism: Deployed, path: str | os.PathLike[str], *, of_reports: bool = False) -> RecordFile:
        """Return the file of records that the mechanism reports about, or that of its reports."""
        compound = getattr(mechanism, "compound", ())
        if compound and self.column is None and self.report_names is None:
            from mechdesign.deploy.compound_file import CompoundFile

            return CompoundFile.of(path, compound, header=self.header, show_values=self.show_values)
        if compound:
            raise click.UsageError(f"--column: the table publishes {', '.join(compound)} together; leave it out")
        if mechanism.kind != "records":
            if self.column is None or self.report_names is not None:
                raise click.UsageError(
                    "--report-columns is for views of whole records; this mechanism needs --column, the column that "
                    "it reports"
                )
            return RecordFile(path, self.column, header=self.header, show_values=self.show_values)
        if self.column is not None:
            raise click.UsageError("--column: the views say which columns they show; leave it out")
        from mechdesign.records.record_files import WholeRecordFile

        whole: Any = mechanism
        names = (self.report_names or _NAMES).split(",")
        columns = names if of_reports else whole.attributes
        return WholeRecordFile.of(path, columns, names, header=self.header, show_values=self.show_values)


def asked_columns(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its options about the columns of FILE as one object, named ``asked``."""

    def wrapped(*, file: str, column: str | None, report_names: str | None, no_header: bool, **values: Any) -> Any:
        shown = values.pop("show_values")
        return command(asked=Asked(file, column, report_names, header=not no_header, show_values=shown), **values)

    return decorated(wrapped, command)


def report_names_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option ``--report-columns``."""
    return click.option(
        "--report-columns",
        "report_names",
        metavar="VIEW,REPORT",
        help=f"For views of whole records: the names of the two columns of reports. [default: {_NAMES}]",
    )(command)


side_data_option = click.option(
    "--data",
    metavar="FILE",
    help="For views of whole records: records with all columns, from which follows what is told to those who know one.",
)


class KnownLeakage(Printed):
    """What reports of a view tell somebody who knows an attribute, for the value of it for which they tell most."""

    view: Text
    known: Text
    value: Text
    leakage: Number


def facts_of_means(found: RecordDesign) -> Iterator[tuple[str, str]]:
    """Yield the means that stand beside shares, and so may take nearly all reports, with what changes that."""
    means = [isinstance(view.workload, Workload) and isinstance(view.workload.kind, Mean) for view in found.views]
    for view, share, is_mean in zip(found.views, found.mechanism.shares, means, strict=True):
        if is_mean and not all(means):
            words = f"its squared error is in squared units of {view.name}, beside errors of shares; so its view gets"
            fewer = f"--value {view.name}=NUMBER below {view.value:g} gives it fewer"
            yield f"mean {view.name}", f"{words} {100 * share:.3g} % of the reports. {fewer}"
