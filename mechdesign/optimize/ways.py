"""Tables of ways to do one thing: each way says what it covers, and where it is the quick one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from mechdesign.errors import LimitError

Asked = TypeVar("Asked")
Offered = TypeVar("Offered")


@dataclass(frozen=True)
class Way(Generic[Asked, Offered]):
    """One way.

    Attributes
    ----------
    name : str
        Its name.
    quick : callable
        Returns whether it is quicker than the ways that follow it in a table, where it covers what is asked.
    offer : callable
        Returns what does it, or why this way does not cover what is asked, in one sentence. It begins no search.
    """

    name: str
    quick: Callable[[Asked], bool]
    offer: Callable[[Asked], Offered | str]


def in_order(ways: Sequence[Way[Asked, Offered]], asked: Asked) -> Iterator[Way[Asked, Offered]]:
    """Yield the ways that are quick for what is asked, and then the others."""
    quick = [way.quick(asked) for way in ways]
    for wanted in (True, False):
        yield from (way for way, is_quick in zip(ways, quick, strict=True) if is_quick == wanted)


def first(ways: Sequence[Way[Asked, Offered]], asked: Asked, reason_of: str) -> Offered:
    """Return the offer of the first way that covers what is asked and is quick, or the first that covers.

    Each way is asked once: some list rays, or more than they can, before they answer.

    Raises
    ------
    LimitError
        If no way covers it: the reason of the way that is named.

    Examples
    --------
    >>> halve = Way("halve", lambda n: n > 9, lambda n: "odd" if n % 2 else n // 2)
    >>> count = Way("count", lambda n: True, lambda n: n if n else "nothing to count")
    >>> [first([halve, count], n, "halve") for n in (4, 10, 11)]
    [4, 5, 11]
    """
    reasons = {}
    for way in in_order(ways, asked):
        found = way.offer(asked)
        if not isinstance(found, str):
            return found
        reasons[way.name] = found
    raise LimitError.no_method(reasons[reason_of])
