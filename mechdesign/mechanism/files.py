"""Mechanism files: JSON is the format, NPZ embeds the same JSON, CSV is export only."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from mechdesign.atomic import write_atomically
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.schema import MechanismRecord, from_record, to_record
from mechdesign.records import checked_record, finite_decimal

_MOST_BYTES = 256 * 2**20
_LONGEST_INTEGER = 20


def save(mechanism: Mechanism, path: str | os.PathLike[str]) -> None:
    """Write a mechanism as JSON, NPZ or CSV, by the ending of the name."""
    write_atomically(path, _WRITERS[check_ending(path)](mechanism))


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a name, after checking that it says JSON, NPZ or CSV."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise InputError(f"the file {shorten(str(path))} ends in {shorten(ending)}; accepted: .json, .npz, .csv")
    return ending


def load(path: str | os.PathLike[str]) -> Mechanism:
    """Read a mechanism from JSON or NPZ and prove its guarantee again."""
    try:
        size = Path(path).stat().st_size
        if size > _MOST_BYTES:
            raise InputError(f"{path} has {size} bytes; accepted: at most {_MOST_BYTES}")
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give a mechanism file") from error
    if content[:2] == b"PK":
        return _from_npz(content, str(path))
    return from_json(content, str(path))


def to_json(mechanism: Mechanism) -> bytes:
    """Return the JSON of a mechanism: one line for each row of numerators."""
    try:
        checked = to_record(mechanism)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError(
            f"{'.'.join(map(str, first['loc']))} is {shorten(first['input'])}, which no file holds; {first['msg']}"
        ) from None
    record = checked.model_dump(by_alias=True, exclude_none=True)
    if "optimality" in record and record["optimality"]["within_simplex"]:
        del record["optimality"]["within_simplex"]
    delta = record["guarantee"].get("delta")
    if delta is not None and "/" not in delta:
        record["guarantee"]["delta"] = float(delta)
    rows = record.pop("numerators")
    record = {**{key: record.pop(key) for key in ("schema", "inputs", "outputs", "bits")}, "numerators": [], **record}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    return text.replace('"numerators": []', f'"numerators": [\n{lines}\n ]', 1).encode() + b"\n"


def from_json(content: bytes, source: str) -> Mechanism:
    """Return the mechanism of a JSON text, with its guarantee proved again."""
    return from_record(checked_record(MechanismRecord, _parsed(content, source), source), source)


def _parsed(content: bytes, source: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) != len(pairs):
            twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
            raise InputError(f"{source}: the key {shorten(twice)} occurs twice; keys must differ")
        return table

    def integer(text: str) -> int:
        if len(text) > _LONGEST_INTEGER:
            raise InputError(f"{source}: the integer {shorten(text)} is too long; accepted: {_LONGEST_INTEGER} digits")
        return int(text)

    def decimal(text: str) -> Decimal:
        try:
            return finite_decimal(text)
        except ValueError as error:
            raise InputError(f"{source}: {error}; accepted: finite numbers") from None

    def constant(text: str) -> None:
        raise InputError(f"{source}: the number {text} is not finite; accepted: finite numbers")

    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=decimal,
            parse_int=integer,
            parse_constant=constant,
            object_pairs_hook=unique,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is not UTF-8 (byte {error.start}); give a mechanism file") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{source} is not JSON ({error.msg}, line {error.lineno}); give a mechanism file") from None
    except RecursionError:
        raise InputError(f"{source} is nested too deeply; give a mechanism file") from None


def _to_npz(mechanism: Mechanism) -> bytes:
    buffer = io.BytesIO()
    text = np.frombuffer(to_json(mechanism), dtype=np.uint8)
    np.savez_compressed(buffer, json=text, numerators=mechanism.numerators, matrix=mechanism.matrix)
    return buffer.getvalue()


def _from_npz(content: bytes, source: str) -> Mechanism:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > 4 * _MOST_BYTES:
                raise InputError(f"{source} unpacks to {unpacked} bytes; accepted: at most {4 * _MOST_BYTES}")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            if (
                set(arrays.files) != {"json", "numerators", "matrix"}
                or any(not isinstance(arrays[name], np.ndarray) for name in arrays.files)
                or arrays["json"].dtype != np.uint8
            ):
                raise InputError(f"{source} holds {sorted(arrays.files)}; accepted: json, numerators, matrix as saved")
            text, numerators, matrix = arrays["json"].tobytes(), arrays["numerators"], arrays["matrix"]
    except InputError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        OSError,
        EOFError,
        KeyError,
        MemoryError,
        RuntimeError,  # encrypted; NotImplementedError: another compression
    ) as error:
        raise InputError(f"{source} is not an NPZ file ({shorten(str(error))}); give a mechanism file") from None
    mechanism = from_json(text, source)
    if not np.array_equal(numerators, mechanism.numerators) or not np.array_equal(matrix, mechanism.matrix):
        raise InputError(f"{source}: the arrays differ from the JSON beside them; give the file as it was saved")
    return mechanism


def _to_csv(mechanism: Mechanism) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([f"numerators over 2^{mechanism.bits}", *mechanism.outputs])
    for label, row in zip(mechanism.inputs, mechanism.numerators.tolist(), strict=True):
        writer.writerow([label, *row])
    return buffer.getvalue().encode()


_WRITERS = {".json": to_json, ".npz": _to_npz, ".csv": _to_csv}
