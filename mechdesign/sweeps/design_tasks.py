"""What an executor computes for a sweep: a design or its file proved again, and the values of simple mechanisms."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mechdesign.comparison.rivals import Rivals
from mechdesign.errors import LimitError, MechdesignError, SolverError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.numerics.threads import one_thread
from mechdesign.optimize import design
from mechdesign.optimize.kept.design_keys import DesignKey
from mechdesign.optimize.kept.kept_proof import Stored, proved_again
from mechdesign.optimize.result import within
from mechdesign.problem import DesignProblem

Given = TypeVar("Given")
Result = TypeVar("Result")

_INTERRUPTED = "interrupted"
# Threads of one process would change each other's number of threads of linear algebra, and so the last bits of results.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Task:
    """A design that is wanted.

    Attributes
    ----------
    problem : DesignProblem
        The problem.
    key : Key
        Its key.
    tol, bits, time_limit
        As for `mechdesign.design`.
    stored : Stored or None
        A result that may serve, if it proves.
    as_file : bool
        Whether the mechanism is wanted as the content of a file.
    """

    problem: DesignProblem
    key: DesignKey
    tol: float
    bits: int
    time_limit: float | None
    stored: Stored | None = None
    as_file: bool = False

    @property
    def name(self) -> str:
        """The name of its key."""
        return self.key.name


@dataclass(frozen=True, eq=False)
class Solved:
    """A design, as far as a sweep tells it.

    Attributes
    ----------
    value, bound, gap, tol, certified, seconds, stopped, method
        As in `Design`.
    leakage, lower_leakage : float, float or None
        As proved.
    outputs : int
        Number of outputs of the mechanism.
    fingerprint : str
        That of the mechanism.
    mechanism : Mechanism or None
        The mechanism, if it is not wanted as a file.
    content : bytes or None
        The content of its file, which has a claim of optimality; None if it is not wanted or cannot be had.
    reused : bool
        Whether it is from an earlier sweep, proved again.
    note : str
        Why a stored result did not serve; empty if it did, or if there was none.
    """

    value: float
    bound: float
    gap: float
    tol: float
    certified: bool
    seconds: float
    stopped: str
    method: str
    leakage: float
    lower_leakage: float | None
    outputs: int
    fingerprint: str
    mechanism: Mechanism | None = None
    content: bytes | None = None
    reused: bool = False
    note: str = ""


@dataclass(frozen=True)
class Values:
    """The objective of mechanisms that need no design, each with the reason if there is none.

    Attributes
    ----------
    randomized_response, subset_selection : float or None
        Those of k-ary randomized response, and of subset selection for an estimation error.
    missing : str
        Why one is not computed; empty otherwise.
    """

    randomized_response: float | None
    subset_selection: float | None
    missing: str = ""


def solve(task: Task) -> Solved:
    """Return the stored result of a task if it proves, and otherwise its design.

    Raises
    ------
    MechdesignError
        If there is no design; also for an error that nobody expected, which is that of one problem of many.
    """
    return _guarded(_solved, task)


def values_of(problem: DesignProblem) -> Values:
    """Return the values of randomized response and of subset selection for a problem over all priors.

    Raises
    ------
    MechdesignError
        As `solve` does.
    """
    return _guarded(_values_of, problem)


def _values_of(problem: DesignProblem) -> Values:
    rivals = Rivals(problem)
    response = rivals.randomized_response().value
    if problem.utility.estimation is None:
        return Values(response, None)
    subsets = rivals.subset_selection()
    return Values(response, subsets.value, f"subset selection: {subsets.missing}" if subsets.missing else "")


def _guarded(compute: Callable[[Given], Result], given: Given) -> Result:
    """Compute with one thread of linear algebra; an error that nobody expected is that of one problem of many."""
    try:
        with _ONE_AT_A_TIME, one_thread():
            return compute(given)
    except MechdesignError:
        raise
    except MemoryError:
        raise LimitError.out_of_memory("out of memory; give fewer categories, or more memory") from None
    except Exception as error:  # a utility of the user's own may raise anything
        raise SolverError.defect(
            f"internal error ({type(error).__name__}: {shorten(str(error), 200)[1:-1]})"
        ) from error


def _solved(task: Task) -> Solved:
    note = ""
    if task.stored is not None:
        try:
            return _proved_again(task, task.stored)
        except MechdesignError as error:
            note = f"{error}; solved again"
    found = design(task.problem, tol=task.tol, bits=task.bits, time_limit=task.time_limit)
    if found.stopped == _INTERRUPTED:
        raise KeyboardInterrupt
    mechanism = found.mechanism
    content = to_json(mechanism.parts) if task.as_file else None
    return Solved(
        value=found.value,
        bound=found.bound,
        gap=found.gap,
        tol=found.tol,
        certified=found.certified,
        seconds=found.seconds,
        stopped=found.stopped,
        method=found.method,
        leakage=mechanism.leakage,
        lower_leakage=mechanism.lower_leakage,
        outputs=len(mechanism.outputs),
        fingerprint=mechanism.fingerprint,
        mechanism=mechanism if content is None else None,
        content=content,
        note=note,
    )


def _proved_again(task: Task, stored: Stored) -> Solved:
    """Return a stored result: its guarantee and its bound are proved again, and its value is computed again.

    Raises
    ------
    MechdesignError
        As `proved_again` does.
    """
    proved, bound = proved_again(stored, task.key, task.tol)
    mechanism, value = proved.mechanism, float(proved.value or 0)
    origin = mechanism.provenance
    gap = value - bound if task.problem.utility.minimised else bound - value
    return Solved(
        value=value,
        bound=bound,
        gap=gap,
        tol=task.tol,
        certified=within(gap, value, task.tol),
        seconds=stored.seconds,
        stopped=stored.stopped,
        method="" if origin is None else origin.method,
        leakage=mechanism.leakage,
        lower_leakage=mechanism.lower_leakage,
        outputs=len(mechanism.outputs),
        fingerprint=mechanism.fingerprint,
        content=stored.content,
        reused=True,
    )
