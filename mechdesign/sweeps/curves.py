"""From the rows of a sweep to curves of values over epsilon."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mechdesign.errors import InputError
from mechdesign.plot.sweep import MOST_PANELS, Line, Panel

if TYPE_CHECKING:
    from mechdesign.sweeps.result import SweepRow

_BASELINES: tuple[tuple[str, Callable[[SweepRow], float | None]], ...] = (
    ("best LDP mechanism", lambda row: None if row.best_ldp is None else row.best_ldp.value),
    ("randomized response", lambda row: None if row.values is None else row.values.randomized_response),
    ("subset selection", lambda row: None if row.values is None else row.values.subset_selection),
)


def panels_of(rows: Iterable[SweepRow]) -> list[Panel]:
    """Return a panel for each prior and utility: a line for each set of priors around it, and one for each baseline.

    Raises
    ------
    InputError
        If no row has a value, or there are too many panels to be read.
    """
    groups: dict[tuple[object, ...], list[SweepRow]] = {}
    for row in rows:
        if row.solved is not None:
            known, utility = row.problem.uncertainty, row.problem.utility
            about = (utility.name, json.dumps(utility.workload_table()), str(utility.matrix_as_text()))
            groups.setdefault((row.source, known.labels, known.center, *about), []).append(row)
    if not groups:
        raise InputError("no problem of the sweep has a value; there is nothing to draw")
    if len(groups) > MOST_PANELS:
        raise InputError(
            f"{len(groups)} sources and utilities would take as many panels; at most {MOST_PANELS} are drawn: give "
            "fewer, or draw from to_frame()"
        )
    return [_panel(of) for of in groups.values()]


def _panel(rows: Sequence[SweepRow]) -> Panel:
    problem, facts = rows[0].problem, [_facts(row) for row in rows]
    varied = [name for name in facts[0] if len({told[name] for told in facts}) > 1]
    designs: dict[str, list[SweepRow]] = {}
    for row, told in zip(rows, facts, strict=True):
        designs.setdefault(", ".join(filter(None, (told[name] for name in varied))), []).append(row)
    lines = [_line(f"best design{f', {label}' if label else ''}", of) for label, of in designs.items()]
    for name, value_of in _BASELINES:
        points = sorted({(_epsilon(row), value) for row in rows if (value := value_of(row)) is not None})
        finite = [(x, y) for x, y in points if math.isfinite(y)]
        if finite:
            lines.append(Line(name, [x for x, _ in finite], [y for _, y in finite], baseline=True))
    unit = problem.utility.unit
    return Panel(
        title=rows[0].source or f"{problem.uncertainty.size} symbols",
        facts=", ".join(text for name, text in facts[0].items() if name not in varied and text),
        ylabel=problem.utility.name + ("" if unit == "1" else f" ({unit})"),
        lines=tuple(lines),
    )


def _line(label: str, rows: Sequence[SweepRow]) -> Line:
    points = sorted((_epsilon(row), row.solved.value, row.solved.bound) for row in rows if row.solved is not None)
    return Line(label, [x for x, _, _ in points], [y for _, y, _ in points], [bound for _, _, bound in points])


def _epsilon(row: SweepRow) -> float:
    return float(row.problem.epsilon)


def _facts(row: SweepRow) -> dict[str, str]:
    """Return in words what a line of designs may differ in from another one."""
    problem, cells = row.problem, row.cells()
    delta, radius, samples = cells["delta"], cells["radius"], cells["samples"]
    size = "" if radius is None else "known prior" if radius == 0 else f"radius {radius:.3g}"
    return {
        "set": problem.uncertainty.kind,
        "size": size if delta is None else f"delta {delta:.3g}",
        "samples": "" if samples is None or delta is None else f"n = {samples:,}",
        "lower": "" if problem.lower is None else f"lower {float(problem.lower):.3g}",
    }
