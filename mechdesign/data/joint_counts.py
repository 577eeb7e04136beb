"""Counts of pairs: how often each value of a secret was seen with each symbol of a useful column."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.data.counts import checked_count, read_labelled_counts
from mechdesign.data.labelled import own_labels, some_labels, table, vector
from mechdesign.data.labels import canonical_label, canonical_labels, default_labels
from mechdesign.data.tables import open_columns
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries

MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class JointCounts:
    """How often each value of a secret was seen with each symbol of a useful column.

    Attributes
    ----------
    counts : tuple of tuples of int
        A row for each value of the secret, a column for each symbol.
    values : tuple of str
        The values of the secret.
    labels : tuple of str
        The symbols of the useful column.
    """

    counts: tuple[tuple[int, ...], ...]
    values: tuple[str, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(
        cls, given: Any, values: Iterable[object] | None = None, labels: Iterable[object] | None = None
    ) -> JointCounts:
        """Return counts, checked.

        Parameters
        ----------
        given : mapping of mappings, data frame or rows of counts
            ``{value of the secret: {symbol: count}}``; a data frame with a row for each value of the secret; or a list
            of rows.
        values, labels : iterable, optional
            The values of the secret and the symbols, where the counts have none of their own.

        Raises
        ------
        InputError
            For what is not a table of counts, a secret of one value, one symbol only, and a value or a symbol that was
            never seen.

        Examples
        --------
        >>> JointCounts.of({"f": {"a": 3, "b": 1}, "m": {"b": 2, "a": 0}}).counts
        ((3, 1), (0, 2))
        """
        found, own_values, own = _parsed(given)
        secrets = _names(values, own_values, len(found), "s", "the values of the secret")
        symbols = _names(labels, own, len(found[0]) if found else 0, "x", "the symbols")
        if len(found) < 2:
            one = f"one value ({shorten(secrets[0])})" if found else "no value"
            raise InputError(f"the secret has {one}, which the counts determine; give counts of two values at least")
        if len(symbols) < 2:
            raise InputError(
                f"the joint counts have {len(symbols)} symbol{'' if len(symbols) == 1 else 's'}; give two at least"
            )
        for value, row in zip(secrets, found, strict=True):
            if len(row) != len(symbols):
                raise InputError(
                    f"the row {shorten(value)} has {len(row)} counts for {len(symbols)} symbols; give one for each"
                )
        if len(secrets) * len(symbols) > MOST_PAIRS:
            raise InputError(f"there are {len(secrets) * len(symbols)} pairs; accepted: at most {MOST_PAIRS}")
        counts = tuple(
            tuple(checked_count(count, f"{value}, {label}") for count, label in zip(row, symbols, strict=True))
            for value, row in zip(secrets, found, strict=True)
        )
        for value, total in zip(secrets, map(sum, counts), strict=True):
            if total == 0:
                raise InputError(
                    f"the joint counts have an empty row: the value {shorten(value)} of the secret was never seen; "
                    "leave it out"
                )
        for label, column in zip(symbols, zip(*counts, strict=True), strict=True):
            if not any(column):
                raise InputError(
                    f"the joint counts have an empty column: {shorten(label)} was never seen; leave it out, or merge "
                    "it with another symbol"
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
        """How often each symbol was seen."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    def conditional(self, place: int) -> tuple[Fraction, ...]:
        """Return the law of the useful column given a value of the secret."""
        row = self.counts[place]
        total = sum(row)
        return tuple(Fraction(count, total) for count in row)


def _parsed(given: Any) -> tuple[list[list[object]], tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return rows, and the labels of rows and columns where there are any."""
    if isinstance(given, Mapping):
        secrets = canonical_labels(list(given), len(given))
        found, symbols = [], None
        for value, row in zip(secrets, given.values(), strict=True):
            own = vector(row, f"the row {shorten(value)}")
            labels = own_labels(own.labels)
            if symbols is None:
                symbols = labels
            if (labels is None) != (symbols is None) or set(labels or ()) != set(symbols or ()):
                raise InputError(
                    f"the row {shorten(value)} counts {some_labels(labels or ())}, and the first row "
                    f"{some_labels(symbols or ())}; give a count for each symbol in each row, 0 for what was never seen"
                )
            counts = entries(own.values, f"the row {shorten(value)}", "a list of counts")
            places = {label: place for place, label in enumerate(labels or ())}
            found.append([counts[places[label]] for label in symbols] if symbols is not None else list(counts))
        return found, secrets, symbols
    framed = table(given, "the joint counts")
    wanted = "rows of counts, a row for each value of the secret"
    listed = framed.values.tolist() if isinstance(framed.values, np.ndarray) else framed.values
    found = [list(entries(row, "a row of the joint counts", "counts")) for row in entries(listed, "the counts", wanted)]
    return found, own_labels(framed.rows), own_labels(framed.columns)


def _names(
    given: Iterable[object] | None, own: tuple[str, ...] | None, size: int, letter: str, what: str
) -> tuple[str, ...]:
    if given is not None and own is not None:
        raise InputError(f"{what} are given beside counts that name them; leave them out")
    if given is not None:
        return canonical_labels(given, size)
    return tuple(own) if own is not None else default_labels(size, letter)


def _tabled(found: Mapping[tuple[str, str], int]) -> JointCounts:
    """Return a table with rows and columns by falling count, then by label; pairs that were not seen count 0."""
    values: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for (value, label), count in found.items():
        values[value] += count
        labels[label] += count
    secrets, symbols = (sorted(seen, key=lambda name: (-seen[name], name)) for seen in (values, labels))
    if len(secrets) * len(symbols) > MOST_PAIRS:
        raise InputError(f"there are {len(secrets) * len(symbols)} pairs; accepted: at most {MOST_PAIRS}")
    counts = [[found.get((value, label), 0) for label in symbols] for value in secrets]
    return JointCounts.of(counts, secrets, symbols)


def count_pairs(
    path: str | os.PathLike[str], secret: str, column: str, *, header: bool = True, show_values: bool = False
) -> JointCounts:
    """Count the pairs of values of two columns of a CSV or Parquet file.

    Parameters
    ----------
    path : path
        As for `mechdesign.data.counts.count_column`.
    secret, column : str
        The columns of the secret and of the useful symbols: their names, or without a header their indices from 0.
    header : bool
        Whether the first line names the columns.
    show_values : bool
        Whether messages print a value that is refused; without it they name its record alone.

    Raises
    ------
    InputError
        If a column is missing, both are the same, or a value cannot be a label.
    """
    if secret == column:
        raise InputError(f"the secret and the useful column are both {shorten(column)}; give two columns")
    found: Counter[tuple[str, str]] = Counter()
    before = 0
    opened = open_columns(path, [secret, column], header=header, show_values=show_values)
    places = [opened.names.index(name) for name in (secret, column)]
    for batch in opened.batches:
        pairs = Counter(zip(*(batch.column(place).to_pylist() for place in places), strict=True))
        for pair, count in pairs.items():
            try:
                found[canonical_label(pair[0]), canonical_label(pair[1])] += count
            except InputError as error:
                told = f": {error}" if show_values else " (show_values prints it)"
                both = list(zip(*(batch.column(place).to_pylist() for place in places), strict=True))
                raise InputError(
                    f"{path}, record {before + both.index(pair) + 1}: a value is missing or cannot be a label{told}"
                ) from None
        before += len(batch)
    if not found:
        raise InputError(f"{path} has no records; give a line for each record")
    return _tabled(found)


def read_joint_counts(
    path: str | os.PathLike[str], secret: str, *, header: bool = True, show_values: bool = False
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

    Raises
    ------
    InputError
        Naming the line, if it does not have three fields, its pair occurs twice, or its count is not a whole number.
    """
    accepted = "three, a value of each column and the count of the pair, separated by commas"
    names, counts = read_labelled_counts(path, 2, "pair", accepted, header=header, show_values=show_values)
    if secret not in names[:2] or names[0] == names[1]:
        listed = " and ".join(map(shorten, names[:2]))
        raise InputError(f"{path}: the secret {shorten(secret)} is not one of the first two columns, {listed}")
    if names[0] == secret:
        return _tabled({(first, second): count for (first, second), count in counts.items()}), names[1]
    return _tabled({(second, first): count for (first, second), count in counts.items()}), names[0]
