"""A comparison as a table: in plain text, as HTML, as a frame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mechdesign.comparison.row import Compared, missed_in_words
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import Above, Below, table
from mechdesign.display.text import aligned
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.words import promise

if TYPE_CHECKING:
    from mechdesign.comparison.comparison import Comparison


def promised(comparison: Comparison) -> Guarantee:
    """Return what all mechanisms of a comparison promise but those that the user gave."""
    problem = comparison.design.problem
    return Guarantee(problem.sides, problem.uncertainty)


def broken_in_words(comparison: Comparison) -> str:
    """Return what the marks of `Compared.leakage_in_words` mean that mechanisms have; empty if none has one."""
    rows, sides = comparison.rows, promised(comparison).sides.in_words
    marks = [] if all(row.keeps for row in rows) else [f"* does not keep {sides}"]
    missed = max(row.missed for row in rows if row.keeps)
    return "; ".join([*marks, *([f"~ {sides} is {missed_in_words(missed)}"] if missed else [])])


def share_of(comparison: Comparison, row: Compared) -> float | None:
    """Return the share of the design's utility, or for errors how many times the respondents a mechanism needs.

    None where it is not computed, or the design's utility is 0.
    """
    if row.value is None:
        return None
    if comparison.of_errors:
        return comparison.respondents(row.value)
    return row.value / comparison.design.value if comparison.design.value > 0 else None


def frame_of(comparison: Comparison, library: str | None) -> Any:
    """Return a comparison as a frame."""
    rows = comparison.rows
    columns: dict[str, list[Any]] = {
        "value": [row.value for row in rows],
        "bound": [row.bound for row in rows],
        "certified": [row.certified for row in rows],
        "respondents" if comparison.of_errors else "share": [share_of(comparison, row) for row in rows],
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
    known = promised(comparison)
    size = known.uncertainty.size
    head = f"Comparison of {what_is_compared(comparison)}, {known.sides.in_words}, {size} categories"
    cells = [[f"  {row.name}", row.value_in_words, *_notes(comparison, row)] for row in comparison.rows]
    return "\n".join([head, *aligned(cells), *filter(None, [broken_in_words(comparison)])])


def _notes(comparison: Comparison, row: Compared) -> list[str]:
    number = share_of(comparison, row)
    if number is None:
        text = ""
    elif not comparison.of_errors:
        text = f"{number:.1%}"
    else:
        text = f"{number:.3g} x respondents" if math.isfinite(number) else "no number is enough"
    if row.leakage is not None:
        return [text, f"leaks {row.leakage_in_words}"]
    return [text, {None: "", True: "certified", False: "NOT certified"}[row.certified]]


def html_of(comparison: Comparison) -> str:
    """Return a comparison as HTML."""
    caption = f"{what_is_compared(comparison)}; the design: {promise(promised(comparison))}"
    outward = Below if comparison.design.problem.utility.minimised else Above
    rows: list[list[Any]] = [
        [
            row.name,
            row.missing or row.value,
            None if row.bound is None else outward(row.bound),
            row.certified,
            share_of(comparison, row),
            row.leakage_in_words,
        ]
        for row in comparison.rows
    ]
    share = "times the respondents" if comparison.of_errors else "of the design's"
    names = ["mechanism", "value", "bound", "certified", share]
    if comparison.others:
        names.append("leakage, nats")
        caption = "; ".join(filter(None, [caption, broken_in_words(comparison)]))
    return table(names, [row[: len(names)] for row in rows], caption)
