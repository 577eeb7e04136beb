"""Reports of files and arrays, counted by groups, in memory that grows with the number of groups and not of reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Codes
from mechdesign.data.checks import check_kind
from mechdesign.data.group_keys import Key, Keys, in_words, key_type, keys_of_arrow, named, order
from mechdesign.data.tables import Columns, index_from
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.deploy.stream import ProgressCallback, RecordFile
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.origin import ReportOrigin
from mechdesign.mechanism.reporting import Deployed
from mechdesign.numerics.arrays import frozen

MOST_GROUPS = 20_000
_MOST_COUNTS = 1 << 24  # 128 MiB
_DENSE = 1 << 20  # counts of a batch that are taken without sorting its rows


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """How often each output was reported in each group.

    Attributes
    ----------
    by : tuple of str
        The group columns.
    types : tuple of pyarrow.DataType
        Of the keys in each column.
    groups : tuple of tuples
        A key for each column; None is a missing value. In the order of the keys, missing values last.
    labels : tuple of str
        The outputs.
    counts : int array, shape (groups, outputs)
        How often each was reported.
    """

    by: tuple[str, ...]
    types: tuple[Any, ...]
    groups: tuple[Keys, ...]
    labels: Sequence[str]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", frozen(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupCounts, (self.by, self.types, self.groups, self.labels, self.counts)

    def __repr__(self) -> str:
        return (
            f"GroupCounts({len(self.groups)} groups by {', '.join(map(repr, self.by))}, "
            f"{int(self.counts.sum()):,} reports)"
        )


class GroupCounter:
    """Counts reports by groups, batch by batch.

    Parameters
    ----------
    by : sequence of str
        The group columns.
    types : sequence of pyarrow.DataType
        Their types.
    labels : tuple of str
        The outputs.
    source : str
        The name of the file, for messages.

    Raises
    ------
    InputError
        For a type by which reports are not grouped.
    """

    def __init__(self, by: Sequence[str], types: Sequence[Any], labels: Sequence[str], source: str = "") -> None:
        self.by, self.labels, self._source = tuple(by), labels, source
        self.types = tuple(key_type(kind, self._where(name)) for name, kind in zip(by, types, strict=True))
        self._rows: dict[Keys, int] = {}
        self._table = np.zeros((0, len(labels)), dtype=np.int64)

    def add(self, codes: Codes, columns: Sequence[Any]) -> None:
        """Count a batch: the code of each report, and the group columns as pyarrow arrays.

        Raises
        ------
        InputError
            For a value by which reports are not grouped.
        LimitError
            If there are too many groups.
        """
        keys: list[list[Key]] = []
        place = np.zeros(len(codes), dtype=np.int64)
        for name, kind, column in zip(self.by, self.types, columns, strict=True):
            values, positions = keys_of_arrow(column, kind, self._where(name))
            if _cells(keys) * max(len(values), 1) > 1 << 62:
                raise self._too_many()
            keys.append(values)
            place = place * len(values) + positions
        outputs = len(self.labels)
        if _cells(keys) * outputs <= _DENSE:
            counts = np.bincount(place * outputs + codes, minlength=_cells(keys) * outputs).reshape(-1, outputs)
            present = np.flatnonzero(counts.any(axis=1))
            counts = counts[present]
        else:
            present, group = np.unique(place, return_inverse=True)
            self._check(present.size)
            counts = np.bincount(group * outputs + codes, minlength=present.size * outputs).reshape(-1, outputs)
        places = np.unravel_index(present, [len(values) for values in keys])
        found = zip(*([values[k] for k in at.tolist()] for values, at in zip(keys, places, strict=True)), strict=True)
        self._add(list(found), counts)

    def add_counts(self, counted: GroupCounts, source: str = "") -> None:
        """Add what was counted elsewhere, by the same columns.

        Raises
        ------
        InputError
            If a column holds keys of another type there.
        LimitError
            If there are too many groups.
        """
        for name, ours, theirs in zip(self.by, self.types, counted.types, strict=True):
            if ours != theirs:
                raise InputError.parts_differ(
                    f"{source or 'by'}: the column {in_words(name)} holds {theirs}, and {ours} elsewhere; give "
                    "columns of one type"
                )
        self._add(counted.groups, counted.counts)

    def counted(self) -> GroupCounts:
        """Return the counts, the groups in their order."""
        groups = sorted(self._rows, key=order)
        rows = np.array([self._rows[group] for group in groups], dtype=np.intp)
        return GroupCounts(self.by, self.types, tuple(groups), self.labels, self._table[rows])

    def _add(self, groups: Sequence[Keys], counts: NDArray[np.int64]) -> None:
        rows = [self._rows.setdefault(group, len(self._rows)) for group in groups]
        self._check(len(self._rows))
        if len(self._rows) > len(self._table):
            larger = np.zeros((2 * len(self._rows), len(self.labels)), dtype=np.int64)
            larger[: len(self._table)] = self._table
            self._table = larger
        np.add.at(self._table, rows, counts)  # keys that differ in a batch may be one group: null and empty text

    def _check(self, groups: int) -> None:
        if groups > MOST_GROUPS or groups * len(self.labels) > _MOST_COUNTS:
            raise self._too_many()

    def _too_many(self) -> LimitError:
        most = min(MOST_GROUPS, _MOST_COUNTS // len(self.labels))
        return LimitError.too_much_work(
            f"there are more than {most:,} groups by {shorten(', '.join(self.by))}; group by fewer or coarser columns "
            "(a day in place of a time), or estimate parts of the reports apart"
        )

    def _where(self, name: str) -> str:
        return f"{self._source}: the column {in_words(name)}" if self._source else f"by[{shorten(name)}]"


def _cells(keys: Sequence[Sequence[Key]]) -> int:
    cells = 1
    for values in keys:
        cells *= len(values)
    return cells


@overload
def count_reports(
    reports: RecordFile,
    mechanism: Deployed | ReportOrigin | tuple[str, ...],
    *,
    first: FirstReports | None = None,
    progress: ProgressCallback | None = None,
) -> NDArray[np.int64]: ...
@overload
def count_reports(
    reports: RecordFile,
    mechanism: Deployed | ReportOrigin | tuple[str, ...],
    *,
    by: Sequence[str],
    first: FirstReports | None = None,
    progress: ProgressCallback | None = None,
) -> GroupCounts: ...
def count_reports(
    reports: RecordFile,
    mechanism: Deployed | ReportOrigin | tuple[str, ...],
    *,
    by: Sequence[str] = (),
    first: FirstReports | None = None,
    progress: ProgressCallback | None = None,
) -> NDArray[np.int64] | GroupCounts:
    r"""Return how often each output of a mechanism occurs in a column of a file, in all rows or in each group of rows.

    The file is read once, in batches. Memory grows with the number of groups, of which 20,000 are accepted.

    Parameters
    ----------
    reports : RecordFile
        The file and its column of reports.
    mechanism : Mechanism, WindowMechanism or tuple of str
        The mechanism that made the reports; or all labels that may occur, where its file is not at hand.
    by : sequence of str
        Columns of the file. Rows that agree in them are a group; missing values (nulls, empty fields) agree with each
        other.
    first : FirstReports, optional
        Counts the first report about each id alone, and keeps in memory which ids there were. Without it all reports
        count, also those that a key makes the same.
    progress : callable, optional
        Receives a line on progress after each batch.

    Returns
    -------
    array, shape (M,), or GroupCounts
        With group columns, the counts of each group.

    Raises
    ------
    InputError
        For unreadable or malformed input, a value that is not an output (its row is named), reports that another
        mechanism made, by their names or by the fingerprint in the metadata of a Parquet file, and group columns of
        floats or bytes.
    LimitError
        If there are too many groups.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "reports.csv")
    ...     _ = file.write_text("region,answer\nnorth,yes\nsouth,no\nnorth,no\n")
    ...     counted = count_reports(RecordFile(file, "answer"), ("no", "yes"), by=["region"])
    >>> counted.groups, counted.counts.tolist()
    ((('north',), ('south',)), [[1, 1], [1, 0]])
    """
    check_kind(reports, RecordFile, "reports", "a RecordFile, such as RecordFile(path, column)")
    origin = _origin(mechanism)
    if by:
        return _count_by_groups(reports, origin, group_columns(by, reports), first, progress)
    counts = np.zeros(len(origin.outputs), dtype=np.int64)
    for codes, _ in _rows(reports, _opened(reports, origin, (), first), origin, (), first):
        counts += np.bincount(codes, minlength=counts.size)
        if progress is not None:
            progress(f"counting: {counts.sum():,} reports")
    return counts


def _origin(given: Deployed | ReportOrigin | tuple[str, ...]) -> ReportOrigin:
    if isinstance(given, ReportOrigin):
        return given
    if isinstance(given, tuple | list):
        return ReportOrigin(tuple(given))
    check_mechanism(given, deployed=True)
    return given.origin


def group_columns(by: Sequence[str], reports: RecordFile) -> tuple[str, ...]:
    """Return the names of group columns, without a header their indices as text.

    Raises
    ------
    InputError
        If one is named twice, or is the column of reports.
    """
    names = named(by if reports.header else [str(index_from(column)) for column in by])
    for name in map(reports.named, reports.sources):
        if name in names:
            raise InputError.column_twice(
                f"the group column {shorten(name)} is the column of reports; group by what is known beside them"
            )
    return names


def _count_by_groups(
    reports: RecordFile,
    origin: ReportOrigin,
    by: tuple[str, ...],
    first: FirstReports | None,
    progress: ProgressCallback | None,
) -> GroupCounts:
    columns = _opened(reports, origin, by, first)
    types = [columns.schema.field(name).type for name in by]
    counter, done = GroupCounter(by, types, origin.outputs, str(reports.path)), 0
    for codes, groups in _rows(reports, columns, origin, by, first):
        counter.add(codes, groups)
        done += codes.size
        if progress is not None:
            progress(f"counting: {done:,} reports")
    return counter.counted()


def _opened(reports: RecordFile, origin: ReportOrigin, by: tuple[str, ...], first: FirstReports | None) -> Columns:
    """Open the columns that are read, after checking which mechanism made the reports, if the file says it."""
    columns = reports.open(*reports.with_ids(by, None if first is None else first.column))
    origin.check_field(columns.schema.field(reports.named(reports.sources[-1])), reports.path)
    return columns


def _rows(
    reports: RecordFile, columns: Columns, origin: ReportOrigin, by: tuple[str, ...], first: FirstReports | None
) -> Iterator[tuple[Codes, list[Any]]]:
    """Yield the reports that count, batch by batch, with their group columns."""
    done = 0
    for codes, batch in reports.batches(columns, origin.alphabet()):
        groups = [batch.column(name) for name in by]
        if first is None:
            yield codes, groups
            continue
        rows = first.rows(reports.ids_in(batch, first.column, done), codes, groups)
        done += codes.size
        yield codes[rows], [column.filter(rows) for column in groups]
