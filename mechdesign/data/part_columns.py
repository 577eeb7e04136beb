"""Columns of a data set, part by part and batch by batch, with the place of each record for messages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.parts import find_parts, has_parts
from mechdesign.data.tables import column_names, index_from, open_columns
from mechdesign.errors import InputError, printable, shorten


@dataclass(frozen=True, eq=False)
class PartBatch:
    """Some columns of successive records of a file.

    Attributes
    ----------
    path : path
        The file.
    before : int
        How many of its records stand before these.
    columns : tuple of pyarrow.Array
        In the order in which they were asked for.
    """

    path: str | os.PathLike[str]
    before: int
    columns: tuple[Any, ...]

    def record(self, row: int) -> str:
        """Name a record, counted in its file from 1."""
        return f"{self.path}, record {self.before + row + 1}"


def read_columns(
    source: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    header: bool = True,
    show_values: bool = False,
    encoded: bool = False,
) -> Iterator[PartBatch]:
    """Yield some columns of a file, or of all files of a folder or a glob.

    Parameters
    ----------
    source : path
        CSV or Parquet, a folder of such files, or a glob.
    columns : sequence of str
        Their names, or without a header their indices from 0. A column that names of folders say (``week=1``) has
        their text, and a missing value where they say that it is missing. Files may hold it too, with the same values.
    header : bool
        Whether the first line of a CSV file names the columns.
    show_values : bool
        Whether messages print the first line of a CSV file, which may be a record.
    encoded : bool
        Whether texts that a Parquet file holds dictionary-encoded are left so.

    Raises
    ------
    InputError
        For a folder without files, a file that is unreadable or malformed, a column that is missing or occurs twice, a
        record that differs from the name of its folder, and where there is no record at all.
    """
    found = False
    for path, said in _files(source):
        inside = [name for name in columns if name not in said]
        if not inside:
            raise InputError.unknown_column(
                f"{printable(str(source))}: the column {shorten(columns[0])} is in the names of folders, "
                "which records keep; name a column of the files alone"
            )
        check_folder_values(path, {name: said[name] for name in columns if name in said}, header=header)
        opened = open_columns(path, inside, header=header, show_values=show_values, encoded=inside if encoded else ())
        names = {name: name if header else str(index_from(name)) for name in inside}
        before = 0
        for batch in opened.batches:
            if len(batch):
                taken = [batch.column(names[name]) if name in names else _same(said[name], batch) for name in columns]
                yield PartBatch(path, before, tuple(taken))
                before += len(batch)
        found = found or before > 0
    if not found:
        raise InputError.nothing_given(f"{source} has no records; give a line for each record")


def check_folder_values(path: str | os.PathLike[str], said: Mapping[str, str | None], *, header: bool = True) -> None:
    """Refuse a file that holds a column that the names of its folders say, with another value.

    Readers of such folders differ in which of the two wins, so neither is taken for the other. Values are compared in
    the type of the column: ``month=01`` agrees with the integer 1, and not with the text ``1``.

    Parameters
    ----------
    path : path
        CSV or Parquet.
    said : mapping of str to str or None
        The columns that names of folders say, with their values, None for a missing one.
    header : bool
        Whether the first line of a CSV file names the columns.

    Raises
    ------
    InputError
        Naming the first such record.
    """
    both = [name for name in column_names(path, header=header) if name in said] if said else []
    if not both:
        return
    before = 0
    opened = open_columns(path, both, header=header)
    for batch in opened.batches:
        for name in opened.names:
            row = _first_other(batch.column(name), said[name])
            if row is not None:
                raise InputError.conflicting_arguments(
                    f"{path}, record {before + row + 1}: the column {shorten(name)} holds another value than the name "
                    f"of the folder, {shorten(said[name])}; rename the column or the folder, or make them agree"
                )
        before += len(batch)


def _first_other(column: Any, value: str | None) -> int | None:
    """Return the position of the first entry that is not the value; None if there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if value is None:
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        same = pc.equal(column, "").fill_null(fill_value=True) if is_text else column.is_null()
    else:
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        try:
            same = pc.equal(column.cast(kind), pa.scalar(value).cast(kind)).fill_null(fill_value=False)
        except pa.ArrowException:  # the text does not read as a value of this type
            same = pa.repeat(pa.scalar(value=False), len(column))
    row = pc.index(same, value=False).as_py()
    return None if row < 0 else row


def _files(source: str | os.PathLike[str]) -> list[tuple[str | os.PathLike[str], dict[str, str | None]]]:
    """Return the files of a data set, each with what the names of its folders say."""
    return [(part.path, dict(part.keys)) for part in find_parts(source)] if has_parts(source) else [(source, {})]


def _same(value: str | None, batch: Any) -> Any:
    """Return a column of one value for the records of a batch."""
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, pa.string()), len(batch))
