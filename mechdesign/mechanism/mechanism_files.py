"""Mechanism files: JSON is the format, NPZ embeds the same JSON, CSV is export only."""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from mechdesign.data import archives
from mechdesign.data.fields import checked_record, finite_decimal
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.file_schema import MechanismRecord, from_record, to_record

# Bounds on what is read, so that loading a hostile file takes less than two gigabytes and a minute of a processor.
# The worst files known: eleven million decimals, which take 1.7 gigabytes until they are refused; and a hull of a
# thousand priors on a thousand symbols, with a matrix of gains of that size and as many outputs as may be proved: 32 s.
_MOST_BYTES = archives.MOST_BYTES  # ten million numerators of 52 bits
_MOST_BYTES_OF_LETTERS = 48 * 2**20  # with a letter beyond ASCII: it may make every letter take four bytes in memory
_MOST_VALUES = 11_000_000  # ten million numerators, and room for a matrix of gains and for the rest
_MOST_COLONS = 1_000_000  # one stands after every key; labels may hold some
_MOST_KEYS = 100  # of one table, or members of an archive; the largest have ten
_LONGEST_INTEGER = 20
_MEMBERS = ("json", "numerators", "matrix")
_WANTED = "a mechanism file"


def save(mechanism: Parts, path: str | os.PathLike[str], *, probabilities: bool = False) -> None:
    """Write a mechanism as JSON, NPZ or CSV, by the ending of the name; a CSV perhaps with probabilities."""
    ending = check_ending(path)
    check_probabilities(path, probabilities=probabilities)
    write_atomically(path, _to_csv_of_probabilities(mechanism) if probabilities else _WRITERS[ending](mechanism))


def check_probabilities(path: str | os.PathLike[str] | None, *, probabilities: bool) -> None:
    """Refuse probabilities for a file that is not CSV: JSON and NPZ hold the integers, which are exact."""
    if probabilities and (path is None or check_ending(path) != ".csv"):
        text = "there is no output" if path is None else f"the output is {shorten(str(path))}"
        raise InputError.wrong_file_ending(f"probabilities=True needs an output that ends in .csv, and {text}")


def check_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a name, after checking that it says JSON, NPZ or CSV; for ``-``, standard output, JSON."""
    return accepted_ending(path, _WRITERS)


def load(path: str | os.PathLike[str]) -> Parts:
    """Return the parts of a mechanism from JSON or NPZ, of which nothing is proved yet."""
    return from_content(read_content(path), printable(str(path)))


def read_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a mechanism file, after checking that they are not too many."""
    return read_bounded(path, _MOST_BYTES, "a mechanism file")


def from_content(content: bytes, source: str) -> Parts:
    """Return the parts of the mechanism that the bytes of a file hold, of which nothing is proved yet."""
    return _from_npz(content, source) if content[:2] == b"PK" else from_json(content, source)


def _bounded(content: bytes, source: str) -> bytes:
    if len(content) > _MOST_BYTES:
        raise InputError.file_too_large(f"{source} has more than {_MOST_BYTES} bytes; accepted: at most {_MOST_BYTES}")
    return content


def _check_size(content: bytes, source: str) -> None:
    """Check that a JSON text is not too long, and holds no more values than can be read in some seconds.

    Commas and opening brackets are counted: a text has at least one for each value but the first. Colons are counted
    too: a text has one for each key.
    """
    if len(content) > _MOST_BYTES_OF_LETTERS and not content.isascii():
        raise InputError.file_too_large(
            f"{source} has {len(content)} bytes and letters beyond ASCII; accepted: at most {_MOST_BYTES_OF_LETTERS} "
            "bytes, or such letters as \\u escapes"
        )
    values = sum(map(_bounded(content, source).count, (b",", b"[", b"{")))
    if values > _MOST_VALUES:
        raise InputError.file_too_large(f"{source} holds about {values} values; accepted: at most {_MOST_VALUES}")
    colons = content.count(b":")
    if colons > _MOST_COLONS:
        raise InputError.file_too_large(f"{source} holds {colons} colons; accepted: at most {_MOST_COLONS}")


def to_json(mechanism: Parts) -> bytes:
    """Return the JSON of a mechanism: one line for each row of numerators.

    Raises
    ------
    InputError
        For what could not be loaded again: texts that are too long, or too many values.
    """
    entries = mechanism.numerators.size
    if entries > _MOST_VALUES:
        raise InputError.too_many_given(
            f"the mechanism has {entries} entries; no file holds more than {_MOST_VALUES} values"
        )
    try:
        checked = to_record(mechanism)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputError.no_file_format(
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
    lines = ",\n".join("  " + json.dumps(row) for row in rows)

    def whole(*, only_ascii: bool) -> bytes:
        text = json.dumps(record, indent=1, ensure_ascii=only_ascii, allow_nan=False)
        return text.replace('"numerators": []', f'"numerators": [\n{lines}\n ]', 1).encode() + b"\n"

    content = whole(only_ascii=False)
    if len(content) > _MOST_BYTES_OF_LETTERS and not content.isascii():
        content = whole(only_ascii=True)
    _check_size(content, "the file")
    return content


def from_json(content: bytes, source: str) -> Parts:
    """Return the parts of the mechanism that a JSON text holds."""
    return from_record(checked_record(MechanismRecord, parsed_json(content, source), source), source)


def parsed_json(content: bytes, source: str, wanted: str = "a mechanism file") -> Any:
    """Return what a JSON text holds: numbers are exact, keys differ, and huge or deep texts are refused.

    Raises
    ------
    InputError
        If it is not such a text; ``wanted`` says what to give instead.
    """

    def integer(text: str) -> int:
        if len(text) > _LONGEST_INTEGER:
            raise InputError.too_many_digits(
                f"{source}: the integer {shorten(text)} is too long; accepted: {_LONGEST_INTEGER} digits"
            )
        return int(text)

    def decimal(text: str) -> Decimal:
        try:
            return finite_decimal(text)
        except ValueError as error:
            raise InputError.not_a_number(f"{source}: {error}; accepted: finite numbers") from None

    def constant(text: str) -> None:
        raise InputError.not_a_number(f"{source}: the number {text} is not finite; accepted: finite numbers")

    _check_size(content, source)
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=decimal,
            parse_int=integer,
            parse_constant=constant,
            object_pairs_hook=partial(unique_keys, source),
        )
    except UnicodeDecodeError as error:
        raise InputError.not_utf8(f"{source} is not UTF-8 (byte {error.start}); give {wanted}") from None
    except json.JSONDecodeError as error:
        raise InputError.wrong_file_format(
            f"{source} is not JSON ({error.msg}, line {error.lineno}); give {wanted}"
        ) from None
    except RecursionError:
        raise InputError.wrong_file_format(f"{source} is nested too deeply; give {wanted}") from None


def unique_keys(source: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the table of pairs of key and value in a JSON text, whose keys differ."""
    if len(pairs) > _MOST_KEYS:
        raise InputError.file_too_large(f"{source}: a table has {len(pairs)} keys; accepted: at most {_MOST_KEYS}")
    table = dict(pairs)
    if len(table) != len(pairs):
        twice = next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)
        raise InputError.conflicting_keys(f"{source}: the key {shorten(twice)} occurs twice; keys must differ")
    return table


def _to_npz(mechanism: Parts) -> bytes:
    buffer = io.BytesIO()
    text = np.frombuffer(to_json(mechanism), dtype=np.uint8)
    np.savez_compressed(buffer, json=text, numerators=mechanism.numerators, matrix=mechanism.matrix)
    return _bounded(buffer.getvalue(), "the file")


def _from_npz(content: bytes, source: str) -> Parts:
    # The arrays are unpacked last, when the memory of the text is free again.
    mechanism = from_json(_member(content, "json", np.uint8, source).tobytes(), source)
    for name, type_ in (("numerators", np.int64), ("matrix", np.float64)):
        if not np.array_equal(_member(content, name, type_, source), getattr(mechanism, name)):
            raise InputError.damaged_file(
                f"{source}: the arrays differ from the JSON beside them; give the file as it was saved"
            )
    return mechanism


def _member(content: bytes, name: str, type_: type[np.generic], source: str) -> NDArray[Any]:
    names = archives.members(content, source, ", ".join(_MEMBERS), _WANTED)
    if names != sorted(_MEMBERS):
        raise InputError.damaged_file(f"{source} holds {shorten(names)}; accepted: {', '.join(_MEMBERS)} as saved")
    array = archives.member(content, name, source, f"{type_.__name__}, as saved", _WANTED)
    if array.dtype.newbyteorder("=") != type_:
        raise InputError.damaged_file(
            f"{source}: {name} is {shorten(str(array.dtype))}; accepted: {type_.__name__}, as saved"
        )
    return array


def _to_csv(mechanism: Parts) -> bytes:
    return _table(f"numerators over 2^{mechanism.bits}", mechanism, mechanism.numerators.tolist())


def _to_csv_of_probabilities(mechanism: Parts) -> bytes:
    # The shortest decimals that floats are read back from: floats hold probabilities over 2^52 exactly.
    return _table("input", mechanism, mechanism.matrix.tolist())


def _table(corner: str, mechanism: Parts, rows: list[list[Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([corner, *mechanism.outputs])
    for label, row in zip(mechanism.inputs, rows, strict=True):
        writer.writerow([label, *row])
    return buffer.getvalue().encode()


_WRITERS = {".json": to_json, ".npz": _to_npz, ".csv": _to_csv}
