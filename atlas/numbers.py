"""The numbers of others, their verdicts, and the page that shows them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("numbers.json")
_ROUNDING = 1e-9  # relative: numbers of others without a tolerance of their own are doubles


@dataclass(frozen=True)
class Ours:
    """What this package gives for a number of others.

    Attributes
    ----------
    value : float or sequence of float
        The value, or values in the order of the printed ones.
    bound : float, optional
        A certified bound on the value, where it is an optimum.
    """

    value: float | Sequence[float]
    bound: float | None = None


@dataclass(frozen=True)
class Family:
    """Numbers of one kind.

    Attributes
    ----------
    name : str
        As in the file of numbers.
    what : str
        What the numbers are.
    ours : callable
        Returns ours from the inputs of a number.
    not_below : bool
        Whether the printed number is said to be at least ours, rather than equal.
    differs : str
        Why printed numbers differ from ours; empty if none does.
    """

    name: str
    what: str
    ours: Callable[..., Ours]
    not_below: bool = False
    differs: str = ""


@dataclass(frozen=True)
class Number:
    """A number of others, a fact with its source.

    Attributes
    ----------
    source : str
        The repository or issue, with the commit that was read.
    provenance : str
        ``asserted`` by tests, ``printed`` in a text, or got from a ``run`` of the source's own code.
    place : str
        Where in the source.
    family : str
        The name of its `Family`.
    inputs : dict
        What the number is for.
    printed : float or sequence of float
        The number.
    relative, absolute : float, optional
        The tolerance of the source.
    """

    source: str
    provenance: str
    place: str
    family: str
    inputs: dict[str, Any]
    printed: float | Sequence[float]
    relative: float | None = None
    absolute: float | None = None

    def agrees(self, ours: Ours, *, not_below: bool = False) -> bool:
        """Return whether ours is within the tolerance of the source; or not above, where an optimum is beside."""
        pairs = list(zip(_list(self.printed), _list(ours.value), strict=True))
        if not_below:
            least = [ours.bound] if ours.bound is not None else [own for _, own in pairs]
            return all(printed >= own * (1 - _ROUNDING) for (printed, _), own in zip(pairs, least, strict=True))
        if self.absolute is None:
            return all(math.isclose(x, y, rel_tol=self.relative or _ROUNDING) for x, y in pairs)
        return all(x == y or abs(x - y) <= self.absolute for x, y in pairs)


def _list(value: float | Sequence[float]) -> list[float]:
    return [float(x) for x in value] if isinstance(value, list | tuple) else [float(value)]  # type: ignore[arg-type]


def numbers(path: Path = FILE) -> Iterator[Number]:
    """Yield the numbers of the file."""
    for group in json.loads(path.read_text()):
        for one in group.pop("numbers"):
            common = {key: value for key, value in group.items() if key != "numbers"}
            yield Number(**{**common, **one})
