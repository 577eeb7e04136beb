"""Sweep files: a grid of problems in TOML."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictInt

from mechdesign.data.checks import checked_delta
from mechdesign.data.fields import (
    AsTable,
    AsText,
    ByForm,
    ExactNumber,
    Matrix,
    Number,
    Record,
    Text,
    all_of,
    at_most_one,
    checked_record,
    defined,
    needs,
)
from mechdesign.errors import InputError, MechdesignError, printable, shorten
from mechdesign.numerics.epsilon import stated_number
from mechdesign.numerics.exact import printed_up
from mechdesign.problem import DesignProblem
from mechdesign.problem_file import TAKEN_AS_KNOWN, ProblemFile, parsed_toml
from mechdesign.sweeps.row_inputs import RefusedPoint, set_cells, utility_cells
from mechdesign.sweeps.running import BASELINES, ProgressCallback, check_baselines, sweep
from mechdesign.sweeps.sources import LENGTH, Estimate, SourceRecord, Texts, as_list, estimates
from mechdesign.sweeps.sweep_result import SweepResult
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.uncertainty.bounds_of_counts import checked_bound_of_counts
from mechdesign.uncertainty.codec import BoundName, Known
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts, set_from_probabilities
from mechdesign.uncertainty.relative_ball import RelativeBall
from mechdesign.utility import Objective, Workload, utility_by_name

_MOST_BYTES = 64 * 2**20
_MOST_PROBLEMS = 100_000

Numbers = Annotated[
    list[ExactNumber],
    LENGTH,
    BeforeValidator(as_list, json_schema_input_type=ExactNumber | Annotated[list[ExactNumber], LENGTH]),
]
# Of any size: where no set has so many samples, the point is a row with the reason.
Integers = Annotated[
    list[int], LENGTH, BeforeValidator(as_list, json_schema_input_type=int | Annotated[list[int], LENGTH])
]
_Baseline = Annotated[Text, Field(json_schema_extra={"enum": list(BASELINES)})]


class _Utility(Record):
    name: Text
    matrix: Matrix | None = None
    workload: Annotated[dict[str, Any], defined("workload")] | None = None


Utility = Annotated[Annotated[Text, AsText] | Annotated[_Utility, AsTable], ByForm]
Utilities = Annotated[
    list[Utility], LENGTH, BeforeValidator(as_list, json_schema_input_type=Utility | Annotated[list[Utility], LENGTH])
]


class GridRecord(Record):
    """The tables of a sweep file."""

    model_config = all_of(
        at_most_one("delta", "radius", "known"),
        at_most_one("lower", "cap"),
        needs("samples", "delta"),
        needs("bound", "delta"),
    )

    title: Text
    source: Annotated[list[SourceRecord], Field(min_length=1, max_length=10_000)]
    epsilon: Numbers
    lower: Numbers | None = None
    cap: Numbers | None = None
    delta: Numbers | None = None
    radius: Numbers | None = None
    known: Known | None = None
    samples: Integers | None = None
    set: Texts = Field(default=[L1Ball.kind])
    bound: BoundName | None = None
    utility: Utilities = Field(default=["mutual-information"])
    baselines: Annotated[list[_Baseline], Field(max_length=len(BASELINES))] = Field(default_factory=list)
    tol: Number | None = None
    bits: StrictInt = 48
    time_limit: Number | None = None


@dataclass(frozen=True)
class SweepFile:
    """What a sweep file holds.

    Attributes
    ----------
    title : str
        One line.
    points : tuple of ProblemFile or RefusedPoint
        The points of the grid; the title of a problem is the name of its source. A point whose values cannot be a
        problem together stands with the reason.
    baselines : tuple of str
        What designs are compared with.
    tol, bits, time_limit
        As for `mechdesign.design`.
    inputs : tuple of str
        The files that the sources name.
    notes : tuple of str
        What a reader of the file should know, one line each: that it takes counts as known without saying so.
    """

    title: str
    points: tuple[ProblemFile | RefusedPoint, ...]
    baselines: tuple[str, ...] = ()
    tol: float | None = None
    bits: int = 48
    time_limit: float | None = None
    inputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[ProblemFile, ...]:
        """The points that are problems."""
        return tuple(point for point in self.points if isinstance(point, ProblemFile))

    @property
    def refused(self) -> tuple[RefusedPoint, ...]:
        """The points that cannot be problems."""
        return tuple(point for point in self.points if isinstance(point, RefusedPoint))

    def run(
        self,
        executor: Any = None,
        cache: str | os.PathLike[str] | None = None,
        progress: ProgressCallback | None = None,
    ) -> SweepResult:
        """Solve the problems, as `mechdesign.sweep` does with the options of the file."""
        return sweep(
            self.points,
            executor,
            cache,
            progress,
            baselines=self.baselines,
            tol=self.tol,
            bits=self.bits,
            time_limit=self.time_limit,
        )


def read_sweep(path: str | os.PathLike[str]) -> SweepFile:
    """Read a sweep file, the counts that it names, and all points of its grid.

    A point whose values cannot be a problem, such as an l1 ball of radius 2.5, does not keep the others from being
    solved: it is in `SweepFile.refused`, with the reason. What is wrong whatever the other values are is refused: a
    source that cannot be read, an unknown name or key, a text where a number belongs.

    Parameters
    ----------
    path : path
        A TOML file: ``title``, ``[[source]]`` with ``counts`` (a CSV file or a table of label and count), ``data`` and
        ``column``, or ``probabilities`` (a table); and one value or a list of ``epsilon``, ``lower`` or ``cap``,
        ``delta`` or ``radius``, ``samples`` (asserted for probabilities), ``set`` and ``utility``; ``baselines``,
        ``tol``, ``bits``, ``time_limit``. With ``known = true`` instead of ``delta`` counts are the distribution
        itself. Paths are relative to its folder.

    Raises
    ------
    InputError
        For unreadable files, malformed TOML, unknown keys and names, values of another type, and a grid of which no
        point is a problem, in one line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = '''
    ... title = "Smoking"
    ... epsilon = [0.5, 1, 2]
    ... delta = ["1e-9", "1e-3"]
    ... [[source]]
    ... name = "smoking"
    ... counts = { never = 812, former = 150, current = 38 }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "sweep.toml")
    ...     _ = path.write_text(text)
    ...     read = read_sweep(path)
    >>> len(read.problems), read.problems[0].title
    (6, 'smoking')
    """
    source = printable(str(path))
    grid = checked_record(GridRecord, parsed_toml(path, _MOST_BYTES, "a sweep file"), source)
    folder = Path(path).parent
    try:
        check_baselines(grid.baselines)
        points = tuple(_points(grid, folder))
        _check_any(points)
    except InputError as error:
        raise error.reworded(f"{source}: {error}") from None
    named = (given.counts if given.data is None else given.data for given in grid.source)
    inputs = tuple(str(folder / place) for place in named if isinstance(place, str))
    stated = any(value is not None for value in (grid.delta, grid.radius, grid.known))
    silent = not stated and any(given.probabilities is None for given in grid.source)
    notes = (f"{source}: {TAKEN_AS_KNOWN}",) if silent else ()
    return SweepFile(grid.title, points, tuple(grid.baselines), grid.tol, grid.bits, grid.time_limit, inputs, notes)


@dataclass(frozen=True)
class _Axes:
    """A grid whose names are known, and whose numbers are numbers."""

    grid: GridRecord
    sources: tuple[Estimate, ...]
    utilities: tuple[Objective, ...]
    numbers: Mapping[tuple[str, str], float]  # by the name of the axis and the text

    @classmethod
    def of(cls, grid: GridRecord, folder: Path) -> _Axes:
        """Return the axes of a grid.

        Raises
        ------
        InputError
            For what is wrong whatever the other values of a point are, and for too many points.
        """
        given = [name for name in ("delta", "radius", "known") if getattr(grid, name) is not None]
        if len(given) > 1:
            raise InputError.conflicting_arguments(f"{' and '.join(given)} are given; give one of them")
        if grid.delta is None and (grid.samples is not None or grid.bound is not None):
            raise InputError.needless_argument(
                f"{'bound' if grid.samples is None else 'samples'} is given without delta; leave it out"
            )
        checked_bound_of_counts(grid.bound)
        for kind in grid.set:
            if kind not in kinds_from_counts():
                raise InputError.unknown_choice(f"set is {shorten(kind)}; accepted: {', '.join(kinds_from_counts())}")
        numeric = ("epsilon", "lower", "cap", "delta", "radius")
        numbers = {(name, text): _stated(text, name) for name in numeric for text in getattr(grid, name) or ()}
        utilities = tuple(_utility(described) for described in grid.utility)
        sources = tuple(found for described in grid.source for found in estimates(described, folder))
        names = [source.name for source in sources]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError.label_twice(
                f"two sources are called {shorten(twice)}; give them names by which their rows differ"
            )
        axes = cls(grid, sources, utilities, numbers)
        total = math.prod(map(len, (sources, *axes.of_set, *axes.of_problem)))
        if total > _MOST_PROBLEMS:
            raise InputError.too_many_given(f"the grid has {total:,} problems; accepted: at most {_MOST_PROBLEMS:,}")
        return axes

    @property
    def of_set(self) -> tuple[list[str], list[Any], list[Any]]:
        """What a set is made from: its kinds, the numbers of samples, and deltas or radii."""
        grid = self.grid
        return grid.set, grid.samples or [None], (grid.radius if grid.delta is None else grid.delta) or [None]

    @property
    def of_problem(self) -> tuple[tuple[Objective, ...], list[str], list[Any], list[Any]]:
        """What a problem has beside its set."""
        return self.utilities, self.grid.epsilon, self.grid.lower or [None], self.grid.cap or [None]

    def number(self, name: str, text: str | None) -> float | None:
        """Return a value of an axis as the table shows it."""
        return None if text is None else self.numbers[name, text]


def _points(grid: GridRecord, folder: Path) -> Iterator[ProblemFile | RefusedPoint]:
    """Yield the points of a grid, source by source and set by set."""
    axes = _Axes.of(grid, folder)
    for source, (kind, samples, size) in product(axes.sources, product(*axes.of_set)):
        known: UncertaintySet | str = ""
        for utility, epsilon, lower, cap in product(*axes.of_problem):
            if not known or kind == RelativeBall.kind:  # which is made for an epsilon
                known = _set_or_reason(grid, kind, source, size, samples, epsilon)
            made = known if isinstance(known, str) else _problem_or_reason(known, epsilon, utility, lower, cap)
            if isinstance(made, DesignProblem):
                yield ProblemFile(source.name, made)
                continue
            cells = {
                "source": source.name,
                **(_given_cells(axes, kind, source, size, samples) if isinstance(known, str) else set_cells(known)),
                "epsilon": axes.number("epsilon", epsilon),
                "lower": axes.number("lower", lower),
                "cap": axes.number("cap", cap),
                **utility_cells(utility),
            }
            yield RefusedPoint(source.name, made, epsilon, cells)


def _check_any(points: Sequence[ProblemFile | RefusedPoint]) -> None:
    """Refuse a grid that leaves nothing to solve."""
    first = points[0]
    if isinstance(first, RefusedPoint) and all(isinstance(point, RefusedPoint) for point in points):
        text = f"{printable(first.source)}: {first.reason}"
        if len(points) > 1:
            text = (
                f"none of the {len(points):,} points of the grid can be a problem; the first, {first.name}: "
                f"{first.reason}"
            )
        raise InputError.point_refused(text)


def _given_cells(axes: _Axes, kind: str, source: Estimate, size: Any, samples: Any) -> dict[str, Any]:
    """Return what the table shows of a set that could not be made."""
    known = size is None and kind == L1Ball.kind  # a known distribution is a ball of radius 0
    by_delta = axes.grid.delta is not None
    return {
        "set": kind,
        "symbols": len(source.shares),
        "delta": axes.number("delta", size) if by_delta else None,
        "radius": 0.0 if known else None if by_delta else axes.number("radius", size),
        "samples": _whole(source.total if samples is None else samples),
    }


def _stated(text: str, name: str) -> float:
    """Return a number of an axis as rows with a design show it."""
    number = stated_number(text, name)
    return printed_up(checked_delta(text)) if name == "delta" and math.copysign(1, number) == 1 > number else number


def _whole(number: int | None) -> int | None:
    """Return a whole number if a column of the table holds it."""
    return number if number is not None and abs(number) < 1 << 63 else None


def _problem_or_reason(
    known: UncertaintySet, epsilon: str, utility: Objective, lower: str | None, cap: str | None
) -> DesignProblem | str:
    """Return the problem of a point of a grid, or why there is none."""
    try:
        return DesignProblem(known, epsilon, utility, lower, cap)
    except MechdesignError as error:
        return str(error)


def _set_or_reason(
    grid: GridRecord, kind: str, source: Estimate, size: Any, samples: Any, epsilon: str
) -> UncertaintySet | str:
    """Return the set of priors of a point of a grid, or why there is none."""
    try:
        return _set(grid, kind, source, size, samples, epsilon)
    except MechdesignError as error:
        return str(error)


def _set(grid: GridRecord, kind: str, source: Estimate, size: Any, samples: Any, epsilon: str) -> UncertaintySet:
    """Return the set of priors of one point of a grid."""
    if kind == L1Ball.kind:
        given = {"known": True} if size is None else {"radius" if grid.delta is None else "delta": size}
        if source.total is not None:
            return L1Ball.from_counts(source.shares, samples=samples, bound=grid.bound, **given)
        if grid.delta is None:
            return L1Ball(source.shares, size or 0)
        return L1Ball.from_probabilities(source.shares, samples=source.asserted(samples), delta=size, bound=grid.bound)
    if grid.delta is None or grid.bound is not None:
        wrong = "bound belongs" if grid.delta is not None else "radius or known belongs"
        raise InputError.conflicting_arguments(
            f"the set {kind} needs delta, and {wrong} to {L1Ball.kind}; change the one or the other"
        )
    if source.total is not None:
        return set_from_counts(kind, source.shares, size, samples=samples, epsilon=epsilon)
    return set_from_probabilities(kind, source.shares, size, samples=source.asserted(samples), epsilon=epsilon)


def _utility(given: str | _Utility) -> Objective:
    if isinstance(given, str):
        return utility_by_name(given)
    workload = None if given.workload is None else Workload.from_table(given.workload)
    return utility_by_name(given.name, given.matrix, workload)
