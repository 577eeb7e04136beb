"""A design, as facts for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from mechdesign.cli.estimation_words import error_of_frequencies, estimation_facts, least_error, no_estimates
from mechdesign.cli.json_output import Labels, Printed, Promised, Reason, Whole, given
from mechdesign.cli.output import amount, bound_in_words
from mechdesign.data.fields import Number, all_of, at_most_one, defined
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize import Design
from mechdesign.utility import Objective

_SHOWN_GROUPS, _SHOWN_ALIKE = 6, 8  # of categories that share a row
_NO_LOSS = 1e-9  # relative


class ClosedFormRecord(Printed):
    """The value of a theorem for a problem, beside that of a design."""

    theorem: str
    value: Number
    difference: Number
    optimal: bool


class WorstCaseRecord(Printed):
    """Priors with weights, over which a bound on a least utility holds on average."""

    priors: Sequence[Labels]
    weights: Labels


class _Value(Printed):
    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    gap: Number
    certified: bool
    unit: str
    utility: str
    workload: Annotated[dict[str, Any], defined("workload")] | None = None


class DesignTable(Promised, _Value):
    """A design, without its matrix, which the mechanism file holds."""

    model_config = all_of(at_most_one("upper_bound", "lower_bound"))

    method: str
    iterations: Whole
    columns: Whole
    seconds: Number
    stopped: Reason
    estimation_error: Number | None
    closed_form_bound: Number | None = None
    value_at_estimate: Number | None = None
    worst_case: WorstCaseRecord | None = None
    most_outputs: Whole | None = None
    unrestricted_value: Number | None = None
    merged: Sequence[Labels] | None
    closed_form: ClosedFormRecord | None


def design_keys(design: Design) -> dict[str, Any]:
    """Return the keys of `DesignTable` that are not attributes of the design."""
    utility, mixture = design.problem.utility, design.certificate.mixture
    keys = {
        utility.bound_name: design.bound,
        "utility": utility.name,
        "estimation_error": error_of_frequencies(design),
        "merged": design.merged or None,
        **given(workload=utility.workload_table()),
        **design.mechanism.promised_keys(),
    }
    if utility.estimation is not None:
        keys["closed_form_bound"] = least_error(design.problem)
    if mixture is not None:
        priors = [list(map(str, prior)) for prior in mixture.priors]
        keys["worst_case"] = WorstCaseRecord(priors=priors, weights=list(map(str, mixture.weights)))
        keys["value_at_estimate"] = design.value_at_estimate
    if design.most_outputs is not None:
        keys |= {"most_outputs": design.most_outputs, "unrestricted_value": design.unrestricted_value}
    return keys


def design_facts(design: Design, title: str, objective: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the facts of a design that people read, with a fact about who chose its objective."""
    mechanism, unit, form = design.mechanism, design.unit, design.closed_form
    facts = [
        *no_estimates(design),
        ("problem", title),
        *mechanism.facts(),
        *objective,
        *_queries(design.problem.utility),
        (design.problem.utility.name, amount(design.value, unit)),
        (bound_in_words(design.problem.utility), f"{amount(design.bound, unit)}, {_gap(design)}, {_verdict(design)}"),
    ]
    facts += _worst_case_facts(design)
    if design.most_outputs is not None:
        facts.append(("outputs", _limit_in_words(design)))
    if form is not None:
        claim = "optimal" if form.optimal else "feasible"
        facts.append(
            ("closed form", f"{amount(form.value, unit)} ({claim}: {form.theorem}), difference {form.difference:.1e}")
        )
    facts += estimation_facts(design)
    if design.merged:
        facts.append(("merged", _merged(design)))
    facts.append(("method", f"{design.method}, {design.columns} columns, {design.seconds:.1f} s"))
    return facts


def _worst_case_facts(design: Design) -> list[tuple[str, str]]:
    """Return what people read of a least utility: the utility at the estimate, and why the least may be 0."""
    worst, mixture = design.problem.utility.worst_case, design.certificate.mixture
    if worst is None or mixture is None:
        return []
    facts = [("at the estimate", amount(design.value_at_estimate, design.unit))]
    if worst.utility.polyhedral is None and all(1 in prior for prior in mixture.priors):
        text = (
            "under some prior of the set one category is certain, so that reports inform about nothing: the least is 0 "
            "for every mechanism; this one is the best for the estimate"
        )
        facts.append(("why 0", text))
    return facts


def _limit_in_words(design: Design) -> str:
    """Return what a limit of outputs cost."""
    least, outputs = design.unrestricted_value, design.mechanism.numerators.shape[1]
    loss = 0.0 if least is None else max(0.0, design.value / least - 1)
    text = "as good as" if loss < _NO_LOSS else f"{100 * loss:.2g} % above"
    return f"{outputs} of at most {design.most_outputs}, {text} the least found without the limit"


def _queries(objective: Objective) -> list[tuple[str, str]]:
    """Return what an estimation error is about."""
    return [] if objective.estimation is None else [("queries", objective.estimation.workload.in_words())]


def _gap(design: Design) -> str:
    return f"gap {design.gap:.1e}" + (
        f" ({design.gap / design.value:.2g} of it)" if design.problem.utility.minimised else ""
    )


def _merged(design: Design) -> str:
    """Return which categories share a row, as far as a few lines hold them."""
    groups, inputs = design.merged, len(design.mechanism.inputs)
    rows = inputs - sum(len(group) - 1 for group in groups)
    shown = [_some(group, _SHOWN_ALIKE, ", ") for group in groups]
    text = _some(shown, _SHOWN_GROUPS, "; ", "groups ")
    return (
        f"{inputs} categories share {rows} rows, and reports do not tell categories with the same row apart (--json "
        f"lists them all, --no-merge gives each its own row); the same: {text}"
    )


def _some(items: Sequence[str], most: int, mark: str, what: str = "") -> str:
    """Return items, or the first of them and how many there are besides."""
    left = len(items) - most
    return mark.join(items) if left <= 0 else mark.join(items[:most]) + f" and {left} {what}more"


def _verdict(design: Design) -> str:
    if not design.certified and design.reached:
        return f"for any number of outputs (without the limit: within {design.tol:g} of it)"
    if not design.certified:
        return f"NOT certified at tol {design.tol:g}"
    return "optimal (certified)" if design.tol <= GAP else f"within {design.tol:g} of the optimum (certified)"
