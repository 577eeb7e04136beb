"""Columns of a data set, part by part and batch by batch, with the place of each record for messages."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.parts import find_parts, has_parts
from mechdesign.data.tables import index_from, open_columns
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
        their text, and a missing value where they say that it is missing.
    header : bool
        Whether the first line of a CSV file names the columns.
    show_values : bool
        Whether messages print the first line of a CSV file, which may be a record.
    encoded : bool
        Whether texts that a Parquet file holds dictionary-encoded are left so.

    Raises
    ------
    InputError
        For a folder without files, a file that is unreadable or malformed, a column that is missing or occurs twice,
        and where there is no record at all.
    """
    found = False
    for path, said in _files(source):
        inside = [name for name in columns if name not in said]
        if not inside:
            raise InputError.unknown_column(
                f"{printable(str(source))}: the column {shorten(columns[0])} is in the names of folders, "
                "which records keep; name a column of the files alone"
            )
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


def _files(source: str | os.PathLike[str]) -> list[tuple[str | os.PathLike[str], dict[str, str | None]]]:
    """Return the files of a data set, each with what the names of its folders say."""
    return [(part.path, dict(part.keys)) for part in find_parts(source)] if has_parts(source) else [(source, {})]


def _same(value: str | None, batch: Any) -> Any:
    """Return a column of one value for the records of a batch."""
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, pa.string()), len(batch))
