"""Counts of categories: checked, taken from raw samples, and read from CSV files without type inference."""

from __future__ import annotations

import operator
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from mechdesign.data.csv_blocks import other_separator, rows
from mechdesign.data.labels import by_falling_count, canonical_label, canonical_labels, default_labels
from mechdesign.data.part_columns import read_columns
from mechdesign.data.reading import check_regular
from mechdesign.errors import InputError, shorten

_LARGEST_COUNT = 10**15
_NO_COUNT = "excess"  # as `mechdesign.histogram.top_k` calls what it releases
_MOST_BYTES = 64 * 2**20  # of a table of counts; millions of labels
_ORDINALS = ("first", "second", "third")
_COUNTED = "use value_counts(), or L1Ball.from_samples"
RECORDS = f"these look like records; {_COUNTED}"


def checked_counts(counts: Mapping[Any, Any] | Sequence[object]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return labels and counts, after checking that they describe a distribution on two categories or more.

    Parameters
    ----------
    counts : mapping from label to count, or sequence of counts
        A sequence gets the labels ``x1`` to ``xN``; a pandas Series counts as a mapping.

    Raises
    ------
    InputError
        For negative, fractional or huge counts, one category only, an empty or an all-zero table. A message shows
        neither labels nor values of what looks like records, nor of series and arrays, which may hold them.

    Examples
    --------
    >>> checked_counts({"a": 3, "b": 1})
    (('a', 'b'), (3, 1))
    """
    if hasattr(counts, "columns"):
        raise InputError.not_counts(f"the counts are {shorten(counts)}; {RECORDS}")
    check_index(counts)
    stated = isinstance(counts, Mapping | list | tuple)  # by a person, not by a package
    if hasattr(counts, "keys") and hasattr(counts, "items"):
        # A mapping, or a pandas Series of counts.
        pairs = list(counts.items())
        values = [value for _, value in pairs]
        labels = _labels_of_counts([label for label, _ in pairs], stated=stated)
    elif isinstance(counts, str) or not isinstance(counts, Sequence | np.ndarray) or getattr(counts, "ndim", 1) != 1:
        raise InputError.not_counts(
            f"the counts are of type {type(counts).__name__}; give a mapping from labels to counts, or a list of counts"
        )
    else:
        values = list(counts)
        labels = default_labels(len(values))
    if len(values) < 2:
        known = f"one category ({shorten(labels[0])})" if values else "no category"
        raise InputError.too_few_categories(f"the table of counts has {known}; give at least two categories")
    checked = tuple(checked_count(value, label, stated=stated) for value, label in zip(values, labels, strict=True))
    if not any(checked):
        raise InputError.nothing_given("all counts are 0; give the counts of at least one record")
    return labels, checked


def check_index(counts: object) -> None:
    """Refuse a pandas Series that is only numbered: it is a column of records as likely as counts without labels."""
    if type(getattr(counts, "index", None)).__name__ == "RangeIndex":
        raise InputError.not_counts(f"the counts are {shorten(counts)} without labels; {RECORDS}")


def _labels_of_counts(given: list[object], *, stated: bool) -> tuple[str, ...]:
    """Return the labels of counts; a message shows one only if a person stated them."""
    try:
        return canonical_labels(given, len(given))
    except InputError:
        if stated:
            raise
        raise InputError.not_counts(
            f"the index of the counts has an entry twice, or one that is no label; {RECORDS}"
        ) from None


def checked_count(value: object, label: str, *, stated: bool = True) -> int:
    """Return a count, after checking that it is a whole number from 0 to 10^15.

    What is no number at all may be a record, and is not shown. Neither are numbers and labels that nobody ``stated``.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Number):
        raise InputError.not_counts(f"a count is a {type(value).__name__}; accepted: whole numbers; {RECORDS}")
    try:
        count = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if 0 <= count <= _LARGEST_COUNT:
        return count
    if not stated:
        raise InputError.not_counts(f"a count is not a whole number from 0 to 10^15; if these are records, {_COUNTED}")
    raise InputError.not_counts(
        f"the count of {shorten(label)} is {shorten(value)}; accepted: a whole number from 0 to 10^15"
    )


def tally(
    records: Iterable[object], labels: Iterable[object] | None = None, *, show_values: bool = False
) -> dict[str, int]:
    """Count records; the categories come by falling count, integers as numbers, unless they are given.

    Parameters
    ----------
    records : iterable of str or int
        The category of each record.
    labels : iterable, optional
        All categories, in the order of the result; a category without a record gets the count 0, and a
        record outside the categories is refused.
    show_values : bool
        Whether messages print a record that is refused; without it they name its position alone.

    Examples
    --------
    >>> tally(["b", "a", "b"])
    {'b': 2, 'a': 1}
    >>> tally(["b", "a", "b"], labels=["a", "b", "c"])
    {'a': 1, 'b': 2, 'c': 0}
    """
    if isinstance(records, str | Mapping) or not isinstance(records, Iterable) or getattr(records, "ndim", 1) != 1:
        raise InputError.wrong_record_type(
            f"the records are a {type(records).__name__}; give a list of records, one category each"
        )
    if isinstance(records, np.ndarray):
        records = records.tolist()
    alphabet = None if labels is None else list(labels)
    known = None if alphabet is None else canonical_labels(alphabet, len(alphabet))
    found: Counter[str] = Counter()
    among = None if known is None else frozenset(known)
    for index, record in enumerate(records):
        label = _label_of(record, "records[{}]", index, show_values=show_values)
        if among is not None and label not in among:
            raise InputError.unknown_label(
                f"records[{index}] is not among the {len(among)} labels given{_shown(record, show_values)}; add it to "
                "them"
            )
        found[label] += 1
    return _by_falling_count(found) if known is None else {label: found[label] for label in known}


def _by_falling_count(found: Counter[str]) -> dict[str, int]:
    return {label: found[label] for label in by_falling_count(found)}


def with_unseen(counts: Mapping[str, int], labels: Iterable[object]) -> dict[str, int]:
    """Return counts, and 0 for labels that were not seen.

    Raises
    ------
    InputError
        If a label was seen, occurs twice, or cannot be a label.

    Examples
    --------
    >>> with_unseen({"b": 2, "a": 1}, ["c", "other"])
    {'b': 2, 'a': 1, 'c': 0, 'other': 0}
    """
    given = list(labels)
    unseen = canonical_labels(given, len(given))
    seen = next((label for label in unseen if label in counts), None)
    if seen is not None:
        raise InputError.needless_argument(
            f"the unseen label {shorten(seen)} is among those that were counted; leave it out"
        )
    return dict(counts) | dict.fromkeys(unseen, 0)


def _label_of(
    value: object, place: str, *parts: object, show_values: bool, label: Callable[[object], str] = canonical_label
) -> str:
    """Return a value as a label; the message that refuses it prints it only with ``show_values``.

    The place, a format, is filled with its parts only for a message, since that would take as long as the checks.
    """
    try:
        return label(value)
    except InputError as error:
        where = place.format(*parts)
        if show_values:
            raise error.reworded(f"{where}: {error}") from None
    if isinstance(value, str) and not value:
        raise InputError.bad_label(f"{where} is empty; accepted: a label")
    kind = "text" if isinstance(value, str) else f"a {type(value).__name__}"
    raise InputError.bad_label(
        f"{where} is {kind} that cannot be a label (show_values prints it); accepted: an integer, or printable text of "
        "1 to 1,000 characters without white space at its ends"
    )


def _shown(value: object, show_values: bool) -> str:  # noqa: FBT001 - as it is passed on
    return f": {shorten(value)}" if show_values else " (show_values prints it)"


def read_counts(
    path: str | os.PathLike[str],
    *,
    header: bool = True,
    show_values: bool = False,
    label: Callable[[object], str] = canonical_label,
) -> dict[str, int]:
    """Read a CSV file of two columns, label and count, in the order of the file.

    Parameters
    ----------
    path : path
        A CSV file as `mechdesign.data.csv_blocks` defines it. Lines whose two fields are both empty are skipped,
        because spreadsheets write such lines.
    header : bool
        Whether the first line names the columns. A first line whose second field is a number is
        refused as a header, since it would be lost.
    show_values : bool
        Whether messages print what stands in a line that is refused; without it they name the line alone.
    label : callable
        Returns what a label is taken for, or refuses it.

    Raises
    ------
    InputError
        Naming the line, if it does not have two fields, its label occurs twice, or its count is not a whole number; if
        the column is that of excesses, which `histogram top-k` writes.
    """
    accepted = "two, a label and its count, separated by a comma"
    _, counts = read_labelled_counts(path, 1, "label", accepted, header=header, show_values=show_values, label=label)
    return {label: count for (label,), count in counts.items()}


def read_labelled_counts(
    path: str | os.PathLike[str],
    labels: int,
    what: str,
    accepted: str,
    *,
    header: bool,
    show_values: bool,
    label: Callable[[object], str] = canonical_label,
) -> tuple[list[str], dict[tuple[str, ...], int]]:
    """Read a CSV file whose last column is a count and whose others are labels.

    Parameters
    ----------
    path, header, show_values, label
        As for `read_counts`.
    labels : int
        How many labels a line has.
    what : str
        What these are together, in words: no two lines have the same.
    accepted : str
        The fields of a line in words, for messages.

    Returns
    -------
    names : list of str
        The fields of the header; without one, the indices of the columns from 0.
    counts : dict from tuple of str to int
        In the order of the file.

    Raises
    ------
    InputError
        As for `read_counts`.
    """
    check_regular(path, "a CSV file", _MOST_BYTES)
    names: list[str] = [] if header else [str(index) for index in range(labels + 1)]
    counts: dict[tuple[str, ...], int] = {}
    for line, (*given, text) in _filled_lines(path, labels + 1, accepted, show_values=show_values):
        count = _whole_number(text)
        if not names:
            if count is not None:
                first = _shown(",".join([*given, text]), show_values)
                raise InputError.first_line_is_data(
                    f"{path}: the first line is data{first}, not a header; pass header=False"
                )
            if text == _NO_COUNT:
                raise InputError.not_counts(
                    f"{path}: the column {_NO_COUNT!r} of `mechdesign histogram top-k` holds no counts; add the next "
                    "count to each value (--value-sigma releases it), and name the column count"
                )
            names = [*given, text]
            continue
        if count is None:
            raise InputError.not_counts(
                f"{path}, line {line}: the {_ORDINALS[labels]} field is not a count{_shown(text, show_values)}; "
                "accepted: a whole number from 0 to 10^15, without separators or decimals"
            )
        known = tuple(
            _label_of(field, "{}, line {}: the {} field", path, line, ordinal, show_values=show_values, label=label)
            for field, ordinal in zip(given, _ORDINALS, strict=False)
        )
        if known in counts:
            twice = _shown(",".join(given), show_values)
            raise InputError.label_twice(f"{path}, line {line}: the {what} occurs twice{twice}; {what}s must differ")
        counts[known] = count
    if not counts:
        raise InputError.nothing_given(f"{path} has no counts; give a line for each {what}, with its count")
    return names, counts


def _filled_lines(
    path: str | os.PathLike[str], fields: int, accepted: str, *, show_values: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each line of a table of counts that is not empty."""
    try:
        for record in rows(path):
            found = len(record.fields)
            if found not in (0, fields):
                separated = other_separator(record.fields)
                raise InputError.malformed_table(
                    f"{path}, line {record.line}: {found} field{'s' if found > 1 else ''}"
                    f"{_shown(','.join(record.fields), show_values)}; accepted: {accepted}{separated}"
                )
            if any(record.fields):
                yield record.line, record.fields
    except OSError as error:
        raise InputError.cannot_read(f"cannot read {path}: {error.strerror or error}; give a CSV file") from error


def count_column(
    path: str | os.PathLike[str], column: str, *, header: bool = True, show_values: bool = False
) -> dict[str, int]:
    """Count the values of one column of a file, or of the files of a folder, sorted by falling count, then by label.

    Parameters
    ----------
    path : path
        CSV (as `mechdesign.data.csv_blocks` defines it; types are not inferred) or Parquet.
    column : str
        The name of the column, or without a header its index from 0.
    header : bool
        Whether the first line names the columns.
    show_values : bool
        Whether messages print a value that is refused; without it they name its record alone.

    Raises
    ------
    InputError
        Naming the column or the record, counted from 1, if it is missing or cannot be a label.
    """
    found: Counter[str] = Counter()
    for batch in read_columns(path, [column], header=header, show_values=show_values):
        (values,) = batch.columns
        for entry in values.value_counts().to_pylist():
            try:
                found[canonical_label(entry["values"])] += entry["counts"]
            except InputError:
                row = values.to_pylist().index(entry["values"])
                _refuse_record(entry["values"], batch.record(row), show_values=show_values)
    return _by_falling_count(found)


def _refuse_record(value: object, where: str, *, show_values: bool) -> None:
    if value is None or value == "":
        raise InputError.missing_value(f"{where} is missing; give missing values a label, such as ?")
    _label_of(value, "{}", where, show_values=show_values)


def _whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
