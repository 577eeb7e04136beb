"""Several columns as one: the label of a record joins the labels of its columns.

The separator is no part of a label of a compound, not even together with the spaces beside it (``"x &"``), so that each
label is parted into its columns in one way, and no other combination of values has the same joined label.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from mechdesign.data.labels import canonical_label, check_parts, joined_labels
from mechdesign.data.part_columns import read_columns
from mechdesign.errors import InputError, shorten

SEPARATOR = " & "


def joined_column(columns: Sequence[Any]) -> Any:
    """Return columns of texts, as pyarrow arrays, joined record by record; missing where one is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> joined_column([pa.array(["Wife", None]), pa.array(["Female", "Male"])]).to_pylist()
    ['Wife & Female', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*(column.cast(pa.string()) for column in columns), SEPARATOR)


def parted_column(column: Any, count: int) -> tuple[Any, ...]:
    """Return the columns that a joined one is made of.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [part.to_pylist() for part in parted_column(pa.array(["Wife & Female"]), 2)]
    [['Wife'], ['Female']]
    """
    import pyarrow.compute as pc

    parts = pc.split_pattern(column, SEPARATOR)
    return tuple(pc.list_element(parts, place) for place in range(count))


def check_compound(labels: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse labels that are not one label for each of some columns.

    Raises
    ------
    InputError
        Naming the label, or a column that occurs twice.
    """
    if len({*columns}) != len(columns):
        raise InputError.column_twice(f"the columns are {shorten(list(columns))}; name each of them once")
    for label in labels:
        parts = label.split(SEPARATOR)
        if len(parts) != len(columns):
            raise InputError.bad_label(
                f"the label {shorten(label)} is not {len(columns)} labels with {SEPARATOR!r} between them, one for "
                f"each of {shorten(list(columns))}; rename labels that hold {SEPARATOR!r}"
            )
        check_parts(parts, SEPARATOR)


def count_cells(
    path: str | os.PathLike[str], columns: Sequence[str], *, header: bool = True, show_values: bool = False
) -> dict[str, int]:
    """Count the combinations that occur in a file, or the files of a folder, by falling count, then by label.

    Raises
    ------
    InputError
        For columns that are missing, values that cannot be labels, and labels that hold the separator.
    """
    found: Counter[tuple[str, ...]] = Counter()
    for batch in read_columns(path, columns, header=header, show_values=show_values):
        for row, cell in enumerate(zip(*(values.to_pylist() for values in batch.columns), strict=True)):
            if None in cell or "" in cell:
                raise InputError.missing_value(
                    f"{batch.record(row)} has a missing value; give missing values a label, such as ?"
                )
            found[cell] += 1
    cells = {tuple(map(canonical_label, cell)): count for cell, count in found.items()}
    check_parts({label for cell in cells for label in cell}, SEPARATOR)
    labels = joined_labels(cells, SEPARATOR)
    check_compound(labels, columns)
    counts = dict(zip(labels, cells.values(), strict=True))
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
