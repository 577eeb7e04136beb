"""Columns of records as codes of their attributes, and columns of reports as numbers of outputs.

A record that a view does not know is refused whichever view is drawn: who is refused would else tell the draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Alphabet, Codes
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.origin import ReportOrigin
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_views import split
from mechdesign.windows.columns_of_strings import StringColumn

MOST_CELLS = 10_000_000
"""Combinations of the labels of a view's attributes, which are looked up in a table."""
Places = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ViewTable:
    """Where a view finds its category for a record.

    Attributes
    ----------
    name : str
        That of the view.
    places : tuple of int
        The columns of its attributes among the codes.
    sizes : tuple of int
        How many labels each of these has.
    categories : int32 array
        The category of each combination, the last attribute fastest; -1 where the view does not know it.
    """

    name: str
    places: tuple[int, ...]
    sizes: tuple[int, ...]
    symbols: Places
    is_full: bool

    @cached_property
    def in_order(self) -> bool:
        """Whether the category of each combination is its number, so that nothing has to be looked up."""
        return bool((self.symbols == np.arange(self.symbols.size)).all())

    def values(self, codes: Codes, rows: Any = slice(None)) -> Places:
        """Return the categories of records, or of some rows, given the codes of their attributes, shape (n, d)."""
        cells = _of_rows(codes[:, self.places[0]], rows)
        for place, size in zip(self.places[1:], self.sizes[1:], strict=True):
            cells = cells * np.int32(size) + _of_rows(codes[:, place], rows)
        symbols: Places = cells if self.in_order else self.symbols.take(cells)
        return symbols


def _of_rows(column: Codes, rows: Any) -> Places:
    """Return the codes of an attribute of some rows, which may be all."""
    own = column.take(rows) if isinstance(rows, np.ndarray) else column[rows]  # half the time of an index
    found: Places = own.astype(np.int32, copy=False)
    return found


@dataclass(frozen=True)
class StringView:
    """A view of an attribute that has any strings: its category is the fingerprint of the string."""

    name: str
    places: tuple[int, ...]

    def values(self, codes: Codes, rows: Any = slice(None)) -> Codes:
        """Return the fingerprints of records, or of some rows."""
        found: Codes = codes[rows, self.places[0]]
        return found


def alphabets_of(views: Sequence[tuple[str, tuple[str, ...], Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each attribute, over all views (name, attributes, labels) that show it."""
    found: dict[str, dict[str, None]] = {}
    for _, attributes, labels in views:
        for label in labels:
            for attribute, part in zip(attributes, split(label, len(attributes)), strict=True):
                found.setdefault(attribute, {})[part] = None
    return {attribute: tuple(labels) for attribute, labels in found.items()}


def view_tables(
    views: Sequence[tuple[str, tuple[str, ...], Sequence[str]]],
    columns: Sequence[str] = (),
    merged: Mapping[str, str] | None = None,
) -> tuple[ViewTable, ...]:
    """Return the table of each view; ``columns`` are all attributes in their order, by default those of the views.

    ``merged`` has by the name of a view the label that stands for all combinations that it does not list.

    Raises
    ------
    InputError
        For a view with too many combinations of labels.
    """
    alphabets = alphabets_of(views)
    order = {attribute: place for place, attribute in enumerate(columns or alphabets)}
    codes = {name: {label: code for code, label in enumerate(labels)} for name, labels in alphabets.items()}
    found = []
    for name, attributes, labels in views:
        sizes = tuple(len(alphabets[attribute]) for attribute in attributes)
        if math.prod(sizes) > MOST_CELLS:
            raise InputError.too_many_given(
                f"the view {name} has {math.prod(sizes):,} combinations of labels; accepted: at most {MOST_CELLS:,}, "
                "so show fewer attributes in a view, or merge rare labels"
            )
        symbols = np.full(sizes, -1, dtype=np.int32)
        for symbol, label in enumerate(labels):
            parts = split(label, len(attributes))
            symbols[tuple(codes[a][part] for a, part in zip(attributes, parts, strict=True))] = symbol
        if (rest := (merged or {}).get(name)) is not None:
            symbols[symbols < 0] = list(labels).index(rest)
        places = tuple(order[attribute] for attribute in attributes)
        found.append(ViewTable(name, places, sizes, symbols.ravel(), bool((symbols >= 0).all())))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """Turns the columns of attributes into codes, and refuses what a view does not know.

    Codes are places among labels. Those of columns of any strings are fingerprints of 64 bits, and then all have 64.
    """

    alphabets: Mapping[str, tuple[str, ...]]
    tables: tuple[ViewTable | StringView, ...]
    bins: Mapping[str, NumberBins]
    unknown: str | None = None
    missing: str | None = None
    where: Callable[[int], str] = "records[{}]".format
    show_values: bool = False
    strings: Mapping[str, StringColumn] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.attributes:
            object.__setattr__(self, "attributes", tuple(self.alphabets))
        for name, label in (("unknown", self.unknown), ("missing", None if self.strings else self.missing)):
            if label is not None and not any(label in labels for labels in self.alphabets.values()):
                raise InputError.unknown_label(
                    f"{name} values are to be taken for {shorten(label)}, which is not a label of any attribute; give "
                    "a label of those that lack values"
                )

    def codes_of_columns(self, columns: Sequence[Any]) -> Codes:
        """Return the codes of the attributes of each record, shape (n, d).

        Parameters
        ----------
        columns : sequence of pyarrow arrays
            One for each attribute, in their order.

        Raises
        ------
        InputError
            Naming the first record with a label, or a combination, that a view does not know, and the view.
        """
        codes = np.empty((len(columns[0]), len(columns)), self._type, order="F")  # views read some columns, all rows
        for place, (name, column) in enumerate(zip(self.attributes, columns, strict=True)):
            codes[:, place] = self._codes(name, column)
        for table in self.tables:
            if isinstance(table, StringView) or table.is_full:
                continue
            if (lost := np.flatnonzero(table.values(codes) < 0)).size:
                raise self._unknown(table, int(lost[0]), codes)
        return codes

    @property
    def _type(self) -> Any:
        return np.uint64 if self.strings else np.min_scalar_type(max(map(len, self.alphabets.values())) - 1)

    def _codes(self, name: str, column: Any) -> Codes:
        if name in self.strings:
            named = replace(self.strings[name], where=lambda row: f"{self.where(row)}, {shorten(name)}")
            strings: Codes = named.codes_of_arrow(column)
            return strings
        labels = self.alphabets[name]
        alphabet = Alphabet(
            labels,
            self.unknown if self.unknown in labels else None,
            self.missing if self.missing in labels else None,
            "labels",
            lambda row: f"{self.where(row)}, {shorten(name)}",
            show_values=self.show_values,
        )
        if name in self.bins:
            column = self.bins[name].labelled(column)
        return alphabet.codes_of_arrow(column)

    def _unknown(self, table: ViewTable, row: int, codes: Codes) -> InputError:
        parts = [(self.attributes[place], int(codes[row, place])) for place in table.places]
        shown = " and ".join(f"{name} {shorten(self.alphabets[name][code])}" for name, code in parts)
        value = f": {shown}" if self.show_values else " (show_values prints it)"
        what = "a label" if len(parts) == 1 else "a combination"
        return InputError.unknown_label(
            f"{self.where(row)} has {what} that the view {shorten(table.name)} does not know{value}; design the view "
            "with it, or leave the record out whatever view is drawn"
        )


@dataclass(frozen=True, eq=False)
class ReportColumns:
    """Turns the columns of views and of their reports into the numbers of outputs, those of all views in a row."""

    origins: Mapping[str, ReportOrigin]
    where: Callable[[int], str] = "reports[{}]".format
    show_values: bool = False

    def codes_of_columns(self, columns: Sequence[Any]) -> Codes:
        """Return the numbers of outputs, shape (n,).

        Raises
        ------
        InputError
            Naming the first report of a view that the mechanism lacks, or that is not an output of its view.
        """
        views, reports = columns
        names = Alphabet(tuple(self.origins), replaces=False, where=self._view, show_values=self.show_values)
        drawn = names.codes_of_arrow(views)
        codes, first = np.empty(len(drawn), dtype=np.int64), 0
        for place, origin in enumerate(self.origins.values()):
            rows = np.flatnonzero(drawn == place)
            if rows.size:
                where = Rows(self.where, rows)
                own = replace(origin.alphabet(), where=where, show_values=self.show_values)
                codes[rows] = first + own.codes_of_arrow(reports.take(rows))
            first += len(origin.outputs)
        return codes

    def _view(self, row: int) -> str:
        return f"{self.where(row)}: the view"


@dataclass(frozen=True, eq=False)
class Rows:
    """Names the rows of some records among all of them."""

    where: Callable[[int], str]
    rows: NDArray[np.intp]

    def __call__(self, row: int) -> str:
        """Return the name of a row of these."""
        return self.where(int(self.rows[row]))


@dataclass(frozen=True)
class RecordOrigin(ReportOrigin):
    """The views, and their mechanisms, that reports are said to come from."""

    of_views: tuple[tuple[str, ReportOrigin], ...] = ()

    def alphabet(self, **_: Any) -> Any:
        """Return what turns columns of views and reports into numbers of outputs."""
        return ReportColumns(dict(self.of_views))
