"""Columns of records of many attributes, as commands read them from a file or from the files of a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from mechdesign.data.inputs import readable
from mechdesign.data.part_columns import read_columns
from mechdesign.data.tables import open_columns
from mechdesign.errors import InputError, printable, shorten


def read_records(
    path: str, names: Sequence[str], joined: Sequence[str] = (), *, header: bool, show_values: bool
) -> dict[str, Any]:
    """Return columns of a file, or of the files of a folder, with each text once; ``joined`` are names of groups."""
    import pyarrow as pa

    chunks: dict[str, list[Any]] = {name: [] for name in names}
    with readable(path) as place:
        for batch in read_columns(place, names, header=header, show_values=show_values, encoded=True):
            if batch.before == 0:
                for name in joined:
                    _refuse_column(batch.path, name)
            for name, column in zip(names, batch.columns, strict=True):
                chunks[name].append(column.dictionary_encode() if pa.types.is_string(column.type) else column)
    return {name: _labelled(pa.chunked_array(found).unify_dictionaries()) for name, found in chunks.items()}


def _refuse_column(path: str | os.PathLike[str], group: str) -> None:
    """Refuse a file with a column that has the name of a group of columns."""
    try:
        open_columns(path, [group])
    except InputError:  # it has none
        return
    raise InputError.ambiguous_labels(
        f"--columns has the group {shorten(group)}, and {printable(str(path))} has a column of this name; rename the "
        "column, in all files of records"
    )


def _labelled(column: Any) -> Any:
    """Return a column in which empty fields are missing values."""
    import pyarrow.compute as pc

    whole = column.combine_chunks()
    return pc.if_else(pc.equal(whole.cast("string"), ""), None, whole.cast("string")) if _has_empty(whole) else whole


def _has_empty(column: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_dictionary(column.type) and "" in column.dictionary.to_pylist()


def read_side_data(path: str | None, mechanism: Any, *, header: bool = True) -> Any:
    """Return the columns of the attributes of a mechanism in a file of records; None where there is no file."""
    if path is None:
        return None
    return read_records(path, mechanism.attributes, header=header, show_values=False)
