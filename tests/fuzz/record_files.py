"""Files of records: CSV in its many spellings, what is nearly CSV, and Parquet."""

from __future__ import annotations

import bz2
import gzip
import io
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

Random = random.Random

PACKINGS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}


def csv_text(rng: Random, names: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> str:
    """Return a CSV text in one of its many correct spellings: fields are quoted where they must be, or all of them."""
    end = rng.choice(["\n", "\r\n"])
    always, last = rng.random() < 0.3, rng.random() < 0.8
    lines = [",".join(_field(field, always=always) for field in row) for row in ([names] if names else []) + list(rows)]
    if rng.random() < 0.1:
        lines = [line.replace(",", ", ") if '"' not in line else line for line in lines]
    return rng.choice(["", "", "\ufeff"]) + end.join(lines) + (end if last else "")


def _field(value: str, *, always: bool) -> str:
    special = any(character in value for character in ',"\r\n') or value == ""
    return '"' + value.replace('"', '""') + '"' if special or always else value


def nearly_csv(rng: Random, names: Sequence[str], values: Sequence[str]) -> str:
    """Return a text of fields, quotes, commas, spaces and ends of lines in any order, after the header."""
    pieces = [
        *values,
        *values,
        *("\n",) * 6,
        ",",
        '"',
        '""',
        "\r\n",
        "\r",
        " ",
        "\t",
        '"\n"',
        '","',
        "\n\n",
        "\x00",
        "\u00a0",
        "\ufeff",
    ]
    head = ",".join(names) + "\n" if names else ""
    return head + "".join(rng.choice(pieces) for _ in range(rng.randint(1, 12)))


def parquet(rng: Random, columns: dict[str, Sequence[Any]]) -> bytes:
    """Return a Parquet file, its text in one of the types that hold text and its rows in groups of any size."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, values in columns.items():
        kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
        arrays[name] = pa.array(values, type=rng.choice(kinds) if any(isinstance(v, str) for v in values) else None)
    table = pa.table(arrays)
    if rng.random() < 0.3:
        table = table.replace_schema_metadata(
            {"pandas": rng.choice(["{", "null", "{}", "[]", '{"index_columns": 3}']), "k": "v"}
        )
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        row_group_size=rng.choice([1, 3, 1000]),
        compression=rng.choice(["none", "snappy", "zstd", "gzip"]),
        use_dictionary=rng.random() < 0.5,
        version=rng.choice(["1.0", "2.6"]),
        store_schema=rng.random() < 0.7,
    )
    return sink.getvalue()


def strange_parquet(rng: Random, name: str) -> bytes:
    """Return a Parquet file whose column is of a type that is not text."""
    import datetime
    import decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    day = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    values, kind = rng.choice(
        [
            ([1, 0, 2], pa.int8()),
            ([1, 0, None], pa.uint64()),
            ([2**63, 1, 0], pa.uint64()),
            ([1.0, 0.0, float("nan")], pa.float64()),
            ([1.0, 0.0], pa.float16()),
            ([True, False, None], pa.bool_()),
            ([None, None], pa.null()),
            ([b"a", b"\xff"], pa.binary()),
            ([b"a", b"b"], pa.binary(1)),
            ([["a"], []], pa.list_(pa.string())),
            ([{"a": 1}], pa.struct([("a", pa.int8())])),
            ([day], pa.timestamp("us", "UTC")),
            ([day.date()], pa.date32()),
            ([decimal.Decimal("1.5")], pa.decimal128(5, 1)),
            ([datetime.timedelta(seconds=1)], pa.duration("s")),
            ([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
            (["a", "b", None], pa.string_view()),
            ([], pa.string()),
            ([1, 0], pa.dictionary(pa.int8(), pa.int64())),
        ]
    )
    if isinstance(kind, pa.DictionaryType):
        column = pa.array(values, type=kind.value_type).dictionary_encode()
    elif pa.types.is_float16(kind):
        column = pa.array(np.array(values, dtype=np.float16))
    else:
        column = pa.array(values, type=kind)
    sink = io.BytesIO()
    pq.write_table(pa.table({name: column}), sink)
    return sink.getvalue()
