"""``mechdesign audit`` for views of whole records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mechdesign.cli import places
from mechdesign.cli.audit import OutsideCell, outside_cells
from mechdesign.cli.json_output import Output, Printed, Text, Whole, print_output
from mechdesign.cli.mechanism_kinds import load_mechanism
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import RecordsPromised
from mechdesign.cli.streams import print_error
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.data.fields import Number
from mechdesign.display.numbers import counted, near, text_below
from mechdesign.display.text import some
from mechdesign.errors import GuaranteeError

if TYPE_CHECKING:
    from mechdesign.records.record_audit import RecordAudit

_SHOWN = 3


class AuditedView(Printed):
    """The reports of a view: how often it was drawn, with limits of its share, and what they show."""

    name: Text
    reports: Whole
    share: Number
    lower: Number
    upper: Number
    lower_bound: Number
    output: str | None
    input: str | None
    outside: Sequence[OutsideCell]


class DependentDraw(Printed):
    """A view that is not drawn by its weight for some record."""

    view: Text
    record: Text


class RecordAuditOutput(RecordsPromised, Output):
    """`mechdesign audit`, of views of whole records."""

    carries = "mechdesign/audit/1"

    consistent: bool
    lower_bound: Number
    reports: Whole
    failure: Number
    audited: Sequence[AuditedView]
    dependent: Sequence[DependentDraw]


def audit_views(*, file: str, samples: int, failure: str, as_json: bool, **_: object) -> int:
    """Audit the sampler of whole records, and print what its reports show."""
    from mechdesign.records.record_audit import audit_records

    refuse_others({"file", "samples", "failure", "as_json"}, "views of whole records")
    places.check([], [file], as_json=as_json)
    with Progress() as progress:
        mechanism: Any = load_mechanism(file, progress)
        found = audit_records(mechanism, samples, failure=failure, progress=progress)
    message = "the reports do not fit the mechanism; its sampler or its randomness is broken"
    error = None if found.consistent else GuaranteeError.sampler_wrong(message)
    if as_json:
        print_output(_output(mechanism, found), error)
    else:
        print_facts([("file", file), *mechanism.facts(of_report=True), *_facts(mechanism, found)])
    return print_error(error)


def _output(mechanism: Any, found: RecordAudit) -> RecordAuditOutput:
    limits = zip(found.drawn, found.shares.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
    audited = [
        AuditedView.built_from(
            audit,
            name=name,
            **dict(zip(("reports", "share", "lower", "upper"), drawn, strict=True)),
            outside=outside_cells(mechanism.part(name).mechanism, audit),
        )
        for (name, audit), drawn in zip(found.views, limits, strict=True)
    ]
    return RecordAuditOutput(
        consistent=found.consistent,
        lower_bound=found.worst[1].lower_bound,
        reports=found.reports,
        failure=found.failure,
        audited=audited,
        dependent=[DependentDraw(view=view, record=record) for view, record in found.dependent],
        **mechanism.promised_keys(),
    )


def _facts(mechanism: Any, found: RecordAudit) -> list[tuple[str, str]]:
    name, worst = found.worst
    shown = f"at least {text_below(worst.lower_bound, 6)} nats, by the view {name}"
    facts = [
        ("reports", f"{found.reports:,}, of records that show every category of each view"),
        ("leakage shown", f"{shown} (failure probability {found.failure:g})"),
    ]
    limits = zip(found.views, found.drawn, found.shares, found.lower, found.upper, strict=True)
    for (view, audit), reports, share, low, high in limits:
        outside = outside_cells(mechanism.part(view).mechanism, audit)
        drawn = "drawn by its weight" if low <= share <= high else f"NOT drawn by its weight, {near(share, 4)}"
        cells = f"{audit.counts.size - len(outside)} of {audit.counts.size} probabilities within their limits"
        facts.append(
            (f"view {view}", f"{reports:,} reports, {drawn}; at least {near(audit.lower_bound)} nats; {cells}")
        )
    if found.dependent:
        listed = some([f"{view} for {record}" for view, record in found.dependent], _SHOWN)
        facts.append(
            ("NOT by weight", f"{counted(len(found.dependent), 'view of a record', 'views of records')}: {listed}")
        )
    fit = "the reports fit what is proved; this does not prove privacy (see mechdesign verify)"
    facts.append(("verdict", fit if found.consistent else "the reports do NOT fit the mechanism"))
    return facts
