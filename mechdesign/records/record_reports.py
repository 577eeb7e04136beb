"""`estimate_records`: from reports about whole records in any container to tables, with or without groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from mechdesign.deploy.fit import ENOUGH, Fit
from mechdesign.deploy.grouped import GroupedEstimate, count_groups
from mechdesign.deploy.report_counts import GroupCounts
from mechdesign.display.html import table
from mechdesign.errors import InputError, shorten
from mechdesign.records.agreement import DISAGREE, Agreement
from mechdesign.records.record_estimation import RecordEstimation
from mechdesign.records.record_files import REPORTS
from mechdesign.records.record_frames import columns_of
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.string_tables import StringTables
from mechdesign.records.table_estimates import TABLE_COLUMNS, RecordEstimate

_ROWS = ("table", "label", "frequency", "standard_error", "lower", "upper")


class GroupedRecordEstimate(GroupedEstimate):
    """Tables of whole records in groups of reports: a `RecordEstimate` for each, in ``estimates``.

    It is a sequence of pairs of a group and its estimate, as `GroupedEstimate` is, and has its attributes.
    """

    def __repr__(self) -> str:
        by = ", ".join(map(repr, self.by))
        return f"GroupedRecordEstimate({len(self.groups)} groups by {by}, {self.reports:,} reports)"

    def _repr_html_(self) -> str:
        columns = self.columns()
        names = (*self.by, *_ROWS)
        rows = list(zip(*(columns[name] for name in names), strict=True))
        return table([name.replace("_", " ") for name in names], rows, repr(self))

    @property
    def agreement(self) -> Agreement:
        """Whether views that share attributes agree on them, in each group."""
        estimates: Any = self.estimates
        return Agreement.together(estimate.agreement for estimate in estimates)

    @property
    def draw_p(self) -> float:
        """The least ``draw_p`` of all groups and of all reports, times how many these are, at most 1."""
        parts: Any = (self.whole, *self.estimates)
        return min(1.0, len(parts) * float(min(part.draw_p for part in parts)))

    @property
    def draw_refuted(self) -> bool:
        """Whether ``draw_p`` is below 1e-6."""
        return self.draw_p < DISAGREE

    def only(self, marginals: Iterable[str]) -> GroupedRecordEstimate:
        """Return the estimates with some of their tables alone, in groups whose reports tell of them; with all if none.

        Raises
        ------
        InputError
            As `RecordEstimate.marginal`, if the reports of all groups do not determine one.
        """
        whole: Any = self.whole
        chosen = whole.only(marginals)
        names = {table.name for table in chosen}
        parts: Any = self.estimates
        some = (replace(part, tables=tuple(table for table in part if table.name in names)) for part in parts)
        return GroupedRecordEstimate(self.by, self.groups, tuple(some), self.types, chosen, self.fit)

    def columns(self) -> dict[str, list[Any]]:
        """Return the tidy table, a row for each cell of each table of each group: the group columns come first.

        Raises
        ------
        InputError
            If a group column has the name of another column.
        """
        parts = [estimate.columns() for estimate in self.estimates]
        for name in self.by:
            if name in TABLE_COLUMNS:
                raise InputError.column_twice(
                    f"the group column {shorten(name)} has the name of a column of the table of estimates; rename it: "
                    f"accepted are names other than {', '.join(TABLE_COLUMNS)}"
                )
        sizes = [len(part["table"]) for part in parts]
        whole: dict[str, list[Any]] = {
            name: [key for keys, size in zip(self.groups, sizes, strict=True) for key in [keys[place]] * size]
            for place, name in enumerate(self.by)
        }
        return whole | {name: [value for part in parts for value in part[name]] for name in TABLE_COLUMNS}


class _TableOptions(TypedDict, total=False):
    """What an estimate is, with or without groups."""

    confidence: float
    consistent: bool
    names: tuple[str, str]
    show_values: bool
    candidates: Mapping[str, Sequence[str]] | None
    references: Mapping[str, Mapping[str, float]] | None


@overload
def estimate_records(
    reports: GroupCounts, mechanism: RecordMechanism, *, by: None = None, **options: Unpack[_TableOptions]
) -> GroupedRecordEstimate: ...
@overload
def estimate_records(
    reports: Any, mechanism: RecordMechanism, *, by: None = None, **options: Unpack[_TableOptions]
) -> RecordEstimate: ...
@overload
def estimate_records(
    reports: Any, mechanism: RecordMechanism, *, by: object, **options: Unpack[_TableOptions]
) -> GroupedRecordEstimate: ...
def estimate_records(  # noqa: PLR0913 - what is estimated, of what, and how
    reports: Any,
    mechanism: RecordMechanism,
    *,
    by: Any = None,
    confidence: float = 0.95,
    consistent: bool = False,
    names: tuple[str, str] = REPORTS,
    show_values: bool = False,
    candidates: Mapping[str, Sequence[str]] | None = None,
    references: Mapping[str, Mapping[str, float]] | None = None,
) -> RecordEstimate | GroupedRecordEstimate:
    """Estimate the tables of whole records from reports, each about one view of a record.

    These are the table of each attribute, of each pair of attributes in a view, and of each view.

    Parameters
    ----------
    reports : frame, table, mapping, array or GroupCounts
        The columns of views and of reports, in any container that `RecordMechanism.privatize` takes; or what
        `mechdesign.deploy.count_reports` counted in files, with or without groups.
    mechanism : RecordMechanism
        The mechanism that made the reports.
    by : list, array, series, mapping, or frame, optional
        Groups in which tables are estimated: a value for each report, or several such columns, as
        `estimate_frequencies` takes them.
    confidence : float
        Of each interval, strictly between 0 and 1.
    consistent : bool
        Whether tables are to be those of one joint law, none negative, of greatest likelihood. These have no errors and
        no intervals; their error is about that of the linear estimates where all cells are large, and less where some
        are small. It takes all combinations of the attributes that views tie together, at most 10^6.
    names : tuple of str
        The names of the two columns.
    show_values : bool
        Whether messages print a report that is refused.
    candidates : mapping from the name of a view of windows to strings, optional
        Whose shares are estimated; a view of windows without candidates has no table.
    references : mapping from the name of a view of windows to shares of strings, optional
        Among the sample that proves (`WindowDesign.shares`); without it errors are greater.

    Returns
    -------
    RecordEstimate, or GroupedRecordEstimate

    Raises
    ------
    InputError
        If there are no reports, a report names a view that the mechanism lacks or is not an output of its view, or
        groups do not fit the reports; if a reference is not of the sample that proves its view.
    LimitError
        If views that overlap have more than 4,000 cells together, there are too many groups, or, for consistent tables,
        too many combinations.
    SolverError
        If a likelihood is not certified.

    Notes
    -----
    A view that shares no attribute with another is estimated from its own reports alone, as `estimate_frequencies`
    does: no estimate without bias has a smaller error, however the attributes depend on each other. Views that share
    attributes are combined by generalised least squares: the tables agree on what views share, have no bias, and may
    be below 0. The weights come from the reference priors of the views, never from the reports; the covariance is
    computed at the estimated laws, without approximation.

    Two reports about one person are not independent, and have no bound on what they tell together: each person reports
    once, or gives the same report again. Permanent reports count once (`FirstReports`).

    Examples
    --------
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> from mechdesign.records import RecordPart
    >>> fair = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, fair, ["n", "y"])
    >>> both = RecordMechanism([RecordPart(name, (name,), 1, warner) for name in ("smokes", "drinks")], weight_bits=1)
    >>> reports = {"view": ["smokes"] * 1000 + ["drinks"] * 1000, "report": (["n"] * 6 + ["y"] * 4) * 200}
    >>> found = estimate_records(reports, both)
    >>> found["smokes"].frequencies.round(4), found["smokes"].standard_errors.round(3)
    (array([0.7, 0.3]), array([0.031, 0.031]))
    """
    if not isinstance(mechanism, RecordMechanism):
        raise InputError.wrong_type(f"the mechanism is of type {type(mechanism).__name__}; give a RecordMechanism")
    strings = StringTables(mechanism, candidates or {}, references or {}).checked()
    estimation = RecordEstimation(mechanism, confidence, consistent, strings=strings)
    if isinstance(reports, GroupCounts):
        if by is not None:
            raise InputError.needless_argument("the reports are counted by groups already; leave out by")
        return estimate_record_groups(reports, estimation)
    if isinstance(reports, np.ndarray):
        if by is not None:
            raise InputError.conflicting_arguments(
                "the reports are counts, which belong to no group; with by, give the columns of views and reports"
            )
        return estimation.of_counts(reports.tolist())
    columns = replace(mechanism.origin.alphabet(), show_values=show_values)
    codes = columns.codes_of_columns(columns_of(reports, names))
    if by is None:
        return estimation.of_counts(np.bincount(codes, minlength=len(mechanism.outputs)).tolist())
    index = getattr(reports, "index", None)
    counted = count_groups(codes, mechanism.outputs, by, index if hasattr(index, "equals") else None)
    return estimate_record_groups(counted, estimation)


def estimate_record_groups(
    counted: GroupCounts, estimation: RecordEstimation, progress: Callable[[str], None] | None = None
) -> GroupedRecordEstimate:
    """Return the estimates from counts of reports by groups.

    Raises
    ------
    InputError
        If there are no reports, or their outputs are not those of the mechanism.
    """
    mechanism = estimation.mechanism
    if tuple(counted.labels) != mechanism.outputs:
        mechanism.origin.check_names(counted.labels, "the counts by groups are of other outputs:")
        raise InputError.wrong_mechanism(
            "the counts by groups are of other outputs than the mechanism has; count with the mechanism"
        )
    many = len(counted.groups)
    if not many:
        raise InputError.nothing_given("there are no reports; give at least one")
    estimates: list[Any] = []
    for counts in counted.counts.tolist():
        estimates.append(estimation.of_counts(counts, many))
        if progress is not None:
            progress(f"estimating: {len(estimates):,} of {many:,} groups")
    whole: Any = estimation.of_counts(counted.counts.sum(axis=0).tolist())
    return GroupedRecordEstimate(
        counted.by, counted.groups, tuple(estimates), counted.types, whole, _fit(estimates, whole)
    )


def _fit(estimates: Sequence[RecordEstimate], whole: RecordEstimate) -> Fit:
    """Return how well the mechanism explains the reports of all groups; of all together if some have few in a view."""
    enough = all(found.reports >= ENOUGH for estimate in estimates for found in estimate.views.values())
    return Fit.together(estimate.fit for estimate in estimates) if enough else whole.fit
