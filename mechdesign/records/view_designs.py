"""The designs of views: tasks for executors, and what the designs are worth, whatever kind of mechanism they have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from mechdesign.engine import executor_of, run_tasks
from mechdesign.errors import InputError, MechdesignError
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.optimize import Design, design
from mechdesign.optimize.designer import closed_form_check, tolerance_of
from mechdesign.optimize.kept.design_keys import DesignKey, key_of
from mechdesign.optimize.kept.kept_proof import Stored, proved_again
from mechdesign.optimize.kept.result_folder import ResultFolder
from mechdesign.problem import DesignProblem
from mechdesign.records.record_certificate import objective_of
from mechdesign.records.record_views import View
from mechdesign.windows import WindowDesign, design_windows, split_sample

Progress = Callable[[str], None]


@dataclass(frozen=True)
class ViewFacts:
    """What the design of a view is worth.

    Attributes
    ----------
    cells : int or None
        The values that it knows; None for windows, which know any.
    queries : int
        How many it answers.
    error, bound : float
        E, and what no mechanism for the view falls below.
    certified : bool or None
        Whether the bound is reached; None for windows, which come near it.
    seconds : float or None
        Time taken, where it was measured.
    """

    cells: int | None
    queries: int
    error: float
    bound: float
    certified: bool | None
    seconds: float | None

    @classmethod
    def of(cls, made: Design | WindowDesign) -> ViewFacts:
        """Return that of a design."""
        if isinstance(made, WindowDesign):
            return cls(None, len(made.shares), made.error, made.bound, None, None)
        size = made.problem.uncertainty.size
        return cls(size, _queries(made.mechanism), made.value, made.bound, made.certified, made.seconds)


def errors_of_strings(views: Sequence[View], designs: Sequence[Design | WindowDesign]) -> dict[str, float]:
    """Return the errors of views of windows, which depend on the shares of strings in the sample."""
    both = zip(views, designs, strict=True)
    return {view.name: made.error for view, made in both if isinstance(made, WindowDesign)}


@dataclass(frozen=True, eq=False)
class DesignedView:
    """The design of a view, whether a folder had it, and what a person should know of that."""

    design: Design | WindowDesign
    reused: bool = False
    note: str = ""


@dataclass(frozen=True)
class MatrixTask:
    """The design of one view; its options are tol, bits and the time limit."""

    place: int
    name: str
    problem: DesignProblem
    options: tuple[float | None, int, float | None]
    stored: Stored | None = None

    @property
    def size(self) -> str:
        """How many values the view has, in words."""
        return f"{self.problem.uncertainty.size} cells"

    @property
    def key(self) -> DesignKey:
        """What a folder finds the design by."""
        return key_of(self.problem, self._tol, self.options[1])

    @property
    def _tol(self) -> float:
        return tolerance_of(self.problem, self.options[0])

    def done(self) -> DesignedView:
        """Return the design that a folder had, proved again, or else a new one."""
        note = ""
        if self.stored is not None:
            try:
                return DesignedView(self._proved_again(self.stored), reused=True)
            except MechdesignError as error:
                note = f"{error}; designed again"
        tol, bits, time_limit = self.options
        found = design(self.problem, tol=tol, bits=bits, title=self.name, time_limit=time_limit)
        if found.stopped == "interrupted":  # the other views lack a design
            raise KeyboardInterrupt
        return DesignedView(found, note=note)

    def _proved_again(self, stored: Stored) -> Design:
        proved, bound = proved_again(stored, self.key, self._tol)
        mechanism, value, certificate = proved.mechanism, cast("float", proved.value), cast("Any", proved.certificate)
        origin = mechanism.provenance
        if origin is None:
            raise InputError.damaged_file(f"{stored.source} does not say how it was designed")
        return Design(
            problem=self.problem,
            mechanism=replace(mechanism, provenance=replace(origin, problem=self.name)),
            value=value,
            bound=bound,
            tol=self._tol,
            certificate=certificate,
            closed_form=closed_form_check(self.problem, value, bound),
            method=origin.method,
            iterations=0,
            columns=0,
            seconds=stored.seconds,
            stopped=stored.stopped,
            value_at_estimate=value,
        )


@dataclass(frozen=True)
class StringTask:
    """The design of a view of windows, from counts by string."""

    place: int
    view: View
    epsilon: object
    cap: object
    delta: Fraction | None

    @property
    def name(self) -> str:
        """That of the view."""
        return self.view.name

    @property
    def size(self) -> str:
        """How many values the view has, in words."""
        return "any strings"

    def done(self) -> DesignedView:
        """Return the design."""
        counts: Any = self.view.prior
        options = dict(self.view.windows or {})
        if (share := options.pop("split", None)) is not None:
            if self.delta is None or "heavy" in options:
                raise InputError.needless_argument("split is for a sample that proves, without heavy; leave it out")
            parts = split_sample(counts, share, form=options.get("form", "nfc"))
            counts, options["heavy"] = parts.evidence, parts.heavy
        options |= {"cap": self.cap, "delta": self.delta, "known": self.delta is None}
        return DesignedView(design_windows(counts, self.epsilon, **options))


def _run(task: MatrixTask | StringTask) -> DesignedView:
    """Do a task; called by executors, by name."""
    return task.done()


def designed(
    tasks: Sequence[MatrixTask | StringTask], executor: Any, tell: Progress, cache: str | os.PathLike[str] | None
) -> tuple[list[Design | WindowDesign], tuple[str, ...]]:
    """Return the designs of all views, in their order, and what in the cache did not serve.

    The cache keeps the designs of views of listed values, each once it is there.

    Raises
    ------
    MechdesignError
        The first error of a design, with the name of its view; for a cache that cannot be made.
    """
    folder = None if cache is None else ResultFolder.opened(cache)

    notes: list[str] = []

    def noted(note: str) -> None:
        if note:
            notes.append(note)
            tell(note)

    def begun() -> Iterator[MatrixTask | StringTask]:
        for number, task in enumerate(tasks, 1):
            tell(f"view {number} of {len(tasks)}: {task.name}, {task.size}")
            yield task if folder is None or isinstance(task, StringTask) else _with_stored(task, folder, noted)

    found: dict[int, Design | WindowDesign] = {}
    for done in run_tasks(_run, begun(), executor_of(executor)):
        if done.error is not None:
            raise done.error.reworded(f"the view {done.item.name}: {done.error}")
        made = cast("DesignedView", done.result)  # a task that ends without an error has one
        noted(made.note)
        if folder is not None and isinstance(done.item, MatrixTask) and not made.reused:
            _keep(done.item, cast("Design", made.design), folder)
        found[done.item.place] = made.design
    return [found[task.place] for task in tasks], tuple(notes)


def _with_stored(task: MatrixTask, folder: ResultFolder, noted: Progress) -> MatrixTask:
    """Return a task with what a folder has of it."""
    stored, note = folder.find(task.key, task.options[2]) if task.key.lasting else (None, "")
    noted(note)
    return replace(task, stored=stored)


def _keep(task: MatrixTask, made: Design, folder: ResultFolder) -> None:
    """Write a design into a folder, unless files cannot hold it."""
    if task.key.lasting:
        folder.put(task.key, to_json(made.mechanism.parts), made.seconds, made.stopped, task.options[2])


def _queries(mechanism: Mechanism) -> int:
    return len(objective_of(mechanism).queries(len(mechanism.inputs)))
