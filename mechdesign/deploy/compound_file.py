"""Records of several columns that a table publishes together, and the published records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mechdesign.data.alphabet import Codes
from mechdesign.data.compound import joined_column, parted_column
from mechdesign.data.tables import Columns
from mechdesign.deploy.stream import RecordFile, integers_as_text


@dataclass(frozen=True)
class CompoundFile(RecordFile):
    """Columns of records in a CSV or Parquet file whose combinations are the categories of a table.

    Published files have columns of the same names.

    Attributes
    ----------
    columns : tuple of str
        The columns, in the order of the table.
    """

    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], columns: Sequence[str], *, header: bool = True, show_values: bool = False
    ) -> CompoundFile:
        """Return the file with these columns.

        Examples
        --------
        >>> CompoundFile.of("records.csv", ["relationship", "sex"]).name
        'relationship,sex'
        """
        return cls(path, ",".join(columns), header, show_values, tuple(columns))

    @property
    def name(self) -> str:
        """The names of the columns, with commas between them."""
        return ",".join(map(self.named, self.columns))

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that are read and not copied."""
        return self.columns

    @property
    def made(self) -> tuple[str, ...]:
        """The names of the published columns, which are those of the records."""
        return tuple(map(self.named, self.columns))

    def published(self, reports: Sequence[Any]) -> tuple[Any, ...]:
        """Return the published columns for the compound labels that a table draws."""
        return parted_column(reports[0], len(self.columns))

    def written(self, columns: Columns, keep: Sequence[str]) -> Columns:
        """Return the columns that are written, the published ones and those that are copied."""
        return columns.only([*self.made, *map(self.named, keep)])

    def _codes(self, batch: Any, alphabet: Any) -> Codes:
        joined = joined_column([integers_as_text(batch.column(name)) for name in self.made])
        codes: Codes = alphabet.codes_of_arrow(joined)
        return codes
