"""A comparison for people and for programs: utilities as shares of the design's, errors in respondents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from mechdesign.cli.estimation_words import undetermined
from mechdesign.cli.json_output import Finite, Printed, Reason, Text, Whole, finite, given
from mechdesign.cli.output import print_table, say
from mechdesign.comparison import CapPrices, Compared, Comparison
from mechdesign.comparison.table import broken_in_words, share_of
from mechdesign.data.fields import Number
from mechdesign.display.numbers import down, text_above, text_below, text_near
from mechdesign.problem import DesignProblem

_DIGITS = 3
_SAME = 1.01  # fewer times fewer respondents than this are not worth a sentence


class OtherMechanism(Printed):
    """A mechanism that was given to a comparison."""

    name: Text
    value: Finite
    leakage: Finite
    lower_leakage: Finite
    keeps: bool | None
    missed: Finite


class BestAtEstimate(Printed):
    """The best mechanism for the estimate, beside that for the least utility."""

    value: Number | None
    value_at_estimate: Number | None
    missing: Reason


class Respondents(Printed):
    """How many times as many respondents mechanisms need for the same error."""

    best_ldp: Finite
    subset_selection: Finite
    k_ary_randomized_response: Finite
    best_for_information: Finite


class CapPrice(Printed):
    """A design with a cap for everyone, and what the cap costs; null stands for the design without a cap."""

    cap: Number | None
    value: Number
    bound: Number
    cost: Finite


class ComparisonTable(Printed):
    """A design beside other mechanisms; null where one has no finite value, or is not computed."""

    value: Number
    k_ary_randomized_response: Finite
    best_ldp: Number | None
    best_ldp_upper_bound: Number | None = None
    best_ldp_lower_bound: Number | None = None
    best_ldp_certified: bool | None
    best_ldp_missing: Reason
    unit: str
    local_epsilon: Number | None = None
    others: Sequence[OtherMechanism] | None = None
    best_at_estimate: BestAtEstimate | None = None
    subset_selection: Number | None = None
    subset_selection_members: Whole | None = None
    subset_selection_missing: Reason = None
    best_for_information: Finite = None
    best_for_information_missing: Reason = None
    respondents: Respondents | None = None
    promise: str | None = None
    equal_local_epsilon: Number | None = None
    caps: Sequence[CapPrice] | None = None


def comparison_keys(comparison: Comparison) -> dict[str, Any]:
    """Return the keys of `ComparisonTable`."""
    problem, rivals = comparison.design.problem, comparison.rivals
    best, at_estimate = rivals["best_ldp"], rivals.get("best_at_estimate")
    keys = {
        "value": comparison.design.value,
        "k_ary_randomized_response": comparison.k_ary_randomized_response,
        "best_ldp": best.value,
        f"best_ldp_{problem.utility.bound_name}": best.bound,
        "best_ldp_certified": best.certified,
        "best_ldp_missing": best.missing,
        "unit": comparison.design.unit,
        **given(
            local_epsilon=None if problem.sides.below is None else float(problem.local_epsilon),
            others=comparison.others or None,
            promise=comparison.promise,
        ),
    }
    if at_estimate is not None:
        beside = None if at_estimate.design is None else at_estimate.design.value
        keys["best_at_estimate"] = BestAtEstimate.built_from(at_estimate, value_at_estimate=beside)
    return keys | _errors(comparison) if comparison.of_errors else keys


def _errors(comparison: Comparison) -> dict[str, Any]:
    """Return the keys of a comparison about estimation errors alone."""
    rivals = comparison.rivals
    subsets, informative = rivals["subset_selection"], rivals["best_for_information"]
    times = {key: None if row.value is None else comparison.respondents(row.value) for key, row in rivals.items()}
    return {
        "subset_selection": subsets.value,
        "subset_selection_members": subsets.members,
        "subset_selection_missing": subsets.missing,
        "best_for_information": informative.value,
        "best_for_information_missing": _missing(informative),
        "respondents": Respondents(**times),
        "promise": comparison.promise,
    }


def cap_rows(prices: CapPrices) -> list[CapPrice]:
    """Return the rows of a table of caps, the design without one last."""
    return [
        CapPrice(
            cap=None if each.problem.cap is None else float(each.problem.cap),
            value=each.value,
            bound=each.bound,
            cost=finite(prices.cost(each)),
        )
        for each in (*prices.designs, prices.without)
    ]


def print_caps(prices: CapPrices, *, err: bool = False) -> None:
    """Print what caps cost."""
    errors = prices.without.problem.utility.minimised
    rows = [
        ["none" if row.cap is None else f"{row.cap:.6g}", text_near(row.value, 6), f"{100 * (row.cost or 0):.3g} %"]
        for row in cap_rows(prices)
    ]
    cost = "more respondents for the same error" if errors else "lost"
    print_table(["cap, nats", "error" if errors else "value", cost], rows, title="With a cap for everyone", err=err)
    say(
        "A cap that is epsilon is local differential privacy; without one nothing is promised outside the set.", err=err
    )


def cap_facts(prices: CapPrices | None) -> list[tuple[str, str]]:
    """Return the fact of a design without a cap: what one would cost."""
    if prices is None:
        return []
    capped, cost = prices.designs[0], max(prices.cost(prices.designs[0]), 0.0)
    more = "more respondents" if prices.without.problem.utility.minimised else "of the value"
    return [("for everyone", f"nothing is promised; --cap {capped.problem.cap} would cost {100 * cost:.2g} % {more}")]


def print_comparison(comparison: Comparison, equal: float | None = None, *, err: bool = False) -> None:
    """Print mechanisms beside each other, with what is compared above them, and the epsilon of LDP with equal error."""
    problem, unit = comparison.design.problem, comparison.design.unit
    names = [
        "mechanism",
        "value" if unit == "1" else f"value ({unit})",
        "respondents for the same error" if comparison.of_errors else "of the design's",
        *(["leakage, nats"] if comparison.others else []),
    ]
    rows = [
        [_named(comparison, row), row.value_in_words, _beside_the_design(comparison, row), row.leakage_in_words][
            : len(names)
        ]
        for row in comparison.rows
    ]
    print_table(names, rows, title=f"{_title(problem)}: {problem.utility.name}", err=err)
    missing = [(row.name.partition(",")[0], _missing(row)) for row in comparison.rivals.values()]
    fewer = _fewer_respondents(comparison) if comparison.of_errors else ""
    lines = [broken_in_words(comparison), *(f"{name}: {why}" for name, why in missing if why), fewer]
    if equal is not None:
        lines.append(f"LDP has the error of this design at epsilon = {equal:g}: equal errors, not equal promises.")
    for line in filter(None, [*lines, comparison.promise]):
        say(line, err=err)


def _title(problem: DesignProblem) -> str:
    """Return the promises that are compared."""
    if problem.sides.below is None:
        return f"At {problem.sides.in_words}"
    return (
        f"At {problem.sides.in_words}, beside local differential privacy with "
        f"{problem.local_epsilon}, which implies both"
    )


def _named(comparison: Comparison, row: Compared) -> str:
    """Return a mechanism in words, with what is proved of it."""
    if row.certified is None:
        return row.name
    if row.certified:
        return f"{row.name} (certified)"
    side = "the least is at least" if comparison.design.problem.utility.minimised else "the greatest is at most"
    rounded = text_below if comparison.design.problem.utility.minimised else text_above
    shown = "" if row.bound is None else rounded(row.bound, 6)
    text = "" if row.key == "design" or row.bound is None else f": {side} {shown}"
    return f"{row.name} (NOT certified{text})"


def _beside_the_design(comparison: Comparison, row: Compared) -> str:
    """Return the share of the design's utility, or for an error how many times as many respondents it takes."""
    number = share_of(comparison, row)
    if number is None or (comparison.of_errors and row.key == "design"):
        return ""
    if not comparison.of_errors:
        return f"{number:.1%}"
    if math.isinf(number):
        return "no number is enough"
    times = f"{number:.3g}"
    return "as many" if times == "1" else f"{times} times as many"


def _missing(row: Compared) -> str:
    """Return why a mechanism has no finite value; empty if it has one."""
    if row.key == "best_for_information" and row.design is not None and finite(row.value) is None:
        return undetermined(row.design.mechanism.matrix)
    return row.missing


def _fewer_respondents(comparison: Comparison) -> str:
    """Return in one sentence how many times fewer respondents the design needs for the same error."""
    subsets, best = comparison.rivals["subset_selection"].value, comparison.rivals["best_ldp"].bound
    errors = [] if subsets is None else [(subsets, "subset selection")]
    if best is not None:
        errors.append((best, f"any LDP mechanism (error at least {text_below(best, 6)}, certified)"))
    times = times_fewer((comparison.respondents(error), others) for error, others in errors)
    return f"The same error from {', and '.join(times)}." if times else ""


def times_fewer(factors: Iterable[tuple[float, str]]) -> list[str]:
    """Return how many times fewer respondents are needed than with others, rounded down, where that is worth a word.

    Examples
    --------
    >>> times_fewer([(5.2, "with theirs"), (1.001, "with another")])
    ['5.20 times fewer respondents than with theirs']
    """
    return [
        f"{down(ratio, _DIGITS, zeros=True)} times fewer respondents than {others}"
        for ratio, others in factors
        if ratio >= _SAME
    ]
