"""Estimated tables of whole records: `TableEstimate`, `RecordEstimate`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import check_kind
from mechdesign.deploy.fit import Fit
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.display.frames import frame
from mechdesign.display.html import table
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries, frozen
from mechdesign.records.agreement import DISAGREE, Agreement
from mechdesign.records.record_views import JOINT, join, name_of

_ARRAYS = ("frequencies", "standard_errors", "intervals", "simultaneous_intervals", "identifiable")
_LEVELS = ("lower", "upper", "simultaneous_lower", "simultaneous_upper")
TABLE_COLUMNS = (
    "table",
    "label",
    "frequency",
    "standard_error",
    *_LEVELS,
    "identifiable",
    "reports",
    "few_reports",
)
"""The columns of the tidy table."""


@dataclass(frozen=True, eq=False)
class TableEstimate:
    """The estimated table of some attributes: the frequency of each possible combination of their values.

    Attributes
    ----------
    attributes : tuple of str
        Whose values.
    cells : tuple of tuples of str
        The possible combinations, in an order that all arrays have. A combination that is missing has frequency 0.
    frequencies : array, shape (N,)
        The estimate; it sums to 1, and has nan where reports do not determine it.
    standard_errors : array, shape (N,), or None
        Of the linear estimate; inf where reports do not determine it. None for consistent tables.
    intervals, simultaneous_intervals : array, shape (N, 2), or None
        A confidence interval for each cell, and wider ones that hold for all cells of all tables of the estimate at
        once (of all groups too). None for consistent tables.
    identifiable : bool array, shape (N,)
        Whether any number of reports would determine the frequency.
    views : tuple of str
        The views whose reports tell of it.
    reports : int
        The number of these reports.
    reports_needed : int
        With fewer the normal approximation behind standard errors is doubtful.
    method : {"maximum-likelihood", "least-squares", "windows"}
        Least squares combines reports of views that share attributes; it has no bias, and may be below 0. So may shares
        of candidate strings by windows, which are a part of all strings: they do not sum to 1.
    """

    attributes: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    frequencies: Floats
    standard_errors: Floats | None
    intervals: Floats | None
    simultaneous_intervals: Floats | None
    identifiable: NDArray[np.bool_]
    views: tuple[str, ...]
    reports: int
    reports_needed: int
    method: str

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, frozen(value))

    def __reduce__(self) -> tuple[Any, ...]:
        # The arrays of a copy are read-only too.
        return TableEstimate, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def name(self) -> str:
        """Its attributes with ``+`` between them."""
        return name_of(self.attributes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each cell: that of the value, or those of the combination with ``" & "`` between them."""
        return join(self.cells)

    @property
    def few_reports(self) -> bool:
        """Whether there are fewer reports than standard errors need."""
        return self.reports < self.reports_needed

    def __repr__(self) -> str:
        return f"TableEstimate({self.name}: {len(self.cells)} cells, {self.reports:,} reports, {self.method})"

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns ``table``, ``label``, ``frequency``, ``standard_error``, limits and marks.

        What is unknown is None: the errors and limits of consistent tables, and of cells that reports do not determine.
        """
        size = len(self.cells)
        limits = [each for pair in (self.intervals, self.simultaneous_intervals) for each in _sides(pair, size)]
        return {
            "table": [self.name] * size,
            "label": list(self.labels),
            "frequency": _finite(self.frequencies, size),
            "standard_error": _finite(self.standard_errors, size),
            **dict(zip(_LEVELS, limits, strict=True)),
            "identifiable": self.identifiable.tolist(),
            "reports": [self.reports] * size,
            "few_reports": [self.few_reports] * size,
        }

    def to_frame(self, library: str | None = None) -> Any:
        """Return `columns` as a frame of pandas or polars."""
        return frame(self.columns(), library)

    def matrix(self) -> Floats:
        """Return the table of two attributes as a matrix, a row for each value of the first; nan where impossible.

        Raises
        ------
        InputError
            If it has another number of attributes.
        """
        if len(self.attributes) != 2:
            raise InputError.wrong_size(
                f"the table {self.name} has {len(self.attributes)} attributes; accepted: two, so take .frequencies"
            )
        rows, columns = (tuple(dict.fromkeys(cell[side] for cell in self.cells)) for side in (0, 1))
        result = np.full((len(rows), len(columns)), np.nan)
        for (row, column), value in zip(self.cells, self.frequencies, strict=True):
            result[rows.index(row), columns.index(column)] = value
        return result


def _finite(values: Floats | None, size: int) -> list[float | None]:
    if values is None:
        return [None] * size
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _sides(intervals: Floats | None, size: int) -> list[list[float | None]]:
    return [_finite(None if intervals is None else intervals[:, side], size) for side in (0, 1)]


@dataclass(frozen=True, eq=False)
class RecordEstimate:
    """All tables that reports about whole records determine: of each attribute, of each pair in a view, of each view.

    Attributes
    ----------
    tables : tuple of TableEstimate
        Those of one attribute first, in the order of the views.
    views : mapping from str to FrequencyEstimate
        What the reports of each view that has some tell by themselves, with how well its mechanism explains them.
    counts : mapping from str to int
        The number of reports of each view.
    confidence : float
        Of each interval.
    consistent : bool
        Whether the tables are those of one joint law, none negative, without errors.
    likelihood_gap : float or None
        The log-likelihood of consistent tables is within this of the greatest, in nats.
    family : int
        How many intervals the simultaneous ones are: the cells of all tables, of all groups.
    agreement : Agreement
        Whether views that share attributes agree on them; ``agreement.p`` is the chance of a greater difference.
    draw_p : float
        The chance of numbers of reports of the views that lie farther from their weights (Pearson's chi-square).
    """

    tables: tuple[TableEstimate, ...]
    views: Mapping[str, FrequencyEstimate]
    counts: Mapping[str, int]
    confidence: float
    consistent: bool
    likelihood_gap: float | None
    family: int
    agreement: Agreement
    draw_p: float

    def __repr__(self) -> str:
        kind = "consistent tables" if self.consistent else "tables"
        whose = ", reports that this mechanism did not make" if self.fit.impossible else ""
        return f"RecordEstimate({len(self.tables)} {kind} from {self.reports:,} reports{whose})"

    def _repr_html_(self) -> str:
        shown = ("table", "label", "frequency", "standard_error", "lower", "upper")
        columns = self.columns()
        rows = list(zip(*(columns[name] for name in shown), strict=True))
        return table([name.replace("_", " ") for name in shown], rows, repr(self))

    def __iter__(self) -> Iterator[TableEstimate]:
        return iter(self.tables)

    def __getitem__(self, name: str | Iterable[str]) -> TableEstimate:
        return self.marginal(name)

    @property
    def reports(self) -> int:
        """The number of reports about all views."""
        return sum(self.counts.values())

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that have tables."""
        return tuple(table.name for table in self.tables if len(table.attributes) == 1)

    @property
    def draw_refuted(self) -> bool:
        """Whether ``draw_p`` is below 1e-6."""
        return self.draw_p < DISAGREE

    @property
    def few_reports(self) -> bool:
        """Whether some table has fewer reports than its standard errors need."""
        return any(found.few_reports for found in self.tables)

    @cached_property
    def fit(self) -> Fit:
        """How well the mechanisms of the views explain the reports."""
        return Fit.together(found.fit for found in self.views.values())

    def marginal(self, attributes: str | Iterable[str]) -> TableEstimate:
        """Return the table of some attributes, in any order.

        Parameters
        ----------
        attributes : str or iterable of str
            ``"sex+salary"``, or the names.

        Raises
        ------
        InputError
            For a table that no view determines; the message names those that there are.
        """
        accepted = "names of attributes, such as 'sex+salary'"
        names = attributes.split(JOINT) if isinstance(attributes, str) else entries(attributes, "the table", accepted)
        for name in names:
            check_kind(name, str, "the name of an attribute", accepted)
        for found in self.tables:
            if attributes == found.name or sorted(names) == sorted(found.attributes):
                return found
        listed = ", ".join(found.name for found in self.tables)
        raise InputError.not_identifiable(
            f"reports do not determine the table {shorten(name_of(names))}: no view with reports shows these "
            f"attributes together; accepted: {shorten(listed, 200)}; another table needs a view of its attributes"
        )

    def only(self, marginals: Iterable[str]) -> RecordEstimate:
        """Return the estimate with some of its tables alone; with all of them where none is named.

        Raises
        ------
        InputError
            As `marginal`.
        """
        chosen = tuple(dict.fromkeys(map(self.marginal, marginals)))
        return replace(self, tables=chosen) if chosen else self

    def columns(self) -> dict[str, list[Any]]:
        """Return all tables as one tidy table: a row for each cell, see `TableEstimate.columns`."""
        parts = [found.columns() for found in self.tables]
        return {name: [value for part in parts for value in part[name]] for name in TABLE_COLUMNS}

    def to_frame(self, library: str | None = None) -> Any:
        """Return the tidy table as a frame of pandas or polars."""
        return frame(self.columns(), library)
