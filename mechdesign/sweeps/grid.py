"""Sweep files: a grid of problems in TOML."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, StrictInt

from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.fields import (
    AsTable,
    AsText,
    ByForm,
    Count,
    ExactNumber,
    Matrix,
    Number,
    Record,
    Samples,
    Text,
    all_of,
    at_most_one,
    checked_record,
    defined,
    needs,
    one_of,
)
from mechdesign.errors import InputError, printable, shorten
from mechdesign.problem import DesignProblem
from mechdesign.problem_file import ProblemFile, parsed_toml
from mechdesign.sweeps.result import SweepResult
from mechdesign.sweeps.running import BASELINES, Report, check_baselines, sweep
from mechdesign.uncertainty import L1Ball, UncertaintySet
from mechdesign.uncertainty.format import BoundName
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts
from mechdesign.uncertainty.relative_ball import RelativeBall
from mechdesign.utility import Objective, Workload, utility_by_name

_MOST_BYTES = 64 * 2**20
_MOST_VALUES = 10_000  # of one axis of a grid
_MOST_PROBLEMS = 100_000

_Length = Field(min_length=1, max_length=_MOST_VALUES, fail_fast=True)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Numbers = Annotated[
    list[ExactNumber],
    _Length,
    BeforeValidator(_as_list, json_schema_input_type=ExactNumber | Annotated[list[ExactNumber], _Length]),
]
Integers = Annotated[
    list[Samples],
    _Length,
    BeforeValidator(_as_list, json_schema_input_type=Samples | Annotated[list[Samples], _Length]),
]
Texts = Annotated[
    list[Text], _Length, BeforeValidator(_as_list, json_schema_input_type=Text | Annotated[list[Text], _Length])
]
Counts = dict[str, Count]
_Baseline = Annotated[Text, Field(json_schema_extra={"enum": list(BASELINES)})]


class _Source(Record):
    model_config = all_of(one_of("counts", "data"), needs("data", "columns"), needs("columns", "data"))

    name: Text | None = None
    counts: Annotated[Annotated[Text, AsText] | Annotated[Counts, AsTable], ByForm] | None = None
    data: Text | None = None
    columns: Annotated[list[Text], Field(min_length=1, max_length=_MOST_VALUES)] | None = None
    header: StrictBool = True


class _Utility(Record):
    name: Text
    matrix: Matrix | None = None
    workload: Annotated[dict[str, Any], defined("workload")] | None = None


Utility = Annotated[Annotated[Text, AsText] | Annotated[_Utility, AsTable], ByForm]
Utilities = Annotated[
    list[Utility],
    _Length,
    BeforeValidator(_as_list, json_schema_input_type=Utility | Annotated[list[Utility], _Length]),
]


class GridRecord(Record):
    """The tables of a sweep file."""

    model_config = all_of(at_most_one("delta", "radius"), needs("samples", "delta"), needs("bound", "delta"))

    title: Text
    source: Annotated[list[_Source], Field(min_length=1, max_length=_MOST_VALUES)]
    epsilon: Numbers
    lower: Numbers | None = None
    delta: Numbers | None = None
    radius: Numbers | None = None
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
    problems : tuple of ProblemFile
        The problems of the grid; the title of each is the name of its source.
    baselines : tuple of str
        What designs are compared with.
    tol, bits, time_limit
        As for `mechdesign.design`.
    inputs : tuple of str
        The files that the sources name.
    """

    title: str
    problems: tuple[ProblemFile, ...]
    baselines: tuple[str, ...] = ()
    tol: float | None = None
    bits: int = 48
    time_limit: float | None = None
    inputs: tuple[str, ...] = ()

    def run(
        self, executor: Any = None, cache: str | os.PathLike[str] | None = None, report: Report | None = None
    ) -> SweepResult:
        """Solve the problems, as `mechdesign.sweep` does with the options of the file."""
        return sweep(
            self.problems,
            executor,
            cache,
            report,
            baselines=self.baselines,
            tol=self.tol,
            bits=self.bits,
            time_limit=self.time_limit,
        )


def read_sweep(path: str | os.PathLike[str]) -> SweepFile:
    """Read a sweep file, the counts that it names, and all its problems.

    Parameters
    ----------
    path : path
        A TOML file: ``title``, ``[[source]]`` with ``counts`` (a CSV file or a table of label and count) or ``data``
        and ``columns``, and one value or a list of ``epsilon``, ``lower``, ``delta`` or ``radius``, ``samples``,
        ``set`` and ``utility``; ``baselines``, ``tol``, ``bits``, ``time_limit``. Paths are relative to its folder.

    Raises
    ------
    InputError
        For unreadable files, malformed TOML, unknown keys and values out of range, in one line.

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
        problems = tuple(_problems(grid, folder))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    named = (given.counts if given.data is None else given.data for given in grid.source)
    inputs = tuple(str(folder / place) for place in named if isinstance(place, str))
    return SweepFile(grid.title, problems, tuple(grid.baselines), grid.tol, grid.bits, grid.time_limit, inputs)


def _problems(grid: GridRecord, folder: Path) -> Iterator[ProblemFile]:
    """Yield the problems of a grid, source by source and set by set."""
    if grid.delta is not None and grid.radius is not None:
        raise InputError("delta and radius are both given; give one of them, or neither for a known distribution")
    if grid.delta is None and (grid.samples is not None or grid.bound is not None):
        raise InputError(f"{'bound' if grid.samples is None else 'samples'} is given without delta; leave it out")
    utilities = [_utility(given) for given in grid.utility]
    sizes = grid.radius if grid.delta is None else grid.delta
    absent: list[Any] = [None]
    of_set = (grid.set, grid.samples or absent, sizes or absent)
    of_problem = (utilities, grid.epsilon, grid.lower or absent)
    sources = [found for given in grid.source for found in _counts(given, folder)]
    total = len(sources)
    for axis in (*of_set, *of_problem):
        total *= len(axis)
    if total > _MOST_PROBLEMS:
        raise InputError(f"the grid has {total:,} problems; accepted: at most {_MOST_PROBLEMS:,}")
    for (name, counts), (kind, samples, size) in product(sources, product(*of_set)):
        known = None
        for utility, epsilon, lower in product(*of_problem):
            try:
                if known is None or kind == RelativeBall.kind:  # which is made for an epsilon
                    known = _set(grid, kind, counts, size, samples, epsilon)
                yield ProblemFile(name, DesignProblem(known, epsilon, utility, lower))
            except InputError as error:
                raise InputError(f"{name}: {error}") from None


def _set(
    grid: GridRecord, kind: str, counts: Mapping[str, int], size: Any, samples: Any, epsilon: str
) -> UncertaintySet:
    """Return the set of priors of one point of a grid."""
    if kind == L1Ball.kind:
        given = {"radius": size} if grid.delta is None else {"delta": size}
        return L1Ball.from_counts(counts, samples=samples, bound=grid.bound, **given)
    if kind not in kinds_from_counts():
        raise InputError(f"set is {shorten(kind)}; accepted: {', '.join(kinds_from_counts())}")
    if grid.delta is None or grid.bound is not None:
        wrong = "bound belongs" if grid.delta is not None else "radius, or neither delta nor radius, belong"
        raise InputError(f"the set {kind} needs delta, and {wrong} to {L1Ball.kind}; change the one or the other")
    return set_from_counts(kind, counts, size, samples=samples, epsilon=epsilon)


def _counts(given: _Source, folder: Path) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield the names and the counts of a source."""
    if (given.counts is None) == (given.data is None):
        raise InputError("a source has counts and data, or neither; give counts, or data with columns")
    if given.data is not None:
        if given.columns is None:
            raise InputError(f"the source {shorten(given.data)} has no columns; name those that are counted")
        for column in given.columns:
            counts = count_column(folder / given.data, column, header=given.header)
            yield (column if given.name is None else f"{given.name}, {column}"), counts
        return
    if given.columns is not None:
        raise InputError("a source has columns beside counts; they belong to data")
    if isinstance(given.counts, dict):
        if given.name is None:
            raise InputError("a source with a table of counts has no name; give it one")
        yield given.name, given.counts
        return
    path = folder / str(given.counts)
    yield (path.stem if given.name is None else given.name), read_counts(path, header=given.header)


def _utility(given: str | _Utility) -> Objective:
    if isinstance(given, str):
        return utility_by_name(given)
    workload = None if given.workload is None else Workload.from_table(given.workload)
    return utility_by_name(given.name, given.matrix, workload)
