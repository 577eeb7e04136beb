"""Columns of CSV and Parquet files in batches, so that a file of any size is read in constant memory (pyarrow).

Nothing is inferred: every field of a CSV file is text, without the spaces around it. Compressed CSV files are
known by their ending (``.gz``, ``.bz2``, ``.zst``).
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mechdesign.errors import InputError, shorten
from mechdesign.reading import check_regular

_BLOCK_BYTES = 1 << 22  # of a CSV file at a time; no line may be longer
_BATCH_ROWS = 1 << 17  # of a Parquet file at a time
_HEADER_BYTES = 1 << 20


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns of a file.

    Attributes
    ----------
    names : tuple of str
        In the order of the file; without a header their indices from 0, as text.
    schema : pyarrow.Schema
        Their names and types.
    batches : iterator of pyarrow.RecordBatch
        Their rows. Taking the next one raises InputError where the file is malformed.
    """

    names: tuple[str, ...]
    schema: Any
    batches: Iterator[Any]


def open_columns(path: str | os.PathLike[str], columns: Sequence[str], *, header: bool = True) -> Columns:
    """Open some columns of a CSV or Parquet file.

    Parameters
    ----------
    path : path
        Parquet is known by its first bytes; everything else is CSV in UTF-8.
    columns : sequence of str
        Their names, or without a header their indices from 0.
    header : bool
        Whether the first line of a CSV file names the columns.

    Raises
    ------
    InputError
        For an unreadable or malformed file, and a column that is missing or occurs twice.
    """
    wanted = list(columns) if header else [str(index_from(column)) for column in columns]
    for column in wanted:
        if wanted.count(column) > 1:
            raise InputError(f"the column {shorten(column)} is asked for twice; name it once")
    with _refusing(path):
        if is_parquet(path):
            if not header:
                raise InputError(f"{path} is a Parquet file, whose columns have names; leave out header=False")
            return _open_parquet(path, wanted)
        return _open_csv(path, wanted, header=header)


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as Parquet files do, after checking that it is a regular file."""
    check_regular(path, "a CSV or Parquet file")
    with Path(path).open("rb") as file:
        return file.read(4) == b"PAR1"


def position_of(column: str, names: Sequence[str], path: object) -> int:
    """Return the position of a column among the names in a header.

    Raises
    ------
    InputError
        If it is missing or occurs twice.
    """
    if names.count(column) != 1:
        problem = "occurs twice" if column in names else "is missing"
        raise InputError(
            f"{path}: the column {shorten(column)} {problem}; accepted: {shorten(', '.join(names), 200)}, "
            "or, if that line is data, an index with header=False"
        )
    return names.index(column)


def index_from(column: str) -> int:
    """Return the index of a column in a file without a header.

    Raises
    ------
    InputError
        If it is not a whole number.
    """
    if not (column.isascii() and column.isdigit() and len(column) <= 9):
        raise InputError(f"the column is {shorten(column)}; without a header give its index, counted from 0")
    return int(column)


@contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the errors of reading a file into errors that name it."""
    import pyarrow as pa

    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}; give a CSV or Parquet file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}); convert it to UTF-8") from error
    except (csv.Error, pa.ArrowException) as error:
        message = str(error)
        if "invalid UTF8" in message:
            raise InputError(f"{path} is not UTF-8 ({shorten(message, 120)}); convert it to UTF-8") from error
        raise InputError(
            f"{path} is malformed ({shorten(message, 200)}); accepted: CSV with as many fields in "
            "every line and quotes right after commas, or Parquet"
        ) from error


def _batches(reader: Iterator[Any], path: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Any]:
    while True:
        with _refusing(path):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch.rename_columns(list(names))


def _open_csv(path: str | os.PathLike[str], columns: Sequence[str], *, header: bool) -> Columns:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv

    first, lines, is_all = _first_line(path)
    if header:
        places = sorted(position_of(column, first, path) for column in columns)
    else:
        places = sorted(map(int, columns))
        if places[-1] >= len(first):
            raise InputError(
                f"{path}: the first line has {len(first)} fields, so there is no column {places[-1]}; "
                f"accepted: 0 to {len(first) - 1}"
            )
    names = tuple(first[place] if header else str(place) for place in places)
    schema = pa.schema([(name, pa.string()) for name in names])
    if header and is_all:
        return Columns(names, schema, iter(()))
    fields = [f"f{place}" for place in places]
    reader = pa_csv.open_csv(
        pa.input_stream(os.fspath(path), compression="detect"),
        pa_csv.ReadOptions(block_size=_BLOCK_BYTES, autogenerate_column_names=True, skip_rows=lines if header else 0),
        pa_csv.ParseOptions(newlines_in_values=True),
        pa_csv.ConvertOptions(
            include_columns=fields, column_types=dict.fromkeys(fields, pa.string()), strings_can_be_null=False
        ),
    )

    def trimmed() -> Iterator[Any]:
        for batch in reader:
            yield pa.record_batch([pc.utf8_trim_whitespace(column) for column in batch.columns], list(fields))

    return Columns(names, schema, _batches(trimmed(), path, names))


def _first_line(path: str | os.PathLike[str]) -> tuple[list[str], int, bool]:
    """Return the fields of the first line that is not empty, how many lines end with it, and whether it is the last."""
    import pyarrow as pa

    with pa.input_stream(os.fspath(path), compression="detect") as stream:
        start = codecs.getincrementaldecoder("utf-8-sig")().decode(stream.read(_HEADER_BYTES))
    reader = csv.reader(io.StringIO(start, newline=""), skipinitialspace=True, strict=True)
    for row in reader:
        fields = [field.strip() for field in row]
        if any(fields):
            lines = reader.line_num
            return fields, lines, len(start) < _HEADER_BYTES // 4 and not any(map(any, reader))
    raise InputError(f"{path} is empty; give a line for each record")


def _open_parquet(path: str | os.PathLike[str], columns: Sequence[str]) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BLOCK_BYTES)
    every = file.schema_arrow
    places = sorted(position_of(column, every.names, path) for column in columns)
    names = tuple(every.names[place] for place in places)
    for place in places:
        kind = every.field(place).type
        if pa.types.is_nested(kind):
            raise InputError(
                f"{path}: the column {shorten(every.names[place])} is of type {kind}; accepted: flat columns"
            )
    schema = pa.schema([every.field(place) for place in places])
    # Some versions of pyarrow cannot iterate over no row group.
    reader = file.iter_batches(_BATCH_ROWS, columns=list(names)) if file.num_row_groups else iter(())
    return Columns(names, schema, _batches(reader, path, names))
