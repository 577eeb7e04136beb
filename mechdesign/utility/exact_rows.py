"""Matrices of exact numbers, as utilities and workloads take them from users."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from mechdesign.data.labelled import Labels, table
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import rational


class ExactRows(NamedTuple):
    """Rows as they were given, as fractions, and the labels of the columns of a data frame."""

    given: list[list[Any]]
    exact: tuple[tuple[Fraction, ...], ...]
    columns: Labels | None


def exact_rows(matrix: Any, name: str) -> ExactRows:
    """Return the rows of a matrix, or of a data frame, as the fractions that its entries state.

    Raises
    ------
    InputError
        If it is not a list of rows of one length, or an entry is not a finite number.

    Examples
    --------
    >>> exact_rows([[1, "0.5"]], "the matrix").exact
    ((Fraction(1, 1), Fraction(1, 2)),)
    """
    found = table(matrix, name)
    try:
        rows = [list(row) for row in found.values]
    except TypeError:
        raise InputError.wrong_type(f"{name} is {shorten(matrix)}; give a list of rows") from None
    lengths = {len(row) for row in rows}
    if len(lengths) != 1 or lengths == {0}:
        raise InputError.wrong_size(f"{name} has rows of lengths {sorted(lengths)}; give rows of one length")
    exact = tuple(
        tuple(rational(x, f"entry ({w + 1}, {i + 1}) of {name}") for i, x in enumerate(row))
        for w, row in enumerate(rows)
    )
    return ExactRows(rows, exact, found.columns)
