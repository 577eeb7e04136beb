"""What installed packages add to this one, by their entry points."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points


@cache
def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group.

    They are looked up once a process, since that reads a file of every package that is installed.

    Examples
    --------
    >>> installed("mechdesign.nothing")
    ()
    """
    return tuple(entry_points(group=group))
