"""Facts and tables as HTML for notebooks: escaped, without scripts, styles of their own or requests to anywhere.

Colours are those of the page around, so that all is readable in light and in dark notebooks. A number is shown rounded,
within an element that holds it in full: ``<data value="0.3333333333333333">0.333333</data>``.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Integral, Real

from mechdesign.display.numbers import text_above, text_below, text_near
from mechdesign.errors import printable

MOST_ROWS, MOST_COLUMNS = 24, 18  # that are shown; of a longer table the first and the last halves of these
_DIGITS = 6
_SHORT = 28  # letters of a name that is not folded
_FOLDED = "max-width:28em;overflow-wrap:break-word"  # at spaces, and within words only where these are very long
_NAME = f"text-align:left;vertical-align:top;padding:2px 12px 2px 0;font-weight:600;{_FOLDED}"
_TEXT = f"text-align:left;vertical-align:top;padding:2px 12px 2px 0;{_FOLDED}"
_NUMBER = (
    "text-align:right;vertical-align:top;padding:2px 12px 2px 0;white-space:nowrap;font-variant-numeric:tabular-nums"
)
_HEAD = f"vertical-align:bottom;padding:2px 12px 2px 0;border-bottom:1px solid currentColor;{_FOLDED}"
_TABLE = "border-collapse:collapse;background:transparent;color:inherit;margin:0 0 8px 0"
_WIDE = "overflow-x:auto;max-width:100%"  # a table that is wider than the page is scrolled by itself
_TITLE = "text-align:left;padding:2px 0;font-weight:600;color:inherit;caption-side:top"
_NOTE = "text-align:left;padding:2px 12px 2px 0;font-style:italic"


class Above(float):
    """A number that something is at most, which `cell` shows rounded up."""


class Below(float):
    """A number that something is at least, which `cell` shows rounded down."""


def text(value: object) -> str:
    """Return a text as HTML: markup in it is escaped, and so are characters that a page would obey or hide.

    Examples
    --------
    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(printable(str(value)), quote=True)


def cell(value: object, digits: int = _DIGITS) -> str:
    """Return a value as HTML: numbers rounded for the eye and held in full, True and False in words, None as nothing.

    Examples
    --------
    >>> cell(1 / 3), cell(1200), cell(None), cell(float("inf"))
    ('<data value="0.3333333333333333">0.333333</data>', '<data value="1200">1,200</data>', '', 'infinite')
    >>> cell(Above(1 / 3))  # what a mechanism leaks is not above what is shown
    '<data value="0.3333333333333333">0.333334</data>'
    """
    shown = text(value)
    if value is None:
        shown = ""
    elif isinstance(value, bool):
        shown = "yes" if value else "no"
    elif isinstance(value, Integral):
        shown = f'<data value="{int(value)}">{int(value):,}</data>'
    elif isinstance(value, Real) and not isinstance(value, Fraction):
        number = float(value)
        rounded = text_above if isinstance(value, Above) else text_below if isinstance(value, Below) else text_near
        words = rounded(number, digits)
        shown = f'<data value="{number!r}">{words}</data>' if math.isfinite(number) else words
    return shown


def facts(pairs: Iterable[tuple[str, object]], title: str = "") -> str:
    """Return names and values as an HTML table of two columns.

    Parameters
    ----------
    pairs : iterable of (str, object)
        Values are texts or numbers, as for `cell`.
    title : str
        A line above; none if empty.

    Examples
    --------
    >>> shown = facts([("epsilon", 1.5), ("label", "<script>")], "A promise")
    >>> "<script>" in shown, "&lt;script&gt;" in shown
    (False, True)
    """
    lines = [
        f'<tr><th scope="row" style="{_NAME}">{text(name)}</th><td style="{_TEXT}">{cell(value)}</td></tr>'
        for name, value in pairs
    ]
    return _whole(title, "", lines)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str = "", *, digits: int = _DIGITS) -> str:
    """Return a table as HTML, whose first column names the rows; a long or wide one is cut in the middle, and says so.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    rows : sequence of sequences
        As many cells each as there are columns: texts or numbers, as for `cell`.
    caption : str
        A line above; none if empty.
    digits : int
        Significant digits of numbers.

    Examples
    --------
    >>> shown = table(["symbol", "y1"], [[f"x{i}", i / 100] for i in range(100)], "A matrix")
    >>> shown.count("<tr>"), "76 of 100 rows are not shown" in shown
    (26, True)
    """
    across, hidden_columns = cut(len(columns), MOST_COLUMNS)
    down, hidden_rows = cut(len(rows), MOST_ROWS)
    heads = ["..." if j is None else text(columns[j]) for j in across]
    numeric = [j is not None and j > 0 and _holds_numbers(rows, down, j) for j in across]
    head = "".join(
        f'<th scope="col" style="text-align:{"right" if right else "left"};{_HEAD}">{name}</th>'
        for name, right in zip(heads, numeric, strict=True)
    )
    lines = [
        _line(rows[i], across, digits) if i is not None else _note(hidden_rows, len(rows), "rows", across) for i in down
    ]
    if hidden_columns:
        lines.append(_note(hidden_columns, len(columns) - 1, "columns", across))
    return _whole(caption, f"<thead><tr>{head}</tr></thead>", lines)


def cut(size: int, most: int) -> tuple[list[int | None], int]:
    """Return the positions of a list that are shown, with None where the middle is left out, and how many that are.

    Examples
    --------
    >>> cut(3, 4), cut(9, 4)
    (([0, 1, 2], 0), ([0, 1, None, 7, 8], 5))
    """
    if size <= most:
        return list(range(size)), 0
    head, tail = most - most // 2, most // 2
    return [*range(head), None, *range(size - tail, size)], size - most


def _holds_numbers(rows: Sequence[Sequence[object]], down: list[int | None], column: int) -> bool:
    values = [rows[i][column] for i in down if i is not None]
    return any(isinstance(value, Real) for value in values)


def _line(row: Sequence[object], across: list[int | None], digits: int) -> str:
    cells = []
    for j in across:
        value = "..." if j is None else row[j]
        if j == 0:
            short = ";white-space:nowrap" if len(str(value)) <= _SHORT else ""
            cells.append(f'<th scope="row" style="{_NAME}{short}">{cell(value)}</th>')
        else:
            style = _NUMBER if isinstance(value, Real) and not isinstance(value, bool) else _TEXT
            cells.append(f'<td style="{style}">{cell(value, digits)}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _note(hidden: int, size: int, what: str, across: list[int | None]) -> str:
    words = f"... {hidden:,} of {size:,} {what} are not shown"
    return f'<tr><td colspan="{len(across)}" style="{_NOTE}">{words}</td></tr>'


def _whole(title: str, head: str, lines: list[str]) -> str:
    above = f'<caption style="{_TITLE}">{text(title)}</caption>' if title else ""
    shown = f'<table style="{_TABLE}">{above}{head}<tbody>{"".join(lines)}</tbody></table>'
    return f'<div style="{_WIDE}">{shown}</div>'
