"""What a sweep returns: a row for each problem, as a tidy table, and its curves of values over epsilon."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mechdesign.data.files import accepted_ending, written_atomically
from mechdesign.display.frames import frame
from mechdesign.display.html import table
from mechdesign.errors import InputError, printable
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import from_json, read_content
from mechdesign.plot.value_curves import MOST_PANELS, Line, Panel
from mechdesign.problem import DesignProblem
from mechdesign.sweeps.design_tasks import Solved, Values
from mechdesign.sweeps.row_inputs import RefusedPoint, name_of, problem_cells

_BASELINES: tuple[tuple[str, Callable[[SweepRow], float | None]], ...] = (
    ("best LDP mechanism", lambda row: None if row.best_ldp is None else row.best_ldp.value),
    ("randomized response", lambda row: None if row.values is None else row.values.randomized_response),
    ("subset selection", lambda row: None if row.values is None else row.values.subset_selection),
)
ENDINGS = (".parquet", ".csv")
_OF_DESIGNS = (
    "value",
    "bound",
    "gap",
    "tol",
    "certified",
    "stopped",
    "seconds",
    "leakage",
    "lower_leakage",
    "outputs",
    "method",
)
_INPUTS = ("source", "utility", "set", "samples", "delta", "radius", "lower", "cap", "epsilon")
_COMPARED = ("best_ldp", "randomized_response", "subset_selection")
COLUMNS = {  # of the table, with their types in Parquet
    "source": "string",
    "set": "string",
    "symbols": "int64",
    "epsilon": "float64",
    "lower": "float64",
    "cap": "float64",
    "delta": "float64",
    "radius": "float64",
    "samples": "int64",
    "utility": "string",
    "workload": "string",
    "unit": "string",
    **dict.fromkeys(("value", "bound", "gap", "tol"), "float64"),
    "certified": "bool",
    "stopped": "string",
    **dict.fromkeys(("seconds", "leakage", "lower_leakage"), "float64"),
    "outputs": "int64",
    "method": "string",
    "failure": "string",
    "randomized_response": "float64",
    "best_ldp": "float64",
    "best_ldp_bound": "float64",
    "best_ldp_certified": "bool",
    "subset_selection": "float64",
    "baselines_missing": "string",
    "mechanism": "string",
    "fingerprint": "string",
    "key": "string",
}


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
        raise InputError.nothing_given("no problem of the sweep has a value; there is nothing to draw")
    if len(groups) > MOST_PANELS:
        raise InputError.too_many_given(
            f"{len(groups)} sources and utilities would take as many panels; at most {MOST_PANELS} are drawn: give "
            "fewer, or draw from to_frame()"
        )
    return [_panel(of) for of in groups.values()]


def _panel(rows: Sequence[SweepRow]) -> Panel:
    problem, facts = rows[0].problem, [_facts(row) for row in rows]
    varied = [name for name in facts[0] if len({values[name] for values in facts}) > 1]
    designs: dict[str, list[SweepRow]] = {}
    for row, values in zip(rows, facts, strict=True):
        designs.setdefault(", ".join(filter(None, (values[name] for name in varied))), []).append(row)
    lines = [_line(f"best design{f', {label}' if label else ''}", of) for label, of in designs.items()]
    for name, value_of in _BASELINES:
        points = sorted({(_epsilon(row), value) for row in rows if (value := value_of(row)) is not None})
        finite = [(x, y) for x, y in points if math.isfinite(y)]
        if finite:
            lines.append(Line(name, [x for x, _ in finite], [y for _, y in finite], baseline=True))
    unit = problem.utility.unit
    return Panel(
        title=rows[0].source or f"{problem.uncertainty.size} categories",
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
        "below": "" if problem.sides.below is None else f"{problem.sides.below_name} {float(problem.sides.below):.3g}",
    }


@dataclass(frozen=True, eq=False)
class SweepRow:
    """One problem of a sweep, and what became of it.

    Attributes
    ----------
    source : str
        Where its prior is from; empty if it is not known.
    given : DesignProblem or RefusedPoint
        The problem, or a point of the grid of a file whose values cannot be a problem.
    key : str
        What its design is found by: rows with the same key share a design. Empty for a point that is no problem.
    solved : Solved or None
        Its design; None if there is none.
    failure : str
        The reason why there is none; empty if there is one.
    best_ldp : Solved or None
        The best mechanism under local differential privacy with the same epsilon, if it is wanted and could be found.
    values : Values or None
        The values of randomized response and of subset selection, if they are wanted.
    baselines_missing : str
        The reasons why baselines are missing that are wanted; empty if none is.
    file : str or None
        The mechanism file, as a path within the folder of results; None without one.
    folder : str or None
        The folder of results.
    """

    source: str
    given: DesignProblem | RefusedPoint
    key: str
    solved: Solved | None
    failure: str = ""
    best_ldp: Solved | None = None
    values: Values | None = None
    baselines_missing: str = ""
    file: str | None = None
    folder: str | None = field(default=None, repr=False)

    @property
    def problem(self) -> DesignProblem:
        """The problem.

        Raises
        ------
        InputError
            With the reason, for a point of a grid that cannot be a problem.
        """
        if isinstance(self.given, RefusedPoint):
            raise InputError.point_refused(f"{self.name} cannot be a problem: {self.given.reason}")
        return self.given

    @property
    def name(self) -> str:
        """The source and epsilon, for messages."""
        return name_of(self.source, self.given.epsilon)

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism, proved again where it is read from its file; None if there is no design.

        Raises
        ------
        InputError
            If the file was changed after the sweep, or is gone.
        """
        if self.solved is None or self.file is None or self.folder is None:
            return None if self.solved is None else self.solved.mechanism
        path = Path(self.folder, self.file)
        content = read_content(path)
        if hashlib.sha256(content).hexdigest() != path.stem:
            raise InputError.damaged_file(
                f"{printable(str(path))} was changed after it was written; run the sweep again"
            )
        return Mechanism(*from_json(content, printable(str(path))))

    def cells(self) -> dict[str, Any]:
        """Return the row of the table: a value for each of the columns that `SweepResult.columns` names."""
        solved, best, values = self.solved, self.best_ldp, self.values
        given = self.given
        return {
            **(given.cells if isinstance(given, RefusedPoint) else problem_cells(self.source, given)),
            **{name: None if solved is None else getattr(solved, name) for name in _OF_DESIGNS},
            "failure": self.failure or None,
            "randomized_response": None if values is None else values.randomized_response,
            "best_ldp": None if best is None else best.value,
            "best_ldp_bound": None if best is None else best.bound,
            "best_ldp_certified": None if best is None else best.certified,
            "subset_selection": None if values is None else values.subset_selection,
            "baselines_missing": self.baselines_missing or None,
            "mechanism": self.file,
            "fingerprint": None if solved is None else solved.fingerprint,
            "key": self.key or None,
        }


@dataclass(frozen=True, eq=False)
class SweepResult:
    """The rows of a sweep, in the order of its problems.

    Attributes
    ----------
    rows : tuple of SweepRow
        One for each problem.
    notes : tuple of str
        What happened that a person should know: files that did not prove, and problems that no file can hold.
    solved, reused : int
        How many distinct designs were solved, and how many were taken from earlier sweeps and proved again; those of
        baselines included.
    """

    rows: tuple[SweepRow, ...]
    notes: tuple[str, ...] = ()
    solved: int = 0
    reused: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SweepRow]:
        return iter(self.rows)

    def __getitem__(self, index: int) -> SweepRow:
        return self.rows[index]

    def __repr__(self) -> str:
        certified = sum(row.solved is not None and row.solved.certified for row in self.rows)
        return (
            f"SweepResult({len(self.rows)} problems, {certified} certified, {len(self.failures)} failed; "
            f"{self.solved} designs solved, {self.reused} reused)"
        )

    @property
    def failures(self) -> tuple[SweepRow, ...]:
        """The rows without a design."""
        return tuple(row for row in self.rows if row.solved is None)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as named columns; None is a missing value.

        Examples
        --------
        >>> import mechdesign as md
        >>> ball = md.L1Ball([0.5, 0.3, 0.2])
        >>> found = md.sweep([md.DesignProblem(ball, epsilon) for epsilon in ("0.5", "1")])
        >>> found.columns()["epsilon"], found.columns()["certified"]
        ([0.5, 1.0], [True, True])
        """
        cells = [row.cells() for row in self.rows]
        return {name: [row[name] for row in cells] for name in COLUMNS}

    def summary(self) -> dict[str, list[Any]]:
        """Return what a person looks at first: inputs in which rows differ, values, and what stands beside them.

        Examples
        --------
        >>> import mechdesign as md
        >>> ball = md.L1Ball([0.5, 0.3, 0.2])
        >>> list(md.sweep([md.DesignProblem(ball, 1)], baselines=["best-ldp"]).summary())
        ['epsilon', 'value', 'best_ldp']
        """
        columns = self.columns()
        names = [name for name in _INPUTS if len(set(columns[name])) > 1 or name == "epsilon"]
        if {"delta", "radius"} <= set(names):
            names.remove("radius")  # which follows from it
        names += ["value", *(name for name in _COMPARED if any(value is not None for value in columns[name]))]
        names += [] if all(columns["certified"]) else ["certified"]
        return {name: columns[name] for name in names}

    def _repr_html_(self) -> str:
        summary = self.summary()
        return table(list(summary), list(zip(*summary.values(), strict=True)), repr(self))

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a frame of pandas or polars, a row for each problem.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.
        """
        return frame(self.columns(), library)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet or CSV, by the ending of the name.

        Raises
        ------
        InputError
            For another ending, or a file that cannot be written.
        """
        import pyarrow as pa
        import pyarrow.csv as pa_csv
        import pyarrow.parquet as pq

        ending = accepted_ending(path, ENDINGS)
        content = pa.table(
            self.columns(), schema=pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
        )
        with written_atomically(path) as file:
            if ending == ".csv":
                pa_csv.write_csv(content, file)
            else:
                pq.write_table(content, file)

    def plot(self, axes: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Draw values over epsilon: axes for each source and utility, and in them a line for each baseline.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            As many as there are sources and utilities; by default those of a new figure, ``axes[0].figure``.

        Returns
        -------
        tuple of matplotlib Axes

        Raises
        ------
        InputError
            If no row has a value, or for another number of axes.
        """
        from mechdesign.plot.value_curves import draw

        return draw(panels_of(self.rows), axes)
