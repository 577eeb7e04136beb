"""The designs of views: tasks for executors, and what the designs are worth, whatever kind of mechanism they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from mechdesign.engine import executor_of, run_tasks
from mechdesign.errors import InputError
from mechdesign.mechanism import Mechanism
from mechdesign.optimize import Design, design
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


@dataclass(frozen=True)
class MatrixTask:
    """The design of one view; its options are tol, bits and the time limit."""

    place: int
    name: str
    problem: DesignProblem
    options: tuple[float | None, int, float | None]

    @property
    def size(self) -> str:
        """How many values the view has, in words."""
        return f"{self.problem.uncertainty.size} cells"

    def done(self) -> Design:
        """Return the design."""
        tol, bits, time_limit = self.options
        return design(self.problem, tol=tol, bits=bits, title=self.name, time_limit=time_limit)


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

    def done(self) -> WindowDesign:
        """Return the design."""
        counts: Any = self.view.prior
        options = dict(self.view.windows or {})
        if (share := options.pop("split", None)) is not None:
            if self.delta is None or "heavy" in options:
                raise InputError.needless_argument("split is for a sample that proves, without heavy; leave it out")
            parts = split_sample(counts, share, form=options.get("form", "nfc"))
            counts, options["heavy"] = parts.evidence, parts.heavy
        return design_windows(counts, self.epsilon, cap=self.cap, delta=self.delta, known=self.delta is None, **options)


def _run(task: MatrixTask | StringTask) -> Design | WindowDesign:
    """Do a task; called by executors, by name."""
    return task.done()


def designed(tasks: Sequence[MatrixTask | StringTask], executor: Any, tell: Progress) -> list[Design | WindowDesign]:
    """Return the designs of all views, in their order.

    Raises
    ------
    MechdesignError
        The first error of a design, with the name of its view.
    """

    def begun() -> Iterator[MatrixTask | StringTask]:
        for number, task in enumerate(tasks, 1):
            tell(f"view {number} of {len(tasks)}: {task.name}, {task.size}")
            yield task

    found: dict[int, Design | WindowDesign] = {}
    for done in run_tasks(_run, begun(), executor_of(executor)):
        if done.error is not None:
            raise done.error.reworded(f"the view {done.item.name}: {done.error}")
        found[done.item.place] = cast("Design | WindowDesign", done.result)  # a task that ends without an error has one
    return [found[task.place] for task in tasks]


def _queries(mechanism: Mechanism) -> int:
    return len(objective_of(mechanism).queries(len(mechanism.inputs)))
