"""Counts of pairs: how often each value of a secret was seen with each category of a useful column."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from mechdesign.data.counts import RECORDS, checked_count, read_labelled_counts
from mechdesign.data.labelled import own_labels, some_labels, table, vector
from mechdesign.data.labels import by_falling_count, canonical_label, canonical_labels, default_labels
from mechdesign.data.part_columns import read_columns
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries

MOST_PAIRS = 1_000_000
About = Literal["secret", "group"]


@dataclass(frozen=True)
class JointCounts:
    """How often each value of a secret was seen with each category of a useful column.

    Attributes
    ----------
    counts : tuple of tuples of int
        A row for each value of the secret, a column for each category.
    values : tuple of str
        The values of the secret.
    labels : tuple of str
        The categories of the useful column.
    """

    counts: tuple[tuple[int, ...], ...]
    values: tuple[str, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(
        cls,
        given: Any,
        values: Iterable[object] | None = None,
        labels: Iterable[object] | None = None,
        *,
        about: About = "secret",
    ) -> JointCounts:
        """Return counts, checked.

        Parameters
        ----------
        given : mapping of mappings, data frame or rows of counts
            ``{value of the secret: {category: count}}``; a data frame with a row for each value of the secret; or a
            list of rows.
        values, labels : iterable, optional
            The values of the secret and the categories, where the counts have none of their own.
        about : str
            What the rows are for: the values of a ``"secret"``, or each a ``"group"`` of records. A category may be
            missing from all groups.

        Raises
        ------
        InputError
            For what is not a table of counts, a secret of one value, one category only, and a value or a category that
            was never seen.

        Examples
        --------
        >>> JointCounts.of({"f": {"a": 3, "b": 1}, "m": {"b": 2, "a": 0}}).counts
        ((3, 1), (0, 2))
        """
        found, own_values, own = _parsed(given)
        secrets = _names(values, own_values, len(found), "s", f"the values of the {about}")
        symbols = _names(labels, own, len(found[0]) if found else 0, "x", "the categories")
        _check_sizes(found, secrets, symbols, about)
        stated = isinstance(given, Mapping | list | tuple)  # by a person, not by a package
        counts = tuple(
            tuple(
                checked_count(count, f"{value}, {label}", stated=stated)
                for count, label in zip(row, symbols, strict=True)
            )
            for value, row in zip(secrets, found, strict=True)
        )
        for value, total in zip(secrets, map(sum, counts), strict=True):
            if total == 0:
                whose = f"group {shorten(value)}" if about == "group" else f"the value {shorten(value)} of the secret"
                raise InputError.never_occurs(
                    f"the joint counts have an empty row: {whose} was never seen; leave it out"
                )
        for label, column in zip(symbols, zip(*counts, strict=True), strict=True):
            if about == "secret" and not any(column):
                raise InputError.never_occurs(
                    f"the joint counts have an empty column: {shorten(label)} was never seen; leave it out, or merge "
                    "it with another category"
                )
        return cls(counts, secrets, symbols)

    @property
    def total(self) -> int:
        """The number of records."""
        return sum(self.of_values)

    @property
    def of_values(self) -> tuple[int, ...]:
        """How often each value of the secret was seen."""
        return tuple(map(sum, self.counts))

    @property
    def of_symbols(self) -> tuple[int, ...]:
        """How often each category was seen."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    def conditional(self, place: int) -> tuple[Fraction, ...]:
        """Return the law of the useful column given a value of the secret."""
        row = self.counts[place]
        total = sum(row)
        return tuple(Fraction(count, total) for count in row)


def _parsed(given: Any) -> tuple[list[list[object]], tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return rows, and the labels of rows and columns where there are any."""
    if isinstance(given, Mapping):
        _check_rows(given.values())
        secrets = canonical_labels(list(given), len(given))
        found, symbols = [], None
        for value, row in zip(secrets, given.values(), strict=True):
            own = vector(row, f"the row {shorten(value)}")
            labels = own_labels(own.labels)
            if symbols is None:
                symbols = labels
            if (labels is None) != (symbols is None) or set(labels or ()) != set(symbols or ()):
                raise InputError.labels_differ(
                    f"the row {shorten(value)} counts {some_labels(labels or ())}, and the first row "
                    f"{some_labels(symbols or ())}; give a count for each category in each row, 0 for "
                    "what was never seen"
                )
            counts = entries(own.values, f"the row {shorten(value)}", "a list of counts")
            places = {label: place for place, label in enumerate(labels or ())}
            found.append([counts[places[label]] for label in symbols] if symbols is not None else list(counts))
        return found, secrets, symbols
    framed = table(given, "the joint counts")
    wanted = "rows of counts, a row for each value of the secret, or each group"
    listed = framed.values.tolist() if isinstance(framed.values, np.ndarray) else framed.values
    rows = entries(listed, "the counts", wanted)
    _check_rows(rows)
    found = [list(entries(row, "a row of the joint counts", "counts")) for row in rows]
    return found, own_labels(framed.rows), own_labels(framed.columns)


def _check_sizes(rows: Sequence[Sequence[object]], secrets: Sequence[str], symbols: Sequence[str], about: str) -> None:
    """Refuse a table of one row or one column, rows of other lengths, and too many pairs."""
    if len(rows) < 2:
        one = f"one value ({shorten(secrets[0])})" if rows else "no value"
        known = ", which the counts determine" if about == "secret" else ""
        raise InputError.too_few_categories(f"the {about} has {one}{known}; give counts of two values at least")
    if len(symbols) < 2:
        raise InputError.too_few_categories(
            f"the joint counts have {len(symbols)} categor{'y' if len(symbols) == 1 else 'ies'}; give two at least"
        )
    for value, row in zip(secrets, rows, strict=True):
        if len(row) != len(symbols):
            raise InputError.wrong_size(
                f"the row {shorten(value)} has {len(row)} counts for {len(symbols)} categories; give one for each"
            )
    _check_pairs(len(secrets) * len(symbols))


def _check_pairs(count: int) -> None:
    if count > MOST_PAIRS:
        raise InputError.too_many_given(f"there are {count} pairs; accepted: at most {MOST_PAIRS}")


def _check_rows(rows: Iterable[object]) -> None:
    """Refuse rows that are no rows, which may be records."""
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise InputError.not_counts(
                f"a row of the joint counts is a {type(row).__name__}; accepted: counts; {RECORDS}"
            )


def _names(
    given: Iterable[object] | None, own: tuple[str, ...] | None, size: int, letter: str, what: str
) -> tuple[str, ...]:
    if given is not None and own is not None:
        raise InputError.needless_argument(f"{what} are given beside counts that name them; leave them out")
    if given is not None:
        return canonical_labels(given, size)
    return tuple(own) if own is not None else default_labels(size, letter)


def _tabled(found: Mapping[tuple[str, str], int], about: About) -> JointCounts:
    """Return a table with rows and columns by falling count, integers as numbers; pairs that were not seen count 0."""
    values: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for (value, label), count in found.items():
        values[value] += count
        labels[label] += count
    secrets, symbols = by_falling_count(values), by_falling_count(labels)
    _check_pairs(len(secrets) * len(symbols))
    counts = [[found.get((value, label), 0) for label in symbols] for value in secrets]
    return JointCounts.of(counts, secrets, symbols, about=about)


def count_pairs(
    path: str | os.PathLike[str],
    secret: str,
    column: str,
    *,
    header: bool = True,
    show_values: bool = False,
    about: About = "secret",
) -> JointCounts:
    """Count the pairs of values of two columns of a file, or of the files of a folder.

    Parameters
    ----------
    path : path
        As for `mechdesign.data.counts.count_column`.
    secret, column : str
        The columns of the secret and of the useful categories: their names, or without a header their indices from 0.
    header : bool
        Whether the first line names the columns.
    show_values : bool
        Whether messages print a value that is refused; without it they name its record alone.
    about : str
        As for `JointCounts.of`.

    Raises
    ------
    InputError
        If a column is missing, both are the same, or a value cannot be a label.
    """
    if secret == column:
        raise InputError.column_twice(f"the {about} and the useful column are both {shorten(column)}; give two columns")
    found: Counter[tuple[str, str]] = Counter()
    for batch in read_columns(path, [secret, column], header=header, show_values=show_values):
        records = list(zip(*(values.to_pylist() for values in batch.columns), strict=True))
        for pair, count in Counter(records).items():
            try:
                found[canonical_label(pair[0]), canonical_label(pair[1])] += count
            except InputError as error:
                detail = f": {error}" if show_values else " (show_values prints it)"
                raise InputError.bad_label(
                    f"{batch.record(records.index(pair))}: a value is missing or cannot be a label{detail}"
                ) from None
    return _tabled(found, about)


def read_joint_counts(
    path: str | os.PathLike[str],
    secret: str,
    *,
    header: bool = True,
    show_values: bool = False,
    about: About = "secret",
) -> tuple[JointCounts, str]:
    """Read a CSV file of three columns, of which the last is the count of the pair; return also the useful column.

    Parameters
    ----------
    path : path
        A CSV file. Pairs that it does not list were seen 0 times.
    secret : str
        Which of the first two columns is the secret: its name, or without a header 0 or 1.
    header : bool
        Whether the first line names the columns.
    show_values : bool
        Whether messages print what stands in a line that is refused; without it they name the line alone.
    about : str
        As for `JointCounts.of`.

    Raises
    ------
    InputError
        Naming the line, if it does not have three fields, its pair occurs twice, or its count is not a whole number.
    """
    accepted = "three, a value of each column and the count of the pair, separated by commas"
    names, counts = read_labelled_counts(path, 2, "pair", accepted, header=header, show_values=show_values)
    if secret not in names[:2] or names[0] == names[1]:
        listed = " and ".join(map(shorten, names[:2]))
        raise InputError.unknown_column(
            f"{path}: the {about} {shorten(secret)} is not one of the first two columns, {listed}"
        )
    if names[0] == secret:
        return _tabled({(first, second): count for (first, second), count in counts.items()}, about), names[1]
    return _tabled({(second, first): count for (first, second), count in counts.items()}, about), names[0]
