"""Tables, lists and rounded numbers as plain text, for what Python prints of an object."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context


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
            [
                row[0].ljust(widths[0]),
                *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in rows
    ]


def some(items: Sequence[str], most: int) -> str:
    """Return items in one line, or the first of them and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c"], 2), some(["a", "b"], 2)
    ('a, b, and 1 more', 'a, b')
    """
    more = len(items) - most
    return ", ".join(items if more <= 0 else [*items[:most], f"and {more:,} more"])


def text_above(value: float, digits: int) -> str:
    """Return a float, as the decimal that it prints, with up to 15 digits, rounded up; ``infinite`` for infinity.

    Examples
    --------
    >>> text_above(1.0000001, 4), text_above(0.1, 12), text_above(float("inf"), 4)
    ('1.001', '0.1', 'infinite')
    """
    return _rounded_text(value, digits, ROUND_CEILING)


def text_below(value: float, digits: int) -> str:
    """Return a float as `text_above` does, rounded down.

    Examples
    --------
    >>> text_below(1.0009999, 4), text_below(-1.0001, 4)
    ('1', '-1.001')
    """
    return _rounded_text(value, digits, ROUND_FLOOR)


def _rounded_text(value: float, digits: int, rounding: str) -> str:
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))
    return f"{float(rounded):.{digits}g}"
