"""The inputs of a row: those of a problem, and those of a point of a grid that cannot be a problem."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mechdesign.errors import printable
from mechdesign.numerics.exact import printed_up
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility import Objective

_MOST_SHOWN = 60  # characters of a name or a number in a message


@dataclass(frozen=True)
class RefusedPoint:
    """A point of a grid whose values cannot be a problem together.

    Attributes
    ----------
    source : str
        The name of the source of its counts.
    reason : str
        One line.
    epsilon : str
        As the file states it.
    cells : mapping from str to value
        The inputs, as the table shows them.
    """

    source: str
    reason: str
    epsilon: str
    cells: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The source and epsilon, for messages."""
        return name_of(self.source, self.epsilon)


def name_of(source: str, epsilon: object) -> str:
    r"""Return what messages call a point of a grid, in one line.

    Examples
    --------
    >>> name_of("two\nlines", "1"), name_of("", "1")
    ('two lines at epsilon = 1', 'at epsilon = 1')
    """
    return f"{_in_line(source)} at epsilon = {_in_line(str(epsilon))}".lstrip()


def _in_line(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 3]}..."


def problem_cells(source: str, problem: DesignProblem) -> dict[str, Any]:
    """Return the inputs of a problem as numbers and texts."""
    return {
        "source": source or None,
        **set_cells(problem.uncertainty),
        "epsilon": float(problem.epsilon),
        "lower": None if problem.lower is None else float(problem.lower),
        "cap": None if problem.cap is None else float(problem.cap),
        **utility_cells(problem.utility),
    }


def set_cells(known: UncertaintySet) -> dict[str, Any]:
    """Return what the table shows of a set."""
    return {
        "set": known.kind,
        "symbols": known.size,
        "delta": None if known.delta is None else printed_up(known.delta),
        "radius": None if known.l1_ball is None else float(known.l1_ball.radius),
        "samples": known.samples,
    }


def utility_cells(utility: Objective) -> dict[str, Any]:
    """Return what the table shows of a utility."""
    workload = utility.workload_table()
    return {
        "utility": utility.name,
        "workload": None if workload is None else json.dumps(workload),
        "unit": utility.unit,
    }
