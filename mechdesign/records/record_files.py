"""Files of records of many attributes, and files of the reports about their views."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mechdesign.data.alphabet import Codes
from mechdesign.data.tables import Columns
from mechdesign.deploy.stream import RecordFile, integers_as_text
from mechdesign.errors import InputError, shorten

REPORTS = ("view", "report")
"""The names of the columns of reports."""


@dataclass(frozen=True)
class WholeRecordFile(RecordFile):
    """The columns of records of many attributes in a CSV or Parquet file, or those of views and reports.

    Attributes
    ----------
    columns : tuple of str
        The columns that are read: the attributes of a mechanism in their order, or those of views and of reports.
    reports : tuple of str
        What the columns of views and of reports are called that are made from the records.
    """

    columns: tuple[str, ...] = ()
    reports: tuple[str, str] = REPORTS

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str],
        columns: Sequence[str],
        reports: Sequence[str] = REPORTS,
        *,
        header: bool = True,
        show_values: bool = False,
    ) -> WholeRecordFile:
        """Return the file with these columns.

        Raises
        ------
        InputError
            For names of the columns of reports that are not two.
        """
        if len(reports) != 2 or not all(isinstance(name, str) and name for name in reports) or len({*reports}) != 2:
            raise InputError.wrong_size(
                f"the columns of reports are {shorten(list(reports))}; give two names, of the views and of the reports"
            )
        return cls(path, ",".join(columns), header, show_values, tuple(columns), (reports[0], reports[1]))

    @property
    def name(self) -> str:
        """What the manifest of a folder calls the columns of reports."""
        return ",".join(self.reports)

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that are read and not copied."""
        return self.columns

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the columns of reports."""
        return self.reports

    def with_ids(self, others: Sequence[str], ids: str | None) -> list[str]:
        """Return columns that are copied or by which reports are grouped, and that of the ids if it is not among them.

        Raises
        ------
        InputError
            For an attribute that views show.
        """
        for name in others:
            if self.named(name) in map(self.named, self.columns):
                raise InputError.column_twice(
                    f"the column {shorten(name)} cannot stand beside the reports: a view shows it, and a copy would "
                    "undo the privacy; name other columns"
                )
        return super().with_ids(others, ids)

    def of_reports(self, path: str | os.PathLike[str]) -> WholeRecordFile:
        """Return the file of the reports that are made from the records."""
        return replace(self, path=path, columns=self.reports if self.header else ("0",))

    def written(self, columns: Columns, keep: Sequence[str]) -> Columns:
        """Return the columns that are written: those that are copied, and then views and reports.

        Raises
        ------
        InputError
            If a column that is copied has the name of a column of reports.
        """
        import pyarrow as pa

        kept = list(map(self.named, keep))
        for name in kept:
            if name in self.reports:
                raise InputError.column_twice(
                    f"the column {shorten(name)} is kept, and one of the reports has this name; give the columns of "
                    "reports other names"
                )
        left = columns.only(kept)
        schema = pa.schema([*left.schema, *(pa.field(name, pa.string()) for name in self.reports)])
        return Columns((*left.names, *self.reports), schema, columns.batches)

    def _codes(self, batch: Any, alphabet: Any) -> Codes:
        columns = [batch.column(self.named(name)) for name in self.columns]
        codes: Codes = alphabet.codes_of_columns(list(map(integers_as_text, columns)))
        return codes
