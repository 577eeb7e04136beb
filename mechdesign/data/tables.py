"""Columns of CSV and Parquet files in batches, so that a file of any size is read in constant memory (pyarrow).

Types are not inferred: every field of a CSV file is text. `mechdesign.data.csv_blocks` defines what a CSV file is.
The ending of a CSV file says whether it is compressed (``.gz``, ``.bz2``, ``.zst``).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.data.csv_blocks import (
    BLOCK_BYTES,
    HEADER_BYTES,
    WHITE_SPACE,
    Block,
    CsvRecord,
    blocks,
    field_count_error,
    has_no_space,
    other_separator,
)
from mechdesign.data.reading import check_regular
from mechdesign.errors import InputError, shorten

_LOOKED_AT = 10_000  # records, to tell whether the first line is one of them
_READERS = 2  # threads that read blocks of a CSV file ahead
BATCH_ROWS = 1 << 17  # of a Parquet file at a time
_CHUNK_BYTES = 1 << 28  # of a column in a row group of a Parquet file, uncompressed; a single value may take all of it
_LEAST_GROUP = 1 << 14  # rows of a row group on average, from which texts are read encoded
_SHORT = 2  # bytes: an index of a dictionary takes no more, and a text that is not encoded takes at least 4
_DICTIONARY_BYTES = 1 << 16
_DICTIONARY = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"})


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

    def only(self, names: Sequence[str]) -> Columns:
        """Return some of the columns, in the order of the file; the batches still hold all."""
        left = tuple(name for name in self.names if name in names)
        schema = self.schema
        for place in reversed(range(len(schema))):
            if schema.names[place] not in names:
                schema = schema.remove(place)
        return Columns(left, schema, self.batches)


def open_columns(
    path: str | os.PathLike[str],
    columns: Sequence[str],
    *,
    header: bool = True,
    show_values: bool = False,
    block_bytes: int | None = None,
    encoded: Sequence[str] = (),
) -> Columns:
    """Open some columns of a CSV or Parquet file.

    Parameters
    ----------
    path : path
        A Parquet file is recognised by its first bytes; every other file is read as CSV in UTF-8.
    columns : sequence of str
        Their names, or without a header their indices from 0.
    header : bool
        Whether the first line of a CSV file names the columns.
    show_values : bool
        Whether messages print the first line of a CSV file, which may be a record.
    block_bytes : int, optional
        How much of a CSV file is read at a time, by default 4 MiB; no record may be longer.
    encoded : sequence of str
        Columns whose texts are dictionary-encoded if the file is Parquet and holds them so, with few different texts.
        These are read several times as fast so.

    Raises
    ------
    InputError
        For an unreadable or malformed file, and a column that is missing or occurs twice.
    """
    wanted = list(columns) if header else [str(index_from(column)) for column in columns]
    for column in wanted:
        if wanted.count(column) > 1:
            raise InputError.column_twice(f"the column {shorten(column)} is asked for twice; name it once")
    with _refusing(path):
        if is_parquet(path):
            if not header:
                raise InputError.needless_argument(
                    f"{path} is a Parquet file, whose columns have names; leave out header=False"
                )
            return _open_parquet(path, wanted, encoded)
        return _open_csv(path, wanted, header=header, show_values=show_values, size=block_bytes or BLOCK_BYTES)


def column_names(path: str | os.PathLike[str], *, header: bool = True) -> tuple[str, ...]:
    """Return the names of the columns of a CSV or Parquet file; without a header their indices from 0, as text.

    Raises
    ------
    InputError
        For a file that is unreadable, malformed at its beginning, or empty.
    """
    import pyarrow.parquet as pq

    with _refusing(path):
        if is_parquet(path):
            return tuple(pq.read_schema(path).names)
        first, _ = _first_record(path, blocks(path, BLOCK_BYTES), header=header)
        return tuple(first.fields) if header else tuple(map(str, range(max(len(first.fields), 1))))


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like a Parquet file, after checking that it is a regular file."""
    check_regular(path, "a CSV or Parquet file")
    with Path(path).open("rb") as file:
        return file.read(4) == b"PAR1"


def position_of(column: str, names: Sequence[str], path: object, *, show_values: bool = True) -> int:
    """Return the position of a column among the names in a header.

    Parameters
    ----------
    column : str
    names : sequence of str
    path : path
        The file, for messages.
    show_values : bool
        Whether messages list the names; without it only how many there are, since the first line may be a record.

    Raises
    ------
    InputError
        If it is missing or occurs twice.
    """
    if names.count(column) != 1:
        problem = "occurs twice" if column in names else "is missing"
        hidden = "its one name" if len(names) == 1 else f"one of its {len(names)} names"
        listed = shorten(list(names), 200).strip("[]") if show_values else f"{hidden} (show_values lists them)"
        raise InputError.unknown_column(
            f"{path}: the column {shorten(column)} {problem} in the first line; accepted: {listed}, or, if that line "
            f"is data, an index with header=False{other_separator(list(names))}"
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
        raise InputError.unknown_column(
            f"the column is {shorten(column)}; without a header give its index, counted from 0"
        )
    return int(column)


@contextmanager
def _refusing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the errors of reading a file into errors that name it."""
    import pyarrow as pa

    try:
        yield
    except OSError as error:
        raise InputError.cannot_read(
            f"cannot read {path}: {error.strerror or error}; give a CSV or Parquet file"
        ) from error
    except pa.ArrowException as error:
        raise InputError.malformed_table(
            f"{path} is malformed ({shorten(str(error), 200)}); accepted: CSV or Parquet"
        ) from error


def _batches(reader: Iterator[Any], path: str | os.PathLike[str], names: Sequence[str]) -> Iterator[Any]:
    while True:
        with _refusing(path):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch.rename_columns(list(names))


def _open_csv(
    path: str | os.PathLike[str], columns: Sequence[str], *, header: bool, show_values: bool, size: int
) -> Columns:
    import pyarrow as pa

    first, left = _first_record(path, blocks(path, size), header=header)
    width = max(len(first.fields), 1)
    if header:
        found = all(first.fields.count(column) == 1 for column in columns)
        listed = found or show_values or _are_names(first.fields, left)
        places = sorted(position_of(column, first.fields, path, show_values=listed) for column in columns)
    else:
        places = sorted(map(int, columns))
        separated = other_separator(first.fields)
        if places[-1] >= width or separated:
            missing = f", so there is no column {places[-1]}" if places[-1] >= width else ""
            ways = ", or with a line of column names if its values have these signs" if separated else ""
            raise InputError.unknown_column(
                f"{path}: the first line has {width} field{'s' if width > 1 else ''}{missing}; accepted: "
                f"{f'0 to {width - 1}' if width > 1 else '0'}{separated}{ways}"
            )
    names = tuple(first.fields[place] if header else str(place) for place in places)
    schema = pa.schema([(name, pa.string()) for name in names])
    return Columns(names, schema, _batches(_in_parallel(left, lambda block: _batch(block, width, places)), path, names))


def _are_names(first: list[str], left: Iterator[Block]) -> bool:
    """Return whether a first line names columns, as far as the records below it tell, rather than being a record.

    Names begin with a letter, differ, and none stands below itself.
    """
    if len(set(first)) < len(first) or not all(name[:1].isalpha() or name[:1] == "_" for name in first):
        return False
    below = [record.fields for block in islice(left, 1) for record in islice(block.records(), _LOOKED_AT)]
    return any(below) and not any(name == text for fields in below for name, text in zip(first, fields, strict=False))


def _in_parallel(found: Iterator[Block], read: Callable[[Block], Any]) -> Iterator[Any]:
    """Yield the results of reading blocks, in the order of the file, while threads read the next blocks."""
    pool = ThreadPoolExecutor(_READERS)
    coming: deque[Future[Any]] = deque()
    try:
        for block in found:
            coming.append(pool.submit(read, block))
            if len(coming) > _READERS:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        # After an error it is the garbage collector that comes here, at any time and in any thread. In a thread that
        # is just starting, waiting for another thread would never end.
        pool.shutdown(wait=False, cancel_futures=True)


def _first_record(
    path: str | os.PathLike[str], found: Iterator[Block], *, header: bool
) -> tuple[CsvRecord, Iterator[Block]]:
    """Return the first record of a CSV file that is not an empty line, and the blocks of records to be read.

    A header and the empty lines before it are left out of the blocks. If a file without a header has only empty lines
    in its first block, it has one column.
    """
    for block in found:
        records = list(islice((record for record in block.records() if record.fields), 1))
        if not header:
            return records[0] if records else CsvRecord(block.line, [], 0), chain((block,), found)
        if records:
            start = records[0]
            left = block.after(start)
            if len(block.data) - len(left.data) > HEADER_BYTES:
                raise InputError.file_too_large(
                    f"{path}, line {start.line}: the column names take more than {HEADER_BYTES:,} bytes; give shorter "
                    "or fewer names, or say that there are none: header=False"
                )
            return start, chain((left,) if left.data else (), found)
    raise InputError.nothing_given(f"{path} is empty; give a line for each record")


def _batch(block: Block, width: int, places: Sequence[int]) -> Any:
    """Return some columns of a block, as text without white space around it."""
    import pyarrow as pa

    if block.is_simple() and (table := _parsed(block, width, places)) is not None:
        columns = [_trimmed(column.combine_chunks()) for column in table.columns]
    else:
        columns = [pa.array(texts, pa.string()) for texts in _read_by_definition(block, width, places)]
    return pa.record_batch(columns, [f"f{place}" for place in places])


def _trimmed(texts: Any) -> Any:
    """Return texts without white space around them; as they are if none of their bytes can belong to white space."""
    import pyarrow.compute as pc

    _, _, signs = texts.buffers()
    if signs is None or has_no_space(np.frombuffer(signs, np.uint8)):
        return texts
    return pc.utf8_trim(texts, characters=WHITE_SPACE)


def _parsed(block: Block, width: int, places: Sequence[int]) -> Any:
    """Return some columns of a block as pyarrow reads them; None if pyarrow refuses the block.

    The reader by definition then says what is wrong.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    fields = [f"f{place}" for place in places]
    try:
        return pa_csv.read_csv(
            pa.BufferReader(block.data),
            pa_csv.ReadOptions(
                use_threads=False, block_size=len(block.data) + 1, column_names=[f"f{place}" for place in range(width)]
            ),
            pa_csv.ParseOptions(newlines_in_values=block.has_quotes(), ignore_empty_lines=width > 1),
            pa_csv.ConvertOptions(
                include_columns=fields,
                column_types=dict.fromkeys(fields, pa.string()),
                strings_can_be_null=False,
                check_utf8=False,  # `blocks` has checked it
            ),
        )
    except pa.ArrowInvalid:
        return None


def _read_by_definition(block: Block, width: int, places: Sequence[int]) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in places]
    for record in block.records():
        if not record.fields and width > 1:
            continue
        fields = record.fields or [""]
        if len(fields) != width:
            raise field_count_error(block.source, record, width)
        for column, place in zip(columns, places, strict=True):
            column.append(fields[place])
    return columns


def _open_parquet(path: str | os.PathLike[str], columns: Sequence[str], encoded: Sequence[str]) -> Columns:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=BLOCK_BYTES)
    every = file.schema_arrow
    places = sorted(position_of(column, every.names, path) for column in columns)
    names = tuple(every.names[place] for place in places)
    for place in places:
        kind = every.field(place).type
        if pa.types.is_nested(kind):
            raise InputError.wrong_column_type(
                f"{path}: the column {shorten(every.names[place])} is of type {kind}; accepted: flat columns"
            )
    _check_chunks(path, file, names)
    texts = [name for name in encoded if is_text(every.field(name).type) and _has_few_texts(file, name)]
    if texts:
        file = pq.ParquetFile(
            path, metadata=file.metadata, read_dictionary=texts, pre_buffer=False, buffer_size=BLOCK_BYTES
        )
    schema = pa.schema([file.schema_arrow.field(place) for place in places])
    # Some versions of pyarrow cannot iterate over a file without row groups.
    reader = file.iter_batches(BATCH_ROWS, columns=list(names)) if file.num_row_groups else iter(())
    # Asked for a column "a.b", pyarrow also returns the "b" of a column "a" of structures.
    return Columns(names, schema, _batches((batch.select(list(names)) for batch in reader), path, names))


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow is that of texts, not encoded."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _has_few_texts(file: Any, name: str) -> bool:
    """Return whether a column of a Parquet file is read faster with a dictionary, as far as the footer says.

    A dictionary that grows with the rows is built again for each batch, and batches of encoded texts end where row
    groups end. Encodings of differences cannot be read with a dictionary.
    """
    if file.metadata.num_rows < _LEAST_GROUP * file.num_row_groups:
        return False
    chunks = [
        file.metadata.row_group(group).column(leaf)
        for leaf in range(len(file.schema))
        if file.schema.column(leaf).path == name
        for group in range(file.num_row_groups)
    ]
    return all(
        _DICTIONARY.issuperset(chunk.encodings)
        and chunk.total_uncompressed_size <= _SHORT * chunk.num_values + _DICTIONARY_BYTES
        for chunk in chunks
        if chunk.num_values
    )


def _check_chunks(path: str | os.PathLike[str], file: Any, names: Sequence[str]) -> None:
    """Refuse a column that takes much memory, before reading any of it: a few compressed bytes can hold a huge value.

    A chunk is read page by page, but a value lies within one page, and reading it takes several times its size. The
    sizes are those that the footer of the file states; a file that states smaller sizes than it has is still read.
    """
    leaves = [leaf for leaf in range(len(file.schema)) if file.schema.column(leaf).path in names]
    for group in range(file.num_row_groups):
        row_group = file.metadata.row_group(group)
        for leaf in leaves:
            size = row_group.column(leaf).total_uncompressed_size
            if size > _CHUNK_BYTES:
                raise InputError.file_too_large(
                    f"{path}: the column {shorten(file.schema.column(leaf).path)} takes {size:,} bytes uncompressed in "
                    f"row group {group + 1}; accepted: at most {_CHUNK_BYTES:,}, so write the file with smaller row "
                    "groups"
                )
