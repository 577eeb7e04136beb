"""Frequencies estimated in groups of reports: one estimate a group, and all of them as one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from mechdesign.data.alphabet import Codes
from mechdesign.data.checks import check_kind
from mechdesign.data.containers import arrow_column
from mechdesign.data.group_keys import Key, Keys, in_words, named
from mechdesign.deploy.estimation import Estimation
from mechdesign.deploy.fit import Fit, fit_of_groups
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.report_counts import GroupCounter, GroupCounts
from mechdesign.display.frames import frame
from mechdesign.display.html import facts, table
from mechdesign.errors import InputError, LimitError, shorten

COLUMNS = ("label", "frequency", "standard_error", "lower", "upper")
SIMULTANEOUS = ("simultaneous_lower", "simultaneous_upper")
MARKS = ("identifiable", "reports", "few_reports")
_NAME = "group"  # of a column that comes without a name
_MOST_COVARIANCES = 1 << 27  # 1 GiB


@dataclass(frozen=True, eq=False)
class GroupedEstimate:
    """Estimates of the frequencies of the true categories in groups of reports.

    An estimate by groups is a sequence of pairs of a group and its estimate. ``found["north"]`` is the estimate of a
    group, ``found["north", 2026]`` with two group columns.

    Attributes
    ----------
    by : tuple of str
        The group columns.
    groups : tuple of tuples
        A key for each group column; None stands for missing values, which form a group of their own. In the order of
        the keys, missing values last.
    estimates : tuple of FrequencyEstimate
        One a group. Their simultaneous intervals hold for all categories of all groups at once.
    types : tuple of pyarrow.DataType
        Of the keys in each group column.
    whole : FrequencyEstimate
        Of all groups together.
    fit : Fit
        How well the mechanism explains the reports, where each group has frequencies of its own; groups of
        fewer than 100 reports are judged in batches.
    """

    by: tuple[str, ...]
    groups: tuple[Keys, ...]
    estimates: tuple[FrequencyEstimate, ...]
    types: tuple[Any, ...]
    whole: FrequencyEstimate
    fit: Fit

    def __repr__(self) -> str:
        few = sum(estimate.few_reports for estimate in self.estimates)
        first = self.estimates[0]
        whose = " that this mechanism did not make" if self.fit.impossible else ""
        return (
            f"GroupedEstimate({len(self.groups)} groups by {', '.join(map(repr, self.by))}, "
            f"{len(first.labels)} categories, {self.reports:,} reports{whose}, {first.method} of {first.of}, "
            f"{few} group{'' if few == 1 else 's'} with few reports)"
        )

    def _repr_html_(self) -> str:
        first = self.estimates[0]
        level = f"{100 * first.confidence:g} % interval"
        columns = [*self.by, "reports", "category", "frequency", "standard error", f"{level} from", "to"]
        rows = [
            [*map(in_words, keys), f"{estimate.reports:,}{' (few)' if estimate.few_reports else ''}", *cells]
            for keys, estimate in self
            for cells in zip(*(estimate_columns(estimate)[name] for name in COLUMNS), strict=True)
        ]
        caption = f"Frequencies of {first.of} from {self.reports:,} reports in {len(self):,} groups, {first.method}"
        lines = []
        if self.fit.impossible:
            lines.append(("these are not reports of this mechanism", f"p = {self.fit.p:.1g}"))
        outside = sum(estimate.outside is not None for estimate in self.estimates)
        if outside:
            lines.append(("outside of the priors of the guarantee", f"{outside:,} of {len(self):,} groups"))
        return table(columns, rows, caption) + (facts(lines) if lines else "")

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[tuple[Keys, FrequencyEstimate]]:
        return iter(zip(self.groups, self.estimates, strict=True))

    def __getitem__(self, group: Key | Keys) -> FrequencyEstimate:
        keys = group if isinstance(group, tuple) else (group,)
        if keys not in self.groups:
            shown = ", ".join(map(in_words, self.groups[0]))
            raise InputError.unknown_group(
                f"there is no group {shorten(group)}; accepted: one of .groups, such as {shown}"
            )
        return self.estimates[self.groups.index(keys)]

    def difference(self, first: Key | Keys, second: Key | Keys) -> dict[str, list[Any]]:
        """Return how much more frequent each category is in one group than in another, with intervals.

        Reports of two groups are independent, so that the variances add. The interval is that of the normal
        approximation, each for one category by itself; where a group has few reports it is doubtful, as standard errors
        are.

        Parameters
        ----------
        first, second : key of a group
            As for ``estimate[...]``.

        Returns
        -------
        dict from str to list
            ``label``, ``difference`` (first minus second), ``standard_error`` (inf where a category is not
            identifiable), ``lower`` and ``upper``: columns, which a frame takes as they are.

        Raises
        ------
        InputError
            For a group that is not there.

        Examples
        --------
        >>> import mechdesign as md
        >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> reports, by = ["no", "yes"] * 800 + ["no"] * 400, [1] * 1600 + [2] * 400
        >>> found = md.estimate_frequencies(reports + ["yes"] * 400, warner, by=by + [2] * 400).difference(1, 2)
        >>> found["label"], found["difference"][0], round(found["upper"][0], 3)
        (['no', 'yes'], 0.0, 0.085)
        """
        one, other = self[first], self[second]
        check_kind(one, FrequencyEstimate, "what is subtracted", "estimates of frequencies; tables have several")
        errors = np.hypot(one.standard_errors, other.standard_errors)
        middle = one.frequencies - other.frequencies
        reach = -NormalDist().inv_cdf((1 - one.confidence) / 2) * errors
        return {
            "label": list(one.labels),
            "difference": middle.tolist(),
            "standard_error": errors.tolist(),
            "lower": np.maximum(middle - reach, -1.0).tolist(),
            "upper": np.minimum(middle + reach, 1.0).tolist(),
        }

    @property
    def reports(self) -> int:
        """The number of reports in all groups."""
        return sum(estimate.reports for estimate in self.estimates)

    @property
    def family(self) -> int:
        """How many intervals the simultaneous ones are: categories times groups."""
        return self.estimates[0].family

    def columns(self) -> dict[str, list[Any]]:
        """Return the tidy table, one row for each category of each group, as columns.

        First the group columns, then ``label``, ``frequency``, ``standard_error`` (None where the category is not
        identifiable), ``lower`` and ``upper`` of its own interval, ``simultaneous_lower`` and ``simultaneous_upper``,
        ``identifiable``, ``reports`` of the group, and ``few_reports``, the mark of a group that has fewer than the
        normal approximation needs.

        Raises
        ------
        InputError
            If a group column has the name of another column.
        """
        check_names(self.by)
        size = len(self.estimates[0].labels)
        whole: dict[str, list[Any]] = {
            name: [key for keys in self.groups for key in [keys[place]] * size] for place, name in enumerate(self.by)
        }
        parts = [estimate_columns(estimate) for estimate in self.estimates]
        return whole | {name: [value for part in parts for value in part[name]] for name in parts[0]}

    def to_frame(self, library: str | None = None) -> Any:
        """Return the tidy table as a frame of pandas or polars, see `columns`.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball, Mechanism, estimate_frequencies
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> found = estimate_frequencies(["no", "yes", "no"], warner, by={"region": ["north", "south", "north"]})
        >>> found.to_frame("polars").select("region", "label", "frequency", "reports").rows()
        [('north', 'no', 1.0, 2), ('north', 'yes', 0.0, 2), ('south', 'no', 0.0, 1), ('south', 'yes', 1.0, 1)]
        """
        return frame(self.columns(), library)


def check_names(by: Sequence[str]) -> None:
    """Refuse group columns that have the name of a column of the tidy table.

    Raises
    ------
    InputError
        Naming the first such column.
    """
    names = (*COLUMNS, *SIMULTANEOUS, *MARKS)
    clash = next((name for name in by if name in names), None)
    if clash is not None:
        raise InputError.column_twice(
            f"the group column {shorten(clash)} has the name of a column of the table of estimates; rename it: "
            f"accepted are names other than {', '.join(names)}"
        )


def estimate_columns(found: FrequencyEstimate) -> dict[str, list[Any]]:
    """Return the columns that say what is estimated from the reports of one group."""
    size = len(found.labels)
    marks: dict[str, list[Any]] = {"reports": [found.reports] * size, "few_reports": [found.few_reports] * size}
    return {"label": list(found.labels), **found.columns(), **marks}


def estimate_groups(
    counted: GroupCounts, estimation: Estimation, progress: Callable[[str], None] | None = None
) -> GroupedEstimate:
    """Return the estimates from counts of reports by groups.

    Raises
    ------
    InputError
        If there are no reports, or their outputs are not those of the mechanism.
    LimitError
        If the estimates take too much memory.
    """
    mechanism, many = estimation.mechanism, len(counted.groups)
    if counted.labels != mechanism.outputs:
        mechanism.origin.check_names(counted.labels, "the counts by groups are of other outputs:")
        raise InputError.wrong_mechanism(
            "the counts by groups are of other outputs than the mechanism has; count with its outputs"
        )
    if not many:
        raise InputError.nothing_given("there are no reports; give at least one")
    size = len(mechanism.inputs)
    if many * size**2 > _MOST_COVARIANCES:
        raise LimitError.too_much_work(
            f"the errors of {size} categories in {many:,} groups take more than 1 GiB; accepted: at most "
            f"{_MOST_COVARIANCES // size**2:,} groups, so group by fewer or coarser columns"
        )
    estimates = []
    for done, estimate in enumerate(estimation.of_groups(counted.counts.tolist()), start=1):
        estimates.append(estimate)
        if progress is not None:
            progress(f"estimating: {done:,} of {many:,} groups")
    whole = estimation.of_counts(counted.counts.sum(axis=0).tolist())
    tables, fits = np.array(counted.counts, dtype=float), [estimate.fit for estimate in estimates]
    fit = fit_of_groups(mechanism.matrix, tables, fits)
    return GroupedEstimate(counted.by, counted.groups, tuple(estimates), counted.types, whole, fit)


def count_groups(codes: Codes, labels: tuple[str, ...], by: Any, index: Any = None) -> GroupCounts:
    """Return counts by groups of reports in memory.

    Parameters
    ----------
    codes : int array, shape (n,)
        The reports.
    labels : tuple of str
        The outputs.
    by : container, mapping or frame
        As `estimate_frequencies` takes it.
    index : pandas.Index, optional
        Of the reports, if they are a pandas Series.

    Raises
    ------
    InputError
        For columns of other lengths or another pandas index than the reports, and values that do not group.
    """
    columns = _group_columns(by)
    names = named(list(columns))
    arrays = []
    for name, column in columns.items():
        array = arrow_column(column, f"by[{shorten(name)}]")
        if len(array) != len(codes):
            raise InputError.wrong_size(
                f"by[{shorten(name)}] has {len(array):,} values for {len(codes):,} reports; give one each"
            )
        theirs = getattr(column, "index", None)
        if index is not None and hasattr(theirs, "equals") and not index.equals(theirs):
            raise InputError.labels_differ(
                f"by[{shorten(name)}] has another index than the reports, and rows are matched by position; take both "
                "from the same frame, or reset both indices"
            )
        arrays.append(array)
    counter = GroupCounter(names, [array.type for array in arrays], labels)
    counter.add(codes, arrays)
    return counter.counted()


def _group_columns(by: Any) -> dict[str, Any]:
    """Return group columns by name, from a mapping, a frame, or one container."""
    if isinstance(by, str):
        raise InputError.wrong_type(
            f"by is {shorten(by)}, a name; give the values of the groups, one for each report, such as "
            f"by=frame[{shorten(by)}]"
        )
    if isinstance(by, Mapping):
        return dict(by)
    names = getattr(by, "column_names", getattr(by, "columns", None))
    if names is not None:
        listed = list(names)
        named(listed)
        return {name: by[name] for name in listed}
    name = getattr(by, "name", None)
    return {name if isinstance(name, str) and name else _NAME: by}
