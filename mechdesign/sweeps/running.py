"""Many designs: distinct problems solved once, on any executor, each result kept as soon as it is there."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pickle import dumps
from typing import Any, TypeAlias

from mechdesign.comparison.rivals import Rivals
from mechdesign.engine import executor_of, run_tasks
from mechdesign.errors import InputError, MechdesignError, shorten
from mechdesign.mechanism.proof import checked_bits
from mechdesign.optimize.deadline import deadline_of
from mechdesign.optimize.designer import tolerance_of
from mechdesign.optimize.kept.design_keys import DesignKey, key_of
from mechdesign.optimize.kept.result_folder import ResultFolder
from mechdesign.problem import DesignProblem
from mechdesign.problem_file import ProblemFile
from mechdesign.sweeps.design_tasks import Solved, Task, Values, solve, values_of
from mechdesign.sweeps.row_inputs import RefusedPoint
from mechdesign.sweeps.sweep_result import SweepResult, SweepRow

_log = logging.getLogger(__name__)

BEST_LDP, RANDOMIZED_RESPONSE, SUBSET_SELECTION = "best-ldp", "randomized-response", "subset-selection"
BASELINES = (BEST_LDP, RANDOMIZED_RESPONSE, SUBSET_SELECTION)
"""The mechanisms that designs may be compared with."""

_PAUSE = 0.5  # seconds between lines on progress
_FOR_AN_ESTIMATE = 2.0  # seconds; the first task also imports what all need

ProgressCallback: TypeAlias = Callable[[str], None]


def sweep(
    problems: Iterable[DesignProblem | ProblemFile | RefusedPoint],
    executor: Any = None,
    cache: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
    *,
    baselines: Collection[str] = (),
    tol: float | None = None,
    bits: int = 48,
    time_limit: float | None = None,
) -> SweepResult:
    """Solve many problems, each distinct one once, and return a table.

    A problem that fails is a row with the reason. Results are the same to the bit in this process, in others and on a
    cluster of machines of the same kind, except for designs that a time limit stops.

    Parameters
    ----------
    problems : iterable of DesignProblem or ProblemFile
        The title of a problem file is the source of its row. A point of a sweep file that cannot be a problem
        (`SweepFile.points`) is a row with the reason.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        What runs the designs; by default this process, one after the other. Linear algebra takes one thread each.
    cache : path, optional
        A folder where each result is kept as a file as soon as it is there, and where the next sweep finds it: the
        mechanism is proved again, its bound is computed again, and a file that does not prove is solved again, which
        a note says. Any number of sweeps may share a folder, at the same time too.
    progress : callable, optional
        Called with one line on what is done and what is left, at most twice a second.
    baselines : collection of str
        What designs are compared with: ``"best-ldp"``, ``"randomized-response"`` and, for estimation errors,
        ``"subset-selection"``, at the epsilon of local differential privacy that implies the promise. Each is computed
        once for a prior, an epsilon and a utility.
    tol, bits, time_limit
        As for `mechdesign.design`, for each problem.

    Returns
    -------
    SweepResult

    Raises
    ------
    InputError
        For what is not a problem, options out of range, or a folder that cannot be written.
    LimitError
        If the executor ends before its tasks do. What is finished stays in the folder.

    Examples
    --------
    >>> import mechdesign as md
    >>> counts = {"a": 812, "b": 150, "c": 38}
    >>> balls = [md.L1Ball.from_counts(counts, delta=delta) for delta in ("1e-9", "1e-3")]
    >>> problems = [md.DesignProblem(ball, epsilon) for ball in balls for epsilon in (0.5, 1, 1.0)]
    >>> found = md.sweep(problems, baselines=["best-ldp", "randomized-response"])
    >>> found
    SweepResult(6 problems, 6 certified, 0 failed; 6 designs solved, 0 reused)
    >>> [row.solved.value > row.best_ldp.value for row in found]
    [True, True, True, True, True, True]
    """
    _check_options(baselines, bits, time_limit)
    cases = [_case(given) for given in problems]
    plan = _Plan(frozenset(baselines), tol, bits, time_limit)
    keys = [_NO_KEYS if isinstance(given, RefusedPoint) else plan.add(given) for _, given in cases]
    folder = None if cache is None else ResultFolder.opened(cache)
    found = _FoundRow(len(plan.designs) + len(plan.values), folder, time_limit, progress or _log.info)
    runner = executor_of(executor)
    for done in run_tasks(_run, found.jobs(plan, by_pickle=isinstance(runner, ProcessPoolExecutor)), runner):
        found.take(done.item, done.result, done.error)
    rows = tuple(found.row(source, given, key, plan) for (source, given), key in zip(cases, keys, strict=True))
    return SweepResult(rows, found.notes(plan), *found.counts())


@dataclass(frozen=True)
class _Keys:
    """What the design of a row, and those beside it, are found by."""

    design: str
    best_ldp: str | None
    values: str | None


_NO_KEYS = _Keys("", None, None)


@dataclass(frozen=True)
class _ValuesJob:
    """The values of simple mechanisms, wanted for a problem over all priors."""

    name: str
    problem: DesignProblem


_Job: TypeAlias = Task | _ValuesJob


@dataclass(frozen=True)
class _Plan:
    """All distinct tasks of a sweep."""

    baselines: frozenset[str]
    tol: float | None
    bits: int
    time_limit: float | None
    designs: dict[str, Task] = field(default_factory=dict)
    values: dict[str, _ValuesJob] = field(default_factory=dict)

    def add(self, problem: DesignProblem) -> _Keys:
        """Add the tasks of a problem that are not there yet, and return their keys."""
        tol = tolerance_of(problem, self.tol)
        own = self._add_design(problem, tol).name
        if not self.baselines:
            return _Keys(own, None, None)
        local = Rivals(problem).local_problem
        best, simple = None, None
        if BEST_LDP in self.baselines:
            best = self._add_design(local, tol).name
        if RANDOMIZED_RESPONSE in self.baselines or (
            SUBSET_SELECTION in self.baselines and problem.utility.estimation is not None
        ):
            simple = f"values {key_of(local, tol, self.bits).name}"
            self.values.setdefault(simple, _ValuesJob(simple, local))
        return _Keys(own, best, simple)

    def _add_design(self, problem: DesignProblem, tol: float) -> DesignKey:
        key = key_of(problem, tol, self.bits)
        self.designs.setdefault(key.name, Task(problem, key, tol, self.bits, self.time_limit))
        return key


def _run(job: _Job) -> Solved | Values:
    """Do a task; called by executors, by name."""
    return solve(job) if isinstance(job, Task) else values_of(job.problem)


class _FoundRow:
    """What a sweep has found so far."""

    def __init__(
        self, total: int, folder: ResultFolder | None, time_limit: float | None, progress: ProgressCallback
    ) -> None:
        self._folder, self._time_limit, self._progress = folder, time_limit, progress
        self._solved: dict[str, Solved] = {}
        self._values: dict[str, Values] = {}
        self._failures: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._notes: list[str] = []
        self._total, self._done, self._began, self._told = total, 0, time.monotonic(), -_PAUSE

    def jobs(self, plan: _Plan, *, by_pickle: bool) -> Iterator[_Job]:
        """Yield the tasks as they are needed, each with the result that the folder holds by then."""
        every: tuple[_Job, ...] = (*plan.designs.values(), *plan.values.values())
        for job in every:
            unsent = _why_not_sent(job) if by_pickle else ""
            if unsent:
                self._fail(job, unsent)
            elif isinstance(job, Task) and self._folder is not None and job.key.lasting:
                stored, note = self._folder.find(job.key, self._time_limit)
                self._note(note)
                yield replace(job, stored=stored, as_file=True)
            else:
                yield job

    def take(self, job: _Job, result: Solved | Values | None, error: MechdesignError | None) -> None:
        """Keep the result of a task, and write it into the folder."""
        if isinstance(result, Values):
            self._values[job.name] = result
        elif isinstance(result, Solved) and isinstance(job, Task):
            self._solved[job.name] = self._kept(job, result)
        else:
            self._fail(job, str(error))
            return
        self._tell()

    def _fail(self, job: _Job, reason: str) -> None:
        self._failures[job.name] = reason
        self._tell()

    def _kept(self, task: Task, solved: Solved) -> Solved:
        """Return a design without what a file holds, after writing that."""
        self._note(solved.note)
        if self._folder is None or solved.content is None:
            return solved
        place = self._folder.place_of(solved.content)
        if not solved.reused:
            self._folder.put(task.key, solved.content, solved.seconds, solved.stopped, self._time_limit)
        self._files[task.key.name] = place
        return replace(solved, content=None)

    def _note(self, note: str) -> None:
        if note:
            self._notes.append(note)
            self._progress(note)

    def _tell(self) -> None:
        """Say that one more task is done, unless something was said just now."""
        self._done += 1
        now, left = time.monotonic(), self._total - self._done
        if left and now - self._told < _PAUSE:
            return
        self._told = now
        took = now - self._began
        estimate = f", about {_in_words(took / self._done * left)} left" if left and took > _FOR_AN_ESTIMATE else ""
        self._progress(f"sweeping: {self._done} of {self._total} tasks{estimate}")

    def row(self, source: str, given: DesignProblem | RefusedPoint, keys: _Keys, plan: _Plan) -> SweepRow:
        """Return the row of a problem, or of a point of a grid that cannot be one."""
        if isinstance(given, RefusedPoint):
            return SweepRow(source, given, keys.design, None, given.reason)
        solved = self._solved.get(keys.design)
        best = None if keys.best_ldp is None else self._solved.get(keys.best_ldp)
        values = None if keys.values is None else self._values.get(keys.values)
        missing = []
        if keys.best_ldp is not None and best is None:
            missing.append(f"best LDP mechanism: {self._failures[keys.best_ldp]}")
        if keys.values is not None:
            reason = self._failures.get(keys.values, "" if values is None else values.missing)
            missing += [reason] if reason else []
        return SweepRow(
            source=source,
            given=given,
            key=keys.design,
            solved=solved,
            failure="" if solved is not None else self._failures[keys.design],
            best_ldp=best,
            values=None if values is None else _wanted(values, plan.baselines),
            baselines_missing="; ".join(missing),
            file=self._files.get(keys.design),
            folder=None if self._folder is None else str(self._folder.path),
        )

    def notes(self, plan: _Plan) -> tuple[str, ...]:
        """Return what a person should know."""
        unkept = 0 if self._folder is None else sum(not task.key.lasting for task in plan.designs.values())
        text = (
            f"{unkept} of {len(plan.designs)} designs are for a utility or a set that no file can hold: they were not "
            "kept, and the next sweep solves them again"
        )
        return (*self._notes, *([text] if unkept else []))

    def counts(self) -> tuple[int, int]:
        """Return how many designs were solved, and how many were reused."""
        reused = sum(solved.reused for solved in self._solved.values())
        return len(self._solved) - reused, reused


def _why_not_sent(job: _Job) -> str:
    """Return why a task cannot be sent to another process; empty if it can, as all whose objects files can hold."""
    if isinstance(job, Task) and job.key.lasting:
        return ""
    try:
        dumps(job)
    except Exception as error:  # noqa: BLE001 - whatever a user's own class raises
        return (
            f"the utility or the set cannot be sent to another process ({shorten(str(error), 120)}); define its class "
            "and its functions in a module, or leave the executor out"
        )
    return ""


def _wanted(values: Values, baselines: frozenset[str]) -> Values:
    return Values(
        values.randomized_response if RANDOMIZED_RESPONSE in baselines else None,
        values.subset_selection if SUBSET_SELECTION in baselines else None,
        values.missing,
    )


def _in_words(seconds: float) -> str:
    """Return a time to two digits or so.

    Examples
    --------
    >>> _in_words(8.2), _in_words(100), _in_words(9000)
    ('8 s', '2 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _case(given: object) -> tuple[str, DesignProblem | RefusedPoint]:
    """Return the source of what a sweep is given, and the problem or the point that cannot be one."""
    if isinstance(given, ProblemFile):
        return given.title, given.problem
    if isinstance(given, RefusedPoint):
        return given.source, given
    if isinstance(given, DesignProblem):
        return "", given
    raise InputError.wrong_type(
        f"one of the problems is {shorten(given)}; give DesignProblem objects, or what read_problem returns"
    )


def check_baselines(baselines: Collection[str]) -> None:
    """Refuse what is not a baseline.

    Raises
    ------
    InputError
        Naming it.
    """
    if isinstance(baselines, str):
        raise InputError.wrong_type(
            f"baselines is the text {shorten(baselines)}; give a list of {', '.join(BASELINES)}"
        )
    for name in baselines:
        if name not in BASELINES:
            raise InputError.unknown_choice(
                f"the baseline {shorten(name)} is unknown; accepted: {', '.join(BASELINES)}"
            )


def _check_options(baselines: Collection[str], bits: int, time_limit: object) -> None:
    """Refuse options before anything is solved, which would otherwise fail problem by problem."""
    check_baselines(baselines)
    checked_bits(bits)
    if time_limit is not None:
        deadline_of(time_limit)
