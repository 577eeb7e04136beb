"""Records in frames, tables and mappings of columns: to codes, and reports back in the same kind of container."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mechdesign.data.containers import arrow_column, package_of
from mechdesign.data.ids import ids_of
from mechdesign.deploy.stream import integers_as_text
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.keys import GivenKey, checked_key
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.records.record_columns import RecordColumns

_FRAMES = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "Table or RecordBatch"}
_ACCEPTED = "a frame of pandas or polars, a pyarrow Table, or a mapping from columns to values"


def privatize(
    mechanism: Any,
    records: Any,
    columns: RecordColumns,
    rng: np.random.Generator | None,
    key: GivenKey | None,
    ids: Any,
    names: tuple[str, str],
) -> Any:
    """Return views and reports in the kind of container in which the records came."""
    source, chosen = random_bytes(rng), checked_key(rng, key, ids)
    if len(names) != 2 or len(set(names)) != 2:
        raise InputError.wrong_size(f"names are {shorten(list(names))}; give two, of the views and of the reports")
    shown = columns.attributes
    codes = columns.codes_of_columns(
        columns_of(records, shown, chunked=[*{*shown} - {*columns.bins, *columns.strings}])
    )
    given = None if chosen is None else ids_of(ids, _given(records, shown[0]), len(codes))
    outputs = mechanism.drawing(source, chosen)(codes, given)
    return _answer(records, names, mechanism, outputs)


def _package(records: Any) -> str | None:
    kind = type(records)
    package = kind.__module__.partition(".")[0]
    return package if kind.__name__ in _FRAMES.get(package, "").split() else None


def columns_in(records: Any) -> list[str]:
    """Return the names of the columns of a frame, a table or a mapping.

    Raises
    ------
    InputError
        For anything else.
    """
    package = _package(records)
    if package is None and not isinstance(records, Mapping):
        raise InputError.wrong_record_type(f"the records are a {type(records).__name__}; accepted: {_ACCEPTED}")
    if package == "pyarrow":
        return list(records.schema.names)
    return list(records.columns if package in {"pandas", "polars"} else records)


def columns_of(records: Any, names: Sequence[str], *, chunked: Collection[str] = ()) -> list[Any]:
    """Return columns as pyarrow arrays, integers as text; those of ``chunked`` may stay in chunks.

    Raises
    ------
    InputError
        If there is not one column of each name; for columns of other lengths, or series of pandas with other indexes.
    """
    there = columns_in(records)
    for name in names:
        if there.count(name) != 1:
            how = "have several columns" if name in there else "lack the column"
            raise InputError.unknown_column(f"the records {how} {shorten(name)}, which a view shows; give it once")
    given = [_given(records, name) for name in names]
    series = [column for column in given if package_of(column) == "pandas"]
    if any(not column.index.equals(series[0].index) for column in series):
        raise InputError.labels_differ("the columns have different indexes; give series with the same index")
    found = [
        integers_as_text(arrow_column(column, f"the column {shorten(name)}", whole=name not in chunked))
        for name, column in zip(names, given, strict=True)
    ]
    if len(set(map(len, found))) > 1:
        sizes = ", ".join(f"{name} {len(column)}" for name, column in zip(names, found, strict=True))
        raise InputError.wrong_size(
            f"the columns have different lengths ({shorten(sizes, 200)}); give a value a record"
        )
    return found


def _given(records: Any, name: str) -> Any:
    return records.column(name) if _package(records) == "pyarrow" else records[name]


def _answer(records: Any, names: tuple[str, str], mechanism: Any, outputs: Any) -> Any:
    """Return columns of reports in the kind of container of the records."""
    package = _package(records)
    if package in {"pyarrow", "polars"}:
        columns = mechanism.named(outputs)
        if package == "pyarrow":
            return type(records).from_arrays(list(columns), names=list(names))
        return type(records)(dict(zip(names, columns, strict=True)))
    if package is None:
        texts = [np.array(own, dtype=object).take(outputs).tolist() for own in mechanism.named_outputs]
        return dict(zip(names, texts, strict=True))
    labels = [type(records)({"": own})[""].array for own in mechanism.named_outputs]
    return type(records)(
        {name: own.take(outputs) for name, own in zip(names, labels, strict=True)}, index=records.index
    )
