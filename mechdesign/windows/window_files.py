"""Files of mechanisms of windows: JSON in which the windows stand as compressed integers.

`docs/file-format.md` states every key. The windows of all seeds are three lists of 16-bit numbers, the least byte
first, compressed with zlib and written in base64: how many windows each seed has, less one; the first bucket of its
first window; and the length of every window, less one. The evidence is one 64-bit number a bucket.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mechdesign.data.checks import checked_delta
from mechdesign.data.fields import Record, Text, checked_record
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows.hashing import Seeds
from mechdesign.windows.layout import MOST_BUCKETS, MOST_CELLS, MOST_HEAVY, MOST_SEEDS, MOST_UNITS, HeavyStrings, Layout
from mechdesign.windows.strings import Form
from mechdesign.windows.walk import Windows
from mechdesign.windows.window_promise import WindowPromise

SCHEMA = "mechdesign/windows/1"
_MOST_BYTES = 1 << 29
Made = TypeVar("Made")
_Packed = Annotated[str, Field(max_length=_MOST_BYTES)]


class HeavyRecord(Record):
    """The heavy strings: their names, the units of each, those of all other strings, and where they come from."""

    strings: Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=MOST_HEAVY)]
    units: Annotated[list[Annotated[int, Field(ge=1, le=MOST_UNITS)]], Field(max_length=MOST_HEAVY)]
    light_units: Annotated[int, Field(ge=1, le=2 * MOST_UNITS)]
    source: Text
    one_layer: Annotated[int, Field(ge=1, le=MOST_SEEDS)]


class WindowsRecord(Record):
    """The packed windows of all seeds."""

    counts: _Packed
    starts: _Packed
    lengths: _Packed


class EvidenceRecord(Record):
    """The samples that prove: their number, the SHA-256 of the units in buckets, and perhaps the units."""

    samples: Annotated[int, Field(ge=1, le=10**15)]
    delta: Text | None = None
    any_seed: bool = False
    threshold: Annotated[int, Field(ge=1)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    units: _Packed | None = None


class WindowFileRecord(Record):
    """A file of a mechanism of windows."""

    schema_name: Annotated[Literal["mechdesign/windows/1"], Field(alias="schema")]
    epsilon: Text
    cap: Text | None = None
    master: Annotated[str, Field(max_length=1_000)]
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)]
    buckets: Annotated[int, Field(ge=2, le=MOST_BUCKETS)]
    form: Form
    heavy: HeavyRecord | None = None
    windows: WindowsRecord
    evidence: EvidenceRecord


def save(mechanism: Any, path: str | os.PathLike[str], *, evidence: bool = True) -> None:
    """Write a mechanism of windows as JSON, with its evidence or with the digest of it alone."""
    accepted_ending(path, (".json",))
    write_atomically(path, to_json(mechanism, evidence=evidence))


def to_json(mechanism: Any, *, evidence: bool = True) -> bytes:
    """Return the JSON of a mechanism of windows."""
    layout, promise, heavy = mechanism.layout, mechanism.promise, mechanism.layout.heavy
    record = {
        "schema": SCHEMA,
        "epsilon": promise.epsilon.text,
        "cap": None if promise.cap is None else promise.cap.text,
        "master": layout.seeds.master.decode(),
        "seeds": layout.seeds.count,
        "buckets": layout.buckets,
        "form": mechanism.form,
        "heavy": None
        if heavy is None
        else {
            "strings": list(heavy.strings),
            "units": heavy.units.tolist(),
            "light_units": heavy.light_units,
            "source": heavy.source,
            "one_layer": layout.one_layer,
        },
        "windows": {
            "counts": _packed(mechanism.counts - 1, "<u2"),
            "starts": _packed(np.array([one.start for one in mechanism.windows]), "<u2"),
            "lengths": _packed(np.concatenate([one.lengths for one in mechanism.windows]) - 1, "<u2"),
        },
        "evidence": {
            "samples": promise.samples,
            "delta": None if promise.delta is None else str(promise.delta),
            "any_seed": promise.any_seed,
            "threshold": mechanism.threshold,
            "sha256": mechanism.digest,
            "units": _packed(mechanism.evidence, "<i8") if evidence and mechanism.evidence is not None else None,
        },
    }
    checked = checked_record(WindowFileRecord, record, "the mechanism")
    text = json.dumps(checked.model_dump(by_alias=True, exclude_none=True), indent=1, ensure_ascii=False)
    return text.encode() + b"\n"


def load(path: str | os.PathLike[str], kind: Callable[..., Made]) -> Made:
    """Return the mechanism of a file, made by its class, of which nothing is proved yet.

    Raises
    ------
    InputError
        For a file that cannot be read, or whose windows are not windows of its circles.
    """
    return from_json(read_bounded(path, _MOST_BYTES, "a file of windows"), printable(str(path)), kind)


def from_json(content: bytes, source: str, kind: Callable[..., Made]) -> Made:
    """Return the mechanism that the bytes of a file hold, made by its class, of which nothing is proved yet."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError.wrong_file_format(f"{source} is not JSON ({error}); give a file of windows") from None
    record = checked_record(WindowFileRecord, parsed, source)
    if record.seeds * record.buckets > MOST_CELLS:
        raise InputError.too_many_given(
            f"{source}: there are {record.seeds} seeds of {record.buckets} buckets; at most {MOST_CELLS}"
        )
    layout = _layout(record, source)
    windows = _windows(record, source)
    facts = record.evidence
    delta = None if facts.delta is None else checked_delta(facts.delta)
    promise = WindowPromise(
        Epsilon.of(record.epsilon),
        facts.samples,
        delta,
        facts.any_seed,
        None if record.cap is None else Epsilon.of(record.cap),
    )
    evidence = None
    if facts.units is not None:
        cells = record.seeds * record.buckets
        evidence = _unpacked(facts.units, "<i8", cells, f"{source}: evidence.units").reshape(record.seeds, -1)
    found: Any = kind(layout, windows, promise, record.form, evidence, facts.sha256)
    if found.threshold != facts.threshold:
        raise InputError.bad_field(
            f"{source}: evidence.threshold is {facts.threshold}; epsilon, delta, samples, seeds and buckets give "
            f"{found.threshold}"
        )
    made: Made = found
    return made


def _layout(record: WindowFileRecord, source: str) -> Layout:
    seeds, heavy = Seeds(record.master.encode(), record.seeds), record.heavy
    if heavy is None:
        return Layout(seeds, record.buckets)
    if len(heavy.units) != len(heavy.strings) or len(set(heavy.strings)) < len(heavy.strings):
        raise InputError.wrong_size(
            f"{source}: heavy has {len(heavy.strings)} strings and {len(heavy.units)} units; give one each"
        )
    if heavy.one_layer > record.seeds:
        raise InputError.bad_field(
            f"{source}: heavy.one_layer is {heavy.one_layer}, above the number of seeds, {record.seeds}"
        )
    strings = HeavyStrings(tuple(heavy.strings), np.array(heavy.units, dtype=np.int64), heavy.light_units, heavy.source)
    return Layout(seeds, record.buckets, strings, heavy.one_layer)


def _windows(record: WindowFileRecord, source: str) -> tuple[Windows, ...]:
    packed = record.windows
    counts = _unpacked(packed.counts, "<u2", record.seeds, f"{source}: windows.counts") + 1
    starts = _unpacked(packed.starts, "<u2", record.seeds, f"{source}: windows.starts")
    lengths = _unpacked(packed.lengths, "<u2", int(counts.sum()), f"{source}: windows.lengths") + 1
    if counts.max() > record.buckets or starts.max() >= record.buckets or lengths.max() > record.buckets:
        raise InputError.bad_field(f"{source}: windows has numbers above the number of buckets, {record.buckets}")
    ends = np.cumsum(counts)
    return tuple(
        Windows(int(start), np.cumsum(lengths[end - count : end]))
        for start, count, end in zip(starts, counts.tolist(), ends.tolist(), strict=True)
    )


def _packed(numbers: NDArray[np.int64], kind: str) -> str:
    return base64.b64encode(zlib.compress(numbers.astype(kind).tobytes(), 9)).decode()


def _unpacked(text: str, kind: str, size: int, name: str) -> NDArray[np.int64]:
    """Return so many numbers, after checking that there are no more and no fewer; no more bytes than these are made."""
    whole = size * np.dtype(kind).itemsize
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), whole + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError.damaged_file(f"{name} is damaged ({error}); give the file as it was written") from None
    if len(content) != whole or not reader.eof:
        raise InputError.damaged_file(f"{name} does not hold {size} numbers; give the file as it was written")
    return np.frombuffer(content, dtype=kind).astype(np.int64)
