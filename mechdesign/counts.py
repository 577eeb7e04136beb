"""Counts of categories: checked, taken from raw samples, and read from CSV files without type inference."""

from __future__ import annotations

import csv
import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mechdesign.errors import InputError, shorten
from mechdesign.labels import canonical_label, canonical_labels, default_labels
from mechdesign.reading import check_regular
from mechdesign.tables import index_from, is_parquet, open_columns, position_of

_LARGEST_COUNT = 10**15
_MOST_BYTES = 64 * 2**20  # of a table of counts; millions of labels


def checked_counts(counts: Mapping[Any, Any] | Sequence[object]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return labels and counts, after checking that they describe a distribution on two categories or more.

    Parameters
    ----------
    counts : mapping from label to count, or sequence of counts
        A sequence gets the labels ``x1`` to ``xN``; a pandas Series counts as a mapping.

    Raises
    ------
    InputError
        For negative, fractional or huge counts, one category only, an empty or an all-zero table.

    Examples
    --------
    >>> checked_counts({"a": 3, "b": 1})
    (('a', 'b'), (3, 1))
    """
    if hasattr(counts, "keys") and hasattr(counts, "items"):
        # A mapping, or a pandas Series of counts.
        pairs = list(counts.items())
        labels = canonical_labels([label for label, _ in pairs], len(pairs))
        values = [value for _, value in pairs]
    elif isinstance(counts, str) or not isinstance(counts, Sequence | np.ndarray) or getattr(counts, "ndim", 1) != 1:
        raise InputError(f"counts are {shorten(counts)}; give a mapping from labels to counts, or a list of counts")
    else:
        values = list(counts)
        labels = default_labels(len(values))
    if len(values) < 2:
        known = f"one category ({shorten(labels[0])})" if values else "no category"
        raise InputError(f"the table of counts has {known}; give at least two categories")
    checked = tuple(checked_count(value, label) for value, label in zip(values, labels, strict=True))
    if not any(checked):
        raise InputError("all counts are 0; give the counts of at least one record")
    return labels, checked


def checked_count(value: object, label: str) -> int:
    """Return a count, after checking that it is a whole number from 0 to 10^15."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(
            f"the count of {shorten(label)} is {shorten(value)}; accepted: a whole number, 0 or more"
        ) from None
    if not 0 <= count <= _LARGEST_COUNT:
        raise InputError(f"the count of {shorten(label)} is {shorten(count)}; accepted: a whole number from 0 to 10^15")
    return count


def tally(records: Iterable[object], labels: Iterable[object] | None = None) -> dict[str, int]:
    """Count records; the categories come by falling count, then by label, unless they are given.

    Parameters
    ----------
    records : iterable of str or int
        One category a record.
    labels : iterable, optional
        The whole alphabet, in the order wanted; a category without a record gets the count 0, and a
        record outside the alphabet is refused.

    Examples
    --------
    >>> tally(["b", "a", "b"])
    {'b': 2, 'a': 1}
    >>> tally(["b", "a", "b"], labels=["a", "b", "c"])
    {'a': 1, 'b': 2, 'c': 0}
    """
    if isinstance(records, str | Mapping) or not isinstance(records, Iterable) or getattr(records, "ndim", 1) != 1:
        raise InputError(f"the records are {shorten(records)}; give a list of records, one category each")
    if isinstance(records, np.ndarray):
        records = records.tolist()
    found = Counter(canonical_label(record) for record in records)
    if labels is None:
        return _by_falling_count(found)
    alphabet = list(labels)
    known = canonical_labels(alphabet, len(alphabet))
    strange = sorted(found.keys() - set(known))
    if strange:
        raise InputError(f"the record {shorten(strange[0])} is not among the {len(known)} labels given; add it to them")
    return {label: found[label] for label in known}


def _by_falling_count(found: Counter[str]) -> dict[str, int]:
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def read_counts(path: str | os.PathLike[str], *, header: bool = True) -> dict[str, int]:
    """Read a CSV file of two columns, label and count, in the order of the file.

    Parameters
    ----------
    path : path
        A UTF-8 file; spaces around fields are stripped, empty lines skipped.
    header : bool
        Whether the first line names the columns. A first line whose second field is a number is
        refused as a header, since it would be lost.

    Raises
    ------
    InputError
        Naming the line, if it has not two fields, a label is twice, or a count is not a whole number.
    """
    check_regular(path, "a CSV file", _MOST_BYTES)
    counts: dict[str, int] = {}
    for line, row in _rows(path, header=header):
        if len(row) != 2:
            where = f"line {line}" if line else "the header"
            raise InputError(f"{path}, {where}: {len(row)} fields; accepted: two, a label and its count")
        label, text = row
        if line == 0:
            if _whole_number(text) is not None:
                raise InputError(
                    f"{path}: the first line {shorten(','.join(row))} is data, not a header; pass header=False"
                )
            continue
        count = _whole_number(text)
        if count is None:
            raise InputError(
                f"{path}, line {line}: the count of {shorten(label)} is {shorten(text)}; "
                "accepted: a whole number, 0 or more, without separators or decimals"
            )
        if label in counts:
            raise InputError(f"{path}, line {line}: the label {shorten(label)} occurs twice; labels must differ")
        counts[canonical_label(label)] = count
    if not counts:
        raise InputError(f"{path} has no counts; give a line for each label, with its count")
    return counts


def count_column(path: str | os.PathLike[str], column: str, *, header: bool = True) -> dict[str, int]:
    """Count the values of one column of a CSV or Parquet file; categories come by falling count, then by label.

    Parameters
    ----------
    path : path
        CSV in UTF-8 (spaces around fields are stripped, empty lines skipped, nothing is inferred) or Parquet.
    column : str
        Its name, or without a header its index from 0.
    header : bool
        Whether the first line names the columns.

    Raises
    ------
    InputError
        Naming the column or the line, if it is missing or empty.
    """
    index = None if header else index_from(column)
    found = _parquet_tally(path, column, header=header) if _is_parquet(path) else tally(_column(path, column, index))
    if not found:
        raise InputError(f"{path} has no records; give a line for each record")
    return found


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    try:
        return is_parquet(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a CSV or Parquet file") from error


def _parquet_tally(path: str | os.PathLike[str], column: str, *, header: bool) -> dict[str, int]:
    found: Counter[str] = Counter()
    for batch in open_columns(path, [column], header=header).batches:
        for entry in batch.column(0).value_counts().to_pylist():
            if entry["values"] is None:
                raise InputError(
                    f"{path}: the column {shorten(column)} has missing values; give them a label, such as ?"
                )
            found[canonical_label(entry["values"])] += entry["counts"]
    return _by_falling_count(found)


def _column(path: str | os.PathLike[str], column: str, index: int | None) -> Iterator[str]:
    for line, row in _rows(path, header=index is None):
        if index is None:
            index = position_of(column, row, path)
            continue
        if index >= len(row):
            raise InputError(
                f"{path}, line {line}: {len(row)} fields, so there is no column {shorten(column)}; "
                "accepted: the same columns in every line"
            )
        if not row[index]:
            raise InputError(
                f"{path}, line {line}: the column {shorten(column)} is empty; give unknown values a label, such as ?"
            )
        yield row[index]


def _rows(path: str | os.PathLike[str], *, header: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield line number (0 for a header) and stripped fields of each line that is not empty."""
    first = header
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            for row in reader:
                fields = [field.strip() for field in row]
                if not any(fields):
                    continue
                if len(fields) == 1 and (";" in fields[0] or "\t" in row[0]):
                    raise InputError(
                        f"{path}, line {reader.line_num}: {shorten(fields[0])} is one field; separate fields by commas"
                    )
                yield (0 if first else reader.line_num), fields
                first = False
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a CSV file") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 (byte {error.start}); convert it to UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path} is not CSV ({error}); give comma-separated values") from error


def _whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
