"""``mechdesign report`` for views of whole records: a page for readers who are not mathematicians."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mechdesign.cli import places
from mechdesign.cli.json_output import print_output
from mechdesign.cli.mechanism_kinds import MOST_BYTES
from mechdesign.cli.output import print_facts
from mechdesign.cli.progress import Progress
from mechdesign.cli.record_output import RecordsChecked, check_records
from mechdesign.cli.record_reading import read_side_data
from mechdesign.cli.report import ReportOutput
from mechdesign.cli.windows_sample import refuse_others
from mechdesign.data.files import write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.display.numbers import up
from mechdesign.errors import printable
from mechdesign.histogram.record import float_of_delta
from mechdesign.report import Origin
from mechdesign.report.precision import margin
from mechdesign.report.rendering import page

if TYPE_CHECKING:
    from mechdesign.records import RecordMechanism
    from mechdesign.records.record_analysis import RecordAnalysis
    from mechdesign.records.record_promise import RecordPromise

_REPORTS = (10_000, 100_000, 1_000_000)
_ROWS, _SIDE_ROWS, _HELD = 60, 12, 12


@dataclass(frozen=True)
class PageView:
    """A view as a page shows it: how often it is drawn, its size, leakage and set, and half its intervals."""

    name: str
    share: float
    values: str
    outputs: int
    leakage: float
    priors: str
    samples: int | None
    margins: tuple[float, ...]


def report_views(
    *,
    file: str,
    output: str,
    no_compare: bool,
    guarantee_only: bool,
    data: str | None,
    title: str,
    as_json: bool,
    **_: object,
) -> int:
    """Prove views of whole records, write the page about them, and say so."""
    from mechdesign.records import RecordMechanism
    from mechdesign.records.record_mechanism_files import from_content

    refuse_others(
        {"file", "output", "no_compare", "guarantee_only", "data", "title", "as_json"}, "views of whole records"
    )
    standard = places.check([output], [file, *([] if data is None else [data])], as_json=as_json)
    with Progress() as progress:
        progress("proving the guarantee in exact arithmetic")
        content = read_bounded(file, MOST_BYTES, "a mechanism file")
        mechanism = from_content(content, printable(file), RecordMechanism)
        records = read_side_data(data, mechanism)
        about: dict[str, Any] = {"compare": not no_compare, "check_optimality": not guarantee_only, "title": title}
        origin = Origin.of(content, file)
        written = records_page(mechanism, origin, records, **about, progress=progress).encode()
    write_atomically(output, written)
    if as_json:
        about = {"kind": "mechanism", "file": file, "sha256": origin.digest, "output": output, "bytes": len(written)}
        print_output(ReportOutput(**about))
        return 0
    facts = [
        ("file", file),
        ("sha256", origin.digest),
        ("page", f"{len(written):,} bytes, about views of whole records"),
    ]
    print_facts([*facts, ("written", "standard output" if standard else output)], err=standard)
    return 0


def records_page(
    mechanism: RecordMechanism,
    origin: Origin,
    records: Any = None,
    *,
    compare: bool = True,
    check_optimality: bool = True,
    title: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> str:
    """Return a page about proved views: one HTML file that fetches nothing.

    Parameters
    ----------
    mechanism : RecordMechanism
    origin : Origin
        The file that it was read from.
    records : frame, table or mapping of columns, optional
        From which follows what reports tell those who know an attribute of the person.
    compare : bool
        Whether ways under local differential privacy stand beside it.
    check_optimality : bool
        Whether the claims of optimality are checked; the page otherwise says nothing of them.
    title : str
        The heading.
    progress : callable
        Called with one line at each step.

    Raises
    ------
    GuaranteeError
        If a claim is false, or no joint law has the tables of the views.
    """
    from mechdesign.records.record_analysis import analyze_records

    checked = check_records(mechanism, progress, claims=check_optimality)
    progress("computing errors")
    found = analyze_records(mechanism, records)
    return page(
        "records.html",
        title=title or "Reports about whole records",
        mechanism=mechanism,
        views=_views(found),
        rows=_ROWS,
        secret=mechanism.secret,
        told=_told(mechanism),
        merged=[_merged(mechanism, name, count) for name, count in mechanism.merged.items()],
        bins={name: bins.labels for name, bins in mechanism.bins.items()},
        side=[(each, math.exp(min(each.leakage, 700.0))) for each in found.side[:_SIDE_ROWS]],
        sides=len(found.side),
        overlap=len(mechanism.alphabets) < sum(len(part.attributes) for part in mechanism.listed),
        shared=checked.shared_tables,
        differ=[table.differ for table in checked.shared_tables if table.differ is not None],
        found=found,
        claim=_claim(checked),
        claims_checked=check_optimality,
        rivals=found.rivals if compare else (),
        numbers=_REPORTS,
        origin=origin,
        **_promise(mechanism.guarantee),
    )


def _promise(promise: RecordPromise) -> dict[str, Any]:
    """Return what the page says of the promise."""
    factor, lower, delta = promise.epsilon.exp_up, promise.lower, promise.delta
    return {
        "everyone": promise.holds_every_prior,
        "factor": factor,
        "example": up(100 * min(Fraction(1), factor / 100), 3),
        "cap": None if promise.cap is None else float(promise.cap),
        "cap_factor": None if promise.cap is None else promise.cap.exp_up,
        "least_factor": None if lower is None else 1 / lower.exp_up,
        "epsilon": float(promise.epsilon),
        "lower": None if lower is None else float(lower),
        "formal": promise.in_words(),
        "delta": delta,
        "delta_shown": None if delta is None else float_of_delta(delta),
        "asserted": promise.asserts_samples,
    }


def _views(found: RecordAnalysis) -> list[PageView]:
    views = []
    for view in found.views:
        made = view.part.mechanism
        open_to, promise = view.part.is_open, made.guarantee
        samples = (None if promise.delta is None else promise.samples) if open_to else promise.uncertainty.samples
        views.append(
            PageView(
                name=view.part.name,
                share=view.share,
                values="any strings" if open_to else f"{len(made.inputs):,}",
                outputs=len(made.outputs),
                leakage=view.part.leakage,
                priors=made.guarantee.in_words() if open_to else promise.uncertainty.in_words(),
                samples=samples,
                margins=tuple(margin(view.typical / view.share, reports) for reports in _REPORTS),
            )
        )
    return views


def _merged(mechanism: RecordMechanism, name: str, count: int) -> dict[str, Any]:
    """Return what the page says of the category of a view that holds merged combinations."""
    from mechdesign.records.record_words import category_of

    part = mechanism.part(name)
    held = mechanism.in_category(part, _HELD)
    return {"view": name, "category": category_of(part), "count": count, "held": held, "more": count - len(held)}


def _told(mechanism: RecordMechanism) -> float | None:
    """Return what a report tells at most of what its view shows, beside a secret; None where all of it is protected."""
    from mechdesign.records.side_knowledge import leakage_at_reference

    return None if mechanism.secret is None else max(map(leakage_at_reference, mechanism.listed))


def _claim(checked: RecordsChecked) -> Any:
    """Return the checked claim of all views together; None where there is none, or it was not checked."""
    claim = checked.optimality
    return None if claim is None or claim.recomputed_lower_bound is None else claim
