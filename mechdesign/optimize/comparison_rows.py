"""What a comparison compares, as rows: one for each mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import Above, Below, table
from mechdesign.display.text import aligned, text_above
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.words import promise
from mechdesign.optimize.beside import missed_in_words

if TYPE_CHECKING:
    from mechdesign.optimize.comparison import Comparison
    from mechdesign.optimize.result import Design


@dataclass(frozen=True)
class Compared:
    """A mechanism of a comparison.

    Attributes
    ----------
    name : str
        The mechanism in words.
    value : float or None
        Its utility or error, infinite where reports do not determine every answer; None if it is not computed.
    bound : float or None
        The certified bound, for a mechanism that is found by a search.
    certified : bool or None
        Whether value and bound are as near as was asked for; None for a mechanism that claims nothing.
    missing : str
        Why it is not computed; empty if it is.
    leakage : float or None
        Of a mechanism that the user gave, over the priors of the promise, in nats, rounded up; None for the others,
        which keep the promise.
    keeps : bool
        Whether it keeps the promise, up to the errors of floats.
    missed : float
        By how many nats it misses the promise, rounded up; 0 if it keeps the promise exactly.
    """

    name: str
    value: float | None
    bound: float | None = None
    certified: bool | None = None
    missing: str = ""
    leakage: float | None = None
    keeps: bool = True
    missed: float = 0.0

    @property
    def told(self) -> str:
        """The value to six digits, or in words."""
        if self.value is None:
            return "not computed"
        return f"{self.value:.6g}" if math.isfinite(self.value) else "infinite"


def rows_of(comparison: Comparison) -> tuple[Compared, ...]:
    """Return what is compared: the design first, then the others."""
    design, errors, estimate = comparison.design, comparison.errors, comparison.estimate
    rows = [Compared("this design", design.value, design.bound, design.certified)]
    if comparison.value != design.value:
        rows.insert(0, Compared("the mechanism compared", comparison.value))
    if estimate is not None:
        rows.append(Compared("best for the estimate, same guarantee", estimate.least, missing=estimate.missing))
    rows.append(_of_design("best LDP mechanism", comparison.best_ldp, comparison.best_ldp_missing))
    if errors is not None:
        subsets = errors.subset_selection
        name = "subset selection" if subsets is None else subsets.name
        value = None if subsets is None else subsets.value
        rows.append(Compared(f"{name} (LDP)", value, missing=errors.subset_selection_missing))
    local = "k-ary randomized response" + ("" if errors is None else " (LDP)")
    rows.append(Compared(local, comparison.k_ary_randomized_response))
    if errors is not None:
        name = "best for mutual information, same guarantee"
        rows.append(Compared(name, errors.best_for_information_error, missing=errors.best_for_information_missing))
    rows += [
        Compared(other.name, other.value, leakage=other.leakage, keeps=other.keeps, missed=other.missed)
        for other in comparison.others
    ]
    return tuple(rows)


def leakage_in_words(row: Compared) -> str:
    """Return what a mechanism that the user gave leaks, with a mark where it misses the promise; empty for others.

    Examples
    --------
    >>> leakage_in_words(Compared("theirs", 0.5, leakage=1.25, keeps=False))
    '1.25 *'
    """
    if row.leakage is None:
        return ""
    told = text_above(row.leakage, 6)
    if not row.keeps:
        return f"{told} *"
    return f"{told} ~" if row.missed else told


def broken_in_words(comparison: Comparison) -> str:
    """Return what the marks of `leakage_in_words` mean that mechanisms have; empty if none has one."""
    problem, rows = comparison.design.problem, rows_of(comparison)
    sides = Guarantee(problem.epsilon, problem.uncertainty, problem.lower).sides_in_words
    told = [] if all(row.keeps for row in rows) else [f"* does not keep {sides}"]
    missed = max(row.missed for row in rows if row.keeps)
    return "; ".join([*told, *([f"~ {sides} is {missed_in_words(missed)}"] if missed else [])])


def _of_design(name: str, found: Design | None, missing: str) -> Compared:
    if found is None:
        return Compared(name, None, missing=missing)
    return Compared(name, found.value, found.bound, found.certified)


def beside(comparison: Comparison, row: Compared) -> float | None:
    """Return the share of the design's utility, or for errors how many times the respondents a mechanism needs.

    None where it is not computed, or the design's utility is 0.
    """
    if row.value is None:
        return None
    if comparison.errors is not None:
        return comparison.respondents(row.value)
    return row.value / comparison.design.value if comparison.design.value > 0 else None


def beside_name(comparison: Comparison) -> str:
    """Return the name of the column of `beside`."""
    return "share" if comparison.errors is None else "respondents"


def frame_of(comparison: Comparison, library: str | None) -> Any:
    """Return a comparison as a frame."""
    rows = rows_of(comparison)
    columns: dict[str, list[Any]] = {
        "value": [row.value for row in rows],
        "bound": [row.bound for row in rows],
        "certified": [row.certified for row in rows],
        beside_name(comparison): [beside(comparison, row) for row in rows],
    }
    if comparison.others:
        columns |= {name: [getattr(row, name) for row in rows] for name in ("leakage", "keeps", "missed")}
    return labelled_frame("mechanism", [row.name for row in rows], columns, library)


def what_is_compared(comparison: Comparison) -> str:
    """Return the objective and its unit: ``mutual-information in nats``."""
    name, unit = comparison.design.problem.utility.name, comparison.design.unit
    return name if unit == "1" else f"{name} in {unit}"


def text_of(comparison: Comparison) -> str:
    """Return a comparison as a short table in plain text."""
    problem = comparison.design.problem
    sides = Guarantee(problem.epsilon, problem.uncertainty, problem.lower).sides_in_words
    head = f"Comparison of {what_is_compared(comparison)}, {sides}, {problem.uncertainty.size} symbols"
    cells = [[f"  {row.name}", row.told, *_notes(comparison, row)] for row in rows_of(comparison)]
    return "\n".join([head, *aligned(cells), *filter(None, [broken_in_words(comparison)])])


def _notes(comparison: Comparison, row: Compared) -> list[str]:
    number = beside(comparison, row)
    if number is None:
        told = ""
    elif comparison.errors is None:
        told = f"{number:.1%}"
    else:
        told = f"{number:.3g} x respondents" if math.isfinite(number) else "no number is enough"
    leaks = leakage_in_words(row)
    if leaks:
        return [told, f"leaks {leaks}"]
    return [told, {None: "", True: "certified", False: "NOT certified"}[row.certified]]


def html_of(comparison: Comparison) -> str:
    """Return a comparison as HTML."""
    problem = comparison.design.problem
    told = promise(Guarantee(problem.epsilon, problem.uncertainty, problem.lower))
    caption = f"{what_is_compared(comparison)}; the design: {told}"
    share = "of the design's" if comparison.errors is None else "times the respondents"
    outward = Below if problem.utility.minimised else Above
    rows = [
        [
            row.name,
            row.missing or row.value,
            None if row.bound is None else outward(row.bound),
            row.certified,
            beside(comparison, row),
        ]
        for row in rows_of(comparison)
    ]
    names = ["mechanism", "value", "bound", "certified", share]
    if comparison.others:
        names.append("leakage, nats")
        caption = "; ".join(filter(None, [caption, broken_in_words(comparison)]))
        rows = [[*row, leakage_in_words(one)] for row, one in zip(rows, rows_of(comparison), strict=True)]
    return table(names, rows, caption)
