"""Files of mechanisms of windows: JSON in which the windows stand as compressed integers.

`docs/file-format.md` states every key. The windows of all seeds are three lists of 16-bit numbers, the least byte
first, compressed with zlib and written in base64: how many windows each seed has, less one; the first bucket of its
first window; and the length of every window, less one. The evidence is how many units of the samples each window
holds, less the threshold: the lowest byte of all windows, then the second byte of all, and so on, as many as are
needed. What buckets hold is one 64-bit number a bucket; it is some ten times as long, since random counts cannot be
compressed.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mechdesign.data.checks import checked_delta
from mechdesign.data.fields import Record, Text, checked_record
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import GuaranteeError, InputError, printable
from mechdesign.mechanism.mechanism_files import unique_keys
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows.hashing import Seeds
from mechdesign.windows.layout import MOST_BUCKETS, MOST_CELLS, MOST_HEAVY, MOST_SEEDS, MOST_UNITS, HeavyStrings, Layout
from mechdesign.windows.strings import Form
from mechdesign.windows.walk import Windows
from mechdesign.windows.window_promise import WindowPromise

SCHEMA = "mechdesign/windows/1"
MOST_BYTES = 1 << 29
Made = TypeVar("Made")
_Packed = Annotated[str, Field(max_length=MOST_BYTES)]


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
    """The samples that prove: their number, the SHA-256 of the units in buckets, and perhaps units.

    `held` are the units in windows, `units` those in buckets.
    """

    samples: Annotated[int, Field(ge=1, le=10**15)]
    delta: Text | None = None
    any_seed: bool = False
    threshold: Annotated[int, Field(ge=1, le=1 << 62)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    held: _Packed | None = None
    units: _Packed | None = None


class WindowFileRecord(Record):
    """A file of a mechanism of windows."""

    schema_name: Annotated[Literal["mechdesign/windows/1"], Field(alias="schema")]
    epsilon: Text
    cap: Text | None = None
    floor: Annotated[str, Field(pattern="^[1-9][0-9]{0,18}$")] | None = None
    master: Annotated[str, Field(max_length=1_000)]
    seeds: Annotated[int, Field(ge=1, le=MOST_SEEDS)]
    buckets: Annotated[int, Field(ge=2, le=MOST_BUCKETS)]
    form: Form
    heavy: HeavyRecord | None = None
    windows: WindowsRecord
    evidence: EvidenceRecord


InFile = bool | Literal["buckets"]
"""Which evidence a file has: how many units each window holds, what each bucket holds, or the digest alone."""


def save(mechanism: Any, path: str | os.PathLike[str], *, evidence: InFile = True) -> None:
    """Write a mechanism of windows as JSON, with its evidence or with the digest of it alone."""
    accepted_ending(path, (".json",))
    write_atomically(path, to_json(mechanism, evidence=evidence))


def record_of(mechanism: Any, *, evidence: InFile = True) -> dict[str, Any]:
    """Return what the JSON of a mechanism of windows holds."""
    layout, promise, heavy = mechanism.layout, mechanism.promise, mechanism.layout.heavy
    return {
        "schema": SCHEMA,
        "epsilon": promise.epsilon.text,
        "cap": None if promise.cap is None else promise.cap.text,
        "floor": str(promise.floor) if promise.floor else None,
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
            **_held(mechanism, evidence),
        },
    }


def to_json(mechanism: Any, *, evidence: InFile = True) -> bytes:
    """Return the JSON of a mechanism of windows."""
    checked = checked_record(WindowFileRecord, record_of(mechanism, evidence=evidence), "the mechanism")
    text = json.dumps(checked.model_dump(by_alias=True, exclude_none=True), indent=1, ensure_ascii=False)
    return text.encode() + b"\n"


def _held(mechanism: Any, evidence: InFile) -> dict[str, str]:
    """Return the evidence of a file; without any if the mechanism has only the digest of it."""
    if evidence == "buckets" and mechanism.evidence is not None:
        return {"units": _packed(mechanism.evidence, "<i8")}
    if not evidence or (mechanism.evidence is None and mechanism.held is None):
        return {}
    more = np.concatenate(mechanism.window_units()) - mechanism.threshold
    if more.min() < 0:
        raise GuaranteeError.guarantee_false("a window holds fewer units of the samples than prove the promise")
    width = max(1, -(-int(more.max()).bit_length() // 8))
    return {"held": _deflated(more.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes())}


def load(path: str | os.PathLike[str], kind: Callable[..., Made]) -> Made:
    """Return the mechanism of a file, made by its class, of which nothing is proved yet.

    Raises
    ------
    InputError
        For a file that cannot be read, or whose windows are not windows of its circles.
    """
    return from_json(read_bounded(path, MOST_BYTES, "a file of windows"), printable(str(path)), kind)


def from_json(content: bytes, source: str, kind: Callable[..., Made]) -> Made:
    """Return the mechanism that the bytes of a file hold, made by its class, of which nothing is proved yet."""
    return from_record(checked_record(WindowFileRecord, parsed_windows(content, source), source), source, kind)


def parsed_windows(content: bytes, source: str) -> Any:
    """Return what a JSON text holds, which is in UTF-8; keys differ."""
    try:
        return json.loads(content.decode("utf-8-sig"), object_pairs_hook=partial(unique_keys, source))
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError.wrong_file_format(f"{source} is not JSON ({error}); give a file of windows") from None


def from_record(record: WindowFileRecord, source: str, kind: Callable[..., Made]) -> Made:
    """Return the mechanism that a record holds, made by its class, of which nothing is proved yet."""
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
    if facts.held is not None:
        if evidence is not None:
            raise InputError.bad_field(f"{source}: evidence has held and units; accepted: one of them")
        found = replace(found, held=_units(facts.held, windows, facts.threshold, f"{source}: evidence.held"))
    if found.threshold != facts.threshold:
        raise InputError.bad_field(
            f"{source}: evidence.threshold is {facts.threshold}; epsilon, delta, samples, seeds and buckets give "
            f"{found.threshold}"
        )
    if record.floor is not None and record.floor != str(promise.floor):
        raise InputError.bad_field(f"{source}: floor is {record.floor}; epsilon and cap give {promise.floor}")
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
    if len(np.unique(strings.prints)) < len(heavy.strings):
        raise InputError.bad_field(f"{source}: two strings of heavy have one fingerprint, so that reports mix them up")
    return Layout(seeds, record.buckets, strings, heavy.one_layer)


def _windows(record: WindowFileRecord, source: str) -> tuple[Windows, ...]:
    packed = record.windows
    counts = _unpacked(packed.counts, "<u2", record.seeds, f"{source}: windows.counts") + 1
    starts = _unpacked(packed.starts, "<u2", record.seeds, f"{source}: windows.starts")
    most = max(counts.max() - 1, starts.max())  # before as many lengths are unpacked
    if most < record.buckets:
        lengths = _unpacked(packed.lengths, "<u2", int(counts.sum()), f"{source}: windows.lengths") + 1
        most = lengths.max() - 1
    if most >= record.buckets:
        raise InputError.bad_field(f"{source}: windows has numbers above the number of buckets, {record.buckets}")
    ends = np.cumsum(counts)
    return tuple(
        Windows(int(start), np.cumsum(lengths[end - count : end]))
        for start, count, end in zip(starts, counts.tolist(), ends.tolist(), strict=True)
    )


def _units(text: str, windows: tuple[Windows, ...], threshold: int, name: str) -> tuple[NDArray[np.int64], ...]:
    """Return how many units each window of each seed holds, from what they hold above the threshold."""
    counts = [len(one.ends) for one in windows]
    total = sum(counts)
    content = _inflated(text, 7 * total, name)  # no more than 2^56 units
    width, rest = divmod(len(content), total)
    if rest or not width:
        raise InputError.damaged_file(f"{name} does not hold {total} numbers; give the file as it was written")
    found = np.zeros((total, 8), dtype=np.uint8)
    found[:, :width] = np.frombuffer(content, dtype=np.uint8).reshape(width, total).T
    numbers = found.view("<u8")[:, 0].astype(np.int64) + threshold
    return tuple(np.split(numbers, np.cumsum(counts)[:-1]))


def _packed(numbers: NDArray[np.int64], kind: str) -> str:
    return _deflated(numbers.astype(kind).tobytes())


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def _unpacked(text: str, kind: str, size: int, name: str) -> NDArray[np.int64]:
    """Return so many numbers, after checking that there are no more and no fewer."""
    whole = size * np.dtype(kind).itemsize
    content = _inflated(text, whole, name)
    if len(content) != whole:
        raise InputError.damaged_file(f"{name} does not hold {size} numbers; give the file as it was written")
    return np.frombuffer(content, dtype=kind).astype(np.int64)


def _inflated(text: str, most: int, name: str) -> bytes:
    """Return what is compressed in a text; no more than so many bytes are made."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), most + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError.damaged_file(f"{name} is damaged ({error}); give the file as it was written") from None
    if len(content) > most or not reader.eof or reader.unused_data:
        raise InputError.damaged_file(f"{name} is cut off, or too long; give the file as it was written")
    return content
