"""Values by which reports are grouped: text, integers, truth values, dates, times and decimals.

Missing values (null, empty text) form a group of their own, whose key is None. Floats are refused, because equal
numbers may differ in their last digits, and NaN does not equal itself.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.labels import natural_order
from mechdesign.errors import InputError, printable, shorten

Key = str | int | bool | datetime.date | datetime.datetime | datetime.time | Decimal | None
Keys = tuple[Key, ...]

_LONGEST = 1_000  # characters of a text
_ACCEPTED = "text, integers, truth values, dates, times and decimals"


def key_type(kind: Any, where: str) -> Any:
    """Return the Arrow type in which the keys of a column are kept: one for all columns that hold the same keys.

    Raises
    ------
    InputError
        For a type by which reports are not grouped; ``where`` names the column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> key_type(pa.dictionary(pa.int8(), pa.large_string()), "the column region")
    DataType(string)
    """
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return key_type(kind.value_type, where)
    if types.is_boolean(kind) or types.is_decimal(kind) or types.is_uint64(kind):
        return kind
    stamp = pa.timestamp("us", kind.tz) if types.is_timestamp(kind) else None
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    families = (
        (texts, pa.string()),
        ((types.is_integer,), pa.int64()),
        ((types.is_date,), pa.date32()),
        ((types.is_timestamp,), stamp),
        ((types.is_time,), pa.time64("us")),
    )
    for members, kept in families:
        if any(is_member(kind) for is_member in members):
            return kept
    way = (
        "; floats are not: equal numbers may differ in their last digits; make them integers or text"
        if types.is_floating(kind)
        else "; convert it to one of them"
    )
    raise InputError.wrong_column_type(f"{where} is of type {kind}; accepted for groups: {_ACCEPTED}{way}")


def text_type() -> Any:
    """Return the Arrow type of keys that are text.

    Examples
    --------
    >>> text_type()
    DataType(string)
    """
    import pyarrow as pa

    return pa.string()


def keys_of_arrow(column: Any, kind: Any, where: str) -> tuple[list[Key], NDArray[np.int64]]:
    """Return the different keys of a column, and for each row the position of its key.

    Parameters
    ----------
    column : pyarrow.Array
        The column.
    kind : pyarrow.DataType
        What `key_type` returned for its type.
    where : str
        Names the column, for messages.

    Raises
    ------
    InputError
        For a text of more than 1,000 characters, and for times finer than microseconds.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        encoded = column.cast(kind).dictionary_encode(null_encoding="encode")
    except pa.ArrowException as error:
        raise InputError.wrong_column_type(
            f"{where}: {shorten(str(error), 120)}; accepted for groups: {_ACCEPTED}"
        ) from None
    values = encoded.dictionary
    if pa.types.is_string(kind):
        longest = pc.max(pc.utf8_length(values)).as_py() or 0
        if longest > _LONGEST:
            raise InputError.wrong_column_type(
                f"{where} holds a text of {longest:,} characters; accepted for groups: at most {_LONGEST:,}"
            )
        return [value or None for value in values.to_pylist()], np.asarray(encoded.indices, dtype=np.int64)
    return values.to_pylist(), np.asarray(encoded.indices, dtype=np.int64)


def order(keys: Keys) -> tuple[tuple[bool, Any], ...]:
    """Return what sorts keys: by value, column by column, texts that read as integers as numbers, missing values last.

    Examples
    --------
    >>> sorted([(None,), ("b",), ("10",), ("9",)], key=order)
    [('9',), ('10',), ('b',), (None,)]
    """
    return tuple((key is None, natural_order(key) if isinstance(key, str) else key or 0) for key in keys)


def in_words(key: Key) -> str:
    r"""Return a key as text for people: dates by ISO 8601, and escapes in place of control characters.

    Examples
    --------
    >>> in_words(None), in_words("red: \x1b[31m"), in_words(datetime.date(2026, 5, 1))
    ('(missing)', 'red: \\x1b[31m', '2026-05-01')
    """
    plain = as_plain(key)
    return "(missing)" if plain is None else printable(str(plain))


def as_plain(key: Key) -> str | int | bool | None:
    """Return a key as JSON holds it: dates and times by ISO 8601, decimals as text.

    Examples
    --------
    >>> as_plain(datetime.date(2026, 5, 1)), as_plain(7), as_plain(True)
    ('2026-05-01', 7, True)
    """
    if key is None or isinstance(key, str | bool | int):
        return key
    return str(key) if isinstance(key, Decimal) else key.isoformat()


def named(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of group columns, after checking that there are some and that they differ.

    Raises
    ------
    InputError
        For a name that is not text, or occurs twice.
    """
    if isinstance(columns, str) or not columns or not all(isinstance(name, str) and name for name in columns):
        raise InputError.wrong_type(f"the group columns are {shorten(columns)}; give a list of their names")
    twice = next((name for name in columns if list(columns).count(name) > 1), None)
    if twice is not None:
        raise InputError.column_twice(f"the group column {shorten(twice)} is named twice; name it once")
    return tuple(columns)
