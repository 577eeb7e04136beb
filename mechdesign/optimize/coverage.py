"""`methods`: which methods cover a problem, which one `design` takes, and why the others do not cover it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.checks import check_kind
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import table
from mechdesign.optimize.every_method import METHODS
from mechdesign.optimize.method import Method
from mechdesign.optimize.reductions import reduced
from mechdesign.optimize.ways import in_order
from mechdesign.problem import DesignProblem


@dataclass(frozen=True)
class Coverage:
    """Whether one method covers a problem.

    Attributes
    ----------
    name : str
        What ``design(..., method=)`` and ``--method`` take.
    does : str
        What the method does, in one sentence without a subject.
    closes : bool
        Whether the bound comes within the tolerance of the value wherever the method covers a problem, if there is
        time. Otherwise the design may end with a gap, which is reported.
    why_not : str
        Why the method does not cover the problem; empty where it does.
    """

    name: str
    does: str
    closes: bool
    why_not: str

    @property
    def covers(self) -> bool:
        """Whether the method covers the problem."""
        return not self.why_not


@dataclass(frozen=True)
class MethodTable(Sequence[Coverage]):
    """All methods of design beside one problem, in the order of the table.

    Attributes
    ----------
    rows : tuple of Coverage
        One for each method.
    taken : str
        The name of the method that `design` takes; empty where no method covers the problem.
    reductions : tuple of str
        Why another problem is solved instead, one reason for each step; empty if the problem is solved as it is.
    """

    rows: tuple[Coverage, ...]
    taken: str
    reductions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Coverage]:
        return iter(self.rows)

    @property
    def covering(self) -> tuple[str, ...]:
        """The names of the methods that cover the problem, in order."""
        return tuple(row.name for row in self.rows if row.covers)

    def verdict(self, row: Coverage) -> str:
        """Return whether `design` takes a method, whether it covers the problem otherwise, or why it does not."""
        if row.name == self.taken:
            return "taken"
        return row.why_not or "covers it too"

    def __repr__(self) -> str:
        lines = [f"{row.name.ljust(max(len(r.name) for r in self.rows))}  {self.verdict(row)}" for row in self.rows]
        return "\n".join([*(f"solved as another problem: {why}" for why in self.reductions), *lines])

    def _repr_html_(self) -> str:
        caption = "; ".join(["Methods", *(f"solved as another problem: {why}" for why in self.reductions)])
        rows = [[row.name, row.does, "yes" if row.closes else "not always", self.verdict(row)] for row in self.rows]
        return table(["method", "what it does", "closes the gap", "this problem"], rows, caption)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the table as a frame, a row for each method.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.
        """
        columns: dict[str, list[Any]] = {
            "does": [row.does for row in self.rows],
            "closes": [row.closes for row in self.rows],
            "taken": [row.name == self.taken for row in self.rows],
            "covers": [row.covers for row in self.rows],
            "why_not": [row.why_not for row in self.rows],
        }
        return labelled_frame("method", [row.name for row in self.rows], columns, library)


def methods(problem: DesignProblem) -> MethodTable:
    """Return all methods of design, whether they cover a problem, and which one `design` takes.

    Nothing is designed. Methods that list extreme rays count them, and of small sets list them, which takes up to
    seconds.

    Parameters
    ----------
    problem : DesignProblem
        The set of priors, epsilon and the utility.

    Returns
    -------
    MethodTable

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta=1e-9)
    >>> table = md.methods(md.DesignProblem(ball, epsilon=1.0))
    >>> table.taken, table.covering
    ('extreme-rays', ('count-tables', 'extreme-rays', 'knapsack', 'boxes'))
    >>> [row.why_not for row in table if row.name == "gain-program"]
    ['mutual-information is not a gain at the estimate']
    """
    check_kind(problem, DesignProblem, "the problem", "a DesignProblem(uncertainty, epsilon, utility)")
    whys, step = [], reduced(problem)
    while step is not None:  # each step takes a promise or a set from the problem, so that there are two at most
        whys.append(step.why)
        problem = step.problem
        step = reduced(problem)
    reasons = {method.name: _why_not(method, problem) for method in METHODS}
    rows = tuple(Coverage(method.name, method.does, method.closes, reasons[method.name]) for method in METHODS)
    taken = next((method.name for method in in_order(METHODS, problem) if not reasons[method.name]), "")
    return MethodTable(rows, taken, tuple(whys))


def _why_not(method: Method, problem: DesignProblem) -> str:
    offer = method.offer(problem)
    return offer if isinstance(offer, str) else ""
