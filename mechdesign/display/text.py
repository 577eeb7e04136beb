"""Tables and lists as plain text, for what Python prints of an object."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines of equal columns: the first to the left, the others to the right.

    Examples
    --------
    >>> aligned([["this design", "0.951"], ["LDP", "0.12"]])
    ['this design  0.951', 'LDP           0.12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        ).rstrip()
        for row in rows
    ]


def some(items: Sequence[str], most: int, of: int | None = None) -> str:
    """Return items in one line, or the first of them and how many more there are; ``of`` is the number of all.

    Examples
    --------
    >>> some(["a", "b", "c"], 2), some(["a", "b"], 2)
    ('a, b, and 1 more', 'a, b')
    """
    more = (len(items) if of is None else of) - most
    return ", ".join(items if more <= 0 else [*items[:most], f"and {more:,} more"])
