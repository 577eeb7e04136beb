"""Columns of strings, and of reports, as numbers; files of strings, counted without holding their records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechdesign.data.part_columns import read_columns
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.origin import ReportOrigin
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.layout import Integers
from mechdesign.windows.strings import Form, normal

TAG_DIGITS = 5  # hexadecimal digits of a fingerprint in a report
FIRST_REPORT = 1 << 52
_PLACE = 1 << 32  # of the tag
_OF_SAMPLES = "leave such records out of the sample, or write a word in them that stands for no answer"


class WindowNames(Sequence[str]):
    """The reports of a mechanism as text, in the order of its windows; none of them is stored."""

    def __init__(self, fingerprint: str, count: int) -> None:
        self.tag, self._count = fingerprint[:TAG_DIGITS], count
        self.first = FIRST_REPORT + int(self.tag, 16) * _PLACE

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return str(self.first + range(self._count)[index])

    def numbers(self, reports: Integers, where: Callable[[int], str]) -> Integers:
        """Return the numbers of the windows that reports name, from 0.

        Raises
        ------
        InputError
            Naming the first report that is not one of this mechanism, by its position.
        """
        found = reports - self.first
        if (foreign := np.flatnonzero((found < 0) | (found >= self._count))).size:
            report = int(reports[foreign[0]])
            known = FIRST_REPORT <= report < 2 * FIRST_REPORT
            tag = f"{(report - FIRST_REPORT) // _PLACE:0{TAG_DIGITS}x}" if known else "none"
            raise InputError.wrong_mechanism(
                f"{where(int(foreign[0]))} is {report}, of the mechanism with the tag {tag}, and this one has "
                f"{self.tag}; give the file of the mechanism that made the reports"
            )
        return found


@dataclass(frozen=True)
class StringColumn:
    """Turns a column of strings into fingerprints; `RecordFile.batches` names its rows."""

    form: Form
    missing: str | None = None
    where: Callable[[int], str] = "records[{}]".format
    show_values: bool = False
    advice: str = "name what missing values are taken for (missing)"

    def codes(self, texts: Sequence[str]) -> Any:
        """Return the fingerprint of each string, which is in the normal form."""
        return fingerprints(texts)

    def codes_of_arrow(self, records: Any) -> Any:
        """Return the code of each string of a pyarrow array of text."""
        texts, indices = self.texts(records)
        return self.codes(texts)[indices]

    def texts(self, records: Any) -> tuple[list[str], Integers]:
        """Return the different strings in the normal form, and the index of each record among them.

        Raises
        ------
        InputError
            Naming the first record that is missing, or that is refused by `normal`.
        """
        texts, indices = _encoded(records, self.where)
        used, indices = np.unique(indices, return_inverse=True)
        found = []
        for at, place in enumerate(used.tolist()):
            try:
                found.append(self._normal(texts[place]))
            except InputError as error:
                raise error.reworded(f"{self.where(int(np.argmax(indices == at)))}: {error}") from None
        return found, indices

    def _normal(self, text: str | None) -> str:
        if text is None or not text.strip():
            if self.missing is None:
                raise InputError.missing_value(f"it is missing; {self.advice}")
            text = self.missing
        return normal(text, self.form)


@dataclass(frozen=True)
class ReportColumn:
    """Turns a column of reports into the numbers of windows."""

    names: WindowNames
    where: Callable[[int], str] = "reports[{}]".format
    show_values: bool = False

    def codes_of_arrow(self, records: Any) -> Integers:
        """Return the window of each report in a pyarrow array of text."""
        texts, indices = _encoded(records, self.where)
        values = np.zeros(len(texts), dtype=np.int64)
        for at in np.unique(indices).tolist():
            text = texts[at]
            if text is None or not (text.isascii() and text.isdigit() and len(text) < 18):
                row = int(np.flatnonzero(indices == at)[0])
                shown = f" ({shorten(text)})" if self.show_values and text else ""
                raise InputError.unknown_label(
                    f"{self.where(row)} is not a report of windows{shown}: whole numbers of 16 digits; give the column "
                    "of reports"
                )
            values[at] = int(text)
        return self.names.numbers(values[indices], self.where)


@dataclass(frozen=True)
class WindowOrigin(ReportOrigin):
    """The windows that reports are said to come from."""

    def alphabet(self, **_: Any) -> Any:
        """Return what turns reports into the numbers of windows."""
        return ReportColumn(self.outputs)  # type: ignore[arg-type]  # names of windows


def _encoded(records: Any, where: Callable[[int], str]) -> tuple[list[str | None], Integers]:
    """Return the different texts of a column, None as the last one, and the index of each record among them."""
    import pyarrow as pa

    kind = records.type.value_type if pa.types.is_dictionary(records.type) else records.type
    kinds = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null
    if not any(of(kind) for of in kinds):
        raise InputError.wrong_record_type(f"{where(0)} is of type {kind}; accepted: text and whole numbers")
    if not pa.types.is_dictionary(records.type):
        records = records.cast(pa.large_string()).dictionary_encode()
    texts = records.dictionary.to_pylist()
    return [*texts, None], records.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy()


def count_strings(path: str | os.PathLike[str], column: str, form: Form, *, header: bool = True) -> dict[str, int]:
    """Count the strings of a column of a file, or of the files of a folder, in batches.

    Parameters
    ----------
    path : path
        CSV or Parquet, a folder of such files, or a glob.
    column : str
        Its name, or without a header its index from 0.
    form : {"nfc", "nfc-casefold"}
        The normal form of strings.
    header : bool
        Whether the first line of a CSV file names the columns.

    Raises
    ------
    InputError
        For an unreadable file, and a record that is refused, which is named.
    """
    import pyarrow as pa

    found: Counter[str] = Counter()
    for batch in read_columns(path, [column], header=header):
        (records,) = batch.columns
        if pa.types.is_integer(records.type):
            records = records.cast(pa.string())
        texts, indices = StringColumn(form, None, batch.record, advice=_OF_SAMPLES).texts(records)
        for text, count in zip(texts, np.bincount(indices).tolist(), strict=True):
            found[text] += count
    return dict(found)
